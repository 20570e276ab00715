/** Objects and events that are not as they must be: what is wrong with them, and whether it is already known. */
import { KopfError } from '../../../errors.js';
import type { Logger } from '../../../seams/logger.js';
import { isMapping, type Mapping } from '../../../values/json.js';
import type { AnyObject } from '../../../values/objects/body.js';

const TEXTS = ['uid', 'namespace', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'] as const;
const MAPPINGS = ['labels', 'annotations'] as const;

/**
 * What is wrong with the object, in words; `undefined` if it can be handled. Without a name, it would be a ghost in all
 * that is remembered by names; with fields of other types, it would break the code that trusts in them.
 */
export function flawOf(object: unknown): string | undefined {
  if (!isMapping(object)) return 'it is not an object';
  const { metadata } = object;
  if (metadata === undefined || metadata === null) return 'it has no metadata';
  if (!isMapping(metadata)) return 'its metadata are not an object';
  const { name, finalizers, ownerReferences } = metadata;
  if (typeof name !== 'string')
    return name === undefined || name === null ? 'it has no name' : 'its name is not a text';
  if (name === '') return 'it has no name';
  for (const field of TEXTS) {
    if (!isAbsent(metadata[field]) && typeof metadata[field] !== 'string') return `its metadata.${field} is not a text`;
  }
  for (const field of MAPPINGS) {
    if (!isAbsent(metadata[field]) && !isMappingOfTexts(metadata[field])) {
      return `its metadata.${field} are not a mapping of texts`;
    }
  }
  if (!isAbsent(finalizers) && !isArrayOf(finalizers, (item) => typeof item === 'string')) {
    return 'its metadata.finalizers are not a list of texts';
  }
  if (!isAbsent(ownerReferences) && !isArrayOf(ownerReferences, isMapping)) {
    return 'its metadata.ownerReferences are not a list of objects';
  }
  return undefined;
}

/** The malformed object in logs, as far as it can be named. */
function nameOfMalformed(object: unknown): string {
  const metadata = isMapping(object) && isMapping(object['metadata']) ? object['metadata'] : {};
  const { namespace, name, uid } = metadata as Mapping;
  if (typeof name === 'string' && name !== '') return typeof namespace === 'string' ? `${namespace}/${name}` : name;
  return typeof uid === 'string' ? `an object with uid ${uid}` : 'an object';
}

/** The client could not make anything of a line. */
export function isUndecodable(error: unknown): boolean {
  return error instanceof SyntaxError || (error instanceof KopfError && UNDECODABLE.has(error.code ?? ''));
}

const UNDECODABLE: ReadonlySet<string> = new Set(['KOPF_BAD_JSON']);

export interface MalformedObjects {
  /**
   * Something malformed has come. True if that is news: then it must be confirmed or refuted by a new listing, since
   * what is in it, or is hidden by it, is not known.
   */
  notice(what: string, where: 'event' | 'listing'): boolean;
  /** It is still so in a listing that was made because of it: told of, once. */
  confirm(what: string): void;
  /**
   * A listing is complete: nothing is hidden any more. Listed objects that were not confirmed are mended. But events
   * come only once, so the skipped ones are reported now.
   */
  conclude(): void;
}

/** If there are more of them, something else is wrong, and it is known already. */
const MAX_NAMED = 100;

export function malformedObjects(logger: Logger, title: string): MalformedObjects {
  const noticed = new Map<string, 'event' | 'listing' | 'told'>();
  const tell = (what: string): void => {
    if (noticed.get(what) === 'told') return;
    noticed.set(what, 'told');
    logger.warn(
      `Skipping a malformed object or event in the watch-stream for ${title}: ${what}. All others are served.`,
    );
  };
  return {
    notice(what, where) {
      if (noticed.has(what) || noticed.size > MAX_NAMED) return false;
      // There is room for one more, so that this is not said again.
      if (noticed.size === MAX_NAMED) {
        logger.warn(
          `More than ${MAX_NAMED} malformed objects and events are skipped in the watch-stream for ${title}.`,
        );
      }
      noticed.set(what, where);
      return true;
    },
    confirm(what) {
      if (noticed.has(what)) tell(what);
    },
    conclude() {
      for (const [what, where] of noticed) {
        if (where === 'event') tell(what);
        else if (where === 'listing') noticed.delete(what);
      }
    },
  };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isMappingOfTexts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  // For each event of each object: without making a list of the values.
  for (const key in value) if (typeof (value as Mapping)[key] !== 'string') return false;
  return true;
}

function isArrayOf(value: unknown, isMember: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isMember);
}

/** As an event, it is known to be deleted or not; but not who it is. */
export function describeMalformed(type: string | null, object: unknown, flaw: string): string {
  const name = nameOfMalformed(object as AnyObject);
  return type === 'DELETED' ? `${name} was deleted, but ${flaw}` : `${name}: ${flaw}`;
}
