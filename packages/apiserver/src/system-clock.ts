/** The clock of clusters that are given none. */
import type { Clock } from '@kopf-ts/core';

/** `setTimeout` takes no longer delays; nobody needs them here, but nobody should be woken up at once either. */
const LONGEST_SECONDS = 2_000_000;

/** The real time. */
export function systemClock(): Clock {
  const now = (): number => performance.now() / 1000;
  return {
    now,
    utc: () => new Date(),
    sleep(delay, { wakeup, signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (wakeup?.aborted) return Promise.resolve(Math.max(0, delay));
      const deadline = now() + delay;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          clearTimeout(timer);
          wakeup?.removeEventListener('abort', onWakeup);
          signal?.removeEventListener('abort', onAbort);
        };
        const onWakeup = (): void => {
          leave();
          resolve(Math.max(0, deadline - now()));
        };
        const onAbort = (): void => {
          leave();
          reject(signal?.reason);
        };
        const timer = setTimeout(
          () => {
            leave();
            resolve(undefined);
          },
          Math.min(Math.max(0, delay), LONGEST_SECONDS) * 1000,
        );
        wakeup?.addEventListener('abort', onWakeup, { once: true });
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}
