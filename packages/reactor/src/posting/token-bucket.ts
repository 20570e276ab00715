/** Limits of how often something may happen: a burst at once, and then as many as come back with time. */
import type { Seconds } from '@kopf-ts/core';

export interface BucketLimits {
  /** How many may happen at once after a long silence. */
  readonly burst: number;
  /** How many come back in each second. */
  readonly perSecond: number;
}

/** The state of one limit: two numbers, as there is one for each object that is being reported on. */
export interface TokenBucket {
  /** Takes one, if there is one. */
  take(now: Seconds): boolean;
  /** Gives one back: it was not needed. */
  giveBack(): void;
  /** When there will be one; not later than now, if there is one already. */
  nextAt(now: Seconds): Seconds;
  /** Whether all are there, as if nothing had ever been taken: such a bucket needs not be remembered. */
  isFull(now: Seconds): boolean;
}

/** Whole tokens come out of fractions of seconds: some rounding is forgiven, or a sleep for exactly one gets none. */
const TOLERANCE = 1e-6;

export function tokenBucket({ burst, perSecond }: BucketLimits): TokenBucket {
  let tokens = burst;
  let countedAt: Seconds | undefined;

  const refill = (now: Seconds): void => {
    const passed = Math.max(0, now - (countedAt ?? now));
    tokens = Math.min(burst, tokens + passed * perSecond);
    countedAt = now;
  };

  return {
    take(now) {
      refill(now);
      if (tokens < 1 - TOLERANCE) return false;
      tokens -= 1;
      return true;
    },
    giveBack() {
      tokens = Math.min(burst, tokens + 1);
    },
    nextAt(now) {
      refill(now);
      return now + Math.max(0, 1 - tokens) / perSecond;
    },
    isFull(now) {
      refill(now);
      return tokens >= burst - TOLERANCE;
    },
  };
}
