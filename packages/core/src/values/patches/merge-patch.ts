/** JSON merge-patches (RFC 7386): plain objects, where `null` removes a key and a mapping is merged into a mapping. */
import { FieldError } from '../../errors.js';
import { type Diff, diff } from '../diff.js';
import { ensureField } from '../fields.js';
import { deepCopy, deepEqual, getOwn, isEmptyMapping, isMapping, type Mapping, setOwn } from '../json.js';

/**
 * Merges the patch into the object, in place.
 *
 * In one thing it differs from the RFC: no empty mappings are left behind. Those emptied by the removal of keys
 * are removed as well, and those that are empty in the patch are not created.
 */
export function applyMergePatch(target: object, patch: object): void {
  merge(target as Mapping, deepCopy(patch) as Mapping);
}

/** A mapping that is being merged, with what to do when it is merged. No recursion: patches may be of any depth. */
interface Merging {
  readonly target: Mapping;
  readonly patch: Mapping;
  readonly keys: Iterator<string>;
  readonly leave: () => void;
}

function merge(whole: Mapping, wholePatch: Mapping): void {
  const merging: Merging[] = [{ target: whole, patch: wholePatch, keys: keysOf(wholePatch), leave: () => {} }];
  for (let current = merging.at(-1); current !== undefined; current = merging.at(-1)) {
    const { target, patch, keys, leave } = current;
    const next = keys.next();
    if (next.done) {
      merging.pop();
      leave();
      continue;
    }
    const key = next.value;
    const value = patch[key];
    if (value === null) delete target[key];
    else if (isMapping(value)) merging.push(mergingMapping(target, key, value));
    else setOwn(target, key, value);
  }
}

function mergingMapping(target: Mapping, key: string, patch: Mapping): Merging {
  const existing = getOwn(target, key);
  const merged = isMapping(existing) ? existing : {};
  const wasEmpty = isEmptyMapping(merged);
  const leave = (): void => {
    if (!isEmptyMapping(merged)) setOwn(target, key, merged);
    else if (!wasEmpty) delete target[key];
  };
  return { target: merged, patch, keys: keysOf(patch), leave };
}

function keysOf(mapping: Mapping): Iterator<string> {
  return Object.keys(mapping).values();
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

/** A mapping of which it is being found out what is left; and where that goes. */
interface Subtracting {
  readonly patch: Mapping;
  readonly body: object;
  readonly remaining: Mapping;
  readonly keys: Iterator<string>;
  readonly key: string;
}

function subtract(wholePatch: Mapping, whole: object): Mapping {
  const all: Mapping = {};
  const subtracting: Subtracting[] = [
    { patch: wholePatch, body: whole, remaining: all, keys: keysOf(wholePatch), key: '' },
  ];
  for (let current = subtracting.at(-1); current !== undefined; current = subtracting.at(-1)) {
    const { patch, body, remaining, keys } = current;
    const next = keys.next();
    if (next.done) {
      subtracting.pop();
      const outside = subtracting.at(-1)?.remaining;
      if (outside !== undefined && !isEmptyMapping(remaining)) setOwn(outside, current.key, remaining);
      continue;
    }
    const key = next.value;
    const value = patch[key];
    const existing = getOwn(body, key);
    // Most are texts and numbers.
    if (typeof value === 'object' && isMapping(value)) {
      // Merging into a scalar or a list replaces it with a mapping, whatever is in the patch.
      const isAbsent = existing === undefined || existing === null;
      if (isMapping(existing) || (isAbsent && !isEmptyMapping(value))) {
        subtracting.push({ patch: value, body: existing ?? {}, remaining: {}, keys: keysOf(value), key });
      } else {
        setOwn(remaining, key, value);
      }
    } else if (value === null ? existing !== undefined : value !== undefined && !deepEqual(value, existing)) {
      setOwn(remaining, key, value);
    }
  }
  return all;
}
