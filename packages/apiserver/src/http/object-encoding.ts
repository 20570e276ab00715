/** Stored revisions as they are given out: in the version of the request, as they are or as columns for people. */
import type { ServedObject } from '../contracts/objects.js';
import type { Revision } from '../contracts/store.js';
import type { Served } from '../kinds/served.js';
import { parseRevision, rewriteApiVersion, tailOf } from '../store/revision.js';
import { writeJson } from '../text/json-writing.js';
import { widened } from '../text/narrow-json.js';

/** The object in the version of the request; a copy that may be changed. */
export function objectOf(served: Served, revision: Revision): ServedObject {
  const stored = parseRevision(revision);
  const { strategy } = served;
  if (strategy.fromStorage !== undefined) return strategy.fromStorage(stored);
  if (isOutdated(served, revision)) strategy.refresh?.(stored);
  stored.apiVersion = served.apiVersion;
  return stored;
}

/** The same object in another version of its kind, without a look at schemas: reading and writing see to that. */
export function convertedTo(object: ServedObject, from: Served, to: Served): ServedObject {
  if (from.isCustom) return { ...object, apiVersion: to.apiVersion };
  const stored = from.strategy.toStorage?.(object) ?? { ...object, apiVersion: from.storageApiVersion };
  return to.strategy.fromStorage?.(stored) ?? { ...stored, apiVersion: to.apiVersion };
}

/** Mostly this is the very text that is stored. */
export function textOf(served: Served, revision: Revision): string {
  if (needsConversion(served, revision)) return writeJson(objectOf(served, revision));
  if (served.apiVersion === served.storageApiVersion) return widened(revision.json);
  return rewriteApiVersion(widened(revision.json), served.apiVersion, served.kind);
}

/** As an item of a list: items of built-in kinds do not say what they are. */
export function itemTextOf(served: Served, revision: Revision): string {
  if (served.isCustom) return textOf(served, revision);
  if (!needsConversion(served, revision)) return `{${tailOf(widened(revision.json))}`;
  const { apiVersion: _version, kind: _kind, ...rest } = objectOf(served, revision);
  return writeJson(rest);
}

function needsConversion(served: Served, revision: Revision): boolean {
  return served.strategy.fromStorage !== undefined || isOutdated(served, revision);
}

/** Was it stored under another schema, or is another version with another schema asked for? */
function isOutdated(served: Served, revision: Revision): boolean {
  if (!served.isCustom) return false;
  return revision.schemaEpoch !== served.strategy.schemaEpoch || served.apiVersion !== served.storageApiVersion;
}
