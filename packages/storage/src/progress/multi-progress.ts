import type { ProgressStorage } from '@kopf-ts/core';
import { firstOf, withAll } from '../maybe-async.js';

/**
 * Keeps the progress in several storages at once: writes to all, reads from the first that has it. For migrations.
 * If one of them fails to write, the others are still written to, and then the error is thrown.
 *
 * ```ts
 * const { annotationsProgressStorage, multiProgressStorage, statusProgressStorage } = kopf.storage;
 * kopf.on.startup(({ settings }) => {
 *   const newPlace = annotationsProgressStorage({ prefix: 'example.com' });
 *   settings.persistence.progressStorage = multiProgressStorage([newPlace, statusProgressStorage()]);
 * });
 * ```
 */
export function multiProgressStorage(storages: Iterable<ProgressStorage>): ProgressStorage {
  const all = [...storages];
  return {
    fetch: (at) => firstOf(all, (storage) => storage.fetch(at)),
    store: (at) => withAll(all, (storage) => storage.store(at)),
    purge: (at) => withAll(all, (storage) => storage.purge(at)),
    touch: (at) => withAll(all, (storage) => storage.touch(at)),
    flush: () => withAll(all, (storage) => storage.flush?.()),
    clear(essence) {
      return all.reduce((cleared, storage) => storage.clear(cleared), essence);
    },
    clearOwn(essence) {
      return all.reduce((cleared, storage) => storage.clearOwn?.(cleared) ?? storage.clear(cleared), essence);
    },
  };
}
