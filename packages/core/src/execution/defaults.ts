/**
 * The defaults: one registry and one lifecycle for the whole process. They are kept on `globalThis`, so that all copies
 * of this package share them: that of the command line and that of the user.
 */
import type { Env } from '../intents/kwargs.js';
import { createRegistry, type Registry } from '../intents/registration/registry.js';
import type { Logger } from '../seams/logger.js';
import { asap, type LifeCycle } from './lifecycles.js';

interface Defaults {
  lifecycle?: LifeCycle | undefined;
  registry?: Registry | undefined;
}

const DEFAULTS: unique symbol = Symbol.for('kopf-ts.defaults') as never;

function defaults(): Defaults {
  const holder = globalThis as { [DEFAULTS]?: Defaults };
  holder[DEFAULTS] ??= {};
  return holder[DEFAULTS];
}

/**
 * The lifecycle of change handlers for operators without one of their own: `asap`, unless set otherwise.
 *
 * ```ts
 * const previous = kopf.getDefaultLifecycle();
 * kopf.setDefaultLifecycle(kopf.oneByOne);
 * kopf.setDefaultLifecycle(previous);
 * ```
 */
export function getDefaultLifecycle(): LifeCycle {
  return defaults().lifecycle ?? asap;
}

/**
 * Sets the lifecycle for all operators of the process without one of their own; `undefined` restores `asap`.
 *
 * ```ts
 * kopf.setDefaultLifecycle(kopf.allAtOnce);
 * ```
 */
export function setDefaultLifecycle(
  lifecycle: LifeCycle | undefined,
  options: { readonly logger?: Logger } = {},
): void {
  const previous = defaults().lifecycle;
  defaults().lifecycle = lifecycle;
  const change = lifecycle === undefined ? 'is reset' : previous === undefined ? 'is set' : 'is changed';
  options.logger?.warn(`The default lifecycle ${change}: it is ${getDefaultLifecycle().name || 'a nameless one'} now.`);
}

/**
 * The default registry for handlers; created on first use.
 *
 * ```ts
 * kopf.getDefaultRegistry().on.create('kopfexamples', ({ logger }) => logger.info('The same as by kopf.on.create().'));
 * ```
 */
export function getDefaultRegistry(): Registry {
  const all = defaults();
  all.registry ??= createRegistry();
  return all.registry;
}

/**
 * Replaces the default registry; `undefined` starts with an empty one. Existing declarations stay in the old one.
 *
 * ```ts
 * beforeEach(() => kopf.setDefaultRegistry(undefined)); // each test declares its own handlers
 * ```
 */
export function setDefaultRegistry<E extends Env>(registry: Registry<E> | undefined): void {
  defaults().registry = registry as Registry | undefined;
}
