/** Pods and the templates of pods. */
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, mappingAt, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { compareQuantities } from '../../typed/quantity.js';
import { validateLabels } from '../metadata.js';
import { dnsLabel, dnsSubdomain } from '../names.js';
import type { KindRules } from './rules.js';

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const checkLabel = (value: unknown, field: string): readonly Cause[] =>
  dnsLabel(String(value), false).map((why) => invalidValue(field, value, why));

/** Of a pod, or of a template at that path. */
function validatePodSpec(spec: Mapping, path: string): readonly Cause[] {
  const volumes = new Set(itemsOf(spec, 'volumes').map(({ name }) => name));
  const names = new Set<unknown>();
  return [
    ...validateVolumes(spec, `${path}.volumes`),
    ...(itemsOf(spec, 'containers').length === 0 ? [required(`${path}.containers`)] : []),
    ...containersOf(spec, 'containers', path).flatMap((one) => validateContainer(one, volumes, names)),
    ...containersOf(spec, 'initContainers', path).flatMap((one) => validateContainer(one, volumes, names)),
    ...validateChoice(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], path),
    ...validateChoice(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], path),
    ...validateLabels((maybeMapping(spec, 'nodeSelector') ?? {}) as Record<string, string>, `${path}.nodeSelector`),
    ...['serviceAccountName', 'nodeName', 'priorityClassName'].flatMap((key) =>
      isSet(spec[key])
        ? dnsSubdomain(String(spec[key]), false).map((why) => invalidValue(`${path}.${key}`, spec[key], why))
        : [],
    ),
    ...validateDeadline(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...['hostname', 'subdomain'].flatMap((key) => (isSet(spec[key]) ? checkLabel(spec[key], `${path}.${key}`) : [])),
  ];
}

function validateChoice(spec: Mapping, key: string, supported: readonly string[], path: string): readonly Cause[] {
  const value = spec[key];
  if (!isSet(value)) return [required(`${path}.${key}`)];
  return supported.includes(String(value)) ? [] : [notSupported(`${path}.${key}`, value, supported)];
}

function validateDeadline(value: unknown, field: string): readonly Cause[] {
  if (typeof value !== 'number' || (value >= 1 && value < 2 ** 31)) return [];
  return [invalidValue(field, value, 'must be between 1 and 2147483647, inclusive')];
}

function validateVolumes(spec: Mapping, path: string): readonly Cause[] {
  const seen = new Set<unknown>();
  return itemsOf(spec, 'volumes').flatMap((volume, index) => {
    const field = `${path}[${index}].name`;
    const { name } = volume;
    const isRepeated = seen.has(name);
    seen.add(name);
    if (!isSet(name)) return [required(field)];
    return [...checkLabel(name, field), ...(isRepeated ? [duplicate(field, name)] : [])];
  });
}

interface Container {
  readonly container: Mapping;
  readonly path: string;
}

const containersOf = (spec: Mapping, key: string, path: string): readonly Container[] =>
  itemsOf(spec, key).map((container, index) => ({ container, path: `${path}.${key}[${index}]` }));

function validateContainer(
  { container, path }: Container,
  volumes: ReadonlySet<unknown>,
  names: Set<unknown>,
): Cause[] {
  const { name, image } = container;
  const isRepeated = names.has(name);
  names.add(name);
  return [
    ...(isSet(name) ? checkLabel(name, `${path}.name`) : [required(`${path}.name`)]),
    ...(isSet(image) ? [] : [required(`${path}.image`)]),
    ...validateChoice(container, 'terminationMessagePolicy', ['FallbackToLogsOnError', 'File'], path),
    ...itemsOf(container, 'ports').flatMap((port, index) => validatePort(port, `${path}.ports[${index}]`)),
    ...itemsOf(container, 'env').flatMap((variable, index) =>
      isSet(variable.name) ? [] : [required(`${path}.env[${index}].name`)],
    ),
    ...itemsOf(container, 'volumeMounts').flatMap((mount, index) =>
      validateMount(mount, `${path}.volumeMounts[${index}]`, volumes),
    ),
    ...validateChoice(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], path),
    ...validateResources(maybeMapping(container, 'resources'), `${path}.resources`),
    ...(isRepeated ? [duplicate(`${path}.name`, name)] : []),
    ...PROBES.flatMap((probe) => validateProbe(maybeMapping(container, probe), `${path}.${probe}`)),
  ];
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function validateProbe(probe: Mapping | undefined, path: string): readonly Cause[] {
  if (probe === undefined || HANDLERS.some((handler) => probe[handler] !== undefined)) return [];
  return [required(path, 'must specify a handler type')];
}

