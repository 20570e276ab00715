import { createServer } from 'node:net';
import { type Settings, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { KubeTimeoutError, kubeClient } from '../../../src/index.js';
import { loopbackServer, until } from '../../helpers/servers.js';

const limits = { errorBackoffs: [], connectTimeout: 5, headersTimeout: 30, requestTimeout: 300 };

async function clientOf(server: string, networking: Partial<Settings['networking']> = {}, watching = {}) {
  const clock = manualClock();
  const client = kubeClient({
    connection: { server, insecure: true },
    clock,
    logger: recordingLogger(),
    settings: settings({ networking: { ...limits, ...networking }, watching }),
  });
  return { client, clock };
}

/** Accepts connections, and says nothing: as if it were TLS, the connection never comes to be. */
async function muteServer() {
  let accepted = 0;
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    url: `https://127.0.0.1:${port}`,
    get accepted() {
      return accepted;
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe('a request is limited', () => {
  it.each([
    ['by the settings', {}, 5],
    ['by its own limit', { connect: 2 }, 2],
  ])('in connecting, %s', async (_title, timeouts, limit) => {
    using mute = await muteServer();
    const { client, clock } = await clientOf(mute.url);
    const request = client.request({ method: 'GET', path: '/', timeouts });
    const failure = expect(request).rejects.toThrow(`There was no connection to ${mute.url} within ${limit}s.`);
    await until(() => mute.accepted === 1);
    await clock.advance(limit);
    await failure;
    await client.close();
    expect(clock.sleepers).toBe(0);
  });

  it.each([
    ['by the settings', {}, 30],
    ['by its own limit', { headers: 3 }, 3],
  ])('in waiting for the headers, %s', async (_title, timeouts, limit) => {
    let requests = 0;
    await using server = await loopbackServer(() => {
      requests++;
    });
    const { client, clock } = await clientOf(server.url);
    const request = client.request({ method: 'GET', path: '/', timeouts });
    const failure = expect(request).rejects.toThrow(`There was no answer from ${server.url} within ${limit}s.`);
    await until(() => requests === 1);
    await clock.advance(limit);
    await failure;
    await until(() => server.connections.open === 0, 'the connection to be closed');
    await client.close();
  });

  it.each([
    ['by the settings', {}, 300],
    ['by its own limit', { total: 4 }, 4],
  ])('in total, %s', async (_title, timeouts, limit) => {
    let requests = 0;
    await using server = await loopbackServer((_request, response) => {
      requests++;
      response.write('{"a":');
    });
    const { client, clock } = await clientOf(server.url, { headersTimeout: undefined });
    const request = client.request({ method: 'GET', path: '/', timeouts });
    const failure = expect(request).rejects.toThrow(`was not complete within ${limit}s.`);
    await until(() => requests === 1);
    await clock.advance(limit);
    await failure;
    await until(() => server.connections.open === 0, 'the connection to be closed');
    await client.close();
  });

  it('by nothing, if the settings say so', async () => {
    let answer = (): void => {};
    await using server = await loopbackServer((_request, response) => {
      answer = () => response.end('{"late":true}');
    });
    const nothing = { connectTimeout: undefined, headersTimeout: undefined, requestTimeout: undefined };
    const { client, clock } = await clientOf(server.url, nothing);
    let requests = 0;
    server.server.on('request', () => requests++);
    const request = client.request({ method: 'GET', path: '/' });
    await until(() => requests === 1);
    await clock.advance(1_000_000);
    answer();
    await expect(request).resolves.toEqual({ late: true });
    await client.close();
  });

  it('for each attempt anew', async () => {
    let requests = 0;
    await using server = await loopbackServer((_request, response) => {
      if (++requests === 2) response.end('{"second":true}');
    });
    const { client, clock } = await clientOf(server.url, { errorBackoffs: [1] });
    const request = client.request({ method: 'GET', path: '/' });
    await until(() => requests === 1);
    await clock.advance(31);
    await expect(request).resolves.toEqual({ second: true });
    expect(clock.sleepers).toBe(0);
    await client.close();
  });
});

describe('a stream is limited', () => {
  it('in total by the setting for streams, or by its own limit', async () => {
    await using server = await loopbackServer((_request, response) => {
      response.write('{"n":1}\n');
    });
    const { client, clock } = await clientOf(server.url, {}, { clientTimeout: 100 });
    for (const [timeouts, limit] of [
      [{}, 100],
      [{ total: 7 }, 7],
    ] as const) {
      const stream = client.stream({ method: 'GET', path: '/', timeouts })[Symbol.asyncIterator]();
      await expect(stream.next()).resolves.toMatchObject({ value: { n: 1 } });
      const next = stream.next();
      const failure = expect(next).rejects.toBeInstanceOf(KubeTimeoutError);
      await clock.advance(limit);
      await failure;
    }
    await until(() => server.connections.open === 0, 'the connections to be closed');
    await client.close();
  });

  it('not by the limit of ordinary requests', async () => {
    await using server = await loopbackServer((_request, response) => {
      response.write('{"n":1}\n');
      server.server.once('more', () => response.end('{"n":2}\n'));
    });
    const { client, clock } = await clientOf(server.url);
    const stream = client.stream({ method: 'GET', path: '/' })[Symbol.asyncIterator]();
    await stream.next();
    const next = stream.next();
    await clock.advance(10_000);
    server.server.emit('more');
    await expect(next).resolves.toMatchObject({ value: { n: 2 } });
    await client.close();
  });

  it('in connecting by the first of the settings that is there', async () => {
    using mute = await muteServer();
    for (const [watching, networking, limit] of [
      [{ connectTimeout: 1 }, {}, 1],
      [{ connectTimeout: undefined }, {}, 5],
      [{ connectTimeout: undefined }, { connectTimeout: undefined }, 300],
    ] as const) {
      const { client, clock } = await clientOf(mute.url, networking, watching);
      const before = mute.accepted;
      const failure = expect(
        client.stream({ method: 'GET', path: '/' })[Symbol.asyncIterator]().next(),
      ).rejects.toThrow(`no connection to ${mute.url} within ${limit}s`);
      await until(() => mute.accepted === before + 1);
      await clock.advance(limit);
      await failure;
      await client.close();
    }
  });
});
