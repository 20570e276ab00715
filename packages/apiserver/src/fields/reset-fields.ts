/** What writes do not change, whatever they say: the status by the object itself, and most of the rest by its status. */
import type { Served } from '../kinds/served.js';
import { type FieldSet, NOTHING, setOf, union } from './field-sets.js';

export const STATUS = setOf('f:status');
const SPEC = setOf('f:spec');
const SPEC_AND_METADATA = union(SPEC, setOf('f:metadata'));

/** Of statuses, where it is not just the spec, as facts about the Kubernetes API 1.36; by the names of types. */
const BY_STATUS: Readonly<Record<string, FieldSet>> = {
  'admissionregistration.ValidatingAdmissionPolicy': SPEC_AND_METADATA,
  'apps.Deployment': union(SPEC, setOf('f:metadata', 'f:labels')),
  'core.Pod': union(union(SPEC, setOf('f:metadata', 'f:deletionTimestamp')), setOf('f:metadata', 'f:ownerReferences')),
  'networking.ServiceCIDR': SPEC_AND_METADATA,
  'storage.VolumeAttachment': SPEC_AND_METADATA,
};

export function resetsOf({ type, subresources }: Served, subresource: string): FieldSet {
  if (subresource === 'status') return type === undefined ? SPEC_AND_METADATA : (BY_STATUS[type] ?? SPEC);
  const keepsStatus = subresource === '' || subresource === 'finalize';
  return keepsStatus && subresources.some(({ name }) => name === 'status') ? STATUS : NOTHING;
}
