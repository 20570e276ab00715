/**
 * Strategic merge patches, as far as they are the same as merge patches: with no directives, and with no lists that
 * are merged item by item. What is beyond that is told to be so, rather than merged in a wrong way.
 */
import { isMapping, type Mapping } from '@kopf-ts/core';
import { type TypeRef, typeReader } from '../typed/fields.js';

/** The fields that are merged item by item, as facts about the Kubernetes API 1.36. */
const MERGED_LISTS: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.MutatingAdmissionPolicySpec': ['matchConditions'],
  'admissionregistration.MutatingWebhook': ['matchConditions'],
  'admissionregistration.MutatingWebhookConfiguration': ['webhooks'],
  'admissionregistration.ValidatingAdmissionPolicySpec': ['matchConditions', 'variables'],
  'admissionregistration.ValidatingWebhook': ['matchConditions'],
  'admissionregistration.ValidatingWebhookConfiguration': ['webhooks'],
  'apiextensions.JSONSchemaProps': ['x-kubernetes-validations'],
  'apps.DaemonSetStatus': ['conditions'],
  'apps.DeploymentStatus': ['conditions'],
  'apps.ReplicaSetStatus': ['conditions'],
  'apps.StatefulSetStatus': ['conditions'],
  'batch.JobStatus': ['conditions'],
  'core.Container': ['env', 'ports', 'volumeDevices', 'volumeMounts'],
  'core.ContainerStatus': ['allocatedResourcesStatus', 'volumeMounts'],
  'core.EphemeralContainer': ['env', 'ports', 'volumeDevices', 'volumeMounts'],
  'core.NamespaceStatus': ['conditions'],
  'core.NodeSpec': ['podCIDRs'],
  'core.NodeStatus': ['addresses', 'conditions'],
  'core.PersistentVolumeClaimStatus': ['conditions'],
  'core.PodSpec': [
    'containers',
    'ephemeralContainers',
    'hostAliases',
    'imagePullSecrets',
    'initContainers',
    'resourceClaims',
    'schedulingGates',
    'topologySpreadConstraints',
    'volumes',
  ],
  'core.PodStatus': ['conditions', 'hostIPs', 'podIPs', 'resourceClaimStatuses'],
  'core.ReplicationControllerStatus': ['conditions'],
  'core.ServiceAccount': ['secrets'],
  'core.ServiceSpec': ['ports'],
  'core.ServiceStatus': ['conditions'],
  'meta.ObjectMeta': ['finalizers', 'ownerReferences'],
  'networking.ServiceCIDRStatus': ['conditions'],
};

/** Where the patch is more than a merge patch; `undefined` if it can be applied as one. The type is one of the table. */
export function beyondMerging(patch: Mapping, type: string): string | undefined {
  const typeOf = typeReader();
  return inStruct(patch, type, '');

  function inStruct(value: Mapping, name: string, path: string): string | undefined {
    const { byName } = typeOf(name);
    const merged = MERGED_LISTS[name] ?? [];
    return firstIn(value, path, (key, inner, at) => {
      if (merged.includes(key)) return inner === null ? undefined : at;
      return inValue(inner, byName.get(key)?.type, at);
    });
  }

  function inValue(value: unknown, type: TypeRef | undefined, path: string): string | undefined {
    // Lists are replaced as a whole; only what is known to be one, though.
    if (Array.isArray(value)) return type?.is === 'list' && !hasDirectives(value) ? undefined : path;
    if (!isMapping(value)) return undefined;
    if (type?.is === 'struct') return inStruct(value, type.name, path);
    return type?.is === 'map' ? firstIn(value, path, (_key, inner, at) => inValue(inner, type.of, at)) : path;
  }
}

function firstIn(
  value: Mapping,
  path: string,
  look: (key: string, inner: unknown, at: string) => string | undefined,
): string | undefined {
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    const found = key.startsWith('$') ? at : look(key, inner, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function hasDirectives(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasDirectives);
  return isMapping(value) && Object.entries(value).some(([key, inner]) => key.startsWith('$') || hasDirectives(inner));
}
