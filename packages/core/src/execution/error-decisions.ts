/** Decides what an error of a handler means: another attempt, failure, or nothing. Pure. */
import {
  describeError,
  HandlerRetriesError,
  HandlerTimeoutError,
  KopfError,
  LoginError,
  PermanentError,
  TemporaryError,
} from '../errors.js';
import { type AnyHandler, type Backoff, DEFAULT_ERRORS, titleOf } from '../intents/handlers.js';
import type { Seconds } from '../seams/clock.js';
import type { LogLevel } from '../seams/logger.js';
import { adviceOn } from './logging/read-only-advice.js';
import type { Outcome } from './outcomes.js';

const CHILDREN_RETRY = 'KOPF_CHILDREN_RETRY';

/** Thrown through a handler whose sub-handlers are not all done; the handler is called again when they are due. */
export function childrenRetry(delay: Seconds | undefined): TemporaryError {
  return new TemporaryError('', { delay, code: CHILDREN_RETRY });
}

/** Checked by code, since sub-handlers may be executed by another copy of this package. */
export function isChildrenRetry(error: Error): boolean {
  return error instanceof TemporaryError && error.code === CHILDREN_RETRY;
}

/** The data of the failed attempt. */
export interface Attempt {
  readonly handler: AnyHandler;
  /** Since the first attempt. */
  readonly runtime: Seconds;
  /** The number of attempts before this one. */
  readonly retries: number;
  /** The pause before the next attempt after an arbitrary error. */
  readonly backoff: Seconds;
  /** The body of the handled object, if any. */
  readonly body?: object | undefined;
}

export interface ErrorDecision {
  readonly level: LogLevel;
  readonly text: string;
  /** Whether the error is unexpected, and should be logged with its stack. */
  readonly isTraced: boolean;
  readonly outcome: Ending;
}

/** The part of an outcome that the error determines. */
type Ending =
  | Omit<Extract<Outcome, { readonly result: unknown }>, 'subrefs'>
  | Omit<Extract<Outcome, { readonly final: true; readonly error: Error }>, 'subrefs'>
  | Omit<Extract<Outcome, { readonly final: false }>, 'subrefs'>;

/** Whether calling the handler is pointless: its time or its attempts are used up. Time is checked first. */
export function whySpent({ handler, runtime, retries }: Omit<Attempt, 'backoff'>): PermanentError | undefined {
  if (handler.timeout !== undefined && runtime >= handler.timeout) return timedOut(handler, runtime);
  if (handler.retries !== undefined && retries >= handler.retries) {
    return new HandlerRetriesError(`${titleOf(handler)} has exceeded ${retries} retries.`);
  }
  return undefined;
}

export function timedOut(handler: AnyHandler, runtime: Seconds, options: ErrorOptions = {}): HandlerTimeoutError {
  return new HandlerTimeoutError(
    `${titleOf(handler)} has timed out after ${roundedSeconds(runtime)} seconds.`,
    options,
  );
}

/** The first match wins. */
export function judgeError(error: Error, attempt: Attempt): ErrorDecision {
  const { handler } = attempt;
  const title = titleOf(handler);
  const what = describeError(error);

  // Not really an error: it continues with the sub-handlers next time. The handler's limits are checked then.
  if (isChildrenRetry(error) && error instanceof TemporaryError) {
    const text = `${title} has unfinished sub-handlers. Will retry soon.`;
    return { level: 'debug', text, isTraced: false, outcome: { final: false, error, delay: error.delay } };
  }

  // Our own messages are complete.
  if (error instanceof HandlerTimeoutError || error instanceof HandlerRetriesError) {
    return failure(error.message === '' ? what : error.message, error);
  }

  // The handler's explicit decision, whatever its mode for arbitrary errors.
  if (error instanceof TemporaryError) {
    const spent = whySpentNext(attempt, error.delay ?? 0, {
      timeout: (timeout) => `${title} failed temporarily but will time out after ${timeout} seconds: ${what}`,
      retries: (retries) => `${title} failed temporarily but will exceed ${retries} retries: ${what}`,
      cause: error,
    });
    if (spent !== undefined) return failure(spent.message, spent);
    const outcome: Ending = { final: false, error, delay: error.delay };
    return { level: 'error', text: `${title} failed temporarily: ${what}`, isTraced: false, outcome };
  }
  if (error instanceof PermanentError) return failure(`${title} failed permanently: ${what}`, error);

  return judgeUnexpected(error, attempt);
}

