import { PermanentError, sleep, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { DELETED_BODY, forEver, type Harness, harness, UNWANTED_BODY } from './harness.js';

interface Options {
  readonly interval?: number;
  readonly idle?: number;
  readonly sharp?: boolean;
  readonly initialDelay?: number | (() => number);
  readonly backoff?: number;
  readonly retries?: number;
  readonly timeout?: number;
}

/** Notes when it is called; takes some time; and fails if told so. */
function spawnTimer({ registry, clock }: Harness, options: Options, { takes = 0, fails = [] as unknown[] } = {}) {
  const calls: number[] = [];
  const failures = [...fails];
  registry.timer('kopfexamples', options, async function fn() {
    calls.push(clock.now());
    if (takes > 0) await clock.sleep(takes);
    if (failures.length > 0) throw failures.shift();
  });
  return calls;
}

describe('A timer', () => {
  it.each<{ what: string; options: Options; takes?: number; seconds: number; calls: readonly number[] }>([
    { what: 'at once and by its interval', options: { interval: 1 }, seconds: 3, calls: [0, 1, 2, 3] },
    {
      what: 'by the interval since it has ended',
      options: { interval: 1 },
      takes: 0.3,
      seconds: 3,
      calls: [0, 1.3, 2.6],
    },
    {
      what: 'by the interval since it has begun, if it is sharp',
      options: { interval: 1, sharp: true },
      takes: 0.3,
      seconds: 3,
      calls: [0, 1, 2, 3],
    },
    {
      what: 'by the next of the intervals, if it is sharp and takes longer than one',
      options: { interval: 1, sharp: true },
      takes: 2.5,
      seconds: 6,
      calls: [0, 3, 6],
    },
    {
      what: 'after a whole interval, if it is sharp and takes exactly one',
      options: { interval: 0.1, sharp: true },
      takes: 0.3,
      seconds: 1,
      calls: [0, 0.4, 0.8],
    },
    { what: 'after the initial delay', options: { interval: 1, initialDelay: 5 }, seconds: 6, calls: [5, 6] },
    { what: 'after a callable delay', options: { interval: 1, initialDelay: () => 5 }, seconds: 6, calls: [5, 6] },
    { what: 'once, if it has neither interval nor idling', options: {}, seconds: 100, calls: [0] },
    { what: 'once after the delay, if it has nothing else', options: { initialDelay: 5 }, seconds: 100, calls: [5] },
  ])('is called $what', async ({ options, takes, seconds, calls }) => {
    const h = harness();
    const called = spawnTimer(h, options, { takes: takes ?? 0 });
    await h.event();
    await h.clock.advance(seconds);
    expect(called).toEqual(calls);
  });

  it('is never called twice at once', async () => {
    const h = harness();
    let running = 0;
    let most = 0;
    h.registry.timer('kopfexamples', { interval: 1, sharp: true }, async function fn() {
      running += 1;
      most = Math.max(most, running);
      await h.clock.sleep(3.5);
      running -= 1;
    });
    await h.event();
    await h.clock.advance(20);
    await h.event();
    expect(most).toBe(1);
  });

  it('is over after its only call, and is not started again', async () => {
    const h = harness();
    const calls = spawnTimer(h, {});
    await h.event();
    expect(h.memory.daemons.foreverStopped).toEqual(new Set(['fn']));
    expect(h.logger.find("Timer 'fn' has exited on its own and will not be retried or restarted.")).toBeDefined();
    await h.event({ body: UNWANTED_BODY });
    await h.event();
    expect(calls).toHaveLength(1);
  });

  it('gets its attempts counted anew after each success', async () => {
    const h = harness();
    const retries: number[] = [];
    h.registry.timer('kopfexamples', { interval: 1, backoff: 1 }, function fn({ retry }) {
      retries.push(retry);
      if (retries.length === 1) throw new Error('boo!');
    });
    await h.event();
    await h.clock.advance(3);
    expect(retries).toEqual([0, 1, 0, 0]);
  });
});

describe('A timer that fails', () => {
  it.each<{ what: string; options: Options; error: unknown; calls: readonly number[] }>([
    {
      what: 'the delay of the error',
      options: { interval: 1 },
      error: new TemporaryError('boo!', { delay: 3.45 }),
      calls: [0, 3.45, 4.45],
    },
    {
      what: 'its backoff',
      options: { interval: 1, backoff: 1.23 },
      error: new Error('boo!'),
      calls: [0, 1.23, 2.23, 3.23, 4.23],
    },
    {
      what: 'its backoff, sharp or not',
      options: { interval: 9, sharp: true, backoff: 3 },
      error: 'boo!',
      calls: [0, 3],
    },
  ])('is called again after $what instead of the interval', async ({ options, error, calls }) => {
    const h = harness();
    const called = spawnTimer(h, options, { fails: [error] });
    await h.event();
    await h.clock.advance(4.5);
    expect(called).toEqual(calls);
  });

  const BOO = new TemporaryError('boo!', { delay: 3.45 });

  it.each<{ what: string; options: Options; fails: readonly unknown[]; calls: readonly number[] }>([
    { what: 'permanently', options: { interval: 1 }, fails: [new PermanentError('boo!')], calls: [0] },
    {
      what: 'in all its attempts',
      options: { interval: 1, retries: 3 },
      fails: [BOO, BOO, BOO, BOO],
      calls: [0, 3.45, 6.9],
    },
    { what: 'for all its time', options: { interval: 1, timeout: 5 }, fails: [BOO, BOO, BOO], calls: [0, 3.45] },
  ])('$what is stopped for that object', async ({ options, fails, calls }) => {
    const h = harness();
    const called = spawnTimer(h, options, { fails: [...fails] });
    await h.event();
    await h.clock.advance(100);
    await h.event();
    await h.clock.advance(100);
    expect(called).toEqual(calls);
    expect(h.memory.daemons.foreverStopped).toEqual(new Set(['fn']));
    expect(h.logger.find("Timer 'fn' has failed for good, and is stopped for this object.")).toBeDefined();
    expect(h.daemons.size).toBe(0);
  });

  it('is started again if the object does not fit any more, and then fits again', async () => {
    const h = harness();
    let calls = 0;
    h.registry.timer('kopfexamples', { interval: 1, labels: { wanted: 'yes' } }, function fn() {
      calls += 1;
      if (calls === 1) throw new PermanentError('boo!');
    });
    await h.event();
    await h.event();
    expect(calls).toBe(1);
    await h.event({ body: UNWANTED_BODY });
    expect(calls).toBe(1);
    await h.event();
    await h.clock.advance(1);
    expect(calls).toBe(3);
  });

  it('goes on by its interval if its errors are ignored', async () => {
    const h = harness();
    let calls = 0;
    h.registry.timer('kopfexamples', { interval: 1, errors: 'ignored' }, function fn() {
      calls += 1;
      throw new Error('boo!');
    });
    await h.event();
    await h.clock.advance(2);
    expect(calls).toBe(3);
  });
});

describe('A timer of idle objects', () => {
  it('is called when the object is not changed for that long, and then by the interval', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 5, interval: 2 });
    await h.event({ reset: true });
    await h.clock.advance(3);
    await h.event({ reset: true });
    await h.clock.advance(10);
    expect(calls).toEqual([8, 10, 12]);
  });

  it('waits again when the object is changed again, and does not when it is only seen again', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 5, interval: 1 });
    await h.event({ reset: true });
    await h.clock.advance(5.5);
    await h.event({ reset: true });
    await h.clock.advance(2);
    await h.event();
    await h.clock.advance(4);
    expect(calls).toEqual([5, 10.5, 11.5]);
  });

  it('does not count the idling as its own time', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 5, interval: 1, timeout: 2 });
    await h.event({ reset: true });
    await h.clock.advance(6);
    expect(calls).toEqual([5, 6]);
  });

  it('is called once for each change, if it has no interval', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 5 });
    await h.event({ reset: true });
    await h.clock.advance(57);
    expect(calls).toEqual([5]);
    await h.event({ reset: true });
    await h.clock.advance(100);
    expect(calls).toEqual([5, 62]);
  });

  it('is called again for a change that came during its call', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 5 }, { takes: 2 });
    await h.event({ reset: true });
    await h.clock.advance(6);
    await h.event({ reset: true });
    await h.clock.advance(100);
    expect(calls).toEqual([5, 11]);
  });

  it('exits when it is stopped, also without an interval', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 5 });
    await h.event({ reset: true });
    await h.clock.advance(7);
    expect(calls).toEqual([5]);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.memory.daemons.running.size).toBe(0);
    expect(h.clock.sleepers).toBe(0);
  });

  it('exits when it is stopped while the idling is waited for', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 5 });
    await h.event({ reset: true });
    await h.clock.advance(2);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    await h.clock.advance(10);
    expect(calls).toEqual([]);
  });

  it('does not spin if the object need not be idle at all', async () => {
    const h = harness();
    const calls = spawnTimer(h, { idle: 0 });
    await h.event({ reset: true });
    await h.clock.advance(10.5);
    expect(calls).toEqual([0]);
    await h.event({ reset: true });
    await h.clock.advance(1);
    expect(calls).toEqual([0, 11]);
  });
});

