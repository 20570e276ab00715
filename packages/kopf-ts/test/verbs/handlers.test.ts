import { type Api, createRegistry, resource, sleep, TemporaryError } from 'kopf-ts';
import { operatorRunner, type TestCluster, testCluster } from 'kopf-ts/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const Example = resource<{ size?: number; field?: string }, { phase?: string; count?: number }>({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
});
interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
}
const KOPF_EXAMPLE = { group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample', subresources: ['status'] };

let cluster: TestCluster;
const handlers = { registry: createRegistry() };

beforeEach(async () => {
  cluster = await testCluster({ define: [{ ...KOPF_EXAMPLE, subresources: ['status'] }] });
  onTestFinished(() => cluster.stop());
  handlers.registry = createRegistry();
});

async function start() {
  const runner = await operatorRunner({ cluster, registry: handlers.registry });
  onTestFinished(() => runner.stop().then(() => {}));
  await runner.ready;
  return runner;
}

const create = (name: string, spec = {}) => cluster.api(Example).create({ metadata: { name }, spec });
const configMap = (name: string) => ({ metadata: { name }, data: { by: name } });

describe('the verbs of handlers', () => {
  it('are there for handlers of all kinds, in the namespace of their object', async () => {
    const apply = (api: Api, name: string) => api('configmaps').apply(configMap(name));
    handlers.registry.on.create(Example, { id: 'create' }, ({ api }) => void apply(api, 'create'));
    handlers.registry.on.event(Example, { id: 'event' }, ({ api }) => void apply(api, 'event'));
    handlers.registry.timer(Example, { id: 'timer', interval: 10 }, ({ api }) => void apply(api, 'timer'));
    handlers.registry.daemon(Example, { id: 'daemon' }, ({ api }) => void apply(api, 'daemon'));
    handlers.registry.index(Example, { id: 'index' }, ({ api }) => void apply(api, 'index'));
    handlers.registry.on.startup({ id: 'startup' }, async ({ api }) => {
      await api('configmaps').apply(configMap('startup'), { namespace: 'kube-system' });
    });
    const runner = await start();
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await cluster.api(Example).create({ metadata: { name: 'one', namespace: 'shop' } });
    await runner.eventually(() => {
      const names = cluster.list('configmaps/shop').map(({ metadata }) => metadata?.name);
      expect(names.toSorted()).toEqual(['create', 'daemon', 'event', 'index', 'timer']);
    });
    expect(cluster.get('configmaps/kube-system/startup')).toBeDefined();
  });

  it('are known by the name of the operator, which is the same in all its replicas', async () => {
    handlers.registry.on.startup({ id: 'name' }, ({ settings }) => {
      settings.posting.reportingComponent = 'shopkeeper';
    });
    handlers.registry.on.create(Example, { id: 'create' }, async ({ api, body }) => {
      await api('configmaps').apply(configMap('one'), { owner: body });
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    const applied = await cluster.api('configmaps').get('one');
    expect(applied.metadata?.managedFields).toMatchObject([{ manager: 'shopkeeper', operation: 'Apply' }]);
    expect(applied.metadata?.ownerReferences).toMatchObject([{ kind: 'KopfExample', name: 'one' }]);
  });

  it('and the patch of a handler are by one manager, so that the operator is not in conflict with itself', async () => {
    handlers.registry.on.startup({ id: 'name' }, ({ settings }) => {
      settings.posting.reportingComponent = 'shopkeeper';
    });
    handlers.registry.on.create(Example, { id: 'create' }, ({ patch }) => {
      patch.spec.size = 1;
      patch.status.phase = 'new';
    });
    let conflict: unknown;
    handlers.registry.on.update(Example, { id: 'update', field: 'spec.field' }, async ({ api, name }) => {
      await api(Example).apply({ metadata: { name }, spec: { size: 2 } });
      conflict = await api(Example)
        .apply({ metadata: { name }, spec: { size: 3, field: 'mine' } })
        .catch((error: unknown) => error);
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    const managers = (await cluster.api(Example).get('one')).metadata?.managedFields as ManagedFields[];
    const ours = managers.filter(({ manager }) => manager === 'shopkeeper');
    expect(ours.map(({ operation, subresource }) => [operation, subresource])).toEqual([
      ['Update', undefined],
      ['Update', 'status'],
    ]);
    await cluster.api(Example).patch('one', { spec: { field: 'theirs' } }, { fieldManager: 'others' });
    await runner.settled();
    expect((await cluster.api(Example).get('one')).spec).toMatchObject({ size: 2, field: 'theirs' });
    // With others, it is still in conflict.
    expect(conflict).toMatchObject({ name: 'ApplyConflictError' });
  });

  it('refuse children in other namespaces, which the cluster would delete', async () => {
    let error: unknown;
    handlers.registry.on.create(Example, { id: 'create' }, async ({ api, body }) => {
      const child = { metadata: { name: 'child', namespace: 'kube-system' } };
      error = await api('configmaps')
        .create(child, { owner: body })
        .catch((failure: unknown) => failure);
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    expect(String(error)).toContain("of the namespace 'kube-system' cannot be owned by one of 'default'");
    expect(cluster.get('configmaps/kube-system/child')).toBeUndefined();
  });

  it('write only the object that is meant by its uid', async () => {
    const errors: unknown[] = [];
    handlers.registry.on.create(Example, { id: 'create' }, async ({ api, uid }) => {
      await api(Example).patch('one', { metadata: { uid }, spec: { size: 1 } });
      await api(Example)
        .patch('one', { metadata: { uid: 'another' }, spec: { size: 2 } })
        .catch((error: unknown) => errors.push(error));
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    expect(errors).toHaveLength(1);
    expect((await cluster.api(Example).get('one')).spec.size).toBe(1);
  });

  it('cost nothing until they are asked for, and give way to an index of the same name', async () => {
    handlers.registry.index('configmaps', { id: 'api' }, ({ name }) => ({ [name]: true }));
    let given: unknown;
    handlers.registry.on.create(Example, { id: 'create' }, (kwargs) => {
      given = (kwargs as unknown as { api: unknown }).api;
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    expect(given).toHaveProperty('size');
  });

  it('end with the call', async () => {
    let error: unknown;
    handlers.registry.on.create(Example, { id: 'create', timeout: 5, retries: 1 }, async ({ api, signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      error = await api('configmaps')
        .get('one')
        .catch((thrown: unknown) => thrown);
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    await cluster.clock.advance(6);
    await runner.settled();
    expect(String(error)).toContain('timed out');
  });
});

describe('writing objects that this operator handles', () => {
  const callsOf = (runner: Awaited<ReturnType<typeof start>>, id: string) => runner.outcomes.of(id).length;

  it.each([
    ['a merge-patch', (api: Api) => api(Example).patch('one', { spec: { size: 5 } })],
    ['a JSON-patch', (api: Api) => api(Example).patch('one', [{ op: 'add', path: '/spec/size', value: 5 }])],
    ['applying', (api: Api) => api(Example).apply({ metadata: { name: 'one' }, spec: { size: 5 } })],
    [
      'replacing',
      (api: Api) => api(Example).replace('one', (object) => ({ ...object, spec: { ...object.spec, size: 5 } })),
    ],
    ['the status', (api: Api) => api(Example).status.patch('one', { status: { phase: 'written' } })],
  ])('is not news for a handler that has finished: %s', async (_, write) => {
    handlers.registry.on.create(Example, { id: 'first' }, () => {});
    handlers.registry.on.create(Example, { id: 'second' }, async ({ api, retry }) => {
      await write(api);
      if (retry === 0) throw new TemporaryError('once more', { delay: 1 });
    });
    const runner = await start();
    await create('one', { field: 'x' });
    await runner.settled();
    await cluster.clock.advance(2);
    await runner.settled();
    expect([callsOf(runner, 'first'), callsOf(runner, 'second')]).toEqual([1, 2]);
    const { spec, status } = await cluster.api(Example).get('one');
    expect(spec.size === 5 || status?.phase === 'written').toBe(true);
  });

  it('is an update after the cycle, once', async () => {
    handlers.registry.on.create(Example, { id: 'create' }, async ({ api }) => {
      await api(Example).patch('one', { spec: { size: 5 } });
    });
    handlers.registry.on.field(Example, { id: 'field', field: 'spec.size' }, () => {});
    const runner = await start();
    await create('one');
    await runner.settled();
    expect([callsOf(runner, 'create'), callsOf(runner, 'field/spec.size')]).toEqual([1, 1]);
  });

  it('goes through others that change it meanwhile; but what is for one version is for that one', async () => {
    let conflict: unknown;
    handlers.registry.on.create(Example, { id: 'create' }, async ({ api, body }) => {
      await cluster.api(Example).patch('one', { metadata: { labels: { theirs: 'yes' } } });
      await api(Example).patch('one', { spec: { size: 5 } });
      const { resourceVersion = '' } = body.metadata ?? {};
      conflict = await api(Example)
        .patch('one', { metadata: { resourceVersion }, spec: { size: 6 } })
        .catch((error: unknown) => error);
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    expect(String(conflict)).toMatch(/^ApiConflictError: patch kopfexamples.v1.kopf.dev default\/one: /);
    const { spec, metadata } = await cluster.api(Example).get('one');
    expect([spec.size, metadata?.labels]).toEqual([5, { theirs: 'yes' }]);
  });

  it('does not wait for what waits for it: by several at once, of the own object and of others', async () => {
    await create('other', { size: 1 });
    handlers.registry.on.create(Example, { id: 'create' }, async ({ api, name }) => {
      if (name !== 'one') return;
      const fields = ['a', 'b', 'c', 'd', 'e', 'f'];
      const labels = fields.map((field) => ({ metadata: { labels: { [field]: 'yes' } } }));
      await Promise.all(labels.flatMap((what) => [api(Example).patch('one', what), api(Example).patch('other', what)]));
    });
    const runner = await start();
    await runner.settled();
    await create('one');
    await runner.eventually(async () => {
      for (const name of ['one', 'other']) {
        const { metadata } = await cluster.api(Example).get(name);
        expect(Object.keys(metadata?.labels ?? {})).toHaveLength(6);
      }
    });
    await runner.settled();
    expect(runner.outcomes.of('create').map(({ how }) => how)).toEqual(['succeeded', 'succeeded']);
  });

  it('all the time, by several daemons, keeps nothing else from being stored: the deletion is held and handled', async () => {
    const deleted: string[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      handlers.registry.daemon(Example, { id, cancellationTimeout: 1 }, async ({ api, name, stopped }) => {
        for (let count = 0; !stopped.aborted; count++) {
          await api(Example).patch(name, { metadata: { annotations: { [id]: `${count}` } } });
          await sleep(0.02, stopped);
        }
      });
    }
    handlers.registry.on.delete(Example, { id: 'deletion' }, ({ name }) => void deleted.push(name));
    const patches = cluster.faults.add({ match: { method: 'PATCH' }, latency: 0.005 });
    const runner = await start();
    await create('one');
    for (let step = 0; step < 100; step++) await cluster.clock.advance(0.01);
    const { metadata } = await cluster.api(Example).get('one');
    expect(metadata?.finalizers).toHaveLength(1);
    const counts = Object.entries(metadata?.annotations ?? {}).flatMap(([key, text]) =>
      key.length === 1 ? +text : [],
    );
    expect(counts).toHaveLength(5);
    // They have taken turns: none of them was in the way of another one, so that nothing was sent in vain.
    const written = counts.reduce((sum, count) => sum + count + 1, 0);
    expect(patches.hits).toBeLessThan(written + 10);
    await cluster.api(Example).delete('one');
    for (let step = 0; step < 300; step++) await cluster.clock.advance(0.01);
    await runner.settled();
    expect(deleted).toEqual(['one']);
    expect(await cluster.api(Example).find('one')).toBeUndefined();
  });

  it('again and again, by a handler that is called for it, is slowed down', async () => {
    let calls = 0;
    handlers.registry.on.update(Example, { id: 'selfish' }, async ({ api }) => {
      calls += 1;
      await api(Example).patch('one', { spec: { size: calls } });
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    await cluster.api(Example).patch('one', { spec: { size: 100 } });
    await runner.settled();
    await cluster.clock.advance(0.9);
    await runner.settled();
    expect(calls).toBeLessThan(20);
    expect(calls).toBeGreaterThan(5);
    runner.logs.expect('change the same fields of the object again and again: spec.size');
  });

  it('again and again, by a handler of events that is called for it, is slowed down', async () => {
    let calls = 0;
    handlers.registry.on.event(Example, { id: 'selfish' }, async ({ api, type }) => {
      calls += 1;
      if (type !== 'DELETED') await api(Example).patch('one', { spec: { size: calls } });
    });
    const runner = await start();
    await create('one');
    await runner.settled();
    await cluster.clock.advance(0.9);
    await runner.settled();
    expect(calls).toBeLessThan(20);
    expect(calls).toBeGreaterThan(5);
    runner.logs.expect('change the same fields of the object again and again: spec.size');
  });
});

describe('watching', () => {
  it('gives what there is and what happens, over lost connections, until the signal fires', async () => {
    await create('one', { size: 1 });
    const seen: string[] = [];
    const control = new AbortController();
    const reading = (async () => {
      for await (const { type, object } of cluster.api(Example).watch({ signal: control.signal })) {
        seen.push(`${type} ${object.metadata?.name} ${object.spec.size}`);
      }
      return 'ended';
    })();
    await cluster.settled();
    await create('two', { size: 2 });
    await cluster.api(Example).patch('two', { spec: { size: 3 } });
    await cluster.settled();
    cluster.faults.cutConnections();
    await cluster.api(Example).delete('one');
    await cluster.settled();
    await cluster.clock.advance(60);
    await cluster.settled();
    expect(seen.slice(0, 3)).toEqual(['LISTED one 1', 'ADDED two 2', 'MODIFIED two 3']);
    expect(seen).toContain('DELETED one 1');
    control.abort();
    expect(await reading).toBe('ended');
  });

  it('fails in a handler whose time is over, instead of going on as if all had been seen', async () => {
    handlers.registry.on.create(Example, { id: 'wait', timeout: 5, errors: 'permanent' }, async ({ api, patch }) => {
      for await (const _ of api('configmaps').watch({ fields: { 'metadata.name': 'never' } })) break;
      patch.status.phase = 'ready';
    });
    const runner = await start();
    await create('one');
    await cluster.settled();
    await cluster.clock.advance(6);
    await runner.settled();
    expect((await cluster.api(Example).get('one')).status?.phase).toBeUndefined();
  });

  it('selects, and says what is wrong', async () => {
    const first = async (stream: AsyncIterable<unknown>) => {
      for await (const event of stream) return event;
      return undefined;
    };
    await cluster.api(Example).create({ metadata: { name: 'one', labels: { app: 'a' } } });
    await cluster.api(Example).create({ metadata: { name: 'two', labels: { app: 'b' } } });
    const event = await first(cluster.api(Example).watch({ labels: { app: 'b' } }));
    expect(event).toMatchObject({ type: 'LISTED', object: { metadata: { name: 'two' } } });
    await expect(first(cluster.api(Example).watch({ fields: 'spec.nonsense=1' }))).rejects.toThrow(
      /^watch kopfexamples.v1.kopf.dev default: /,
    );
    await expect(first(cluster.api('nonsense').watch())).rejects.toThrow("no kind 'nonsense'");
  });
});
