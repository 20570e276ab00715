/**
 * Events of Kubernetes about any objects: `kubectl describe` shows them. They are only handed over here; the poster
 * of the operator sends them later, and no failure of it is a failure of a handler.
 */
import { ContextError, describeError } from '../../errors.js';
import type { LogLevel } from '../../seams/logger.js';
import type { EventPoster, KubeEventType } from '../../seams/poster.js';
import type { Settings } from '../../settings.js';
import { flattenObjects } from '../../values/objects/hierarchy.js';
import { requireContext } from '../context.js';

/**
 * One object, or any iterables of them, however nested. Absent ones are skipped.
 *
 * ```ts
 * const about: kopf.EventObjects = [body, undefined];
 * kopf.info(about, { reason: 'Seen', message: 'Both of them.' });
 * ```
 */
export type EventObjects = object | null | undefined | Iterable<EventObjects>;

/**
 * What an event says.
 *
 * ```ts
 * const options: kopf.EventOptions = { reason: 'Resized', message: 'It has 5 GiB now.' };
 * ```
 */
export interface EventOptions {
  /** A word in CamelCase, for programs. */
  readonly reason?: string;
  /** A text for people. */
  readonly message?: string;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Whether lines of this level are posted, if the lowest posted level is that. */
export function isPosted(level: LogLevel, lowest: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(lowest);
}

/**
 * Posts an event of any type, whatever the lowest level of posting is.
 *
 * ```ts
 * kopf.on.update('kopfexamples', ({ body }) => {
 *   kopf.event(body, { type: 'Normal', reason: 'Resized', message: 'It has 5 GiB now.' });
 * });
 * ```
 */
export function event(objects: EventObjects, options: EventOptions & { readonly type: KubeEventType }): void {
  post('event()', undefined, objects, options);
}

/**
 * Posts a `Normal` event.
 *
 * ```ts
 * kopf.on.create('kopfexamples', ({ body }) => {
 *   kopf.info(body, { reason: 'Provisioned', message: 'All is ready.' });
 * });
 * ```
 */
export function info(objects: EventObjects, options: EventOptions = {}): void {
  post('info()', 'info', objects, { type: 'Normal', ...options });
}

/**
 * Posts a `Warning` event.
 *
 * ```ts
 * kopf.on.create('kopfexamples', ({ body, spec }) => {
 *   if (spec.size > 100) kopf.warn(body, { reason: 'Big', message: 'That much is expensive.' });
 * });
 * ```
 */
export function warn(objects: EventObjects, options: EventOptions = {}): void {
  post('warn()', 'warn', objects, { type: 'Warning', ...options });
}

/**
 * Posts an `Error` event about an error: with its class as the reason and with its text, unless told otherwise.
 *
 * ```ts
 * kopf.on.update('kopfexamples', async ({ body }) => {
 *   await fetch('https://example.com/resize').catch((error) => kopf.exception(body, { error }));
 * });
 * ```
 */
export function exception(objects: EventObjects, options: EventOptions & { readonly error?: unknown } = {}): void {
  const { error, reason, message = '' } = options;
  const texts = [message, error === undefined ? '' : describeError(error)];
  post('exception()', 'error', objects, {
    type: 'Error',
    reason: reason || classOf(error),
    message: texts.filter((text) => text !== '').join(' '),
  });
}

function post(
  what: string,
  level: LogLevel | undefined,
  objects: EventObjects,
  { type, reason = '', message = '' }: EventOptions & { readonly type: KubeEventType },
): void {
  const { settings, poster } = currentPosting(what);
  const isWanted = settings.posting.enabled && (level === undefined || isPosted(level, settings.posting.level));
  if (!isWanted) return;
  for (const about of flattenObjects(objects)) poster.post({ about, type, reason, message });
}

function currentPosting(what: string): { readonly settings: Settings; readonly poster: EventPoster } {
  const { settings, poster } = requireContext(what);
  if (settings !== undefined && poster !== undefined) return { settings, poster };
  throw new ContextError(`${what} works only in handlers of a running operator: elsewhere, nothing posts events.`);
}

/** Of the classes that do not name themselves, only the constructor knows the name. */
function classOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Error';
  return error.name === 'Error' ? error.constructor.name || 'Error' : error.name;
}
