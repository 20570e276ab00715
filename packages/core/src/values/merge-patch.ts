/** JSON merge-patches (RFC 7386): plain objects, where `null` removes a key and a mapping is merged into a mapping. */
import { FieldError } from '../errors.js';
import { type Diff, diff } from './diff.js';
import { ensureField } from './fields.js';
import { deepCopy, deepEqual, getOwn, isEmptyMapping, isMapping, type Mapping, setOwn } from './json.js';

/**
 * Merges the patch into the object, in place.
 *
 * In one thing it differs from the RFC: no empty mappings are left behind. Those emptied by the removal of keys
 * are removed as well, and those that are empty in the patch are not created.
 */
export function applyMergePatch(target: object, patch: object): void {
  merge(target as Mapping, deepCopy(patch) as Mapping);
}

function merge(target: Mapping, patch: Mapping): void {
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete target[key];
    else if (isMapping(value)) mergeMapping(target, key, value);
    else setOwn(target, key, value);
  }
}

function mergeMapping(target: Mapping, key: string, patch: Mapping): void {
  const existing = getOwn(target, key);
  const merged = isMapping(existing) ? existing : {};
  const wasEmpty = isEmptyMapping(merged);
  merge(merged, patch);
  if (!isEmptyMapping(merged)) setOwn(target, key, merged);
  else if (!wasEmpty) delete target[key];
}

/**
 * The merge-patch that turns one object into the other.
 *
 * Exactly so by the rules of the RFC, that is, in the cluster: but for the keys with `null`, which a merge-patch
 * cannot make, and which equal absent keys here anyway.
 */
export function mergePatchOf(before: object, after: object): Mapping {
  return diffToMergePatch(diff(before, after));
}

/** The merge-patch that makes the same changes as the (full-scoped) diff has. */
export function diffToMergePatch(items: Diff): Mapping {
  const patch: Mapping = {};
  for (const [operation, field, , value] of items) {
    if (field.length > 0) {
      ensureField(patch, field, operation === 'remove' ? null : deepCopy(value));
    } else if (isMapping(value)) {
      return deepCopy(value);
    } else {
      throw new FieldError('A merge-patch cannot replace or remove the whole object.', { code: 'KOPF_FIELD_EMPTY' });
    }
  }
  return patch;
}

/**
 * What of the patch is still to be done on the object: what is there already is left out, and so is the removal of
 * what is absent. Nothing left means that there is nothing to send. The result is a copy.
 *
 * An empty mapping is left in if there is none in the object: it is how one is created, e.g. an `emptyDir: {}`.
 */
export function subtractExisting(patch: object, body: object): Mapping {
  return subtract(deepCopy(patch) as Mapping, body);
}

function subtract(patch: Mapping, body: object): Mapping {
  const remaining: Mapping = {};
  for (const key of Object.keys(patch)) {
    const value = subtractValue(patch[key], getOwn(body, key));
    if (value !== undefined) setOwn(remaining, key, value);
  }
  return remaining;
}

/** The value to be sent, or `undefined` if there is no need to. */
function subtractValue(value: unknown, existing: unknown): unknown {
  if (value === null) return existing === undefined ? undefined : null;
  if (!isMapping(value)) return deepEqual(value, existing) ? undefined : value;
  const existingIsAbsent = existing === undefined || existing === null;
  // Merging into a scalar or a list replaces it with a mapping, whatever is in the patch.
  if (!isMapping(existing) && !existingIsAbsent) return value;
  if (existingIsAbsent && isEmptyMapping(value)) return value;
  const remaining = subtract(value, existing ?? {});
  return isEmptyMapping(remaining) ? undefined : remaining;
}
