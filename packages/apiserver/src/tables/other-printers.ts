/** Tables of the other groups: what is in the cells after the name. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import {
  ageOf,
  countIn,
  few,
  humanDuration,
  listIn,
  mappingIn,
  NONE,
  type Printer,
  selectorText,
  textIn,
  textsIn,
  UNSET,
} from './cells.js';

const specField =
  (key: string, otherwise = ''): Printer =>
  (object, now) => [textIn(mappingIn(object, 'spec'), key, otherwise), ageOf(object, now)];
const counted =
  (...path: readonly string[]): Printer =>
  (object, now) => [listIn(object, ...path).length, ageOf(object, now)];

const ingress: Printer = (object, now) => {
  const spec = mappingIn(object, 'spec');
  const hosts = listIn(spec, 'rules')
    .map((rule) => textIn(rule, 'host'))
    .filter((host) => host !== '');
  const addresses = listIn(object, 'status', 'loadBalancer', 'ingress')
    .map((one) => textIn(one, 'ip') || textIn(one, 'hostname'))
    .filter((address) => address !== '');
  return [
    textIn(spec, 'ingressClassName', NONE),
    hosts.length === 0 ? '*' : few(hosts),
    [...new Set(addresses)].sort().join(','),
    listIn(spec, 'tls').length > 0 ? '80, 443' : '80',
    ageOf(object, now),
  ];
};

const ingressClass: Printer = (object, now) => {
  const parameters = mappingIn(object, 'spec', 'parameters');
  const group = textIn(parameters, 'apiGroup');
  const name = `${textIn(parameters, 'kind')}${group === '' ? '' : `.${group}`}/${textIn(parameters, 'name')}`;
  return [
    textIn(mappingIn(object, 'spec'), 'controller'),
    Object.keys(parameters).length === 0 ? NONE : name,
    ageOf(object, now),
  ];
};

const networkPolicy: Printer = (object, now) => [
  selectorText(mappingIn(object, 'spec', 'podSelector')),
  ageOf(object, now),
];

const ipAddress: Printer = (object) => {
  const parent = mappingIn(object, 'spec', 'parentRef');
  const group = textIn(parent, 'group');
  const parts = [
    `${textIn(parent, 'resource')}${group === '' ? '' : `.${group}`}`,
    textIn(parent, 'namespace'),
    textIn(parent, 'name'),
  ];
  return [Object.keys(parent).length === 0 ? NONE : parts.filter((part) => part !== '').join('/')];
};

const serviceCidr: Printer = (object, now) => [
  textsIn(mappingIn(object, 'spec'), 'cidrs').join(','),
  ageOf(object, now),
];

const binding: Printer = (object, now) => {
  const role = mappingIn(object, 'roleRef');
  const subjects = listIn(object, 'subjects');
  const named = (kind: string, name: (subject: Mapping) => string): string =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(name)
      .join(', ');
  const nameOf = (subject: Mapping): string => textIn(subject, 'name');
  return [
    `${textIn(role, 'kind')}/${textIn(role, 'name')}`,
    ageOf(object, now),
    named('User', nameOf),
    named('Group', nameOf),
    named('ServiceAccount', (subject) => `${textIn(subject, 'namespace')}/${nameOf(subject)}`),
  ];
};

const policy =
  (key: string): Printer =>
  (object, now) => {
    const kind = mappingIn(object, 'spec', 'paramKind');
    const text = `${textIn(kind, 'apiVersion')}/${textIn(kind, 'kind')}`;
    return [listIn(object, 'spec', key).length, Object.keys(kind).length === 0 ? UNSET : text, ageOf(object, now)];
  };

const policyBinding: Printer = (object, now) => {
  const parameters = mappingIn(object, 'spec', 'paramRef');
  const [namespace, name] = [textIn(parameters, 'namespace'), textIn(parameters, 'name')];
  const text = name === '' ? selectorText(mappingIn(parameters, 'selector'), '') : name;
  return [
    textIn(mappingIn(object, 'spec'), 'policyName'),
    Object.keys(parameters).length === 0 ? UNSET : namespace === '' ? text : `${namespace}/${text}`,
    ageOf(object, now),
  ];
};

const budget: Printer = (object, now) => {
  const spec = mappingIn(object, 'spec');
  return [
    textIn(spec, 'minAvailable', 'N/A'),
    textIn(spec, 'maxUnavailable', 'N/A'),
    countIn(mappingIn(object, 'status'), 'disruptionsAllowed'),
    ageOf(object, now),
  ];
};

/** The newer version: the older one has fewer kinds of metrics. */
const autoscaler: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const target = mappingIn(spec, 'scaleTargetRef');
  return [
    `${textIn(target, 'kind')}/${textIn(target, 'name')}`,
    metricsText(spec, status),
    spec.minReplicas === undefined ? UNSET : String(countIn(spec, 'minReplicas')),
    countIn(spec, 'maxReplicas'),
    countIn(status, 'currentReplicas'),
    ageOf(object, now),
  ];
};

