import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contents, harness, pod } from '../harness.js';

class Thing {}
const thing = new Thing();
const symbol = Symbol('s');
const fn = (): void => {};

/** An index with one key, and whether another key finds what is there. */
function isFound(key: unknown, by: unknown): boolean {
  const { registry, indexer, see } = harness();
  const ref = registry.index('pods', { id: 'x' }, () => new Map([[key, 'value']]));
  see(pod('one'));
  const index = indexer.indices.get(ref);
  const found = index.get(by);
  expect(index.has(by)).toBe(found !== undefined);
  expect([...index.keys()]).toEqual([key]);
  return found !== undefined;
}

describe('keys of the same structure are the same', () => {
  it.each<[string, unknown, unknown]>([
    ['lists', ['ns', 'name'], ['ns', 'name']],
    ['nested lists', ['a', ['b', []]], ['a', ['b', []]]],
    ['lists with nothing in them', [undefined, null], [undefined, null]],
    ['objects', { a: 1, b: { c: [2] } }, { a: 1, b: { c: [2] } }],
    ['objects in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['objects with undefined', { a: 1, b: undefined }, { a: 1 }],
    ['objects without a prototype', { a: 1 }, Object.assign(Object.create(null), { a: 1 })],
    ['dates', new Date(5), new Date(5)],
    ['dates in lists', [new Date(5)], [new Date(5)]],
    ['zeros', [0], [-0]],
    ['no numbers', [Number.NaN], [Number.NaN]],
    ['big numbers', [10n], [10n]],
    ['the same instance', thing, thing],
    ['the same instance in a list', ['a', thing], ['a', thing]],
    ['the same symbol in a list', [symbol], [symbol]],
    ['the same function in a list', [fn], [fn]],
  ])('%s', (_, key, by) => {
    expect(isFound(key, by)).toBe(true);
  });
});

describe('keys of different structures are different', () => {
  it.each<[string, unknown, unknown]>([
    ['a list and its text', ['a'], '["a"]'],
    ['a list and its only item', ['a'], 'a'],
    ['lists split elsewhere', ['ab', 'c'], ['a', 'bc']],
    ['lists nested elsewhere', [['a'], 'b'], ['a', ['b']]],
    ['texts and numbers', ['1'], [1]],
    ['numbers and big numbers', [1], [1n]],
    ['true and one', [true], [1]],
    ['nothing and null', [undefined], [null]],
    ['nothing and the word', [undefined], ['undefined']],
    ['no item and nothing', [], [undefined]],
    ['a list and an object', ['a'], { 0: 'a' }],
    ['an object with null and without', { a: null }, {}],
    ['dates', new Date(5), new Date(6)],
    ['a date and its number', [new Date(5)], [5]],
    ['instances', thing, new Thing()],
    ['instances in lists', [thing], [new Thing()]],
    ['symbols in lists', [symbol], [Symbol('s')]],
    ['an instance and an object', [new Thing()], [{}]],
  ])('%s', (_, key, by) => {
    expect(isFound(key, by)).toBe(false);
  });

  it('whatever texts look like structures', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.array(fc.string({ unit: 'binary' })), (key, by) => {
        const isSame = key.length === by.length && key.every((part, n) => part === by[n]);
        expect(isFound(key, by)).toBe(isSame);
        // Neither is there a text that is taken for the list, however the lists are marked inside.
        for (const text of [key.join(), `\0[${key.map((part) => `${part.length}:${part}`).join('')}]`]) {
          expect(isFound(key, text)).toBe(false);
          expect(isFound(text, key)).toBe(false);
          expect(isFound(text, text)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});

it('objects with the same structural key are in one store, and leave it one by one', () => {
  const { registry, indexer, see } = harness();
  const ref = registry.index('pods', { id: 'x' }, ({ namespace, name }) => new Map([[['all', namespace], name]]));
  see(pod('one'));
  see(pod('two'));
  expect([...(indexer.indices.get(ref).get(['all', 'ns']) ?? [])]).toEqual(['one', 'two']);
  see(pod('one'), 'DELETED');
  expect(contents(indexer.indices.get(ref))).toEqual({ '["all","ns"]': ['two'] });
  see(pod('two'), 'DELETED');
  expect(indexer.indices.get(ref).get(['all', 'ns'])).toBeUndefined();
});

it('of equal keys in one result, the last one wins', () => {
  const { registry, indexer, see } = harness();
  const ref = registry.index(
    'pods',
    { id: 'x' },
    () =>
      new Map([
        [['a'], 1],
        [['a'], 2],
        [['b'], 3],
      ]),
  );
  see(pod('one'));
  see(pod('one'));
  expect(contents(indexer.indices.get(ref))).toEqual({ '["a"]': [2], '["b"]': [3] });
  see(pod('one'), 'DELETED');
  expect(indexer.indices.get(ref).size).toBe(0);
});
