import { statusProgressStorage } from '@kopf-ts/storage';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TemporaryError } from '../../src/errors.js';
import type { Outcome } from '../../src/execution/outcomes.js';
import type { HandlerState } from '../../src/execution/progress/handler-state.js';
import { type OwnTimesMemory, ownTimesMemory } from '../../src/execution/progress/own-times.js';
import { State } from '../../src/execution/progress/state.js';
import type { Backoff } from '../../src/intents/handlers.js';
import type { Clock, Seconds } from '../../src/seams/clock.js';
import type { ProgressRecord } from '../../src/seams/memory/storage.js';
import { Patch } from '../../src/values/patches/patch.js';
import { formatTimestamp } from '../../src/values/timestamps.js';

const MINUTE = 60;
const DAY = 24 * 60 * 60;
const YEAR = 365 * DAY;
const storage = statusProgressStorage();

/** A clock whose monotonic side goes on while somebody sets the time of the day. */
function settableClock(start = '2026-11-17T00:00:00.000Z') {
  let monotonic = 1000.25;
  let utc = new Date(start).getTime();
  const clock: Clock = {
    now: () => monotonic,
    utc: () => new Date(utc),
    sleep: () => Promise.reject(new Error('nobody waits here')),
  };
  return {
    clock,
    pass(seconds: Seconds) {
      monotonic += seconds;
      utc += seconds * 1000;
    },
    set(shift: Seconds) {
      utc += shift * 1000;
    },
  };
}

interface Loading {
  readonly clock: Clock;
  readonly memory?: OwnTimesMemory | undefined;
  readonly maxDelay?: Seconds;
  readonly backoff?: Backoff;
}

/** One handler on one object, whose record goes through the object with each cycle. */
function handled() {
  let record: ProgressRecord | undefined;
  const problems: string[] = [];
  const load = async ({ clock, memory, maxDelay, backoff }: Loading): Promise<State> => {
    const body = { status: { kopf: { progress: record === undefined ? {} : { fn: record } } } };
    const handler = { id: 'fn', backoff };
    const malformed = (problem: string) => void problems.push(problem);
    const options = { storage, body, handlers: [handler], clock, malformed, ownTimes: memory, maxDelay };
    return (await State.fromStorage(options)).withPurpose('create').withHandlers([handler]);
  };
  return {
    problems,
    get record() {
      return record;
    },
    put: (other: ProgressRecord) => {
      record = other;
    },
    async see(loading: Loading): Promise<HandlerState> {
      return (await load(loading)).get('fn') as HandlerState;
    },
    /** An attempt, whether it is due or not. */
    async fail(loading: Loading, delay: Seconds): Promise<void> {
      const outcome: Outcome = { final: false, error: new TemporaryError('boo'), delay, subrefs: [] };
      const state = (await load(loading)).withOutcomes(new Map([['fn', outcome]]));
      const patch = new Patch();
      await state.store({ body: {}, patch, storage });
      const { status } = patch.merge as { status: { kopf: { progress: { fn: ProgressRecord } } } };
      record = status.kopf.progress.fn;
      loading.memory?.remember(state);
    },
  };
}

const jumps = fc.constantFrom(-YEAR, -DAY, -10 * MINUTE, -1, 0, 1, 10 * MINUTE, DAY, YEAR, 30 * YEAR);

