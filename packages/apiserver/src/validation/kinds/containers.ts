/** What is in containers of pods: variables, probes, ports, resources. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { dnsSubdomain } from '../names.js';
import { descendingPath } from '../pods/security-contexts.js';

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** As in the messages of the real server, a struct that is not shown is an empty text. */
const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];
const POD_FIELDS = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.labels',
  'metadata.annotations',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
const RESOURCES = ['cpu', 'ephemeral-storage', 'memory'];
const RESOURCE_FIELDS = ['limits', 'requests'].flatMap((list) => RESOURCES.map((name) => `${list}.${name}`));
const KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

export function validateVariable(variable: Mapping, path: string): readonly Cause[] {
  const { name } = variable;
  if (!isSet(name)) return [required(`${path}.name`)];
  const why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return [
    ...(/^[ -<>-~]+$/.test(String(name)) ? [] : [invalidValue(`${path}.name`, name, why)]),
    ...validateSource(variable, `${path}.valueFrom`),
  ];
}

function validateSource(variable: Mapping, path: string): readonly Cause[] {
  const from = maybeMapping(variable, 'valueFrom');
  if (from === undefined) return [];
  const given = SOURCES.filter((source) => from[source] !== undefined);
  const causes = given.flatMap((source) =>
    validateOneSource(source, maybeMapping(from, source) ?? {}, `${path}.${source}`),
  );
  const quoted = SOURCES.map((source) => `\`${source}\``);
  if (given.length === 0) {
    const choice = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
    return [...causes, invalidValue(path, '', `must specify one of: ${choice}`)];
  }
  if (isSet(variable.value))
    return [...causes, invalidValue(path, '', 'may not be specified when `value` is not empty')];
  return given.length === 1
    ? causes
    : [...causes, invalidValue(path, '', 'may not have more than one field specified at a time')];
}

function validateOneSource(source: string, from: Mapping, path: string): readonly Cause[] {
  if (source === 'fieldRef') {
    const field = String(from.fieldPath ?? '');
    if (field === '') return [required(`${path}.fieldPath`)];
    if (POD_FIELDS.has(field) || /^metadata\.(?:labels|annotations)\['.+'\]$/.test(field)) return [];
    const why = `error converting fieldPath: field label not supported: ${field}`;
    return [invalidValue(`${path}.fieldPath`, field, why)];
  }
  if (source === 'resourceFieldRef') {
    const resource = String(from.resource ?? '');
    if (resource === '') return [required(`${path}.resource`)];
    const isKnown = RESOURCE_FIELDS.includes(resource) || /^(?:limits|requests)\.hugepages-/.test(resource);
    return isKnown ? [] : [notSupported(`${path}.resource`, resource, RESOURCE_FIELDS)];
  }
  if (source === 'fileKeyRef') return [];
  const [name, key] = [String(from.name ?? ''), String(from.key ?? '')];
  return [
    ...dnsSubdomain(name, false).map((why) => invalidValue(`${path}.name`, name, why)),
    ...(key === ''
      ? [required(`${path}.key`)]
      : /^[-._a-zA-Z0-9]+$/.test(key)
        ? []
        : [invalidValue(`${path}.key`, key, KEY)]),
  ];
}

