import { deepEqual, type Store } from '@kopf-ts/core';
import type { Entry } from './entries.js';
import type { Slot } from './structural-keys.js';

/**
 * The values under one key: at most one of each object. Readers see a {@link Store}; the writer uses the static
 * functions, so that a store from an index cannot be changed by its readers.
 *
 * Most stores have one value, and there may be as many of them as there are objects: that one needs no `Map`.
 */
export class MemoryStore<V = unknown> implements Store<V> {
  readonly #slot: Slot;
  readonly #key: unknown;
  /** Whose the only value is; `undefined` if there is none, or if there are more. */
  #owner: string | undefined;
  #value: V | undefined;
  #values: Map<string, V> | undefined;

  constructor({ slot, key }: Pick<Entry, 'slot' | 'key'>) {
    this.#slot = slot;
    this.#key = key;
  }

  get size(): number {
    return this.#values?.size ?? (this.#owner === undefined ? 0 : 1);
  }

  has(value: V): boolean {
    for (const known of this) if (deepEqual(known, value)) return true;
    return false;
  }

  [Symbol.iterator](): Iterator<V> {
    if (this.#values !== undefined) return this.#values.values();
    return (this.#owner === undefined ? [] : [this.#value as V]).values();
  }

  /** For printing. */
  toJSON(): V[] {
    return [...this];
  }

  static keyOf(store: MemoryStore): unknown {
    return store.#key;
  }

  static slotOf(store: MemoryStore): Slot {
    return store.#slot;
  }

  /** Puts the value of the object, in place of its previous one. */
  static put(store: MemoryStore, owner: string, value: unknown): void {
    if (store.#values !== undefined) {
      store.#values.set(owner, value);
    } else if (store.#owner === undefined || store.#owner === owner) {
      store.#owner = owner;
      store.#value = value;
    } else {
      store.#values = new Map([[store.#owner, store.#value]]).set(owner, value);
      store.#owner = undefined;
      store.#value = undefined;
    }
  }

  static remove(store: MemoryStore, owner: string): void {
    if (store.#values !== undefined) {
      store.#values.delete(owner);
    } else if (store.#owner === owner) {
      store.#owner = undefined;
      store.#value = undefined;
    }
  }
}
