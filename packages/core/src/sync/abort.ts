/**
 * Abort signals without their traps: an operator has one signal for the whole run and thousands of short waits on it.
 *
 * Node warns of a leak beyond ten listeners of a signal, and on Node 20 each `AbortSignal.any()` stays in the memory of
 * its long-lived source for ever. So there is only one real listener per signal, and a finished wait leaves no trace.
 */

import { KopfError } from '../errors.js';

/**
 * The reason for aborting what is no longer needed. By default, each abort would create an error with a stack trace,
 * which takes longer than everything else about aborting.
 */
export const NOT_NEEDED: KopfError = new KopfError('No longer needed.', { code: 'KOPF_NOT_NEEDED' });

type AbortListener = (reason: unknown) => void;

// The list is kept on the signal itself: it lives exactly as long, and is shared by all copies of this package.
const LISTENERS: unique symbol = Symbol.for('kopf-ts.abort.listeners') as never;

interface ListenedSignal extends AbortSignal {
  [LISTENERS]?: Listeners | undefined;
}

/** The waiters for one signal. Usually there is only one; a set is created for more. */
class Listeners {
  readonly #signal: ListenedSignal;
  #only: Wait | undefined;
  #all: Set<Wait> | undefined;

  constructor(signal: ListenedSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this, { once: true });
  }

  add(wait: Wait): void {
    if (this.#all === undefined && this.#only === undefined) {
      this.#only = wait;
      return;
    }
    this.#all ??= new Set(this.#only && [this.#only]);
    this.#only = undefined;
    this.#all.add(wait);
  }

  delete(wait: Wait): void {
    if (this.#only === wait) this.#only = undefined;
    this.#all?.delete(wait);
    if (this.#only !== undefined || (this.#all !== undefined && this.#all.size > 0)) return;
    this.#signal.removeEventListener('abort', this);
    if (this.#signal[LISTENERS] === this) this.#signal[LISTENERS] = undefined;
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.#signal[LISTENERS] = undefined;
    const { reason } = this.#signal;
    this.#only?.listener(reason);
    for (const wait of this.#all ?? []) wait.listener(reason);
    this.#only = undefined;
    this.#all?.clear();
  }
}

/** The same function may be waiting twice, for two reasons: each wait is of its own. */
interface Wait {
  readonly listener: AbortListener;
}

/**
 * Calls the function once, when the signal aborts, or at once if it already has. Returns a function that cancels the
 * wait. The functions must not throw.
 */
export function onAbort(signal: AbortSignal, listener: AbortListener): () => void {
  if (signal.aborted) {
    listener(signal.reason);
    return () => {};
  }
  const listeners = listened(signal);
  const wait: Wait = { listener };
  listeners.add(wait);
  return () => listeners.delete(wait);
}

function listened(signal: ListenedSignal): Listeners {
  const existing = signal[LISTENERS];
  if (existing !== undefined) return existing;
  const made = new Listeners(signal);
  if (!Object.hasOwn(signal, LISTENERS)) {
    Object.defineProperty(signal, LISTENERS, { value: undefined, writable: true, configurable: true });
  }
  signal[LISTENERS] = made;
  return made;
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}

/** Rejects with the signal's reason when it aborts. It listens for as long as the signal lives: not for short waits. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    onAbort(signal, reject);
  });
}

/**
 * The outcome of the promise, or a rejection with the signal's reason if that comes first. The work behind the promise
 * goes on unless it observes the signal itself; its later outcome, even an error, is ignored.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return Promise.resolve(promise);
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    promise.then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: unknown) => {
        forget();
        reject(error);
      },
    );
  });
}

/** A signal that depends on others. Dispose of it after use, as the others may live for long. */
export interface DependentSignal {
  readonly signal: AbortSignal;
  /** Stops following the others; does not abort. */
  dispose(): void;
}

/** A controller that also aborts with any of the parent signals. */
export interface ChildController extends DependentSignal {
  abort(reason?: unknown): void;
}

/** Aborts on its own, or with the first of its parents and with its reason; never the other way around. */
export function childController(...parents: readonly (AbortSignal | undefined)[]): ChildController {
  const controller = new AbortController();
  const disposers: (() => void)[] = [];
  const dispose = (): void => {
    for (const stopFollowing of disposers.splice(0)) stopFollowing();
  };
  const abort = (reason: unknown = NOT_NEEDED): void => {
    dispose();
    controller.abort(reason);
  };
  for (const parent of parents) {
    if (parent === undefined || controller.signal.aborted) continue;
    disposers.push(onAbort(parent, abort));
  }
  return { signal: controller.signal, abort, dispose };
}

/** Aborts with the first of the signals, and with its reason. Absent signals are permitted, and never abort. */
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): DependentSignal {
  const [first, ...others] = signals.filter((each) => each !== undefined);
  if (first !== undefined && others.length === 0) return { signal: first, dispose: () => {} };
  const { signal, dispose } = childController(...signals);
  return { signal, dispose };
}

/**
 * Whether the error was thrown because of the signal, so that it is not a failure. Functions that obey signals throw
 * either the reason of the signal, or an error of their own about it.
 */
export function isCancellation(thrown: unknown, signal: AbortSignal | undefined): boolean {
  if (!signal?.aborted) return false;
  if (thrown === signal.reason) return true;
  if (!(thrown instanceof Error)) return false;
  return thrown.name === 'AbortError' || thrown.cause === signal.reason;
}
