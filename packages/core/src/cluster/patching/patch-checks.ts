/** What the answers to patches tell: whether all was applied as asked, and which version to wait for. */

import { type Diff, diff } from '../../values/diff.js';
import type { Mapping } from '../../values/json.js';
import type { AnyObject } from '../../values/objects/body.js';

/** The fields that the cluster drops when they are empty. */
const DROPPED_WHEN_EMPTY: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.finalizers',
  'metadata.labels',
]);

/** What of the merge-patch is not so in the object after it: e.g. fields that are not in the schema of the kind. */
export function inconsistenciesOf(merge: Mapping, body: AnyObject): Diff {
  const found = differences(merge, body);
  if (found.length === 0) return found;
  // JSON knows neither holes in lists, nor dates, nor what is not a number: it is asked for as it was sent.
  return differences(JSON.parse(JSON.stringify(merge)) as Mapping, body);
}

function differences(merge: Mapping, body: AnyObject): Diff {
  return diff(merge, body, { scope: 'left' }).filter(
    ([, field, old, current]) => !(DROPPED_WHEN_EMPTY.has(field.join('.')) && isNothing(old) && isNothing(current)),
  );
}

function isNothing(value: unknown): boolean {
  return !value || (typeof value === 'object' && Object.keys(value).length === 0);
}

/**
 * The version to be seen next in the watch-stream. If the object is gone by this very patch, the stream will never
 * show that version: it will show another one with the deletion. The version is mangled then, to match nothing.
 */
export function versionToExpect(body: AnyObject | undefined): string | undefined {
  const version = body?.metadata?.resourceVersion;
  if (version === undefined) return undefined;
  const isDeleting = Boolean(body?.metadata?.deletionTimestamp);
  const isReleased = (body?.metadata?.finalizers ?? []).length === 0;
  return isDeleting && isReleased ? `${version}~which~never~arrives` : version;
}
