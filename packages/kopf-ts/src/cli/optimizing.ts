/** What V8 saves in a process that is all ours. */
import { setFlagsFromString } from 'node:v8';

/** Of V8 that the flags below were tried with; it complains of those that it does not know. */
const LAST_KNOWN_V8 = 13;

export const FLAGS = ['--optimize-for-size', '--interrupt-budget=1000000'] as const;

/**
 * Operators wait most of the time, and are seldom busy for longer than a moment. So garbage is collected before the heap
 * grows, where V8 would rather take more memory; and functions are compiled to machine code later, when they are hot for
 * longer than a burst of events lasts: earlier, compiling costs more than it saves.
 */
export function optimizeForMemory(): void {
  if (Number.parseInt(process.versions.v8, 10) > LAST_KNOWN_V8) return;
  for (const flag of FLAGS) setFlagsFromString(flag);
}
