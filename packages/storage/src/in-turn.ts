import type { Awaitable } from '@kopf-ts/core';

/**
 * Does it with all of them, one after another, until one gives something; nothing is awaited if there is nothing to wait
 * for. Most storages only look into an object or a patch, and they do so for each event of each object.
 */
export function inTurn<T, R>(
  items: readonly T[],
  act: (item: T) => Awaitable<R | undefined>,
  from = 0,
): Awaitable<R | undefined> {
  for (let index = from; index < items.length; index++) {
    const result = act(items[index] as T);
    if (isPromise(result)) return result.then((settled) => settled ?? inTurn(items, act, index + 1));
    if (result !== undefined) return result;
  }
  return undefined;
}

/** Storages of users may come with promises of their own. */
function isPromise<R>(result: Awaitable<R>): result is Promise<R> {
  return typeof (result as { then?: unknown } | undefined)?.then === 'function';
}
