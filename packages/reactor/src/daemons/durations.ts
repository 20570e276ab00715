/** Arithmetics of time. A clock gives fractions of seconds, and these do not add up: 0.1 + 0.2 is not 0.3. */
import type { Seconds } from '@kopf-ts/core';

const MICROSECONDS = 1_000_000;

/** From one moment to another, without the noise that would make it a bit too short, and would cost one more round. */
export function elapsed(since: Seconds, now: Seconds): Seconds {
  return Math.round((now - since) * MICROSECONDS) / MICROSECONDS;
}

/** How much is left of the current one of equal intervals, after so much time of them; the whole one at its beginning. */
export function remainderOf(interval: Seconds, passed: Seconds): Seconds {
  const length = Math.round(interval * MICROSECONDS);
  if (length <= 0) return 0;
  return (length - (Math.round(passed * MICROSECONDS) % length)) / MICROSECONDS;
}
