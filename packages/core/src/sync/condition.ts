/** Waiting until something becomes true, where every change of it is announced. */
import { onAbort } from './abort.js';

/** Where some wait for a state, and others tell that it has changed. */
export interface Condition {
  /** Whether anybody waits. */
  readonly isAwaited: boolean;
  /**
   * Resolves when the predicate holds: now, or at the moment of a notification. That moment counts, even if
   * the predicate holds no more by the time the waiting code goes on. Rejects with the signal's reason.
   */
  until(predicate: () => boolean, signal?: AbortSignal): Promise<void>;
  /** Tells that the state may have changed. Those whose predicates hold go on, in the order of their coming. */
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
