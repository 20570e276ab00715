import { type AnyObject, adopt } from '@kopf-ts/core';
import { resourceUrl } from '@kopf-ts/core/engine';
import { expect, it } from 'vitest';
import { configMaps } from '../support/objects.js';
import { describeOnClusters } from '../support/operators/clusters.js';
import { absentIfNotFound } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

describeOnClusters('children of objects', (cluster) => {
  it('are adopted by their owners, and deleted after them', async () => {
    const [things, namespace] = await Promise.all([cluster().newKind(), cluster().newNamespace()]);
    const calls: string[] = [];
    const operator = await startOperator(
      cluster(),
      ({ on }) => {
        on.create(things.selector, async function provision({ client, namespace = '', spec }) {
          const children: AnyObject[] = [
            { metadata: { name: 'given' }, data: { size: `${spec['size']}` } },
            { metadata: {}, data: {} },
          ];
          adopt(children);
          for (const body of children) {
            await client.request({ method: 'POST', path: resourceUrl(configMaps, { namespace }), body });
          }
        });
        on.event('v1/configmaps', { labels: { family: 'smith' } }, function childSeen({ type, name, meta }) {
          const owner = meta.ownerReferences?.[0];
          calls.push(`${type} ${name === 'given' ? name : 'generated'} of ${owner?.kind} ${owner?.name}`);
        });
        on.delete(things.selector, function deleted({ name }) {
          calls.push(`deleted ${name}`);
        });
      },
      { namespaces: [namespace] },
    );
    const labels = { family: 'smith' };
    const owner = await things.create(namespace, 'parent', {
      metadata: { name: 'parent', labels },
      spec: { size: 7 },
    });
    await eventually(() => expect(calls).toHaveLength(2));
    expect(calls.splice(0)).toEqual(['ADDED given of Thing parent', 'ADDED generated of Thing parent']);
    const at = (name?: string) => resourceUrl(configMaps, { namespace, name });
    const { client } = cluster();
    const given = await client.request<AnyObject>({ method: 'GET', path: at('given') });
    expect(given.metadata).toMatchObject({ namespace, labels });
    expect(given.metadata?.ownerReferences).toEqual([
      expect.objectContaining({ uid: owner.metadata?.uid, controller: true, blockOwnerDeletion: true }),
    ]);
    const { items } = await client.request<{ items: AnyObject[] }>({ method: 'GET', path: at() });
    expect(items.map(({ metadata }) => metadata?.name ?? '').filter((name) => name.startsWith('parent-'))).toHaveLength(
      1,
    );

    await things.delete(namespace, 'parent');
    // Real garbage collectors need half a minute to notice a new kind of owners.
    await eventually(
      async () => expect(await absentIfNotFound(client.request({ method: 'GET', path: at('given') }))).toBeUndefined(),
      50,
    );
    await eventually(() => expect(calls).toHaveLength(3));
    expect(calls[0]).toBe('deleted parent');
    expect(calls.slice(1).sort()).toEqual(['DELETED generated of Thing parent', 'DELETED given of Thing parent']);
    expect(await things.get(namespace, 'parent')).toBeUndefined();
    expect(operator.logger.messages('error')).toEqual([]);
  }, 90_000);

  it('are deleted before their owners where that is asked for, and the owners are released once', async () => {
    const namespace = await cluster().newNamespace();
    const { client } = cluster();
    const calls: string[] = [];
    const path = (name?: string) => resourceUrl(configMaps, { namespace, name });
    const getMap = (name: string) => absentIfNotFound(client.request<AnyObject>({ method: 'GET', path: path(name) }));
    // Of a kind that garbage collectors have known for long.
    const labels = { role: 'parent' };
    await startOperator(
      cluster(),
      ({ on }) => {
        on.create('v1/configmaps', { labels }, async function provision({ client }) {
          const child: AnyObject = { metadata: { name: 'child', labels: { role: 'child' } } };
          adopt(child);
          await client.request({ method: 'POST', path: path(), body: child });
        });
        on.delete('v1/configmaps', { labels }, function deleted({ meta }) {
          calls.push(`deleted ${[...(meta.finalizers ?? [])].sort()}`);
        });
      },
      { namespaces: [namespace] },
    );
    await client.request({ method: 'POST', path: path(), body: { metadata: { name: 'parent', labels } } });
    await eventually(async () => {
      const { annotations = {} } = (await getMap('parent'))?.metadata ?? {};
      expect(Object.keys(annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
    });
    expect((await getMap('child'))?.metadata?.ownerReferences).toHaveLength(1);
    await client.request({ method: 'DELETE', path: path('parent'), body: { propagationPolicy: 'Foreground' } });
    await eventually(async () => expect(await getMap('parent')).toBeUndefined());
    expect(calls).toEqual(['deleted foregroundDeletion,kopf.zalando.org/KopfFinalizerMarker']);
    expect(await getMap('child')).toBeUndefined();
  });
});
