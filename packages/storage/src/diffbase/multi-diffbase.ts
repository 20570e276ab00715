import { type Body, buildEssence, type DiffBaseStorage, type Essence, isDigestOnly } from '@kopf-ts/core';
import { withAll } from '../maybe-async.js';
import { operatorsAnnotations } from '../prefix-marks.js';

/**
 * Keeps the last handled state in several storages at once: writes to all, reads from the first that has it.
 * If one of them fails to write, the others are still written to, and then the error is thrown.
 * For migrations; and for whole states in the status where annotations have room for digests only.
 *
 * ```ts
 * const { annotationsDiffBaseStorage, multiDiffBaseStorage, statusDiffBaseStorage } = kopf.storage;
 * kopf.on.startup(({ settings }) => {
 *   const storages = [statusDiffBaseStorage({ name: 'example' }), annotationsDiffBaseStorage()];
 *   settings.persistence.diffbaseStorage = multiDiffBaseStorage(storages);
 * });
 * ```
 */
export function multiDiffBaseStorage(storages: Iterable<DiffBaseStorage>): DiffBaseStorage {
  const all = [...storages];
  return {
    build({ body, extraFields = [], resource }) {
      // The fields are used several times, but an iterable can be good for one time only.
      const fields = [...extraFields];
      let essence = buildEssence(body, { extraFields: fields, dropAnnotations: operatorsAnnotations });
      // Each storage removes its own traces from what the others have left.
      for (const storage of all) {
        const remaining = identified(essence, body);
        essence = storage.build({ body: remaining, extraFields: fields, ...(resource && { resource }) });
      }
      return essence;
    },

    async fetch(at) {
      let digest: Essence | undefined;
      for (const storage of all) {
        const essence = await storage.fetch(at);
        if (essence !== undefined && !isDigestOnly(essence)) return essence;
        digest ??= essence;
      }
      return digest;
    },

    store: (at) => withAll(all, (storage) => storage.store(at)),

    clear(essence) {
      return all.reduce((cleared, storage) => storage.clear?.(cleared) ?? cleared, essence);
    },
  };
}

/** The essence as if it were the body: the storages look at what the object is, and some form their keys by it. */
function identified(essence: Essence, body: Body): Body {
  const { apiVersion, kind, metadata: { uid, ownerReferences } = {} } = body;
  const metadata = { ...(essence.metadata as object | undefined), uid, ownerReferences };
  return { ...essence, apiVersion, kind, metadata } as Body;
}
