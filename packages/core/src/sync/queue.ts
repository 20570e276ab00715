/** An unbounded queue between producers, which put items at any time, and consumers, which take them one by one. */
import { condition } from './condition.js';

export interface Queue<T extends NonNullable<unknown> | null> {
  readonly size: number;
  /** Whether nothing more can be put in. What is already there can still be taken. */
  readonly isEnded: boolean;
  /** Puts the item in, unless the queue is ended; tells whether it did. */
  push(item: T): boolean;
  /**
   * Takes the oldest item; waits for one if there is none. `undefined` is for a queue that is ended and empty.
   * Of several who wait, the first one is served first. Rejects with the signal's reason, and takes nothing then.
   */
  shift(signal?: AbortSignal): Promise<T | undefined>;
  end(): void;
}

/** How many taken items are tolerated in memory before the rest is moved: so that taking is cheap on average. */
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
        // Taken at the very moment of its coming: so nobody else can take it before the waiting code goes on.
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
