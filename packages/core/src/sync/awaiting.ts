/**
 * Waiting only where there is something to wait for. Most answers are there at once, and an `await` of nothing costs
 * three promises: for what is done with every event, that is more than the work itself.
 */
import type { Awaitable } from '../seams/awaitable.js';

/** To be asked before waiting where there is mostly nothing to wait for. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** Does it with each of them, one after another. Answers at once, if each step does. */
export function inTurn<T>(items: readonly T[], step: (item: T) => unknown): Awaitable<void> {
  for (let index = 0; index < items.length; index++) {
    const done = step(items[index] as T);
    if (isThenable(done)) return theRest(done, items, index + 1, step);
  }
}

async function theRest<T>(
  first: PromiseLike<unknown>,
  items: readonly T[],
  from: number,
  step: (item: T) => unknown,
): Promise<void> {
  await first;
  for (let index = from; index < items.length; index++) await step(items[index] as T);
}
