/**
 * Gates at which requests wait when the server has asked for a pause (HTTP 429 with Retry-After). There is one for each
 * kind of request to each server: servers throttle by these, too, and a pause for lists must not affect leases.
 */
import type { Clock, Seconds } from '@kopf-ts/core';
import { KubeTimeoutError } from '../errors.js';

export interface Gates {
  /** Whether all gates are open, which is the usual case. */
  readonly areOpen: boolean;
  isClosed(key: string): boolean;
  /**
   * Resolves when requests may be sent, with the time that took. Rejects with the signal's reason, or with a timeout if
   * the gate is still closed after the limit.
   */
  pass(key: string, options: { readonly limit: Seconds | undefined; readonly signal: AbortSignal }): Promise<Seconds>;
  /**
   * Closes the gate for that long from now; never shortens an earlier pause. Returns whether the gate was open before.
   */
  close(key: string, seconds: Seconds): boolean;
}

/** Spreads waiting requests afterwards, so that they do not all hit the same limit again. */
const MAX_SPREAD: Seconds = 1;
const SPREAD_PART = 0.1;

interface Closure {
  readonly openAt: Seconds;
  readonly spread: Seconds;
}

export function gates(clock: Clock, random: () => number): Gates {
  const closures = new Map<string, Closure>();
  const secondsLeft = (key: string): Seconds => (closures.get(key)?.openAt ?? Number.NEGATIVE_INFINITY) - clock.now();
  const forgetOpen = (): void => {
    for (const key of closures.keys()) if (secondsLeft(key) <= 0) closures.delete(key);
  };
  return {
    get areOpen() {
      return closures.size === 0;
    },
    isClosed: (key) => secondsLeft(key) > 0,
    async pass(key, { limit = Number.POSITIVE_INFINITY, signal }) {
      const since = clock.now();
      for (let left = secondsLeft(key); left > 0; left = secondsLeft(key)) {
        const mayWait = limit - (clock.now() - since);
        if (mayWait <= 0) {
          throw new KubeTimeoutError(
            `The request was not sent within ${limit}s: the server asked to hold ${key} back for ` +
              `${Math.ceil(left)}s more (HTTP 429, Retry-After).`,
          );
        }
        const spread = (closures.get(key)?.spread ?? 0) * random();
        await clock.sleep(Math.min(left + spread, mayWait), { signal });
      }
      return clock.now() - since;
    },
    close(key, seconds) {
      forgetOpen();
      const known = closures.get(key);
      closures.set(key, {
        openAt: Math.max(known?.openAt ?? Number.NEGATIVE_INFINITY, clock.now() + seconds),
        spread: Math.min(MAX_SPREAD, SPREAD_PART * seconds),
      });
      return known === undefined;
    },
  };
}
