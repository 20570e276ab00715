import type { Index, Store } from '@kopf-ts/core';
import type { Entry } from './entries.js';
import { MemoryStore } from './memory-store.js';
import type { SlotOf } from './structural-keys.js';

/** An index for its readers, and the ways to change it for its only writer. */
export interface MemoryIndex {
  readonly index: Index;
  /** From now on, the object has these entries and no others; of equal keys, the last one. */
  replace(owner: string, entries: readonly Entry[]): void;
}

/** The stores of one object: of most objects there is one, and it needs no list. */
type Place = MemoryStore | readonly MemoryStore[];

/** There is a way from each object back to its stores: nothing but these is touched when the object changes or goes. */
export function memoryIndex(slotOf: SlotOf): MemoryIndex {
  const stores = new Map<unknown, MemoryStore>();
  const places = new Map<string, Place>();

  const put = (owner: string, entry: Entry): MemoryStore => {
    let store = stores.get(entry.slot);
    if (store === undefined) {
      store = new MemoryStore(entry);
      stores.set(entry.slot, store);
    }
    MemoryStore.put(store, owner, entry.value);
    return store;
  };
  const remove = (owner: string, store: MemoryStore): void => {
    MemoryStore.remove(store, owner);
    if (store.size === 0) stores.delete(MemoryStore.slotOf(store));
  };

  return {
    index: {
      get size() {
        return stores.size;
      },
      get: (key) => stores.get(slotOf(key)),
      has: (key) => stores.has(slotOf(key)),
      *keys() {
        for (const store of stores.values()) yield MemoryStore.keyOf(store);
      },
      *[Symbol.iterator](): Generator<readonly [unknown, Store<unknown>]> {
        for (const store of stores.values()) yield [MemoryStore.keyOf(store), store];
      },
    },

    replace(owner, entries) {
      const before = places.get(owner);
      const first = entries[0];
      if (first === undefined) {
        if (before === undefined) return;
        places.delete(owner);
        for (const store of listOf(before)) remove(owner, store);
        return;
      }
      if (entries.length === 1) {
        const store = put(owner, first);
        if (store === before) return;
        places.set(owner, store);
        if (before !== undefined) for (const old of listOf(before)) if (old !== store) remove(owner, old);
        return;
      }
      const after = new Set<MemoryStore>();
      for (const entry of entries) after.add(put(owner, entry));
      places.set(owner, [...after]);
      if (before !== undefined) for (const old of listOf(before)) if (!after.has(old)) remove(owner, old);
    },
  };
}

function listOf(place: Place): readonly MemoryStore[] {
  return Array.isArray(place) ? (place as readonly MemoryStore[]) : [place as MemoryStore];
}