/** Of metrics of something else than pods, it is told where they are averages of these. */
const HAS_NO_PODS: ReadonlySet<string> = new Set(['External', 'Object']);

function metricsText(spec: Mapping, status: Mapping): string {
  const simple = spec.targetCPUUtilizationPercentage;
  if (simple !== undefined) {
    const current = status.currentCPUUtilizationPercentage;
    return `cpu: ${current === undefined ? '<unknown>' : `${String(current)}%`}/${String(simple)}%`;
  }
  const current = listIn(status, 'currentMetrics');
  const texts = listIn(spec, 'metrics').map((metric, index) => {
    const type = textIn(metric, 'type');
    const key = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
    const of = mappingIn(metric, key);
    const name = textIn(of, 'name');
    const wanted = valueText(mappingIn(of, 'target'), '<auto>');
    const is = valueText(mappingIn(current[index], key, 'current'), '<unknown>');
    const isAverage = HAS_NO_PODS.has(type) && mappingIn(of, 'target').averageValue !== undefined;
    return `${name === '' ? '' : `${name}: `}${is}/${wanted}${isAverage ? ' (avg)' : ''}`;
  });
  if (texts.length === 0) return NONE;
  const shown = texts.slice(0, 2).join(', ');
  return texts.length > 2 ? `${shown} + ${texts.length - 2} more...` : shown;
}

function valueText(value: Mapping, otherwise: string): string {
  if (value.averageUtilization !== undefined) return `${String(value.averageUtilization)}%`;
  return textIn(value, 'averageValue') || textIn(value, 'value', otherwise);
}

const priorityClass: Printer = (object, now) => [
  countIn(object, 'value'),
  object.globalDefault === true,
  ageOf(object, now),
  textIn(object, 'preemptionPolicy'),
];

const runtimeClass: Printer = (object, now) => [textIn(object, 'handler'), ageOf(object, now)];

const storageClass: Printer = (object, now) => [
  textIn(object, 'provisioner'),
  textIn(object, 'reclaimPolicy', 'Delete'),
  textIn(object, 'volumeBindingMode', 'Immediate'),
  object.allowVolumeExpansion === true,
  ageOf(object, now),
];

const attributesClass: Printer = (object, now) => [textIn(object, 'driverName'), ageOf(object, now)];

const attachment: Printer = (object, now) => {
  const spec = mappingIn(object, 'spec');
  return [
    textIn(spec, 'attacher'),
    textIn(mappingIn(spec, 'source'), 'persistentVolumeName'),
    textIn(spec, 'nodeName'),
    mappingIn(object, 'status').attached === true,
    ageOf(object, now),
  ];
};

