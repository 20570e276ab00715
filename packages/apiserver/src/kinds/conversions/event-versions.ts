/** Events have two faces: that of the core group, in which they are stored, and that of `events.k8s.io`. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { Conversion } from '../served.js';

/** The name in the core group, and the name in the other one. */
const RENAMED: readonly (readonly [core: string, other: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

export const eventConversion: Conversion = {
  apiVersion: 'v1',
  toStorage(object) {
    const other = RENAMED.map(([core, name]) => [name, core] as const);
    const { reportingController = '', reportingInstance = '' } = object;
    return rename({ ...object, reportingController, reportingInstance }, 'v1', other);
  },
  fromStorage(object) {
    const converted = rename(object, 'events.k8s.io/v1', RENAMED);
    // Here an empty reporter is left out; there it is not.
    for (const key of ['reportingController', 'reportingInstance']) if (converted[key] === '') delete converted[key];
    return converted;
  },
};

function rename(
  object: ServedObject,
  apiVersion: string,
  names: readonly (readonly [from: string, to: string])[],
): ServedObject {
  const converted: Mapping = {};
  const renamed = new Map(names);
  for (const [key, value] of Object.entries(object)) converted[renamed.get(key) ?? key] = value;
  return { ...converted, apiVersion } as ServedObject;
}
