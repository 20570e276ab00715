import type { HttpKubeClient } from '@kopf-ts/client';
import type { ConnectionInfo, KubeClient, Registry } from '@kopf-ts/core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../controlplane/index.js';
import { newLine, pathOf, SHORT_TIMES } from '../failures/faulty-cluster.js';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator, type TestOperatorOptions } from '../support/operators/operators.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';

const connectionTo = ({ url: server, ca, token }: Pick<ControlPlane, 'url' | 'ca' | 'token'>) => ({
  server,
  ca,
  token,
});

/** An operator with an index of names, and a look into it from outside. */
async function startIndexing(
  { connection, things, namespace }: { connection: ConnectionInfo; things: TestKind; namespace: string },
  options: Partial<TestOperatorOptions> = {},
) {
  const events: string[] = [];
  let look = (): readonly string[] => [];
  const declare = ({ index, on }: Registry): void => {
    const names = index(things.selector, { id: 'names' }, ({ name }) => ({ [name]: true }));
    on.event(things.selector, ({ event, name, indices }) => {
      look = () => [...indices.get(names).keys()].sort();
      events.push(`${event.type ?? 'LISTED'} ${name}`);
    });
  };
  const operator = await startOperator({ connection }, declare, {
    namespaces: [namespace],
    overrides: SHORT_TIMES,
    ...options,
  });
  return Object.assign(operator, { events, indexed: () => look() });
}

async function namesIn(client: KubeClient, { group, plural }: TestKind, namespace: string): Promise<readonly string[]> {
  const path = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
  const { items } = await client.request<{ items: { metadata: { name: string } }[] }>({ method: 'GET', path });
  return items.map(({ metadata }) => metadata.name).sort();
}

