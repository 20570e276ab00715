/** Last handled states of which only digests are kept, as they are stored: where, is up to each storage. */
import { digestOf, digestOnly, type Essence, getOwn, isDeeperThan, isDigestOnly, MAX_DEPTH } from '@kopf-ts/core';
import { type Complain, compactJson, readMapping } from '../compact-json.js';

/** Whether the state cannot be kept as a text: there is none, or it is so deep that it would not be read again. */
export function isForDigest(essence: Essence): boolean {
  return isDigestOnly(essence) || isDeeperThan(essence, MAX_DEPTH);
}

export function digestText(essence: Essence): string {
  return compactJson({ digest: digestOf(essence) });
}

export function readDigest(text: unknown, complain: Complain): Essence | undefined {
  const stored = readMapping(text, complain);
  if (stored === undefined) return undefined;
  const digest = getOwn(stored, 'digest');
  const isDigest = typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest);
  return isDigest ? digestOnly(digest) : complain('it has no digest');
}