/** For errors that are not addressed to the framework, the handler's mode decides. */
function judgeUnexpected(error: Error, attempt: Attempt): ErrorDecision {
  const { handler, backoff } = attempt;
  const title = `${titleOf(handler)} failed with an exception and will`;
  const what = `${describeError(error)}${adviceOn(error, attempt.body)}`;
  const isTraced = isWorthTracing(error);
  switch (handler.errors ?? DEFAULT_ERRORS[handler.kind]) {
    case 'ignored': {
      const outcome: Ending = { final: true, result: undefined };
      return { level: 'error', text: `${title} ignore it: ${what}`, isTraced, outcome };
    }
    case 'permanent':
      return failure(`${title} stop now: ${what}`, error, { isTraced });
    case 'temporary': {
      const spent = whySpentNext(attempt, backoff, {
        timeout: (timeout) =>
          `${title} stop now (it would time out in ${timeout} seconds on the next attempt): ${what}`,
        retries: (retries) => `${title} stop now (it would exceed ${retries} retries on the next attempt): ${what}`,
        cause: error,
      });
      if (spent !== undefined) return failure(spent.message, spent, { isTraced });
      const outcome: Ending = { final: false, error, delay: backoff };
      const text = `${title} try again in ${roundedSeconds(backoff)} seconds: ${what}`;
      return { level: 'error', text, isTraced, outcome };
    }
  }
}

/** Stacks help if they lead to the mistake: not if a non-error was thrown, nor for a missing file. */
function isWorthTracing(error: Error): boolean {
  if (error instanceof LoginError) return false;
  return !(error instanceof KopfError && (error.code === 'KOPF_NON_ERROR' || error.code === 'KOPF_REFUSED'));
}

function failure(text: string, error: Error, { isTraced = false } = {}): ErrorDecision {
  return { level: 'error', text, isTraced, outcome: { final: true, error } };
}

interface LookAheadTexts {
  readonly timeout: (timeout: Seconds) => string;
  readonly retries: (retries: number) => string;
  readonly cause: Error;
}

/** An attempt that would be over the limits is not worth waiting for. */
function whySpentNext(attempt: Attempt, delay: Seconds, texts: LookAheadTexts): PermanentError | undefined {
  const { handler, runtime, retries } = attempt;
  const { cause } = texts;
  if (handler.timeout !== undefined && runtime + delay >= handler.timeout) {
    return new HandlerTimeoutError(texts.timeout(handler.timeout), { cause });
  }
  if (handler.retries !== undefined && retries + 1 >= handler.retries) {
    return new HandlerRetriesError(texts.retries(handler.retries), { cause });
  }
  return undefined;
}

/**
 * The pause before the next attempt: fixed, or growing with every attempt up to its maximum. The jitter spreads it in
 * both directions, so that many objects that failed together do not come back together.
 */
export function backoffOf(backoff: Backoff, retries: number, random: () => number = Math.random): Seconds {
  if (typeof backoff === 'number') return backoff;
  const { min, max, factor = 2, jitter = 0 } = backoff;
  const delay = Math.min(max, min * factor ** retries);
  const spread = 1 + jitter * (2 * random() - 1);
  return Math.min(max, delay * spread);
}

/** Rounded to milliseconds, for people. */
export function roundedSeconds(seconds: Seconds): Seconds {
  return Math.round(seconds * 1000) / 1000;
}
