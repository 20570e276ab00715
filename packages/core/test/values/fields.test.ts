import { afterEach, describe, expect, it } from 'vitest';
import { FieldError } from '../../src/errors.js';
import {
  cherrypick,
  ensureField,
  type FieldSpec,
  formatField,
  hasField,
  parseField,
  removeField,
  requireField,
  resolveField,
} from '../../src/values/fields.js';

afterEach(() => {
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

function codeOf(fn: () => unknown): string | undefined {
  try {
    fn();
  } catch (error) {
    return error instanceof FieldError ? error.code : String(error);
  }
  return undefined;
}

describe('parsing', () => {
  it.each<[FieldSpec, string[]]>([
    [undefined, []],
    [null, []],
    ['', []],
    [[], []],
    ['spec', ['spec']],
    ['spec.size', ['spec', 'size']],
    [
      ['spec', 'size'],
      ['spec', 'size'],
    ],
    [
      ['metadata', 'annotations', 'example.com/key'],
      ['metadata', 'annotations', 'example.com/key'],
    ],
  ])('%j is the path %j', (spec, path) => {
    expect(parseField(spec)).toEqual(path);
  });

  it.each([[123], [true], [{}], [['spec', 1]], [new Set(['spec'])]])('%j is refused', (spec) => {
    expect(() => parseField(spec as unknown as FieldSpec)).toThrow(FieldError);
  });

  it('gives a path of its own, not the list given', () => {
    const spec = ['spec'];
    const path = parseField(spec);
    spec.push('size');
    expect(path).toEqual(['spec']);
  });

  it('is undone by formatting', () => {
    expect(formatField(parseField('spec.size'))).toBe('spec.size');
    expect(formatField([])).toBe('');
  });
});

describe('reading', () => {
  const source = { spec: { size: 5, list: [1], nothing: null }, text: 'text' };

  it.each([
    [[], source],
    [['spec'], source.spec],
    [['spec', 'size'], 5],
    [['spec', 'nothing'], null],
  ])('of %j gives what is there', (path, value) => {
    expect(resolveField(source, path)).toBe(value);
    expect(requireField(source, path)).toBe(value);
    expect(hasField(source, path)).toBe(true);
  });

  it.each([
    [['other'], 'KOPF_FIELD_ABSENT'],
    [['other', 'deeper'], 'KOPF_FIELD_ABSENT'],
    [['spec', 'other'], 'KOPF_FIELD_ABSENT'],
    [['spec', 'nothing', 'deeper'], 'KOPF_FIELD_ABSENT'],
    [['text', 'length'], 'KOPF_FIELD_SCALAR'],
    [['spec', 'size', 'toFixed'], 'KOPF_FIELD_SCALAR'],
    [['spec', 'list', '0'], 'KOPF_FIELD_SCALAR'],
    [['spec', 'list', 'length'], 'KOPF_FIELD_SCALAR'],
    [['__proto__'], 'KOPF_FIELD_ABSENT'],
    [['constructor', 'name'], 'KOPF_FIELD_ABSENT'],
  ])('of %j gives undefined, or %s where the field is required', (path, code) => {
    expect(resolveField(source, path)).toBe(undefined);
    expect(hasField(source, path)).toBe(false);
    expect(codeOf(() => requireField(source, path))).toBe(code);
  });

  it.each([[null], [undefined], ['text'], [5]])('from %j gives undefined', (nothing) => {
    expect(resolveField(nothing, ['spec'])).toBe(undefined);
    expect(resolveField(nothing, [])).toBe(nothing);
  });

  it('names the field that is absent', () => {
    expect(() => requireField({ spec: {} }, ['spec', 'size'])).toThrow("'spec.size'");
  });
});

describe('writing', () => {
  it.each([
    [{}, ['a'], { a: 'new' }],
    [{}, ['a', 'b', 'c'], { a: { b: { c: 'new' } } }],
    [{ a: { x: 1 } }, ['a', 'b'], { a: { x: 1, b: 'new' } }],
    [{ a: { b: 'old' } }, ['a', 'b'], { a: { b: 'new' } }],
    [{ a: null }, ['a', 'b'], { a: { b: 'new' } }],
  ])('into %j at %j makes %j', (target, path, expected) => {
    ensureField(target, path, 'new');
    expect(target).toEqual(expected);
  });

  it.each([['text'], [5], [[]], [false]])('under %j is refused', (scalar) => {
    expect(codeOf(() => ensureField({ a: scalar }, ['a', 'b'], 1))).toBe('KOPF_FIELD_SCALAR');
  });

  it('names the scalar that stands in the way', () => {
    const target = { a: { b: 'text' } };
    expect(() => ensureField(target, ['a', 'b', 'c', 'd'], 1)).toThrow("at 'a.b'");
    expect(() => removeField(target, ['a', 'b', 'c', 'd'])).toThrow("at 'a.b'");
  });

  it('of the whole object is refused', () => {
    expect(codeOf(() => ensureField({}, [], 1))).toBe('KOPF_FIELD_EMPTY');
  });

  it('never reaches a prototype', () => {
    const target = {};
    ensureField(target, ['__proto__', 'polluted'], 1);
    ensureField(target, ['constructor', 'prototype', 'polluted'], 1);
    expect(JSON.stringify(target)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(resolveField(target, ['__proto__', 'polluted'])).toBe(1);
  });
});

describe('removing', () => {
  it.each([
    [{ a: 1, b: 2 }, ['a'], { b: 2 }],
    [{ a: { b: { c: 1 } } }, ['a', 'b', 'c'], {}],
    [{ a: { b: { c: 1 }, x: 1 } }, ['a', 'b', 'c'], { a: { x: 1 } }],
    [{ a: { b: { c: 1, x: 1 } } }, ['a', 'b', 'c'], { a: { b: { x: 1 } } }],
    [{ a: { b: { c: 1 } } }, ['a', 'b'], {}],
    [{ a: { b: {} } }, ['a', 'b', 'c'], {}],
    [{ a: 1 }, ['x'], { a: 1 }],
    [{ a: { b: 1 } }, ['a', 'x', 'y'], { a: { b: 1 } }],
    [{ a: null }, ['a', 'b'], { a: null }],
    [{ a: [] }, ['a'], {}],
  ])('from %j of %j leaves %j', (target, path, expected) => {
    removeField(target, path);
    expect(target).toEqual(expected);
  });

  it.each([['text'], [5], [[]]])('under %j is refused, unless scalars count as absence', (scalar) => {
    const target = { a: scalar, b: 1 };
    expect(codeOf(() => removeField(target, ['a', 'b']))).toBe('KOPF_FIELD_SCALAR');
    removeField(target, ['a', 'b'], { scalars: 'absent' });
    expect(target).toEqual({ a: scalar, b: 1 });
  });

  it('of the whole object is refused', () => {
    expect(codeOf(() => removeField({}, []))).toBe('KOPF_FIELD_EMPTY');
  });

  it('never reaches a prototype', () => {
    removeField({}, ['__proto__', 'toString']);
    removeField({}, ['constructor', 'prototype', 'toString']);
    expect(typeof {}.toString).toBe('function');
    const target = JSON.parse('{"__proto__": {"a": 1}}') as object;
    removeField(target, ['__proto__', 'a']);
    expect(Object.keys(target)).toEqual([]);
  });
});

describe('cherrypicking', () => {
  it('overrides, adds, and skips what is absent', () => {
    const target = { spec: { a: 'old', kept: 1 } };
    const source = { spec: { a: 'new', skipped: 2 }, status: { x: 1 } };
    cherrypick(source, target, [
      ['spec', 'a'],
      ['status', 'x'],
      ['status', 'y'],
      ['other', 'deep'],
    ]);
    expect(target).toEqual({ spec: { a: 'new', kept: 1 }, status: { x: 1 } });
  });

  it('copies', () => {
    const source = { spec: { list: [{}] } };
    const target: { spec?: { list: object[] } } = {};
    cherrypick(source, target, [['spec']]);
    expect(target).toEqual(source);
    expect(target.spec?.list[0]).not.toBe(source.spec.list[0]);
  });

  it.each([
    [{ a: 'text' }, {}],
    [{ a: { b: 1 } }, { a: 'text' }],
  ])('from %j to %j is refused because of the scalar, unless scalars count as absence', (source, target) => {
    const before = { ...target };
    expect(codeOf(() => cherrypick(source, target, [['a', 'b']]))).toBe('KOPF_FIELD_SCALAR');
    cherrypick(source, target, [['a', 'b']], { scalars: 'absent' });
    expect(target).toEqual(before);
  });
});
