/** What exactly is sent to the cluster for a patch: the pure part of patching. */
import type { AnyObject, Body } from '../values/body.js';
import { deepCopy, getOwn, isEmptyMapping, isMapping, type Mapping, setOwn } from '../values/json.js';
import { type JsonPatchOp, jsonPatch } from '../values/json-patch.js';
import { applyMergePatch, mergePatchOf } from '../values/merge-patch.js';
import type { PatchFn } from '../values/patch.js';

/** The parts for the two addresses of an object: its own, and that of its status. */
export interface PayloadParts {
  readonly object: Mapping;
  readonly status: Mapping;
}

/** Where the status is a subresource, the object's own address ignores it, and it has to go to its own one. */
export function splitStatus(merge: Mapping, statusIsSubresource: boolean): PayloadParts {
  if (!statusIsSubresource || !Object.hasOwn(merge, 'status')) return { object: merge, status: {} };
  const { status, ...object } = merge;
  return { object, status: { status } };
}

export interface OpsParts {
  readonly object: readonly JsonPatchOp[];
  readonly status: readonly JsonPatchOp[];
}

/** The same for a JSON-patch. */
export function splitStatusOps(ops: readonly JsonPatchOp[], statusIsSubresource: boolean): OpsParts {
  const isOfStatus = ({ path }: JsonPatchOp) =>
    statusIsSubresource && (path === '/status' || path.startsWith('/status/'));
  return { object: ops.filter((op) => !isOfStatus(op)), status: ops.filter(isOfStatus) };
}

/** What must hold for the patch to be applied. Those absent are not checked. */
export interface Guards {
  /** It is the same object, not another one of the same name. */
  readonly uid?: string | undefined;
  /** Nobody has changed it meanwhile. */
  readonly resourceVersion?: string | undefined;
}

/** The merge-patch with the conditions in it. What the patch itself says of them is stronger. */
export function withGuards(payload: Mapping, guards: Guards): Mapping {
  const conditions = {
    ...(guards.uid === undefined ? {} : { uid: guards.uid }),
    ...(guards.resourceVersion === undefined ? {} : { resourceVersion: guards.resourceVersion }),
  };
  const metadata = Object.hasOwn(payload, 'metadata') ? payload.metadata : {};
  if (isEmptyMapping(conditions) || !isMapping(metadata)) return payload;
  return { ...payload, metadata: { ...conditions, ...metadata } };
}

/** The JSON-patch with the conditions in front of it. The version is checked always, even if it is not known. */
export function withTests(ops: readonly JsonPatchOp[], guards: Guards): JsonPatchOp[] {
  const tests: JsonPatchOp[] = [
    { op: 'test', path: '/metadata/resourceVersion', value: guards.resourceVersion ?? null },
    ...(guards.uid === undefined ? [] : [{ op: 'test', path: '/metadata/uid', value: guards.uid } as const]),
  ];
  return [...tests, ...ops];
}

/** What the functions change in the object, as a JSON-patch. The object stays as it is. */
export function opsOfFns(fns: readonly PatchFn[], reference: Body): JsonPatchOp[] {
  return jsonPatch(reference, transformed(fns, reference));
}

function transformed(fns: readonly PatchFn[], reference: Body): AnyObject {
  const after = deepCopy(reference) as AnyObject;
  for (const fn of fns) fn(after);
  return after;
}

/** One merge-patch instead of a merge-patch and a JSON-patch; and the share of the functions in it. */
export interface CombinedPayload {
  readonly whole: Mapping;
  readonly ofFns: Mapping;
}

/**
 * Puts what the functions do into the merge-patch: so that a finalizer and an annotation go together. It is right
 * only for the very version of the object that it is made for, as lists go as a whole there.
 *
 * `undefined` if that cannot be told by a merge-patch, or if the functions do nothing.
 */
export function combinePayloads(merge: Mapping, fns: readonly PatchFn[], body: Body): CombinedPayload | undefined {
  const merged = deepCopy(body) as AnyObject;
  applyMergePatch(merged, merge);
  const after = transformed(fns, merged);
  const ofFns = mergePatchOf(merged, after);
  if (isEmptyMapping(ofFns)) return undefined;

  // Nulls, for one, can be put into an object by a function, but not by a merge-patch.
  const replayed = deepCopy(merged);
  applyMergePatch(replayed, ofFns);
  if (jsonPatch(replayed, after).length > 0) return undefined;

  const whole = overlay(merge, ofFns);
  return whole === undefined ? undefined : { whole, ofFns };
}

/** Two merge-patches, one after another, as one. `undefined` if there is no such one. */
function overlay(first: Mapping, second: Mapping): Mapping | undefined {
  const whole: Mapping = { ...first };
  for (const key of Object.keys(second)) {
    const [earlier, later] = [getOwn(first, key), getOwn(second, key)];
    const value =
      earlier === undefined || !isMapping(later) ? later : isMapping(earlier) ? overlay(earlier, later) : undefined;
    // The first one removes or replaces the old value, the second one begins anew: merged, the old one would be kept.
    if (value === undefined) return undefined;
    setOwn(whole, key, value);
  }
  return whole;
}
