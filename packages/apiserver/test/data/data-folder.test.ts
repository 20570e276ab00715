import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type LocalCluster, type LocalClusterOptions, localCluster } from '../../src/index.js';
import { newFolder } from './support.js';

const running: LocalCluster[] = [];
async function start(data: string, options: LocalClusterOptions = {}): Promise<LocalCluster> {
  const cluster = await localCluster({ data, listen: false, clock: manualClock(), ...options });
  running.push(cluster);
  return cluster;
}
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

const KIND = {
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  kind: 'KopfExample',
  subresources: ['status'] as const,
};
const one = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { namespace: 'default', name: 'one' } };
const versionOf = async (cluster: LocalCluster): Promise<number> => {
  const list = await cluster.client.request<{ metadata: { resourceVersion: string } }>({
    method: 'GET',
    path: '/api/v1/namespaces',
  });
  return Number(list.metadata.resourceVersion);
};
const everything = async (cluster: LocalCluster): Promise<unknown> => {
  await cluster.settled();
  return ['namespaces', 'serviceaccounts', 'services', 'configmaps', 'customresourcedefinitions', 'clusterroles'].map(
    (kind) => cluster.list(kind),
  );
};

describe('the next life of a cluster', () => {
  it('has the same objects: uids, versions, managers of fields, and what is defined', async () => {
    const folder = newFolder();
    const first = await start(folder, { tls: true, authorize: 'rbac' });
    await first.define(KIND);
    await first.create({ ...one, spec: { field: 'value' } });
    await first.patch('kopfexamples/default/one', { status: { ready: true } }, { subresource: 'status' });
    await first.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await first.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'gone' } });
    await first.delete('configmaps/shop/gone');
    const before = [await everything(first), first.get('kopfexamples/default/one'), await versionOf(first)];
    await first.stop();

    const second = await start(folder, { tls: true, authorize: 'rbac' });
    expect([await everything(second), second.get('kopfexamples/default/one'), await versionOf(second)]).toEqual(before);
    const managers = second.get('kopfexamples/default/one')?.metadata?.['managedFields'] as readonly object[];
    expect(managers).toHaveLength(2);
    expect(second.get('configmaps/shop/gone')).toBeUndefined();
    const changed = await second.patch('kopfexamples/default/one', { spec: { field: 'other' } });
    expect(Number(changed.metadata?.resourceVersion)).toBe((before[2] as number) + 1);
  });

  it('has the same keys, so that tokens, certificates and kubeconfigs of before are still good', async () => {
    const folder = newFolder();
    const first = await start(folder, { tls: true, listen: true });
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const body = { spec: {} };
    await first.settled();
    const issued = await first.client.request<{ status: { token: string } }>({ method: 'POST', path, body });
    const config = first.kubeconfig({ username: 'jane' });
    const port = Number(new URL(first.url).port);
    const { token, security } = first;
    await first.stop();

    const second = await start(folder, { tls: true, listen: true, port });
    expect(second.token).toBe(token);
    expect(second.security.tls?.ca).toBe(security.tls?.ca);
    expect(second.kubeconfig({ username: 'jane' })).toBe(config);
    expect(second.security.userOfToken(issued.status.token)?.username).toBe('system:serviceaccount:default:default');
  });

  it('ends what the earlier one has begun: namespaces, garbage, definitions', async () => {
    const folder = newFolder();
    // Nobody does the work in this life.
    const first = await start(folder, { controllers: false });
    await first.define(KIND);
    await first.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await first.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'page' } });
    await first.delete('namespaces/shop');
    const owner = await first.create({ ...one, metadata: { ...one.metadata, name: 'owner' } });
    const { uid = '' } = (owner as { metadata: { uid?: string } }).metadata;
    const ownerReferences = [{ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', name: 'owner', uid }];
    const owned = { namespace: 'default', name: 'owned', ownerReferences };
    await first.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: owned });
    await first.delete('kopfexamples/default/owner');
    expect([first.get('namespaces/shop'), first.get('configmaps/default/owned')]).not.toContain(undefined);
    await first.stop();

    const second = await start(folder);
    await second.settled();
    expect([second.get('namespaces/shop'), second.get('configmaps/shop/page')]).toEqual([undefined, undefined]);
    expect(second.get('configmaps/default/owned')).toBeUndefined();
    await second.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await second.stop();
    const third = await start(folder);
    expect(third.list('customresourcedefinitions')).toEqual([]);
    expect(() => third.create(one)).toThrow('There is no kind');
  });

  it('knows changes of before for watches, and answers 410 where it does not', async () => {
    const folder = newFolder();
    const first = await start(folder);
    await first.settled();
    const before = await versionOf(first);
    await first.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'one' } });
    await first.stop();
    const second = await start(folder);
    const eventsSince = async (version: number): Promise<readonly unknown[]> => {
      const path = `/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&resourceVersion=${version}`;
      const lines: unknown[] = [];
      for await (const line of second.client.stream({ method: 'GET', path })) {
        lines.push(line);
        break;
      }
      return lines;
    };
    expect(await eventsSince(before)).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'one' } } }]);
    second.faults.compact();
    expect(await eventsSince(before)).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
  });

  it('leads the service of the API server to its new port', async () => {
    const folder = newFolder();
    await (await start(folder, { listen: true })).stop();
    const second = await start(folder, { listen: true });
    const ports = second.get('services/default/kubernetes')?.['spec']?.ports;
    expect(ports?.[0]?.targetPort).toBe(Number(new URL(second.url).port));
  });
});

