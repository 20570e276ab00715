import {
  type Body,
  deepCopy,
  ensureField,
  isDigestOnly,
  isMapping,
  type ProgressStorage,
  removeEmptyStanzas,
  removeField,
  resolveField,
} from '@kopf-ts/core';
import { checkPrefix, keysFormer } from '../annotation-keys.js';
import { annotationsOf, isTidy } from '../clearing.js';
import { type Complain, compactJson, readMapping } from '../compact-json.js';
import { annotationPath, eraseAnnotations, touchField } from '../patching.js';
import { MARKED, markOf, markPrefix } from '../prefix-marks.js';
import { type Compat, isRecord, readRecord, strippedRecord, verboseRecord } from './progress-records.js';

/**
 * How the annotations are called, and what is in them.
 *
 * ```ts
 * const options: kopf.storage.AnnotationsProgressOptions = { prefix: 'example.com', v1: false };
 * ```
 */
export interface AnnotationsProgressOptions {
  /** What stands before the slash in the annotations. Operators of different prefixes do not mix. Default: `kopf.zalando.org`. */
  readonly prefix?: string;
  /** Whether to write also those fields of records that have nothing in them, as nulls. Default: false. */
  readonly verbose?: boolean;
  /** The annotation, after the slash, that is changed for the sake of a change. Default: `touch-dummy`. */
  readonly touchKey?: string;
  /** Whether to write and read also the shorter annotations of older Kopf versions. Default: true. */
  readonly v1?: boolean;
  /** `'kopf'` leaves out what Kopf would not write. It may be a getter: it is asked at each use. Default: unset. */
  readonly compat?: Compat;
}

/**
 * Keeps the progress in annotations, one or two per handler: works for any kind of resource, with any schema.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.persistence.progressStorage = kopf.storage.annotationsProgressStorage({ prefix: 'example.com' });
 * });
 * ```
 */
export function annotationsProgressStorage(options: AnnotationsProgressOptions = {}): ProgressStorage {
  const { prefix = 'kopf.zalando.org', verbose = false, touchKey = 'touch-dummy', v1 = true } = options;
  checkPrefix(prefix);
  const keysOf = keysFormer({ prefix, v1 });
  const isOwn = (annotation: string): boolean => annotation.startsWith(`${prefix}/`);

  return {
    fetch({ key, body, malformed }) {
      for (const annotation of keysOf(key, body)) {
        const text: unknown = body.metadata?.annotations?.[annotation];
        if (text === undefined || text === null) continue;
        const complain: Complain = (problem) =>
          void malformed?.(`Annotation "${annotation}" is not a progress record: ${problem}.`);
        const stored = readMapping(text, complain);
        const record = stored && readRecord(stored, complain);
        if (record !== undefined) return record;
      }
      return undefined;
    },

    store({ key, record, body, patch }) {
      const format = verbose ? verboseRecord : strippedRecord;
      const text = compactJson(format(record, options.compat));
      for (const annotation of keysOf(key, body)) ensureField(patch.merge, annotationPath(annotation), text);
      markPrefix(prefix, body, patch);
    },

    purge({ key, body, patch }) {
      eraseAnnotations(keysOf(key, body), body, patch);
    },

    touch({ value, body, patch }) {
      for (const annotation of keysOf(touchKey, body)) {
        const isTouched = touchField(annotationPath(annotation), value, body, patch);
        if (isTouched) markPrefix(prefix, body, patch);
      }
    },

    clear(essence) {
      const own = annotationsOf(essence, isOwn);
      // Nor is there anything of anybody's in digests of essences, while a copy would lose their mark.
      if (own.length === 0 && isTidy(essence)) return essence;
      const cleared = deepCopy(essence);
      for (const annotation of own) removeField(cleared, annotationPath(annotation));
      removeEmptyStanzas(cleared);
      return cleared;
    },

    clearOwn(essence) {
      if (isDigestOnly(essence)) return essence;
      const cleared = deepCopy(essence);
      const annotations = resolveField(cleared, ['metadata', 'annotations']);
      if (isMapping(annotations)) {
        const touched = keysOf(touchKey, essence as Body);
        for (const [annotation, text] of Object.entries(annotations)) {
          if (!isOwn(annotation)) continue;
          const isMark = annotation === markOf(prefix) && text === MARKED;
          // Operators like to have their settings under the same prefix: these are not for us to take for ours.
          const isOurs = isMark || touched.includes(annotation) || isRecord(readMapping(text, () => undefined));
          if (isOurs) delete annotations[annotation];
        }
      }
      removeEmptyStanzas(cleared);
      return cleared;
    },
  };
}
