/** Rules of namespaces: their own finalizers, and the phase, which follows from whether they are being deleted. */
import { isMapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { invalidValue } from '../../text/field-causes.js';
import { validateCoreFinalizers } from '../metadata.js';
import { qualifiedName } from '../names.js';
import type { KindRules } from './rules.js';

export const namespaceRules: Readonly<Record<string, KindRules>> = {
  'core.Namespace': {
    // Of new ones, it is not told which of the finalizers it is.
    validateCreate: (object) => [
      ...finalizersOf(object).flatMap((name) =>
        qualifiedName(name).map((why) => invalidValue('spec.finalizers', name, why)),
      ),
      ...validateCoreFinalizers(finalizersOf(object), () => 'spec.finalizers'),
    ],
    validateFinalize: (object) => validateCoreFinalizers(finalizersOf(object), (index) => `spec.finalizers[${index}]`),
    validateStatus: validatePhase,
  },
};

function finalizersOf({ spec }: ServedObject): readonly string[] {
  return isMapping(spec) && Array.isArray(spec.finalizers) ? spec.finalizers.map(String) : [];
}

function validatePhase({ status, metadata }: ServedObject): readonly Cause[] {
  const phase = isMapping(status) ? (status.phase ?? '') : '';
  const isDeleting = metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
  const expected = isDeleting ? 'Terminating' : 'Active';
  if (phase === expected) return [];
  const why = `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleting ? 'not ' : ''}empty`;
  return [invalidValue('status.Phase', phase, why)];
}
