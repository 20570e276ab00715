/**
 * Plain JSON data: copying, comparing, and reaching keys without ever touching a prototype.
 *
 * Objects come from the cluster and from strangers. `JSON.parse` happily makes an own key `__proto__`, but
 * `target[key] = value` with that key replaces the prototype, and `source['constructor']` of an ordinary object
 * is a function that nobody put there. Everything that copies or reads by a key of someone else goes through here.
 */

/**
 * How deep a value may be nested to be kept as it is by storages, and printed. Real objects have a few dozens of levels;
 * but nothing keeps clients from writing tens of thousands of them. All functions over values walk through any
 * depth. `JSON.stringify`, which others use, does so for about 4,000 levels, and for less when called from deep below.
 *
 * ```ts
 * if (kopf.isDeeperThan(body, kopf.MAX_DEPTH)) throw new kopf.PermanentError('It is nested too deeply.');
 * ```
 */
export const MAX_DEPTH = 1000;

/**
 * Up to this depth, values are walked by recursion, which is the fastest; what is deeper is walked without it.
 * So no value overflows the stack, from however deep below it is called.
 */
export const RECURSION_DEPTH = 200;

/** Nothing that came out of a text is so deep: such a value has itself inside. */
export const ENDLESS_DEPTH = 200_000;

/**
 * Any value as it stands in JSON.
 *
 * ```ts
 * const answer: kopf.Json = { items: [1, 'two', null] };
 * ```
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * A JSON object whose contents are not known.
 *
 * ```ts
 * const keysOf = (mapping: kopf.Mapping): string[] => Object.keys(mapping);
 * ```
 */
export type Mapping = Record<string, unknown>;

/**
 * The same shape with everything in it read-only, however deep.
 *
 * ```ts
 * type Frozen = kopf.DeepReadonly<{ sizes: number[] }>; // { readonly sizes: readonly number[] }
 * ```
 */
export type DeepReadonly<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

/**
 * True for JSON objects: neither null, nor an array, nor a function, nor a scalar.
 *
 * ```ts
 * const labels: unknown = body.metadata?.labels;
 * if (kopf.isMapping(labels)) logger.info(Object.keys(labels).join(', '));
 * ```
 */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the object has no keys of its own. */
export function isEmptyMapping(value: object): boolean {
  return Object.keys(value).length === 0;
}

/**
 * Reads a key that the object itself has; never one inherited from a prototype.
 *
 * ```ts
 * kopf.getOwn({ size: 5 }, 'size'); // 5
 * kopf.getOwn({ size: 5 }, 'constructor'); // undefined
 * ```
 */
export function getOwn(source: object, key: string): unknown {
  return Object.hasOwn(source, key) ? (source as Mapping)[key] : undefined;
}

/**
 * Writes a key into the object itself, also when the key is `__proto__`.
 *
 * ```ts
 * const labels = {};
 * kopf.setOwn(labels, '__proto__', 'harmless');
 * ```
 */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    (target as Mapping)[key] = value;
  }
}

/**
 * Whether the value has more levels than that; a scalar has none, and an empty mapping has one.
 *
 * ```ts
 * kopf.isDeeperThan({ spec: {} }, 1); // true
 * ```
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  const pending: unknown[] = [value];
  const depths: number[] = [1];
  for (let depth = depths.pop(); depth !== undefined; depth = depths.pop()) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (depth > levels) return true;
    for (const key in next) {
      const item = (next as Mapping)[key];
      if (typeof item !== 'object' || item === null) continue;
      pending.push(item);
      depths.push(depth + 1);
    }
  }
  return false;
}

/**
 * A copy that shares nothing with the original. Keys with `undefined` are left out, as JSON would.
 * What knows how to become JSON (a `Date`, mostly, in a patch of a handler) becomes it.
 *
 * ```ts
 * const template = kopf.deepCopy(body.spec.template); // free to be changed
 * ```
 */
export function deepCopy<T>(value: T): T {
  return copyOf(value, 0) as T;
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > RECURSION_DEPTH) return copyWithoutRecursion(value);
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (const item of value) copy.push(copyOf(item, depth + 1));
    return copy;
  }
  if (convertsItself(value)) return copyOf(value.toJSON(), depth + 1);
  const copy: Mapping = {};
  for (const key of Object.keys(value)) {
    const item = (value as Mapping)[key];
    if (item !== undefined) setOwn(copy, key, copyOf(item, depth + 1));
  }
  return copy;
}

/** Something to be copied to some place; or, without the place, something that is copied with all that is below it. */
interface CopyStep {
  readonly source: object;
  readonly put?: (copy: object) => void;
}

