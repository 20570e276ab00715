import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { createServer, type SecureContextOptions } from 'node:tls';
import type { ConnectionInfo, KubeClient } from '@kopf-ts/core';
import { manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { autoServer } from '../../src/index.js';
import { detectHost, hostByCertificate, hostByVersion } from '../../src/servers/cluster-detection.js';
import { ask, localMaterial, NO_CLIENT, served } from './support.js';

/** An API server, as far as it can be told from outside. */
async function apiServer(
  secure: SecureContextOptions,
): Promise<AsyncDisposable & { connection(): Promise<ConnectionInfo> }> {
  const server = createServer(secure, (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const info: ConnectionInfo = { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
  return {
    connection: () => Promise.resolve(info),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function clientOf(version: unknown): KubeClient & { readonly asked: string[] } {
  const asked: string[] = [];
  const request = <T>({ path }: { path: string }): Promise<T> => {
    asked.push(path);
    return Promise.resolve(version as T);
  };
  return { ...NO_CLIENT, asked, request };
}

const parts = (others: Partial<Parameters<typeof detectHost>[0]> = {}) => ({
  client: NO_CLIENT,
  clock: manualClock(),
  logger: recordingLogger(),
  signal: new AbortController().signal,
  connection: () => Promise.reject(new Error('There is no connection.')),
  ...others,
});

const certificate = (subject: object, issuer: object = {}, subjectaltname = ''): never =>
  ({ subject, issuer, subjectaltname }) as never;

describe('by its certificate, a cluster', () => {
  it.each([
    ['subject k3s', certificate({ CN: 'k3s' }), 'host.k3d.internal'],
    ['organization k3s', certificate({ O: 'k3s' }), 'host.k3d.internal'],
    ['one of the organizations k3s', certificate({ O: ['x', 'k3s'] }), 'host.k3d.internal'],
    ['issuer k3s-…', certificate({}, { CN: 'k3s-server-ca@1600000000' }), 'host.k3d.internal'],
    ['subject minikube', certificate({ CN: 'minikube' }), 'host.minikube.internal'],
    ['issuer minikubeCA', certificate({}, { CN: 'minikubeCA' }), 'host.minikube.internal'],
    [
      'name docker-for-desktop',
      certificate({}, {}, 'DNS:a, DNS:docker-for-desktop, IP Address:10.0.0.1'),
      'host.docker.internal',
    ],
    ['nothing special', certificate({ CN: 'kube-apiserver' }, { CN: 'kubernetes' }, 'DNS:kubernetes'), undefined],
    ['a similar issuer', certificate({}, { CN: 'not-k3s-ca' }, 'DNS:docker-for-desktop.example.com'), undefined],
    ['no names', {} as never, undefined],
  ])('with %s is known or not', (_what, peer, host) => {
    expect(hostByCertificate(peer)).toBe(host);
  });
});

it.each([
  ['v1.36.4+k3s1', 'host.k3d.internal'],
  ['v1.36.4', undefined],
  ['', undefined],
])('by its version, %s is of %s', (version, host) => {
  expect(hostByVersion(version)).toBe(host);
});

describe('detection', () => {
  it('looks at the certificate first, and does not ask for more if it tells enough', async () => {
    await using server = await apiServer((await localMaterial('minikube')).secure);
    const client = clientOf({ gitVersion: 'v1.36.4+k3s1' });
    expect(await detectHost(parts({ client, connection: server.connection }))).toBe('host.minikube.internal');
    expect(client.asked).toEqual([]);
  });

  it('asks for the version if the certificate tells nothing', async () => {
    await using server = await apiServer((await localMaterial('kubernetes')).secure);
    const client = clientOf({ gitVersion: 'v1.36.4+k3s1' });
    expect(await detectHost(parts({ client, connection: server.connection }))).toBe('host.k3d.internal');
    expect(client.asked).toEqual(['/version']);
  });

  it.each([
    ['the API server is not there', 'https://127.0.0.1:1'],
    ['it has no TLS', 'http://127.0.0.1:1'],
    ['its address is nonsense', 'nonsense'],
  ])('goes on with the version if %s', async (_what, address) => {
    const client = clientOf({ gitVersion: 'v1.36.4+k3s1' });
    const connection = () => Promise.resolve({ server: address });
    expect(await detectHost(parts({ client, connection }))).toBe('host.k3d.internal');
  });

  it('does not wait for a server that never shakes hands', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clock = manualClock();
    const detected = detectHost(parts({ clock, connection: () => Promise.resolve({ server: address }) }));
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(5);
    expect(await detected).toBeUndefined();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([[null], ['v1'], [{}], [{ gitVersion: 1 }]])('knows nothing by the answer %j', async (version) => {
    expect(await detectHost(parts({ client: clientOf(version) }))).toBeUndefined();
  });

  it('knows nothing if nothing works, and says why', async () => {
    const logger: RecordingLogger = recordingLogger();
    expect(await detectHost(parts({ logger }))).toBeUndefined();
    expect(logger.messages('debug')).toEqual([
      expect.stringContaining('There is no connection.'),
      expect.stringContaining('There is no cluster.'),
    ]);
  });

  it('stops when aborted', async () => {
    const aborting = new AbortController();
    const connection = () => {
      aborting.abort(new Error('Enough.'));
      return Promise.resolve({ server: 'https://127.0.0.1:1' });
    };
    await expect(detectHost(parts({ connection, signal: aborting.signal }))).rejects.toThrow('Enough.');
  });
});

describe('the automatic server', () => {
  const options = { insecure: true, addr: '127.0.0.1' } as const;

  it('uses the name that was found, and says so', async () => {
    await using server = await served(autoServer(options), { client: clientOf({ gitVersion: 'v1+k3s1' }) });
    expect(server.url).toMatch(/^http:\/\/host\.k3d\.internal:\d+$/);
    expect(server.logger.messages('info').join()).toMatch(/knows this machine as host\.k3d\.internal/);
  });

  it('is a simple local server otherwise, and says so', async () => {
    await using server = await served(autoServer(options));
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.logger.messages('info').join()).toMatch(/plain local server/);
    expect((await ask(`${server.url}/fn`)).status).toBe(200);
  });

  it.each([{ host: 'somehost' }, { url: 'https://somehost' }])('does not look if it is told: %j', async (told) => {
    const client = clientOf({ gitVersion: 'v1+k3s1' });
    await using server = await served(autoServer({ ...options, ...told }), { client });
    expect(new URL(server.url).hostname).toBe('somehost');
    expect(client.asked).toEqual([]);
  });

  it('ends quietly if aborted while looking', async () => {
    const aborting = new AbortController();
    const connection = () => {
      aborting.abort(new Error('Enough.'));
      return Promise.reject(new Error('There is no connection.'));
    };
    const server = served(autoServer(options), { connection, signal: aborting.signal });
    await expect(server).rejects.toThrow('The server has ended.');
  });
});
