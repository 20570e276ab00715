/** What servers may answer by HTTP/1.1, and how it may be cut into pieces on its way. */
import { createServer, type Socket } from 'node:net';
import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerHead, AnswerParser } from '../../../src/connections/answer-parser.js';
import { KubeConnectionError, kubeClient } from '../../../src/index.js';

interface Seen {
  readonly heads: AnswerHead[];
  body: string;
  ends: number;
}

function parsed(text: string, cuts: readonly number[] = [], isClosed = false): Seen {
  const seen: Seen = { heads: [], body: '', ends: 0 };
  const parser = new AnswerParser({
    onHead: (head) => void seen.heads.push(head),
    onData: (chunk) => {
      seen.body += chunk.toString('latin1');
    },
    onEnd: () => {
      seen.ends += 1;
    },
  });
  parser.begin();
  const all = Buffer.from(text, 'latin1');
  const places = [0, ...cuts.map((cut) => cut % (all.length + 1)).toSorted((a, b) => a - b), all.length];
  for (const [index, from] of places.slice(0, -1).entries()) parser.feed(all.subarray(from, places[index + 1]));
  if (isClosed) parser.end();
  return seen;
}

const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}';
const CHUNKED =
  'HTTP/1.1 201 Created\r\ntransfer-encoding: Chunked\r\n\r\n3;name=value\r\n{"a\r\n4\r\n":1}\r\n0\r\nX-Late: yes\r\n\r\n';
const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const CONTINUED = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${LENGTH}`;

describe('an answer', () => {
  it.each([
    ['by its length', LENGTH, { status: 200, body: '{"a":1}', isReusable: true }],
    ['in chunks, with trailers', CHUNKED, { status: 201, body: '{"a":1}', isReusable: true }],
    ['of nothing', EMPTY, { status: 200, body: '', isReusable: true }],
    ['after others that are none', CONTINUED, { status: 200, body: '{"a":1}', isReusable: true }],
    ['that cannot have a body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', isReusable: true }],
    [
      'after which the connection is closed',
      LENGTH.replace('\r\n', '\r\nConnection: Close\r\n'),
      { isReusable: false },
    ],
    ['of an old server', LENGTH.replace('1.1', '1.0'), { body: '{"a":1}', isReusable: false }],
    [
      'of an old server that keeps connections',
      LENGTH.replace('1.1', '1.0').replace('\r\n', '\r\nConnection: keep-alive\r\n'),
      { isReusable: true },
    ],
    ['without a phrase', 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\n1', { status: 200, body: '1' }],
  ])('%s is the same, however it is cut', (_title, text, expected) => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 12 }), (cuts) => {
        const { heads, body, ends } = parsed(text, cuts);
        expect(heads).toHaveLength(1);
        expect(ends).toBe(1);
        expect({ ...heads[0], body }).toMatchObject(expected);
      }),
    );
  });

  it('of unknown length goes on until the connection is closed', () => {
    const text = 'HTTP/1.1 200 OK\r\n\r\n{"a":1}';
    expect(parsed(text)).toMatchObject({ body: '{"a":1}', ends: 0, heads: [{ isReusable: false }] });
    expect(parsed(text, [], true)).toMatchObject({ body: '{"a":1}', ends: 1 });
  });

  it('has its headers by their names in lower case; those that are lists are joined', () => {
    const headers = 'Warning: a\r\nwarning: b\r\nRetry-After:3\r\nretry-after: 4\r\n__proto__: x\r\nEmpty:\r\n';
    const [head] = parsed(`HTTP/1.1 429 Too Many\r\n${headers}content-length: 0\r\n\r\n`).heads;
    expect({ ...head?.headers }).toMatchObject({ warning: 'a, b', 'retry-after': '3', empty: '' });
    expect(head?.phrase).toBe('Too Many');
  });

  it.each([
    ['is no HTTP', 'nonsense\r\n\r\n'],
    ['is HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['has a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['has a line that is no header', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
    ['has a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['has an unknown encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
    ['has a chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n'],
    ['has a longer chunk than said', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n'],
    ['has endless headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}`],
    ['has an endless size of a chunk', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1'.repeat(2000)}`],
    ['is followed by something', `${LENGTH}more`],
    ['has a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['has a control character in a header', 'HTTP/1.1 200 OK\r\nx: a\rb\r\n\r\n'],
    ['is about another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['begins like something else', 'SSH-2.0'],
  ])('that %s is an error', (_title, text) => {
    expect(() => parsed(text)).toThrow();
  });

  it('that ends too early is an error', () => {
    for (const text of [LENGTH, CHUNKED]) {
      for (let end = 0; end < text.length; end++) expect(() => parsed(text.slice(0, end), [], true)).toThrow('hang up');
    }
  });
});

