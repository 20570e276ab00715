/**
 * Time for tests: it stands still until told to move, and then it moves through all that was planned for that
 * time, in order. Nothing waits for real, and nothing depends on how fast the machine is.
 */
import { type Clock, KopfError, type Seconds } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';

/**
 * When the time begins.
 *
 * ```ts
 * import type { ManualClockOptions } from 'kopf-ts/testing';
 * const options: ManualClockOptions = { start: '2030-01-01T00:00:00Z' };
 * ```
 */
export interface ManualClockOptions {
  /**
   * The wall-clock time to begin with. Default: the beginning of 2020, UTC, so that tests are the same every day. TLS
   * checks certificates by the real time: where something makes them by this clock, start it now, `start: new Date()`.
   */
  readonly start?: Date | string;
}

/**
 * A clock under control of the test.
 *
 * ```ts
 * import { type ManualClock, manualClock } from 'kopf-ts/testing';
 * const clock: ManualClock = manualClock();
 * const asleep = clock.sleep(60);
 * await clock.advance(60);
 * await asleep;
 * ```
 */
export interface ManualClock extends Clock {
  /**
   * Moves the time, stopping at each deadline on the way: sleepers that are due wake up, do their work, and may
   * fall asleep again, also within the same move. So a loop that sleeps for 1 second runs 5 times in 5 seconds.
   * Resolves when all is quiet again; rejects if that never happens.
   */
  advance(seconds: Seconds): Promise<void>;
  /** Lets everything run that can run without the time moving: promises, immediate callbacks, and what follows. */
  settle(): Promise<void>;
  /** How many are sleeping now. */
  readonly sleepers: number;
  /** How long until the first of them wakes up; `undefined` if nobody sleeps, or all of them sleep for ever. */
  readonly nextWakeup: Seconds | undefined;
}

/** The time is counted in whole microseconds: sums of fractions, such as ten times 0.1, must come out even. */
const TICKS = 1_000_000;

/** Chains of promises settle in one turn of the event loop; but some code counts turns, or does real (local) I/O. */
const QUIET_TURNS = 16;

/** Work that is not quiet by then never will be: it yields in an endless loop, and a test would hang in silence. */
const MAX_TURNS = 100_000;

interface Sleeper {
  /** In ticks; may be infinite. */
  readonly deadline: number;
  wake(): void;
}

/**
 * A clock that moves only when told to: by {@link ManualClock.advance}.
 *
 * ```ts
 * import { manualClock, operatorRunner } from 'kopf-ts/testing';
 * const clock = manualClock({ start: '2030-01-01T00:00:00Z' });
 * await using runner = await operatorRunner({ clock });
 * await clock.advance(3600); // timers tick as if an hour had passed
 * ```
 */
export function manualClock(options: ManualClockOptions = {}): ManualClock {
  const epoch = new Date(options.start ?? '2020-01-01T00:00:00Z').getTime();
  if (Number.isNaN(epoch)) {
    throw new KopfError(`The manual clock cannot begin at "${String(options.start)}": it is not a date.`, {
      code: 'KOPF_BAD_DATE',
    });
  }
  const sleepers = new Set<Sleeper>();
  let ticks = 0;
  /** Grows with everything that the clock is asked for, as the sign that something is still going on. */
  let activity = 0;
  let isAdvancing = false;

  const settle = async (): Promise<void> => {
    for (let quietTurns = 0, turns = 0; quietTurns < QUIET_TURNS; quietTurns++, turns++) {
      const before = activity;
      await nextTurn();
      if (activity !== before) quietTurns = 0;
      if (turns < MAX_TURNS) continue;
      throw new KopfError('Something sleeps for zero seconds in an endless loop, so the clock never gets quiet.', {
        code: 'KOPF_NEVER_QUIET',
      });
    }
  };

  const earliestDeadline = (): number => {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { deadline } of sleepers) earliest = Math.min(earliest, deadline);
    return earliest;
  };

  const moveTo = async (target: number): Promise<void> => {
    await settle();
    for (let deadline = earliestDeadline(); deadline <= target; deadline = earliestDeadline()) {
      ticks = deadline;
      // Those of the same moment wake up in the order in which they fell asleep.
      for (const sleeper of [...sleepers]) if (sleeper.deadline === deadline) sleeper.wake();
      await settle();
    }
    ticks = target;
    await settle();
  };

  return {
    now: () => ticks / TICKS,
    utc: () => new Date(epoch + Math.floor(ticks / (TICKS / 1000))),

    async sleep(delay, { wakeup, signal } = {}) {
      activity++;
      signal?.throwIfAborted();
      if (!(delay > 0)) {
        await nextTurn();
        activity++;
        signal?.throwIfAborted();
        return undefined;
      }
      if (wakeup?.aborted) return delay;

      return await new Promise<Seconds | undefined>((resolve, reject) => {
        let forgetWakeup = (): void => {};
        let forgetSignal = (): void => {};
        const leave = (): void => {
          activity++;
          sleepers.delete(sleeper);
          forgetWakeup();
          forgetSignal();
        };
        const sleeper: Sleeper = {
          // However short, it is still a sleep.
          deadline: ticks + Math.max(1, Math.round(delay * TICKS)),
          wake: () => {
            leave();
            resolve(undefined);
          },
        };
        sleepers.add(sleeper);
        // Not by listeners of their own: one signal may be waited for by thousands.
        if (wakeup !== undefined) {
          forgetWakeup = onAbort(wakeup, () => {
            leave();
            resolve((sleeper.deadline - ticks) / TICKS);
          });
        }
        if (signal !== undefined) {
          forgetSignal = onAbort(signal, (reason) => {
            leave();
            reject(reason);
          });
        }
      });
    },

    async advance(seconds) {
      if (!(seconds >= 0 && seconds < Number.POSITIVE_INFINITY)) {
        throw new KopfError(`Time cannot be advanced by ${seconds} seconds.`, { code: 'KOPF_BAD_ADVANCE' });
      }
      if (isAdvancing) {
        throw new KopfError('The clock is already advancing; await that first.', { code: 'KOPF_BAD_ADVANCE' });
      }
      isAdvancing = true;
      try {
        await moveTo(ticks + Math.round(seconds * TICKS));
      } finally {
        isAdvancing = false;
      }
    },

    settle,

    get sleepers() {
      return sleepers.size;
    },

    get nextWakeup() {
      const deadline = earliestDeadline();
      return deadline === Number.POSITIVE_INFINITY ? undefined : (deadline - ticks) / TICKS;
    },
  };
}

/** By then, all promises have settled that could, and all I/O callbacks that were due have been called. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
