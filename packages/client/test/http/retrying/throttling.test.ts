import type { KubeRequest } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { inTime, scripted } from '../../helpers/scripted.js';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const tooMany = { status: 429, headers: { 'retry-after': '10' } };

describe('after HTTP 429 with Retry-After', () => {
  it('all requests of that kind wait, not only the refused one', async () => {
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [5] });
    const first = client.request(get);
    await clock.settle();
    const inNamespace = { ...get, path: '/api/v1/namespaces/ns1/pods?limit=1' };
    const others = [client.request(get), client.request(inNamespace), client.request({ ...get, retries: 'none' })];
    await clock.advance(9.999);
    expect(sent).toHaveLength(1);
    await clock.advance(0.001);
    expect(sent).toHaveLength(5);
    await Promise.all([first, ...others]);
  });

  it.each<[string, KubeRequest]>([
    ['another verb', { method: 'GET', path: '/api/v1/namespaces/ns1/pods/p1' }],
    ['a write', { method: 'PATCH', path: '/api/v1/namespaces/ns1/pods/p1', body: {} }],
    ['another resource', { method: 'GET', path: '/api/v1/configmaps' }],
    ['a resource of the same name in another group', { method: 'GET', path: '/apis/metrics.k8s.io/v1/pods' }],
    ['a subresource', { method: 'GET', path: '/api/v1/namespaces/ns1/pods/p1/log' }],
    ['no resource at all', { method: 'GET', path: '/version' }],
  ])('requests of other kinds do not wait: %s', async (_title, other) => {
    const { client, clock } = scripted([tooMany, { body: { ok: true } }], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    await expect(client.request(other)).resolves.toEqual({ ok: true });
    expect(clock.now()).toBe(0);
  });

  it('streams of that kind wait, too', async () => {
    const { client, clock, sent } = scripted([tooMany, { body: '{}\n' }], { errorBackoffs: [] });
    const next = () => client.stream(get)[Symbol.asyncIterator]().next();
    await expect(next()).rejects.toMatchObject({ status: 429 });
    await client.request(get);
    expect(sent).toHaveLength(2);
    const later = next();
    await clock.advance(9);
    expect(sent).toHaveLength(2);
    await inTime(clock, later);
    expect(clock.now()).toBe(10);
  });

  it('urgent requests neither wait nor make others wait', async () => {
    const { client, clock, sent } = scripted([tooMany, {}, tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    await client.request({ ...get, urgent: true });
    const other = { method: 'PUT', path: '/apis/coordination.k8s.io/v1/namespaces/ns/leases/l', body: {} } as const;
    await expect(client.request({ ...other, urgent: true })).rejects.toMatchObject({ status: 429 });
    await client.request(other);
    expect(sent).toHaveLength(4);
    expect(clock.now()).toBe(0);
  });

  it('requests that wait leave their turns to others', async () => {
    const { client, clock } = scripted([tooMany, { body: { ok: true } }], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const waiting = Array.from({ length: 100 }, () => client.request(get));
    await clock.settle();
    const others = Array.from({ length: 50 }, () => client.request({ ...get, path: '/api/v1/secrets' }));
    await expect(Promise.all(others)).resolves.toHaveLength(50);
    expect(clock.now()).toBe(0);
    await inTime(clock, Promise.all(waiting));
  });

  it.each([
    ['in seconds', '86400'],
    ['in more seconds than there are', '9'.repeat(400)],
    ['as a date', 'Wed, 01 Jan 2120 00:00:00 GMT'],
    ['as an old-fashioned date', 'Wednesday, 01-Jan-49 00:00:00 GMT'],
  ])('it is not obeyed for longer than the setting says: %s', async (_title, retryAfter) => {
    const { client, clock, settings } = scripted(
      [
        { status: 429, headers: { 'retry-after': retryAfter } },
        {},
        { status: 429, headers: { 'retry-after': retryAfter } },
        {},
      ],
      { errorBackoffs: [5] },
    );
    await inTime(clock, client.request(get));
    expect(clock.now()).toBe(60);
    settings.networking.maxRetryAfter = 7;
    await inTime(clock, client.request(get));
    expect(clock.now()).toBe(67);
  });

  it.each(['in 5 minutes', '2020-01-01T00:00:50Z', '5 apples', 'NaN'])(
    'it is ignored if it is not HTTP: "%s"',
    async (text) => {
      const { request, sleeps } = scripted([{ status: 429, headers: { 'retry-after': text } }, {}], {
        errorBackoffs: [3],
      });
      await request(get);
      expect(sleeps).toEqual([3]);
    },
  );

  it.each([
    ['10', 'wait for 10s after HTTP 429 from https://cluster.example: slow down'],
    [
      '3600',
      'wait for 60s after HTTP 429 from https://cluster.example, which asked for 3600s (see networking.maxRetryAfter): slow down',
    ],
  ])('a warning tells who waits, for how long, and by whose word: %s', async (retryAfter, text) => {
    const body = { kind: 'Status', code: 429, message: 'slow down' };
    const answer = { status: 429, headers: { 'retry-after': retryAfter }, body };
    const { client, logger } = scripted([answer], { errorBackoffs: [] });
    const path = '/apis/kopf.dev/v1/namespaces/ns/kopfexamples/k/status';
    const requests = Array.from({ length: 5 }, () => client.request({ method: 'PATCH', path, body: {} }));
    await Promise.allSettled(requests);
    expect(logger.messages('warn')).toEqual([`Requests to "patch kopfexamples.kopf.dev/status" ${text}`]);
  });

  it.each([2, 9])('waiting counts in the total limit of a request: %is', async (total) => {
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const waiting = client.request({ ...get, timeouts: { total } });
    const failure = expect(waiting).rejects.toMatchObject({
      code: 'KOPF_TIMEOUT',
      message: expect.stringContaining(
        `not sent within ${total}s: the server asked to hold "list pods" at https://cluster.example back for ${10 - total}s more`,
      ),
    });
    await clock.advance(total);
    await failure;
    expect(sent).toHaveLength(1);
    expect(clock.sleepers).toBe(0);
  });

  it.each([12, 30])('what is left of the total limit after waiting is for the answer: %is', async (total) => {
    const { client, clock } = scripted([tooMany, 'hang'], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const waiting = client.request({ ...get, timeouts: { total } });
    await expect(inTime(clock, waiting)).rejects.toThrow(`was not complete within ${total}s`);
    expect(clock.now()).toBe(total);
  });

  it('requests wait also where the refused one has given up', async () => {
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const later = client.request(get);
    await clock.advance(9);
    expect(sent).toHaveLength(1);
    await inTime(clock, later);
    expect(sent).toHaveLength(2);
    expect(clock.now()).toBe(10);
  });

  it('requests go not all in the same instant afterwards', async () => {
    const places = [0, 0.5, 0.9];
    const { client, clock, sent } = scripted(
      [tooMany, {}],
      { errorBackoffs: [] },
      { random: () => places.shift() ?? 0 },
    );
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const waiting = [client.request(get), client.request(get), client.request(get)];
    await clock.advance(10);
    expect(sent).toHaveLength(2);
    await clock.advance(0.5);
    expect(sent).toHaveLength(3);
    await clock.advance(0.5);
    expect(sent).toHaveLength(4);
    await Promise.all(waiting);
  });

  it('a longer pause is not shortened by a later answer', async () => {
    const brief = { status: 429, headers: { 'retry-after': '2' } };
    const { client, clock, sent } = scripted([tooMany, brief, {}], { errorBackoffs: [] });
    const both = Promise.allSettled([client.request(get), client.request(get)]);
    await clock.settle();
    await both;
    expect(sent).toHaveLength(2);
    const later = client.request(get);
    await clock.advance(9);
    expect(sent).toHaveLength(2);
    await inTime(clock, later);
  });

  it('a waiting request can be aborted', async () => {
    const aborting = new AbortController();
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const waiting = client.request({ ...get, signal: aborting.signal });
    await clock.settle();
    aborting.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
    expect(clock.sleepers).toBe(0);
  });

  it('other servers are asked as before', async () => {
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    await inTime(clock, client.request({ ...get, path: 'https://other.example/x' }));
    expect(sent).toHaveLength(2);
    expect(clock.now()).toBe(0);
  });
});

it('HTTP 429 without Retry-After holds nobody back', async () => {
  const { client, clock, sent } = scripted([{ status: 429 }, {}], { errorBackoffs: [] });
  await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
  await client.request(get);
  expect(sent).toHaveLength(2);
  expect(clock.now()).toBe(0);
});

describe('HTTP 429 to an eviction', () => {
  const path = '/api/v1/namespaces/ns/pods/p1/eviction';
  const evict = { method: 'POST', path, body: { kind: 'Eviction' } } as const;

  it('is given to the caller at once, and nobody waits', async () => {
    const { client, clock, sent, logger } = scripted([tooMany, tooMany, {}], { errorBackoffs: [1, 1, 1] });
    await expect(client.request(evict)).rejects.toMatchObject({ status: 429, retryAfter: 10 });
    await expect(client.request(evict)).rejects.toMatchObject({ status: 429 });
    await client.request(evict);
    expect(sent).toHaveLength(3);
    expect(clock.now()).toBe(0);
    expect(logger.lines).toEqual([]);
  });

  it('is not what other errors of it are: these are retried as usual', async () => {
    const { request, sent } = scripted([{ status: 503 }, {}], { errorBackoffs: [1] });
    await request(evict);
    expect(sent).toHaveLength(2);
  });
});
