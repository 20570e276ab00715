import type { Clock, Seconds } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type ClockUnderTest, clockCases, type ManualClock, manualClock } from '../../src/index.js';
import { complaint, failures } from './failures.js';

function good(): ClockUnderTest {
  const clock = manualClock();
  return { clock, pass: (seconds) => clock.advance(seconds) };
}

/** A clock with something wrong in it, made of a good one. */
function spoiled(spoil: (clock: ManualClock) => Partial<Clock>): () => ClockUnderTest {
  return () => {
    const clock = manualClock();
    const parts: Clock = { now: clock.now, utc: clock.utc, sleep: clock.sleep, ...spoil(clock) };
    return { clock: parts, pass: (seconds) => clock.advance(seconds) };
  };
}

const allCases = clockCases(good).map(({ name }) => name);

const LONGEST_TIMER: Seconds = 0x7fffffff / 1000;

const broken: [sin: string, caught: string, create: () => ClockUnderTest][] = [
  ['stands still', 'counts the passing time', spoiled(() => ({ now: () => 5 }))],
  ['counts milliseconds', 'counts the passing time', spoiled((clock) => ({ now: () => clock.now() * 1000 }))],
  [
    'takes the wall-clock time from elsewhere',
    'advances the wall-clock time together with the monotonic time',
    spoiled(() => ({ utc: () => new Date(0) })),
  ],
  [
    'gives out its own date',
    'returns a new date for the wall-clock time each time',
    spoiled((clock) => {
      const date = clock.utc();
      return { utc: () => date };
    }),
  ],
  [
    'does not sleep',
    'sleeps for as long as requested, not less',
    spoiled((clock) => ({ sleep: () => clock.sleep(0) })),
  ],
  [
    'tells what is left even when nothing is',
    'sleeps for as long as requested, not less',
    spoiled((clock) => ({ sleep: async (delay, options) => (await clock.sleep(delay, options)) ?? 0 })),
  ],
  [
    'has one queue for all sleepers',
    'wakes sleepers in the order of their times',
    spoiled((clock) => {
      let last: Promise<unknown> = Promise.resolve();
      return {
        sleep: (delay, options) => {
          const sleep = Promise.all([clock.sleep(delay, options), last]).then(([left]) => left);
          last = sleep.catch(() => undefined);
          return sleep;
        },
      };
    }),
  ],
  ...[0, -1, Number.NEGATIVE_INFINITY].map((delay): [string, string, () => ClockUnderTest] => [
    `lets nobody else run for a delay of ${delay}`,
    `yields without sleeping for a delay of ${delay}`,
    spoiled((clock) => ({
      sleep: async (asked, options) => (asked === delay ? undefined : clock.sleep(asked, options)),
    })),
  ]),
  ...[10_000_000, Number.POSITIVE_INFINITY].map((delay): [string, string, () => ClockUnderTest] => [
    `overflows its timers with ${delay}`,
    `sleeps for very long: ${delay} seconds`,
    spoiled((clock) => ({ sleep: (asked, options) => clock.sleep(asked > LONGEST_TIMER ? 0.001 : asked, options) })),
  ]),
  [
    'cannot be woken up',
    'wakes up on request, and returns the remaining time',
    spoiled((clock) => ({ sleep: (delay, { wakeup: _, ...options } = {}) => clock.sleep(delay, options) })),
  ],
  [
    'tells how much is slept instead of how much is left',
    'wakes up on request, and returns the remaining time',
    spoiled((clock) => ({
      sleep: async (delay, options) => {
        const left = await clock.sleep(delay, options);
        return left === undefined ? undefined : delay - left;
      },
    })),
  ],
  [
    'waits for the wakeup that has been',
    'does not fall asleep if already asked to wake up',
    spoiled((clock) => ({
      sleep: (delay, { wakeup, ...options } = {}) =>
        clock.sleep(delay, wakeup === undefined || wakeup.aborted ? options : { ...options, wakeup }),
    })),
  ],
  [
    'takes an abort for a wakeup',
    'rejects with the reason when aborted',
    spoiled((clock) => ({
      sleep: (delay, { signal, ...options } = {}) =>
        clock.sleep(delay, { ...options, ...(signal && { wakeup: signal }) }),
    })),
  ],
  [
    'has reasons of its own',
    'rejects with the reason when aborted',
    spoiled((clock) => ({
      sleep: (delay, options) =>
        clock.sleep(delay, options).catch(() => {
          throw new Error('aborted');
        }),
    })),
  ],
  [
    'listens to wakeups rather than to aborts',
    'rejects at once if already aborted, even if asked to wake up, too',
    spoiled((clock) => ({
      sleep: async (delay, options = {}) => (options.wakeup?.aborted ? delay : clock.sleep(delay, options)),
    })),
  ],
  [
    'never stops listening',
    'leaves no listeners behind, however the sleep ends',
    spoiled((clock) => ({
      sleep: (delay, options) => {
        options?.signal?.addEventListener('abort', () => undefined);
        return clock.sleep(delay, options);
      },
    })),
  ],
  [
    'wakes up all at once',
    'does not disturb other sleepers',
    spoiled((clock) => {
      const everyone = new AbortController();
      return {
        sleep: (delay, { signal, ...options } = {}) => {
          signal?.addEventListener('abort', () => everyone.abort(signal.reason), { once: true });
          return clock.sleep(delay, { ...options, signal: everyone.signal });
        },
      };
    }),
  ],
];

describe('the suite of clocks', () => {
  it('passes a good one', async () => {
    expect(await failures(clockCases(good))).toEqual([]);
  });

  it('passes a good one in smaller units of time', async () => {
    expect(await failures(clockCases(good, { unit: 0.02 }))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(clockCases(create))).toContain(caught);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('forgives a clock that is late, if told by how much', async () => {
    const late = spoiled((clock) => ({
      sleep: (delay, options) => clock.sleep(delay > 0 ? delay + 0.3 : delay, options),
    }));
    expect(await failures(clockCases(late))).not.toEqual([]);
    expect(await failures(clockCases(late, { tolerance: 0.5 }))).toEqual([]);
  });

  it('says what is wrong in words', async () => {
    const cases = clockCases(spoiled(() => ({ now: () => 5 })));
    expect(await complaint(cases, 'counts the passing time')).toBe('0 seconds instead of 1');
  });
});
