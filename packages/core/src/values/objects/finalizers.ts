/** Finalizers: the marks on an object that keep it from vanishing until their owners have finished. */

import type { PatchFn } from '../patches/patch.js';
import type { AnyObject, Body } from './body.js';

/** Whether the deletion of the object is requested; the object itself may stay for as long as it has finalizers. */
export function isDeletionOngoing(body: Body): boolean {
  const timestamp: unknown = body.metadata?.deletionTimestamp;
  return timestamp !== undefined && timestamp !== null;
}

/** Whether the object cannot vanish because of this very finalizer. */
export function isDeletionBlocked(body: Body, finalizer: string): boolean {
  return finalizersOf(body).includes(finalizer);
}

/**
 * Puts the finalizer on an object, after those of the others, unless it is there; or unless it is too late for that:
 * nobody can add finalizers to what is being deleted.
 *
 * A list cannot be changed by a merge-patch without overriding what others do to it meanwhile: hence a
 * transformation, which is sent as a JSON-patch for one known version of the object, and repeated for another.
 */
export function blockDeletion(finalizer: string): PatchFn {
  return looking('block', (body) => {
    const finalizers = finalizersOf(body);
    if (finalizers.includes(finalizer) || isDeletionOngoing(body)) return;
    body.metadata ??= {};
    body.metadata.finalizers = [...finalizers, finalizer];
  });
}

/** Takes the finalizer off an object, however many times it is there; leaves no empty stanzas behind. */
export function allowDeletion(finalizer: string): PatchFn {
  return looking('allow', (body) => {
    const finalizers = finalizersOf(body);
    if (body.metadata === undefined || !finalizers.includes(finalizer)) return;
    const remaining = finalizers.filter((name) => name !== finalizer);
    if (remaining.length > 0) body.metadata.finalizers = remaining;
    else delete body.metadata.finalizers;
    if (Object.keys(body.metadata).length === 0) delete body.metadata;
  });
}

const looksAtFinalizers = new WeakMap<PatchFn, 'block' | 'allow'>();

function looking(what: 'block' | 'allow', fn: PatchFn): PatchFn {
  looksAtFinalizers.set(fn, what);
  return fn;
}

/**
 * What the function of a patch does, if it is one of those above. They look at nothing but the finalizers, and whether the
 * object is being deleted: so these are all that must be as known for them to be right.
 */
export function finalizingOf(fn: PatchFn): 'block' | 'allow' | undefined {
  return looksAtFinalizers.get(fn);
}

function finalizersOf(body: Body | AnyObject): readonly string[] {
  const finalizers: unknown = body.metadata?.finalizers;
  return Array.isArray(finalizers) ? (finalizers as readonly string[]) : [];
}
