/**
 * Promises that may not last for ever. A running function cannot be stopped in JavaScript: it can be told that its time
 * is over, and it can be left alone if it does not care.
 */
import { type HandlerTimeoutError, PermanentError, toError } from '../errors.js';
import type { Clock, Seconds } from '../seams/clock.js';
import { alarm } from '../sync/alarm.js';
import { isChildrenRetry } from './error-decisions.js';

export interface Deadline {
  readonly clock: Clock;
  /** How much of the time is left; `Infinity` for no limit. */
  readonly timeLeft: Seconds;
  /** What to abort the call with, and to fail it with. */
  timeout(options?: ErrorOptions): HandlerTimeoutError;
  /** Tells the function that its time is over. */
  abort(reason: Error): void;
  /** Told if a call that was left alone has ended after all: with an error, or without. */
  onLateEnd(error: Error | undefined): void;
  /** How long to wait for a call before telling that it is still running: then, after twice as long, and so on. */
  readonly patience: Seconds | undefined;
  onStillRunning(runtime: Seconds): void;
}

/** Who is waited for, by their clocks. */
const overseers = new WeakMap<Clock, Overseer>();

/** Tells that the call is still running, from time to time, until {@link Overseer.end}. */
export function overseerOf(clock: Clock): Overseer {
  let overseer = overseers.get(clock);
  if (overseer === undefined) {
    overseer = new Overseer(clock);
    overseers.set(clock, overseer);
  }
  return overseer;
}

/** For how long a call is running when it is told of. */
interface Telling {
  readonly since: Seconds;
  total: Seconds;
}

/**
 * Most calls end before anything else happens: so nothing is set for a call until a turn of the event loop is over, and
 * then there is one alarm for all that are still running.
 */
class Overseer {
  readonly #clock: Clock;
  readonly #calls = new Map<Deadline, Telling>();
  #isToLook = false;
  #cancelAlarm: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(call: Deadline): void {
    if (call.patience === undefined) return;
    this.#calls.set(call, { since: this.#clock.now(), total: call.patience });
    if (this.#isToLook || this.#cancelAlarm !== undefined) return;
    this.#isToLook = true;
    void this.#clock.sleep(0).then(this.#look);
  }

  end(call: Deadline): void {
    this.#calls.delete(call);
    if (this.#calls.size > 0 || this.#cancelAlarm === undefined) return;
    this.#cancelAlarm();
    this.#cancelAlarm = undefined;
  }

  readonly #look = (): void => {
    this.#isToLook = false;
    this.#cancelAlarm = undefined;
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [call, telling] of this.#calls) {
      if (now - telling.since >= telling.total) {
        call.onStillRunning(telling.total);
        telling.total *= 2;
      }
      next = Math.min(next, telling.since + telling.total);
    }
    if (this.#calls.size > 0) this.#cancelAlarm = alarm(this.#clock, next - now, this.#look);
  };
}

/**
 * Waits for the function until its deadline. If it still runs then, it has timed out, however it ends: a function that obeys
 * its signal may fail by it or return, and nobody can tell what it has left undone; one that does not is left alone. Either
 * way, nothing of it is kept after the call.
 */
export async function untilDeadline(running: Promise<unknown>, deadline: Deadline): Promise<unknown> {
  const { clock, timeLeft } = deadline;
  let deadlineError: HandlerTimeoutError | undefined;
  let cancel = (): void => {};
  const over = new Promise<never>((_resolve, reject) => {
    cancel = alarm(clock, timeLeft, () => {
      deadlineError = deadline.timeout();
      deadline.abort(deadlineError);
      // A function that listens to the signal needs a moment to react: then it is not told of as late.
      void clock.sleep(0).then(() => reject(deadlineError));
    });
  });
  let isEnded = false;
  const watched = running.then(
    (result: unknown) => {
      isEnded = true;
      if (deadlineError !== undefined) throw deadlineError;
      return result;
    },
    (thrown: unknown) => {
      isEnded = true;
      throw deadlineError === undefined ? thrown : asTimeout(toError(thrown), deadline);
    },
  );
  try {
    return await Promise.race([watched, over]);
  } catch (error) {
    if (error !== undefined && error === deadlineError && !isEnded) {
      void running.then(
        () => deadline.onLateEnd(undefined),
        (thrown: unknown) => {
          if (thrown !== deadlineError) deadline.onLateEnd(toError(thrown));
        },
      );
    }
    throw error;
  } finally {
    cancel();
  }
}

/** Whatever the abortion makes the function throw is about the time that is over; unless it says that it is final. */
function asTimeout(error: Error, deadline: Deadline): Error {
  return error instanceof PermanentError || isChildrenRetry(error) ? error : deadline.timeout({ cause: error });
}
