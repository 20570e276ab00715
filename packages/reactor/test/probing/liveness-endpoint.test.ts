import { apiError, PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it, vi } from 'vitest';
import { deferred, eventually, followed } from '../activities/operator-parts.js';
import { observedStream } from '../support/observed-stream.js';
import { probing } from './probing-harness.js';

describe('The liveness endpoint', () => {
  it('says nothing in JSON if there are no probes', async () => {
    const { get } = await probing();
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe('{}');
  });

  it('tells the results of all probes by their ids, without those who have none', async () => {
    const { get } = await probing(({ registry }) => {
      registry.on.probe({ id: 'fn1' }, () => ({ x: 100 }));
      registry.on.probe({ id: 'fn2' }, async () => 'text');
      registry.on.probe({ id: 'zero' }, () => 0);
      registry.on.probe({ id: 'null' }, () => null);
      registry.on.probe({ id: 'void' }, () => {});
      registry.on.probe({ id: '__proto__' }, () => 1);
    });
    expect(await (await get()).text()).toBe('{"fn1":{"x":100},"fn2":"text","zero":0,"__proto__":1}');
  });

  it('answers to HEAD in the same way, but in short', async () => {
    const { get } = await probing(({ registry }) => registry.on.probe({ id: 'fn' }, () => 'x'));
    const response = await get('/healthz', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('10');
    expect(await response.text()).toBe('');
  });

  it.each(['/healthz/', '/', '/other', '/HEALTHZ', '/readyz/'])('does not know of any %s', async (path) => {
    expect((await (await probing()).get(path)).status).toBe(404);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('does not permit to %s', async (method) => {
    const { get } = await probing();
    for (const path of ['/healthz', '/readyz']) {
      const response = await get(path, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD');
    }
  });

  it('ignores what comes after the question mark', async () => {
    expect((await (await probing()).get('/healthz?verbose=1')).status).toBe(200);
  });

  it('remembers the results for ten seconds since they were collected', async () => {
    let counter = 0;
    const { get, clock } = await probing(({ registry, clock }) => {
      registry.on.probe({ id: 'fn' }, async () => {
        await clock.sleep(5);
        return ++counter;
      });
    });
    const first = get();
    await eventually(() => clock.sleepers > 0);
    await clock.advance(5);
    expect(await (await first).json()).toEqual({ fn: 1 });
    await clock.advance(9.9);
    expect(await (await get()).json()).toEqual({ fn: 1 });
    await clock.advance(0.1);
    const second = get();
    await eventually(() => clock.sleepers > 1);
    await clock.advance(5);
    expect(await (await second).json()).toEqual({ fn: 2 });
  });

  it('calls the probes once for all who ask at the same time, also if one of them has left', async () => {
    const release = deferred();
    const fn = vi.fn(() => release.promise.then(() => 'x'));
    const { get } = await probing(({ registry }) => registry.on.probe({ id: 'fn' }, fn));
    const leaving = new AbortController();
    const left = followed(get('/healthz', { signal: leaving.signal }));
    await eventually(() => fn.mock.calls.length > 0);
    const others = [get(), get()];
    leaving.abort();
    await eventually(() => left.state === 'rejected');
    release.resolve();
    for (const response of await Promise.all(others)) expect(await response.json()).toEqual({ fn: 'x' });
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('fails if a probe fails for good, names it, and asks it anew the next time', async () => {
    const fn = vi.fn().mockRejectedValueOnce(new PermanentError('boo!')).mockResolvedValue('fine');
    const { get, running } = await probing(({ registry }) => {
      registry.on.probe({ id: 'bad' }, fn);
      registry.on.probe({ id: 'good' }, () => 'x');
    });
    const failed = await get();
    expect(failed.status).toBe(500);
    expect(await failed.json()).toEqual({ error: 'One or more handlers failed.', probes: ['bad'] });
    const response = await get();
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ bad: 'fine', good: 'x' });
    expect(running.state).toBe('pending');
  });

  it('retries those that fail temporarily while somebody waits', async () => {
    const fn = vi
      .fn()
      .mockRejectedValueOnce(new TemporaryError('later', { delay: 20 }))
      .mockResolvedValue('fine');
    const { get, clock } = await probing(({ registry }) => registry.on.probe({ id: 'fn' }, fn));
    const asked = get();
    await eventually(() => fn.mock.calls.length > 0);
    await clock.advance(20);
    expect(await (await asked).json()).toEqual({ fn: 'fine' });
  });

  it('does not wait for ever for those that do not end, but ends them', async () => {
    const aborted = vi.fn();
    const fn = vi.fn();
    const { get, clock, logger } = await probing(({ registry, clock }) => {
      registry.on.probe({ id: 'fn' }, async ({ signal }) => {
        fn();
        signal.addEventListener('abort', aborted);
        await clock.sleep(1000, { signal });
      });
    });
    for (const times of [1, 2]) {
      const asked = get();
      await eventually(() => fn.mock.calls.length === times);
      await clock.advance(30);
      const response = await asked;
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ error: 'The probe handlers have not ended within 30 seconds.' });
      expect(aborted).toHaveBeenCalledTimes(times);
    }
    expect(logger.messages('warn')).toContain('The probe handlers have not ended within 30 seconds.');
  });

  it('does not call those again which hang and ignore it, until they have ended', async () => {
    const release = deferred();
    const fn = vi.fn(() => release.promise);
    const { get, clock } = await probing(({ registry }) => registry.on.probe({ id: 'fn' }, fn));
    const asked = get();
    await eventually(() => fn.mock.calls.length > 0);
    await clock.advance(30);
    expect((await asked).status).toBe(500);
    expect((await get()).status).toBe(500);
    expect(fn).toHaveBeenCalledTimes(1);
    release.resolve();
    await clock.settle();
    expect((await get()).status).toBe(200);
  });

  it.each([
    ['a cycle', cycle()],
    ['a big integer', 1n],
    ['a function', () => {}],
    ['a symbol', Symbol('x')],
  ])('fails if a probe returns %s, and says which one', async (_, result) => {
    const { get, logger } = await probing(({ registry }) => {
      registry.on.probe({ id: 'good' }, () => 1);
      registry.on.probe({ id: 'bad' }, () => result);
    });
    expect((await get()).status).toBe(500);
    expect(logger.messages('error')).toEqual([expect.stringContaining("The probe 'bad' has returned")]);
  });

  it('asks no probes, and says why, if the operator is not alive', async () => {
    const fn = vi.fn(() => 1);
    const { get, clock, health } = await probing(({ registry }) => registry.on.probe({ id: 'fn' }, fn));
    const error = new Error('HTTP 503');
    observedStream(health, clock, 'pods').enter('down', { error });
    await clock.advance(300);
    expect((await get()).status).toBe(200);
    await clock.advance(1);
    const response = await get();
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      alive: false,
      reasons: ['the stream for pods.v1 cluster-wide is down: HTTP 503'],
      streams: [{ name: 'pods.v1 cluster-wide', state: 'down', secondsInState: 301, error: 'HTTP 503' }],
    });
    expect(fn).toHaveBeenCalledTimes(1);
  });
});

