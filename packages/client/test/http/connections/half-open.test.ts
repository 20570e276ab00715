import type { Socket } from 'node:net';
import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { kubeClient } from '../../../src/index.js';
import { loopbackServer, until } from '../../helpers/servers.js';

type Death = 'silent' | 'reset';

/**
 * A server behind something that loses connections: after `cut()`, whatever is sent by those that are there is lost or
 * answered with a reset; new ones are fine.
 */
async function lossyServer(errorBackoffs: readonly number[]) {
  const alive = new Set<Socket>();
  const held: (() => void)[] = [];
  const sentInVain: string[] = [];
  let isHolding = false;
  let death: Death = 'silent';
  const dead = new WeakSet<Socket>();
  const server = await loopbackServer((request, response) => {
    const { socket } = request;
    if (dead.has(socket)) {
      sentInVain.push(request.url ?? '');
      if (death === 'reset') socket.resetAndDestroy();
      return;
    }
    alive.add(socket);
    const answer = (): void => void response.end('{"fine":true}\n');
    if (request.url?.includes('quiet')) response.write('{"quiet":true}\n');
    else if (isHolding) held.push(answer);
    else answer();
  });
  const clock = manualClock();
  const client = kubeClient({
    connection: { server: server.url },
    clock,
    logger: recordingLogger(),
    settings: settings({ networking: { errorBackoffs, headersTimeout: 30, connectTimeout: 5 } }),
  });
  return {
    client,
    clock,
    sentInVain,
    /** Leaves so many idle connections behind. */
    async warmUp(count: number) {
      isHolding = true;
      const requests = Array.from({ length: count }, (_, number) =>
        client.request({ method: 'GET', path: `/apis/example.com/v1/kinds${number}` }),
      );
      await until(() => held.length === count, 'all requests');
      isHolding = false;
      for (const answer of held.splice(0)) answer();
      await Promise.all(requests);
      await idle();
    },
    cut(how: Death) {
      death = how;
      for (const socket of alive) dead.add(socket);
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A connection is free a moment later than its answer is there. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const firstLine = (client: ReturnType<typeof kubeClient>, path = '/api/v1/pods?watch=true') =>
  client
    .stream({ ...get, path })
    [Symbol.asyncIterator]()
    .next();

describe('idle connections that have died in silence', () => {
  it.each([2, 5, 20])('cost one timeout, not one for each of %i', async (count) => {
    await using cluster = await lossyServer([1]);
    await cluster.warmUp(count);
    cluster.cut('silent');
    const request = cluster.client.request(get);
    await until(() => cluster.sentInVain.length === 1, 'the request to be lost');
    await cluster.clock.advance(31);
    const others = Array.from({ length: count }, () => cluster.client.request(get));
    await expect(Promise.all([request, ...others])).resolves.toHaveLength(count + 1);
    expect(cluster.sentInVain).toEqual([get.path]);
    expect(cluster.clock.now()).toBe(31);
  });

  it.each([3, 10])('cost one failure where they answer with a reset, not one for each of %i', async (count) => {
    await using cluster = await lossyServer([1]);
    await cluster.warmUp(count);
    cluster.cut('reset');
    const request = cluster.client.request(get);
    await until(() => cluster.clock.sleepers > 0 && cluster.sentInVain.length === 1, 'the first attempt to fail');
    await cluster.clock.settle();
    await until(() => cluster.clock.nextWakeup === 1, 'the pause before the next attempt');
    await cluster.clock.advance(1);
    const others = Array.from({ length: count }, () => cluster.client.request(get));
    await expect(Promise.all([request, ...others])).resolves.toHaveLength(count + 1);
    expect(cluster.sentInVain).toEqual([get.path]);
  });

  it('are not used for streams and for urgent requests either, once one of them is known to be dead', async () => {
    await using cluster = await lossyServer([]);
    const { client, clock } = cluster;
    await firstLine(client);
    await client.request({ ...get, urgent: true });
    await cluster.warmUp(4);
    cluster.cut('silent');
    const request = expect(client.request(get)).rejects.toMatchObject({ code: 'KOPF_TIMEOUT' });
    await until(() => cluster.sentInVain.length === 1, 'the request to be lost');
    await clock.advance(30);
    await request;
    await expect(firstLine(client)).resolves.toMatchObject({ value: { fine: true } });
    await expect(client.request({ ...get, urgent: true })).resolves.toEqual({ fine: true });
    expect(cluster.sentInVain).toHaveLength(1);
  });

  it.each([70, 7])('are not used after a stream that was left for its silence of %i seconds', async (seconds) => {
    await using cluster = await lossyServer([]);
    const { client, clock } = cluster;
    const control = new AbortController();
    await cluster.warmUp(4);
    const stream = client.stream({ ...get, path: '/quiet', signal: control.signal })[Symbol.asyncIterator]();
    await stream.next();
    const next = expect(stream.next()).rejects.toThrow('inactive');
    cluster.cut('silent');
    await clock.advance(seconds);
    control.abort(new Error('inactive'));
    await next;
    await expect(client.request(get)).resolves.toEqual({ fine: true });
    expect(cluster.sentInVain).toEqual([]);
  });

  it('are told from those that are fine: requests on their way and streams go on', async () => {
    await using cluster = await lossyServer([]);
    const { client, clock } = cluster;
    const stream = client.stream({ ...get, path: '/quiet' })[Symbol.asyncIterator]();
    await stream.next();
    await cluster.warmUp(3);
    cluster.cut('silent');
    const request = expect(client.request(get)).rejects.toMatchObject({ code: 'KOPF_TIMEOUT' });
    await until(() => cluster.sentInVain.length === 1, 'the request to be lost');
    await clock.advance(30);
    await request;
    const next = stream.next();
    const ending = expect(next).rejects.toMatchObject({ code: 'KOPF_CLIENT_CLOSED' });
    await client.request(get);
    await client.close();
    await ending;
  });
});
