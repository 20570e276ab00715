import {
  buildEssence,
  type DiffBaseStorage,
  deepCopy,
  ensureField,
  type FieldSpec,
  formatField,
  isDigestOnly,
  parseField,
  removeEmptyStanzas,
  removeField,
  resolveField,
} from '@kopf-ts/core';
import { namedField } from './fields.js';
import { type Complain, compactJson, readMapping } from './json.js';
import { operatorsAnnotations } from './marks.js';
import type { Compat } from './records.js';
import { concealing, type SecretsMode } from './secrets.js';

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
 */
export function statusDiffBaseStorage(options: StatusDiffBaseOptions = {}): DiffBaseStorage {
  const { name = 'kopf' } = options;
  const path = namedField(options.field ?? 'status.{name}.last-handled-configuration', name);
  const ignoredFields = [...(options.ignoredFields ?? [])].map(parseField);
  const masked = concealing(options);

  return {
    build({ body, extraFields = [], resource }) {
      const essence = buildEssence(body, { extraFields, ignoredFields, dropAnnotations: operatorsAnnotations });
      removeField(essence, path, { scalars: 'absent' });
      return masked(essence, { body, resource });
    },

    fetch({ body, resource, malformed }) {
      const text = resolveField(body, path) ?? undefined;
      if (text === undefined) return undefined;
      const complain: Complain = (problem) =>
        void malformed?.(`Field "${formatField(path)}" is not a last handled state: ${problem}.`);
      const essence = readMapping(text, complain);
      return essence === undefined ? undefined : masked(essence, { body, resource });
    },

    store({ essence, body, patch, resource }) {
      // A digest alone is never made here, but may come from a storage beside; it says nothing that is not there.
      if (isDigestOnly(essence)) return;
      ensureField(patch.merge, path, compactJson(masked(essence, { body, resource })));
    },

    clear(essence) {
      const cleared = deepCopy(essence);
      removeField(cleared, path, { scalars: 'absent' });
      removeEmptyStanzas(cleared);
      return cleared;
    },
  };
}
