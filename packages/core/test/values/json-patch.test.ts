import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepCopy } from '../../src/values/json.js';
import { escapePointer, type JsonPatchOp, jsonPatch, parsePointer } from '../../src/values/patches/json-patch.js';
import { anyChange, anyValue, applyByRfc6902, expectSame } from './json-data.js';

describe('of mappings', () => {
  it.each<[string, unknown, unknown, JsonPatchOp[]]>([
    ['equal objects need nothing', { a: { b: [1] } }, { a: { b: [1] } }, []],
    ['the order of keys is nothing', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['a new key is added', { a: 1 }, { a: 1, b: 2 }, [{ op: 'add', path: '/b', value: 2 }]],
    ['an old key is removed', { a: 1, b: 2 }, { a: 1 }, [{ op: 'remove', path: '/b' }]],
    ['a changed key is replaced', { a: { b: 1 } }, { a: { b: 2 } }, [{ op: 'replace', path: '/a/b', value: 2 }]],
    ['a new subtree is added as one', {}, { a: { b: 1 } }, [{ op: 'add', path: '/a', value: { b: 1 } }]],
    ['a scalar makes place for a mapping', { a: 1 }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
    ['true is not 1', { a: true }, { a: 1 }, [{ op: 'replace', path: '/a', value: 1 }]],
    ['null is a value', { a: null }, {}, [{ op: 'remove', path: '/a' }]],
    ['null is not absence', {}, { a: null }, [{ op: 'add', path: '/a', value: null }]],
    [
      'undefined is absence',
      { a: undefined, b: 1 },
      { a: 1, b: undefined },
      [
        { op: 'remove', path: '/b' },
        { op: 'add', path: '/a', value: 1 },
      ],
    ],
    ['the whole document can be replaced', { a: 1 }, [], [{ op: 'replace', path: '', value: [] }]],
    ['keys are escaped', {}, { 'a/b~c': 1 }, [{ op: 'add', path: '/a~1b~0c', value: 1 }]],
    ['a key may be empty', { '': 1 }, {}, [{ op: 'remove', path: '/' }]],
  ])('%s', (_, before, after, expected) => {
    expect(jsonPatch(before, after)).toEqual(expected);
  });

  it('keys of prototypes are keys as any other', () => {
    const hostile = JSON.parse('{"__proto__": 1}') as object;
    expect(jsonPatch({}, hostile)).toEqual([{ op: 'add', path: '/__proto__', value: 1 }]);
    expect(jsonPatch(hostile, {})).toEqual([{ op: 'remove', path: '/__proto__' }]);
    expect(jsonPatch({ constructor: 1 }, {})).toEqual([{ op: 'remove', path: '/constructor' }]);
  });
});

describe('of lists', () => {
  it.each<[string, unknown[], unknown[], JsonPatchOp[]]>([
    ['appending is one addition', ['a', 'b'], ['a', 'b', 'c'], [{ op: 'add', path: '/2', value: 'c' }]],
    ['prepending is one addition', ['b'], ['a', 'b'], [{ op: 'add', path: '/0', value: 'a' }]],
    ['an element is removed from the middle', ['a', 'b', 'c'], ['a', 'c'], [{ op: 'remove', path: '/1' }]],
    [
      'several are removed one by one from one place',
      ['a', 'b', 'c', 'd'],
      ['a', 'd'],
      [
        { op: 'remove', path: '/1' },
        { op: 'remove', path: '/1' },
      ],
    ],
    [
      'removals apart from each other count the shifts',
      ['a', 'b', 'c', 'd'],
      ['b', 'd'],
      [
        { op: 'remove', path: '/0' },
        { op: 'remove', path: '/1' },
      ],
    ],
    ['an element is replaced', ['a', 'b', 'c'], ['a', 'x', 'c'], [{ op: 'replace', path: '/1', value: 'x' }]],
    [
      'an element is changed inside',
      [{ n: 'a', v: 1 }, 'b'],
      [{ n: 'a', v: 2 }, 'b'],
      [{ op: 'replace', path: '/0/v', value: 2 }],
    ],
    ['equal elements do not confuse', ['a', 'a', 'a'], ['a', 'a'], [{ op: 'remove', path: '/2' }]],
    ['emptied', ['a'], [], [{ op: 'remove', path: '/0' }]],
  ])('%s', (_, before, after, expected) => {
    expect(jsonPatch(before, after)).toEqual(expected);
  });

  it('very long and very different ones are still right, if not the shortest', () => {
    const before = Array.from({ length: 300 }, (_, index) => index);
    const after = before.map((index) => (index * 7) % 300).slice(10);
    expectSame(applyByRfc6902(before, jsonPatch(before, after)), after);
  });
});

it.each([
  ['plain', 'plain'],
  ['a/b', 'a~1b'],
  ['m~n', 'm~0n'],
  ['~1', '~01'],
])('the key %j is written as %j in a pointer', (key, escaped) => {
  expect(escapePointer(key)).toBe(escaped);
  expect(parsePointer(`/spec/${escaped}`)).toEqual(['spec', key]);
});

it('applying the patch gives the new value, for any two values, and changes neither of them', () => {
  const property = fc.property(fc.oneof(anyChange, fc.tuple(anyValue, anyValue)), ([before, after]) => {
    const copies = deepCopy([before, after]);
    const ops = jsonPatch(before, after);
    expectSame([before, after], copies);
    expectSame(applyByRfc6902(before, ops), after);
  });
  fc.assert(property, { numRuns: 1000 });
});
