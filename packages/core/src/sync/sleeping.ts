/** Sleeping until the first of several delays is over. */
import type { Clock, Seconds } from '../seams/clock.js';

type Delay = Seconds | null | undefined;

export interface SleepOptions {
  /** Ends the sleep early, and without an error. */
  readonly wakeup?: AbortSignal | undefined;
  /** Ends the sleep with an error. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sleeps for the shortest of the delays; those absent do not count. No delays at all, or one of them being over
 * already, is no sleep. Resolves with the seconds left unslept if woken up early, else with `undefined`.
 */
export async function sleep(
  clock: Clock,
  delays: Delay | Iterable<Delay>,
  options: SleepOptions = {},
): Promise<Seconds | undefined> {
  const { wakeup, signal } = options;
  signal?.throwIfAborted();
  const delay = shortestDelay(delays);
  if (delay === undefined || delay <= 0) return undefined;
  return await clock.sleep(delay, { ...(wakeup ? { wakeup } : {}), ...(signal ? { signal } : {}) });
}

/** The shortest of the delays, if there is any. */
function shortestDelay(delays: Delay | Iterable<Delay>): Seconds | undefined {
  const all = typeof delays === 'object' && delays !== null ? [...delays] : [delays];
  const known = all.filter((delay) => delay !== undefined && delay !== null);
  return known.length > 0 ? Math.min(...known) : undefined;
}
