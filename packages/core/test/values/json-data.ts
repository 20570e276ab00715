/** Random JSON, with keys that like to break things, and the independent judges of it. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';

export type Data = Record<string, unknown>;

const keys = fc.constantFrom('a', 'b', 'c', 'a/b', 'm~n', '', '0', '__proto__', 'constructor', 'toString', 'é');

const scalars = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, '', '1', 'text'),
  fc.integer(),
  fc.string({ maxLength: 3 }),
);

const { mapping, value } = fc.letrec<{ value: unknown; mapping: Data; list: unknown[] }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalars, tie('mapping'), tie('list')),
  mapping: fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((entries): Data => Object.fromEntries(entries)),
  list: fc.array(tie('value'), { maxLength: 5 }),
}));

export const anyMapping = mapping;
export const anyValue = value;

/** An object and a similar one: unlike two random ones, they have much in common. */
export const anyChange: fc.Arbitrary<[before: Data, after: Data]> = fc
  .tuple(mapping, fc.array(fc.tuple(fc.array(keys, { minLength: 1, maxLength: 3 }), value), { maxLength: 3 }))
  .map(([before, edits]) => {
    const after = JSON.parse(JSON.stringify(before)) as Data;
    for (const [path, replacement] of edits) edit(after, path, replacement);
    return [before, after];
  });

function edit(target: Data, path: readonly string[], replacement: unknown): void {
  const [key = '', ...rest] = path;
  const child = Object.hasOwn(target, key) ? target[key] : undefined;
  const goesDeeper = rest.length > 0 && typeof child === 'object' && child !== null;
  if (goesDeeper) edit(child as Data, rest, replacement);
  else if (Array.isArray(target)) target.splice(target.length >> 1, Number(key === 'a'), replacement);
  else Object.defineProperty(target, key, { value: replacement, enumerable: true, configurable: true, writable: true });
}

/** Asserts equality by Node's own judgement; the one of the test framework does not see keys like `__proto__`. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect.fail(`${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`);
}

/** The same without null-valued keys in mappings (not in lists), which mean absence. */
export function withoutNulls(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  const entries = Object.entries(data).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNulls(item)]));
}

/** The same without mappings that are empty, or become so when their empty mappings are taken out. */
export function withoutEmptyMappings(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  const entries = Object.entries(data).map(([key, item]) => [key, withoutEmptyMappings(item)] as const);
  return Object.fromEntries(entries.filter(([, item]) => !isDeepStrictEqual(item, {})));
}

/** Applies a merge-patch by the letter of RFC 7386, as API servers do. */
export function applyByRfc7386(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result = new Map<string, unknown>(isObject ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, applyByRfc7386(result.get(key), value));
  }
  return Object.fromEntries(result);
}

interface Op {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** Applies a JSON-patch by the letter of RFC 6902; what the RFC calls an error is an error. */
export function applyByRfc6902(document: unknown, ops: readonly Op[]): unknown {
  return ops.reduce((result, { op, path, value }) => {
    const keys = path.split('/').slice(1);
    return applyAt(
      result,
      keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')),
      op,
      value,
    );
  }, document);
}

function applyAt(target: unknown, [key, ...rest]: readonly string[], op: string, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(target)) {
    const index = Number(key);
    const limit = op === 'add' && rest.length === 0 ? target.length + 1 : target.length;
    if (!/^(0|[1-9]\d*)$/.test(key) || index >= limit) throw new Error(`No such index: ${key}`);
    if (rest.length > 0) return target.with(index, applyAt(target[index], rest, op, value));
    return target.toSpliced(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]));
  }
  if (typeof target !== 'object' || target === null) throw new Error(`Not a container at ${key}`);
  const result = new Map<string, unknown>(Object.entries(target));
  if (!result.has(key) && !(op === 'add' && rest.length === 0)) throw new Error(`No such key: ${key}`);
  if (rest.length > 0) result.set(key, applyAt(result.get(key), rest, op, value));
  else if (op === 'remove') result.delete(key);
  else result.set(key, value);
  return Object.fromEntries(result);
}
