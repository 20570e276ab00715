import {
  type AnyObject,
  type Body,
  createRegistry,
  type KubeClient,
  type KubeRequest,
  operator,
  PermanentError,
  type Registry,
  type ResourceToken,
  resource,
} from 'kopf-ts';
import { type OperatorRunner, operatorRunner, recordingLogger, type TestCluster, testCluster } from 'kopf-ts/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const Example = resource<{ size?: number }, { seen?: number }>({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
});
const ConfigMap = resource({ group: '', version: 'v1', plural: 'configmaps' }) as unknown as ResourceToken<
  AnyObject & { data?: Record<string, string> }
>;

let cluster: TestCluster;
const declared = { registry: createRegistry() };

beforeEach(async () => {
  const example = { group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample', subresources: ['status' as const] };
  cluster = await testCluster({ define: [example] });
  onTestFinished(() => cluster.stop());
  declared.registry = createRegistry();
});

async function start(of: Registry = declared.registry): Promise<OperatorRunner> {
  const runner = await operatorRunner({ cluster, registry: of });
  onTestFinished(() => runner.stop().then(() => {}));
  await runner.ready;
  await settle(runner);
  return runner;
}

/** Each can give work to the other. */
async function settle(runner: OperatorRunner): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await runner.settled();
}

async function advance(runner: OperatorRunner, seconds: number): Promise<void> {
  await settle(runner);
  await cluster.clock.advance(seconds);
  await settle(runner);
}

const create = (name: string, spec = {}) => cluster.api(Example).create({ metadata: { name }, spec });
const child = (name: string, owner: Body | undefined, more: object = {}) =>
  cluster.api(ConfigMap).create({ metadata: { name, ...more }, data: {} }, owner && { owner });
/** Requests for these wait as long as they are held back. */
function laggingFor(part: string, client: KubeClient) {
  let held: Promise<void> | undefined;
  let open = (): void => {};
  return {
    hold() {
      held = new Promise((resolve) => {
        open = resolve;
      });
    },
    release() {
      held = undefined;
      open();
    },
    client: {
      async request<T>(request: KubeRequest): Promise<T> {
        if (request.path.includes(part)) await held;
        return await client.request<T>(request);
      },
      async *stream<T>(request: KubeRequest) {
        if (request.path.includes(part)) await held;
        yield* client.stream<T>(request);
      },
    } satisfies KubeClient,
  };
}

const names = (children: readonly Body[]): string[] => children.map(({ metadata }) => String(metadata?.name)).sort();

