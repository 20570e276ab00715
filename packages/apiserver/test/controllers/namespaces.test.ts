import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LocalCluster } from '../../src/cluster.js';
import type { ServedObject } from '../../src/contracts/objects.js';
import { quietCluster, Workbench } from './support.js';

let cluster: LocalCluster;
let bench: Workbench;
beforeEach(async () => {
  cluster = await quietCluster();
  bench = new Workbench(cluster);
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } };
  await cluster.client.request({ method: 'POST', path: '/api/v1/namespaces', body });
});
afterEach(async () => {
  await cluster.stop();
});

const namespace = async (): Promise<ServedObject | undefined> =>
  await cluster.client.request<ServedObject>({ method: 'GET', path: '/api/v1/namespaces/ns' }).catch(() => undefined);
const remove = async (): Promise<void> => {
  await cluster.client.request({ method: 'DELETE', path: '/api/v1/namespaces/ns' });
  await cluster.settled();
};
const conditions = async (): Promise<Record<string, string>> => {
  const rows: { type: string; status: string; reason: string; message: string }[] =
    (await namespace())?.['status'].conditions ?? [];
  return Object.fromEntries(rows.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]));
};

it('an empty namespace goes at once', async () => {
  await remove();
  expect(await namespace()).toBeUndefined();
});

it('everything in a namespace goes with it, and nothing else', async () => {
  await bench.create('one', {}, 'ns');
  await bench.create('other', {}, 'default');
  const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'two' }, spec: deploymentSpec };
  await cluster.client.request({ method: 'POST', path: '/apis/apps/v1/namespaces/ns/deployments', body });
  await remove();
  expect(await namespace()).toBeUndefined();
  const left = await cluster.client.request<{ items: unknown[] }>({ method: 'GET', path: '/api/v1/configmaps' });
  expect(left.items).toHaveLength(1);
  const gone = await cluster.client.request<{ items: unknown[] }>({ method: 'GET', path: '/apis/apps/v1/deployments' });
  expect(gone.items).toEqual([]);
});

it('a namespace waits for the finalizers of its content, and tells which', async () => {
  await bench.create('one', { finalizers: ['example.com/mine'] }, 'ns');
  await bench.create('two', { finalizers: ['example.com/mine', 'example.com/other'] }, 'ns');
  await remove();
  expect((await namespace())?.['status'].phase).toBe('Terminating');
  expect(await conditions()).toEqual({
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
    NamespaceDeletionContentFailure:
      'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    NamespaceContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances',
    NamespaceFinalizersRemaining:
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/mine in 2 resource instances, example.com/other in 1 resource instances',
  });
  for (const name of ['one', 'two']) {
    const path = `/api/v1/namespaces/ns/configmaps/${name}`;
    const contentType = 'application/merge-patch+json';
    await cluster.client.request({ method: 'PATCH', path, contentType, body: { metadata: { finalizers: null } } });
    await cluster.settled();
  }
  expect(await namespace()).toBeUndefined();
});

it('a namespace with a finalizer of its own waits for that, empty', async () => {
  const path = '/api/v1/namespaces/ns';
  const contentType = 'application/merge-patch+json';
  await cluster.client.request({
    method: 'PATCH',
    path,
    contentType,
    body: { metadata: { finalizers: ['example.com/mine'] } },
  });
  await bench.create('one', {}, 'ns');
  await remove();
  expect((await namespace())?.['spec'].finalizers ?? []).toEqual([]);
  expect((await conditions())['NamespaceContentRemaining']).toBe(
    'False ContentRemoved: All content successfully removed',
  );
  await cluster.client.request({ method: 'PATCH', path, contentType, body: { metadata: { finalizers: null } } });
  await cluster.settled();
  expect(await namespace()).toBeUndefined();
});

const deploymentSpec = {
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};
