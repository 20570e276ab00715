/** Servers that mean no good, and requests that nobody wants any more: a connection must not suffer from either. */
import { createServer, type Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { AnswerParser } from '../../../src/connections/answer-parser.js';
import { SocketDispatcher } from '../../../src/connections/socket-dispatcher.js';
import { until } from '../../helpers/servers.js';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
const OPTIONS = { connections: 1, idleMs: 30_000, keepAliveMs: 30_000, connectMs: 0, tls: {} };

/** A dispatcher of one connection at a time, and a server that answers as told. */
async function connected(answer: (socket: Socket, received: string) => void) {
  const sockets = new Set<Socket>();
  let ever = 0;
  const server = createServer((socket) => {
    ever += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => answer(socket, data.toString('latin1')));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  const dispatcher = new SocketDispatcher(OPTIONS);
  const send = (handler: Dispatcher.DispatchHandler, options: Partial<Dispatcher.DispatchOptions> = {}): boolean =>
    dispatcher.dispatch(
      { origin: `http://127.0.0.1:${port}`, path: '/', method: 'GET', headers: {}, body: null, ...options },
      handler,
    );
  return {
    send,
    /** The status of the answer, when it is complete. */
    request: (options: Partial<Dispatcher.DispatchOptions> = {}) =>
      new Promise<number>((resolve, reject) => {
        let code = 0;
        send(
          {
            onResponseStart: (_controller, status) => {
              code = status;
            },
            onResponseEnd: () => resolve(code),
            onResponseError: (_controller, error) => reject(error),
          },
          options,
        );
      }),
    connections: () => ever,
    async [Symbol.asyncDispose]() {
      await dispatcher.destroy();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe('a connection', () => {
  it.each(['GET / HTTP/1.1\r\nx: y\r\n\r\nGET', 'HEAD', 'CONNECT', 'get', ''])(
    'is given no request by the method %j',
    async (method) => {
      await using server = await connected((socket) => void socket.write(OK));
      expect(() => server.send({}, { method: method as 'GET' })).toThrow('method');
      expect(server.connections()).toBe(0);
    },
  );

  it('is not used again when the answer has come before all of the request was written', async () => {
    await using server = await connected((socket, received) => {
      // Nothing else of the large request is ever read.
      if (received.startsWith('POST')) socket.pause();
      socket.write(OK);
    });
    await expect(server.request({ method: 'POST', body: 'x'.repeat(20_000_000) })).resolves.toBe(200);
    await expect(server.request()).resolves.toBe(200);
    expect(server.connections()).toBe(2);
  });

  it('outlives any number of requests that turn out to be unwanted while they wait for it', async () => {
    await using server = await connected((socket) => void socket.write(OK));
    let ends = 0;
    const unwanted: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => controller.abort(new Error('unwanted')),
      onResponseError: () => {
        ends += 1;
      },
    };
    for (let count = 0; count < 30_000; count++) server.send(unwanted);
    await expect(server.request()).resolves.toBe(200);
    server.send(unwanted);
    await expect(server.request()).resolves.toBe(200);
    expect([ends, server.connections()]).toEqual([30_001, 1]);
  });

  it('is not resumed by the reader of an answer that is over, while another one is held back', async () => {
    const endless = Buffer.alloc(1_000_000);
    let accepted = 0;
    await using server = await connected((socket, received) => {
      if (received.startsWith('GET /short')) {
        socket.write(OK);
        return;
      }
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const go = (): void => {
        while (accepted < 100 && socket.write(endless, () => (accepted += 1))) {}
        if (accepted < 100 && !socket.destroyed) socket.once('drain', go);
      };
      go();
    });
    let first: Dispatcher.DispatchController | undefined;
    await new Promise<void>((resolve) => {
      server.send(
        {
          onRequestStart: (controller) => {
            first = controller;
          },
          onResponseData: (controller) => controller.pause(),
          onResponseEnd: () => resolve(),
        },
        { path: '/short' },
      );
    });
    let bytes = 0;
    server.send({
      onResponseData: (controller, chunk) => {
        bytes += chunk.length;
        controller.pause();
      },
    });
    await until(() => bytes > 0, 'the second answer');
    const before = bytes;
    first?.resume();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => void setImmediate(resolve));
    expect([bytes, server.connections()]).toEqual([before, 1]);
  });
});

describe('an answer', () => {
  function newParser(): AnswerParser {
    const parser = new AnswerParser({ onHead() {}, onData() {}, onEnd() {} });
    parser.begin();
    return parser;
  }

  it('comes after a few others at most that are none', () => {
    const parser = newParser();
    const next = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
    for (let count = 0; count < 16; count++) parser.feed(next);
    expect(() => parser.feed(next)).toThrow('HTTP/1.1');
  });

  it('has no endless trailers', () => {
    const parser = newParser();
    parser.feed(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n'));
    const more = Buffer.from('a: b\r\n'.repeat(1000));
    expect(() => {
      for (let count = 0; count < 10; count++) parser.feed(more);
    }).toThrow('trailers');
  });

  it('is read in a time that grows with its length, also if a header is blank for long', () => {
    const text = `HTTP/1.1 200 OK\r\nx: a${' '.repeat(16_000)}b\r\ncontent-length: 0\r\n\r\n`;
    const since = performance.now();
    for (let count = 0; count < 20; count++) newParser().feed(Buffer.from(text));
    // It was 6 seconds when it grew with the square.
    expect(performance.now() - since).toBeLessThan(2000);
  });
});
