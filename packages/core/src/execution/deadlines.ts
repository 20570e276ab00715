/**
 * Promises with deadlines. JavaScript cannot stop a running function: it can only be told that its time is over, and be
 * abandoned if it does not react.
 */
import { type HandlerTimeoutError, PermanentError, toError } from '../errors.js';
import type { Clock, Seconds } from '../seams/clock.js';
import { alarm } from '../sync/alarm.js';
import { isChildrenRetry } from './error-decisions.js';

export interface Deadline {
  readonly clock: Clock;
  /** The remaining time; `Infinity` for no limit. */
  readonly timeLeft: Seconds;
  /** The error that aborts and fails the call. */
  timeout(options?: ErrorOptions): HandlerTimeoutError;
  /** Aborts the function because its time is over. */
  abort(reason: Error): void;
  /** Called if an abandoned call has ended after all, with or without an error. */
  onLateEnd(error: Error | undefined): void;
  /** How long a call runs before it is reported; then again after twice as long, and so on. */
  readonly patience: Seconds | undefined;
  onStillRunning(runtime: Seconds): void;
}

/** Long-running calls, by their clocks. */
const overseers = new WeakMap<Clock, Overseer>();

/** Reports the call as still running from time to time, until {@link Overseer.end}. */
export function overseerOf(clock: Clock): Overseer {
  let overseer = overseers.get(clock);
  if (overseer === undefined) {
    overseer = new Overseer(clock);
    overseers.set(clock, overseer);
  }
  return overseer;
}

/** The running time to report. */
interface Telling {
  readonly since: Seconds;
  total: Seconds;
}

/**
 * Most calls end almost at once: so no alarm is set until a turn of the event loop is over, and then one alarm serves
 * all calls that are still running.
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
 * Waits for the function until its deadline. If it still runs then, it has timed out, however it ends: a function that
 * obeys its signal may throw or return, leaving an unknown part undone; one that does not is abandoned. Either way, its
 * result is dropped.
 */
export async function untilDeadline(running: Promise<unknown>, deadline: Deadline): Promise<unknown> {
  const { clock, timeLeft } = deadline;
  let deadlineError: HandlerTimeoutError | undefined;
  let cancel = (): void => {};
  const over = new Promise<never>((_resolve, reject) => {
    cancel = alarm(clock, timeLeft, () => {
      deadlineError = deadline.timeout();
      deadline.abort(deadlineError);
      // A function that listens to the signal needs a moment to react: it is not reported as late at once.
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

/** Whatever the function throws on abortion counts as the timeout, unless it is declared final. */
function asTimeout(error: Error, deadline: Deadline): Error {
  return error instanceof PermanentError || isChildrenRetry(error) ? error : deadline.timeout({ cause: error });
}
