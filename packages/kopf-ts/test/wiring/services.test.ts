import { createServer } from 'node:net';
import { type AnyObject, info, settings as makeSettings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { newPlace, startOperator, stopOperator } from './wired.js';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('an operator', () => {
  it.each([
    [true, ['from the code', 'from the logger']],
    [false, ['from the code']],
  ])('posts events about objects; those of the loggers only if told so: %s', async (loggers, expected) => {
    const place = await newPlace();
    await startOperator(
      place,
      ({ on }) => {
        on.create('kopfexamples', function created({ body, logger }) {
          info(body, { reason: 'Testing', message: 'from the code' });
          logger.info('from the logger');
        });
      },
      { settings: makeSettings({ posting: { loggers } }) },
    );
    const { metadata } = await place.create('one');
    await place.clock.advance(20);
    await place.settle();
    const events = place.cluster.list('events/default') as readonly (AnyObject & { message?: string })[];
    const messages = events.map(({ message }) => message).filter((message) => message?.startsWith('from'));
    expect(messages.sort()).toEqual(expected);
    expect(events[0]).toMatchObject({ involvedObject: { kind: 'KopfExample', name: 'one', uid: metadata?.uid } });
  });

  it('tells of its health where it is told to, for as long as it runs', async () => {
    const place = await newPlace();
    const port = await freePort();
    const started = await startOperator(
      place,
      ({ on }) => {
        on.probe(function first() {
          return 1;
        });
        on.probe(function second() {
          return 'two';
        });
        on.create('kopfexamples', function created() {});
      },
      { liveness: `http://127.0.0.1:${port}/healthz` },
    );
    await started.ready;
    const alive = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect([alive.status, await alive.json()]).toEqual([200, { first: 1, second: 'two' }]);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([ready.status, JSON.stringify(await ready.json())]).toEqual([200, expect.stringContaining('kopfexamples')]);
    await stopOperator(place, started);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  });

  it('fails with the error that a handler has left behind, and names the handler', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    const started = await startOperator(place, ({ on }) => {
      on.create('kopfexamples', function careless() {
        void Promise.reject(new Error('Nobody awaits this.'));
      });
      on.cleanup(function finish() {
        calls.push('cleanup');
      });
    });
    await place.create('one');
    await place.clock.advance(30);
    await expect(started.done).rejects.toThrow(/'careless'.*Nobody awaits this\./);
    expect(calls).toEqual(['cleanup']);
  });

  it('fails if there is no way to log in, and cleans up', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    const started = await startOperator(
      place,
      ({ on }) => {
        on.login({ id: 'refuse', errors: 'permanent' }, () => {
          throw new Error('no such user');
        });
        on.create('kopfexamples', function created() {});
        on.cleanup(function finish() {
          calls.push('cleanup');
        });
      },
      { client: undefined },
    );
    await place.clock.advance(30);
    await expect(started.done).rejects.toThrow(/login to the cluster has failed for good: no such user/);
    expect(started.logger.find("'refuse' failed")?.level).toBe('error');
    expect(calls).toEqual(['cleanup']);
    expect(place.clock.sleepers).toBe(0);
  });
});
