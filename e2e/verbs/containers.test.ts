/** Logs and commands: by our client and by kubectl, on simulated pods and by the real API server with a kubelet of ours. */
import { randomBytes } from 'node:crypto';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { kubeClient } from '@kopf-ts/client';
import { type Api, api as apiOver, type KubeClient } from '@kopf-ts/core';
import { systemClock } from '@kopf-ts/reactor';
import { recordingLogger } from '@kopf-ts/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCertificates } from '../controlplane/certificates.js';
import { runKubectl } from '../controlplane/index.js';
import { newNamespace } from '../support/objects.js';
import { eventually } from '../support/operators/operators.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { type FakeKubelet, type KubeletRequest, startFakeKubelet } from './fake-kubelet.js';

describeOnRealCluster('kubectl and simulated pods', () => {
  let cluster: LocalCluster;
  let kubeconfig: string;
  beforeAll(async () => {
    cluster = await localCluster({ tls: true, controllers: 'simulated', pods: { startAfter: 0 } });
    kubeconfig = await cluster.kubeconfigFile();
    const annotations = {
      'simulation.kopf-ts.dev/log': 'one\ntwo\nthree\n',
      'simulation.kopf-ts.dev/exec': JSON.stringify({
        date: { stdout: 'today\n' },
        'test -f x': { stderr: 'no x\n', exitCode: 3 },
      }),
    };
    const spec = { containers: [{ name: 'app', image: 'app' }] };
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'default', annotations },
      spec,
    });
    await eventually(() => expect(cluster.get('pods/default/web')).toMatchObject({ status: { phase: 'Running' } }));
  });
  afterAll(() => cluster?.stop());
  const kubectl = (...args: string[]): Promise<string> => runKubectl({ ...realCluster(), kubeconfig }, args);

  it('prints logs, and the ends of them', async () => {
    expect(await kubectl('logs', 'web')).toBe('one\ntwo\nthree\n');
    expect(await kubectl('logs', 'web', '--tail=1')).toBe('three\n');
    await expect(kubectl('logs', 'web', '-c', 'nope')).rejects.toThrow(/container nope is not valid for pod web/);
  });

  it('follows logs until the pod ends', async () => {
    let printed = '';
    const following = runKubectl({ ...realCluster(), kubeconfig }, ['logs', 'web', '-f', '--tail=1'], {
      onOutput(text) {
        printed += text;
      },
    });
    await eventually(() => expect(printed).toBe('three\n'));
    cluster.simulation.print('default/web', 'four');
    await cluster.api('pods').delete('web', { gracePeriodSeconds: 0 });
    expect(await following).toBe('three\nfour\n');
  });

  it('runs commands', async () => {
    const annotations = {
      'simulation.kopf-ts.dev/exec': JSON.stringify({ date: { stdout: 'today\n' }, false: { exitCode: 3 } }),
    };
    const spec = { containers: [{ name: 'app', image: 'app' }] };
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'db', namespace: 'default', annotations },
      spec,
    });
    await eventually(() => expect(cluster.get('pods/default/db')).toMatchObject({ status: { phase: 'Running' } }));
    expect(await kubectl('exec', 'db', '--', 'date')).toBe('today\n');
    await expect(kubectl('exec', 'db', '--', 'false')).rejects.toThrow(/exit code 3/);
    await expect(kubectl('exec', 'db', '--', 'rm')).rejects.toThrow(/say what it answers by the annotation/);
    await expect(kubectl('exec', 'none', '--', 'date')).rejects.toThrow(/pods "none" not found/);
  });
});

describeOnRealCluster('the real API server, with a kubelet of ours behind it', () => {
  let kubelet: FakeKubelet;
  let client: KubeClient & { close(): Promise<void> };
  let api: Api;
  const node = `node-${randomBytes(4).toString('hex')}`;

  beforeAll(async () => {
    const { server } = await makeCertificates();
    kubelet = await startFakeKubelet(server, {
      async *log({ query }: KubeletRequest) {
        yield 'one\n\nthr';
        yield 'ee\n';
        if (query.get('follow') === 'true') {
          await new Promise((resolve) => setTimeout(resolve, 200));
          yield 'four\n';
        }
      },
      exec: ({ query }) => ({ stdout: `${query.getAll('command').join(' ')}\n`, stderr: 'hm\n', exitCode: 3 }),
    });
    const { url, ca, token } = realCluster();
    client = kubeClient({ connection: { server: url, ca, token }, clock: systemClock, logger: recordingLogger() });
    const namespace = await newNamespace(client);
    api = apiOver(client, { namespace });
    await api('nodes').create({ metadata: { name: node } });
    await api('nodes').status.patch(node, {
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
      },
    });
    await api('pods').create({
      metadata: { name: 'web' },
      spec: {
        nodeName: node,
        automountServiceAccountToken: false,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'app', image: 'app' }],
      },
    });
  });
  afterAll(async () => {
    await api?.('nodes').delete(node, { ifGone: 'ignore' });
    await client?.close();
    await kubelet?.[Symbol.asyncDispose]();
  });

  it('gives logs, followed or not', async () => {
    expect(await api('pods').log('web', { tailLines: 5, timestamps: true })).toBe('one\n\nthree\n');
    expect(kubelet.requests.at(-1)?.query.get('tailLines')).toBe('5');
    const lines: string[] = [];
    for await (const line of api('pods').log('web', { follow: true })) lines.push(line);
    expect(lines).toEqual(['one', '', 'three', 'four']);
    await expect(api('pods').log('web', { container: 'nope' })).rejects.toThrow(
      /container nope is not valid for pod web/,
    );
  });

  it('runs commands, by the protocol that it passes on as it is', async () => {
    const older: KubeClient = {
      request: (request) => client.request(request),
      stream: (request) => client.stream(request),
      connect: (request) =>
        (client.connect as NonNullable<KubeClient['connect']>)({ ...request, protocols: ['v4.channel.k8s.io'] }),
    };
    const { metadata } = await api('pods').get('web');
    const verbs = apiOver(older, { namespace: metadata?.namespace });
    const result = await verbs('pods').exec('web', ['echo', 'grün & mehr']);
    expect(result).toEqual({ stdout: 'echo grün & mehr\n', stderr: 'hm\n', exitCode: 3 });
    await expect(verbs('pods').exec('web', ['cat'], { stdin: 'x' })).rejects.toThrow('older than Kubernetes 1.30');
  });

  it('speaks the newest protocol with us, and says what is wrong behind it', async () => {
    // It translates that one to SPDY, which our kubelet does not speak.
    await expect(api('pods').exec('web', ['date'])).rejects.toThrow(/^exec pods\.v1 .*\/web: /);
    expect(kubelet.requests.at(-1)?.upgrade).toMatch(/SPDY|websocket/i);
  });
});
