/** What exactly is sent to the cluster for a patch: the pure part of patching. */

import { deepCopy, getOwn, isEmptyMapping, isMapping, type Mapping, setOwn } from '../../values/json.js';
import type { AnyObject, Body } from '../../values/objects/body.js';
import { type JsonPatchOp, jsonPatch } from '../../values/patches/json-patch.js';
import { applyMergePatch, mergePatchOf, subtractExisting } from '../../values/patches/merge-patch.js';
import { applyFns, Patch } from '../../values/patches/patch.js';

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
  const { uid, resourceVersion } = guards;
  if (uid === undefined && resourceVersion === undefined) return payload;
  const metadata = Object.hasOwn(payload, 'metadata') ? payload.metadata : {};
  if (!isMapping(metadata)) return payload;
  const conditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
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

/** The JSON-patch of finalizers for what it depends on, instead of the version: whatever else others change meanwhile. */
export function withTestsOfFinalizers(ops: readonly JsonPatchOp[], uid: string, { metadata }: Body): JsonPatchOp[] {
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/deletionTimestamp', value: metadata?.deletionTimestamp ?? null },
    { op: 'test', path: FINALIZERS, value: metadata?.finalizers ?? null },
    ...ops,
  ];
}

/** Whether it changes nothing but finalizers. */
export function isOfFinalizers(payload: Payload): payload is Extract<Payload, { type: 'json' }> {
  const isOne = ({ path }: JsonPatchOp): boolean => path === FINALIZERS || path.startsWith(`${FINALIZERS}/`);
  return payload.type === 'json' && payload.ops.every(isOne);
}

const FINALIZERS = '/metadata/finalizers';

/** Where an object can be written: as a whole, and its status alone if that is a subresource. */
export type Address = keyof PayloadParts;

/** What is sent to one address. */
export type Payload =
  | {
      readonly type: 'merge';
      readonly merge: Mapping;
      /** Functions have had a say in it: it is right for the known state only, e.g. as lists go as a whole. */
      readonly isOfFunctions?: true;
    }
  | { readonly type: 'json'; readonly ops: readonly JsonPatchOp[] };

/** What the patch changes in the object, as a JSON-patch. The object stays as it is. */
export function opsFor(patch: Patch, body: Body): JsonPatchOp[] {
  return jsonPatch(body, transformed(patch, body));
}

/** Whether the functions of the patch change anything after its merge-patch is applied; true if there are none. */
export function haveEffect({ merge, fns }: Patch, body: Body): boolean {
  if (fns.length === 0) return true;
  const merged = transformed(new Patch(merge), body);
  return opsFor(new Patch({}, { fns }), merged).length > 0;
}

function transformed({ merge, fns }: Patch, body: Body): AnyObject {
  const after = deepCopy(body) as AnyObject;
  if (!isEmptyMapping(merge)) applyMergePatch(after, merge);
  applyFns(fns, after);
  return withIdentityOf(body, after);
}

/** A function may put an older copy of the metadata there: which object it is, and of which version, is not for it to say. */
function withIdentityOf(body: Body, after: AnyObject): AnyObject {
  if (!isMapping(after.metadata)) return after;
  for (const key of ['uid', 'resourceVersion'] as const) {
    const value = body.metadata?.[key];
    if (value === undefined) delete (after.metadata as Mapping)[key];
    else (after.metadata as Mapping)[key] = value;
  }
  return after;
}

/**
 * What to send to that address, so that the object in the known state becomes as the patch wants it; `undefined`
 * if it already is. It is right only for that very state, as lists go as a whole there.
 *
 * A merge-patch wherever it can tell all: it says what is wanted, not how to get there. Functions alone go as a
 * JSON-patch, as they are mostly about lists; and so does what a merge-patch cannot tell.
 */
export function payloadFor(
  patch: Patch,
  body: Body,
  address: Address,
  statusIsSubresource: boolean,
): Payload | undefined {
  const part = splitStatus(patch.merge, statusIsSubresource)[address];
  const asked = isEmptyMapping(part) ? part : subtractExisting(part, body);
  const merge = (): Payload | undefined => (isEmptyMapping(asked) ? undefined : { type: 'merge', merge: asked });
  if (patch.fns.length === 0) return merge();

  const merged = deepCopy(body) as AnyObject;
  applyMergePatch(merged, patch.merge);
  const after = transformed(new Patch({}, { fns: patch.fns }), merged);
  const opsOfFns = splitStatusOps(jsonPatch(merged, after), statusIsSubresource)[address];
  if (opsOfFns.length === 0) return merge();
  if (isEmptyMapping(asked)) return { type: 'json', ops: opsOfFns };

  const ofFns = splitStatus(mergePatchOf(merged, after), statusIsSubresource)[address];
  const replayed = deepCopy(merged);
  applyMergePatch(replayed, ofFns);
  const isTold = splitStatusOps(jsonPatch(replayed, after), statusIsSubresource)[address].length === 0;
  // Nulls, for one, can be put into an object by a function, but not by a merge-patch.
  const whole = isTold ? overlay(asked, ofFns) : undefined;
  if (whole !== undefined) return { type: 'merge', merge: whole, isOfFunctions: true };
  return { type: 'json', ops: splitStatusOps(jsonPatch(body, after), statusIsSubresource)[address] };
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

/** The first object with what the merge-patch is about being as in the second one. */
export function overlaid(first: Body, second: Body, merge: Mapping): AnyObject {
  const result = deepCopy(first) as AnyObject;
  take(result, second as Mapping, merge);
  return result;
}

function take(target: Mapping, source: Mapping, merge: Mapping): void {
  for (const key of Object.keys(merge)) {
    const [mine, theirs, asked] = [getOwn(target, key), getOwn(source, key), merge[key]];
    if (isMapping(asked) && isMapping(mine) && isMapping(theirs)) take(mine, theirs, asked);
    else if (theirs === undefined) delete target[key];
    else setOwn(target, key, deepCopy(theirs));
  }
}