function copyWithoutRecursion(whole: object): unknown {
  const root: { copy?: unknown } = {};
  const above = new Set<object>();
  const steps: CopyStep[] = [{ source: whole, put: (copy) => void Object.assign(root, { copy }) }];
  const copyTo = (value: unknown, put: (copy: unknown) => void): void => {
    if (typeof value === 'object' && value !== null) steps.push({ source: value, put });
    else put(value);
  };
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { source, put } = step;
    if (put === undefined) {
      above.delete(source);
      continue;
    }
    if (above.has(source)) throw endless();
    above.add(source);
    steps.push({ source });
    if (Array.isArray(source)) {
      const copy: unknown[] = new Array(source.length);
      put(copy);
      for (let index = 0; index < source.length; index++) {
        copyTo(source[index], (item) => {
          copy[index] = item;
        });
      }
    } else if (convertsItself(source)) {
      copyTo(source.toJSON(), put as (copy: unknown) => void);
    } else {
      const copy: Mapping = {};
      put(copy);
      for (const key of Object.keys(source)) {
        const item = (source as Mapping)[key];
        if (item === undefined) continue;
        // The place is taken now, as copies are made in another order than the keys have.
        setOwn(copy, key, undefined);
        copyTo(item, (made) => setOwn(copy, key, made));
      }
    }
  }
  return root.copy;
}

function endless(): RangeError {
  return new RangeError('The value contains itself.');
}

/** Only instances of classes can: a plain object may well have data under the key `toJSON`. */
function convertsItself(value: object): value is { toJSON(): unknown } {
  if (Object.getPrototypeOf(value) === Object.prototype) return false;
  return typeof (value as Mapping).toJSON === 'function';
}

/**
 * Equality by structure, strict in types: `true` differs from `1`. A key with `undefined` equals its absence.
 *
 * ```ts
 * kopf.deepEqual({ a: 1, b: undefined }, { a: 1 }); // true
 * ```
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  return areEqual(a, b, 0);
}

function areEqual(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (depth > RECURSION_DEPTH) return areEqualWithoutRecursion(a, b);
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && listsAreEqual(a, b, depth);
  return mappingsAreEqual(a as Mapping, b as Mapping, depth);
}

function listsAreEqual(a: readonly unknown[], b: readonly unknown[], depth: number): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (!areEqual(a[index], b[index], depth + 1)) return false;
  }
  return true;
}

function mappingsAreEqual(a: Mapping, b: Mapping, depth: number): boolean {
  let commonKeys = 0;
  for (const key of Object.keys(a)) {
    const isCommon = Object.hasOwn(b, key);
    if (!areEqual(a[key], isCommon ? b[key] : undefined, depth + 1)) return false;
    if (isCommon) commonKeys++;
  }
  return hasNoMoreKeys(a, b, commonKeys);
}

function hasNoMoreKeys(a: Mapping, b: Mapping, commonKeys: number): boolean {
  const keysOfB = Object.keys(b);
  return keysOfB.length === commonKeys || keysOfB.every((key) => b[key] === undefined || Object.hasOwn(a, key));
}

function areEqualWithoutRecursion(a: object, b: object): boolean {
  const pairs: (readonly [unknown, unknown, depth: number])[] = [[a, b, 0]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, another, depth] = pair;
    if (depth > ENDLESS_DEPTH) throw endless();
    if (one === another) continue;
    if (typeof one !== 'object' || typeof another !== 'object' || one === null || another === null) return false;
    if (Array.isArray(one) || Array.isArray(another)) {
      if (!Array.isArray(one) || !Array.isArray(another) || one.length !== another.length) return false;
      for (let index = 0; index < one.length; index++) {
        if (one[index] !== another[index]) pairs.push([one[index], another[index], depth + 1]);
      }
      continue;
    }
    const [mapping, other] = [one as Mapping, another as Mapping];
    let commonKeys = 0;
    for (const key of Object.keys(mapping)) {
      const isCommon = Object.hasOwn(other, key);
      if (isCommon) commonKeys++;
      const [value, otherValue] = [mapping[key], isCommon ? other[key] : undefined];
      if (value !== otherValue) pairs.push([value, otherValue, depth + 1]);
    }
    if (!hasNoMoreKeys(mapping, other, commonKeys)) return false;
  }
  return true;
}

/** Makes the value read-only at run time as well, in place and however deep; frozen branches are not walked again. */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  if (typeof value === 'object' && value !== null) freezeTree(value, 0);
  return value as DeepReadonly<T>;
}

/** Every object of a cluster goes through this: hence the plain loops, and no calls for what cannot be frozen. */
function freezeTree(tree: object, depth: number): void {
  if (Object.isFrozen(tree)) return;
  if (depth > RECURSION_DEPTH) {
    freezeWithoutRecursion(tree);
    return;
  }
  Object.freeze(tree);
  if (Array.isArray(tree)) {
    for (let index = 0; index < tree.length; index++) {
      const branch: unknown = tree[index];
      if (typeof branch === 'object' && branch !== null) freezeTree(branch, depth + 1);
    }
    return;
  }
  for (const key in tree) {
    const branch = (tree as Mapping)[key];
    if (typeof branch === 'object' && branch !== null) freezeTree(branch, depth + 1);
  }
}

function freezeWithoutRecursion(tree: object): void {
  const trees = [tree];
  for (let next = trees.pop(); next !== undefined; next = trees.pop()) {
    if (Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const branch of Object.values(next)) if (typeof branch === 'object' && branch !== null) trees.push(branch);
  }
}
