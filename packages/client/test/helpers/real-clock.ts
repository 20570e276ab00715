import { setTimeout as timer } from 'node:timers/promises';
import type { Clock } from '@kopf-ts/core';

/** The time as it is: sockets do not wait for a manual clock. */
export const realClock: Clock = {
  now: () => performance.now() / 1000,
  utc: () => new Date(),
  async sleep(delay, { wakeup, signal } = {}) {
    signal?.throwIfAborted();
    const deadline = performance.now() + delay * 1000;
    const waking = AbortSignal.any([wakeup, signal].filter((one) => one !== undefined));
    try {
      await timer(Math.max(0, delay) * 1000, undefined, { signal: waking });
      return undefined;
    } catch {
      signal?.throwIfAborted();
      return Math.max(0, (deadline - performance.now()) / 1000);
    }
  },
};
