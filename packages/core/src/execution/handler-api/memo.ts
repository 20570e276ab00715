/** Memos: what handlers remember in memory. One is the operator's own; each object begins with a copy of it. */
import { setOwn } from '../../values/json.js';

/**
 * The default memo: any keys with any values.
 *
 * ```ts
 * kopf.on.event('pods', ({ memo }: { memo: kopf.Memo }) => {
 *   memo.calls = (memo.calls ?? 0) + 1;
 * });
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: an untyped memo is used freely, as in Kopf
export type Memo = Record<string, any>;

/**
 * The method of a memo's class that makes a copy for an object. Returning `this` shares one memo among all objects.
 *
 * ```ts
 * class Counters {
 *   calls = 0;
 *   [kopf.COPY](): Counters {
 *     return new Counters(); // each object begins from zero
 *   }
 * }
 * await kopf.run({ memo: new Counters() });
 * ```
 */
export const COPY: unique symbol = Symbol.for('kopf-ts.copy') as typeof COPY;

/** An empty memo. It has no prototype: nothing is in it but what was put there. */
export function createMemo(): Memo {
  return Object.create(null) as Memo;
}

/**
 * A copy of the operator's memo for one object: shallow, so that what it refers to is shared (caches, connections),
 * while what is added to it belongs to the object alone.
 *
 * Classes decide by themselves, by a {@link COPY} method; they have to, if they have private `#fields`, which nobody
 * else can copy. Without that method, an instance is copied field by field, and stays of its class.
 */
export function copyMemo<T>(memo: T): T;
export function copyMemo(memo: unknown): unknown {
  if (memo === undefined) return createMemo();
  if (typeof memo !== 'object' || memo === null) return memo;
  const copy = (memo as { [COPY]?: unknown })[COPY];
  if (typeof copy === 'function') return copy.call(memo) as unknown;
  const target = emptyLike(memo);
  for (const key of Reflect.ownKeys(memo)) {
    const descriptor = Object.getOwnPropertyDescriptor(memo, key);
    if (!descriptor?.enumerable) continue;
    if (descriptor.get !== undefined || descriptor.set !== undefined) Object.defineProperty(target, key, descriptor);
    else if (typeof key === 'string') setOwn(target, key, descriptor.value);
    else (target as Record<symbol, unknown>)[key] = descriptor.value;
  }
  return target;
}

/** Of the same class, with the items of collections, but without fields yet. */
function emptyLike(memo: object): object {
  const prototype: object | null = Object.getPrototypeOf(memo);
  const collection = Array.isArray(memo)
    ? []
    : memo instanceof Map
      ? new Map(memo)
      : memo instanceof Set
        ? new Set(memo)
        : undefined;
  return collection === undefined ? Object.create(prototype) : Object.setPrototypeOf(collection, prototype);
}
