/** Cancellable delayed calls: for time limits, which are set often and rarely expire. */
import type { Clock, Seconds } from '../seams/clock.js';
import { NOT_NEEDED } from './abort.js';

/** Calls the function after the delay; returns a function that cancels it. A cancelled call never happens. */
export function alarm(clock: Clock, delay: Seconds, fn: () => void): () => void {
  if (clock.alarm !== undefined) return clock.alarm(delay, fn);
  const cancelling = new AbortController();
  const expire = (secondsLeft: Seconds | undefined): void => {
    if (secondsLeft === undefined && !cancelling.signal.aborted) fn();
  };
  void clock.sleep(delay, { wakeup: cancelling.signal }).then(expire, () => {});
  return () => cancelling.abort(NOT_NEEDED);
}
