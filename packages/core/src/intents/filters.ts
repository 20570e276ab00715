/** The constants, types and combinators of filters. */

/**
 * The key or the field is there, whatever its value is.
 *
 * ```ts
 * kopf.on.create('kopfexamples', { labels: { owner: kopf.PRESENT } }, ({ labels, logger }) => {
 *   logger.info(`It belongs to ${labels.owner}.`);
 * });
 * ```
 */
export const PRESENT: unique symbol = Symbol.for('kopf-ts.PRESENT') as typeof PRESENT;
/**
 * The key or the field is not there.
 *
 * ```ts
 * kopf.on.create('kopfexamples', { annotations: { 'example.com/ignored': kopf.ABSENT } }, ({ logger }) => {
 *   logger.info('This one is not ignored.');
 * });
 * ```
 */
export const ABSENT: unique symbol = Symbol.for('kopf-ts.ABSENT') as typeof ABSENT;

/** Decides by a value, which is `undefined` if absent. */
// biome-ignore lint/suspicious/noExplicitAny: kwargs differ by kind; the registrars type them for the user
export type ValueCallback<V> = (value: V | undefined, kwargs: any) => boolean;

/**
 * A filter on one field: its presence or absence, a callback, or the value itself.
 *
 * ```ts
 * const atLeastTen: kopf.ValueFilter<number> = (size) => (size ?? 0) >= 10;
 * kopf.on.field('kopfexamples', { field: 'spec.size', new: atLeastTen }, ({ logger }) => logger.info('It is big.'));
 * ```
 */
export type ValueFilter<V> = typeof PRESENT | typeof ABSENT | ValueCallback<V> | V;

/**
 * A filter on labels or annotations: all the keys must match; other keys do not matter.
 *
 * ```ts
 * const labels: kopf.MetaFilter = { app: 'web', stage: kopf.PRESENT, tier: (value) => value !== 'free' };
 * ```
 */
export type MetaFilter = Readonly<Record<string, ValueFilter<string>>>;

type Callback<Args extends readonly unknown[]> = (...args: Args) => boolean;

/**
 * True when the callback says no. Combinators work for `when` and for value callbacks alike.
 *
 * ```ts
 * const isSystem = ({ namespace }: Pick<kopf.Change, 'namespace'>) => namespace === 'kube-system';
 * kopf.on.create('kopfexamples', { when: kopf.not(isSystem) }, ({ logger }) => logger.info('Ours.'));
 * ```
 */
export function not<Args extends readonly unknown[]>(fn: Callback<Args>): Callback<Args> {
  return (...args) => !fn(...args);
}

/**
 * True when all the callbacks say yes; asked in order until the first no.
 *
 * ```ts
 * const isBig = ({ spec }: Pick<kopf.Change, 'spec'>) => spec.size > 10;
 * const isUrgent = ({ spec }: Pick<kopf.Change, 'spec'>) => spec.urgent === true;
 * kopf.on.create('kopfexamples', { when: kopf.all([isBig, isUrgent]) }, ({ logger }) => logger.info('Now!'));
 * ```
 */
export function all<Args extends readonly unknown[]>(fns: Iterable<Callback<Args>>): Callback<Args> {
  const list = [...fns];
  return (...args) => list.every((fn) => fn(...args));
}

/**
 * True when any of the callbacks says yes; asked in order until the first yes.
 *
 * ```ts
 * const isBig = ({ spec }: Pick<kopf.Change, 'spec'>) => spec.size > 10;
 * const isUrgent = ({ spec }: Pick<kopf.Change, 'spec'>) => spec.urgent === true;
 * kopf.on.create('kopfexamples', { when: kopf.any([isBig, isUrgent]) }, ({ logger }) => logger.info('Worth it.'));
 * ```
 */
export function any<Args extends readonly unknown[]>(fns: Iterable<Callback<Args>>): Callback<Args> {
  const list = [...fns];
  return (...args) => list.some((fn) => fn(...args));
}

/**
 * True when none of the callbacks says yes.
 *
 * ```ts
 * const isTest = ({ namespace }: Pick<kopf.Change, 'namespace'>) => namespace === 'test';
 * const isSystem = ({ namespace }: Pick<kopf.Change, 'namespace'>) => namespace === 'kube-system';
 * kopf.on.create('kopfexamples', { when: kopf.none([isTest, isSystem]) }, ({ logger }) => logger.info('For real.'));
 * ```
 */
export function none<Args extends readonly unknown[]>(fns: Iterable<Callback<Args>>): Callback<Args> {
  return not(any(fns));
}
