/** Verbs and the kwarg `api`, on both servers. */
import { type AnyObject, type Api, ApplyConflictError, api as apiOver, sleep, TemporaryError } from '@kopf-ts/core';
import { systemClock } from '@kopf-ts/reactor';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

describeOnClusters('verbs', (cluster) => {
  let things: TestKind;
  let namespace: string;
  let api: Api;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
    api = apiOver(cluster().client, { namespace, fieldManager: 'tester', clock: systemClock });
  });
  const configMap = (name: string, data: Record<string, string>) => ({ metadata: { name }, data });
  const failure = (promise: PromiseLike<unknown>): Promise<Error> =>
    Promise.resolve(promise).then(
      () => new Error('It has not failed.'),
      (error: Error) => error,
    );

  it('write and read', async () => {
    await api('configmaps').apply(configMap('one', { a: '1', b: '2' }));
    expect((await api('configmaps').apply(configMap('one', { a: '3' })))['data']).toEqual({ a: '3' });
    const conflict = await failure(api('configmaps').apply(configMap('one', { a: '4' }), { fieldManager: 'other' }));
    expect(conflict).toBeInstanceOf(ApplyConflictError);
    expect(conflict.message).toMatch(/^apply configmaps\.v1 .*\/one: .*"tester"/);
    await api('configmaps').patch('one', { metadata: { labels: { app: 'x' } } }, { type: 'strategic' });
    await api('configmaps').patch('one', [{ op: 'add', path: '/data/c', value: '5' }]);
    await api('configmaps').replace('one', (object) => ({ ...object, data: { ...object['data'], d: '6' } }));
    const listed = await api('configmaps').list({ labels: { app: ['x', 'y'] } });
    expect(listed.map(({ metadata }) => metadata?.name)).toEqual(['one']);
    expect(listed[0]?.['data']).toEqual({ a: '3', c: '5', d: '6' });
    await api('configmaps').deleteCollection({ labels: { app: 'x' } });
    expect(await api('configmaps').find('one')).toBeUndefined();
    await api('configmaps').delete('one', { ifGone: 'ignore' });
  });

  it('watch, and end when they are left', async () => {
    const seen: string[] = [];
    await api('configmaps').create({ ...configMap('one', {}), metadata: { name: 'one', labels: { app: 'x' } } });
    for await (const { type, object } of api('configmaps').watch({ labels: { app: 'x' } })) {
      seen.push(type);
      if (type === 'LISTED') await api('configmaps').patch('one', { data: { a: 'b' } });
      if (type === 'MODIFIED') await api('configmaps').delete(object.metadata?.name ?? '');
      if (type === 'DELETED') break;
    }
    expect(seen).toEqual(['LISTED', 'MODIFIED', 'DELETED']);
  });

  it('say what was asked for, and what the server has said', async () => {
    const thing = `things.v1.${things.group}`;
    expect((await failure(api(things.selector).get('none'))).message).toBe(
      `get ${thing} ${namespace}/none: things.${things.group} "none" not found`,
    );
    expect((await failure(api('configmaps').create(configMap('Not A Name', {})))).message).toMatch(
      new RegExp(`^create configmaps\\.v1 ${namespace}/Not A Name: ConfigMap "Not A Name" is invalid: metadata\\.name`),
    );
    expect((await failure(api('configmaps').list({ fields: { 'data.a': 'b' } }))).message).toMatch(
      new RegExp(`^list configmaps\\.v1 ${namespace}: .*data\\.a`),
    );
    expect((await failure(api('configmaps').list({ labels: 'a in b' }))).message).toMatch(
      new RegExp(`^list configmaps\\.v1 ${namespace}: `),
    );
    expect(
      (await failure(api('configmaps').create({ ...configMap('one', {}), data: { a: 1 } as never }))).message,
    ).toMatch(new RegExp(`^create configmaps\\.v1 ${namespace}/one: `));
    await things.create(namespace, 'one', { spec: {} });
    for (const attempt of [api(things.selector).evict('one'), api(things.selector).log('one')]) {
      expect((await failure(attempt)).message).toMatch(
        new RegExp(
          `^(evict|log) ${thing} ${namespace}/one: The cluster has no subresource '(eviction|log)' of ${thing}\\.`,
        ),
      );
    }
    const whole = await api(things.selector).get('one');
    expect((await failure(api(things.selector).apply(whole))).message).toMatch(
      /^apply .*: Apply only the fields that you want to own/,
    );
    expect((await failure(api('pods').log('none'))).message).toBe(
      `log pods.v1 ${namespace}/none: pods "none" not found`,
    );
    expect((await failure(api('pods').exec('none', ['date']))).message).toBe(
      `exec pods.v1 ${namespace}/none: pods "none" not found`,
    );
  });

  const writes: readonly (readonly [string, (api: Api, kind: string) => Promise<AnyObject>])[] = [
    ['a merge-patch', (verbs, kind) => verbs(kind).patch('one', { spec: { size: 5 } })],
    ['a JSON-patch', (verbs, kind) => verbs(kind).patch('one', [{ op: 'add', path: '/spec/size', value: 5 }])],
    ['applying', (verbs, kind) => verbs(kind).apply({ metadata: { name: 'one' }, spec: { size: 5 } })],
    [
      'replacing',
      (verbs, kind) => verbs(kind).replace('one', (object) => ({ ...object, spec: { ...object['spec'], size: 5 } })),
    ],
  ];
  describe('of handlers that write their own object', () => {
    it.each(writes)('are no news for the others: %s', async (_, write) => {
      const calls: string[] = [];
      await startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, { id: 'first' }, () => void calls.push('first'));
          on.create(things.selector, { id: 'second' }, async ({ api: own, retry }) => {
            calls.push('second');
            await write(own, things.selector);
            if (retry === 0) throw new TemporaryError('once more', { delay: 0.2 });
          });
          on.field(things.selector, { id: 'size', field: 'spec.size' }, () => void calls.push('size'));
        },
        { namespaces: [namespace] },
      );
      await things.create(namespace, 'one', { spec: { field: 'x' } });
      await eventually(() => expect(calls).toContain('size'));
      await eventually(async () => {
        const marks = Object.keys((await things.get(namespace, 'one'))?.metadata?.annotations ?? {});
        expect(marks.filter((key) => key.startsWith('kopf.zalando.org/'))).toHaveLength(1);
      });
      // The new field concerns one more handler of the same creation: it is called before or after the retry, but once.
      expect(calls.toSorted()).toEqual(['first', 'second', 'second', 'size']);
    });

    it('all the time, by daemons and by others, do not keep the finalizer from it: deletions are held and handled', async () => {
      const names = ['one', 'two', 'three'];
      const deleted: string[] = [];
      const finalized = new Map<string, number>();
      await startOperator(
        cluster(),
        ({ on, daemon }) => {
          for (const id of ['a', 'b', 'c', 'd']) {
            daemon(things.selector, { id, cancellationTimeout: 1 }, async ({ api: own, name, stopped }) => {
              for (let count = 0; !stopped.aborted; count++) {
                await own(things.selector).patch(name, { metadata: { annotations: { [id]: `${count}` } } });
                await sleep(0.02, stopped);
              }
            });
          }
          on.delete(things.selector, { id: 'deletion' }, ({ name }) => void deleted.push(name));
        },
        { namespaces: [namespace] },
      );
      const control = new AbortController();
      const busybody = async (name: string): Promise<void> => {
        const beganAt = performance.now();
        for (let count = 0; !control.signal.aborted; count++) {
          const { metadata } = await api(things.selector).patch(name, { metadata: { labels: { busy: `${count}` } } });
          if (metadata?.finalizers !== undefined && !finalized.has(name)) {
            finalized.set(name, (performance.now() - beganAt) / 1000);
          }
        }
      };
      for (const name of names) await things.create(namespace, name, { spec: { field: 'x' } });
      const busy = names.map((name) => busybody(name).catch(() => {}));
      await eventually(() => expect([...finalized.keys()].toSorted()).toEqual(names.toSorted()), 20);
      control.abort();
      await Promise.all(busy);
      for (const name of names) await api(things.selector).delete(name);
      await eventually(async () => {
        expect(deleted.toSorted()).toEqual(names.toSorted());
        expect(await api(things.selector).list()).toEqual([]);
      });
    });

    it('again and again, since they are called for that, are slowed down: handlers of events and of updates', async () => {
      const counts = { event: 0, update: 0 };
      const operator = await startOperator(
        cluster(),
        ({ on }) => {
          on.event(things.selector, { id: 'event', labels: { by: 'event' } }, async ({ api: own, name, type }) => {
            if (type === 'DELETED') return;
            counts.event += 1;
            await own(things.selector).patch(name, { spec: { count: counts.event } });
          });
          on.update(things.selector, { id: 'update', labels: { by: 'update' } }, async ({ api: own, name }) => {
            counts.update += 1;
            await own(things.selector).patch(name, { spec: { size: counts.update } });
          });
        },
        { namespaces: [namespace] },
      );
      for (const by of ['event', 'update']) {
        await api(things.selector).create({ metadata: { name: by, labels: { by } }, spec: {} });
      }
      await eventually(async () => {
        const marks = (await things.get(namespace, 'update'))?.metadata?.annotations ?? {};
        expect(Object.keys(marks)).toContain('kopf.zalando.org/last-handled-configuration');
      });
      await api(things.selector).patch('update', { spec: { field: 'new' } });
      await eventually(() => {
        expect(operator.logger.find('again and again: spec.count')).toBeDefined();
        expect(operator.logger.find('again and again: spec.size')).toBeDefined();
      });
      const before = { ...counts };
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect([counts.event, counts.update].every((count) => count > 5 && count < 30)).toBe(true);
      expect(counts.event - before.event).toBeLessThan(5);
    });

    it('are by the same manager as the patch, and so not in conflict with it', async () => {
      await startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, { id: 'made' }, ({ patch }) => {
            patch.spec['size'] = 1;
          });
          on.update(things.selector, { id: 'changed', field: 'spec.field' }, async ({ api: own, name }) => {
            await own(things.selector).apply({ metadata: { name }, spec: { size: 2 } });
          });
        },
        { namespaces: [namespace] },
      );
      await things.create(namespace, 'one', { spec: { field: 'x' } });
      const size = async (): Promise<unknown> => (await things.get(namespace, 'one'))?.['spec'].size;
      await eventually(async () => expect(await size()).toBe(1));
      await api(things.selector).patch('one', { spec: { field: 'y' } });
      await eventually(async () => expect(await size()).toBe(2));
    });
  });

  it('say that the kind is gone, if its CRD is', async () => {
    const gone = await cluster().newKind();
    await gone.create(namespace, 'one', { spec: {} });
    expect(await api(gone.selector).find('one')).toBeDefined();
    await api('customresourcedefinitions').delete(`things.${gone.group}`);
    await eventually(async () => {
      const error = await failure(api(gone.selector).find('one'));
      expect(error.message).toMatch(/The cluster does not serve that, or does no more|The cluster has no kind/);
    });
  });
});