describe('the folder', () => {
  it('is for its owner only, and not for repositories', async () => {
    const folder = join(newFolder(), 'new', 'one');
    await start(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of ['identity.json', 'objects.journal'])
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('is of one cluster at a time', async () => {
    const folder = newFolder();
    const first = await start(folder);
    const message = `The data in ${folder} are in use by another cluster of this process.`;
    await expect(start(folder)).rejects.toThrow(message);
    await first.stop();
    await (await start(folder)).stop();
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual(['lock-2']);
  });

  it('is of one process at a time, but not of those that are gone', async () => {
    const folder = newFolder();
    await (await start(folder)).stop();
    const lock = join(folder, 'lock-1');
    writeFileSync(lock, JSON.stringify({ pid: process.ppid, started: '' }));
    await expect(start(folder)).rejects.toThrow(`are in use by process ${process.ppid}. Stop that one`);
    // The same number, but another process; or none at all.
    writeFileSync(lock, JSON.stringify({ pid: process.ppid, started: '5' }));
    if (process.platform === 'linux') await (await start(folder)).stop();
    writeFileSync(join(folder, 'lock-7'), JSON.stringify({ pid: 2 ** 22 + 1, started: '' }));
    await (await start(folder)).stop();
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual(['lock-8']);
  });

  it('is taken by one of many who find a dead lock at the same time', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'lock-3'), JSON.stringify({ pid: 2 ** 22 + 1, started: '' }));
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => start(folder)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is not one with something else in it', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'src'));
    await expect(start(folder)).rejects.toThrow('there is src in it. Choose a new or an empty folder.');
    expect(readdirSync(folder)).toEqual(['src']);
  });

  it('is released if the cluster cannot start', async () => {
    const folder = newFolder();
    const first = await start(newFolder(), { listen: true });
    const port = Number(new URL(first.url).port);
    await expect(start(folder, { listen: true, port })).rejects.toThrow('EADDRINUSE');
    await start(folder);
  });

  it.each(['', '{}', '{"token":"a","accountsKey":"b","authority":{"key":"c","cert":"d"}}'])(
    'with keys that are damaged says so: %j',
    async (content) => {
      const folder = newFolder();
      await (await start(folder)).stop();
      writeFileSync(join(folder, 'identity.json'), content);
      await expect(start(folder)).rejects.toThrow('cannot be read. Bring the file back from a copy; or remove it');
    },
  );
});
