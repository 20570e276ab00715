/**
 * What has changed between two objects, field by field: the `diff` that handlers are given and selected by.
 *
 * `null` and `undefined` both mean absence: the cluster drops nulls from what it stores. Lists are values: they
 * are compared as a whole. A subtree that appears or vanishes is one item, not one per leaf of it.
 */
import { type FieldPath, resolveField } from './fields.js';
import { deepEqual, type Mapping, RECURSION_DEPTH } from './json.js';

/**
 * What happened to a field: Kopf has the same three words.
 *
 * ```ts
 * const signs: Record<kopf.DiffOperation, string> = { add: '+', change: '~', remove: '-' };
 * ```
 */
export type DiffOperation = 'add' | 'change' | 'remove';

/**
 * One difference. The values are those of the compared objects themselves, not copies.
 *
 * ```ts
 * const shown = ([operation, field, old, now]: kopf.DiffItem): string =>
 *   `${operation} ${field.join('.')}: ${old} → ${now}`;
 * ```
 */
export type DiffItem = readonly [operation: DiffOperation, field: FieldPath, old: unknown, new: unknown];

/**
 * What differs between two states of an object, as handlers get it in `diff`.
 *
 * ```ts
 * const touchesSpec = (diff: kopf.Diff): boolean => diff.some(([, field]) => field[0] === 'spec');
 * ```
 */
export type Diff = readonly DiffItem[];

/** `left` overlooks the keys that only the second object has; `right`, those that only the first one has. */
export type DiffScope = 'full' | 'left' | 'right';

/**
 * Compares two values, usually two essences.
 *
 * The order is stable: for every mapping, first the added keys, then the removed ones, then those changed inside.
 *
 * ```ts
 * kopf.diff({ spec: { size: 1 } }, { spec: { size: 2 } }); // [['change', ['spec', 'size'], 1, 2]]
 * ```
 */
export function diff(a: unknown, b: unknown, options: { readonly scope?: DiffScope } = {}): Diff {
  const items: DiffItem[] = [];
  compare(a, b, recursiveWalk(items, options.scope ?? 'full'));
  return items;
}

/** The same changes as seen from a field: those outside of it are dropped, those above it are narrowed down to it. */
export function reduceDiff(items: Diff, path: FieldPath): Diff {
  if (path.length === 0) return items;
  return items.flatMap(([operation, field, old, new_]): Diff => {
    if (startsWith(field, path)) return [[operation, field.slice(path.length), old, new_]];
    if (!startsWith(path, field)) return [];
    const tail = path.slice(field.length);
    return diff(resolveField(old, tail), resolveField(new_, tail));
  });
}

function startsWith(path: FieldPath, prefix: FieldPath): boolean {
  return path.length >= prefix.length && prefix.every((key, depth) => path[depth] === key);
}

/** A way to go through two values at once. */
interface Walk {
  readonly items: DiffItem[];
  readonly scope: DiffScope;
  /** Where the comparison stands. */
  path(): string[];
  /** Goes to what both have under the key. */
  visit(key: string, a: unknown, b: unknown): void;
}

/** One stack of keys for all of it, so that nothing is allocated for what is equal. */
function recursiveWalk(items: DiffItem[], scope: DiffScope): Walk {
  const path: string[] = [];
  const walk: Walk = {
    items,
    scope,
    path: () => path.slice(),
    visit(key, a, b) {
      if (a === b) return;
      path.push(key);
      if (path.length > RECURSION_DEPTH) compareWithoutRecursion(a, b, walk);
      else compare(a, b, walk);
      path.pop();
    },
  };
  return walk;
}

/** The way to a value, from its end. Whole paths are made only for what differs: each is as long as the value is deep. */
interface Step {
  readonly key: string;
  readonly before: Step | undefined;
}

interface Pair {
  readonly a: unknown;
  readonly b: unknown;
  readonly at: Step | undefined;
}

function compareWithoutRecursion(a: unknown, b: unknown, { items, scope, path }: Walk): void {
  const start = path();
  const pairs: Pair[] = [{ a, b, at: undefined }];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const { at } = pair;
    const inside: Pair[] = [];
    compare(pair.a, pair.b, {
      items,
      scope,
      path: () => [...start, ...keysTo(at)],
      visit: (key, a, b) => void inside.push({ a, b, at: { key, before: at } }),
    });
    // The last one is taken first.
    for (let index = inside.length - 1; index >= 0; index--) pairs.push(inside[index] as Pair);
  }
}

function keysTo(end: Step | undefined): string[] {
  const keys: string[] = [];
  for (let step = end; step !== undefined; step = step.before) keys.push(step.key);
  return keys.reverse();
}

function compare(a: unknown, b: unknown, walk: Walk): void {
  if (a === b) return;
  const aIsAbsent = a === undefined || a === null;
  const bIsAbsent = b === undefined || b === null;
  if (aIsAbsent && bIsAbsent) return;
  if (aIsAbsent) emit(walk, 'add', undefined, b);
  else if (bIsAbsent) emit(walk, 'remove', a, undefined);
  else if (typeof a !== 'object' || typeof b !== 'object') emit(walk, 'change', a, b);
  else if (!Array.isArray(a) && !Array.isArray(b)) compareMappings(a as Mapping, b as Mapping, walk);
  else if (!deepEqual(a, b)) emit(walk, 'change', a, b);
}

function emit({ items, path }: Walk, operation: DiffOperation, old: unknown, new_: unknown): void {
  items.push([operation, path(), old, new_]);
}

function compareMappings(a: Mapping, b: Mapping, walk: Walk): void {
  const keysOfA = Object.keys(a);
  const keysOfB = Object.keys(b);
  // Mostly, two states of an object have the same keys in the same order. Knowing that, keys need no looking up.
  if (listsOfKeysAreSame(keysOfA, keysOfB)) {
    for (const key of keysOfA) walk.visit(key, a[key], b[key]);
    return;
  }
  // A key with `null` is still there: `left` is how a patch is checked, and a patch removes by nulls.
  const isInA = (key: string) => Object.hasOwn(a, key) && a[key] !== undefined;
  const isInB = (key: string) => Object.hasOwn(b, key) && b[key] !== undefined;
  if (walk.scope !== 'left') {
    for (const key of keysOfB) if (!isInA(key)) walk.visit(key, undefined, b[key]);
  }
  if (walk.scope !== 'right') {
    for (const key of keysOfA) if (!isInB(key)) walk.visit(key, a[key], undefined);
  }
  for (const key of keysOfA) if (isInA(key) && isInB(key)) walk.visit(key, a[key], b[key]);
}

function listsOfKeysAreSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index]) return false;
  }
  return true;
}
