import { PermanentError, sleep, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { BODY, DELETED_BODY, deferred, forEver, harness, UNWANTED_BODY } from './harness.js';

describe('Spawning a daemon', () => {
  it('happens once, however many events come', async () => {
    const { registry, event, memory, daemons } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', function fn() {
      calls += 1;
      return forEver();
    });
    expect(await event({ eventType: null })).toEqual([]);
    await event();
    await event();
    expect(calls).toBe(1);
    expect([...memory.daemons.running.keys()]).toEqual(['fn']);
    expect(daemons.size).toBe(1);
  });

  it('does not wait for the daemon, nor calls it before the event is done with', async () => {
    const { registry, clock, begin } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', function fn() {
      calls += 1;
      return forEver();
    });
    const handling = begin();
    expect(calls).toBe(0);
    await handling;
    await clock.settle();
    expect(calls).toBe(1);
  });

  it('is not repeated after the daemon has exited on its own', async () => {
    const { registry, event, memory, logger, daemons } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', async function fn() {
      calls += 1;
    });
    await event();
    expect(memory.daemons.foreverStopped).toEqual(new Set(['fn']));
    expect(logger.messages('debug')).toContain(
      "Daemon 'fn' has exited on its own and will not be retried or restarted.",
    );
    await event();
    await event({ body: UNWANTED_BODY });
    await event();
    expect(calls).toBe(1);
    expect(memory.daemons.running.size).toBe(0);
    expect(daemons.size).toBe(0);
  });

  it('does not happen if the filters do not fit', async () => {
    const { registry, event, memory } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', { labels: { wanted: 'no' } }, function fn() {
      calls += 1;
    });
    expect(await event()).toEqual([]);
    expect(calls).toBe(0);
    expect(memory.daemons.running.size).toBe(0);
    expect(memory.daemons.live).toBeUndefined();
  });

  it('does not happen while the object is being deleted', async () => {
    const { registry, event } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', function fn() {
      calls += 1;
    });
    await event({ body: DELETED_BODY });
    expect(calls).toBe(0);
  });

  it('does not happen for a deleted object, even if its deletion was never announced', async () => {
    const { registry, event, memory } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', function fn() {
      calls += 1;
    });
    expect(await event({ eventType: 'DELETED' })).toEqual([]);
    expect(calls).toBe(0);
    expect(memory.daemons.running.size).toBe(0);
  });

  it('does not happen while the operator is paused, and happens by the first event afterwards', async () => {
    const { registry, event, paused, memory } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', function fn() {
      calls += 1;
      return forEver();
    });
    paused.turn(true);
    expect(await event()).toEqual([]);
    expect(calls).toBe(0);
    expect(memory.daemons.foreverStopped.size).toBe(0);
    paused.turn(false);
    await event();
    expect(calls).toBe(1);
  });

  it('does not happen any more when the operator exits', async () => {
    const { registry, event, daemons } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', function fn() {
      calls += 1;
    });
    daemons.close();
    await event();
    expect(calls).toBe(0);
  });
});

