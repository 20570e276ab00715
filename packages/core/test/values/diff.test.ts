import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Diff, type DiffScope, diff, reduceDiff } from '../../src/values/diff.js';
import { deepFreeze } from '../../src/values/json.js';
import { anyChange, anyMapping, expectSame, withoutNulls } from './json-data.js';

const scopes: DiffScope[] = ['full', 'left', 'right'];

describe.each(scopes)('in the scope "%s"', (scope) => {
  it.each([[{ a: 1 }], ['text'], [[]], [{}], [0], [false]])('%j is added to nothing at the root', (value) => {
    expect(diff(undefined, value, { scope })).toEqual([['add', [], undefined, value]]);
    expect(diff(null, value, { scope })).toEqual([['add', [], undefined, value]]);
  });

  it.each([[{ a: 1 }], ['text'], [[]], [{}], [0], [false]])(
    '%j is removed at the root when nothing is left',
    (value) => {
      expect(diff(value, undefined, { scope })).toEqual([['remove', [], value, undefined]]);
      expect(diff(value, null, { scope })).toEqual([['remove', [], value, undefined]]);
    },
  );

  it.each([
    [null, null],
    [undefined, null],
    ['text', 'text'],
    [
      [1, { a: 2 }],
      [1, { a: 2 }],
    ],
    [
      { a: 1, b: { c: 2, d: 3 } },
      { b: { d: 3, c: 2 }, a: 1 },
    ],
    [{ a: null }, {}],
    [{}, { a: null }],
    [{ x: { a: null } }, { x: {} }],
  ])('there is no difference between %j and %j', (a, b) => {
    expect(diff(a, b, { scope })).toEqual([]);
  });

  it.each([
    ['text', 'other'],
    [1, '1'],
    [true, 1],
    [false, 0],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [[{ a: null }], [{}]],
    [{ a: 1 }, 'text'],
    ['text', {}],
    [[], {}],
  ])('%j becomes %j as a whole', (a, b) => {
    expect(diff(a, b, { scope })).toEqual([['change', [], a, b]]);
  });

  it('a change of a nested key is told by its path', () => {
    expect(diff({ main: { key: 'old', same: 1 } }, { main: { key: 'new', same: 1 } }, { scope })).toEqual([
      ['change', ['main', 'key'], 'old', 'new'],
    ]);
  });
});

const before = { gone: 1, common: { gone: 2, changed: 3 } };
const after = { common: { come: 4, changed: 5 }, come: 6 };

it.each<[DiffScope, Diff]>([
  [
    'full',
    [
      ['add', ['come'], undefined, 6],
      ['remove', ['gone'], 1, undefined],
      ['add', ['common', 'come'], undefined, 4],
      ['remove', ['common', 'gone'], 2, undefined],
      ['change', ['common', 'changed'], 3, 5],
    ],
  ],
  [
    'left',
    [
      ['remove', ['gone'], 1, undefined],
      ['remove', ['common', 'gone'], 2, undefined],
      ['change', ['common', 'changed'], 3, 5],
    ],
  ],
  [
    'right',
    [
      ['add', ['come'], undefined, 6],
      ['add', ['common', 'come'], undefined, 4],
      ['change', ['common', 'changed'], 3, 5],
    ],
  ],
])('in the scope "%s", keys of the other side only are overlooked', (scope, expected) => {
  expect(diff(before, after, { scope })).toEqual(expected);
});

it('the scope is full unless told otherwise', () => {
  expect(diff(before, after)).toEqual(diff(before, after, { scope: 'full' }));
});

it('keys come in the order of the objects: added, removed, then changed inside', () => {
  const fields = diff({ z: 1, y: { z: 1 }, x: 1, w: 1 }, { q: 1, w: 2, p: 1, y: { z: 2 } }).map(([, field]) => field);
  expect(fields).toEqual([['q'], ['p'], ['z'], ['x'], ['y', 'z'], ['w']]);
});

it('a key with null is there for the scopes: what a patch should have removed is noticed', () => {
  expect(diff({ x: null }, { x: 1 }, { scope: 'left' })).toEqual([['add', ['x'], undefined, 1]]);
  expect(diff({ x: 1 }, { x: null }, { scope: 'right' })).toEqual([['remove', ['x'], 1, undefined]]);
});

it('a key with undefined is not there', () => {
  expect(diff({ x: undefined, a: 1 }, { x: 1 }, { scope: 'left' })).toEqual([['remove', ['a'], 1, undefined]]);
  expect(diff({ x: 1 }, { x: undefined, a: 1 }, { scope: 'right' })).toEqual([['add', ['a'], undefined, 1]]);
});

