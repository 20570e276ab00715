/** V8 flags for processes that run nothing but an operator. */
import { setFlagsFromString } from 'node:v8';

/** The version of V8 that the flags below were tried with: it complains about unknown flags. */
const LAST_KNOWN_V8 = 13;

export const FLAGS = ['--optimize-for-size', '--interrupt-budget=1000000'] as const;

/**
 * Operators are idle most of the time, and seldom busy for long. So garbage is collected before the heap grows, where V8
 * would take more memory; and functions are optimised only once they stay hot for longer than a burst of events: earlier,
 * compiling costs more than it saves.
 */
export function optimizeForMemory(): void {
  if (Number.parseInt(process.versions.v8, 10) > LAST_KNOWN_V8) return;
  for (const flag of FLAGS) setFlagsFromString(flag);
}