const csiDriver: Printer = (object, now) => {
  const spec = mappingIn(object, 'spec');
  const tokens = listIn(spec, 'tokenRequests').map((one) => textIn(one, 'audience'));
  const modes = textsIn(spec, 'volumeLifecycleModes');
  return [
    spec.attachRequired !== false,
    spec.podInfoOnMount === true,
    spec.storageCapacity === true,
    tokens.length === 0 ? UNSET : tokens.join(','),
    spec.requiresRepublish === true,
    modes.length === 0 ? 'Persistent' : modes.join(','),
    ageOf(object, now),
  ];
};

const slice: Printer = (object, now) => {
  const ports = listIn(object, 'ports').map((port) =>
    port.port === undefined || port.port === null ? textIn(port, 'name', '*') : String(countIn(port, 'port')),
  );
  const addresses = listIn(object, 'endpoints').flatMap((endpoint) => textsIn(endpoint, 'addresses'));
  return [
    textIn(object, 'addressType'),
    ports.length === 0 ? UNSET : few(ports),
    addresses.length === 0 ? UNSET : few(addresses),
    ageOf(object, now),
  ];
};

const apiService: Printer = (object, now) => {
  const service = mappingIn(object, 'spec').service;
  const available = listIn(object, 'status', 'conditions').find((one) => one.type === 'Available');
  const state = textIn(available, 'status', 'Unknown');
  const reason = textIn(available, 'reason');
  return [
    isMapping(service) ? `${textIn(service, 'namespace')}/${textIn(service, 'name')}` : 'Local',
    state === 'True' || reason === '' ? state : `${state} (${reason})`,
    ageOf(object, now),
  ];
};

const signingRequest: Printer = (object, now) => {
  const spec = mappingIn(object, 'spec');
  const seconds = spec.expirationSeconds;
  const types = listIn(object, 'status', 'conditions').map(({ type }) => String(type));
  const decision = types.find((type) => type === 'Approved' || type === 'Denied') ?? 'Pending';
  const isIssued = textIn(mappingIn(object, 'status'), 'certificate') !== '';
  return [
    ageOf(object, now),
    textIn(spec, 'signerName', NONE),
    textIn(spec, 'username'),
    typeof seconds === 'number' ? humanDuration(seconds) : NONE,
    [decision, ...(types.includes('Failed') ? ['Failed'] : []), ...(isIssued ? ['Issued'] : [])].join(','),
  ];
};

export const otherPrinters: Readonly<Record<string, Printer>> = {
  'admissionregistration.MutatingAdmissionPolicy': policy('mutations'),
  'admissionregistration.MutatingAdmissionPolicyBinding': policyBinding,
  'admissionregistration.MutatingWebhookConfiguration': counted('webhooks'),
  'admissionregistration.ValidatingAdmissionPolicy': policy('validations'),
  'admissionregistration.ValidatingAdmissionPolicyBinding': policyBinding,
  'admissionregistration.ValidatingWebhookConfiguration': counted('webhooks'),
  'apiregistration.APIService': apiService,
  'autoscaling.HorizontalPodAutoscaler': autoscaler,
  'autoscaling.v2.HorizontalPodAutoscaler': autoscaler,
  'certificates.CertificateSigningRequest': signingRequest,
  'coordination.Lease': specField('holderIdentity'),
  'discovery.EndpointSlice': slice,
  'networking.IPAddress': ipAddress,
  'networking.Ingress': ingress,
  'networking.IngressClass': ingressClass,
  'networking.NetworkPolicy': networkPolicy,
  'networking.ServiceCIDR': serviceCidr,
  'node.RuntimeClass': runtimeClass,
  'policy.PodDisruptionBudget': budget,
  'rbac.ClusterRoleBinding': binding,
  'rbac.RoleBinding': binding,
  'scheduling.PriorityClass': priorityClass,
  'storage.CSIDriver': csiDriver,
  'storage.CSINode': counted('spec', 'drivers'),
  'storage.StorageClass': storageClass,
  'storage.VolumeAttachment': attachment,
  'storage.VolumeAttributesClass': attributesClass,
};
