import type { ProgressStorage } from '@kopf-ts/core';
import { type AnnotationsProgressOptions, annotationsProgressStorage } from './annotations-progress.js';
import { multiProgressStorage } from './multi-progress.js';
import { type StatusProgressOptions, statusProgressStorage } from './status-progress.js';

/**
 * Options of both places.
 *
 * ```ts
 * const options: kopf.storage.SmartProgressOptions = { prefix: 'example.com', name: 'example' };
 * ```
 */
export interface SmartProgressOptions extends AnnotationsProgressOptions, StatusProgressOptions {}

/**
 * The default one: keeps the progress in annotations, but also reads (and purges, but never writes) what operators
 * of old have left in the status.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.persistence.progressStorage = kopf.storage.smartProgressStorage({ prefix: 'example.com' });
 * });
 * ```
 */
export function smartProgressStorage(options: SmartProgressOptions = {}): ProgressStorage {
  return multiProgressStorage([annotationsProgressStorage(options), readOnly(statusProgressStorage(options))]);
}

function readOnly(storage: ProgressStorage): ProgressStorage {
  return { ...storage, store: () => undefined, touch: () => undefined };
}