describe('a connection', () => {
  /** Answers by the script, one after another; tells what it got. */
  async function rawServer(answers: readonly ((socket: Socket) => void)[]) {
    const requests: string[] = [];
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      socket.on('data', (data) => {
        requests.push(data.toString('latin1'));
        answers[requests.length - 1]?.(socket);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as { port: number };
    const client = kubeClient({
      connection: { server: `http://127.0.0.1:${port}`, token: 't' },
      clock: manualClock(),
      logger: recordingLogger(),
      settings: settings({ networking: { errorBackoffs: [] } }),
    });
    return {
      client,
      requests,
      port,
      connections: () => connections,
      async [Symbol.asyncDispose]() {
        await client.close();
        server.close();
      },
    };
  }
  const fine = (socket: Socket): void => void socket.write(LENGTH);
  const get = { method: 'GET', path: '/a' } as const;

  it('carries one request as one piece of text', async () => {
    await using server = await rawServer([fine, fine]);
    await server.client.request(get);
    await server.client.request({ method: 'PATCH', path: '/b?c=d', body: { é: 1 } });
    expect(server.connections()).toBe(1);
    expect(server.requests[0]).toMatch(/^GET \/a HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n(?:[a-z-]+: .*\r\n)+\r\n$/);
    expect(server.requests[0]).toContain('\r\nauthorization: Bearer t\r\n');
    expect(server.requests[1]).toMatch(/^PATCH \/b\?c=d HTTP\/1\.1\r\n[\s\S]*\r\ncontent-length: 8\r\n\r\n\{"Ã©":1\}$/);
  });

  it('is not used again if the server says so, or says that it closes it at once', async () => {
    const closing = (socket: Socket): void => void socket.write(LENGTH.replace('\r\n', '\r\nconnection: close\r\n'));
    const soon = (socket: Socket): void => void socket.write(LENGTH.replace('\r\n', '\r\nkeep-alive: timeout=1\r\n'));
    await using server = await rawServer([closing, soon, fine]);
    for (let round = 0; round < 3; round++) await expect(server.client.request(get)).resolves.toEqual({ a: 1 });
    expect(server.connections()).toBe(3);
  });

  it('may be closed by the server in the midst of a request, after an answer to it', async () => {
    const refuse = (socket: Socket): void => {
      socket.pause();
      socket.end('HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}');
    };
    await using server = await rawServer([refuse, fine]);
    const large = { method: 'POST', path: '/a', body: { text: 'x'.repeat(20_000_000) } } as const;
    await expect(server.client.request(large)).rejects.toMatchObject({ status: 413 });
    await expect(server.client.request(get)).resolves.toEqual({ a: 1 });
  });

  it('that brings more than was asked for is closed', async () => {
    const twice = (socket: Socket): void => void socket.write(`${LENGTH}${LENGTH}`);
    const withEmptyLine = (socket: Socket): void => void socket.write(`${LENGTH}\r\n`);
    await using server = await rawServer([twice, withEmptyLine, fine]);
    await expect(server.client.request(get)).rejects.toThrow(KubeConnectionError);
    await expect(server.client.request(get)).resolves.toEqual({ a: 1 });
    await expect(server.client.request(get)).resolves.toEqual({ a: 1 });
    expect(server.connections()).toBe(3);
  });

  it.each([
    ['in the path', { method: 'GET', path: '/a\r\nx: y' }],
    ['in the path, as a space', { method: 'GET', path: '/a b' }],
    ['in a header', { method: 'GET', path: '/a', accept: 'x\r\ny: z' }],
  ] as const)('is given no request with characters that would change it %s', async (_title, request) => {
    await using server = await rawServer([fine, fine]);
    await expect(server.client.request(request)).rejects.toThrow();
    expect(server.requests).toEqual([]);
    await expect(server.client.request(get)).resolves.toEqual({ a: 1 });
  });
});
