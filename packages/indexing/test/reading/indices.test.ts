import { createRegistry, type Index } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { contents, harness, pod } from '../harness.js';

describe('indices', () => {
  it('exist from the start, with nothing in them', () => {
    const { registry, indexer } = harness();
    const ref = registry.index('pods', { id: 'a' }, ({ name }) => name);
    expect([...indexer.indices].map(([id, index]) => [id, index.size])).toEqual([['a', 0]]);
    expect(indexer.indices.get(ref).get(null)).toBeUndefined();
    expect([...indexer.indices.get(ref)]).toEqual([]);
  });

  it('also those declared before the indexer was made, and those declared later', () => {
    const registry = createRegistry();
    registry.index('pods', { id: 'before' }, () => 1);
    const { indexer } = harness({ registry });
    expect([...indexer.indices].map(([id]) => id)).toEqual(['before']);
    const ref = registry.index('pods', { id: 'later' }, () => 1);
    expect([...indexer.indices].map(([id]) => id)).toEqual(['before', 'later']);
    expect(indexer.indices.get(ref).size).toBe(0);
  });

  it('are found by token and by id, and are the same for as long as the indexer lives', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'a' }, ({ name }) => ({ [name]: name }));
    const index: Index<string, string> = indexer.indices.get(ref);
    see(pod('one'));
    see(pod('one'), 'DELETED');
    see(pod('two'));
    expect(indexer.indices.get('a')).toBe(index);
    expect(new Map(indexer.indices).get('a')).toBe(index);
    expect(contents(index)).toEqual({ '"two"': ['two'] });
  });

  it('that are not there: an id finds nothing, and a token of another registry is a mistake', () => {
    const { indexer } = harness();
    const stranger = createRegistry().index('pods', { id: 'strange' }, () => 1);
    expect(indexer.indices.get('strange')).toBeUndefined();
    expect(() => indexer.indices.get(stranger)).toThrow(/no index "strange".*another registry/);
  });

  it('of several indexers of one registry have nothing in common', () => {
    const { registry, indexer, see } = harness();
    const other = harness({ registry });
    registry.index('pods', { id: 'a' }, ({ name }) => name);
    see(pod('one'));
    expect(indexer.indices.get('a')?.size).toBe(1);
    expect(other.indexer.indices.get('a')?.size).toBe(0);
  });
});

describe('stores', () => {
  it('tell whether a value is there, by equality', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'a' }, ({ name }) => [{ name, flag: true }]);
    see(pod('one'));
    const store = indexer.indices.get(ref).get(null);
    expect(store?.has([{ name: 'one', flag: true }])).toBe(true);
    expect(store?.has([{ name: 'two', flag: true }])).toBe(false);
    see(pod('two'));
    expect(store?.has([{ name: 'one', flag: true }])).toBe(true);
    expect(store?.has([{ name: 'two', flag: true }])).toBe(true);
    expect(store?.size).toBe(2);
  });

  it('show what comes and goes, to whoever holds them', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'a' }, ({ name }) => name);
    see(pod('one'));
    const store = indexer.indices.get(ref).get(null);
    const sizes = [store?.size];
    for (const name of ['two', 'three']) {
      see(pod(name));
      sizes.push(store?.size);
    }
    for (const name of ['one', 'two', 'three']) {
      see(pod(name), 'DELETED');
      sizes.push(store?.size);
    }
    expect(sizes).toEqual([1, 2, 3, 2, 1, 0]);
    expect([...(store ?? [])]).toEqual([]);
    expect(indexer.indices.get(ref).has(null)).toBe(false);
  });

  it('of one value become empty for whoever holds them', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'a' }, ({ name }) => ({ [name]: name }));
    see(pod('one'));
    const store = indexer.indices.get(ref).get('one');
    expect([store?.size, [...(store ?? [])]]).toEqual([1, ['one']]);
    see(pod('one'), 'DELETED');
    expect([store?.size, [...(store ?? [])]]).toEqual([0, []]);
  });

  it('can be printed', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'a' }, ({ name }) => name);
    see(pod('one'));
    expect(JSON.stringify(indexer.indices.get(ref).get(null))).toBe('["one"]');
  });

  it('cannot be changed by those who read them', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'a' }, ({ name }) => name);
    see(pod('one'));
    const store = indexer.indices.get(ref).get(null);
    expect(Object.getOwnPropertyNames(store)).toEqual([]);
    expect(Object.getOwnPropertyNames(Object.getPrototypeOf(store)).sort()).toEqual([
      'constructor',
      'has',
      'size',
      'toJSON',
    ]);
    expect(Object.keys(indexer.indices.get(ref)).sort()).toEqual(['get', 'has', 'keys', 'size']);
  });
});
