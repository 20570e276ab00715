/**
 * Awaits only promises. Most results are available at once, and a needless `await` costs three promises: in the
 * handling of every event, that is more than the work itself.
 */
import type { Awaitable } from '../seams/awaitable.js';

/** A check to make before awaiting something that is rarely a promise. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** Calls the function for each item, one after another. Returns synchronously if each step does. */
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
