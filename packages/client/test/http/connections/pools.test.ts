import { type ConnectionInfo, type Credentials, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { kubeClient } from '../../../src/index.js';
import { loopbackServer, until } from '../../helpers/servers.js';

const get = { method: 'GET', path: '/' } as const;
/** Of as many kinds as it takes to have all connections in use: one kind does not get them all. */
const ofKind = (number: number) => ({ method: 'GET', path: `/apis/example.com/v1/kinds${number % 16}` }) as const;

function clientFor(current: () => ConnectionInfo) {
  const credentials: Credentials = { current: async () => current(), invalidate: () => {} };
  return kubeClient({ credentials, clock: manualClock(), logger: recordingLogger(), settings: settings() });
}

describe('connections', () => {
  it('are kept alive between requests', async () => {
    await using server = await loopbackServer((_request, response) => response.end('{}'));
    await using client = clientFor(() => ({ server: server.url }));
    for (let count = 0; count < 20; count++) await client.request(get);
    expect(server.connections.ever).toBeLessThanOrEqual(2);
  });

  it('are kept when only the token changes', async () => {
    const tokens: (string | undefined)[] = [];
    await using server = await loopbackServer((request, response) => {
      tokens.push(request.headers.authorization);
      response.end('{}');
    });
    let number = 0;
    await using client = clientFor(() => ({ server: server.url, token: `t${number++}` }));
    for (let count = 0; count < 20; count++) await client.request(get);
    expect(new Set(tokens).size).toBe(20);
    expect(server.connections.ever).toBeLessThanOrEqual(2);
  });

  it('are as many as there are requests at once, up to a limit; the others wait for their turn', async () => {
    const release: (() => void)[] = [];
    await using server = await loopbackServer((_request, response) => {
      release.push(() => response.end('{}'));
    });
    await using client = clientFor(() => ({ server: server.url }));
    const requests = Array.from({ length: 50 }, (_, number) => client.request(ofKind(number)));
    await until(() => release.length === 32, 'the first requests');
    for (const answer of release.splice(0)) answer();
    await until(() => release.length === 18, 'the other requests');
    for (const answer of release) answer();
    await Promise.all(requests);
    expect(server.connections.ever).toBeLessThanOrEqual(32);
  });

  it('are not waited for by requests that are not needed any more', async () => {
    const release: (() => void)[] = [];
    await using server = await loopbackServer((_request, response) => {
      release.push(() => response.end('{}'));
    });
    await using client = clientFor(() => ({ server: server.url }));
    const busy = Array.from({ length: 32 }, (_, number) => client.request(ofKind(number)));
    const control = new AbortController();
    const waiting = client.request({ ...get, signal: control.signal });
    control.abort(new Error('not needed'));
    await expect(waiting).rejects.toThrow('not needed');
    await until(() => release.length === 32, 'all requests');
    for (const answer of release.splice(0)) answer();
    await Promise.all(busy);
    const next = client.request(get);
    await until(() => release.length === 1, 'the next request');
    for (const answer of release) answer();
    await expect(next).resolves.toEqual({});
  });

  it('of urgent requests are others: they do not wait for those in use', async () => {
    const release: (() => void)[] = [];
    await using server = await loopbackServer((request, response) => {
      if (request.url === '/urgent') response.end('{"urgent":true}');
      else release.push(() => response.end('{}'));
    });
    await using client = clientFor(() => ({ server: server.url }));
    const busy = Array.from({ length: 40 }, (_, number) => client.request(ofKind(number)));
    await until(() => release.length === 32, 'all turns to be taken');
    await expect(client.request({ ...get, path: '/urgent', urgent: true })).resolves.toEqual({ urgent: true });
    for (const answer of release.splice(0)) answer();
    await until(() => release.length === 8, 'the other requests');
    for (const answer of release) answer();
    await Promise.all(busy);
  });

  it('of streams are others than those of requests', async () => {
    const ports = { stream: new Set<number | undefined>(), call: new Set<number | undefined>() };
    await using server = await loopbackServer((request, response) => {
      ports[request.url === '/stream' ? 'stream' : 'call'].add(request.socket.remotePort);
      response.end('1\n');
    });
    await using client = clientFor(() => ({ server: server.url }));
    for (let turn = 0; turn < 5; turn++) {
      await client.stream({ method: 'GET', path: '/stream' })[Symbol.asyncIterator]().next();
      await client.request(get);
    }
    expect(ports.stream.size).toBeGreaterThan(0);
    expect([...ports.call].filter((port) => ports.stream.has(port))).toEqual([]);
  });

  it('of streams outlive the rotation of credentials', async () => {
    await using server = await loopbackServer((request, response) => {
      if (request.url !== '/stream') response.end('{}');
      else {
        response.write('1\n');
        server.server.once('more', () => response.end('2\n'));
      }
    });
    let number = 0;
    // Each login is to another name, and so with another pool; there are more of them than pools are kept.
    await using client = clientFor(() => ({ server: server.url, serverName: `name-${number}.example` }));
    const stream = client.stream({ method: 'GET', path: '/stream' })[Symbol.asyncIterator]();
    await stream.next();
    for (number = 1; number < 60; number++) await client.request(get);
    server.server.emit('more');
    await expect(stream.next()).resolves.toEqual({ done: false, value: 2 });
    await until(() => server.connections.open < 40, 'the connections of the forgotten pools to be closed');
  });

  it('ask the peer from time to time whether it is alive', async () => {
    await using server = await loopbackServer((_request, response) => response.end('{}'));
    const { Socket } = await import('node:net');
    const calls: unknown[][] = [];
    const original = Socket.prototype.setKeepAlive;
    Socket.prototype.setKeepAlive = function (this: InstanceType<typeof Socket>, ...args) {
      calls.push(args);
      return original.apply(this, args);
    };
    try {
      await using client = clientFor(() => ({ server: server.url }));
      await client.request(get);
    } finally {
      Socket.prototype.setKeepAlive = original;
    }
    expect(calls).toContainEqual([true, 30_000]);
  });
});

describe('a dispatcher of the user', () => {
  it('is used instead of everything, with our headers, and stays open', async () => {
    const agents: (string | undefined)[] = [];
    await using server = await loopbackServer((request, response) => {
      agents.push(request.headers['user-agent']);
      response.end('{"ok":true}');
    });
    const dispatcher = new Agent();
    const client = clientFor(() => ({ server: server.url, dispatcher, ca: 'not even looked at' }));
    await expect(client.request(get)).resolves.toEqual({ ok: true });
    await client.close();
    expect(agents).toEqual([expect.stringMatching(/^kopf-ts\//)]);
    expect(dispatcher.closed || dispatcher.destroyed).toBe(false);
    await dispatcher.close();
  });
});
