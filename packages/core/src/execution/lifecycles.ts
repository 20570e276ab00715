/**
 * Lifecycles: which of the handlers that are due are called in this round. The rest is called in the next ones,
 * with the progress of this one already stored.
 */
import type { AnyHandler } from '../intents/handlers.js';
import type { State } from './progress/state.js';

/**
 * What a lifecycle can decide by.
 *
 * ```ts
 * const lastFirst: kopf.LifeCycle = (handlers, { random = Math.random }: kopf.LifeCycleKwargs) =>
 *   random() < 0.5 ? handlers.slice(-1) : handlers.slice(0, 1);
 * ```
 */
export interface LifeCycleKwargs {
  readonly state: State;
  /** The source of randomness, from 0 to 1 exclusively. */
  readonly random?: () => number;
  /** All kwargs of the cause, as the filters get them. */
  readonly [kwarg: string]: unknown;
}

/**
 * Picks some of the handlers, in the order to be called. Synchronous; called with those due, as registered.
 *
 * ```ts
 * const inReverse: kopf.LifeCycle = (handlers) => handlers.toReversed();
 * await kopf.run({ lifecycle: inReverse });
 * ```
 */
export type LifeCycle = <H extends AnyHandler>(handlers: readonly H[], kwargs: LifeCycleKwargs) => readonly H[];

/**
 * All that are due, one after another.
 *
 * ```ts
 * await kopf.run({ lifecycle: kopf.allAtOnce });
 * ```
 */
export const allAtOnce: LifeCycle = (handlers) => handlers;

/**
 * The first one.
 *
 * ```ts
 * await kopf.run({ lifecycle: kopf.oneByOne });
 * ```
 */
export const oneByOne: LifeCycle = (handlers) => handlers.slice(0, 1);

/**
 * Any one.
 *
 * ```ts
 * await kopf.run({ lifecycle: kopf.randomized });
 * ```
 */
export const randomized: LifeCycle = (handlers, { random = Math.random }) => {
  const index = Math.floor(random() * handlers.length);
  return handlers.slice(index, index + 1);
};

/**
 * All of them in a random order.
 *
 * ```ts
 * kopf.on.create('kopfexamples', () => kopf.execute({ fns: [], lifecycle: kopf.shuffled }));
 * ```
 */
export const shuffled: LifeCycle = (handlers, { random = Math.random }) => {
  const ranked = handlers.map((handler) => ({ handler, rank: random() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ handler }) => handler);
};

/**
 * The one with the fewest attempts, so that a failing one does not hold the others. The default.
 *
 * ```ts
 * kopf.setDefaultLifecycle(kopf.asap);
 * ```
 */
export const asap: LifeCycle = (handlers, { state }) => {
  const attempts = (handler: AnyHandler): number => state.get(handler.id)?.retries ?? 0;
  // The sort is stable: equally tried ones are in the order of their registration.
  return [...handlers].sort((a, b) => attempts(a) - attempts(b)).slice(0, 1);
};
