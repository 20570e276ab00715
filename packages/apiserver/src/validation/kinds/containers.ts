/** What is in containers of pods: variables, probes, ports, resources. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { dnsSubdomain } from '../names.js';

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
const PORT_RANGE = 'must be between 1 and 65535, inclusive';
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

export function validatePortNames(container: Mapping, path: string): readonly Cause[] {
  const seen = new Set<unknown>();
  return itemsOf(container, 'ports').flatMap(({ name }, index) => {
    if (!isSet(name)) return [];
    const field = `${path}.ports[${index}].name`;
    const problems = portNameProblems(String(name));
    if (problems.length > 0) return problems.map((why) => invalidValue(field, name, why));
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated ? [duplicate(field, name)] : [];
  });
}

export function validateMountPaths(container: Mapping, path: string): readonly Cause[] {
  const seen = new Set<unknown>();
  return itemsOf(container, 'volumeMounts').flatMap(({ mountPath }, index) => {
    const isRepeated = isSet(mountPath) && seen.has(mountPath);
    seen.add(mountPath);
    return isRepeated ? [invalidValue(`${path}.volumeMounts[${index}].mountPath`, mountPath, 'must be unique')] : [];
  });
}

const ID_RANGE = 'must be between 0 and 2147483647, inclusive';

/** Users and groups. */
export function validateIds(context: Mapping | undefined, keys: readonly string[], path: string): readonly Cause[] {
  return keys.flatMap((key) => {
    const id = context?.[key];
    return typeof id === 'number' && (id < 0 || id > 2_147_483_647)
      ? [invalidValue(`${path}.${key}`, id, ID_RANGE)]
      : [];
  });
}
