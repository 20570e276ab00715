import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ApiGoneError, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { KubeConnectionError, kubeClient } from '../../src/index.js';
import { loopbackServer, until } from '../helpers/servers.js';

const watch = { method: 'GET', path: '/api/v1/pods?watch=true' } as const;

/** A server that hands over the answers to write to, and a client of it. */
async function harness() {
  const responses: ServerResponse[] = [];
  const server = await loopbackServer((_request, response) => {
    response.on('error', () => {});
    responses.push(response);
  });
  const clock = manualClock();
  const logger = recordingLogger();
  const client = kubeClient({ connection: { server: server.url }, clock, logger, settings: settings() });
  const response = async (index = 0): Promise<ServerResponse> => {
    await until(() => responses.length > index, 'a request');
    return responses[index] as ServerResponse;
  };
  return {
    client,
    clock,
    server,
    logger,
    response,
    responses,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function collected(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

describe('a stream', () => {
  it('sends nothing before it is read, and one request for each reading', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch);
    expect(h.server.connections.ever).toBe(0);
    const reading = collected(stream);
    (await h.response(0)).end('{"n":1}\n');
    await expect(reading).resolves.toEqual([{ n: 1 }]);
    const again = collected(stream);
    (await h.response(1)).end('{"n":2}\n');
    await expect(again).resolves.toEqual([{ n: 2 }]);
  });

  it('gives the lines as they come, and ends with the answer', async () => {
    await using h = await harness();
    const stream = h.client.stream<{ n: number }>(watch)[Symbol.asyncIterator]();
    const first = stream.next();
    const response = await h.response();
    response.write('{"n":1}\n{"n"');
    await expect(first).resolves.toEqual({ done: false, value: { n: 1 } });
    const second = stream.next();
    response.write(':2}\n\n{"n":3}');
    await expect(second).resolves.toEqual({ done: false, value: { n: 2 } });
    const third = stream.next();
    response.end();
    await expect(third).resolves.toEqual({ done: false, value: { n: 3 } });
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
  });

  it('tells that the server has agreed, and then of the bytes, long before the line is complete', async () => {
    await using h = await harness();
    const progress: number[] = [];
    const onProgress = ({ bytes }: { readonly bytes: number }): void => void progress.push(bytes);
    const stream = h.client.stream({ ...watch, onProgress })[Symbol.asyncIterator]();
    const first = stream.next();
    const response = await h.response();
    expect(progress).toEqual([]);
    response.flushHeaders();
    await until(() => progress.length === 1, 'the headers');
    response.write('{"n"');
    await until(() => progress.length === 2, 'a part of the line');
    response.end(':123}\n');
    await expect(first).resolves.toEqual({ done: false, value: { n: 123 } });
    expect(progress).toEqual([0, 4, 6]);
    await stream.return?.();
  });

  it('gives the lines in order to those who ask for several at once', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch)[Symbol.asyncIterator]();
    const asked = [stream.next(), stream.next(), stream.next(), stream.next()];
    (await h.response()).end('1\n2\n3\n');
    await expect(Promise.all(asked)).resolves.toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: false, value: 3 },
      { done: true, value: undefined },
    ]);
  });

  it('keeps the connection for the next request when it ends by itself', async () => {
    await using h = await harness();
    for (let turn = 0; turn < 10; turn++) {
      const reading = collected(h.client.stream(watch));
      (await h.response(turn)).end('{}\n');
      await reading;
    }
    // The one that has just finished is free only in the next turn of the event loop; so there may be two in turns.
    expect(h.server.connections.ever).toBeLessThanOrEqual(2);
  });

  it('holds the server back while nobody reads', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch)[Symbol.asyncIterator]();
    const first = stream.next();
    const response = await h.response();
    const line = `${JSON.stringify({ data: 'x'.repeat(100_000) })}\n`;
    const total = 500;
    let written = 0;
    const write = (): void => {
      while (written < total) {
        written++;
        if (!response.write(line)) {
          response.once('drain', write);
          return;
        }
      }
      response.end();
    };
    write();
    await first;
    // Long enough for all of it to be sent, if nothing held it back.
    for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBeLessThan(total);
    let count = 1;
    while (!(await stream.next()).done) count++;
    expect(count).toBe(total);
  });

  it('delivers what had come before the connection broke, and then tells of that', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch)[Symbol.asyncIterator]();
    const first = stream.next();
    const response = await h.response();
    response.write('1\n2\n3\n');
    await first;
    response.destroy();
    await until(() => h.server.connections.open === 0);
    await expect(stream.next()).resolves.toEqual({ done: false, value: 2 });
    await expect(stream.next()).resolves.toEqual({ done: false, value: 3 });
    await expect(stream.next()).rejects.toBeInstanceOf(KubeConnectionError);
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
  });

  it('is broken by a line that is not JSON', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch)[Symbol.asyncIterator]();
    const first = stream.next();
    (await h.response()).write('1\nnonsense\n2\n');
    await first;
    await expect(stream.next()).rejects.toMatchObject({ code: 'KOPF_BAD_JSON' });
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
  });
});

describe('an error at the opening of a stream', () => {
  it('is given at once, without retries', async () => {
    await using h = await harness();
    const reading = collected(h.client.stream(watch));
    const failure = expect(reading).rejects.toMatchObject({ name: 'ApiGoneError', status: 410, message: 'too old' });
    (await h.response()).writeHead(410).end(JSON.stringify({ kind: 'Status', code: 410, message: 'too old' }));
    await failure;
    await expect(reading).rejects.toBeInstanceOf(ApiGoneError);
    expect(h.responses).toHaveLength(1);
    expect(h.logger.lines).toEqual([]);
  });

  it.each([403, 500, 503])('is given also for HTTP %i', async (status) => {
    await using h = await harness();
    const failure = expect(collected(h.client.stream(watch))).rejects.toMatchObject({ status });
    (await h.response()).writeHead(status).end();
    await failure;
    expect(h.responses).toHaveLength(1);
  });

  it('is not read for ever', async () => {
    await using h = await harness();
    const failure = expect(collected(h.client.stream(watch))).rejects.toMatchObject({ status: 500 });
    const response = await h.response();
    response.writeHead(500);
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', write);
    };
    write();
    await failure;
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
  });
});

