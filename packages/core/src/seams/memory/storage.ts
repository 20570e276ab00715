import type { FieldPath } from '../../values/fields.js';
import type { HandlerId } from '../../values/ids.js';
import type { Body } from '../../values/objects/body.js';
import type { Essence } from '../../values/objects/essence.js';
import type { Patch } from '../../values/patches/patch.js';
import type { Resource } from '../../values/resources/resource.js';
import type { Awaitable } from '../awaitable.js';

/**
 * The persisted progress of one handler on one object. All times are ISO-8601 with an offset.
 *
 * ```ts
 * const isDone = ({ success, failure }: kopf.ProgressRecord): boolean => success === true || failure === true;
 * ```
 */
export interface ProgressRecord {
  started?: string | null;
  stopped?: string | null;
  delayed?: string | null;
  purpose?: string | null;
  retries?: number | null;
  success?: boolean | null;
  failure?: boolean | null;
  message?: string | null;
  subrefs?: readonly HandlerId[] | null;
  /** The digest of the essence that the handler succeeded on. Ours: Kopf ignores it, and never writes it. */
  digest?: string | null;
  /** Distinguishes this run's step keys from those of any other run. Ours, like the digest. */
  token?: string | null;
  /** For a successful step: its result as JSON; empty if there is none. Ours, like the digest. */
  result?: string | null;
}

/**
 * Reports a malformed trace left by someone else; called at most once per trace. The trace counts as absent.
 *
 * ```ts
 * const malformed: kopf.ReportMalformed = (problem) => logger.warn(problem);
 * await kopf.storage.smartProgressStorage().fetch({ key: 'create_fn', body, malformed });
 * ```
 */
export type ReportMalformed = (problem: string) => void;

/**
 * Remembers, between the handling cycles of one object, which handlers are done and which are due.
 *
 * ```ts
 * const own: kopf.ProgressStorage = kopf.storage.statusProgressStorage({ field: 'status.example' });
 * const record = await own.fetch({ key: 'create_fn', body });
 * logger.info(`create_fn has been tried ${record?.retries ?? 0} times.`);
 * ```
 */
export interface ProgressStorage {
  fetch(at: { key: HandlerId; body: Body; malformed?: ReportMalformed }): Awaitable<ProgressRecord | undefined>;
  store(at: { key: HandlerId; record: ProgressRecord; body: Body; patch: Patch }): Awaitable<void>;
  purge(at: { key: HandlerId; body: Body; patch: Patch }): Awaitable<void>;
  /** Changes anything at all in the object, to trigger a new watch event; or undoes it with `null`. */
  touch(at: { value: string | null; body: Body; patch: Patch }): Awaitable<void>;
  /** Called after a cycle, for storages that collect changes and write them at once. */
  flush?(): Awaitable<void>;
  /**
   * Removes this storage's own traces, so that they are not mistaken for a change by the user. Never changes the given
   * essence: makes a copy, or returns the same one if there is nothing to remove.
   */
  clear(essence: Essence): Essence;
  /**
   * The same, but keeps what this storage cannot have written, even in places reserved for it: to tell our own changes
   * of objects from changes by others. It may get a whole body. Copies. Not needed if others cannot write into the
   * storage's places: then `clear` is used.
   */
  clearOwn?(essence: Essence): Essence;
}

/**
 * Remembers the last handled essence of an object, to diff the next one against.
 *
 * ```ts
 * const own: kopf.DiffBaseStorage = kopf.storage.annotationsDiffBaseStorage({ prefix: 'example.com' });
 * const essence = own.build({ body });
 * const last = await own.fetch({ body });
 * logger.info(JSON.stringify(kopf.diff(last, essence)));
 * ```
 */
export interface DiffBaseStorage {
  build(at: { body: Body; extraFields?: Iterable<FieldPath>; resource?: Resource }): Essence;
  fetch(at: { body: Body; resource?: Resource; malformed?: ReportMalformed }): Awaitable<Essence | undefined>;
  store(at: { essence: Essence; body: Body; patch: Patch; resource?: Resource }): Awaitable<void>;
  /**
   * Removes this storage's own traces, and nothing else: to tell our own changes of objects from changes by others. It
   * may get a whole body. Copies. Not needed by storages that leave no traces on objects.
   */
  clear?(essence: Essence): Essence;
}
