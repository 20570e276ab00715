import { createRegistry, settings as makeSettings, operator, TemporaryError } from 'kopf-ts';
import { operatorRunner, recordingLogger, type TestCluster, testCluster } from 'kopf-ts/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { settingMistakes } from '../../src/setting-mistakes.js';

const KIND = { group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample', subresources: ['status'] } as const;
const EXAMPLES = '/apis/kopf.dev/v1/kopfexamples';
const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

let cluster: TestCluster;
const own = { registry: createRegistry() };
let requests: URL[] = [];

beforeEach(async () => {
  cluster = await testCluster({ define: [KIND] });
  onTestFinished(() => cluster.stop());
  own.registry = createRegistry();
  requests = [];
  cluster.faults.add({
    match: {
      method: 'GET',
      where({ url }) {
        requests.push(new URL(url, 'http://localhost'));
        return false;
      },
    },
    latency: 0,
  });
});

async function start() {
  const runner = await operatorRunner({ cluster, registry: own.registry });
  onTestFinished(() => runner.stop().then(() => {}));
  await runner.ready;
  await runner.settled();
  return runner;
}

const create = (name: string, labels: Record<string, string> = {}, spec: object = {}) =>
  cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name, labels }, spec });
const label = (name: string, labels: Record<string, string | null>) =>
  cluster.patch(`kopfexamples/default/${name}`, { metadata: { labels } });
const finalizersOf = (name: string) => cluster.get(`kopfexamples/default/${name}`)?.metadata?.finalizers ?? [];

/** What the server was asked for, of all objects of the kind: each selector once. */
const selectors = (): readonly (string | null)[] => [
  ...new Set(
    requests
      .filter(({ pathname }) => pathname === EXAMPLES)
      .map(({ searchParams }) => searchParams.get('labelSelector')),
  ),
];
const followed = (): readonly string[] => [
  ...new Set(requests.flatMap(({ searchParams }) => searchParams.get('fieldSelector') ?? [])),
];

/** All that is in the index `names`. */
const indexed = (kwargs: object): readonly unknown[] => [
  ...((kwargs as { names?: ReadonlyMap<string, Iterable<unknown>> }).names?.get('all') ?? []),
];

const serve = (labels: Record<string, string>) =>
  own.registry.on.startup({ id: 'selectors' }, ({ settings }) => {
    settings.watching.selectors = { kopfexamples: { labels } };
  });