it('a subtree that comes or goes is one item, even if empty', () => {
  expect(diff({}, { x: { y: { z: 1 } } })).toEqual([['add', ['x'], undefined, { y: { z: 1 } }]]);
  expect(diff({ x: {} }, {})).toEqual([['remove', ['x'], {}, undefined]]);
});

it('values are those of the objects, not copies', () => {
  const old = { x: [1] };
  const now = { x: [2] };
  const [item] = diff(old, now);
  expect(item?.[2]).toBe(old.x);
  expect(item?.[3]).toBe(now.x);
});

it('mappings without a prototype are mappings as well', () => {
  const bare = Object.assign(Object.create(null) as object, { x: 1, y: 2 });
  expect(diff(bare, { x: 1, y: 3 })).toEqual([['change', ['y'], 2, 3]]);
});

it('keys of prototypes are keys as any other', () => {
  const hostile = JSON.parse('{"__proto__": {"a": 1}}') as object;
  expect(diff(hostile, {})).toEqual([['remove', ['__proto__'], { a: 1 }, undefined]]);
  expect(diff({}, hostile)).toEqual([['add', ['__proto__'], undefined, { a: 1 }]]);
  expect(diff(hostile, JSON.parse('{"__proto__": {"a": 2}}'))).toEqual([['change', ['__proto__', 'a'], 1, 2]]);
  expect(diff({ constructor: 1 }, {})).toEqual([['remove', ['constructor'], 1, undefined]]);
});

it('works on frozen objects', () => {
  expect(diff(deepFreeze({ a: 1 }), deepFreeze({ a: 2 }))).toEqual([['change', ['a'], 1, 2]]);
});

it('is empty for any two objects exactly when they are equal but for nulls', () => {
  fc.assert(
    fc.property(anyChange, ([a, b]) => {
      if (diff(a, b).length === 0) expectSame(withoutNulls(a), withoutNulls(b));
      else expect(() => expectSame(withoutNulls(a), withoutNulls(b))).toThrow();
    }),
  );
});

it('of the opposite direction has the opposite operations on the same fields', () => {
  const opposite = { add: 'remove', remove: 'add', change: 'change' } as const;
  const asTexts = (items: Diff) => items.map((item) => JSON.stringify(item)).sort();
  fc.assert(
    fc.property(anyMapping, anyMapping, (a, b) => {
      const reversed = diff(b, a).map(
        ([operation, field, old, new_]) => [opposite[operation], field, new_, old] as const,
      );
      expect(asTexts(reversed)).toEqual(asTexts(diff(a, b)));
    }),
  );
});

describe('reduced to a field', () => {
  const items: Diff = [
    ['add', ['added'], undefined, { sub: { x: 1 } }],
    ['change', ['spec', 'a', 'b'], 1, 2],
    ['change', ['spec', 'c'], { d: 1, e: 2 }, 'text'],
    ['remove', ['removed'], { sub: 1 }, undefined],
  ];

  it('nothing is lost for the whole object', () => {
    expect(reduceDiff(items, [])).toEqual(items);
  });

  it.each<[string[], Diff]>([
    [
      ['spec'],
      [
        ['change', ['a', 'b'], 1, 2],
        ['change', ['c'], { d: 1, e: 2 }, 'text'],
      ],
    ],
    [['spec', 'a'], [['change', ['b'], 1, 2]]],
    [['spec', 'a', 'b'], [['change', [], 1, 2]]],
    [['spec', 'a', 'b', 'deeper'], []],
    [['spec', 'c', 'd'], [['remove', [], 1, undefined]]],
    [['added', 'sub'], [['add', [], undefined, { x: 1 }]]],
    [['added', 'sub', 'x'], [['add', [], undefined, 1]]],
    [['added', 'other'], []],
    [['removed', 'sub'], [['remove', [], 1, undefined]]],
    [['nowhere'], []],
    [['sp'], []],
  ])('%j, only its own changes remain', (path, expected) => {
    expect(reduceDiff(items, path)).toEqual(expected);
  });

  it('an item above it is narrowed down to what differs there', () => {
    const whole: Diff = [['change', [], { spec: { a: 1, b: { c: 1 } } }, { spec: { a: 1, b: { c: 2 } } }]];
    expect(reduceDiff(whole, ['spec'])).toEqual([['change', ['b', 'c'], 1, 2]]);
    expect(reduceDiff(whole, ['spec', 'a'])).toEqual([]);
  });

  it('the result is the diff of the fields, for any two objects', () => {
    fc.assert(
      fc.property(anyChange, fc.constantFrom('a', 'b', '__proto__', 'constructor'), ([a, b], key) => {
        const field = (source: Record<string, unknown>) => (Object.hasOwn(source, key) ? source[key] : undefined);
        expectSame(reduceDiff(diff(a, b), [key]), diff(field(a), field(b)));
      }),
    );
  });
});