describe('aborting a stream', () => {
  const reason = new Error('enough');

  it('before it begins, sends nothing', async () => {
    await using h = await harness();
    const signal = AbortSignal.abort(reason);
    await expect(collected(h.client.stream({ ...watch, signal }))).rejects.toBe(reason);
    expect(h.server.connections.ever).toBe(0);
  });

  it('while the headers are awaited, rejects with the reason and closes the connection', async () => {
    await using h = await harness();
    const aborting = new AbortController();
    const reading = collected(h.client.stream({ ...watch, signal: aborting.signal }));
    const failure = expect(reading).rejects.toBe(reason);
    await h.response();
    aborting.abort(reason);
    await failure;
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(0);
    expect(h.clock.sleepers).toBe(0);
  });

  it('while a line is awaited, rejects with the reason and closes the connection', async () => {
    await using h = await harness();
    const aborting = new AbortController();
    const stream = h.client.stream({ ...watch, signal: aborting.signal })[Symbol.asyncIterator]();
    const first = stream.next();
    (await h.response()).write('1\n');
    await first;
    const second = stream.next();
    const failure = expect(second).rejects.toBe(reason);
    aborting.abort(reason);
    await failure;
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(0);
  });

  it('while nobody reads, closes the connection at once and rejects at the next reading', async () => {
    await using h = await harness();
    const aborting = new AbortController();
    const stream = h.client.stream({ ...watch, signal: aborting.signal })[Symbol.asyncIterator]();
    const first = stream.next();
    (await h.response()).write('1\n2\n3\n');
    await first;
    aborting.abort(reason);
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
    await expect(stream.next()).rejects.toBe(reason);
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
  });

  it('after its end, does nothing', async () => {
    await using h = await harness();
    const aborting = new AbortController();
    const reading = collected(h.client.stream({ ...watch, signal: aborting.signal }));
    (await h.response()).end('1\n');
    await expect(reading).resolves.toEqual([1]);
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(0);
    aborting.abort(reason);
    expect(h.server.connections.open).toBe(1);
  });

  it('of very many by one signal leaves no connections and no listeners, and warns of nothing', async () => {
    await using h = await harness();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const aborting = new AbortController();
    const count = 100;
    const readings = Array.from({ length: count }, () =>
      collected(h.client.stream({ ...watch, signal: aborting.signal })),
    );
    const failures = Promise.all(readings.map((reading) => expect(reading).rejects.toBe(reason)));
    for (let index = 0; index < count; index++) (await h.response(index)).write('1\n');
    aborting.abort(reason);
    await failures;
    await until(() => h.server.connections.open === 0, 'the connections to be closed');
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(0);
    expect(h.clock.sleepers).toBe(0);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

describe('leaving a stream', () => {
  it('in the middle closes the connection', async () => {
    await using h = await harness();
    void h.response().then((response) => response.write('1\n2\n3\n'));
    const seen: unknown[] = [];
    for await (const item of h.client.stream(watch)) {
      seen.push(item);
      if (item === 2) break;
    }
    expect(seen).toEqual([1, 2]);
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
  });

  it('while a line is awaited ends that, too', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch)[Symbol.asyncIterator]();
    const first = stream.next();
    (await h.response()).write('1\n');
    await first;
    const second = stream.next();
    await stream.return?.();
    await expect(second).resolves.toEqual({ done: true, value: undefined });
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
  });

  it('while the headers are awaited ends that, too', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch)[Symbol.asyncIterator]();
    const first = stream.next();
    await h.response();
    await stream.return?.();
    await expect(first).resolves.toEqual({ done: true, value: undefined });
    await until(() => h.server.connections.open === 0, 'the connection to be closed');
  });

  it('before it begins, sends nothing', async () => {
    await using h = await harness();
    const stream = h.client.stream(watch)[Symbol.asyncIterator]();
    await stream.return?.();
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
    expect(h.server.connections.ever).toBe(0);
  });
});

describe('closing the client', () => {
  it('breaks requests and streams, closes the connections, and lets nothing more be sent', async () => {
    await using h = await harness();
    const request = h.client.request(watch);
    const stream = collected(h.client.stream(watch));
    const closed = { code: 'KOPF_CLIENT_CLOSED' };
    const failures = Promise.all([
      expect(request).rejects.toMatchObject(closed),
      expect(stream).rejects.toMatchObject(closed),
    ]);
    await h.response(1);
    await h.client.close();
    await failures;
    await until(() => h.server.connections.open === 0, 'the connections to be closed');
    await expect(h.client.request(watch)).rejects.toMatchObject(closed);
    await expect(collected(h.client.stream(watch))).rejects.toMatchObject(closed);
    await h.client.close();
    expect(h.clock.sleepers).toBe(0);
  });

  it('ends the pauses between attempts', async () => {
    await using h = await harness();
    const request = h.client.request(watch);
    const failure = expect(request).rejects.toMatchObject({ code: 'KOPF_CLIENT_CLOSED' });
    (await h.response()).writeHead(503).end();
    await until(() => h.logger.find('will retry') !== undefined);
    await h.client.close();
    await failure;
    expect(h.clock.sleepers).toBe(0);
  });
});