describe('labels that all handlers of a kind agree on', () => {
  it('are asked for on the server; the handlers are called as if all objects were seen', async () => {
    const calls: string[] = [];
    own.registry.on.create(
      'kopfexamples',
      { id: 'c', labels: { shard: 'a' } },
      ({ name }) => void calls.push(`c ${name}`),
    );
    own.registry.on.update(
      'kopfexamples',
      { id: 'u', labels: { shard: 'b' } },
      ({ name }) => void calls.push(`u ${name}`),
    );
    own.registry.index('kopfexamples', { id: 'names', labels: { shard: 'a' } }, ({ name }) => ({ all: name }));
    const sizes: unknown[] = [];
    own.registry.timer('configmaps', { id: 't', interval: 1 }, (kwargs) => void sizes.push(indexed(kwargs)));
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'looking' } });
    await create('mine', { shard: 'a' });
    await create('others', { shard: 'c' });
    const runner = await start();
    expect(selectors()).toEqual(['shard in (a,b)']);
    expect(calls).toEqual(['c mine']);
    expect(sizes.at(-1)).toEqual(['mine']);

    await label('others', { shard: 'b' });
    await runner.settled();
    await cluster.patch('kopfexamples/default/others', { spec: { size: 1 } });
    await runner.settled();
    expect(calls).toEqual(['c mine', 'u others']);

    // It is out of sight, but not deleted; and nobody looks for it.
    await label('mine', { shard: null });
    await runner.settled();
    await cluster.clock.advance(1);
    await runner.settled();
    expect(sizes.at(-1)).toEqual([]);
    expect(followed()).toEqual([]);
    expect(runner.logs.messages('error')).toEqual([]);
  });

  it.each([
    ['a handler without them', () => own.registry.on.update('kopfexamples', { id: 'x' }, () => {})],
    ['a daemon', () => own.registry.daemon('kopfexamples', { id: 'x', labels: { shard: 'a' } }, async () => {})],
    ['a handler of events', () => own.registry.on.event('kopfexamples', { id: 'x', labels: { shard: 'a' } }, () => {})],
    [
      'a handler of deletions',
      () => own.registry.on.delete('kopfexamples', { id: 'x', labels: { shard: 'a' } }, () => {}),
    ],
    [
      'the settings',
      () =>
        own.registry.on.startup({ id: 'x' }, ({ settings }) => {
          settings.watching.selectsByHandlers = false;
        }),
    ],
  ])('are not asked for with %s', async (_, declare) => {
    own.registry.on.create('kopfexamples', { id: 'c', labels: { shard: 'a' } }, () => {});
    declare();
    await start();
    expect(selectors()).toEqual([null]);
  });

  it('are left by an object whose handler has begun: it comes to its end', async () => {
    const retries: unknown[] = [];
    own.registry.on.create('kopfexamples', { id: 'c', labels: { shard: 'a' } }, ({ retry }) => {
      retries.push(retry);
      if (retry < 2) throw new TemporaryError('later', { delay: 10 });
    });
    const runner = await start();
    await create('one', { shard: 'a' });
    await runner.settled();
    await label('one', { shard: null });
    await runner.settled();
    expect(followed()).toEqual(['metadata.name=one']);
    for (let seconds = 0; seconds < 30; seconds++) await cluster.clock.advance(1);
    await runner.settled();
    expect(retries).toEqual([0, 1, 2]);
    // And then it is forgotten.
    const before = requests.length;
    await cluster.patch('kopfexamples/default/one', { spec: { size: 1 } });
    await runner.settled();
    expect(requests).toHaveLength(before);
    expect(retries).toHaveLength(3);
  });
});

