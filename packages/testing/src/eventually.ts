/** Waiting for what must come true, by whatever clock the operator lives. */
import type { Awaitable, Clock, Seconds } from '@kopf-ts/core';
import { isManual } from './runner/stopping.js';

/**
 * For how long, and how often to look.
 *
 * ```ts
 * import type { EventuallyOptions } from 'kopf-ts/testing';
 * const options: EventuallyOptions = { clock: kopf.reactor.systemClock, timeout: 5 };
 * ```
 */
export interface EventuallyOptions {
  readonly clock: Clock;
  /** For how long to wait, by the clock. Default: 30 seconds. */
  readonly timeout?: Seconds | undefined;
  /** How often to look. Default: 0.1 seconds; and by each second of a manual clock. */
  readonly interval?: Seconds | undefined;
  /** Called before each look: to let everything happen that can. */
  readonly settled?: (() => Promise<void>) | undefined;
}

/**
 * Calls the function until it does not throw, and gives what it returns; when the time is over, throws what it throws.
 * With a manual clock, it is this that moves the time, so nothing is really waited for.
 *
 * ```ts
 * import { eventually, testCluster } from 'kopf-ts/testing';
 * await using cluster = await testCluster();
 * const one = await eventually(() => {
 *   const found = cluster.get('kopfexamples/default/one');
 *   expect(found?.status).toEqual({ phase: 'ready' });
 *   return found;
 * }, { clock: cluster.clock });
 * ```
 */
export async function eventually<T>(assertions: () => Awaitable<T>, options: EventuallyOptions): Promise<T> {
  const { clock, timeout = 30, settled } = options;
  const { interval = isManual(clock) ? 1 : 0.1 } = options;
  const deadline = clock.now() + timeout;
  for (;;) {
    await settled?.();
    try {
      return await assertions();
    } catch (error) {
      if (clock.now() >= deadline) throw error;
    }
    const pause = Math.min(interval, deadline - clock.now());
    if (isManual(clock)) await clock.advance(pause);
    else await clock.sleep(pause);
  }
}
