/** How long to wait before trying again: longer with every failure in a row, and not in step with the others. */
import type { Seconds } from '../seams/clock.js';

export interface BackoffOptions {
  /** The delay after the first failure. */
  readonly base: Seconds;
  /** The longest delay. */
  readonly cap: Seconds;
  /** From 0 to 1, as `Math.random()`. */
  readonly random: () => number;
}

const MAX_DOUBLINGS = 30;

/** Doubled with each of the failures, up to the cap; of that, a random part between a half and the whole. */
export function backoffDelay(failuresInRow: number, { base, cap, random }: BackoffOptions): Seconds {
  const doublings = Math.min(Math.max(failuresInRow - 1, 0), MAX_DOUBLINGS);
  return Math.min(cap, base * 2 ** doublings) * (0.5 + random() / 2);
}
