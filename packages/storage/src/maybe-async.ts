import type { Awaitable } from '@kopf-ts/core';

/**
 * The first answer: they are asked one after another until one of them has something. Nothing is awaited where there is
 * nothing to wait for: most storages only look into an object, and they do so for each event of each object.
 */
export function firstOf<T, R>(
  items: readonly T[],
  ask: (item: T) => Awaitable<R | undefined>,
  from = 0,
): Awaitable<R | undefined> {
  for (let index = from; index < items.length; index++) {
    const answer = ask(items[index] as T);
    if (isPromise(answer)) return Promise.resolve(answer).then((settled) => settled ?? firstOf(items, ask, index + 1));
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/**
 * Does it with all of them, one after another, whatever each of them answers. One that fails does not keep the others
 * from doing it; its error is thrown at the end, and several errors are thrown together. Nothing is awaited where there
 * is nothing to wait for.
 */
export function withAll<T>(items: readonly T[], act: (item: T) => unknown): Awaitable<void> {
  return going(items, act, 0, []);
}

function going<T>(items: readonly T[], act: (item: T) => unknown, from: number, errors: unknown[]): Awaitable<void> {
  for (let index = from; index < items.length; index++) {
    try {
      const acted = act(items[index] as T);
      if (isPromise(acted)) {
        return Promise.resolve(acted)
          .then(undefined, (error: unknown) => void errors.push(error))
          .then(() => going(items, act, index + 1, errors));
      }
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} of ${items.length} storages failed.`);
  if (errors.length > 0) throw errors[0];
}

/** Storages of users may come with promises of their own. */
function isPromise<R>(result: Awaitable<R>): result is Promise<R> {
  return typeof (result as { then?: unknown } | null | undefined)?.then === 'function';
}