describe('objects that are served by the settings', () => {
  it('are all that the server is asked for, but for those that have our finalizer at the start', async () => {
    serve({ shard: 'a' });
    const calls: string[] = [];
    own.registry.on.create('kopfexamples', { id: 'c' }, ({ name }) => void calls.push(`c ${name}`));
    own.registry.on.delete('kopfexamples', { id: 'd' }, ({ name }) => void calls.push(`d ${name}`));
    await create('mine', { shard: 'a' });
    await create('others', { shard: 'b' });
    await create('left', { shard: 'b' });
    await cluster.patch('kopfexamples/default/left', { metadata: { finalizers: [FINALIZER] } });
    const runner = await start();
    expect(selectors().toSorted()).toEqual([null, 'shard=a'].toSorted());
    await runner.eventually(() => expect(finalizersOf('left')).toEqual([]));
    expect(finalizersOf('mine')).toEqual([FINALIZER]);
    expect(finalizersOf('others')).toEqual([]);
    expect(followed()).toEqual(['metadata.name=left']);
    await cluster.delete('kopfexamples/default/mine');
    await runner.eventually(() => expect(cluster.get('kopfexamples/default/mine')).toBeUndefined());
    await cluster.delete('kopfexamples/default/left');
    await runner.settled();
    expect(calls).toEqual(['c mine', 'd mine']);
  });

  it('are left in an orderly way, and may come back', async () => {
    serve({ shard: 'a' });
    const log: string[] = [];
    own.registry.on.create('kopfexamples', { id: 'c' }, () => void log.push('created'));
    own.registry.on.update('kopfexamples', { id: 'u', field: 'spec' }, () => void log.push('updated'));
    own.registry.on.delete('kopfexamples', { id: 'd' }, () => void log.push('deleted'));
    own.registry.daemon('kopfexamples', { id: 'daemon', cancellationTimeout: 1 }, async ({ stopped }) => {
      log.push('begins');
      await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
      log.push('ends');
    });
    own.registry.index('kopfexamples', { id: 'names' }, ({ name }) => ({ all: name }));
    let names: Iterable<unknown> = [];
    own.registry.timer('configmaps', { id: 't', interval: 1 }, (kwargs) => {
      names = indexed(kwargs);
    });
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'looking' } });
    const runner = await start();
    await create('one', { shard: 'a' });
    await runner.settled();
    await cluster.clock.advance(1);
    expect([log.toSorted(), finalizersOf('one'), names]).toEqual([['begins', 'created'], [FINALIZER], ['one']]);

    await label('one', { shard: 'b' });
    await runner.eventually(() => expect(finalizersOf('one')).toEqual([]));
    await cluster.clock.advance(1);
    expect([log.at(-1), names]).toEqual(['ends', []]);
    await cluster.patch('kopfexamples/default/one', { spec: { size: 1 } });
    await runner.settled();
    expect(log).toHaveLength(3);

    await label('one', { shard: 'a' });
    await runner.eventually(() => expect(finalizersOf('one')).toEqual([FINALIZER]));
    await runner.settled();
    await cluster.clock.advance(1);
    expect([log.slice(3).toSorted(), names]).toEqual([['begins', 'updated'], ['one']]);

    await cluster.delete('kopfexamples/default/one');
    await runner.eventually(() => expect(cluster.get('kopfexamples/default/one')).toBeUndefined());
    expect(log.slice(5).toSorted()).toEqual(['deleted', 'ends']);
    expect(runner.logs.messages('error')).toEqual([]);
  });

  it('are released, too, if they have left while nobody looked', async () => {
    serve({ shard: 'a' });
    own.registry.on.delete('kopfexamples', { id: 'd' }, () => {});
    own.registry.index('kopfexamples', { id: 'names' }, ({ name }) => ({ all: name }));
    let names: Iterable<unknown> = [];
    own.registry.timer('configmaps', { id: 't', interval: 1 }, (kwargs) => {
      names = indexed(kwargs);
    });
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'looking' } });
    const running = operator({
      ...{ client: cluster.client, clock: cluster.clock, registry: own.registry, logger: recordingLogger() },
      ...{ identity: 'me', standalone: true, clusterwide: true },
    });
    onTestFinished(async () => {
      const stopping = running.stop();
      await cluster.clock.advance(30);
      await stopping;
    });
    const calm = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) {
        await cluster.settled();
        await cluster.clock.advance(1);
      }
    };
    await calm();
    for (const name of ['stays', 'leaves', 'goes']) await create(name, { shard: 'a' });
    await calm();
    expect(['stays', 'leaves', 'goes'].map(finalizersOf)).toEqual([[FINALIZER], [FINALIZER], [FINALIZER]]);
    running.control.pause();
    await calm();
    await label('leaves', { shard: 'b' });
    await cluster.patch('kopfexamples/default/goes', { metadata: { labels: { shard: 'b' } } });
    await cluster.delete('kopfexamples/default/goes');
    await calm();
    running.control.resume();
    await calm();
    expect(['stays', 'leaves'].map(finalizersOf)).toEqual([[FINALIZER], []]);
    expect(cluster.get('kopfexamples/default/goes')).toBeUndefined();
    expect(names).toEqual(['stays']);
  });

  it('are told when nobody can understand which ones they are', () => {
    const outcomes = [
      { kopfexamples: { labels: { 'not a key': 'x' } } },
      { kopfexamples: { labels: { shard: ['a', {}] } } },
      { kopfexamples: { fields: { 'metadata.name': true } } },
      { kopfexamples: { label: { shard: 'a' } } },
      { 'a/b/c/d': { labels: { shard: 'a' } } },
    ].map((selectors) => settingMistakes(makeSettings({ watching: { selectors: selectors as never } }))[0]);
    expect(outcomes).toEqual([
      expect.stringContaining(
        `"watching.selectors" is wrong for "kopfexamples": 'not a key' cannot be the key of a label`,
      ),
      expect.stringContaining("cannot be a value of the label 'shard'"),
      expect.stringContaining("'metadata.name' cannot be selected so"),
      expect.stringContaining('it must be { labels, fields }, or one of them'),
      expect.stringContaining('is wrong for "a/b/c/d"'),
    ]);
  });
});
