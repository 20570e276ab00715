/**
 * Calls that may not last for ever. A running function cannot be stopped in JavaScript: it can be told that its time is
 * over, and it can be left alone if it does not care.
 */
import { type HandlerTimeoutError, PermanentError, toError } from '../errors.js';
import type { Clock, Seconds } from '../seams/clock.js';
import { childController } from '../sync/abort.js';
import { alarm } from '../sync/alarm.js';
import { isChildrenRetry } from './verdicts.js';

export interface DeadlineOptions {
  readonly clock: Clock;
  /** How much of the time is left; `undefined` for no limit. */
  readonly timeLeft: Seconds | undefined;
  /** Aborts the call for reasons of others. The call is then waited for, as it may have something to clean up. */
  readonly signal?: AbortSignal | undefined;
  /** The signal is made for this call alone, so that it can be given to the function as it is. */
  readonly signalIsOwn?: boolean | undefined;
  /** What to abort the call with, and to fail it with. */
  readonly timeout: (options?: ErrorOptions) => HandlerTimeoutError;
  /** Told if a call that was left alone has ended after all: with an error, or without. */
  readonly onLateEnd: (error: Error | undefined) => void;
  /** How long to wait for a call before telling that it is still running: then, after twice as long, and so on. */
  readonly patience?: Seconds | undefined;
  readonly onStillRunning?: ((runtime: Seconds) => void) | undefined;
}

/**
 * Calls the function with a signal that aborts at the deadline. Whoever obeys the signal, fails by it; whoever does
 * not, is left alone, and the call fails all the same. Either way, nothing of it is kept after the call.
 */
export function callWithin(options: DeadlineOptions, call: (signal: AbortSignal) => unknown): Promise<unknown> {
  const { timeLeft, patience, signal, signalIsOwn } = options;
  // Nothing is to be watched, and nothing to be cleaned up. Daemons are so: they run for long, and there are many.
  if (signal !== undefined && signalIsOwn && isUnlimited(timeLeft) && patience === undefined) {
    return new Promise((resolve) => resolve(call(signal)));
  }
  return isUnlimited(timeLeft) ? callUnlimited(options, call) : callLimited({ ...options, timeLeft }, call);
}

/** Nobody else can abort it: so there is no need for a signal of its own. */
async function callUnlimited(options: DeadlineOptions, call: (signal: AbortSignal) => unknown): Promise<unknown> {
  const begun = call(options.signal ?? new AbortController().signal);
  if (!isThenable(begun)) return begun;
  const stop = tellFromTimeToTime(options);
  try {
    return await begun;
  } finally {
    stop();
  }
}

async function callLimited(
  options: DeadlineOptions & { readonly timeLeft: Seconds },
  call: (signal: AbortSignal) => unknown,
): Promise<unknown> {
  const controller = childController(options.signal);
  try {
    const begun = call(controller.signal);
    // Watching costs timers, so the quickest ones are not watched: synchronous functions have already ended here.
    if (!isThenable(begun)) return begun;
    const stop = tellFromTimeToTime(options);
    try {
      return await raceWithDeadline(Promise.resolve(begun), options, controller.abort);
    } finally {
      stop();
    }
  } finally {
    controller.dispose();
  }
}

/** Tells that it is still running, until stopped. */
function tellFromTimeToTime({ clock, patience, onStillRunning }: DeadlineOptions): () => void {
  if (patience === undefined) return () => {};
  let cancel = (): void => {};
  const tellAfter = (step: Seconds, total: Seconds): void => {
    cancel = alarm(clock, step, () => {
      onStillRunning?.(total);
      tellAfter(total, total * 2);
    });
  };
  tellAfter(patience, patience);
  return () => cancel();
}

function isUnlimited(timeLeft: Seconds | undefined): timeLeft is undefined {
  return timeLeft === undefined || timeLeft === Number.POSITIVE_INFINITY;
}

async function raceWithDeadline(
  running: Promise<unknown>,
  options: DeadlineOptions & { readonly timeLeft: Seconds },
  abort: (reason: Error) => void,
): Promise<unknown> {
  const { clock, timeLeft, timeout, onLateEnd } = options;
  let deadlineError: HandlerTimeoutError | undefined;
  let cancel = (): void => {};
  const deadline = new Promise<never>((_resolve, reject) => {
    cancel = alarm(clock, timeLeft, () => {
      deadlineError = timeout();
      abort(deadlineError);
      // Whoever listens to the signal needs a moment to react, and then ends in its own way.
      void clock.sleep(0).then(() => reject(deadlineError));
    });
  });
  const watched = running.catch((thrown: unknown) => {
    throw deadlineError === undefined ? thrown : asTimeout(toError(thrown), timeout);
  });
  try {
    return await Promise.race([watched, deadline]);
  } catch (error) {
    if (error !== undefined && error === deadlineError) {
      void running.then(
        () => onLateEnd(undefined),
        (thrown: unknown) => {
          if (thrown !== deadlineError) onLateEnd(toError(thrown));
        },
      );
    }
    throw error;
  } finally {
    cancel();
  }
}

/** Whatever was thrown by the abortion is about the time that is over; unless the function says that it is final. */
function asTimeout(error: Error, timeout: DeadlineOptions['timeout']): Error {
  return error instanceof PermanentError || isChildrenRetry(error) ? error : timeout({ cause: error });
}

/** To be asked before waiting where there is mostly nothing to wait for: waiting for nothing costs three promises. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
