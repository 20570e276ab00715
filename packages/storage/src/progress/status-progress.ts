import {
  deepCopy,
  ensureField,
  type FieldSpec,
  formatField,
  isDigestOnly,
  isMapping,
  type Mapping,
  type ProgressStorage,
  removeEmptyStanzas,
  removeField,
  resolveField,
} from '@kopf-ts/core';
import { isTidy } from '../clearing.js';
import { type Complain, nameOf } from '../compact-json.js';
import { namedField } from '../named-field.js';
import { erase, touchField } from '../patching.js';
import { type Compat, isRecord, OUR_FIELDS, readRecord, verboseRecord } from './progress-records.js';

/**
 * Where in the status the progress is.
 *
 * ```ts
 * const options: kopf.storage.StatusProgressOptions = { field: 'status.example.progress' };
 * ```
 */
export interface StatusProgressOptions {
  /** The name of the operator, to be put into the fields. Default: `kopf`. */
  readonly name?: string;
  /** Where the records are, by handlers' ids. Default: `status.{name}.progress`. */
  readonly field?: NonNullable<FieldSpec>;
  /** What is changed for the sake of a change. Default: `status.{name}.dummy`. */
  readonly touchField?: NonNullable<FieldSpec>;
  /** `'kopf'` leaves out what Kopf would not write. It may be a getter: it is asked at each use. Default: unset. */
  readonly compat?: Compat;
}

/**
 * Keeps the progress in the status, as structured data. The schema of the resource must permit these fields, e.g. by
 * `x-kubernetes-preserve-unknown-fields`; otherwise Kubernetes silently drops them, and handlers start over for ever.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.persistence.progressStorage = kopf.storage.statusProgressStorage({ name: 'example' });
 * });
 * ```
 */
export function statusProgressStorage(options: StatusProgressOptions = {}): ProgressStorage {
  const { name = 'kopf' } = options;
  const recordsPath = namedField(options.field ?? 'status.{name}.progress', name);
  const touchPath = namedField(options.touchField ?? 'status.{name}.dummy', name);

  return {
    fetch({ key, body, malformed }) {
      const records = resolveField(body, recordsPath) ?? undefined;
      if (records === undefined) return undefined;
      const complain: Complain = (problem) =>
        void malformed?.(`Field "${formatField(recordsPath)}" has no progress record of handler "${key}": ${problem}.`);
      if (!isMapping(records)) return complain(`the field is ${nameOf(records)}, not an object`);
      const stored = resolveField(records, [key]) ?? undefined;
      return stored === undefined ? undefined : readRecord(stored, complain);
    },

    store({ key, record, body, patch }) {
      // Unlike in annotations, a record is merged into the previous one: what it no longer has must be removed.
      const stored: Mapping = verboseRecord(record, options.compat);
      for (const field of OUR_FIELDS) {
        const isLeft = resolveField(body, [...recordsPath, key, field]) !== undefined;
        if (isLeft) stored[field] ??= null;
      }
      ensureField(patch.merge, [...recordsPath, key], stored);
    },

    purge({ key, body, patch }) {
      erase([...recordsPath, key], body, patch);
    },

    touch({ value, body, patch }) {
      touchField(touchPath, value, body, patch);
    },

    clear(essence) {
      if (resolveField(essence, recordsPath) === undefined && isTidy(essence)) return essence;
      const cleared = deepCopy(essence);
      removeField(cleared, recordsPath, { scalars: 'absent' });
      removeEmptyStanzas(cleared);
      return cleared;
    },

    clearOwn(essence) {
      if (isDigestOnly(essence)) return essence;
      const cleared = deepCopy(essence);
      removeField(cleared, touchPath, { scalars: 'absent' });
      const records = resolveField(cleared, recordsPath);
      if (isMapping(records)) {
        for (const [key, record] of Object.entries(records)) if (isRecord(record)) delete records[key];
        if (Object.keys(records).length === 0) removeField(cleared, recordsPath, { scalars: 'absent' });
      }
      removeEmptyStanzas(cleared);
      return cleared;
    },
  };
}
