/** What is set in the other kinds where nothing else is said. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { defaultPod, defaultPodSpec } from './pod-defaults.js';
import { itemsOf, mappingAt, maybeMapping, setDefault } from './setting.js';

/** Some have to know what was sent: what is empty there is missing in the object. */
export type Defaulting = (object: ServedObject, raw?: Mapping) => void;

export const defaultBarePod: Defaulting = (object) => {
  const spec = mappingAt(object, 'spec');
  defaultPodSpec(spec);
  defaultPod(spec);
  const status = maybeMapping(object, 'status') ?? {};
  // The lists are younger than the fields; clients that know only the fields get the lists, too.
  for (const [one, all] of [
    ['podIP', 'podIPs'],
    ['hostIP', 'hostIPs'],
  ] as const) {
    if (typeof status[one] === 'string' && status[all] === undefined) status[all] = [{ ip: status[one] }];
    const [first] = itemsOf(status, all);
    // If they contradict each other, the old one is believed.
    if (one === 'podIP' && typeof status.podIP === 'string' && status.podIP !== '' && status.podIP !== first?.ip) {
      status.podIPs = [{ ip: status.podIP }];
    }
    if (status[one] === undefined && typeof first?.ip === 'string') status[one] = first.ip;
  }
};

export const defaultTemplate: Defaulting = (object) => {
  defaultPodSpec(mappingAt(mappingAt(object, 'template'), 'spec'));
};

export const defaultNamespace: Defaulting = (object) => {
  setDefault(mappingAt(object, 'status'), 'phase', 'Active');
  const { name } = object.metadata;
  if (name !== undefined && name !== '') mappingAt(object.metadata, 'labels')['kubernetes.io/metadata.name'] = name;
};

export const defaultSecret: Defaulting = (object) => {
  const texts = maybeMapping(object, 'stringData');
  if (texts !== undefined) {
    const data = mappingAt(object, 'data');
    for (const [key, text] of Object.entries(texts)) data[key] = Buffer.from(String(text), 'utf8').toString('base64');
    delete object.stringData;
  }
  setDefault(object, 'type', 'Opaque');
};

