/** A limit on how often something is attempted, whoever attempts it: so that a restart of the API server is no storm. */
import type { Clock } from '../seams/clock.js';

export interface AttemptLimiter {
  /** Resolves when the attempt may be made. Rejects with the signal's reason; then, no attempt is counted. */
  acquire(signal?: AbortSignal): Promise<void>;
}

export interface AttemptLimits {
  /** The long-run rate. */
  readonly perSecond: number;
  /** How many attempts may go at once after a period of quiet. */
  readonly burst: number;
}

/** Attempts go in the order of asking: at once while within the burst, then evenly spread. */
export function attemptLimiter(clock: Clock, { perSecond, burst }: AttemptLimits): AttemptLimiter {
  const interval = 1 / perSecond;
  // The moments of the attempts if they were evenly spread; the burst is how far they may lag behind the present.
  let nextSlot = Number.NEGATIVE_INFINITY;
  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      const now = clock.now();
      const slot = Math.max(nextSlot, now - (burst - 1) * interval);
      nextSlot = slot + interval;
      if (slot <= now) return;
      try {
        await clock.sleep(slot - now, signal === undefined ? {} : { signal });
      } catch (error) {
        nextSlot -= interval;
        throw error;
      }
    },
  };
}
