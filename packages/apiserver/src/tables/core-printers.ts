/** Tables of the core group: what is in the cells after the name. */
import type { Mapping } from '@kopf-ts/core';
import {
  ageOf,
  containersCells,
  countIn,
  few,
  labelsText,
  listIn,
  mappingIn,
  NONE,
  type Printer,
  since,
  textIn,
  textsIn,
  UNSET,
} from './cells.js';
import { printPod } from './pod-printer.js';

const UNKNOWN = '<unknown>';
const size = (value: Mapping): number => Object.keys(value).length;

const configMap: Printer = (object, now) => [
  size(mappingIn(object, 'data')) + size(mappingIn(object, 'binaryData')),
  ageOf(object, now),
];

const secret: Printer = (object, now) => [textIn(object, 'type'), size(mappingIn(object, 'data')), ageOf(object, now)];

const namespace: Printer = (object, now) => [textIn(mappingIn(object, 'status'), 'phase'), ageOf(object, now)];

const serviceAccount: Printer = (object, now) => [ageOf(object, now)];

const endpoints: Printer = (object, now) => {
  const addresses = listIn(object, 'subsets').flatMap((subset) => {
    const ips = listIn(subset, 'addresses').map((address) => textIn(address, 'ip'));
    const ports = listIn(subset, 'ports');
    if (ports.length === 0) return ips;
    return ports.flatMap((port) => ips.map((ip) => hostAndPort(ip, countIn(port, 'port'))));
  });
  return [addresses.length === 0 ? NONE : few(addresses), ageOf(object, now)];
};

function hostAndPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

const NODE_ROLE = 'node-role.kubernetes.io/';

function kernelOf(info: Mapping): string {
  const [kernel, architecture] = [textIn(info, 'kernelVersion', UNKNOWN), textIn(info, 'architecture')];
  return architecture === '' ? kernel : `${kernel} (${architecture})`;
}

const node: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const info = mappingIn(status, 'nodeInfo');
  const ready = listIn(status, 'conditions').find((condition) => condition.type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  const labels = mappingIn(object, 'metadata', 'labels');
  const roles = Object.keys(labels).flatMap((key) => {
    if (key.startsWith(NODE_ROLE)) return key.length > NODE_ROLE.length ? [key.slice(NODE_ROLE.length)] : [];
    return key === 'kubernetes.io/role' && labels[key] !== '' ? [String(labels[key])] : [];
  });
  const address = (type: string): string =>
    textIn(
      listIn(status, 'addresses').find((one) => one.type === type),
      'address',
      NONE,
    );
  return [
    spec.unschedulable === true ? `${state},SchedulingDisabled` : state,
    roles.length === 0 ? NONE : [...new Set(roles)].sort().join(','),
    ageOf(object, now),
    textIn(info, 'kubeletVersion'),
    address('InternalIP'),
    address('ExternalIP'),
    textIn(info, 'osImage', UNKNOWN),
    kernelOf(info),
    textIn(info, 'containerRuntimeVersion', UNKNOWN),
  ];
};

const ACCESS: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessText(modes: readonly string[]): string {
  return Object.entries(ACCESS)
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function phaseOf(object: Mapping): string {
  if (mappingIn(object, 'metadata').deletionTimestamp !== undefined) return 'Terminating';
  return textIn(mappingIn(object, 'status'), 'phase');
}

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

const claim: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const volume = textIn(spec, 'volumeName');
  return [
    phaseOf(object),
    volume,
    volume === '' ? '' : textIn(mappingIn(status, 'capacity'), 'storage', '0'),
    volume === '' ? '' : accessText(textsIn(status, 'accessModes')),
    textIn(mappingIn(object, 'metadata', 'annotations'), CLASS_ANNOTATION) || textIn(spec, 'storageClassName'),
    textIn(spec, 'volumeAttributesClassName', UNSET),
    ageOf(object, now),
    textIn(spec, 'volumeMode', UNSET),
  ];
};

const volume: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const claimed = mappingIn(spec, 'claimRef');
  return [
    textIn(mappingIn(spec, 'capacity'), 'storage', '0'),
    accessText(textsIn(spec, 'accessModes')),
    textIn(spec, 'persistentVolumeReclaimPolicy'),
    phaseOf(object),
    spec.claimRef === undefined ? '' : `${textIn(claimed, 'namespace')}/${textIn(claimed, 'name')}`,
    textIn(mappingIn(object, 'metadata', 'annotations'), CLASS_ANNOTATION) || textIn(spec, 'storageClassName'),
    textIn(spec, 'volumeAttributesClassName', UNSET),
    textIn(status, 'reason'),
    ageOf(object, now),
    textIn(spec, 'volumeMode', UNSET),
  ];
};