/** Whole maps and secrets as variables. */
export function validateVariableSources(container: Mapping, path: string): readonly Cause[] {
  return itemsOf(container, 'envFrom').flatMap((one, index) => {
    const given = ['configMapRef', 'secretRef'].filter((key) => maybeMapping(one, key) !== undefined);
    const prefix = String(one.prefix ?? '');
    const why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    return [
      ...(prefix === '' || /^[ -<>-~]+$/.test(prefix)
        ? []
        : [invalidValue(`${path}.envFrom[${index}].prefix`, prefix, why)]),
      ...given.flatMap((key) => {
        const name = String(maybeMapping(one, key)?.name ?? '');
        const field = `${path}.envFrom[${index}].${key}.name`;
        if (name === '') return [required(field)];
        return dnsSubdomain(name, false).map((problem) => invalidValue(field, name, problem));
      }),
      ...(given.length === 0
        ? [invalidValue(`${path}.envFrom`, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : []),
      ...(given.length > 1
        ? [invalidValue(`${path}.envFrom`, '', 'may not have more than one field specified at a time')]
        : []),
    ];
  });
}

const HEADER =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function validateHttpGet(get: Mapping, path: string): readonly Cause[] {
  return [
    ...(get.path === '' ? [required(`${path}.path`)] : []),
    ...(['HTTP', 'HTTPS'].includes(String(get.scheme))
      ? []
      : [notSupported(`${path}.scheme`, get.scheme, ['HTTP', 'HTTPS'])]),
    ...itemsOf(get, 'httpHeaders')
      .map(({ name }) => String(name ?? ''))
      .filter((name) => !/^[-A-Za-z0-9]+$/.test(name))
      .map((name) => invalidValue(`${path}.httpHeaders`, name, HEADER)),
  ];
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
export const PORT_RANGE = 'must be between 1 and 65535, inclusive';
const TIMES = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

function validateHandler(handler: Mapping, path: string): readonly Cause[] {
  const given = HANDLERS.filter((kind) => handler[kind] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap((kind, index) => {
    if (index > 0) return [forbiddenField(`${path}.${kind}`, 'may not specify more than 1 handler type')];
    const one = maybeMapping(handler, kind) ?? {};
    if (kind === 'exec') return itemsCount(one.command) === 0 ? [required(`${path}.exec.command`)] : [];
    const { port = 0 } = one;
    const field = `${path}.${kind}.port`;
    const ofPort =
      typeof port === 'string'
        ? portNameProblems(port).map((why) => invalidValue(field, port, why))
        : Number(port) >= 1 && Number(port) <= 65_535
          ? []
          : [invalidValue(field, port, PORT_RANGE)];
    return [...ofPort, ...(kind === 'httpGet' ? validateHttpGet(one, `${path}.httpGet`) : [])];
  });
}

const itemsCount = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

/** Only readiness may need several successes. */
export function validateProbe(probe: Mapping | undefined, path: string, needsOne: boolean): readonly Cause[] {
  if (probe === undefined) return [];
  const success = Number(probe.successThreshold ?? 1);
  return [
    ...validateHandler(probe, path),
    ...TIMES.filter((key) => Number(probe[key] ?? 0) < 0).map((key) =>
      invalidValue(`${path}.${key}`, probe[key], 'must be greater than or equal to 0'),
    ),
    ...(needsOne && success !== 1 ? [invalidValue(`${path}.successThreshold`, success, 'must be 1')] : []),
  ];
}

export function validateLifecycle(lifecycle: Mapping | undefined, path: string): readonly Cause[] {
  return ['postStart', 'preStop'].flatMap((key) => {
    const handler = maybeMapping(lifecycle, key);
    if (handler === undefined || handler.sleep !== undefined) return [];
    return validateHandler(handler, `${path}.${key}`);
  });
}

/** Names of ports, also of those of services. */
export function portNameProblems(name: string): readonly string[] {
  return [
    ...(name.length > 15 ? ['must be no more than 15 characters'] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter (a-z)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(/^-|-$/.test(name) ? ['must not begin or end with a hyphen'] : []),
  ];
}

const isPort = (value: unknown): boolean => typeof value === 'number' && value >= 1 && value <= 65_535;
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

export function validatePorts(container: Mapping, path: string): readonly Cause[] {
  const seen = new Set<unknown>();
  return itemsOf(container, 'ports').flatMap(({ name, containerPort = 0, hostPort = 0, protocol }, index) => {
    const at = `${path}.ports[${index}]`;
    const problems = isSet(name) ? portNameProblems(String(name)) : [];
    const isRepeated = isSet(name) && problems.length === 0 && seen.has(name);
    seen.add(name);
    return [
      ...problems.map((why) => invalidValue(`${at}.name`, name, why)),
      ...(isRepeated ? [duplicate(`${at}.name`, name)] : []),
      ...(containerPort === 0
        ? [required(`${at}.containerPort`)]
        : isPort(containerPort)
          ? []
          : [invalidValue(`${at}.containerPort`, containerPort, PORT_RANGE)]),
      ...(hostPort === 0 || isPort(hostPort) ? [] : [invalidValue(`${at}.hostPort`, hostPort, PORT_RANGE)]),
      ...(PROTOCOLS.includes(String(protocol)) ? [] : [notSupported(`${at}.protocol`, protocol, PROTOCOLS)]),
    ];
  });
}

/** Ports of the host, among containers that run at once. */
export function hostPortConflicts(containers: readonly Mapping[], path: string): readonly Cause[] {
  const seen = new Set<string>();
  return containers.flatMap((container, number) =>
    itemsOf(container, 'ports').flatMap(({ hostPort = 0, protocol, hostIP = '' }, index) => {
      if (hostPort === 0) return [];
      const key = `${String(protocol)}/${String(hostIP)}/${String(hostPort)}`;
      const isTaken = seen.has(key);
      seen.add(key);
      return isTaken ? [duplicate(`${path}[${number}].ports[${index}].hostPort`, key)] : [];
    }),
  );
}

/** What is mounted: volumes as folders, and others as devices. */
export function validateMounts(
  container: Mapping,
  path: string,
  volumes: ReadonlyMap<unknown, Mapping>,
): readonly Cause[] {
  const [mounts, devices] = [itemsOf(container, 'volumeMounts'), itemsOf(container, 'volumeDevices')];
  const seen = new Set<unknown>();
  const ofMounts = mounts.flatMap((mount, index) => {
    const { name = '', mountPath = '' } = mount;
    const at = `${path}.volumeMounts[${index}]`;
    const isRepeated = seen.has(mountPath);
    seen.add(mountPath);
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(volumes.has(name) ? [] : [notFound(`${at}.name`, name)]),
      ...(mountPath === '' ? [required(`${at}.mountPath`)] : []),
      ...(isRepeated ? [invalidValue(`${at}.mountPath`, mountPath, 'must be unique')] : []),
      ...(devices.some((device) => device.name === name)
        ? [invalidValue(`${at}.name`, name, 'must not already exist in volumeDevices')]
        : []),
      ...(devices.some(({ devicePath }) => devicePath === mountPath)
        ? [invalidValue(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')]
        : []),
      ...inside(mount, at, `${path}.volumeMounts`),
      ...propagationProblems(mount, container, `${path}.volumeMounts.mountPropagation`),
    ];
  });
  return [...ofMounts, ...devices.flatMap((_, index) => deviceProblems(devices, index, { path, mounts, volumes }))];
}

const notFound = (field: string, value: unknown): Cause => ({
  reason: 'FieldValueNotFound',
  message: `Not found: ${JSON.stringify(value)}`,
  field,
});

/** A part of a volume. As there: it is told of all mounts. */
function inside({ subPath = '', subPathExpr = '' }: Mapping, at: string, all: string): readonly Cause[] {
  return [
    ...(subPath === '' ? [] : descendingPath(String(subPath), `${all}.subPath`)),
    ...(subPathExpr !== '' && subPath !== ''
      ? [invalidValue(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')]
      : []),
    ...(subPathExpr === '' ? [] : descendingPath(String(subPathExpr), `${all}.subPathExpr`)),
  ];
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function propagationProblems({ mountPropagation }: Mapping, container: Mapping, field: string): readonly Cause[] {
  if (mountPropagation === undefined) return [];
  const isPrivileged = maybeMapping(container, 'securityContext')?.privileged === true;
  const why = 'Bidirectional mount propagation is available only to privileged containers';
  return [
    ...(PROPAGATIONS.includes(String(mountPropagation)) ? [] : [notSupported(field, mountPropagation, PROPAGATIONS)]),
    ...(mountPropagation === 'Bidirectional' && !isPrivileged ? [forbiddenField(field, why)] : []),
  ];
}

interface Mounted {
  readonly path: string;
  readonly mounts: readonly Mapping[];
  readonly volumes: ReadonlyMap<unknown, Mapping>;
}

function deviceProblems(
  devices: readonly Mapping[],
  index: number,
  { path, mounts, volumes }: Mounted,
): readonly Cause[] {
  const { name = '', devicePath = '' } = devices[index] ?? {};
  const before = devices.slice(0, index);
  const at = `${path}.volumeDevices[${index}]`;
  const volume = volumes.get(name);
  const isClaim = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
  const block = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  return [
    ...(name === '' ? [required(`${at}.name`)] : []),
    ...(name !== '' && before.some((one) => one.name === name)
      ? [invalidValue(`${at}.name`, name, 'must be unique')]
      : []),
    ...(volume !== undefined && !isClaim ? [invalidValue(`${at}.name`, name, block)] : []),
    ...(volume === undefined ? [notFound(`${at}.name`, name)] : []),
    ...(devicePath === '' ? [required(`${at}.devicePath`)] : []),
    ...(before.some((one) => one.devicePath === devicePath)
      ? [invalidValue(`${at}.devicePath`, devicePath, 'must be unique')]
      : []),
    ...(String(devicePath).split('/').includes('..')
      ? [invalidValue(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')")]
      : []),
    ...(mounts.some((mount) => mount.name === name)
      ? [invalidValue(`${at}.name`, name, 'must not already exist in volumeMounts')]
      : []),
    ...(mounts.some(({ mountPath }) => mountPath === devicePath)
      ? [invalidValue(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts')]
      : []),
  ];
}

const RESIZED = ['cpu', 'memory'];
const RESIZING = ['NotRequired', 'RestartContainer'];

/** What a change of its sizes means to a container. */
export function validateResizePolicy(container: Mapping, path: string, podPolicy: unknown): readonly Cause[] {
  const field = `${path}.resizePolicy`;
  const seen = new Set<unknown>();
  const known = (value: unknown, values: readonly string[]): readonly Cause[] =>
    value === '' ? [required(field)] : values.includes(String(value)) ? [] : [notSupported(field, value, values)];
  return itemsOf(container, 'resizePolicy').flatMap(({ resourceName = '', restartPolicy = '' }, index) => {
    const isRepeated = seen.has(resourceName);
    seen.add(resourceName);
    const why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
    return [
      ...(isRepeated ? [duplicate(`${field}[${index}]`, resourceName)] : []),
      ...known(resourceName, RESIZED),
      ...known(restartPolicy, RESIZING),
      ...(podPolicy === 'Never' && restartPolicy !== 'NotRequired' ? [invalidValue(field, restartPolicy, why)] : []),
    ];
  });
}
