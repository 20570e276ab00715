import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  membersOf,
  NOTHING,
  setOf,
  union,
  withoutTrees,
} from '../../src/fields/field-sets.js';

/** The simplest model: paths as texts. */
const paths = fc.array(fc.array(fc.constantFrom('f:a', 'f:b', 'k:{"n":1}', 'v:"x"'), { minLength: 1, maxLength: 3 }), {
  maxLength: 8,
});
const setFrom = (all: readonly (readonly string[])[]): FieldSet =>
  all.reduce((set, path) => union(set, setOf(...path)), NOTHING);
const model = (all: readonly (readonly string[])[]): Set<string> => new Set(all.map((path) => path.join(' ')));
const read = (set: FieldSet): Set<string> => model([...membersOf(set)]);

describe('sets of fields', () => {
  it('have what was put into them', () => {
    fc.assert(
      fc.property(paths, (all) => {
        expect(read(setFrom(all))).toEqual(model(all));
      }),
    );
  });

  it('are joined, cut and subtracted as sets of paths are', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [setFrom(a), setFrom(b)];
        const [mine, other] = [model(a), model(b)];
        expect(read(union(left, right))).toEqual(new Set([...mine, ...other]));
        expect(read(difference(left, right))).toEqual(new Set([...mine].filter((path) => !other.has(path))));
        expect(read(intersection(left, right))).toEqual(new Set([...mine].filter((path) => other.has(path))));
        const isBeneath = (path: string) => [...other].some((top) => path === top || path.startsWith(`${top} `));
        expect(read(withoutTrees(left, right))).toEqual(new Set([...mine].filter((path) => !isBeneath(path))));
      }),
    );
  });

  it('are not changed by that, and shared where nothing differs', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [setFrom(a), setFrom(b)];
        const before = JSON.stringify([left, right]);
        const nothingNew = union(left, intersection(left, right));
        expect(read(nothingNew)).toEqual(read(left));
        expect(isEmpty(difference(left, left))).toBe(true);
        expect(difference(left, NOTHING)).toBe(left);
        expect(union(left, NOTHING)).toBe(left);
        expect(JSON.stringify([left, right])).toBe(before);
      }),
    );
  });

  it('are written as objects carry them', () => {
    const set = union(setOf('f:data'), setOf('f:data', 'f:a'));
    expect(set).toEqual({ 'f:data': { '.': {}, 'f:a': {} } });
    expect(difference(set, setOf('f:data'))).toEqual({ 'f:data': { 'f:a': {} } });
    expect(difference(set, setOf('f:data', 'f:a'))).toEqual({ 'f:data': {} });
  });
});
