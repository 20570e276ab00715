/** Arithmetic of durations. The clock returns fractions of seconds, whose sums are inexact: 0.1 + 0.2 is not 0.3. */
import type { Seconds } from '@kopf-ts/core';

const MICROSECONDS = 1_000_000;

/** The time between two moments, rounded: noise would make it slightly too short, and cost one more round. */
export function elapsed(since: Seconds, now: Seconds): Seconds {
  return Math.round((now - since) * MICROSECONDS) / MICROSECONDS;
}

/** The rest of the current interval after so much time; a whole one at its beginning. */
export function remainderOf(interval: Seconds, passed: Seconds): Seconds {
  const length = Math.round(interval * MICROSECONDS);
  if (length <= 0) return 0;
  return (length - (Math.round(passed * MICROSECONDS) % length)) / MICROSECONDS;
}
