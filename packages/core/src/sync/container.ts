/** A value that is replaced from time to time, for readers that want only the newest one. */
import { condition } from './condition.js';

export interface Container<T> {
  /** The newest value, if there was any. */
  readonly value: T | undefined;
  /** Incremented with each new value. */
  readonly revision: number;
  put(value: T): void;
  /** The newest value; waits for the first one. Rejects with the signal's reason. */
  get(signal?: AbortSignal): Promise<T>;
  /**
   * Yields the newest value, then each next one, and ends when the signal aborts. A slow reader skips outdated values.
   */
  values(signal?: AbortSignal): AsyncGenerator<T, void, void>;
}

export function container<T>(...initial: [] | [T]): Container<T> {
  const changed = condition();
  let value = initial[0];
  let revision = initial.length;
  return {
    get value() {
      return value;
    },
    get revision() {
      return revision;
    },
    put(next) {
      value = next;
      revision += 1;
      changed.notify();
    },
    async get(signal) {
      await changed.until(() => revision > 0, signal);
      return value as T;
    },
    async *values(signal) {
      let seen = 0;
      for (;;) {
        try {
          await changed.until(() => revision > seen, signal);
        } catch (error) {
          if (signal?.aborted) return;
          throw error;
        }
        seen = revision;
        yield value as T;
      }
    },
  };
}
