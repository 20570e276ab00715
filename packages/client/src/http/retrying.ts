/** The retry policy of the client: which failures are worth another attempt, and when. */
import { ApiError, type Clock, type Logger, type Seconds, type Settings } from '@kopf-ts/core';
import { retryable } from '@kopf-ts/core/engine';
import { KubeConnectionError } from '../errors.js';

export interface RetryPolicy {
  /** The current values: settings may change at any time. */
  readonly settings: Settings['networking'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Failures that are left to the caller, though another attempt might help. */
  readonly isForCaller: (error: unknown) => boolean;
  /** Called before each pause. */
  readonly onRetry?: ((error: unknown, delay: Seconds) => void) | undefined;
}

/**
 * Whether the same request may succeed later. The server may be unreachable, overloaded, restarting, or being upgraded:
 * then it also temporarily forgets permissions (403) and tokens (401).
 */
function isWorthRetrying(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof KubeConnectionError;
  const when = retryable(error);
  return when === 'later' || (when === 'after-changes' && (error.status === 401 || error.status === 403));
}

/**
 * Retries until the request succeeds, fails for good, or the backoffs are used up. The title describes the latest
 * attempt for the logs, such as `GET https://…`.
 */
export async function retrying<T>(
  failure: unknown,
  { settings, clock, logger, signal, isForCaller, onRetry }: RetryPolicy,
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
      const delay = delayOf(next.value, error, enforceRetryAfter, logger);
      onRetry?.(error, delay);
      await clock.sleep(delay, { signal });
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

/** The server knows better how long to wait, unless our own plan is more patient. */
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

/** `undefined` if they cannot be counted without iterating: they may be infinite. */
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
