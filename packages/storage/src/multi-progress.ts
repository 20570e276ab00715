import type { ProgressStorage } from '@kopf-ts/core';
import { inTurn } from './in-turn.js';

/** Keeps the progress in several storages at once: writes to all, reads from the first that has it. For migrations. */
export function multiProgressStorage(storages: Iterable<ProgressStorage>): ProgressStorage {
  const all = [...storages];
  return {
    fetch: (at) => inTurn(all, (storage) => storage.fetch(at)),
    store: (at) => inTurn(all, (storage) => storage.store(at)),
    purge: (at) => inTurn(all, (storage) => storage.purge(at)),
    touch: (at) => inTurn(all, (storage) => storage.touch(at)),
    flush: () => inTurn(all, (storage) => storage.flush?.()),
    clear(essence) {
      return all.reduce((cleared, storage) => storage.clear(cleared), essence);
    },
    clearOwn(essence) {
      return all.reduce((cleared, storage) => storage.clearOwn?.(cleared) ?? storage.clear(cleared), essence);
    },
  };
}