describe('In the process that has set a delay', () => {
  it.each([-30 * YEAR, -YEAR, -10 * MINUTE, 10 * MINUTE, YEAR, 30 * YEAR])(
    'a retry in 4 seconds comes in 4 seconds, if the clock is set by %d seconds meanwhile',
    async (jump) => {
      const { clock, pass, set } = settableClock();
      const memory = ownTimesMemory();
      const object = handled();
      await object.fail({ clock, memory }, 4);
      pass(1);
      set(jump);
      expect((await object.see({ clock, memory })).delay).toBeCloseTo(3, 2);
      pass(2.9);
      expect((await object.see({ clock, memory })).sleeping).toBe(true);
      set(-jump / 2);
      pass(0.2);
      expect((await object.see({ clock, memory })).awakened).toBe(true);
    },
  );

  it('delays and runtimes are those of the monotonic clock, wherever the other one jumps', async () => {
    const steps = fc.array(
      fc.record({
        jump: jumps,
        pause: fc.integer({ min: 0, max: 5000 }),
        delay: fc.option(fc.integer({ max: DAY, min: 0 })),
      }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { clock, pass, set } = settableClock();
        const memory = ownTimesMemory();
        const object = handled();
        const startedAt = clock.now();
        await object.fail({ clock, memory }, 10);
        let dueAt = startedAt + 10;
        for (const { jump, pause, delay } of all) {
          pass(pause);
          set(jump);
          const before = object.record;
          const state = await object.see({ clock, memory });
          expect(state.delay).toBeCloseTo(Math.max(0, dueAt - clock.now()), 1);
          expect(state.runtime).toBeCloseTo(clock.now() - startedAt, 1);
          // An object is not patched for the sake of somebody's clock.
          expect(state.isChanged()).toBe(false);
          expect(object.record).toBe(before);
          if (delay === null) continue;
          await object.fail({ clock, memory }, delay);
          dueAt = clock.now() + delay;
        }
        expect(object.problems).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('its memory does not count for what somebody else has written since then', async () => {
    const { clock, pass } = settableClock();
    const memory = ownTimesMemory();
    const object = handled();
    await object.fail({ clock, memory }, 4);
    pass(1);
    // As another operator would do it, or this one before it was paused.
    await object.fail({ clock }, 100);
    expect((await object.see({ clock, memory })).delay).toBeCloseTo(100, 2);
  });

  it('the times of finished handlers are forgotten', async () => {
    const { clock } = settableClock();
    const memory = ownTimesMemory();
    const object = handled();
    await object.fail({ clock, memory }, 4);
    const record = object.record as ProgressRecord;
    expect(memory.of('fn', record)).toBeDefined();
    const state = await object.see({ clock, memory });
    memory.remember([['fn', state.withOutcome({ final: true, result: undefined, subrefs: [] })]]);
    expect(memory.of('fn', record)).toBeUndefined();
  });
});

describe('A record of another process', () => {
  it('is never waited for longer than the policy permits, and its runtime is never negative', async () => {
    const moments = fc.date({ min: new Date('1970-01-01'), max: new Date('9000-01-01'), noInvalidDate: true });
    const backoffs = fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: 0, max: 7 * DAY }),
      fc.record({ min: fc.constant(1), max: fc.integer({ min: 1, max: 7 * DAY }) }),
    );
    await fc.assert(
      fc.asyncProperty(moments, moments, backoffs, fc.integer({ min: 1, max: 3 * DAY }), async (...random) => {
        const [started, delayed, backoff, maxDelay] = random;
        const { clock, pass } = settableClock();
        const object = handled();
        object.put({ started: formatTimestamp(started), delayed: formatTimestamp(delayed), retries: 1 });
        const loading = { clock, maxDelay, ...(backoff !== undefined && { backoff }) };
        const longest = Math.max(maxDelay, typeof backoff === 'object' ? backoff.max : (backoff ?? 0));
        const state = await object.see(loading);
        expect(state.delay).toBeLessThanOrEqual(longest + 60);
        expect(state.runtime).toBeGreaterThanOrEqual(0);
        // What it does say within that, is believed.
        const left = (delayed.getTime() - clock.utc().getTime()) / 1000;
        if (left <= longest) expect(state.delay).toBeCloseTo(Math.max(0, left), 2);
        pass(longest + 60);
        expect((await object.see(loading)).awakened).toBe(true);
      }),
    );
  });

  it.each<[string, Seconds, Partial<Loading>, boolean]>([
    ['within a day, as by default', DAY, {}, true],
    ['of a machine whose clock is a bit ahead', DAY + 30, {}, true],
    ['of the day after tomorrow', 2 * DAY, {}, false],
    ['of the next year', 300 * DAY, {}, false],
    ['of the day after tomorrow, where the backoff is so long', 2 * DAY, { backoff: 3 * DAY }, true],
    [
      'of the day after tomorrow, where the backoff grows so long',
      2 * DAY,
      { backoff: { min: 1, max: 2 * DAY } },
      true,
    ],
    ['of tomorrow, where the setting is shorter', DAY, { maxDelay: 3600 }, false],
    ['of the next week, where the setting is longer', 7 * DAY, { maxDelay: 30 * DAY }, true],
  ])('with a delay %s: %d seconds', async (_what, ahead, loading, isBelieved) => {
    const { clock } = settableClock();
    const object = handled();
    const at = (seconds: Seconds) => formatTimestamp(new Date(clock.utc().getTime() + seconds * 1000));
    object.put({ started: at(-10), delayed: at(ahead), retries: 3 });
    const state = await object.see({ clock, ...loading });
    expect(state.delay).toBe(isBelieved ? ahead : 0);
    expect(state.retries).toBe(3);
    const problem = `is malformed: its 'delayed' is more than ${loading.maxDelay ?? DAY} seconds ahead.`;
    expect(object.problems).toEqual(isBelieved ? [] : [expect.stringContaining(problem)]);
  });

  it.each([
    [30, []],
    [YEAR, [expect.stringContaining("its 'started' is in the future")]],
  ])('that has started %d seconds in the future has started now, and times out from then on', async (ahead, told) => {
    const { clock, pass } = settableClock();
    const object = handled();
    object.put({ started: formatTimestamp(new Date(clock.utc().getTime() + ahead * 1000)), retries: 1 });
    expect((await object.see({ clock })).runtime).toBe(0);
    expect(object.problems).toEqual(told);
    await object.fail({ clock }, 1);
    pass(50);
    expect((await object.see({ clock })).runtime).toBe(50);
  });
});

describe('A delay that is asked for', () => {
  it.each<[Seconds, Partial<Loading>, Seconds]>([
    [DAY, {}, DAY],
    [3 * DAY, {}, DAY],
    [Number.POSITIVE_INFINITY, {}, DAY],
    [3 * DAY, { maxDelay: 7 * DAY }, 3 * DAY],
    [3 * DAY, { backoff: 2 * DAY }, 2 * DAY],
    [90, { maxDelay: 60 }, 60],
  ])('of %d seconds, with %j, is stored as one of %d', async (asked, loading, delay) => {
    const { clock } = settableClock();
    const object = handled();
    await object.fail({ clock, ...loading }, asked);
    expect((await object.see({ clock, ...loading })).delay).toBe(delay);
    // And so after the next attempt, too.
    await object.fail({ clock, ...loading }, asked);
    expect((await object.see({ clock, ...loading })).delay).toBe(delay);
    expect(object.problems).toEqual([]);
  });

  it('where nothing is stored, is not limited by that', () => {
    const { clock } = settableClock();
    const outcome: Outcome = { final: false, error: new TemporaryError('boo'), delay: 30 * DAY, subrefs: [] };
    const state = State.fromScratch(clock)
      .withHandlers([{ id: 'fn' }])
      .withOutcomes(new Map([['fn', outcome]]));
    expect(state.delay).toBe(30 * DAY);
  });
});