describe('the children of an object', () => {
  it('are all there before its first handler is called', async () => {
    const one = await create('one');
    for (const name of ['a', 'b', 'c']) await child(name, one);
    await child('stranger', await create('two'));
    await child('orphan', undefined);
    const seen: Record<string, string[]> = {};
    declared.registry.owns(Example, ConfigMap);
    declared.registry.on.create(Example, ({ name, children }) => {
      seen[name] = names(children(ConfigMap));
    });
    await start();
    expect(seen).toEqual({ one: ['a', 'b', 'c'], two: ['stranger'] });
  });

  it('are found by a label, or by a function, where owners cannot be', async () => {
    await create('one');
    await child('a', undefined, { labels: { of: 'one' } });
    await child('b', undefined, { labels: { of: 'two' } });
    await cluster.api('secrets').create({ metadata: { name: 'one-key' } });
    const seen: string[][] = [];
    declared.registry.owns('kopfexamples', 'configmaps', { by: { label: 'of' } });
    declared.registry.owns('kopfexamples', 'secrets', { by: ({ name }) => name.split('-')[0] });
    declared.registry.on.create('kopfexamples', ({ children }) => {
      seen.push(names(children('configmaps')), names(children('secrets')));
    });
    await start();
    expect(seen).toEqual([['a'], ['one-key']]);
  });

  it('show at once what the operator itself has written', async () => {
    const seen: unknown[] = [];
    declared.registry.owns(Example, ConfigMap);
    declared.registry.on.create(Example, async ({ api, body, children }) => {
      await api(ConfigMap).create({ metadata: { name: 'a' }, data: { n: '1' } }, { owner: body });
      await api(ConfigMap).apply({ metadata: { name: 'b' }, data: { n: '1' } }, { owner: body });
      seen.push(names(children(ConfigMap)));
      await api(ConfigMap).patch('a', { data: { n: '2' } });
      seen.push(children(ConfigMap).find(({ metadata }) => metadata?.name === 'a')?.data?.['n']);
      await api(ConfigMap).delete('a');
      await api(ConfigMap).create({ metadata: { name: 'c' }, data: {} }, { owner: body, dryRun: true });
      seen.push(names(children(ConfigMap)));
    });
    declared.registry.timer(
      Example,
      { interval: 10, initialDelay: 10 },
      ({ children }) => void seen.push(names(children(ConfigMap))),
    );
    const runner = await start();
    await create('one');
    await advance(runner, 10);
    expect(seen).toEqual([['a', 'b'], '2', ['b'], ['b']]);
  });

  it('are all there in a namespace that is served later, too', async () => {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } });
    const one = await cluster.api(Example).create({ metadata: { name: 'one', namespace: 'later' } });
    for (const name of ['a', 'b']) {
      await cluster.api(ConfigMap).create({ metadata: { name, namespace: 'later' }, data: {} }, { owner: one });
    }
    const seen: string[][] = [];
    declared.registry.on.reconcile(
      Example,
      { owns: [ConfigMap] },
      ({ children }) => void seen.push(names(children(ConfigMap))),
    );
    const runner = await operatorRunner({
      cluster,
      registry: declared.registry,
      namespaces: { labels: { tenant: true } },
    });
    onTestFinished(() => runner.stop().then(() => {}));
    await runner.ready;
    await settle(runner);
    expect(seen).toEqual([]);
    await cluster.api('namespaces').patch('later', { metadata: { labels: { tenant: 'yes' } } });
    await advance(runner, 5);
    expect(seen).toEqual([['a', 'b']]);
    // And none of them is left when it is not served any more.
    await cluster.api('namespaces').patch('later', { metadata: { labels: { tenant: null as unknown as string } } });
    await advance(runner, 20);
    await cluster.api(ConfigMap).delete('a', { namespace: 'later' });
    await cluster.api('namespaces').patch('later', { metadata: { labels: { tenant: 'yes' } } });
    await advance(runner, 20);
    expect(seen).toEqual([['a', 'b'], ['b']]);
  });

  it('are all there in other namespaces, too, if a function tells whose they are', async () => {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
    await create('one');
    await cluster.api(ConfigMap).create({ metadata: { name: 'a', namespace: 'other' }, data: {} });
    const seen: string[][] = [];
    const by = ({ namespace }: { readonly namespace: string | undefined }) =>
      namespace === 'other' ? { namespace: 'default', name: 'one' } : null;
    declared.registry.owns(Example, ConfigMap, { by });
    declared.registry.on.create(Example, ({ children }) => void seen.push(names(children(ConfigMap))));
    const lagging = laggingFor('/other/configmaps', cluster.client);
    lagging.hold();
    const running = operator({
      ...{ client: lagging.client, clock: cluster.clock, registry: declared.registry, logger: recordingLogger() },
      ...{ identity: 'me', standalone: true, namespaces: ['default', 'other'] },
    });
    onTestFinished(async () => {
      const stopping = running.stop();
      await cluster.clock.advance(30);
      await stopping;
    });
    const calm = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) {
        await cluster.settled();
        await cluster.clock.settle();
      }
    };
    await calm();
    expect(seen).toEqual([]);
    lagging.release();
    await calm();
    expect(seen).toEqual([['a']]);
  });

  it('are not those that the operator writes outside of what is served, nor those that it takes out of it', async () => {
    const seen: string[][] = [];
    declared.registry.on.startup(({ settings }) => {
      settings.watching.selectors = { configmaps: { labels: { mine: 'yes' } } };
    });
    declared.registry.owns(Example, ConfigMap);
    declared.registry.on.create(Example, async ({ api, body, children }) => {
      for (const [name, mine] of Object.entries({ in: 'yes', out: 'no', moved: 'yes' })) {
        await api(ConfigMap).create({ metadata: { name, labels: { mine } }, data: {} }, { owner: body });
      }
      seen.push(names(children(ConfigMap)));
      await api(ConfigMap).patch('moved', { metadata: { labels: { mine: 'no' } } });
      seen.push(names(children(ConfigMap)));
      await api(ConfigMap).patch('moved', { metadata: { labels: { mine: 'yes' } } });
    });
    declared.registry.timer(
      Example,
      { interval: 10, initialDelay: 10 },
      ({ children }) => void seen.push(names(children(ConfigMap))),
    );
    const runner = await start();
    await create('one');
    await settle(runner);
    await cluster.api(ConfigMap).delete('out');
    await advance(runner, 10);
    expect(seen).toEqual([['in', 'moved'], ['in'], ['in', 'moved']]);
  });

  it('cannot be asked for if nobody has said that there are such', async () => {
    declared.registry.owns(Example, ConfigMap);
    declared.registry.on.create(Example, { errors: 'permanent' }, ({ children }) => void children('pods'));
    const runner = await start();
    await create('one');
    await settle(runner);
    expect(runner.logs.messages('error').join()).toMatch(
      /Nobody has said that Selector\(anyName='pods'\) can be children/,
    );
  });

  it.each([
    [
      () => declared.registry.owns(Example, ConfigMap, { by: 'name' as 'owner' }),
      /by must be 'owner', \{ label: '…' \}, or a function/,
    ],
    [() => declared.registry.owns('kopfexamples', 'configmaps', { via: 'x' } as object), /there is no option "via"/],
    [
      () => declared.registry.owns('kopfexamples', undefined as unknown as string),
      /name the kind of the parents first/,
    ],
    [() => declared.registry.owns('kopfexamples', { plural: '' }), /Names must not be empty/],
    [() => declared.registry.on.child('kopfexamples', (() => {}) as never), /name the kind of the parents first/],
    [
      () => declared.registry.on.child('kopfexamples', 'pods', { fields: [] }, () => {}),
      /fields must be a non-empty list/,
    ],
    [
      () => declared.registry.on.reconcile('kopfexamples', { owns: 'pods' as never }, () => {}),
      /owns must be a list of kinds/,
    ],
    [
      () => declared.registry.on.reconcile('kopfexamples', { watches: ['pods'] as never }, () => {}),
      /a list of \{ kind, map \}/,
    ],
    [
      () => declared.registry.on.reconcile('kopfexamples', { cleanup: true as never }, () => {}),
      /cleanup must be a function/,
    ],
    [
      () => declared.registry.on.reconcile('kopfexamples', { own: [] } as object, () => {}),
      /no option "own".*Did you mean/,
    ],
    [
      () => {
        declared.registry.owns('kopfexamples', 'pods');
        declared.registry.owns('kopfexamples', 'pods', { by: { label: 'x' } });
      },
      /declared in two ways: by owners, and by the label 'x'/,
    ],
    [
      () =>
        declared.registry.owns(
          resource({ plural: 'kopfexamples', namespaced: true }),
          resource({ plural: 'nodes', namespaced: false }),
        ),
      /objects of the whole cluster cannot be owned by objects in namespaces/,
    ],
  ])('refuse to be declared wrongly: %s', (declare, message) => {
    expect(declare).toThrow(message);
  });
});