describe('A timer that is stopped', () => {
  it('exits at once between its calls', async () => {
    const h = harness();
    const calls = spawnTimer(h, { interval: 5 });
    await h.event();
    await h.clock.advance(2);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    await h.clock.advance(100);
    expect(calls).toEqual([0]);
    expect(h.memory.daemons.foreverStopped.size).toBe(0);
  });

  it('is never forced, only looked at, in the middle of a call', async () => {
    const h = harness();
    let given: AbortSignal | undefined;
    h.registry.timer('kopfexamples', { interval: 5 }, async function fn({ signal }) {
      given = signal;
      await h.clock.sleep(100);
    });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([60]);
    expect(h.logger.find("Timer 'fn' is still exiting. The next check is in 60 seconds.")).toBeDefined();
    await h.clock.advance(99);
    expect(given?.aborted).toBe(false);
    await h.clock.advance(1);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
  });

  it('knows of that in the middle of a call', async () => {
    const h = harness();
    h.registry.timer('kopfexamples', { interval: 5 }, async function fn({ stopped }) {
      await sleep(100, stopped);
    });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
  });

  it('runs beside a daemon of the same object, and both see the same', async () => {
    const h = harness();
    const calls = spawnTimer(h, { interval: 1 });
    h.registry.daemon('kopfexamples', { id: 'daemon' }, forEver);
    await h.event();
    await h.clock.advance(1);
    expect(calls).toEqual([0, 1]);
    expect([...h.memory.daemons.running.keys()]).toEqual(['fn', 'daemon']);
  });
});

describe('Timers of an operator that may have been replaced', () => {
  it.each([1, 5, 60])('do not tick until it is known that it was not (%d s)', async (seconds) => {
    let mayAct = true;
    const h = harness({ mayAct: () => mayAct });
    const ticks: number[] = [];
    h.registry.timer('kopfexamples', { interval: 1 }, function fn() {
      ticks.push(h.clock.now());
    });
    await h.event();
    await h.clock.advance(2);
    expect(ticks).toEqual([0, 1, 2]);
    mayAct = false;
    await h.clock.advance(seconds);
    expect(ticks).toHaveLength(3);
    mayAct = true;
    await h.clock.advance(2);
    expect(ticks.length).toBeGreaterThan(3);
  });

  it('end without another tick if it is paused then', async () => {
    let mayAct = true;
    const h = harness({ mayAct: () => mayAct });
    const ticks: number[] = [];
    h.registry.timer('kopfexamples', { interval: 1 }, function fn() {
      ticks.push(h.clock.now());
    });
    await h.event();
    mayAct = false;
    await h.clock.advance(3);
    h.paused.turn(true);
    await h.event();
    await h.clock.advance(3);
    expect(ticks).toEqual([0]);
    expect(h.daemons.size).toBe(0);
  });
});
