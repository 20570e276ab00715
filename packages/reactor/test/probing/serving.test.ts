import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { KopfError } from '@kopf-ts/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { activities } from '../../src/activities/activities.js';
import { health } from '../../src/probing/health.js';
import { parseEndpoint } from '../../src/serving/endpoint.js';
import { deferred, eventually, partsUnderTest } from '../activities/operator-parts.js';
import { observedStream } from '../support/observed-stream.js';
import { probing } from './probing-harness.js';

describe('An endpoint', () => {
  it.each([
    ['http://localhost:8080/healthz', { host: 'localhost', port: 8080, path: '/healthz' }],
    ['http://:8080/healthz', { host: undefined, port: 8080, path: '/healthz' }],
    ['http://:8080', { host: undefined, port: 8080, path: '/' }],
    ['http://:8080/', { host: undefined, port: 8080, path: '/' }],
    ['http://0.0.0.0/a/b/', { host: '0.0.0.0', port: 80, path: '/a/b/' }],
    ['http://[::1]:0/x', { host: '::1', port: 0, path: '/x' }],
    ['HTTP:///x', { host: undefined, port: 80, path: '/x' }],
  ])('can be %s', (url, expected) => {
    expect(parseEndpoint({ name: 'liveness', url })).toEqual({ url, ...expected });
  });

  it.each([
    ['https://localhost/healthz', /only http is supported, not https/],
    ['unix:///run/socket', /only http is supported, not unix/],
    ['localhost:8080', /not like http/],
    ['/healthz', /not like http/],
    ['', /not like http/],
    ['http://user:pass@host/', /not like http/],
    ['http://host/?query', /not like http/],
    ['http://host:99999/', /no such port/],
  ])('cannot be "%s", and it is said at once', (liveness, message) => {
    const parts = partsUnderTest();
    const make = () => activities({ ...parts, memo: {}, health: health(parts), liveness });
    expect(make).toThrow(KopfError);
    expect(make).toThrow(message);
  });
});

describe('The health reporter', () => {
  it('is not there if nobody has asked for it', () => {
    const parts = partsUnderTest();
    expect(activities({ ...parts, memo: {}, health: health(parts) }).probes).toEqual([]);
  });

  it('listens on all interfaces if no host is given', async () => {
    const { address, get } = await probing(undefined, { liveness: 'http://:0/healthz' });
    expect(['::', '0.0.0.0']).toContain(address.address);
    expect((await get()).status).toBe(200);
  });

  it('listens only where it is told to', async () => {
    const { address } = await probing();
    expect(address.address).toBe('127.0.0.1');
  });

  it('fails if the port is taken, and names the endpoint', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const liveness = `http://127.0.0.1:${(other.address() as AddressInfo).port}/healthz`;
    const parts = partsUnderTest();
    const [reporter] = activities({ ...parts, memo: {}, health: health(parts), liveness }).probes;
    const error = await reporter?.run(new AbortController().signal).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KopfError);
    expect((error as Error).message).toBe(
      `The liveness endpoint ${liveness} cannot be served: the port is in use; give it another one.`,
    );
  });

  it('ends at once if nobody asks anything', async () => {
    const { get, stop, running, url } = await probing();
    await (await get()).text();
    stop();
    await eventually(() => running.state === 'resolved');
    await expect(fetch(url)).rejects.toThrow();
  });

  it('lets those get their answers who have asked before the end', async () => {
    const release = deferred();
    const fn = vi.fn(() => release.promise.then(() => 'x'));
    const { get, stop, running } = await probing(({ registry }) => registry.on.probe({ id: 'fn' }, fn));
    const asked = get();
    await eventually(() => fn.mock.calls.length > 0);
    stop();
    release.resolve();
    expect(await (await asked).json()).toEqual({ fn: 'x' });
    await eventually(() => running.state === 'resolved');
  });

  it('ends within a second in any case, also if some only connect or do not end, and ends the probes', async () => {
    const aborted = vi.fn();
    const fn = vi.fn();
    const { get, stop, running, clock, address } = await probing(({ registry, clock }) => {
      registry.on.probe({ id: 'fn' }, async ({ signal }) => {
        fn();
        signal.addEventListener('abort', aborted);
        await clock.sleep(1000, { signal });
      });
    });
    const idle = connect(address.port, '127.0.0.1');
    onTestFinished(() => void idle.destroy());
    const asked = get().catch((error: unknown) => error);
    await eventually(() => fn.mock.calls.length > 0);
    stop();
    await clock.advance(0.9);
    expect(running.state).toBe('pending');
    await clock.advance(0.1);
    await eventually(() => running.state === 'resolved');
    expect(await asked).toBeInstanceOf(Error);
    expect(aborted).toHaveBeenCalledTimes(1);
    await clock.settle();
    expect(clock.sleepers).toBe(0);
  });

  it('does nothing if it is stopped before it has begun', async () => {
    const parts = partsUnderTest();
    const liveness = 'http://127.0.0.1:0/healthz';
    const [reporter] = activities({ ...parts, memo: {}, health: health(parts), liveness }).probes;
    await expect(reporter?.run(AbortSignal.abort(new Error('the end')))).resolves.toBe(undefined);
  });
});

describe('The readiness endpoint', () => {
  it('tells the state of all streams and conditions at once', async () => {
    const { get, health, clock } = await probing();
    expect((await get('/readyz')).status).toBe(200);
    const stream = observedStream(health, clock, 'pods');
    const indexed = health.demand('indices populated');
    await clock.advance(3);
    const response = await get('/readyz');
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual({
      ready: false,
      conditions: [{ name: 'indices populated', met: false, why: 'not yet', secondsInState: 3 }],
      streams: [{ name: 'pods.v1 cluster-wide', state: 'starting', secondsInState: 3 }],
    });
    stream.enter('watching', { lastEventAt: clock.now() });
    indexed.turn(true);
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/readyz', { method: 'HEAD' })).status).toBe(200);
  });

  it('is not there if the liveness is told under its name', async () => {
    const { get, health } = await probing(({ registry }) => registry.on.probe({ id: 'fn' }, () => 1), {
      liveness: 'http://127.0.0.1:0/readyz',
    });
    health.demand('indices populated');
    expect(await (await get('/readyz')).json()).toEqual({ fn: 1 });
  });
});