describe('The initial delay', () => {
  it.each<{ what: string; initialDelay: number | ((kwargs: { body: unknown }) => number) }>([
    { what: 'a number', initialDelay: 5 },
    {
      what: 'a function of the object',
      initialDelay: ({ body }) => ((body as typeof BODY).metadata?.name === 'name1' ? 5 : 1),
    },
  ])('is obeyed if it is $what', async ({ initialDelay }) => {
    const { registry, event, clock } = harness();
    const calls: number[] = [];
    registry.daemon('kopfexamples', { initialDelay }, function fn() {
      calls.push(clock.now());
    });
    await event();
    await clock.advance(10);
    expect(calls).toEqual([5]);
  });

  it('is asked for once', async () => {
    const { registry, event, clock } = harness();
    let asked = 0;
    const initialDelay = () => {
      asked += 1;
      return 5;
    };
    registry.daemon('kopfexamples', { initialDelay }, function fn() {
      throw new TemporaryError('again', { delay: 1 });
    });
    await event();
    await event();
    await clock.advance(10);
    expect(asked).toBe(1);
  });

  it.each<{ what: string; initialDelay: () => number }>([
    {
      what: 'throws',
      initialDelay: () => {
        throw new Error('boo!');
      },
    },
    { what: 'returns something else', initialDelay: () => 'boo!' as never },
  ])('is none, and this is told, if its function $what', async ({ initialDelay }) => {
    const { registry, event, logger } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', { initialDelay }, function fn() {
      calls += 1;
    });
    await event();
    expect(calls).toBe(1);
    expect(logger.find("Daemon 'fn' has a broken initial delay, and starts at once: ")?.level).toBe('error');
    expect(logger.find('boo!')).toBeDefined();
  });

  it('is interrupted by stopping, and the function is never called', async () => {
    const { registry, event, clock, memory, logger } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', { initialDelay: 5 }, function fn() {
      calls += 1;
    });
    await event();
    await clock.advance(1);
    expect(await event({ body: DELETED_BODY })).toEqual([]);
    expect(memory.daemons.running.size).toBe(0);
    expect(memory.daemons.foreverStopped.size).toBe(0);
    expect(logger.messages('debug')).toContain(
      "Daemon 'fn' has exited on request and will not be retried or restarted.",
    );
    await clock.advance(10);
    expect(calls).toBe(0);
  });
});

describe('Retrying a daemon', () => {
  it.each<{ what: string; errors?: 'permanent'; error: Error }>([
    { what: 'a permanent error', error: new PermanentError('boo!') },
    { what: 'any error, if errors are permanent', errors: 'permanent', error: new Error('boo!') },
  ])('does not happen after $what', async ({ errors, error }) => {
    const { registry, event, clock, logger, memory } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', { errors, backoff: 1 }, function fn() {
      calls += 1;
      throw error;
    });
    await event();
    await clock.advance(100);
    expect(calls).toBe(1);
    expect(logger.find("Daemon 'fn' has exited on its own")).toBeDefined();
    expect(memory.daemons.foreverStopped).toEqual(new Set(['fn']));
  });

  it.each<{ what: string; backoff?: number; error: unknown; delay: number }>([
    { what: 'the delay of a temporary error', error: new TemporaryError('boo!', { delay: 3.45 }), delay: 3.45 },
    { what: 'the backoff after an arbitrary error', backoff: 1.23, error: new Error('boo!'), delay: 1.23 },
    { what: 'the backoff after something that is not an error', backoff: 1.23, error: 'boo!', delay: 1.23 },
    { what: 'the backoff after nothing thrown as an error', backoff: 1.23, error: undefined, delay: 1.23 },
  ])('waits for $what', async ({ backoff, error, delay }) => {
    const { registry, event, clock, logger } = harness();
    const calls: { at: number; retry: number }[] = [];
    registry.daemon('kopfexamples', { backoff }, async function fn({ retry }) {
      calls.push({ at: clock.now(), retry });
      if (retry === 0) throw error;
    });
    await event();
    await clock.advance(10);
    expect(calls).toEqual([
      { at: 0, retry: 0 },
      { at: delay, retry: 1 },
    ]);
    expect(logger.find("Daemon 'fn' succeeded.")).toBeDefined();
  });

  it('is immediate if the error says so, but others are not starved by that', async () => {
    const { registry, event, clock } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', function fn() {
      calls += 1;
      if (calls < 5) throw new TemporaryError('boo!', { delay: 0 });
    });
    await event();
    expect(calls).toBe(5);
    expect(clock.now()).toBe(0);
  });

  it.each<{ what: string; options: { retries?: number; timeout?: number }; calls: readonly number[] }>([
    { what: 'retries', options: { retries: 3 }, calls: [0, 1.23, 2.46] },
    { what: 'time', options: { timeout: 4 }, calls: [0, 1.23, 2.46, 3.69] },
  ])('ends when there is no more $what', async ({ options, calls }) => {
    const { registry, event, clock, logger } = harness();
    const called: number[] = [];
    registry.daemon('kopfexamples', options, function fn() {
      called.push(clock.now());
      throw new TemporaryError('boo!', { delay: 1.23 });
    });
    await event();
    await clock.advance(100);
    expect(called).toEqual(calls);
    expect(logger.find("Daemon 'fn' has exited on its own")).toBeDefined();
  });

  it('is not waited for if the daemon is to stop', async () => {
    const { registry, event, clock, memory } = harness();
    let calls = 0;
    registry.daemon('kopfexamples', { backoff: 10 }, function fn() {
      calls += 1;
      throw new Error('boo!');
    });
    await event();
    await clock.advance(5);
    expect(await event({ body: DELETED_BODY })).toEqual([]);
    expect(memory.daemons.running.size).toBe(0);
    await clock.advance(100);
    expect(calls).toBe(1);
  });
});

