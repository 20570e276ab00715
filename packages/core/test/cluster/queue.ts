/** An unbounded queue: producers put items at any time, consumers take them one by one. */
import { condition } from '../../src/sync/condition.js';

export interface Queue<T extends NonNullable<unknown> | null> {
  readonly size: number;
  /** Whether the queue is closed for new items. Existing items can still be taken. */
  readonly isEnded: boolean;
  /** Adds the item unless the queue is ended; returns whether it did. */
  push(item: T): boolean;
  /**
   * Takes the oldest item, waiting for one if there is none. Returns `undefined` if the queue is ended and empty.
   * Waiters are served in the order of arrival. Rejects with the signal's reason, taking nothing.
   */
  shift(signal?: AbortSignal): Promise<T | undefined>;
  end(): void;
}

/** The number of taken items tolerated in memory before the rest is moved: this makes taking cheap on average. */
const SLACK = 1024;

export function queue<T extends NonNullable<unknown> | null>(): Queue<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  let isEnded = false;
  const changed = condition();
  const size = (): number => items.length - head;

  const take = (): T | undefined => {
    const item = items[head];
    items[head] = undefined;
    head += 1;
    if (head >= SLACK && head * 2 >= items.length) {
      items = items.slice(head);
      head = 0;
    }
    return item;
  };

  return {
    get size() {
      return size();
    },
    get isEnded() {
      return isEnded;
    },
    push(item) {
      if (isEnded) return false;
      items.push(item);
      changed.notify();
      return true;
    },
    async shift(signal) {
      signal?.throwIfAborted();
      let taken: T | undefined;
      await changed.until(() => {
        if (size() === 0) return isEnded;
        // Handed over at the moment of arrival, so that no other consumer can take it before the waiter continues.
        taken = take();
        return true;
      }, signal);
      return taken;
    },
    end() {
      isEnded = true;
      changed.notify();
    },
  };
}
