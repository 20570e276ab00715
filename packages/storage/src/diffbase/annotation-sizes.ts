/**
 * What to do with a last handled state that does not fit into annotations. Kubernetes refuses objects with more than
 * 256 KiB of annotations in total, keys and values together; such a refusal also loses the progress of handlers.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { type Body, isMapping, type Patch } from '@kopf-ts/core';

const MAX_ANNOTATIONS = 256 * 1024;
/** The last handled state comes when all progress is purged; but the progress on the next change must fit as well. */
const LEFT_FOR_PROGRESS = 16 * 1024;
/** Way above any object that a cluster can hold, way below what a decompression bomb would want. */
const MAX_UNPACKED = 4 * 1024 * 1024;

/** How many bytes of annotations are free for this storage, once the patch is applied and its own old ones are gone. */
export function roomForAnnotations(body: Body, patch: Patch, own: readonly string[]): number {
  const annotations = new Map<string, unknown>();
  for (const source of [body, patch.merge as Body]) {
    const stanza: unknown = source.metadata?.annotations;
    if (isMapping(stanza)) for (const key of Object.keys(stanza)) annotations.set(key, stanza[key]);
  }
  for (const key of own) annotations.delete(key);
  let room = MAX_ANNOTATIONS - LEFT_FOR_PROGRESS;
  for (const [key, value] of annotations) if (typeof value === 'string') room -= sizeOf(key, value);
  return room;
}

/** The size of an annotation as Kubernetes counts it. */
export function sizeOf(key: string, value: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(value);
}

/** The text in gzip and base64; or nothing, if it is so long that it would not be unpacked again. */
export async function pack(text: string): Promise<string | undefined> {
  if (Buffer.byteLength(text) > MAX_UNPACKED) return undefined;
  return (await promisify(gzip)(text)).toString('base64');
}

/** The text that was packed; rejects if it is not such, or if it is suspiciously long. */
export async function unpack(packed: string): Promise<string> {
  const bytes = await promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_UNPACKED });
  return bytes.toString('utf8');
}