describe('A daemon sees', () => {
  it('the newest state of the object in all views, as long as it runs', async () => {
    const { registry, event, clock } = harness();
    const looks: unknown[] = [];
    registry.daemon('kopfexamples', async function fn({ body, spec, stopped }) {
      while (!stopped.aborted) {
        looks.push([body.spec, (spec as { field: string }).field]);
        await sleep(1, stopped);
      }
    });
    await event();
    await event({ body: { ...BODY, spec: { field: 'newer' } } });
    await clock.advance(1);
    expect(looks).toEqual([
      [{ field: 'value' }, 'value'],
      [{ field: 'newer' }, 'newer'],
    ]);
  });

  it('what its own patch has changed, unless something newer is known', async () => {
    const versions: unknown[] = [];
    const answers = ['103', '101'];
    const { registry, event, clock } = harness({
      answer: () => ({ body: { ...BODY, metadata: { ...BODY.metadata, resourceVersion: answers.shift() ?? '' } } }),
    });
    registry.timer('kopfexamples', { interval: 1 }, function fn({ patch, meta }) {
      versions.push(meta.resourceVersion);
      patch.metadata.annotations['seen'] = String(meta.resourceVersion);
    });
    await event();
    await clock.advance(1);
    await event({ body: { ...BODY, metadata: { ...BODY.metadata, resourceVersion: '102' } } });
    await clock.advance(1);
    expect(versions).toEqual(['100', '103', '102']);
  });

  it('the logger of its object, whose lines may be posted, unlike those of the framework', async () => {
    const { registry, event, logger, posted } = harness({ settings: { posting: { loggers: true, level: 'debug' } } });
    registry.daemon('kopfexamples', function fn({ logger }) {
      logger.info('Hello!');
    });
    await event();
    expect(logger.find('Hello!')?.fields).toMatchObject({ object: { name: 'name1', uid: 'uid1' } });
    expect(logger.find("Daemon 'fn' has exited on its own")?.fields).toMatchObject({ object: { name: 'name1' } });
    expect(posted).toContainEqual(expect.objectContaining({ message: 'Hello!' }));
    expect(posted).not.toContainEqual(expect.objectContaining({ message: expect.stringContaining('on its own') }));
  });

  it('nothing of the object is held when nobody runs', async () => {
    const { registry, event, memory } = harness();
    const first = deferred();
    const second = deferred();
    registry.daemon('kopfexamples', async function one() {
      await first.promise;
    });
    registry.daemon('kopfexamples', async function two() {
      await second.promise;
    });
    await event();
    expect(memory.daemons.live?.newest).toBe(BODY);
    first.resolve();
    await event();
    expect(memory.daemons.live).toBeDefined();
    second.resolve();
    await event();
    expect(memory.daemons.live).toBeUndefined();
  });
});
