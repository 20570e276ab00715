/** Waiting for what may never come. */
import type { Clock, Seconds } from '@kopf-ts/core';
import { NOT_NEEDED } from '@kopf-ts/core/engine';

/** Waits for the promise to settle, but not for longer than that; tells whether it has. Never rejects. */
export async function settlesWithin(clock: Clock, limit: Seconds, promise: Promise<unknown>): Promise<boolean> {
  const wakeup = new AbortController();
  const settled = (): true => {
    wakeup.abort(NOT_NEEDED);
    return true;
  };
  const isOver = clock.sleep(limit, { wakeup: wakeup.signal }).then(() => false);
  return await Promise.race([promise.then(settled, settled), isOver]);
}