export const defaultService: Defaulting = (object) => {
  const spec = mappingAt(object, 'spec');
  const affinity = setDefault(spec, 'sessionAffinity', 'None');
  if (affinity === 'None') delete spec.sessionAffinityConfig;
  if (affinity === 'ClientIP') {
    setDefault(mappingAt(mappingAt(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds', 10_800);
  }
  const type = setDefault(spec, 'type', 'ClusterIP');
  for (const port of itemsOf(spec, 'ports')) {
    setDefault(port, 'protocol', 'TCP');
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  const { externalIPs } = spec;
  const hasAddresses = Array.isArray(externalIPs) && externalIPs.length > 0;
  const isExternal = type === 'LoadBalancer' || type === 'NodePort' || hasAddresses;
  if (isExternal) setDefault(spec, 'externalTrafficPolicy', 'Cluster');
  if (type !== 'ExternalName') setDefault(spec, 'internalTrafficPolicy', 'Cluster');
  if (type === 'LoadBalancer') {
    setDefault(spec, 'allocateLoadBalancerNodePorts', true);
    for (const ingress of itemsOf(maybeMapping(maybeMapping(object, 'status'), 'loadBalancer'), 'ingress')) {
      if (typeof ingress.ip === 'string' && ingress.ip !== '') setDefault(ingress, 'ipMode', 'VIP');
    }
  }
};

export const defaultEndpoints: Defaulting = (object) => {
  for (const subset of itemsOf(object, 'subsets')) {
    for (const port of itemsOf(subset, 'ports')) setDefault(port, 'protocol', 'TCP');
  }
};

export const defaultPersistentVolume: Defaulting = (object, raw) => {
  const spec = mappingAt(object, 'spec');
  // Nothing is refused as nothing, and an empty mapping as that.
  if (maybeMapping(maybeMapping(raw, 'spec'), 'capacity') !== undefined) spec.capacity ??= {};
  setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain');
  setDefault(spec, 'volumeMode', 'Filesystem');
  const hostPath = maybeMapping(spec, 'hostPath');
  if (hostPath !== undefined) setDefault(hostPath, 'type', '');
  setDefault(mappingAt(object, 'status'), 'phase', 'Pending');
};

export const defaultPersistentVolumeClaim: Defaulting = (object) => {
  setDefault(mappingAt(object, 'spec'), 'volumeMode', 'Filesystem');
  setDefault(mappingAt(object, 'status'), 'phase', 'Pending');
};

/** What is not said for containers follows from what is. */
export const defaultLimitRange: Defaulting = (object) => {
  const spec = mappingAt(object, 'spec');
  // As there: an empty list is none.
  if (itemsOf(spec, 'limits').length === 0) spec.limits = null;
  for (const limit of itemsOf(spec, 'limits')) {
    if (limit.type !== 'Container') continue;
    const [limits, requests] = [mappingAt(limit, 'default'), mappingAt(limit, 'defaultRequest')];
    for (const [name, value] of Object.entries(maybeMapping(limit, 'max') ?? {})) setDefault(limits, name, value);
    for (const [name, value] of Object.entries(limits)) setDefault(requests, name, value);
    for (const [name, value] of Object.entries(maybeMapping(limit, 'min') ?? {})) setDefault(requests, name, value);
    for (const key of ['default', 'defaultRequest']) {
      if (Object.keys(mappingAt(limit, key)).length === 0) delete limit[key];
    }
  }
};

export const defaultNode: Defaulting = (object) => {
  // The list is younger than the field.
  const spec = mappingAt(object, 'spec');
  // The old field is the first of the new one; if they differ, the old one is right.
  const networks: readonly unknown[] = Array.isArray(spec.podCIDRs) ? spec.podCIDRs : [];
  if (typeof spec.podCIDR !== 'string' || spec.podCIDR === '') {
    if (networks.length > 0) spec.podCIDR = networks[0];
  } else if (networks[0] !== spec.podCIDR) {
    spec.podCIDRs = [spec.podCIDR];
  }
  const status = mappingAt(object, 'status');
  const capacity = maybeMapping(status, 'capacity');
  if (capacity !== undefined) setDefault(status, 'allocatable', { ...capacity });
};

export const defaultNetworkPolicy: Defaulting = (object) => {
  const spec = mappingAt(object, 'spec');
  for (const rule of [...itemsOf(spec, 'ingress'), ...itemsOf(spec, 'egress')]) {
    for (const port of itemsOf(rule, 'ports')) setDefault(port, 'protocol', 'TCP');
  }
  const hasEgress = itemsOf(spec, 'egress').length > 0;
  setDefault(spec, 'policyTypes', hasEgress ? ['Ingress', 'Egress'] : ['Ingress']);
};

export const defaultIngressClass: Defaulting = (object) => {
  const parameters = maybeMapping(maybeMapping(object, 'spec'), 'parameters');
  if (parameters !== undefined) setDefault(parameters, 'scope', 'Cluster');
};

const RBAC = 'rbac.authorization.k8s.io';

/** An empty list is stored as no list. */
export const defaultRoleBinding: Defaulting = (object) => {
  const role = mappingAt(object, 'roleRef');
  if (role.apiGroup === undefined || role.apiGroup === '') role.apiGroup = RBAC;
  for (const subject of itemsOf(object, 'subjects')) {
    if (subject.kind === 'User' || subject.kind === 'Group') setDefault(subject, 'apiGroup', RBAC);
  }
};

export const defaultWebhooks: Defaulting = (object) => {
  for (const webhook of itemsOf(object, 'webhooks')) {
    const service = maybeMapping(maybeMapping(webhook, 'clientConfig'), 'service');
    if (service !== undefined) setDefault(service, 'port', 443);
    for (const rule of itemsOf(webhook, 'rules')) setDefault(rule, 'scope', '*');
    setDefault(webhook, 'failurePolicy', 'Fail');
    setDefault(webhook, 'matchPolicy', 'Equivalent');
    setDefault(webhook, 'namespaceSelector', {});
    setDefault(webhook, 'objectSelector', {});
    setDefault(webhook, 'timeoutSeconds', 10);
    if (object.kind === 'MutatingWebhookConfiguration') setDefault(webhook, 'reinvocationPolicy', 'Never');
  }
};

export const defaultAdmissionPolicy: Defaulting = (object) => {
  const spec = mappingAt(object, 'spec');
  setDefault(spec, 'failurePolicy', 'Fail');
  defaultMatchResources(maybeMapping(spec, 'matchConstraints'));
};

export const defaultAdmissionPolicyBinding: Defaulting = (object) => {
  defaultMatchResources(maybeMapping(maybeMapping(object, 'spec'), 'matchResources'));
};

function defaultMatchResources(resources: Mapping | undefined): void {
  if (resources === undefined) return;
  setDefault(resources, 'matchPolicy', 'Equivalent');
  setDefault(resources, 'namespaceSelector', {});
  setDefault(resources, 'objectSelector', {});
  for (const rule of [...itemsOf(resources, 'resourceRules'), ...itemsOf(resources, 'excludeResourceRules')]) {
    setDefault(rule, 'scope', '*');
  }
}
