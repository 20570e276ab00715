import type { FieldPath } from '../../values/fields.js';
import type { HandlerId } from '../../values/ids.js';
import type { Body } from '../../values/objects/body.js';
import type { Essence } from '../../values/objects/essence.js';
import type { Patch } from '../../values/patches/patch.js';
import type { Resource } from '../../values/resources/resource.js';
import type { Awaitable } from '../awaitable.js';

/**
 * What is persisted of one handler's progress on one object. All times are ISO-8601 with an offset.
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
  /** Of the essence that the handler has succeeded on. Ours: Kopf ignores it, and never writes it. */
  digest?: string | null;
  /** Tells the keys of a handler's steps from those of any other time. Ours, as the digest is. */
  token?: string | null;
  /** Of a step that has succeeded: its result as JSON; empty if there is none. Ours, as the digest is. */
  result?: string | null;
}

/**
 * Tells of a malformed trace left by someone else; called at most once per trace. The trace counts as absent.
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
  /** Changes anything at all in the object, so that a new watch-event comes; or undoes it with `null`. */
  touch(at: { value: string | null; body: Body; patch: Patch }): Awaitable<void>;
  /** Called after a cycle, for storages that collect and write at once. */
  flush?(): Awaitable<void>;
  /**
   * Removes this storage's own traces, so that they are not mistaken for a change made by the user. Never changes the
   * essence itself: makes a copy, or returns the same one if there is nothing to remove.
   */
  clear(essence: Essence): Essence;
  /**
   * The same, but leaves what this storage can surely not have written, even in places reserved for it: to tell our own
   * changes of objects from changes by others. It can be given a whole body. Copies. A storage in whose places others
   * can put nothing does not need it: `clear` is used then.
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
   * Removes this storage's own traces, and nothing else: to tell our own changes of objects from changes by others.
   * It can be given a whole body. Copies. A storage that leaves no traces on objects does not need it.
   */
  clear?(essence: Essence): Essence;
}
