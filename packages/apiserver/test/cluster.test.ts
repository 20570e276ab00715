import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ApiUnauthorizedError } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { localCluster } from '../src/index.js';

describe('objectHelpers', () => {
  const yaml = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: things, kind: Thing }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---
apiVersion: example.com/v1
kind: Thing
metadata: { name: one }
spec: { a: 1, b: 2 }
`;

  it('documents are applied in turn, and again', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    await cluster.apply(yaml);
    await cluster.apply({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' }, spec: { b: 3 } });
    expect(cluster.get('things/default/one')).toMatchObject({ spec: { a: 1, b: 3 } });
  });

  it('a name of a file is not taken for a text', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    await expect(cluster.apply('obj.yaml')).rejects.toThrow(
      /^There are no objects in "obj.yaml". The texts of objects/,
    );
  });

  it('any number of requests can have one signal', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    const warnings: Error[] = [];
    const listen = (warning: Error): number => warnings.push(warning);
    process.on('warning', listen);
    const { signal } = new AbortController();
    const requests = Array.from({ length: 12 }, () =>
      cluster.client.request({ method: 'GET', path: '/version', signal }),
    );
    await Promise.all(requests);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });

  it('things are found by any of their names', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
    for (const kind of ['configmaps', 'configmap', 'ConfigMap', 'cm', 'configmaps.v1']) {
      expect(cluster.get(`${kind}/default/x`)).toBeDefined();
    }
    expect(cluster.get('configmaps/default/y')).toBeUndefined();
    expect(() => cluster.get('nothings/default/x')).toThrow('There is no kind "nothings" in this cluster.');
    expect(() => cluster.get('namespaces/default/x')).toThrow('too many parts');
  });

  it('what is given out is nobody else’s', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    const given = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: 'b' } };
    const created = await cluster.create(given);
    given.data.a = 'changed';
    created.data.a = 'changed';
    expect(cluster.get('cm/default/x')).toMatchObject({ data: { a: 'b' } });
  });

  it('deleting what is not there is fine', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    await expect(cluster.delete('cm/default/nothing')).resolves.toBeUndefined();
  });
});

describe('life', () => {
  it('it is settled when nothing happens any more', async () => {
    await using cluster = await localCluster({ clock: manualClock() });
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
    for (let index = 0; index < 10; index++) {
      await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${index}`, namespace: 'n' } });
    }
    await cluster.delete('namespaces/n');
    await cluster.settled();
    expect(cluster.list('cm')).toEqual([]);
    expect(cluster.get('namespaces/n')).toBeUndefined();
  });

  it('it stops with its watches and its port, also twice', async () => {
    const cluster = await localCluster({ clock: manualClock() });
    const { url } = cluster;
    const events: unknown[] = [];
    const watching = (async () => {
      for await (const event of cluster.client.stream({ method: 'GET', path: '/api/v1/pods?watch=1' }))
        events.push(event);
    })();
    await cluster.settled();
    await Promise.all([cluster.stop(), cluster.stop()]);
    await watching;
    expect(events).toEqual([]);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('it restarts on the same port with the same data', async () => {
    await using cluster = await localCluster();
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
    const { url } = cluster;
    await cluster.faults.restart();
    expect(cluster.url).toBe(url);
    const response = await fetch(`${url}/api/v1/configmaps`, { headers: { authorization: `Bearer ${cluster.token}` } });
    expect(await response.json()).toMatchObject({ items: [{ metadata: { name: 'x' } }] });
  });

  it('several clusters do not know of each other', async () => {
    await using one = await localCluster({ clock: manualClock() });
    await using two = await localCluster({ clock: manualClock() });
    await one.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
    expect(two.list('cm')).toEqual([]);
    expect(one.url).not.toBe(two.url);
  });
});

describe('the in-process client', () => {
  it('requests end when their signals say so', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    const request = { method: 'GET', path: '/api/v1/pods', signal: AbortSignal.abort(new Error('no more')) } as const;
    await expect(cluster.client.request(request)).rejects.toThrow('no more');
  });

  it('faults are met there as well', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    cluster.faults.add({ answer: { status: 401 }, times: 1 });
    await expect(cluster.client.request({ method: 'GET', path: '/api/v1/pods' })).rejects.toBeInstanceOf(
      ApiUnauthorizedError,
    );
    await expect(cluster.client.request({ method: 'GET', path: '/api/v1/pods' })).resolves.toMatchObject({
      kind: 'PodList',
    });
  });
});

it('kubeconfigs are for their owner only', async () => {
  await using cluster = await localCluster({ clock: manualClock() });
  const file = await cluster.kubeconfigFile();
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
  expect(cluster.kubeconfig()).toContain(cluster.url);
});

/** Where there is kubectl, it must get along with us. */
const kubectl = process.env['KUBECTL'] ?? 'kubectl';
const hasKubectl = await promisify(execFile)(kubectl, ['version', '--client']).then(
  () => true,
  () => false,
);

it.runIf(hasKubectl)('kubectl gets along with it', async () => {
  await using cluster = await localCluster({ tls: true });
  const kubeconfig = await cluster.kubeconfigFile();
  const run = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(kubectl, ['--kubeconfig', kubeconfig, ...args])).stdout;
  await run('create', 'configmap', 'one', '--from-literal=a=b');
  expect(await run('get', 'configmaps', '-o', 'name')).toBe('configmap/kube-root-ca.crt\nconfigmap/one\n');
  expect(await run('get', 'cm', 'one', '-o', 'jsonpath={.data.a}')).toBe('b');
  expect(await run('get', 'cm', 'one')).toMatch(/^NAME\s+DATA\s+AGE\none\s+1\s+\d+s\n$/);
  await run('create', 'deployment', 'web', '--image=nginx', '--replicas=2', '--port=80');
  expect(cluster.get('deployments/default/web')).toMatchObject({
    metadata: { labels: { app: 'web' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { spec: { containers: [{ name: 'nginx', image: 'nginx', ports: [{ containerPort: 80 }] }] } },
    },
  });
  await run('create', 'service', 'clusterip', 'web', '--tcp=80:http');
  expect(cluster.get('services/default/web')?.spec).toMatchObject({ ports: [{ port: 80, targetPort: 'http' }] });
  await run('create', 'secret', 'generic', 'hidden', '--from-literal=a=b');
  expect(cluster.get('secrets/default/hidden')?.data).toEqual({ a: 'Yg==' });
  await run('label', 'cm', 'one', 'x=y');
  expect(cluster.get('cm/default/one')?.metadata?.labels).toEqual({ x: 'y' });
  await run('delete', 'cm', 'one');
  // Each namespace has the root's certificates.
  expect(new Set(cluster.list('cm').map(({ metadata }) => metadata?.name))).toEqual(new Set(['kube-root-ca.crt']));
});

it('answers are not kept by a wait for a pause that never comes', async () => {
  await using cluster = await localCluster({ listen: false, clock: manualClock() });
  const waiting = () => process.getActiveResourcesInfo().filter((name) => name === 'Immediate').length;
  const before = waiting();
  // Nothing but promises in between: the process has no pause for anything else.
  for (let count = 0; count < 20; count++) await cluster.client.request({ method: 'GET', path: '/api/v1/namespaces' });
  expect(waiting()).toBeLessThanOrEqual(before);
});
