import { describe, expect, it } from 'vitest';
import { contents, harness, nodes, pod, pods } from '../harness.js';

describe('what an index function returns', () => {
  it('goes under the keys of a mapping', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'byNode' }, ({ spec, name }) => ({ [spec['node']]: name, all: name }));
    see(pod('one', { spec: { node: 'n1' } }));
    expect(contents(indexer.indices.get(ref))).toEqual({ '"n1"': ['one'], '"all"': ['one'] });
  });

  it.each<[string, unknown]>([
    ['a text', 'text'],
    ['zero', 0],
    ['false', false],
    ['an empty text', ''],
    ['a list', ['a', 'b']],
    ['a set', new Set(['a'])],
    ['a date', new Date(0)],
    [
      'an instance of a class',
      new (class Thing {
        readonly key = 'value';
      })(),
    ],
  ])('goes under null if it is not a mapping: %s', (_, value) => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'all' }, () => value);
    see(pod('one'));
    const index = indexer.indices.get<unknown, unknown>(ref);
    expect([...index.keys()]).toEqual([null]);
    expect([...(index.get(null) ?? [])]).toEqual([value]);
  });

  it('goes under any keys of a Map', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index(
      'pods',
      { id: 'any' },
      () =>
        new Map<unknown, number>([
          [1, 1],
          ['1', 2],
          [null, 3],
          [true, 4],
        ]),
    );
    see(pod('one'));
    const index = indexer.indices.get(ref);
    expect([1, '1', null, true, false].map((key) => [...(index.get(key) ?? [])])).toEqual([[1], [2], [3], [4], []]);
  });

  it('is a mapping also if it has no prototype, as memos do not', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index(
      'pods',
      { id: 'any' },
      () => Object.assign(Object.create(null), { a: 1 }) as { a: number },
    );
    see(pod('one'));
    expect(contents(indexer.indices.get(ref))).toEqual({ '"a"': [1] });
  });

  it('may have null as a value, and mappings as values; but undefined is the absence of the key', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'any' }, () => ({ a: null, b: { c: 1 }, d: undefined }));
    const asMap = registry.index(
      'pods',
      { id: 'map' },
      () =>
        new Map([
          ['a', null],
          ['d', undefined],
        ]),
    );
    see(pod('one'));
    expect(contents(indexer.indices.get(ref))).toEqual({ '"a"': [null], '"b"': [{ c: 1 }] });
    expect(contents(indexer.indices.get(asMap))).toEqual({ '"a"': [null] });
  });

  it('never reaches a prototype by its keys', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index(
      'pods',
      { id: 'any' },
      () => JSON.parse('{"__proto__": 1, "constructor": 2}') as Record<string, number>,
    );
    const index = indexer.indices.get(ref);
    expect(index.get('constructor')).toBeUndefined();
    see(pod('one'));
    expect(contents(index)).toEqual({ '"__proto__"': [1], '"constructor"': [2] });
    see(pod('one'), 'DELETED');
    expect(index.size).toBe(0);
  });

  it('cannot be indexed if its key never ends; then the index keeps what it has, and it is told', () => {
    const { registry, indexer, logger, see } = harness();
    const endless: unknown[] = [];
    endless.push(endless);
    const ref = registry.index('pods', { id: 'any' }, ({ spec }) => new Map([[spec['bad'] ? endless : 'good', 1]]));
    see(pod('one', { spec: {} }));
    see(pod('one', { spec: { bad: true } }));
    expect(contents(indexer.indices.get(ref))).toEqual({ '"good"': [1] });
    expect(logger.find("Indexer 'any' returned a value that cannot be indexed")?.level).toBe('error');
  });
});

