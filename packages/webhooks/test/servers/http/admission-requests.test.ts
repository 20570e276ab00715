import { Agent } from 'node:http';
import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { AmbiguousResourceError, MissingDataError, UnknownResourceError, WebhookError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type WebhookServerOptions, webhookServer } from '../../../src/index.js';
import { ANSWER, ask, certificatesOnDemand, dial, localMaterial, REVIEW, served } from '../support.js';

const plain = (options: WebhookServerOptions = {}) => webhookServer({ insecure: true, addr: '127.0.0.1', ...options });

describe('a review', () => {
  it('is answered with what the review function says', async () => {
    await using server = await served(plain());
    const answer = await ask(`${server.url}/fn`);
    expect(answer).toMatchObject({ status: 200, text: JSON.stringify(ANSWER) });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(server.calls).toEqual([{ review: REVIEW, hints: expect.objectContaining({ webhook: 'fn', sslPeer: {} }) }]);
  });

  it('is answered on the same connection, one after another', async () => {
    await using server = await served(plain());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<unknown>();
    agent.on('free', (socket) => ports.add(socket.localPort));
    for (const _ of [1, 2, 3]) expect((await ask(`${server.url}/fn`, { agent })).status).toBe(200);
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  it('has the headers by lower-case names, several of one name together', async () => {
    await using server = await served(plain());
    const headers = { 'content-type': 'application/json', 'X-Many': ['one', 'two'], 'Set-Cookie': ['a=1', 'b=2'] };
    await ask(`${server.url}/fn`, { headers });
    expect(server.calls[0]?.hints.headers).toMatchObject({ 'x-many': 'one, two', 'set-cookie': 'a=1, b=2' });
  });

  it('may come without a content type, and with parameters of it', async () => {
    await using server = await served(plain());
    for (const headers of [{}, { 'content-type': 'Application/JSON; charset=utf-8' }]) {
      expect((await ask(`${server.url}/fn`, { headers: headers as Record<string, string> })).status).toBe(200);
    }
  });
});

describe('the path of a request', () => {
  it.each([
    ['', '/fn', 'fn'],
    ['', '/', undefined],
    ['', '/fn/spec.field', 'fn/spec.field'],
    ['', '/id%21%20%C3%BC', 'id! ü'],
    ['', '/a%2Fb', 'a/b'],
    ['', '/a%252Fb', 'a%2Fb'],
    ['', '/fn?timeout=10s', 'fn'],
    ['', '/?timeout=10s', undefined],
    ['/p1/p2', '/p1/p2/fn', 'fn'],
    ['/p1/p2', '/p1/p2/', undefined],
    ['/p1/p2/', '/p1/p2/fn', 'fn'],
    ['/p%20q', '/p%20q/fn', 'fn'],
    ['', '/__proto__', '__proto__'],
  ])('with the root "%s" as "%s" is for %s', async (root, path, webhook) => {
    await using server = await served(plain({ path: root }));
    expect((await ask(server.url, { path })).status).toBe(200);
    expect(server.calls[0]?.hints.webhook).toBe(webhook);
  });

  it.each([
    ['/p1/p2', '/p1/p2', 404],
    ['/p1/p2', '/p1/p2?timeout=10s', 404],
    ['/p1/p2', '/p1/p2x/fn', 404],
    ['/p1/p2', '/p1/fn', 404],
    ['/p1/p2', '/', 404],
    ['/p1/p2', '/p1/../p1/p2/fn', 404],
    ['', '*', 404],
    ['', 'http://elsewhere/fn', 404],
    ['', '/%', 400],
    ['', '/%zz', 400],
    ['', '/%ff', 400],
  ])('with the root "%s" as "%s" gets %d', async (root, path, status) => {
    await using server = await served(plain({ path: root }));
    expect(await ask(server.url, { path })).toMatchObject({ status });
    expect(server.calls).toEqual([]);
    expect(server.logger.messages('warn')).toHaveLength(1);
  });
});

describe('the time that the API server has', () => {
  it.each([
    ['?timeout=10s', 10],
    ['?timeout=1m30s', 90],
    ['?a=b&timeout=500ms&c', 0.5],
    ['?timeout=', undefined],
    ['?timeout=10', undefined],
    ['?timeout=-10s', undefined],
    ['?timeout=%zz', undefined],
    ['?time=10s', undefined],
    ['', undefined],
  ])('in "%s" is %s', async (query, timeout) => {
    await using server = await served(plain());
    await ask(server.url, { path: `/fn${query}` });
    expect(server.calls[0]?.hints.timeout).toBe(timeout);
  });
});

describe('a bad request', () => {
  const tooLong = 'x'.repeat(1000);
  it.each([
    ['is not JSON', { body: '{"request": ' }, 400],
    ['is empty', { body: '' }, 400],
    ['is not UTF-8', { body: Buffer.from('{"request": "\u00ff"}', 'latin1') }, 400],
    ['is a list', { body: '[]' }, 400],
    ['is null', { body: 'null' }, 400],
    ['is a number', { body: '1' }, 400],
    ['is a GET', { method: 'GET', body: '' }, 405],
    ['is a PUT', { method: 'PUT' }, 405],
    ['is a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
    ['is something like JSON', { headers: { 'content-type': 'application/jsonp' } }, 415],
    ['is compressed', { headers: { 'content-encoding': 'gzip' } }, 415],
    ['is too large', { body: `"${tooLong}"` }, 413],
    [
      'is too large, which is not told before',
      { body: `"${tooLong}"`, headers: { 'transfer-encoding': 'chunked' } },
      413,
    ],
  ])('which %s is refused, and told in one line', async (_what, question, status) => {
    await using server = await served(plain({ bodyLimit: 1000 }));
    const answer = await ask(`${server.url}/fn`, question);
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(new RegExp(`^${status}: `));
    expect(answer.text).not.toMatch(/allowed/);
    expect(server.calls).toEqual([]);
    expect(server.logger.messages().filter((line) => !line.includes('Listening'))).toEqual([
      expect.stringMatching(`refused with ${status}: "${question['method' as never] ?? 'POST'}" "/fn"`),
    ]);
    expect((await ask(`${server.url}/fn`)).status).toBe(200);
  });

  it('by another method is told which one is right', async () => {
    await using server = await served(plain());
    expect((await ask(`${server.url}/fn`, { method: 'DELETE' })).headers.allow).toBe('POST');
  });

  it('cannot write lines into the log', async () => {
    await using server = await served(plain());
    await ask(server.url, { path: '/%";"x' });
    expect(server.logger.messages('warn')).toEqual([
      expect.stringMatching(/^An admission request is refused with 400: "POST" "\/%\\";\\"x" from 127\.0\.0\.1: /),
    ]);
    const review = () => Promise.reject(new UnknownResourceError('No "x\r\n\u0085\u2028y".'));
    await using another = await served(plain(), { review });
    await ask(`${another.url}/fn`);
    const [line = ''] = another.logger.messages('warn');
    expect(line).toContain('"No \\"x\\r\\n\\u0085\\u2028y\\"."');
  });

  it('that is going to be too large is refused before it comes', async () => {
    await using server = await served(plain({ bodyLimit: 1000 }));
    const { socket, received } = await dial(server.url);
    socket.write('POST /fn HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1001\r\n\r\n');
    expect(await received).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('which is no HTTP at all gets 400, too', async () => {
    await using server = await served(plain());
    const { socket, received } = await dial(server.url);
    socket.write('\x16\x03\x01 hello\r\n\r\n');
    expect(await received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*\r\n\r\n400: Bad Request$/s);
    expect(server.logger.messages('warn')).toEqual([expect.stringContaining('refused with 400')]);
  });

  it('with endless headers gets 431', async () => {
    await using server = await served(plain());
    const { socket, received } = await dial(server.url);
    socket.write(`POST /fn HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(await received).toMatch(/^HTTP\/1\.1 431 /);
  });

  it.each([
    ['headers', 'POST /fn HTTP/1.1\r\nhost: x\r\n'],
    ['a body', 'POST /fn HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{'],
  ])('with %s that do not come in time gets 408', async (_what, beginning) => {
    await using server = await served(plain({ requestTimeout: 0.1 }));
    const { socket, received } = await dial(server.url);
    socket.write(beginning);
    expect(await received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(server.logger.messages('warn')).toEqual([expect.stringContaining('refused with 408')]);
    expect(server.calls).toEqual([]);
  });

  it.each(['http', 'https'])(
    'that never begins is no news: the connection is closed in silence (%s)',
    async (scheme) => {
      const options = { addr: '127.0.0.1', requestTimeout: 0.1 };
      const certificates = certificatesOnDemand(await localMaterial());
      const server = webhookServer(scheme === 'http' ? { ...options, insecure: true } : { ...options, certificates });
      await using running = await served(server);
      const { hostname: host, port } = new URL(running.url);
      const to = { host, port: Number(port) };
      const socket = scheme === 'http' ? connect(to) : connectSecurely({ ...to, ca: running.ca });
      let received = '';
      socket.setEncoding('utf8').on('data', (text: string) => {
        received += text;
      });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('close', resolve));
      expect(received).toBe('');
      expect(running.logger.messages('warn')).toEqual([]);
    },
  );

  it('that is broken off is no news', async () => {
    await using server = await served(plain());
    const { socket } = await dial(server.url);
    socket.write('POST /fn HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{');
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await expect.poll(() => server.logger.messages('debug')).toEqual([expect.stringContaining('was cut off')]);
    expect(server.logger.messages('warn')).toEqual([]);
  });
});

describe('a review that fails', () => {
  const secret = 'a-secret-of-ours';
  it.each([
    [new WebhookError('It is wrong.'), 400, 'It is wrong.'],
    [new MissingDataError('There is no user.'), 400, 'There is no user.'],
    [new UnknownResourceError('There is no such kind: "ü".'), 404, 'There is no such kind: "?".'],
    [new AmbiguousResourceError('There are\r\ntwo.'), 409, 'There are??two.'],
  ])('with %s gets %d and the reason', async (error, status, phrase) => {
    await using server = await served(plain(), { review: () => Promise.reject(error) });
    const answer = await ask(`${server.url}/fn`);
    expect(answer).toMatchObject({ status, message: phrase, text: `${status}: ${error.message}` });
    expect(server.logger.messages('warn')).toHaveLength(1);
    expect(server.logger.messages('error')).toEqual([]);
  });

  it.each([
    ['an error', () => Promise.reject(new TypeError(secret))],
    ['a text', () => Promise.reject(secret)],
    ['nothing', () => Promise.reject(undefined)],
    [
      'an error at once',
      () => {
        throw new Error(secret);
      },
    ],
    ['an answer that is no JSON', () => Promise.resolve({ response: { uid: 1n } } as never)],
  ])('with %s gets 500 and no reason', async (_what, review) => {
    await using server = await served(plain(), { review });
    const answer = await ask(`${server.url}/fn`);
    expect(answer).toMatchObject({ status: 500, text: '500: Internal Server Error' });
    expect(server.logger.messages('error')).toHaveLength(1);
  });

  it('is in the log with its error', async () => {
    const error = new TypeError(secret);
    await using server = await served(plain(), { review: () => Promise.reject(error) });
    await ask(`${server.url}/fn`);
    expect(server.logger.find(/has failed: "POST" "\/fn".*a-secret-of-ours/)?.fields).toMatchObject({ error });
  });
});
