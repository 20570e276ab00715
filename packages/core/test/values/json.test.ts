import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { diff } from '../../src/values/diff.js';
import { deepCopy, deepEqual, deepFreeze, getOwn, isMapping, setOwn } from '../../src/values/json.js';
import { buildEssence } from '../../src/values/objects/essence.js';
import { anyChange, anyValue, expectSame } from './json-data.js';

const hostile = () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"name": "x"}}') as object;

afterEach(() => {
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

describe('keys of prototypes', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s is absent unless the object has it',
    (key) => {
      expect(getOwn({}, key)).toBe(undefined);
      expect(getOwn(JSON.parse(`{"${key}": 1}`), key)).toBe(1);
    },
  );

  it.each(['__proto__', 'constructor', 'toString', 'ordinary'])(
    '%s is written as a key of the object itself',
    (key) => {
      const target = {};
      setOwn(target, key, { polluted: true });
      expect(Object.keys(target)).toEqual([key]);
      expect(Object.getPrototypeOf(target)).toBe(Object.prototype);
      expect('polluted' in target).toBe(false);
      expect(JSON.stringify(target)).toBe(`{"${key}":{"polluted":true}}`);
    },
  );

  it('are overwritten in place', () => {
    const target = hostile();
    setOwn(target, '__proto__', 1);
    expect(JSON.stringify(target)).toBe('{"__proto__":1,"constructor":{"name":"x"}}');
  });

  it('are copied as data', () => {
    const copy = deepCopy(hostile());
    expect(JSON.stringify(copy)).toBe(JSON.stringify(hostile()));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it('are compared as data', () => {
    expect(deepEqual(hostile(), hostile())).toBe(true);
    expect(deepEqual(hostile(), {})).toBe(false);
    expect(deepEqual({}, hostile())).toBe(false);
    expect(deepEqual(JSON.parse('{"__proto__": 1}'), { a: 1 })).toBe(false);
    expect(deepEqual({ a: 1 }, JSON.parse('{"toString": 1}'))).toBe(false);
  });
});

describe('mappings', () => {
  it.each([[{}], [{ a: 1 }], [Object.create(null)]])('%j is one', (value) => {
    expect(isMapping(value)).toBe(true);
  });

  it.each([[null], [undefined], [[]], ['text'], [1], [true], [() => 1]])('%j is not one', (value) => {
    expect(isMapping(value)).toBe(false);
  });
});

describe('copies', () => {
  it('share nothing with the original', () => {
    const original = { list: [{ a: 1 }], map: { b: { c: 2 } } };
    const copy = deepCopy(original);
    expect(copy).toEqual(original);
    expect(copy).not.toBe(original);
    expect(copy.list).not.toBe(original.list);
    expect(copy.list[0]).not.toBe(original.list[0]);
    expect(copy.map.b).not.toBe(original.map.b);
  });

  it('of frozen objects can be changed', () => {
    const copy = deepCopy(deepFreeze({ a: { b: [1] } })) as { a: { b: number[] } };
    copy.a.b.push(2);
    expect(copy).toEqual({ a: { b: [1, 2] } });
  });

  it('have no keys with undefined', () => {
    expect(Object.keys(deepCopy({ a: undefined, b: null }))).toEqual(['b']);
  });

  it('have dates as they are in JSON, and keep data that only looks like a method', () => {
    expect(deepCopy({ at: new Date(0) })).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    expect(deepCopy({ toJSON: 'data' })).toEqual({ toJSON: 'data' });
  });

  it('of any JSON are equal to it', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expectSame(deepCopy(value), value);
      }),
    );
  });
});

describe('equality', () => {
  it.each([
    [1, 1],
    ['a', 'a'],
    [null, null],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [{ a: undefined }, {}],
    [
      [1, { a: [] }],
      [1, { a: [] }],
    ],
    [-0, 0],
  ])('%j equals %j', (a, b) => {
    expect(deepEqual(a, b)).toBe(true);
    expect(deepEqual(b, a)).toBe(true);
  });

  it.each([
    [true, 1],
    [false, 0],
    [1, '1'],
    [null, 0],
    [null, undefined],
    [null, {}],
    [{ a: null }, {}],
    [[], {}],
    [[1], [1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [
      { a: undefined, b: 1 },
      { a: 1, b: 1 },
    ],
    [{ 0: 1 }, [1]],
  ])('%j differs from %j', (a, b) => {
    expect(deepEqual(a, b)).toBe(false);
    expect(deepEqual(b, a)).toBe(false);
  });

  it('of any two values is that of their JSON with sorted keys', () => {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (!isMapping(value)) return value;
      // A mapping must not look like a list, even if both are empty.
      const entries = Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => ({ key, item: sorted(item) }));
      return { entries };
    };
    fc.assert(
      fc.property(anyChange, ([before, after]) => {
        expect(deepEqual(before, after)).toBe(JSON.stringify(sorted(before)) === JSON.stringify(sorted(after)));
      }),
    );
  });
});

describe('freezing', () => {
  it('goes all the way down, through lists', () => {
    const frozen = deepFreeze({ a: [{ b: {} }] }) as { a: { b: object }[] };
    expect(Object.isFrozen(frozen) && Object.isFrozen(frozen.a) && Object.isFrozen(frozen.a[0]?.b)).toBe(true);
    expect(() => frozen.a.push({ b: {} })).toThrow(TypeError);
  });
});

it('big integers do not make up changes: what is stored of them reads back as the same', () => {
  const text = '{"spec":{"id":9007199254740993,"huge":123456789012345678901234567890,"small":1e-7,"zero":-0}}';
  const essence = buildEssence(JSON.parse(text));
  const restored: unknown = JSON.parse(JSON.stringify(essence));
  expect(diff(restored, essence)).toEqual([]);
  expect(diff(restored, buildEssence(JSON.parse(text)))).toEqual([]);
});
