import type { KubeClient } from '@kopf-ts/core';
import { expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import { eventually, startOperator, warningsOf } from '../support/operators/operators.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

/** A client that notes what it is asked for. */
function noting(client: KubeClient): { readonly client: KubeClient; readonly asked: URLSearchParams[] } {
  const asked: URLSearchParams[] = [];
  const noted = new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        const [request] = args as [{ readonly method?: string; readonly path?: string } | undefined];
        const path = request?.path ?? '';
        if (/\/things(?:\?|$)/.test(path) && (request?.method ?? 'GET') === 'GET') {
          asked.push(new URL(path, 'http://localhost').searchParams);
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { client: noted, asked };
}

/** But for those by name: of objects that were being handled when they left. */
const selectorsIn = (asked: readonly URLSearchParams[]) =>
  new Set(asked.filter((query) => !query.has('fieldSelector')).map((query) => query.get('labelSelector')));
const followedIn = (asked: readonly URLSearchParams[]) =>
  new Set(asked.flatMap((query) => query.get('fieldSelector') ?? []));

describeOnClusters('selectors on the server', (cluster) => {
  it('what all handlers want is all that is asked for, and no call is missed by that', async () => {
    const things = await cluster().newKind();
    const namespace = await cluster().newNamespace();
    const { client, asked } = noting(cluster().client);
    const labelled = (shard: string | null) => ({ metadata: { labels: { shard } } });
    const calls: string[] = [];
    const operator = await startOperator(
      cluster(),
      ({ on }) => {
        on.create(
          things.selector,
          { id: 'c', labels: { shard: 'a' } },
          ({ name }) => void calls.push(`created ${name}`),
        );
        on.field(things.selector, { id: 'f', field: 'spec.size', labels: { shard: 'b' } }, ({ name }) => {
          calls.push(`resized ${name}`);
        });
      },
      { namespaces: [namespace], client },
    );
    for (const shard of ['a', 'b', 'c']) {
      await things.create(namespace, `of-${shard}`, { metadata: { labels: { shard } }, spec: { size: 1 } });
    }
    await eventually(() => expect(calls.toSorted()).toEqual(['created of-a', 'resized of-b']));
    await things.patch(namespace, 'of-b', { spec: { size: 2 } });
    await eventually(() => expect(calls).toHaveLength(3));
    await things.patch(namespace, 'of-c', labelled('a'));
    await eventually(() => expect(calls.at(-1)).toBe('created of-c'));
    await things.patch(namespace, 'of-c', labelled(null));
    await things.patch(namespace, 'of-a', { spec: { size: 2 } });
    await things.delete(namespace, 'of-a');
    await things.create(namespace, 'last', labelled('a') as object);
    await eventually(() => expect(calls.at(-1)).toBe('created last'));
    expect([...selectorsIn(asked)]).toEqual(['shard in (a,b)']);
    expect(warningsOf(operator)).toEqual([]);
  });

  it('objects that leave what is served are let go in an orderly way, also over restarts', async () => {
    const things = await cluster().newKind();
    const namespace = await cluster().newNamespace();
    const { client, asked } = noting(cluster().client);
    const log: string[] = [];
    const declare: Parameters<typeof startOperator>[1] = ({ on, daemon }) => {
      on.create(things.selector, { id: 'c' }, ({ name }) => void log.push(`created ${name}`));
      on.delete(things.selector, { id: 'd' }, ({ name }) => void log.push(`deleted ${name}`));
      daemon(things.selector, { id: 'guard', cancellationTimeout: 1 }, async ({ name, stopped }) => {
        await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
        log.push(`left ${name}`);
      });
    };
    const overrides = { watching: { selectors: { [things.selector]: { labels: { shard: ['a', 'b'] } } } } };
    const finalizersOf = async (name: string) => (await things.get(namespace, name))?.metadata?.finalizers ?? [];
    const create = (name: string, shard: string) =>
      things.create(namespace, name, { metadata: { labels: { shard } }, spec: {} });
    const move = (name: string, shard: string | null) =>
      things.patch(namespace, name, { metadata: { labels: { shard } } });

    const first = await startOperator(cluster(), declare, { namespaces: [namespace], client, overrides });
    await create('goes', 'a');
    await create('stays', 'b');
    await create('moves', 'a');
    await create('foreign', 'c');
    await eventually(() => expect(log.toSorted()).toEqual(['created goes', 'created moves', 'created stays']));
    await eventually(async () => expect(await finalizersOf('goes')).toEqual([FINALIZER]));
    await move('goes', null);
    await eventually(async () => expect(await finalizersOf('goes')).toEqual([]));
    expect(log.at(-1)).toBe('left goes');
    expect(followedIn(asked)).toContain('metadata.name=goes');
    await first.stop();

    // Meanwhile, nobody is there to see it leave.
    await move('moves', 'c');
    log.length = 0;
    const second = await startOperator(cluster(), declare, { namespaces: [namespace], client, overrides });
    await eventually(async () => expect(await finalizersOf('moves')).toEqual([]));
    expect(await finalizersOf('stays')).toEqual([FINALIZER]);
    for (const name of ['stays', 'moves', 'goes', 'foreign']) await things.delete(namespace, name);
    await eventually(async () => expect(await things.get(namespace, 'stays')).toBeUndefined());
    expect(log.toSorted()).toEqual(['deleted stays', 'left stays']);
    expect(warningsOf(second)).toEqual([]);
    // Once for those with our finalizer, at each start.
    expect([...selectorsIn(asked)].toSorted()).toEqual(['shard in (a,b)', null].toSorted());
  });
});
