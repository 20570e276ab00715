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
 * All that are due, one after another in the order of registration, in one round; whatever becomes of them is stored after
 * all of them.
 *
 * ```ts
 * await kopf.run({ lifecycle: kopf.allAtOnce });
 * ```
 */
export const allAtOnce: LifeCycle = (handlers) => handlers;

/**
 * The first of those that are due, in the order of registration; the next one in the next round. One that waits for another
 * attempt is not due, and does not hold the others up: they are called meanwhile.
 *
 * ```ts
 * await kopf.run({ lifecycle: kopf.oneByOne });
 * ```
 */
export const oneByOne: LifeCycle = (handlers) => handlers.slice(0, 1);

/**
 * Any one of those that are due, by chance; another one in the next round.
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
 * All that are due, one after another in a random order, in one round.
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
 * Of those that are due, the one with the fewest attempts, so that a failing one does not hold the others; if they are
 * equal, in the order of registration. The next one is called in the next round. The default.
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