describe('reconciliation', () => {
  const calls: string[] = [];
  const log = ({ name, reasons }: { readonly name: string; readonly reasons: ReadonlySet<string> }) =>
    void calls.push(`${name}: ${[...reasons].sort().join('+')}`);

  beforeEach(() => {
    calls.length = 0;
  });

  it('is called once for each object at the start, and for changes of it, of owned ones and of watched ones', async () => {
    const one = await create('one', { size: 1 });
    await create('two', { size: 1 });
    declared.registry.on.reconcile(
      Example,
      { owns: [ConfigMap], watches: [{ kind: 'secrets', map: ({ name }) => name }] },
      (kwargs) => log(kwargs),
    );
    const runner = await start();
    expect(calls.splice(0)).toEqual(['one: first', 'two: first']);
    await cluster.api(Example).patch('one', { spec: { size: 2 } });
    await settle(runner);
    const a = await child('a', one);
    await settle(runner);
    await cluster.api(ConfigMap).patch('a', { data: { x: 'y' } });
    await settle(runner);
    await cluster.api(ConfigMap).delete(String(a.metadata?.name));
    await settle(runner);
    await cluster.api('secrets').create({ metadata: { name: 'two' } });
    await settle(runner);
    expect(calls.splice(0)).toEqual(['one: changed', 'one: owned', 'one: owned', 'one: owned', 'two: watched']);
    // Neither the status nor other objects are any of its business; and nothing was written.
    await cluster.api(Example).status.patch('one', { status: { seen: 1 } });
    await child('b', undefined);
    await settle(runner);
    expect(calls).toEqual([]);
    expect(cluster.get('kopfexamples/default/one')?.metadata?.annotations).toBeUndefined();
  });

  it('is one call at a time for an object, and one for all that has happened meanwhile', async () => {
    const one = await create('one');
    let release = (): void => {};
    let running = 0;
    declared.registry.on.reconcile(Example, { owns: [ConfigMap] }, async (kwargs) => {
      log(kwargs);
      running += 1;
      expect(running).toBe(1);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      running -= 1;
    });
    const runner = await start();
    for (const name of ['a', 'b', 'c']) await child(name, one);
    await cluster.api(Example).patch('one', { spec: { size: 2 } });
    await settle(runner);
    expect(calls.splice(0)).toEqual(['one: first']);
    release();
    await settle(runner);
    expect(calls.splice(0)).toEqual(['one: changed+owned']);
    release();
    await settle(runner);
    expect(calls).toEqual([]);
  });

  it('takes its turn among the workers, as all handlers do', async () => {
    const names = ['one', 'two', 'three'];
    for (const name of names) await create(name);
    let [running, most] = [0, 0];
    declared.registry.on.startup(({ settings }) => {
      settings.queueing.workerLimit = 2;
    });
    declared.registry.on.reconcile(Example, async (kwargs) => {
      running += 1;
      most = Math.max(most, running);
      await cluster.clock.sleep(5);
      log(kwargs);
      running -= 1;
    });
    const runner = await start();
    await advance(runner, 5);
    await advance(runner, 5);
    expect(most).toBe(2);
    expect(calls.toSorted()).toEqual(['one: first', 'three: first', 'two: first']);
  });

  it('is called again when it wants to be', async () => {
    await create('one');
    declared.registry.on.reconcile(Example, (kwargs) => {
      log(kwargs);
      return { requeueAfter: 30 };
    });
    const runner = await start();
    await advance(runner, 29);
    expect(calls).toEqual(['one: first']);
    await advance(runner, 1);
    expect(calls).toEqual(['one: first', 'one: requeued']);
    await advance(runner, 30);
    expect(calls).toEqual(['one: first', 'one: requeued', 'one: requeued']);
  });

  it('is called once a second at most if it always wants to be called at once, and is not looked at meanwhile', async () => {
    await create('one');
    declared.registry.on.reconcile(Example, (kwargs) => {
      log(kwargs);
      return { requeueAfter: 0 };
    });
    const runner = await start();
    await settle(runner);
    const first = calls.splice(0).length;
    expect(first).toBeLessThanOrEqual(21);
    for (let second = 0; second < 5; second += 1) await advance(runner, 1);
    expect(calls.length).toBeGreaterThanOrEqual(4);
    expect(calls.length).toBeLessThanOrEqual(6);
  });

  it('is not waited for any more when the object is being deleted, though others hold it', async () => {
    await cluster.api(Example).create({ metadata: { name: 'one', finalizers: ['example.com/others'] }, spec: {} });
    declared.registry.on.reconcile(Example, (kwargs) => {
      log(kwargs);
      return { requeueAfter: 10 };
    });
    const runner = await start();
    await settle(runner);
    await cluster.api(Example).delete('one');
    await advance(runner, 60);
    expect(calls).toEqual(['one: first']);
  });

  it('is tried again less and less often, and at once if somebody else changes something', async () => {
    const one = await create('one');
    let isBroken = true;
    declared.registry.on.reconcile(Example, { owns: [ConfigMap], backoff: { min: 10, max: 100 } }, async (kwargs) => {
      log(kwargs);
      if (isBroken) throw new Error('Broken.');
    });
    const runner = await start();
    await advance(runner, 9);
    expect(calls.splice(0)).toEqual(['one: first']);
    await advance(runner, 1);
    expect(calls.splice(0)).toEqual(['one: retried']);
    await advance(runner, 19);
    expect(calls.splice(0)).toEqual([]);
    await advance(runner, 1);
    expect(calls.splice(0)).toEqual(['one: retried']);
    await child('a', one);
    await settle(runner);
    expect(calls.splice(0)).toEqual(['one: owned']);
    isBroken = false;
    await cluster.api(Example).patch('one', { spec: { size: 2 } });
    await settle(runner);
    expect(calls.splice(0)).toEqual(['one: changed']);
    await advance(runner, 1000);
    expect(calls).toEqual([]);
  });

  it('does not take its own children for a reason to try again earlier', async () => {
    await create('one');
    let made = 0;
    declared.registry.on.reconcile(Example, { owns: [ConfigMap], backoff: 10 }, async (kwargs) => {
      log(kwargs);
      made += 1;
      await kwargs.api(ConfigMap).create({ metadata: { name: `c${made}` } }, { owner: kwargs.body });
      throw new Error('Broken.');
    });
    const runner = await start();
    await advance(runner, 9);
    expect(calls).toEqual(['one: first']);
    await advance(runner, 1);
    expect(calls).toEqual(['one: first', 'one: owned+retried']);
  });

  it('goes step by step, if each call does one step', async () => {
    await create('one', { size: 5 });
    declared.registry.on.reconcile(Example, { owns: [ConfigMap] }, async ({ children, spec, api, body, patch }) => {
      const there = children(ConfigMap).length;
      patch.status.seen = there;
      if (there < Number(spec.size)) await api(ConfigMap).create({ metadata: { generateName: 'c-' } }, { owner: body });
    });
    const runner = await start();
    await settle(runner);
    expect(cluster.list('configmaps/default').filter(({ metadata }) => metadata?.ownerReferences)).toHaveLength(5);
    expect(cluster.get('kopfexamples/default/one')?.['status']).toEqual({ seen: 5 });
  });

  it('never runs wild, even if each call changes a child', async () => {
    await create('one');
    let count = 0;
    declared.registry.on.reconcile(Example, { owns: [ConfigMap] }, async ({ api, body }) => {
      count += 1;
      await api(ConfigMap).apply({ metadata: { name: 'a' }, data: { count: String(count) } }, { owner: body });
    });
    const runner = await start();
    await settle(runner);
    const atOnce = count;
    expect(atOnce).toBeLessThan(25);
    await advance(runner, 10);
    expect(count - atOnce).toBeLessThanOrEqual(11);
    expect(count - atOnce).toBeGreaterThan(5);
  });

  it('is slowed down if each call changes the object itself; and so is who wants the object since then', async () => {
    await create('one');
    let count = 0;
    declared.registry.on.reconcile(Example, { id: 'hot' }, ({ patch, spec }) => {
      count += 1;
      if (count < 15) patch.spec.size = (spec.size ?? 0) + 1;
    });
    declared.registry.on.reconcile(Example, { id: 'gold', labels: { tier: 'gold' } }, log);
    const runner = await start();
    await settle(runner);
    expect(count).toBeLessThan(15);
    await cluster.api(Example).patch('one', { metadata: { labels: { tier: 'gold' } } });
    await settle(runner);
    expect(calls).toEqual([]);
    await advance(runner, 1000);
    expect(calls[0]).toBe('one: first');
    expect(count).toBeLessThan(25);
  });

  it('cleans up before the object is gone', async () => {
    let isBroken = true;
    declared.registry.on.reconcile(
      Example,
      {
        backoff: 10,
        cleanup: async (kwargs) => {
          log(kwargs);
          if (isBroken) throw new Error('Broken.');
        },
      },
      log,
    );
    const runner = await start();
    await create('one');
    await settle(runner);
    expect(cluster.get('kopfexamples/default/one')?.metadata?.finalizers).toHaveLength(1);
    await cluster.api(Example).delete('one');
    await settle(runner);
    expect(calls.splice(0)).toEqual(['one: first', 'one: deleted']);
    expect(cluster.get('kopfexamples/default/one')).toBeDefined();
    isBroken = false;
    await advance(runner, 10);
    expect(calls.splice(0)).toEqual(['one: deleted+retried']);
    expect(cluster.get('kopfexamples/default/one')).toBeUndefined();
  });

  it('lets the object go if the cleaning fails for good; and waits for deletion handlers besides', async () => {
    const order: string[] = [];
    declared.registry.on.reconcile(
      Example,
      {
        cleanup: () => {
          order.push('cleanup');
          throw new PermanentError('Never.');
        },
      },
      () => {},
    );
    declared.registry.on.create(Example, () => void order.push('create'));
    declared.registry.on.delete(Example, { backoff: 5 }, ({ retry }) => {
      order.push('delete');
      if (retry === 0) throw new Error('Not yet.');
    });
    const runner = await start();
    await create('one');
    await settle(runner);
    await cluster.api(Example).delete('one');
    await advance(runner, 5);
    expect(order).toEqual(['create', 'delete', 'cleanup', 'delete']);
    expect(cluster.get('kopfexamples/default/one')).toBeUndefined();
  });

  it('counts what the cluster refuses as a failure', async () => {
    await create('one');
    declared.registry.on.reconcile(Example, { backoff: 10 }, (kwargs) => {
      log(kwargs);
      (kwargs.patch as unknown as AnyObject)['metadata'] = { labels: { bad: 'a b c' } };
    });
    const runner = await start();
    await advance(runner, 10);
    expect(calls).toEqual(['one: first', 'one: retried']);
  });

  it('is called for each object after a pause, with all children that are there by then', async () => {
    const one = await create('one');
    await child('a', one);
    declared.registry.on.reconcile(Example, { owns: [ConfigMap] }, ({ name, reasons, children }) => {
      calls.push(`${name}: ${[...reasons].join('+')} with ${names(children(ConfigMap)).join(' ')}`);
    });
    const client = laggingFor('/configmaps', cluster.client);
    const running = operator({
      ...{ client: client.client, clock: cluster.clock, registry: declared.registry, logger: recordingLogger() },
      ...{ identity: 'me', standalone: true, clusterwide: true },
    });
    const stop = async (): Promise<void> => {
      const stopping = running.stop();
      await cluster.clock.advance(30);
      await stopping;
    };
    onTestFinished(stop);
    const calm = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) {
        await cluster.settled();
        await cluster.clock.settle();
      }
    };
    await calm();
    expect(calls.splice(0)).toEqual(['one: first with a']);
    running.control.pause();
    await calm();
    await child('b', one);
    await calm();
    expect(calls).toEqual([]);
    // The children are listed later than their parents.
    client.hold();
    running.control.resume();
    await calm();
    expect(calls).toEqual([]);
    client.release();
    await calm();
    expect(calls).toEqual(['one: first with a b']);
  });

  it('is seen by observers as all handlers are: considered, with why not, and called', async () => {
    const told: string[] = [];
    declared.registry.on.reconcile(Example, { id: 'gold', labels: { tier: 'gold' } }, () => {});
    declared.registry.on.reconcile(Example, { id: 'any' }, () => {});
    const runner = await operatorRunner({
      ...{ cluster, registry: declared.registry },
      observers: [
        {
          wants: ['handler.considered', 'call.ended'],
          observe(fact) {
            if (fact.kind === 'handler.considered') told.push(`${fact.handler.id}: ${fact.rejection?.filter ?? 'yes'}`);
            if (fact.kind === 'call.ended' && fact.object)
              told.push(`${fact.handler.id} ${fact.outcome} for ${fact.reason}`);
          },
        },
      ],
    });
    onTestFinished(() => runner.stop().then(() => {}));
    await runner.ready;
    await create('one');
    await settle(runner);
    expect(told).toEqual(['gold: labels', 'any: yes', 'any succeeded for first']);
  });
});

