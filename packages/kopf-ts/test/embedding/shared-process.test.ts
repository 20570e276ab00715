import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { systemClock } from '@kopf-ts/reactor';
import { client as clients, createRegistry, type Operator, operator } from 'kopf-ts';
import { recordingLogger } from 'kopf-ts/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

/** What the application does besides: it is asked, and answers. */
async function application(): Promise<() => Promise<string>> {
  const server = createServer((_request, response) => void response.end('alive'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return () =>
    new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent: false }, (response) => {
        response.setEncoding('utf8').on('data', resolve);
      }).on('error', reject);
    });
}

/** In real time and over real sockets: this is about what is shared by all in a process. */
async function newCluster(): Promise<LocalCluster> {
  const cluster = await localCluster();
  onTestFinished(() => cluster.stop());
  await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' });
  return cluster;
}

function startOperator(cluster: LocalCluster, title: string, calls: string[]): Operator {
  const registry = createRegistry();
  registry.on.login({ id: 'login' }, () => ({ server: cluster.url, token: cluster.token }));
  registry.on.create('kopfexamples', { id: 'created' }, ({ name }) => void calls.push(`${title}: ${name}`));
  registry.daemon('kopfexamples', { id: 'served' }, async ({ stopped, name }) => {
    await new Promise((resolve) => stopped.addEventListener('abort', resolve));
    calls.push(`${title}: ${name} is left`);
  });
  registry.on.cleanup({ id: 'cleanup' }, () => void calls.push(`${title}: cleanup`));
  const started = operator({ registry, clusterwide: true, standalone: true, logger: recordingLogger() });
  onTestFinished(() => started.stop());
  return started;
}

const create = (cluster: LocalCluster, name: string) =>
  cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name, namespace: 'default' } });

/** Far more than it takes: it is a matter of whether, not of when. */
const PATIENCE = { timeout: 20_000 };

describe('operators in an application', { timeout: 60_000 }, () => {
  it('work beside each other and beside a server; and one is stopped without the others noticing', async () => {
    const [ask, left, right] = [await application(), await newCluster(), await newCluster()];
    const [leftCalls, rightCalls]: [string[], string[]] = [[], []];
    const signals = ['SIGINT', 'SIGTERM'].map((name) => process.listenerCount(name));
    const leftOperator = startOperator(left, 'left', leftCalls);
    const rightOperator = startOperator(right, 'right', rightCalls);
    await Promise.all([leftOperator.ready, rightOperator.ready]);
    expect(await ask()).toBe('alive');

    await Promise.all([create(left, 'one'), create(right, 'two')]);
    await vi.waitFor(() => expect([leftCalls, rightCalls]).toEqual([['left: one'], ['right: two']]), PATIENCE);

    await leftOperator.stop();
    expect(leftCalls).toEqual(['left: one', 'left: one is left', 'left: cleanup']);
    expect(await ask()).toBe('alive');

    await Promise.all([create(left, 'three'), create(right, 'four')]);
    await vi.waitFor(() => expect(rightCalls).toEqual(['right: two', 'right: four']), PATIENCE);
    expect(leftCalls).toHaveLength(3);
    // The process is not theirs: neither its signals nor its end.
    expect(['SIGINT', 'SIGTERM'].map((name) => process.listenerCount(name))).toEqual(signals);
    await rightOperator.stop();
    expect(await ask()).toBe('alive');
  });

  it('do not end what the application has begun meanwhile', async () => {
    const cluster = await newCluster();
    const started = startOperator(cluster, 'left', []);
    await started.ready;
    const connection = { server: cluster.url, token: cluster.token };
    const client = clients.kubeClient({ connection, clock: systemClock, logger: recordingLogger() });
    onTestFinished(() => client.close());
    const events = client.stream({ method: 'GET', path: '/api/v1/configmaps?watch=true' })[Symbol.asyncIterator]();
    const first = events.next();
    await started.stop();
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own', namespace: 'default' } });
    expect(await first).toMatchObject({ value: { type: 'ADDED', object: { metadata: { name: 'own' } } } });
    await events.return?.();
  });

  it('can be started again after they were stopped', async () => {
    const cluster = await newCluster();
    const calls: string[] = [];
    for (const name of ['one', 'two']) {
      const started = startOperator(cluster, 'left', calls);
      await started.ready;
      await create(cluster, name);
      await vi.waitFor(() => expect(calls).toContain(`left: ${name}`), PATIENCE);
      await started.stop();
    }
    expect(calls.filter((call) => /^left: (one|two)$/.test(call))).toEqual(['left: one', 'left: two']);
  });
});
