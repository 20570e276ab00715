import type { ProgressStorage } from '@kopf-ts/core';

/** Keeps the progress in several storages at once: writes to all, reads from the first that has it. For migrations. */
export function multiProgressStorage(storages: Iterable<ProgressStorage>): ProgressStorage {
  const all = [...storages];
  return {
    async fetch(at) {
      for (const storage of all) {
        const record = await storage.fetch(at);
        if (record !== undefined) return record;
      }
      return undefined;
    },
    async store(at) {
      for (const storage of all) await storage.store(at);
    },
    async purge(at) {
      for (const storage of all) await storage.purge(at);
    },
    async touch(at) {
      for (const storage of all) await storage.touch(at);
    },
    async flush() {
      for (const storage of all) await storage.flush?.();
    },
    clear(essence) {
      return all.reduce((cleared, storage) => storage.clear(cleared), essence);
    },
  };
}
