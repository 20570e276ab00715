/** A limit on how often streams connect, all of them together: so that a restart of the API server is no storm. */
import type { Clock } from '../../seams/clock.js';

export interface ConnectionLimiter {
  /** Resolves when the connection may be made. Rejects with the signal's reason; then, no connection is counted. */
  acquire(signal?: AbortSignal): Promise<void>;
}

export interface ConnectionLimits {
  /** The long-run rate. */
  readonly perSecond: number;
  /** How many connections may be made at once after a period of quiet. */
  readonly burst: number;
}

/** Connections are made in the order of asking: at once while within the burst, then evenly spread. */
export function connectionLimiter(clock: Clock, { perSecond, burst }: ConnectionLimits): ConnectionLimiter {
  const interval = 1 / perSecond;
  // The moments of the connections if they were evenly spread; the burst is how far they may lag behind the present.
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
