/** Revisions: objects as text, with the little that is asked of them all the time beside it. */
import { isMapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { Collection, OwnerRef, Revision } from '../contracts/store.js';
import { writeJson } from '../text/json-writing.js';
import { narrowed } from '../text/narrow-json.js';

const NOTHING: readonly never[] = Object.freeze([]);

/** Older than all schemas: whatever was stored is pruned and defaulted anew. */
export const OLDEST_EPOCH = 0;

/** A revision of the object as it is now; later changes of the object do not matter. */
export function makeRevision(
  collection: Collection,
  object: ServedObject,
  version: number,
  schemaEpoch: number,
): Revision {
  const { apiVersion, kind, metadata, ...rest } = object;
  metadata.resourceVersion = String(version);
  const json = narrowed(writeJson({ apiVersion, kind, metadata, ...rest }));
  // Nulls may be such as are lost by reading.
  return revisionOf(collection, metadata, {
    version,
    schemaEpoch: json.includes(':null') ? OLDEST_EPOCH : schemaEpoch,
    json,
  });
}

/** A revision of an object that was kept as text. */
export function keptRevision(collection: Collection, json: string, version: number): Revision {
  const { metadata } = JSON.parse(json) as ServedObject;
  return revisionOf(collection, metadata, { version, schemaEpoch: OLDEST_EPOCH, json: narrowed(json) });
}

function revisionOf(
  collection: Collection,
  metadata: ServedObject['metadata'],
  { version, schemaEpoch, json }: Pick<Revision, 'version' | 'schemaEpoch' | 'json'>,
): Revision {
  const { labels, ownerReferences, finalizers } = metadata;
  return {
    collection,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    version,
    labels: isMapping(labels) && Object.keys(labels).length > 0 ? { ...labels } : undefined,
    owners: ownerReferences === undefined || ownerReferences.length === 0 ? NOTHING : (ownerReferences as OwnerRef[]),
    finalizers: finalizers === undefined || finalizers.length === 0 ? NOTHING : finalizers,
    isDeleting: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
    json,
    schemaEpoch,
  };
}

/** The object of a revision as a fresh copy that may be changed. */
export function parseRevision(revision: Revision): ServedObject {
  return JSON.parse(revision.json) as ServedObject;
}

/** The same state of the object at another version: what a deletion reports. */
export function withVersion(revision: Revision, version: number): Revision {
  return makeRevision(revision.collection, parseRevision(revision), version, revision.schemaEpoch);
}

const METADATA = '"metadata":';

/** The text without its first two keys, beginning with `"metadata":`. */
export function tailOf(json: string): string {
  // Neither an API version nor a kind can contain a quote, so the first occurrence is the right one.
  return json.slice(json.indexOf(METADATA));
}

/** The text with another API version. */
export function rewriteApiVersion(json: string, apiVersion: string, kind: string): string {
  return `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},${tailOf(json)}`;
}
