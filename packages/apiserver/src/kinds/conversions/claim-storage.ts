/** Claims as they are stored. */
import type { ServedObject } from '../../contracts/objects.js';
import { defaultPersistentVolumeClaim } from '../defaults/other-defaults.js';
import { maybeMapping } from '../defaults/setting.js';
import type { Conversion } from '../served.js';

/**
 * A new claim is stored without a phase, and read with its default. So the first write that would change nothing stores
 * the phase, and makes a new version, which those who wait for the next one of a claim get to see.
 */
export const claimConversion: Conversion = {
  apiVersion: 'v1',
  toStorage(object) {
    const isNew = (object.metadata.resourceVersion ?? '') === '';
    const { phase: _phase, ...status } = maybeMapping(object, 'status') ?? {};
    return isNew ? { ...object, status } : object;
  },
  fromStorage(stored) {
    const object: ServedObject = { ...stored };
    defaultPersistentVolumeClaim(object);
    return object;
  },
};
