import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { Awaitable, Clock, Seconds } from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from './cases.js';

/**
 * A clock, and how to make the time pass by it: for a manual one, by moving it; for a real one, by waiting.
 *
 * ```ts
 * import type { ClockUnderTest } from 'kopf-ts/testing';
 * const clock = kopf.reactor.systemClock;
 * const real: ClockUnderTest = { clock, pass: async (seconds) => void (await clock.sleep(seconds)) };
 * ```
 */
export interface ClockUnderTest {
  readonly clock: Clock;
  pass(seconds: Seconds): Promise<void>;
}

/**
 * How exact a clock is.
 *
 * ```ts
 * import type { ClockExpectations } from 'kopf-ts/testing';
 * const ofRealTime: ClockExpectations = { unit: 0.05, tolerance: 0.5 };
 * ```
 */
export interface ClockExpectations {
  /** What to take for one unit of time in the cases; they pass about twenty of these. Default: 1 second. */
  readonly unit?: Seconds;
  /** By how much a duration may be longer than asked for. Default: 0. */
  readonly tolerance?: Seconds;
}

type Create = () => Awaitable<ClockUnderTest>;

/**
 * What every clock must hold.
 *
 * ```ts
 * import { clockCases, manualClock } from 'kopf-ts/testing';
 * const create = () => {
 *   const clock = manualClock();
 *   return { clock, pass: (seconds: number) => clock.advance(seconds) };
 * };
 * for (const { name, run } of clockCases(create)) it(name, run);
 * ```
 */
