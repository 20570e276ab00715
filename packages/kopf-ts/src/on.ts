/** The short way to declare handlers: in the registry of the process, which is the default one of operators. */
import { type DefaultEnv, getDefaultRegistry, type On, type Registrars } from '@kopf-ts/core';
import { declaringFor } from '@kopf-ts/core/engine';

type Registrar = (...args: readonly unknown[]) => unknown;

/** The registry is looked up at each declaration because it may be replaced. */
function lazily<Name extends 'daemon' | 'timer' | 'index' | 'owns'>(name: Name): Registrars<DefaultEnv>[Name] {
  const declare: Registrar = (...args) =>
    declaringFor(declare, () => (getDefaultRegistry()[name] as Registrar)(...args));
  return declare as Registrars<DefaultEnv>[Name];
}

/**
 * `on.create(selector, options?, handler)` and so on, for operators without a registry of their own.
 *
 * ```ts
 * kopf.on.create('kopfexamples', async ({ spec, patch, logger }) => {
 *   logger.info(`Creating ${spec.size} GiB.`);
 *   patch.status.size = spec.size;
 * });
 * ```
 */
export const on: On<DefaultEnv> = new Proxy({} as On<DefaultEnv>, {
  get: (_target, name) => Reflect.get(getDefaultRegistry().on, name),
  has: (_target, name) => Reflect.has(getDefaultRegistry().on, name),
});

/**
 * Declares a daemon: a function that runs as long as its object exists. It goes to the default registry.
 *
 * ```ts
 * kopf.daemon('kopfexamples', async ({ stopped, name, logger }) => {
 *   while (!stopped.aborted) {
 *     logger.info(`${name} is still there.`);
 *     await kopf.sleep(60, stopped);
 *   }
 * });
 * ```
 */
export const daemon: Registrars<DefaultEnv>['daemon'] = lazily('daemon');
/**
 * Declares a timer: a function called at intervals as long as its object exists.
 *
 * ```ts
 * kopf.timer('kopfexamples', { interval: 60, idle: 10 }, ({ patch }) => {
 *   patch.status.checked = new Date().toISOString();
 * });
 * ```
 */
export const timer: Registrars<DefaultEnv>['timer'] = lazily('timer');
/**
 * Declares an index: the results of its function for each object are kept in memory, and all handlers can look them up.
 *
 * ```ts
 * const podsByNode = kopf.index('pods', ({ spec, name }) => ({ [String(spec.nodeName)]: name }));
 * kopf.on.event('nodes', ({ name, indices, logger }) => {
 *   const pods = [...(indices.get(podsByNode).get(name ?? '') ?? [])];
 *   logger.info(`${name} runs ${pods.join(', ')}.`);
 * });
 * ```
 */
export const index: Registrars<DefaultEnv>['index'] = lazily('index');
/**
 * Declares that objects of one kind belong to objects of another kind: by owner references, by a label, or by a function.
 * Handlers of the parents get them from `children()`.
 *
 * ```ts
 * kopf.owns('kopfexamples', 'pods');
 * kopf.on.update('kopfexamples', ({ children, logger }) => logger.info(`${children('pods').length} pods`));
 * ```
 */
export const owns: Registrars<DefaultEnv>['owns'] = lazily('owns');