/** Nobody can ask for more than is allowed. */
function validateResources(resources: Mapping | undefined, path: string): readonly Cause[] {
  const [limits, requests] = [maybeMapping(resources, 'limits') ?? {}, maybeMapping(resources, 'requests') ?? {}];
  return Object.entries(requests).flatMap(([name, request]) => {
    const limit = limits[name];
    if (limit === undefined || compareQuantities(String(request), String(limit)) <= 0) return [];
    return [
      invalidValue(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${String(limit)}`),
    ];
  });
}

const isPort = (value: unknown): boolean => typeof value === 'number' && value >= 1 && value <= 65_535;
export const PORT_RANGE = 'must be between 1 and 65535, inclusive';

function validatePort(port: Mapping, path: string): readonly Cause[] {
  const { containerPort, hostPort, protocol } = port;
  return [
    ...(containerPort === 0 || containerPort === undefined
      ? [required(`${path}.containerPort`)]
      : isPort(containerPort)
        ? []
        : [invalidValue(`${path}.containerPort`, containerPort, PORT_RANGE)]),
    ...(hostPort === undefined || hostPort === 0 || isPort(hostPort)
      ? []
      : [invalidValue(`${path}.hostPort`, hostPort, PORT_RANGE)]),
    ...(['SCTP', 'TCP', 'UDP'].includes(String(protocol))
      ? []
      : [notSupported(`${path}.protocol`, protocol, ['SCTP', 'TCP', 'UDP'])]),
  ];
}

function validateMount(mount: Mapping, path: string, volumes: ReadonlySet<unknown>): readonly Cause[] {
  const { name, mountPath } = mount;
  const missing: Cause = {
    reason: 'FieldValueNotFound',
    message: `Not found: ${JSON.stringify(name)}`,
    field: `${path}.name`,
  };
  return [
    ...(isSet(name) ? [] : [required(`${path}.name`)]),
    ...(volumes.has(name) ? [] : [missing]),
    ...(isSet(mountPath) ? [] : [required(`${path}.mountPath`)]),
  ];
}

/** A template of a workload: its labels and its pod. */
export function validatePodTemplate(template: Mapping, path: string): readonly Cause[] {
  const labels = maybeMapping(maybeMapping(template, 'metadata'), 'labels') ?? {};
  return [
    ...validateLabels(labels as Record<string, string>, `${path}.labels`),
    ...validatePodSpec(maybeMapping(template, 'spec') ?? {}, `${path}.spec`),
  ];
}

const pod: KindRules = {
  validate: (object) => validatePodSpec(maybeMapping(object, 'spec') ?? {}, 'spec'),
  validateUpdate(object, old) {
    const isGated = itemsOf(mappingAt(old, 'spec'), 'schedulingGates').length > 0;
    if (deepEqual(unchangeable(object, isGated), unchangeable(old, isGated))) return [];
    return [
      forbiddenField(
        'spec',
        'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      ),
    ];
  },
};

/** A pod without what may be changed in it: more as long as it is held back from being scheduled. */
function unchangeable(object: ServedObject, isGated: boolean): Mapping {
  const spec = deepCopy(mappingAt(object, 'spec'));
  const ofGated = isGated ? ['schedulingGates', 'nodeSelector', 'affinity'] : [];
  for (const key of ['activeDeadlineSeconds', 'tolerations', ...ofGated]) delete spec[key];
  for (const container of [...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')]) delete container.image;
  return spec;
}

export const podRules: Readonly<Record<string, KindRules>> = {
  'core.Pod': pod,
  'core.PodTemplate': { validate: (object) => validatePodTemplate(maybeMapping(object, 'template') ?? {}, 'template') },
};
