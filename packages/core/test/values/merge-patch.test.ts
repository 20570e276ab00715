import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldError } from '../../src/errors.js';
import { diff } from '../../src/values/diff.js';
import { deepCopy } from '../../src/values/json.js';
import {
  applyMergePatch,
  diffToMergePatch,
  mergePatchOf,
  subtractExisting,
} from '../../src/values/patches/merge-patch.js';
import { anyChange, anyMapping, applyByRfc7386, expectSame, withoutEmptyMappings, withoutNulls } from './json-data.js';

describe('applying', () => {
  it.each([
    ['sets a key', {}, { a: 1 }, { a: 1 }],
    ['overrides a key', { a: 1, b: 2 }, { a: 3 }, { a: 3, b: 2 }],
    ['merges into mappings', { a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    ['creates parents', {}, { a: { b: { c: 1 } } }, { a: { b: { c: 1 } } }],
    ['puts lists as a whole', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['removes by null', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ['removes emptied parents', { a: { b: { c: 1 } }, d: 1 }, { a: { b: { c: null } } }, { d: 1 }],
    ['keeps parents with anything in them', { a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    ['removes what is absent by doing nothing', { a: { b: 1 } }, { a: { x: null }, y: { z: null } }, { a: { b: 1 } }],
    ['leaves alone what was empty before', { a: {} }, { a: { b: null } }, { a: {} }],
    ['merges nothing from an empty mapping', { b: 1 }, { a: {}, b: {} }, { b: 1 }],
    ['does not create keys with null', {}, { a: { b: 1, c: null } }, { a: { b: 1 } }],
    ['keeps nulls of lists', {}, { a: [null, { b: null }] }, { a: [null, { b: null }] }],
    ['replaces a scalar with a mapping', { a: 'text' }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['replaces a mapping with a scalar', { a: { b: 1 } }, { a: 'text' }, { a: 'text' }],
    ['ignores undefined', { a: 1 }, { a: undefined }, { a: 1 }],
  ])('%s', (_, target, patch, expected) => {
    applyMergePatch(target, patch);
    expect(target).toEqual(expected);
  });

  it('shares nothing with the patch', () => {
    const patch = { a: { list: [1] } };
    const target: { a?: { list: number[] } } = {};
    applyMergePatch(target, patch);
    target.a?.list.push(2);
    expect(patch).toEqual({ a: { list: [1] } });
  });

  it('never reaches a prototype', () => {
    const target = {};
    applyMergePatch(
      target,
      JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}'),
    );
    expect(JSON.stringify(target)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect('polluted' in {}).toBe(false);
  });
});

describe('made from a diff', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, {}],
    [{ a: 1 }, { a: 2 }, { a: 2 }],
    [{ a: 1, b: 2 }, { b: 2 }, { a: null }],
    [{ a: { b: 1 } }, { a: {} }, { a: { b: null } }],
    [{}, { a: {} }, { a: {} }],
    [{ a: 'text' }, { a: {} }, { a: {} }],
    [{ a: [1] }, { a: [1, 2] }, { a: [1, 2] }],
    [{ a: null }, {}, {}],
  ])('from %j to %j, it is %j', (before, after, patch) => {
    expect(mergePatchOf(before, after)).toEqual(patch);
  });

  it('is a copy', () => {
    const after = { a: [1] };
    expect(mergePatchOf({}, after).a).not.toBe(after.a);
  });

  it('is the object itself where there was none, and cannot remove or replace the whole object', () => {
    expect(diffToMergePatch(diff(undefined, { a: 1 }))).toEqual({ a: 1 });
    expect(() => diffToMergePatch(diff({ a: 1 }, undefined))).toThrow(FieldError);
    expect(() => diffToMergePatch(diff({ a: 1 }, 'text'))).toThrow(FieldError);
  });

  it('gives the new object when applied in the cluster, for any two objects', () => {
    const property = fc.property(fc.oneof(anyChange, fc.tuple(anyMapping, anyMapping)), ([before, after]) => {
      const patched = applyByRfc7386(before, mergePatchOf(before, after));
      expectSame(withoutNulls(patched), withoutNulls(after));
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it('gives the new object when applied here, but for empty mappings, for any two objects', () => {
    const property = fc.property(fc.oneof(anyChange, fc.tuple(anyMapping, anyMapping)), ([before, after]) => {
      const patched = deepCopy(before);
      applyMergePatch(patched, mergePatchOf(before, after));
      const essential = (data: unknown) => withoutEmptyMappings(withoutNulls(data));
      // A scalar is not replaced by an empty mapping here, so these cases differ on purpose.
      fc.pre(!diff(before, after).some(([, , , value]) => isHollow(value)));
      expectSame(essential(patched), essential(after));
    });
    fc.assert(property, { numRuns: 1000 });
  });
});

/** Whether it is an empty mapping, or has only nulls and such mappings in it. */
function isHollow(value: unknown): boolean {
  const remains = withoutEmptyMappings(withoutNulls({ value })) as object;
  return value !== undefined && !('value' in remains);
}

describe('without what the object has already', () => {
  const body = { spec: { size: 1, list: [1, { a: 2 }], empty: {} }, status: { phase: 'on', none: null }, text: 'text' };

  it.each([
    ['equal values', { spec: { size: 1 } }, {}],
    ['equal lists', { spec: { list: [1, { a: 2 }] } }, {}],
    ['other values stay', { spec: { size: 2, list: [1] } }, { spec: { size: 2, list: [1] } }],
    ['a part of a stanza stays', { spec: { size: 1, more: 2 }, status: { phase: 'on' } }, { spec: { more: 2 } }],
    ['true is not 1, as equality is strict', { spec: { size: true } }, { spec: { size: true } }],
    ['removal of absent keys', { spec: { other: null }, other: null }, {}],
    ['removal of keys under absent ones', { other: { deep: { deeper: null } } }, {}],
    ['removal of present keys stays', { spec: { size: null }, text: null }, { spec: { size: null }, text: null }],
    ['removal of a whole stanza stays', { status: null }, { status: null }],
    ['removal of a null stays', { status: { none: null } }, { status: { none: null } }],
    ['empty mappings over mappings', { spec: { empty: {} }, status: {} }, {}],
    ['empty mappings over nothing stay', { spec: { dir: {} } }, { spec: { dir: {} } }],
    [
      'mappings over scalars stay',
      { text: {}, spec: { size: { a: null } } },
      { text: {}, spec: { size: { a: null } } },
    ],
    ['nulls are left out of what is created', { other: { a: 1, b: null } }, { other: { a: 1 } }],
    ['undefined', { spec: { size: undefined } }, {}],
    ['nothing of nothing', {}, {}],
  ])('%s', (_, patch, remaining) => {
    expect(subtractExisting(patch, body)).toEqual(remaining);
  });

  it('dates are compared as the texts they will be', () => {
    expect(subtractExisting({ at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' })).toEqual({});
    expect(subtractExisting({ at: new Date(0) }, {})).toEqual({ at: '1970-01-01T00:00:00.000Z' });
  });

  it('changes neither the patch nor the body', () => {
    const patch = { spec: { size: 1, more: [2] } };
    const remaining = subtractExisting(patch, body) as { spec: { more: number[] } };
    remaining.spec.more.push(3);
    expect(patch).toEqual({ spec: { size: 1, more: [2] } });
  });

  it('what remains does the same as the whole patch, for any object', () => {
    const property = fc.property(fc.oneof(anyChange, fc.tuple(anyMapping, anyMapping)), ([object, patch]) => {
      const byWhole = applyByRfc7386(object, patch);
      const byRemaining = applyByRfc7386(object, subtractExisting(patch, object));
      expectSame(withoutEmptyMappings(withoutNulls(byRemaining)), withoutEmptyMappings(withoutNulls(byWhole)));
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it('nothing remains of a patch that was applied, for any object', () => {
    const property = fc.property(fc.oneof(anyChange, fc.tuple(anyMapping, anyMapping)), ([object, patch]) => {
      const patched = applyByRfc7386(object, patch) as object;
      expectSame(subtractExisting(patch, patched), {});
    });
    fc.assert(property, { numRuns: 1000 });
  });
});
