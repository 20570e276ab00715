/** Waits for a predicate to become true, where every change is announced. */
import { onAbort } from './abort.js';

/** A point where tasks wait for a state, and others announce its changes. */
export interface Condition {
  /** Whether any task waits. */
  readonly isAwaited: boolean;
  /**
   * Resolves when the predicate holds: now, or at the moment of a notification. That moment counts, even if the
   * predicate no longer holds when the waiting code continues. Rejects with the signal's reason.
   */
  until(predicate: () => boolean, signal?: AbortSignal): Promise<void>;
  /** Announces that the state may have changed. Waiters whose predicates hold continue in the order of arrival. */
  notify(): void;
}

interface Waiter {
  readonly predicate: () => boolean;
  readonly release: () => void;
}

export function condition(): Condition {
  const waiters = new Set<Waiter>();
  return {
    get isAwaited() {
      return waiters.size > 0;
    },
    until(predicate, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (predicate()) return Promise.resolve();
      return new Promise((resolve, reject) => {
        let forget = (): void => {};
        const waiter: Waiter = {
          predicate,
          release: () => {
            waiters.delete(waiter);
            forget();
            resolve();
          },
        };
        waiters.add(waiter);
        if (signal !== undefined) {
          forget = onAbort(signal, (reason) => {
            waiters.delete(waiter);
            reject(reason);
          });
        }
      });
    },
    notify() {
      for (const waiter of [...waiters]) {
        if (waiter.predicate()) waiter.release();
      }
    },
  };
}
