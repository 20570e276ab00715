import { describe, expect, it } from 'vitest';
import type { ServedObject } from '../../src/contracts/objects.js';
import type { StoreEvent } from '../../src/contracts/store.js';
import { makeStore } from '../../src/store/object-store.js';
import { parseRevision } from '../../src/store/revision.js';
import { narrowed, widened } from '../../src/text/narrow-json.js';

const object = (name: string, rest: object = {}, namespace = 'ns'): ServedObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, uid: name },
  ...rest,
});
const names = (revisions: readonly { name: string }[]): string[] => revisions.map(({ name }) => name);

describe('versions', () => {
  it('every change has its own, and the next one is greater', () => {
    const store = makeStore();
    const first = store.put('maps', object('a'), undefined);
    const second = store.put('maps', object('a', { data: {} }), first);
    const third = store.put('secrets', object('a'), undefined);
    const versions = [first, second, third].map((revision) => revision?.version ?? 0);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(3);
    expect(parseRevision(second ?? expect.fail()).metadata.resourceVersion).toBe(String(second?.version));
  });

  it('nothing is changed by those who expect another revision', () => {
    const store = makeStore();
    const first = store.put('maps', object('a'), undefined) ?? expect.fail();
    const second = store.put('maps', object('a', { data: {} }), first) ?? expect.fail();
    expect(store.put('maps', object('a'), first)).toBeUndefined();
    expect(store.put('maps', object('a'), undefined)).toBeUndefined();
    expect(store.remove(first)).toBeUndefined();
    expect(store.get('maps', 'ns', 'a')).toBe(second);
  });

  it.each(['plain', 'Käse', '名前', '\u{1F600}', '\uD800 alone', 'ÿ\u0100'])('keeps texts as they are: %j', (text) => {
    const store = makeStore();
    const revision = store.put('maps', object('a', { data: { [text]: text } }), undefined) ?? expect.fail();
    expect(parseRevision(revision)).toEqual({
      ...object('a', { data: { [text]: text } }),
      metadata: { ...object('a').metadata, resourceVersion: String(revision.version) },
    });
    expect(revision.name).toBe('a');
    expect(parseRevision(store.remove(revision) ?? expect.fail())['data']).toEqual({ [text]: text });
  });

  it('later changes of the given object do not matter', () => {
    const store = makeStore();
    const given = object('a', { data: { x: '1' } });
    const revision = store.put('maps', given, undefined) ?? expect.fail();
    given['data'].x = '2';
    expect(parseRevision(revision)['data']).toEqual({ x: '1' });
  });
});

describe('order', () => {
  it('lists are sorted, whenever things were added or removed', () => {
    const store = makeStore();
    for (const name of ['d', 'b', 'f']) store.put('maps', object(name), undefined);
    expect(names(store.list('maps'))).toEqual(['b', 'd', 'f']);
    for (const name of ['a', 'e', 'c']) store.put('maps', object(name), undefined);
    store.remove(store.get('maps', 'ns', 'd') ?? expect.fail());
    expect(names(store.list('maps'))).toEqual(['a', 'b', 'c', 'e', 'f']);
    store.put('maps', object('d'), undefined);
    expect(names(store.list('maps'))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(store.count('maps')).toBe(6);
  });

  it('a namespace is not another one that begins with the same letters', () => {
    const store = makeStore();
    for (const namespace of ['ns', 'ns-2', 'n']) store.put('maps', object('x', {}, namespace), undefined);
    expect(store.list('maps', 'ns').map(({ namespace }) => namespace)).toEqual(['ns']);
    expect(store.list('maps').map(({ namespace }) => namespace)).toEqual(['n', 'ns-2', 'ns']);
  });
});

describe('history', () => {
  it('the past can be listed', () => {
    const store = makeStore();
    const first = store.put('maps', object('a'), undefined) ?? expect.fail();
    store.put('maps', object('b'), undefined);
    const { version } = store;
    store.remove(first);
    store.put('maps', object('b', { data: {} }), store.get('maps', 'ns', 'b'));
    store.put('maps', object('c'), undefined);
    const past = store.listAt('maps', undefined, version);
    expect(names(past)).toEqual(['a', 'b']);
    expect(parseRevision(past[1] ?? expect.fail())).not.toHaveProperty('data');
  });

  it('is bounded by the number of changes', () => {
    const store = makeStore({ events: 3, characters: 1e6 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) store.put('maps', object(name), undefined);
    expect(store.since('maps', store.version - 3)).toHaveLength(3);
    expect(() => store.since('maps', store.version - 4)).toThrow('too old resource version');
    expect(store.list('maps')).toHaveLength(5);
  });

  it('is bounded by its size', () => {
    const store = makeStore({ events: 1e6, characters: 5000 });
    for (const name of ['a', 'b', 'c', 'd'])
      store.put('maps', object(name, { data: { x: 'x'.repeat(2000) } }), undefined);
    expect(store.since('maps', store.version - 2)).toHaveLength(2);
    expect(() => store.since('maps', store.version - 3)).toThrow('too old resource version');
  });

  it('can be forgotten', () => {
    const store = makeStore();
    store.put('maps', object('a'), undefined);
    const { version } = store;
    store.put('maps', object('b'), undefined);
    store.compact();
    expect(() => store.listAt('maps', undefined, version)).toThrow('too old resource version');
    expect(store.since('maps', store.version)).toEqual([]);
  });
});

describe('observers', () => {
  it('see changes in order, also those made by other observers', () => {
    const store = makeStore();
    const seen: string[] = [];
    store.observe('maps', ({ object: revision }) => {
      if (revision.name === 'a') store.put('maps', object('made by the first'), undefined);
    });
    store.observe('maps', ({ type, object: revision }) => void seen.push(`${type} ${revision.name}`));
    store.put('maps', object('a'), undefined);
    expect(seen).toEqual(['ADDED a', 'ADDED made by the first']);
  });

  it('see what was there before, and nothing after they have left', () => {
    const store = makeStore();
    const seen: StoreEvent[] = [];
    const leave = store.observe(undefined, (event) => void seen.push(event));
    const first = store.put('maps', object('a'), undefined) ?? expect.fail();
    const second = store.put('maps', object('a', { data: {} }), first) ?? expect.fail();
    store.remove(second);
    leave();
    store.put('maps', object('b'), undefined);
    expect(seen.map(({ type, previous }) => [type, previous])).toEqual([
      ['ADDED', undefined],
      ['MODIFIED', first],
      ['DELETED', second],
    ]);
    expect(seen.at(-1)?.object.version).toBeGreaterThan(second.version);
  });
});

describe('texts in one byte per character', () => {
  const padding = 'x'.repeat(100);
  it.each([
    ['ASCII', 'plain \\u540d "quoted" \n\u0001'],
    ['Latin-1', 'Käse \u00ff'],
    ['a few others', '名前 ў \u2028'],
    ['others that look like escapes', '名 \\u540d \\\\u540d'],
    ['pairs of surrogates', '\u{1F600}\u{10FFFF}名'],
    ['surrogates alone', '名\ud83d x \ude00'],
  ])('are what they were: %s', (_, text) => {
    const json = JSON.stringify({ [text]: [text, padding] });
    const narrow = narrowed(json);
    expect(Math.max(...[...narrow].map((char) => char.charCodeAt(0)))).toBeLessThan(256);
    expect(JSON.parse(narrow)).toEqual(JSON.parse(json));
    expect(widened(narrow)).toBe(json);
  });

  it('are left as they are where that takes less', () => {
    const json = JSON.stringify({ text: '名前'.repeat(100) });
    expect(narrowed(json)).toBe(json);
  });
});
