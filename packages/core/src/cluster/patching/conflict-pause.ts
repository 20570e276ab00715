/** Conflicts are normal, if somebody else changes the object often; but two who never wait never get through. */
import type { Seconds } from '../../seams/clock.js';

/** How long to wait after so many conflicts in a row; `random` is from 0 to 1. */
export function conflictPause(conflicts: number, random: number): Seconds {
  return Math.min(1, 0.01 * 2 ** conflicts) * (0.5 + random / 2);
}