describe('handlers of children', () => {
  interface Call {
    readonly of: string;
    readonly changes: readonly string[];
    readonly all: readonly string[];
    readonly initial: boolean;
  }
  const calls: Call[] = [];
  const declare = (of: Registry, options: object = {}): void => {
    of.on.child(Example, ConfigMap, { id: 'count', ...options }, ({ parent, changes, children, initial }) => {
      const told = changes.map(({ type, child: changed }) => `${type} ${changed.metadata?.name}`).sort();
      calls.push({ of: String(parent.metadata?.name), changes: told, all: names(children()), initial });
    });
  };
  beforeEach(() => {
    calls.length = 0;
  });

  it('are called once for the children that were created, changed or are gone, together', async () => {
    declare(declared.registry);
    const runner = await start();
    const one = await create('one');
    await settle(runner);
    expect(calls).toEqual([]);
    await child('a', one);
    await child('b', one);
    await settle(runner);
    await cluster.api(ConfigMap).patch('a', { data: { x: 'y' } });
    await cluster.api(ConfigMap).delete('b');
    await settle(runner);
    expect(calls.flatMap(({ changes }) => changes)).toEqual(
      expect.arrayContaining(['created a', 'created b', 'changed a', 'gone b']),
    );
    expect(calls.at(-1)?.all).toEqual(['a']);
    expect(calls.every(({ of, initial }) => of === 'one' && !initial)).toBe(true);
  });

  it('are called after a restart for those parents only whose children differ', async () => {
    declare(declared.registry);
    const first = await start();
    const [one, two] = [await create('one'), await create('two')];
    await create('three');
    await child('a', one);
    await child('b', one);
    await child('c', two);
    await settle(first);
    await first.stop();
    calls.length = 0;
    await cluster.api(ConfigMap).delete('b');
    const again = createRegistry();
    declare(again);
    const second = await start(again);
    expect(calls.splice(0)).toEqual([{ of: 'one', changes: [], all: ['a'], initial: true }]);
    await second.stop();
    const third = createRegistry();
    declare(third);
    await start(third);
    expect(calls).toEqual([]);
  });

  it('are told of chosen fields only', async () => {
    declare(declared.registry, { fields: ['data.size'] });
    const runner = await start();
    const one = await create('one');
    await child('a', one);
    await settle(runner);
    calls.length = 0;
    await cluster.api(ConfigMap).patch('a', { data: { colour: 'red' } });
    await settle(runner);
    expect(calls).toEqual([]);
    await cluster.api(ConfigMap).patch('a', { data: { size: '1' } });
    await settle(runner);
    expect(calls).toMatchObject([{ changes: ['changed a'] }]);
  });

  it('leave no trace that others could take for a change of the object', async () => {
    declare(declared.registry);
    const updates: unknown[] = [];
    declared.registry.on.update(Example, ({ diff }) => void updates.push(diff));
    const runner = await start();
    const one = await create('one');
    await settle(runner);
    await child('a', one);
    await advance(runner, 5);
    const { annotations = {} } = cluster.get('kopfexamples/default/one')?.metadata ?? {};
    expect(Object.keys(annotations).filter((key) => key.includes('children'))).toHaveLength(1);
    expect(updates).toEqual([]);
    await cluster.api(ConfigMap).delete('a');
    await advance(runner, 5);
    const after = cluster.get('kopfexamples/default/one')?.metadata?.annotations ?? {};
    expect(Object.keys(after).filter((key) => key.includes('children'))).toEqual([]);
    expect(updates).toEqual([]);
  });

  it('are tried again until they succeed, with all that has changed since they succeeded last', async () => {
    let failures = 2;
    declared.registry.on.child(Example, ConfigMap, { backoff: 10 }, ({ changes, retry }) => {
      calls.push({
        of: String(retry),
        changes: changes.map(({ child: c }) => String(c.metadata?.name)),
        all: [],
        initial: false,
      });
      if (failures-- > 0) throw new Error('Not yet.');
    });
    const runner = await start();
    const one = await create('one');
    await child('a', one);
    await settle(runner);
    await advance(runner, 10);
    await advance(runner, 10);
    expect(calls.map(({ of, changes }) => [of, ...changes])).toEqual([
      ['0', 'a'],
      ['1', 'a'],
      ['2', 'a'],
    ]);
  });
});
