/** The real time. Nothing else in this package sets a timer or reads a clock. */
import type { Clock, Seconds } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';

/** Node fires longer timers at once, with a warning: those are waited for in parts. */
const LONGEST_TIMER_MS = 0x7fffffff;

/**
 * The clock of the machine. A sleep keeps the process alive, as something is to be done after it; a sleep that ends
 * early takes its timer along at once, so that nothing outlives the operator.
 *
 * ```ts
 * const { systemClock } = kopf.reactor;
 * await systemClock.sleep(1.5);
 * ```
 */
export const systemClock: Clock = {
  now,
  utc: () => new Date(),
  async sleep(delay, { wakeup, signal } = {}) {
    signal?.throwIfAborted();
    // Also for what is not a number: a timer would take it for the shortest of delays.
    if (!(delay > 0)) {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      return undefined;
    }
    if (wakeup?.aborted) return delay;
    return await sleepUntil(now() + delay, wakeup, signal);
  },
  alarm(delay, fn) {
    const deadline = now() + delay;
    let timer: NodeJS.Timeout;
    const waitOn = (): void => {
      const left = deadline - now();
      if (left <= 0) fn();
      else timer = setTimeout(waitOn, Math.min(Math.ceil(left * 1000), LONGEST_TIMER_MS));
    };
    timer = setTimeout(waitOn, Math.min(Math.ceil(Math.max(0, delay) * 1000), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

function now(): Seconds {
  return performance.now() / 1000;
}

function sleepUntil(deadline: Seconds, wakeup?: AbortSignal, signal?: AbortSignal): Promise<Seconds | undefined> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const leave = (): void => {
      clearTimeout(timer);
      forgetWakeup?.();
      forgetSignal?.();
    };
    // Timers may fire a fraction of a millisecond too early: what is still left, is slept, too.
    const sleepOn = (): void => {
      const left = deadline - now();
      if (left > 0) {
        timer = setTimeout(sleepOn, Math.min(Math.ceil(left * 1000), LONGEST_TIMER_MS));
        return;
      }
      leave();
      resolve(undefined);
    };
    const forgetSignal =
      signal &&
      onAbort(signal, (reason) => {
        leave();
        reject(reason);
      });
    const forgetWakeup =
      wakeup &&
      onAbort(wakeup, () => {
        leave();
        resolve(Math.max(0, deadline - now()));
      });
    sleepOn();
  });
}