export function clockCases(
  create: Create,
  { unit = 1, tolerance = 0 }: ClockExpectations = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (clock: Clock, pass: ClockUnderTest['pass']) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const { clock, pass } = await create();
      await run(clock, (units) => pass(units * unit));
    };
    cases.push({ name, run: runAnew });
  };
  // Rounding to milliseconds and sums of fractions are not what these cases are about.
  const isAbout = (actual: Seconds | undefined, expected: Seconds): boolean =>
    actual !== undefined && Math.abs(actual - expected) <= tolerance + 0.002;

  add('counts the passing time', async (clock, pass) => {
    const before = clock.now();
    await pass(1);
    const elapsed = clock.now() - before;
    assert.ok(isAbout(elapsed, unit), `${elapsed} seconds instead of ${unit}`);
  });

  add('advances the wall-clock time together with the monotonic time', async (clock, pass) => {
    const before = { now: clock.now(), utc: clock.utc().getTime() };
    await pass(1);
    const elapsed = { now: clock.now() - before.now, utc: (clock.utc().getTime() - before.utc) / 1000 };
    assert.ok(isAbout(elapsed.utc, unit), `${elapsed.utc} seconds instead of ${unit}`);
    assert.ok(isAbout(elapsed.utc, elapsed.now), `${elapsed.utc} and ${elapsed.now} differ`);
  });

  add('returns a new date for the wall-clock time each time', async (clock) => {
    clock.utc().setFullYear(1999);
    assert.notEqual(clock.utc().getFullYear(), 1999);
  });

  add('sleeps for as long as requested, not less', async (clock, pass) => {
    const sleep = watched(clock.sleep(2 * unit));
    await pass(1);
    assert.equal(sleep.state, 'pending');
    await pass(1.5);
    assert.equal(sleep.state, 'resolved');
    assert.equal(sleep.value, undefined);
  });

  add('wakes sleepers in the order of their times', async (clock, pass) => {
    const order: string[] = [];
    const sleeps = [
      clock.sleep(3 * unit).then(() => order.push('third')),
      clock.sleep(1 * unit).then(() => order.push('first')),
      clock.sleep(2 * unit).then(() => order.push('second')),
    ];
    await pass(4);
    assert.deepEqual(order, ['first', 'second', 'third']);
    await Promise.all(sleeps);
  });

  for (const delay of [0, -1, Number.NEGATIVE_INFINITY]) {
    add(`yields without sleeping for a delay of ${delay}`, async (clock) => {
      const before = clock.now();
      let steps = 0;
      const other = async (): Promise<void> => {
        while (steps < 100) steps += await Promise.resolve(1);
      };
      const [left] = await Promise.all([clock.sleep(delay).then((value) => ({ value, steps })), other()]);
      assert.deepEqual(left, { value: undefined, steps: 100 }, 'others go on meanwhile');
      assert.ok(clock.now() - before <= tolerance + 0.002);
    });
  }

  for (const forLong of [10_000_000, Number.POSITIVE_INFINITY]) {
    add(`sleeps for very long: ${forLong} seconds`, async (clock, pass) => {
      const waking = new AbortController();
      const sleep = watched(clock.sleep(forLong, { wakeup: waking.signal }));
      await pass(1);
      assert.equal(sleep.state, 'pending');
      waking.abort();
      await pass(0);
      assert.equal(sleep.state, 'resolved');
      const left =
        forLong === Number.POSITIVE_INFINITY ? sleep.value === forLong : isAbout(sleep.value, forLong - unit);
      assert.ok(left, `${sleep.value} seconds left`);
    });
  }

  add('wakes up on request, and returns the remaining time', async (clock, pass) => {
    const waking = new AbortController();
    const sleep = watched(clock.sleep(3 * unit, { wakeup: waking.signal }));
    await pass(1);
    waking.abort(new Error('of no interest'));
    await pass(0);
    assert.equal(sleep.state, 'resolved');
    assert.ok(isAbout(sleep.value, 2 * unit), `${sleep.value} seconds left instead of ${2 * unit}`);
  });

  add('does not fall asleep if already asked to wake up', async (clock, pass) => {
    const sleep = watched(clock.sleep(3 * unit, { wakeup: AbortSignal.abort() }));
    await pass(0);
    assert.equal(sleep.state, 'resolved');
    assert.ok(isAbout(sleep.value, 3 * unit), `${sleep.value} seconds left instead of ${3 * unit}`);
  });

  add('rejects with the reason when aborted', async (clock, pass) => {
    const aborting = new AbortController();
    const sleep = watched(clock.sleep(3 * unit, { signal: aborting.signal }));
    await pass(1);
    assert.equal(sleep.state, 'pending');
    const reason = new Error('enough');
    aborting.abort(reason);
    await pass(0);
    assert.equal(sleep.state, 'rejected');
    assert.equal(sleep.error, reason);
  });

  add('rejects at once if already aborted, even if asked to wake up, too', async (clock, pass) => {
    const reason = new Error('enough');
    const sleep = watched(clock.sleep(3 * unit, { signal: AbortSignal.abort(reason), wakeup: AbortSignal.abort() }));
    await pass(0);
    assert.equal(sleep.state, 'rejected');
    assert.equal(sleep.error, reason);
  });

  add('leaves no listeners behind, however the sleep ends', async (clock, pass) => {
    for (const end of ['in full', 'by wakeup', 'by signal', 'at once']) {
      const [waking, aborting] = [new AbortController(), new AbortController()];
      const options = { wakeup: waking.signal, signal: aborting.signal };
      const sleep = watched(clock.sleep(end === 'at once' ? 0 : unit, options));
      if (end === 'by wakeup') waking.abort();
      if (end === 'by signal') aborting.abort();
      await pass(1.5);
      assert.notEqual(sleep.state, 'pending', end);
      const left = [waking, aborting].map(({ signal }) => getEventListeners(signal, 'abort').length);
      assert.deepEqual(left, [0, 0], `after a sleep that ended ${end}`);
    }
  });

  add('does not disturb other sleepers', async (clock, pass) => {
    const aborting = new AbortController();
    const aborted = watched(clock.sleep(2 * unit, { signal: aborting.signal }));
    const other = watched(clock.sleep(2 * unit));
    aborting.abort();
    await pass(1);
    assert.deepEqual([aborted.state, other.state], ['rejected', 'pending']);
    await pass(1.5);
    assert.equal(other.state, 'resolved');
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { manualClock, testClock } from 'kopf-ts/testing';
 * testClock(() => {
 *   const clock = manualClock();
 *   return { clock, pass: (seconds) => clock.advance(seconds) };
 * }, { describe, it });
 * ```
 */
export function testClock(create: Create, runner?: TestRunner, expectations?: ClockExpectations): void {
  declareCases('a clock', clockCases(create, expectations), runner);
}

interface Watched {
  state: 'pending' | 'resolved' | 'rejected';
  value?: Seconds | undefined;
  error?: unknown;
}

/** What has become of a sleep so far. */
function watched(sleep: Promise<Seconds | undefined>): Watched {
  const result: Watched = { state: 'pending' };
  sleep.then(
    (value) => Object.assign(result, { state: 'resolved', value }),
    (error: unknown) => Object.assign(result, { state: 'rejected', error }),
  );
  return result;
}