describe('as an object changes', () => {
  it('its value is replaced', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'all' }, ({ spec }) => spec['size'] as number);
    see(pod('one', { spec: { size: 1 } }), null);
    see(pod('one', { spec: { size: 2 } }));
    expect(contents(indexer.indices.get(ref))).toEqual({ null: [2] });
  });

  it.each<[string, string[], string[]]>([
    ['one key by another', ['a'], ['b']],
    ['one key by several', ['a'], ['a', 'b', 'c']],
    ['several keys by one of them', ['a', 'b', 'c'], ['b']],
    ['several keys by one other', ['a', 'b', 'c'], ['d']],
    ['several keys by several', ['a', 'b', 'c'], ['b', 'c', 'd', 'e']],
    ['several keys by none', ['a', 'b'], []],
    ['one key by none', ['a'], []],
    ['none by several', [], ['a', 'b']],
  ])('its keys are replaced: %s', (_, before, after) => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'keys' }, ({ spec, name }) =>
      Object.fromEntries((spec['keys'] as string[]).map((key) => [key, name])),
    );
    see(pod('other', { spec: { keys: ['a', 'b'] } }));
    see(pod('one', { spec: { keys: before } }));
    see(pod('one', { spec: { keys: after } }));
    const expected: Record<string, string[]> = { '"a"': ['other'], '"b"': ['other'] };
    for (const key of after) expected[`"${key}"`] = ['one', ...(expected[`"${key}"`] ?? [])];
    expect(contents(indexer.indices.get(ref))).toEqual(expected);
    see(pod('one'), 'DELETED');
    expect(contents(indexer.indices.get(ref))).toEqual({ '"a"': ['other'], '"b"': ['other'] });
  });

  it.each([undefined, null])('what was indexed is kept if nothing is returned: %s', (nothing) => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'all' }, ({ spec }) => (spec['size'] as number | undefined) ?? nothing);
    see(pod('never', { spec: {} }));
    see(pod('one', { spec: { size: 1 } }));
    see(pod('one', { spec: {} }));
    expect(contents(indexer.indices.get(ref))).toEqual({ null: [1] });
  });

  it('it stays while it is being deleted, and goes when it is gone', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'all' }, ({ name }) => name);
    see(pod('one'), 'ADDED');
    see(pod('two'), 'ADDED');
    see(pod('one', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }));
    expect(contents(indexer.indices.get(ref))).toEqual({ null: ['one', 'two'] });
    see(pod('one'), 'DELETED');
    expect(contents(indexer.indices.get(ref))).toEqual({ null: ['two'] });
  });

  it('it goes from all indices when it is gone, also if that was only concluded (vanished while disconnected)', () => {
    const { registry, indexer, see, logger } = harness();
    registry.index('pods', { id: 'a' }, ({ name }) => ({ [name]: 1, common: 2 }));
    registry.index('pods', { id: 'b' }, ({ name }) => name);
    for (const name of ['z1', 'z2', 'z3']) see(pod(name), null);
    const event = { type: 'DELETED' as const, object: pod('z2'), vanished: true };
    expect(indexer.accept({ event, resource: nodes, memo: undefined, logger })).toBeUndefined();
    expect(contents(indexer.indices.get('b'))).toEqual({ null: ['z1', 'z2', 'z3'] });
    expect(indexer.accept({ event, resource: pods, memo: undefined, logger })).toBeUndefined();
    expect(contents(indexer.indices.get('a'))).toEqual({ '"z1"': [1], '"z3"': [1], '"common"': [2, 2] });
    expect(contents(indexer.indices.get('b'))).toEqual({ null: ['z1', 'z3'] });
  });
});

describe('objects', () => {
  it('share keys, and have equal values without replacing each other', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'byPhase' }, ({ status }) => ({ [status['phase'] as string]: 'same' }));
    for (const name of ['one', 'two', 'three']) see(pod(name, { status: { phase: 'Running' } }));
    const index = indexer.indices.get(ref);
    expect([...(index.get('Running') ?? [])]).toEqual(['same', 'same', 'same']);
    expect(index.get('Running')?.size).toBe(3);
    see(pod('two', { status: { phase: 'Failed' } }));
    expect(contents(index)).toEqual({ '"Running"': ['same', 'same'], '"Failed"': ['same'] });
    see(pod('one'), 'DELETED');
    see(pod('three'), 'DELETED');
    expect(contents(index)).toEqual({ '"Failed"': ['same'] });
  });

  it('are told apart by their uids: a namesake is another object', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'all' }, ({ uid }) => uid);
    see(pod('one', { metadata: { uid: 'first' } }));
    see(pod('one', { metadata: { uid: 'second' } }));
    see(pod('one', { metadata: { uid: 'first' } }), 'DELETED');
    expect(contents(indexer.indices.get(ref))).toEqual({ null: ['second'] });
  });

  it('without uids, they are told apart by all that is known of them', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'all' }, ({ meta, name, namespace }) => [
      name,
      namespace,
      meta.creationTimestamp,
    ]);
    const nameless = (metadata: object) => pod('one', { metadata: { uid: '', ...metadata } });
    const different = [
      nameless({}),
      nameless({ name: 'two' }),
      nameless({ namespace: 'other' }),
      nameless({ namespace: undefined }),
      nameless({ creationTimestamp: '2020-01-01T00:00:00Z' }),
    ];
    for (const object of different) see(object);
    for (const object of different) see(object);
    expect(indexer.indices.get(ref).get(null)?.size).toBe(5);
    see(nameless({ namespace: 'other' }), 'DELETED');
    expect(indexer.indices.get(ref).get(null)?.has(['one', 'other', undefined])).toBe(false);
    expect(indexer.indices.get(ref).get(null)?.size).toBe(4);
  });

  it('of other kinds are of no interest, and of several kinds can be in one index', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'all' }, ({ name }) => name);
    see(pod('a-node'), 'ADDED', nodes);
    expect(indexer.indices.get(ref).size).toBe(0);
    registry.index('nodes', { id: 'all' }, ({ name }) => name);
    see(pod('a-node'), 'ADDED', nodes);
    see(pod('a-pod'), 'ADDED');
    expect(contents(indexer.indices.get(ref))).toEqual({ null: ['a-node', 'a-pod'] });
  });
});
