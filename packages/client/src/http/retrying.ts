/** How persistent the client is: which failures are worth another attempt, and when. */
import { ApiError, type Clock, type Logger, type Seconds, type Settings } from '@kopf-ts/core';
import { retryable } from '@kopf-ts/core/engine';
import { KubeConnectionError } from '../errors.js';

export interface RetryPolicy {
  /** As they are at the moment: settings may be changed at any time. */
  readonly settings: Settings['networking'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Which failures are the caller's business, though another attempt might help. */
  readonly isForCaller: (error: unknown) => boolean;
}

/**
 * Is there hope that the same request succeeds later? The server may be unreachable, overloaded, restarting, or being
 * upgraded: then it also forgets the permissions (403) and the tokens (401) for a while.
 */
function isWorthRetrying(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof KubeConnectionError;
  const when = retryable(error);
  return when === 'later' || (when === 'after-changes' && (error.status === 401 || error.status === 403));
}

/**
 * What follows a failure: tries again until it succeeds, or fails with what another try cannot help, or the backoffs are
 * used up. The title says what was tried last, such as `GET https://…`; it is for the logs.
 */
export async function retrying<T>(
  failure: unknown,
  { settings, clock, logger, signal, isForCaller }: RetryPolicy,
  title: () => string,
  attempt: () => Promise<T>,
): Promise<T> {
  const { errorBackoffs, enforceRetryAfter } = settings;
  const count = backoffsCount(errorBackoffs);
  const nameOf = (number: number): string => `Request attempt #${number}${count === undefined ? '' : `/${count + 1}`}`;
  const backoffs = iteratorOf(errorBackoffs);
  try {
    for (let number = 1, error = failure; ; number++) {
      if (signal.aborted || !isWorthRetrying(error) || isForCaller(error)) throw error;
      const next = backoffs.next();
      const what = `${title()} -> ${described(error)}`;
      if (next.done) {
        logger.error(`${nameOf(number)} failed; escalating: ${what}`);
        throw error;
      }
      logger.error(`${nameOf(number)} failed; will retry: ${what}`);
      await clock.sleep(delayOf(next.value, error, enforceRetryAfter, logger), { signal });
      logger.debug(`${nameOf(number + 1)}: ${title()}`);
      try {
        const result = await attempt();
        logger.debug(`${nameOf(number + 1)} succeeded: ${title()}`);
        return result;
      } catch (again) {
        error = again;
      }
    }
  } finally {
    backoffs.return?.();
  }
}

/** The server knows better how long to wait; unless our own plan is more patient than that. */
function delayOf(planned: Seconds, error: unknown, isEnforced: boolean, logger: Logger): Seconds {
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  if (asked === undefined || asked === planned || (asked < planned && !isEnforced)) return planned;
  logger.debug(`Overriding the backoff ${planned}s with the retry-after ${asked}s.`);
  return asked;
}

function iteratorOf(backoffs: Iterable<Seconds> | Seconds | null | undefined): Iterator<Seconds> {
  if (typeof backoffs === 'number') return [backoffs].values();
  return (backoffs ?? [])[Symbol.iterator]();
}

/** `undefined` if they cannot be counted without going through them: they may be infinite. */
function backoffsCount(backoffs: Iterable<Seconds> | Seconds | null | undefined): number | undefined {
  if (backoffs === null || backoffs === undefined) return 0;
  if (typeof backoffs === 'number') return 1;
  const { length, size } = backoffs as { length?: unknown; size?: unknown };
  return [length, size].find((count) => typeof count === 'number');
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const status = error instanceof ApiError && !error.message.startsWith('HTTP ') ? `HTTP ${error.status}: ` : '';
  return `${error.name}: ${status}${error.message}`;
}
