/** The words and the shapes by which handlers narrow what they are called for. */

/** The key or the field is there, whatever its value is. */
export const PRESENT: unique symbol = Symbol.for('kopf-ts.PRESENT') as typeof PRESENT;
/** The key or the field is not there. */
export const ABSENT: unique symbol = Symbol.for('kopf-ts.ABSENT') as typeof ABSENT;

/** Decides by a value; for what is absent, the value is `undefined`. */
// biome-ignore lint/suspicious/noExplicitAny: kwargs differ by kind; the registrars type them for the user
export type ValueCallback<V> = (value: V | undefined, kwargs: any) => boolean;

/** A filter on one field: its presence or absence, a callback, or the value itself. */
export type ValueFilter<V> = typeof PRESENT | typeof ABSENT | ValueCallback<V> | V;

/** A filter on labels or annotations: all the keys must match; other keys do not matter. */
export type MetaFilter = Readonly<Record<string, ValueFilter<string>>>;

type Callback<Args extends readonly unknown[]> = (...args: Args) => boolean;

/** True when the callback says no. Combinators work for `when` and for value callbacks alike. */
export function not<Args extends readonly unknown[]>(fn: Callback<Args>): Callback<Args> {
  return (...args) => !fn(...args);
}

/** True when all the callbacks say yes; asked in order until the first no. */
export function all<Args extends readonly unknown[]>(fns: Iterable<Callback<Args>>): Callback<Args> {
  const list = [...fns];
  return (...args) => list.every((fn) => fn(...args));
}

/** True when any of the callbacks says yes; asked in order until the first yes. */
export function any<Args extends readonly unknown[]>(fns: Iterable<Callback<Args>>): Callback<Args> {
  const list = [...fns];
  return (...args) => list.some((fn) => fn(...args));
}

/** True when none of the callbacks says yes. */
export function none<Args extends readonly unknown[]>(fns: Iterable<Callback<Args>>): Callback<Args> {
  return not(any(fns));
}
