import {
  buildEssence,
  type DiffBaseStorage,
  deepCopy,
  type Essence,
  ensureField,
  type FieldPath,
  type FieldSpec,
  formatField,
  isDigestOnly,
  parseField,
  removeEmptyStanzas,
  removeField,
  resolveField,
} from '@kopf-ts/core';
import { type Complain, compactJson, readMapping } from '../compact-json.js';
import { namedField } from '../named-field.js';
import { erase } from '../patching.js';
import { operatorsAnnotations } from '../prefix-marks.js';
import type { Compat } from '../progress/progress-records.js';
import { digestText, isForDigest, readDigest } from './digests.js';
import { concealing, type SecretsMode } from './secret-values.js';

/**
 * Where in the status the last handled state is, and what is left out of it.
 *
 * ```ts
 * const options: kopf.storage.StatusDiffBaseOptions = { name: 'example', ignoredFields: ['spec.replicas'] };
 * ```
 */
export interface StatusDiffBaseOptions {
  /** The name of the operator, to be put into the field. Default: `kopf`. */
  readonly name?: string;
  /** Where the state is kept, as a text. Default: `status.{name}.last-handled-configuration`. */
  readonly field?: NonNullable<FieldSpec>;
  /** Fields whose changes are not worth handling. Default: none. */
  readonly ignoredFields?: Iterable<FieldSpec>;
  /** How the values of Secrets are kept. It may be a getter: it is asked at each use. Default: `'digests'`. */
  readonly secrets?: SecretsMode;
  /** `'kopf'` keeps values of Secrets as they are. It may be a getter: it is asked at each use. Default: unset. */
  readonly compat?: Compat;
}

/**
 * Keeps the last handled state in the status, as a JSON text: there, it is not limited as annotations are. The schema
 * of the resource must permit the field; otherwise Kubernetes silently drops it, and every object is new for ever.
 * Of a state that is nested too deep, only the digest is kept, in the field with `-digest` added to the name.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.persistence.diffbaseStorage = kopf.storage.statusDiffBaseStorage({ name: 'example' });
 * });
 * ```
 */
export function statusDiffBaseStorage(options: StatusDiffBaseOptions = {}): DiffBaseStorage {
  const { name = 'kopf' } = options;
  const path = namedField(options.field ?? 'status.{name}.last-handled-configuration', name);
  // Beside it, for what is nested too deep.
  const digestPath = [...path.slice(0, -1), `${path.at(-1)}-digest`];
  const ignoredFields = [...(options.ignoredFields ?? [])].map(parseField);
  const masked = concealing(options);

  return {
    build({ body, extraFields = [], resource }) {
      const essence = buildEssence(body, { extraFields, ignoredFields, dropAnnotations: operatorsAnnotations });
      for (const own of [path, digestPath]) removeField(essence, own, { scalars: 'absent' });
      return masked(essence, { body, resource });
    },

    fetch({ body, resource, malformed }) {
      const read = (field: FieldPath, parse: typeof readMapping): Essence | undefined => {
        const text = resolveField(body, field) ?? undefined;
        if (text === undefined) return undefined;
        const complain: Complain = (problem) =>
          void malformed?.(`Field "${formatField(field)}" is not a last handled state: ${problem}.`);
        return parse(text, complain);
      };
      const essence = read(path, readMapping) ?? read(digestPath, readDigest);
      return essence === undefined ? undefined : masked(essence, { body, resource });
    },

    store({ essence, body, patch, resource }) {
      // A digest alone may come from a storage beside; it says nothing that is not there.
      if (isDigestOnly(essence)) return;
      const stored = masked(essence, { body, resource });
      const isDigest = isForDigest(stored);
      erase(isDigest ? path : digestPath, body, patch);
      ensureField(patch.merge, isDigest ? digestPath : path, isDigest ? digestText(stored) : compactJson(stored));
    },

    clear(essence) {
      const cleared = deepCopy(essence);
      for (const own of [path, digestPath]) removeField(cleared, own, { scalars: 'absent' });
      removeEmptyStanzas(cleared);
      return cleared;
    },
  };
}