describe('If a stream is stuck, the liveness endpoint', () => {
  const stuck = async (request: () => Promise<unknown>) => {
    const client = { request: vi.fn(request), stream: () => Promise.reject() };
    const operator = await probing(undefined, { client: client as never });
    observedStream(operator.health, operator.clock, 'pods').enter('watching', { lastEventAt: 0 });
    await operator.clock.advance(600);
    return { ...operator, client };
  };

  it.each([
    ['is red if the server answers', () => Promise.resolve({ major: '1' }), 503],
    ['is red if the server answers, even if it says no', () => Promise.reject(apiError({ status: 403 })), 503],
    ['is green if the server is broken', () => Promise.reject(apiError({ status: 500 })), 200],
    ['is green if the server cannot be reached', () => Promise.reject(new Error('ECONNREFUSED')), 200],
  ])('%s', async (_, request, status) => {
    const { get, client } = await stuck(request);
    expect((await get()).status).toBe(status);
    expect(client.request).toHaveBeenCalledTimes(1);
    expect(client.request).toHaveBeenCalledWith(
      expect.objectContaining({
        method: 'GET',
        path: '/version',
        retries: 'none',
        urgent: true,
        signal: expect.any(AbortSignal),
      }),
    );
  });

  it('is green if the server does not answer soon, whatever the client waits for', async () => {
    const { get, clock, client } = await stuck(() => new Promise(() => {}));
    const asked = get();
    await eventually(() => client.request.mock.calls.length > 0);
    await clock.advance(3);
    expect((await asked).status).toBe(200);
  });
});

function cycle(): object {
  const result: Record<string, unknown> = {};
  result['self'] = result;
  return result;
}