const podTemplate: Printer = (object) => {
  const template = mappingIn(object, 'template');
  return [...containersCells(mappingIn(template, 'spec')), labelsText(mappingIn(template, 'metadata', 'labels'))];
};

const resourceQuota: Printer = (object, now) => {
  const status = mappingIn(object, 'status');
  const [hard, used] = [mappingIn(status, 'hard'), mappingIn(status, 'used')];
  const about = (isLimit: boolean): string =>
    Object.keys(hard)
      .sort()
      .filter((name) => name.startsWith('limits') === isLimit)
      .map((name) => `${name}: ${textIn(used, name, '0')}/${textIn(hard, name, '0')}`)
      .join(', ');
  return [about(false), about(true), ageOf(object, now)];
};

const service: Printer = (object, now) => {
  const spec = mappingIn(object, 'spec');
  const ports = listIn(spec, 'ports').map((port) => {
    const outside = countIn(port, 'nodePort');
    return `${countIn(port, 'port')}${outside > 0 ? `:${outside}` : ''}/${textIn(port, 'protocol')}`;
  });
  return [
    textIn(spec, 'type'),
    textsIn(spec, 'clusterIPs')[0] ?? NONE,
    externalAddress(object),
    ports.length === 0 ? NONE : ports.join(','),
    ageOf(object, now),
    labelsText(mappingIn(spec, 'selector')),
  ];
};

function externalAddress(object: Mapping): string {
  const spec = mappingIn(object, 'spec');
  const type = textIn(spec, 'type');
  const given = textsIn(spec, 'externalIPs');
  if (type === 'ExternalName') return textIn(spec, 'externalName');
  if (type !== 'LoadBalancer') return given.length === 0 ? NONE : given.join(',');
  const addresses = listIn(object, 'status', 'loadBalancer', 'ingress')
    .map((one) => textIn(one, 'ip') || textIn(one, 'hostname'))
    .filter((address) => address !== '');
  const balancers = [...new Set(addresses)].sort();
  const shown = balancers.join(',');
  // A column is only so wide.
  const cut = shown.length > 16 ? `${shown.slice(0, 13)}...` : shown;
  if (given.length > 0) return [...(balancers.length > 0 ? balancers : []), ...given].join(',');
  return balancers.length > 0 ? cut : '<pending>';
}

/** Both kinds of events are the same objects, with other names of fields. */
const event: Printer = (object, now) => {
  const series = mappingIn(object, 'series');
  const first = object.firstTimestamp ?? object.deprecatedFirstTimestamp;
  const last = object.lastTimestamp ?? object.deprecatedLastTimestamp;
  const firstSeen = since(first ?? object.eventTime, now);
  const hasSeries = object.series !== undefined;
  const lastSeen = hasSeries
    ? since(series.lastObservedTime, now)
    : last === undefined || last === null
      ? firstSeen
      : since(last, now);
  const about = object.involvedObject ?? object.regarding;
  const kind = textIn(about, 'kind').toLowerCase();
  const name = textIn(about, 'name');
  const count = hasSeries ? countIn(series, 'count') : countIn(object, 'count') || countIn(object, 'deprecatedCount');
  return [
    textIn(object, 'type'),
    textIn(object, 'reason'),
    name === '' ? kind : `${kind}/${name}`,
    textIn(about, 'fieldPath'),
    eventSource(object),
    (textIn(object, 'message') || textIn(object, 'note')).trim(),
    firstSeen,
    count === 0 ? 1 : count,
    textIn(mappingIn(object, 'metadata'), 'name'),
    lastSeen,
  ];
};

function eventSource(object: Mapping): string {
  const source = object.source ?? object.deprecatedSource;
  const component =
    textIn(source, 'component') || textIn(object, 'reportingComponent') || textIn(object, 'reportingController');
  const host = textIn(source, 'host') || textIn(object, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

/** Events begin with when they were seen, and end with their names. */
export const printEvent: Printer = (object, now) => {
  const cells = event(object, now);
  return [cells.at(-1), ...cells.slice(0, -1)];
};

export const corePrinters: Readonly<Record<string, Printer>> = {
  'core.ConfigMap': configMap,
  'core.Endpoints': endpoints,
  'core.Namespace': namespace,
  'core.Node': node,
  'core.PersistentVolume': volume,
  'core.PersistentVolumeClaim': claim,
  'core.Pod': printPod,
  'core.PodTemplate': podTemplate,
  'core.ResourceQuota': resourceQuota,
  'core.Secret': secret,
  'core.Service': service,
  'core.ServiceAccount': serviceAccount,
};
