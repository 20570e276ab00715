/**
 * Our own marks on the objects: the finalizer, the progress of handlers, the last handled state. A handler that finds
 * fault with an object which is there already would block them, and with them all the other handlers.
 */
import {
  type AnyObject,
  type Body,
  deepCopy,
  deepEqual,
  type Essence,
  isMapping,
  type Mapping,
  type Settings,
} from '@kopf-ts/core';
import { allowDeletion } from '@kopf-ts/core/engine';
import type { Review } from './review-request.js';

/** All our marks are in these. */
const MARKED_STANZAS: ReadonlySet<string> = new Set(['metadata', 'status']);

/** What the API server keeps there for itself; it changes with any change. */
const REVISION_FIELDS: ReadonlySet<string> = new Set(['managedFields', 'resourceVersion', 'generation']);

/**
 * Whether the object is updated in our own marks, and in nothing else. An update that changes nothing at all is not
 * that: people make such updates for the sake of the handlers.
 */
export function onlyMarksDiffer(review: Pick<Review, 'operation' | 'old' | 'new'>, settings: Settings): boolean {
  const { operation, old, new: updated } = review;
  if (operation !== 'UPDATE' || old === undefined || updated === undefined) return false;
  if (settings.persistence.compat === 'kopf') return false;
  // Mostly, this is where it ends: people change other things than metadata.
  if (!areEqualOutsideOfMarked(old, updated)) return false;
  const [before, after] = [withoutRevisions(old), withoutRevisions(updated)];
  if (deepEqual(before, after)) return false;
  return deepEqual(withoutMarks(before, settings), withoutMarks(after, settings));
}

function areEqualOutsideOfMarked(one: Body, another: Body): boolean {
  // No list of the keys of both: it is done for each update of each object.
  for (const key of Object.keys(one)) {
    if (!MARKED_STANZAS.has(key) && !deepEqual(one[key], ownOf(another, key))) return false;
  }
  for (const key of Object.keys(another)) {
    const isOnlyThere = !Object.hasOwn(one, key) && another[key] !== undefined;
    if (isOnlyThere && !MARKED_STANZAS.has(key)) return false;
  }
  return true;
}

function ownOf(body: Body, key: string): unknown {
  return Object.hasOwn(body, key) ? body[key] : undefined;
}

/** Only the stanzas where the marks are, and what is needed to know the marks. */
function withoutRevisions({ apiVersion, kind, metadata, status }: Body): Essence {
  const entries = Object.entries(metadata ?? {}).filter(([name]) => !REVISION_FIELDS.has(name));
  return { apiVersion, kind, metadata: Object.fromEntries(entries), status };
}

/** The storages make copies by themselves, as far as there are any storages. */
function withoutMarks(essence: Essence, { persistence }: Settings): Essence {
  const { progressStorage, diffbaseStorage, finalizer } = persistence;
  const withoutProgress = progressStorage?.clearOwn?.(essence) ?? progressStorage?.clear(essence) ?? essence;
  const cleared = deepCopy(diffbaseStorage?.clear?.(withoutProgress) ?? withoutProgress);
  allowDeletion(finalizer)(cleared as AnyObject);
  return withoutEmpty(cleared);
}

/** The first of the marks brings its stanza, the last one may take it or leave it empty. */
function withoutEmpty(essence: Essence): Essence {
  const { metadata, status } = essence;
  if (isMapping(metadata)) {
    for (const name of ['labels', 'annotations', 'finalizers']) if (isEmpty(metadata[name])) delete metadata[name];
  }
  if (isEmpty(status)) delete essence.status;
  if (isEmpty(metadata)) delete essence.metadata;
  return essence;
}

function isEmpty(stanza: unknown): boolean {
  return typeof stanza === 'object' && Object.keys((stanza ?? {}) as Mapping).length === 0;
}