describeOnRealCluster('indices', () => {
  let client: HttpKubeClient;
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    client = clientOf(realCluster());
    things = await newTestKind(client);
  });
  afterAll(() => client?.close());
  beforeEach(async () => {
    namespace = await newNamespace(client);
  });
  const create = (name: string, kind = things) => kind.create(namespace, name, { spec: { size: 1 } });

  it('lose what was deleted while the operator was cut off, after the history is gone', async () => {
    const line = await newLine(realCluster());
    for (const name of ['a', 'b', 'c']) await create(name);
    const { connection } = line;
    const operator = await startIndexing({ connection, things, namespace });
    await eventually(() => expect(operator.indexed()).toEqual(['a', 'b', 'c']));

    const cut = line.faults.refuseConnections();
    line.faults.cutConnections();
    await things.delete(namespace, 'b');
    await create('d');
    line.faults.compact();
    cut.remove();
    await eventually(() => expect(operator.indexed()).toEqual(['a', 'c', 'd']));
    expect(await namesIn(client, things, namespace)).toEqual(['a', 'c', 'd']);
    await eventually(() => expect(operator.events).toContain('DELETED b'));
    await create('e');
    await eventually(() => expect(operator.events).toContain('ADDED e'));
    expect(operator.events.filter((event) => event.startsWith('DELETED'))).toEqual(['DELETED b']);
  });

  it.each([2, 500])('are populated with one worker at most, and all %i objects are handled', async (count) => {
    const names = Array.from({ length: count }, (_, n) => `thing-${n}`);
    for (let n = 0; n < count; n += 25) await Promise.all(names.slice(n, n + 25).map((name) => create(name)));
    const handled = new Map<string, number>();
    await startOperator(
      { connection: connectionTo(realCluster()) },
      ({ index, on }) => {
        const all = index(things.selector, { id: 'all' }, async ({ name }) => ({ [name]: 1 }));
        on.create(things.selector, ({ name, indices }) => void handled.set(name, indices.get(all).size));
      },
      { namespaces: [namespace], overrides: { queueing: { workerLimit: 1 } } },
    );
    await eventually(() => expect(handled.size).toBe(count), 50);
    expect(new Set(handled.values())).toEqual(new Set([count]));
  });

  it('hold back all handlers of all kinds until everything that is to be indexed is listed', async () => {
    const others = await newTestKind(client, { plural: 'others' });
    for (const name of ['a', 'b', 'c']) await create(name);
    await create('other', others);
    const line = await newLine(realCluster());
    const slow = line.faults.add({ match: { path: pathOf(things.plural) }, latency: 3600 });
    const sizes: number[] = [];
    await startOperator(
      line,
      ({ index, on, timer }) => {
        const all = index(things.selector, { id: 'all' }, ({ name }) => ({ [name]: 1 }));
        on.event(others.selector, ({ indices }) => void sizes.push(indices.get(all).size));
        on.create(others.selector, ({ indices }) => void sizes.push(indices.get(all).size));
        timer(others.selector, { interval: 600 }, ({ indices }) => void sizes.push(indices.get(all).size));
        on.create(things.selector, ({ indices }) => void sizes.push(indices.get(all).size));
      },
      { namespaces: [namespace] },
    );
    await eventually(() => expect(slow.hits).toBeGreaterThan(0));
    await eventually(() => expect(line.requests.some((request) => request.includes('/others?'))).toBe(true));
    // The other kind is listed by now, and it could be handled.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(sizes).toEqual([]);
    slow.remove();
    await eventually(() => expect(sizes.length).toBeGreaterThanOrEqual(6));
    expect(new Set(sizes)).toEqual(new Set([3]));
  });

  it('are waited for only by the object that is being indexed', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const seen: [name: string, indexed: readonly string[]][] = [];
    await startOperator(
      { connection: connectionTo(realCluster()) },
      ({ index, on }) => {
        const all = index(things.selector, { id: 'all' }, async ({ name }) => {
          if (name === 'slow') await released;
          return { [name]: 1 };
        });
        on.create(things.selector, ({ name, indices }) => void seen.push([name, [...indices.get(all).keys()].sort()]));
      },
      { namespaces: [namespace] },
    );
    // At the beginning, all wait for all.
    await create('first');
    await eventually(() => expect(seen).toEqual([['first', ['first']]]));
    seen.length = 0;
    await create('slow');
    await create('quick-1');
    await create('quick-2');
    await eventually(() => expect(seen.map(([name]) => name)).toEqual(['quick-1', 'quick-2']));
    await things.patch(namespace, 'quick-1', { spec: { size: 2 } });
    expect(seen.flatMap(([, indexed]) => indexed)).not.toContain('slow');
    release();
    await eventually(() => expect(seen.at(-1)).toEqual(['slow', ['first', 'quick-1', 'quick-2', 'slow']]));
  });
});

describeOnRealCluster('indices, when the server itself is restarted', () => {
  let plane: ControlPlane;
  let client: HttpKubeClient;
  beforeAll(async () => {
    plane = await startControlPlane();
    client = clientOf(plane);
  });
  afterAll(async () => {
    await client?.close();
    await plane?.stop();
  });

  it('equal to what it lists, though it remembers nothing of what was deleted', async () => {
    const things = await newTestKind(client);
    const namespace = await newNamespace(client);
    for (const name of ['a', 'b', 'c']) await things.create(namespace, name);
    const line = await newLine(plane);
    const operator = await startIndexing({ connection: line.connection, things, namespace });
    await eventually(() => expect(operator.indexed()).toEqual(['a', 'b', 'c']));

    const cut = line.faults.refuseConnections();
    line.faults.cutConnections();
    await things.delete(namespace, 'b');
    // So that there is something newer than the deletion to be compacted up to.
    await things.create(namespace, 'd');
    await plane.compact();
    await plane.restartApiServer();
    const lists = line.requests.length;
    cut.remove();
    await eventually(() => expect(operator.indexed()).toEqual(['a', 'c', 'd']), 40);
    expect(await namesIn(client, things, namespace)).toEqual(['a', 'c', 'd']);
    expect(line.requests.length).toBeGreaterThan(lists);
    await eventually(() => expect(operator.events).toContain('DELETED b'));
    await things.create(namespace, 'e');
    await eventually(() => expect(operator.events).toContain('ADDED e'));
    expect(operator.events.filter((event) => event.startsWith('DELETED'))).toEqual(['DELETED b']);
  }, 120_000);
});
