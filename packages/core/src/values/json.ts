/**
 * Plain JSON data: copying, comparing, and reaching keys without ever touching a prototype.
 *
 * Objects come from the cluster and from strangers. `JSON.parse` happily makes an own key `__proto__`, but
 * `target[key] = value` with that key replaces the prototype, and `source['constructor']` of an ordinary object
 * is a function that nobody put there. Everything that copies or reads by a key of someone else goes through here.
 */

/** Any value as it stands in JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object whose contents are not known. */
export type Mapping = Record<string, unknown>;

/** The same shape with everything in it read-only, however deep. */
export type DeepReadonly<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

/** True for JSON objects: neither null, nor an array, nor a function, nor a scalar. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the object has no keys of its own. */
export function isEmptyMapping(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** Reads a key that the object itself has; never one inherited from a prototype. */
export function getOwn(source: object, key: string): unknown {
  return Object.hasOwn(source, key) ? (source as Mapping)[key] : undefined;
}

/** Writes a key into the object itself, also when the key is `__proto__`. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    (target as Mapping)[key] = value;
  }
}

/**
 * A copy that shares nothing with the original. Keys with `undefined` are left out, as JSON would.
 * What knows how to become JSON (a `Date`, mostly, in a patch of a handler) becomes it.
 */
export function deepCopy<T>(value: T): T;
export function deepCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (const item of value) copy.push(deepCopy<unknown>(item));
    return copy;
  }
  if (convertsItself(value)) return deepCopy(value.toJSON());
  const copy: Mapping = {};
  for (const key of Object.keys(value)) {
    const item = (value as Mapping)[key];
    if (item !== undefined) setOwn(copy, key, deepCopy(item));
  }
  return copy;
}

/** Only instances of classes can: a plain object may well have data under the key `toJSON`. */
function convertsItself(value: object): value is { toJSON(): unknown } {
  if (Object.getPrototypeOf(value) === Object.prototype) return false;
  return typeof (value as Mapping).toJSON === 'function';
}

/** Equality by structure, strict in types: `true` differs from `1`. A key with `undefined` equals its absence. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && listsAreEqual(a, b);
  return mappingsAreEqual(a as Mapping, b as Mapping);
}

function listsAreEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (!deepEqual(a[index], b[index])) return false;
  }
  return true;
}

function mappingsAreEqual(a: Mapping, b: Mapping): boolean {
  let commonKeys = 0;
  for (const key of Object.keys(a)) {
    const isCommon = Object.hasOwn(b, key);
    if (!deepEqual(a[key], isCommon ? b[key] : undefined)) return false;
    if (isCommon) commonKeys++;
  }
  const keysOfB = Object.keys(b);
  return keysOfB.length === commonKeys || keysOfB.every((key) => b[key] === undefined || Object.hasOwn(a, key));
}

/** Makes the value read-only at run time as well, in place and however deep; frozen branches are not walked again. */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  if (typeof value === 'object' && value !== null) freezeTree(value);
  return value as DeepReadonly<T>;
}

/** Every object of a cluster goes through this: hence the plain loops, and no calls for what cannot be frozen. */
function freezeTree(tree: object): void {
  if (Object.isFrozen(tree)) return;
  Object.freeze(tree);
  if (Array.isArray(tree)) {
    for (let index = 0; index < tree.length; index++) {
      const branch: unknown = tree[index];
      if (typeof branch === 'object' && branch !== null) freezeTree(branch);
    }
    return;
  }
  for (const key in tree) {
    const branch = (tree as Mapping)[key];
    if (typeof branch === 'object' && branch !== null) freezeTree(branch);
  }
}
