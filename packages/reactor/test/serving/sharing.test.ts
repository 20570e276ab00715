import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { HttpEndpoint, PageAnswer } from '@kopf-ts/core';
import { manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpEndpoint } from '../../src/index.js';
import { deferred, eventually, followed } from '../activities/operator-parts.js';

type Body = PageAnswer['body'];

interface Place {
  readonly endpoint: HttpEndpoint;
  readonly clock: ReturnType<typeof manualClock>;
  readonly logger: RecordingLogger;
  serve(name: string, url: string, answer?: () => Body | Promise<Body>): Served;
}

interface Served {
  readonly port: Promise<number>;
  readonly running: ReturnType<typeof followed>;
  readonly done: Promise<void>;
  stop(): void;
}

function newPlace(): Place {
  const clock = manualClock();
  const logger = recordingLogger();
  const endpoint = httpEndpoint({ clock, logger });
  return {
    endpoint,
    clock,
    logger,
    serve(name, url, answer = () => name) {
      const controller = new AbortController();
      const listening = deferred<number>();
      const page = { answer: async () => ({ body: await answer() }) };
      const done = endpoint.serve({
        name,
        url,
        page,
        signal: controller.signal,
        onListening: ({ port }) => listening.resolve(port),
      });
      const running = followed(done);
      const stop = (): void => controller.abort(new Error('the end'));
      onTestFinished(async () => {
        stop();
        await clock.advance(1);
        await done.catch(() => {});
      });
      return { port: listening.promise, running, done, stop };
    },
  };
}

async function takenPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const textOf = async (port: number, path: string): Promise<string> =>
  await (await fetch(`http://127.0.0.1:${port}${path}`)).text();

describe('Sites at one address', () => {
  it('share a socket, whoever comes first', async () => {
    const { serve } = newPlace();
    const [one, two] = [
      serve('liveness', 'http://127.0.0.1:0/healthz'),
      serve('metrics', 'http://127.0.0.1:0/metrics'),
    ];
    const port = await one.port;
    expect(await two.port).toBe(port);
    expect(await textOf(port, '/healthz')).toBe('liveness');
    expect(await textOf(port, '/metrics')).toBe('metrics');
  });

  it('have sockets of their own if the addresses differ', async () => {
    const { serve } = newPlace();
    const one = serve('liveness', 'http://127.0.0.1:0/healthz');
    const two = serve('metrics', 'http://localhost:0/metrics');
    expect(await one.port).not.toBe(await two.port);
  });

  it('cannot have the same path, and it is said who has it', async () => {
    const { serve } = newPlace();
    await serve('liveness', 'http://127.0.0.1:0/healthz').port;
    await expect(serve('metrics', 'http://127.0.0.1:0/healthz').done).rejects.toThrow(
      'The metrics endpoint http://127.0.0.1:0/healthz cannot be served: the path /healthz is taken by the liveness ' +
        'endpoint there; give it another one.',
    );
  });

  it('all fail if the port is taken, each by its own name', async () => {
    const port = await takenPort();
    const { serve } = newPlace();
    const one = serve('liveness', `http://127.0.0.1:${port}/healthz`);
    const two = serve('metrics', `http://127.0.0.1:${port}/metrics`);
    await expect(one.done).rejects.toThrow(`The liveness endpoint http://127.0.0.1:${port}/healthz cannot be served`);
    await expect(two.done).rejects.toThrow(`The metrics endpoint http://127.0.0.1:${port}/metrics cannot be served`);
  });

  it('are told of each other if only the hosts differ', async () => {
    const { serve } = newPlace();
    const first = serve('liveness', 'http://127.0.0.1:0/healthz');
    await first.port;
    // Two sockets of ours at port 0 never collide; so the port is taken by the number that it has got.
    const port = await takenPort();
    serve('liveness', `http://localhost:${port}/healthz`).done.catch(() => {});
    await expect(serve('metrics', `http://127.0.0.1:${port}/metrics`).done).rejects.toThrow(
      /in use by liveness at another host; give it another port, or the same host/,
    );
  });

  it('wait at their end for their own answers only, and for a second at most', async () => {
    const { serve, clock } = newPlace();
    const asked = deferred();
    const one = serve('slow', 'http://127.0.0.1:0/slow', async () => {
      asked.resolve();
      return await new Promise<string>(() => {});
    });
    const two = serve('metrics', 'http://127.0.0.1:0/metrics');
    const port = await one.port;
    await two.port;
    const hanging = fetch(`http://127.0.0.1:${port}/slow`).catch((error: unknown) => error);
    await asked.promise;
    one.stop();
    await clock.advance(0.9);
    expect(one.running.state).toBe('pending');
    await clock.advance(0.1);
    await eventually(() => one.running.state === 'resolved');
    expect(await textOf(port, '/metrics')).toBe('metrics');
    two.stop();
    await clock.advance(1);
    await eventually(() => two.running.state === 'resolved');
    expect(await hanging).toBeInstanceOf(Error);
    expect(clock.sleepers).toBe(0);
  });
});

it('Whoever asks is answered, however many are there and say nothing', async () => {
  const port = await newPlace().serve('liveness', 'http://127.0.0.1:0/healthz').port;
  const silent = Array.from({ length: 400 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of silent) socket.destroy();
  });
  const isClosed = (): number => silent.filter(({ closed }) => closed).length;
  await eventually(() => isClosed() >= 144);
  expect(await textOf(port, '/healthz')).toBe('liveness');
  expect(isClosed()).toBeLessThan(150);
});

describe('An answer in pieces', () => {
  it('ends for those who take nothing of it for half a minute', async () => {
    const { serve, clock } = newPlace();
    const over = deferred<void>();
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield 'x'.repeat(1_000_000);
      } finally {
        over.resolve();
      }
    }
    const port = await serve('console', 'http://127.0.0.1:0/', endless).port;
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    const isOver = followed(over.promise);
    socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    // First, the buffers of the sockets take some of it, as fast as they can.
    while (isOver.state === 'pending') {
      await eventually(() => clock.sleepers > 0 || isOver.state !== 'pending');
      await clock.advance(30);
    }
    expect(isOver.state).toBe('resolved');
  });

  it('keeps nothing of what was sent, however long it is read', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const pieces: WeakRef<object>[] = [];
    const never = new Promise<never>(() => {});
    const body: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          if (pieces.length === 50) return await never;
          const piece = { value: `${pieces.length}`.padStart(1000), done: false as const };
          pieces.push(new WeakRef(piece));
          return piece;
        },
      }),
    };
    const port = await newPlace().serve('console', 'http://127.0.0.1:0/', () => body).port;
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: leaving.signal });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    for (let taken = 0; taken < 50_000; ) taken += (await reader.read()).value?.length ?? 0;
    // What is referred to weakly stays until the end of the turn in which it was made.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(pieces.filter((piece) => piece.deref() !== undefined).length).toBeLessThan(5);
  });
});
