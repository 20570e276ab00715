/** Pods and the templates of pods. */
import { isIP } from 'node:net';
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, mappingAt, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { compareQuantities } from '../../typed/quantity.js';
import { validateAnnotations, validateLabels } from '../metadata.js';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../names.js';
import { isStandard } from '../other-kinds/quota-rules.js';
import { checkVolumes } from '../pods/pod-volumes.js';
import { podWarnings } from '../pods/pod-warnings.js';
import { refusePlaced, validateScheduling } from '../pods/scheduling.js';
import {
  validateIds,
  validateLifecycle,
  validateMountPaths,
  validatePortNames,
  validateProbe,
  validateVariable,
  validateVariableSources,
} from './containers.js';
import type { KindRules } from './rules.js';

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const checkLabel = (value: unknown, field: string): readonly Cause[] =>
  dnsLabel(String(value), false).map((why) => invalidValue(field, value, why));

/** Of a pod, or of a template at that path. */
function validatePodSpec(spec: Mapping, path: string, claims: readonly unknown[] = []): readonly Cause[] {
  const { causes: ofVolumes, usable } = checkVolumes(spec, `${path}.volumes`, claims.length);
  const volumes = new Set([...usable, ...claims]);
  const names = new Set<unknown>();
  return [
    ...ofVolumes,
    ...(itemsOf(spec, 'containers').length === 0 ? [required(`${path}.containers`)] : []),
    ...containersOf(spec, 'containers', path).flatMap((one) => validateContainer(one, volumes, names)),
    ...containersOf(spec, 'initContainers', path).flatMap((one) => [
      ...validateContainer(one, volumes, names),
      ...validateInitContainer(one),
    ]),
    ...validateEphemeral(spec, path, volumes, names),
    ...validateChoice(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], path),
    ...validateChoice(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], path),
    ...validateLabels((maybeMapping(spec, 'nodeSelector') ?? {}) as Record<string, string>, `${path}.nodeSelector`),
    ...['serviceAccountName', 'nodeName', 'priorityClassName'].flatMap((key) =>
      isSet(spec[key])
        ? dnsSubdomain(String(spec[key]), false).map((why) => invalidValue(`${path}.${key}`, spec[key], why))
        : [],
    ),
    ...validateIds(
      maybeMapping(spec, 'securityContext'),
      ['fsGroup', 'runAsUser', 'runAsGroup'],
      `${path}.securityContext`,
    ),
    ...itemsOf(spec, 'hostAliases').flatMap(({ ip }, index) =>
      isIP(String(ip ?? '')) === 0
        ? [
            invalidValue(
              `${path}.hostAliases[${index}].ip`,
              ip ?? '',
              'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
            ),
          ]
        : [],
    ),
    ...searchProblems(maybeMapping(spec, 'dnsConfig')?.searches, `${path}.dnsConfig.searches`),
    ...(spec.dnsPolicy === 'None' && spec.dnsConfig === undefined
      ? [required(`${path}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')]
      : []),
    ...validateScheduling(spec, path),
    ...validateDeadline(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...['hostname', 'subdomain'].flatMap((key) => (isSet(spec[key]) ? checkLabel(spec[key], `${path}.${key}`) : [])),
  ];
}

/** Those for looking around have names of their own, and may look at others; but nothing relies on them. */
function validateEphemeral(
  spec: Mapping,
  path: string,
  volumes: ReadonlySet<unknown>,
  names: Set<unknown>,
): readonly Cause[] {
  const others = new Set(names);
  return containersOf(spec, 'ephemeralContainers', path).flatMap((one, index) => {
    const { targetContainerName: target } = itemsOf(spec, 'ephemeralContainers')[index] ?? {};
    const field = `${path}.ephemeralContainers[${index}].targetContainerName`;
    const missing: Cause = { reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(target)}`, field };
    return [...validateContainer(one, volumes, names), ...(!isSet(target) || others.has(target) ? [] : [missing])];
  });
}

const SEARCH = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const SEARCH_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

function searchProblems(searches: unknown, path: string): readonly Cause[] {
  return (Array.isArray(searches) ? searches : []).flatMap((search, index) => {
    const text = String(search);
    // The root is fine, and a dot at the end of others.
    if (text === '.' || SEARCH.test(text.replace(/\.$/, ''))) return [];
    return [invalidValue(`${path}[${index}]`, search, SEARCH_RULE)];
  });
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
    ...validateImage(image, `${path}.image`),
    ...validateChoice(container, 'terminationMessagePolicy', ['FallbackToLogsOnError', 'File'], path),
    ...itemsOf(container, 'ports').flatMap((port, index) => validatePort(port, `${path}.ports[${index}]`)),
    ...validatePortNames(container, path),
    ...itemsOf(container, 'env').flatMap((variable, index) => validateVariable(variable, `${path}.env[${index}]`)),
    ...validateVariableSources(container, path),
    ...itemsOf(container, 'volumeMounts').flatMap((mount, index) =>
      validateMount(mount, `${path}.volumeMounts[${index}]`, volumes),
    ),
    ...validateMountPaths(container, path),
    ...validateChoice(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], path),
    ...validateResources(maybeMapping(container, 'resources'), `${path}.resources`),
    ...(isRepeated ? [duplicate(`${path}.name`, name)] : []),
    ...validateLifecycle(maybeMapping(container, 'lifecycle'), `${path}.lifecycle`),
    ...PROBES.flatMap((probe) =>
      validateProbe(maybeMapping(container, probe), `${path}.${probe}`, probe !== 'readinessProbe'),
    ),
    ...validateIds(maybeMapping(container, 'securityContext'), ['runAsUser', 'runAsGroup'], `${path}.securityContext`),
  ];
}

/** Those that end before the pod begins are not looked after. */
function validateInitContainer({ container, path }: Container): readonly Cause[] {
  if (container.restartPolicy === 'Always') return [];
  return ['lifecycle', ...PROBES]
    .filter((key) => container[key] !== undefined)
    .map((key) => forbiddenField(`${path}.${key}`, 'may not be set for init containers without restartPolicy=Always'));
}

function validateImage(image: unknown, field: string): readonly Cause[] {
  if (!isSet(image)) return [required(field)];
  const isTrimmed = String(image) === String(image).trim();
  return isTrimmed ? [] : [invalidValue(field, image, 'must not have leading or trailing whitespace')];
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** Nobody can ask for more than is allowed. */
function validateResources(resources: Mapping | undefined, path: string): readonly Cause[] {
  const [limits, requests] = [maybeMapping(resources, 'limits') ?? {}, maybeMapping(resources, 'requests') ?? {}];
  return [
    ...resourceNameProblems(limits, `${path}.limits`),
    ...resourceNameProblems(requests, `${path}.requests`),
    ...requestProblems(limits, requests, path),
  ];
}

const isOfContainers = (name: string): boolean =>
  ['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-');

/** Those without a prefix are known ones. */
function resourceNameProblems(amounts: Mapping, path: string): readonly Cause[] {
  return Object.keys(amounts).flatMap((name) => {
    const field = `${path}[${name}]`;
    const wrong = qualifiedName(name);
    if (wrong.length > 0) return wrong.map((why) => invalidValue(field, name, why));
    if (name.includes('/') || isOfContainers(name)) return [];
    return [
      ...(isStandard(name) ? [] : [invalidValue(field, name, 'must be a standard resource type or fully qualified')]),
      invalidValue(field, name, 'must be a standard resource for containers'),
    ];
  });
}

function requestProblems(limits: Mapping, requests: Mapping, path: string): readonly Cause[] {
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

/** A template of a workload: its labels and its pod, which may mount `claims` like volumes. */
export function validatePodTemplate(
  template: Mapping,
  path: string,
  claims: readonly unknown[] = [],
): readonly Cause[] {
  const metadata = maybeMapping(template, 'metadata');
  const [labels, annotations] = [maybeMapping(metadata, 'labels') ?? {}, maybeMapping(metadata, 'annotations') ?? {}];
  return [
    ...validateLabels(labels as Record<string, string>, `${path}.labels`),
    ...validateAnnotations(annotations as Record<string, string>, `${path}.annotations`),
    ...validatePodSpec(maybeMapping(template, 'spec') ?? {}, `${path}.spec`, claims),
  ];
}

const DOTS =
  "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]";

const pod: KindRules = {
  warnings: (object, old) => [
    ...(old === undefined && String(object.metadata.name).includes('.') ? [DOTS] : []),
    ...podWarnings(maybeMapping(object, 'spec'), 'spec'),
  ],
  validate: (object) => validatePodSpec(maybeMapping(object, 'spec') ?? {}, 'spec'),
  validateParts: ephemeralChanges,
  validateStatus: (object) => statusProblems(maybeMapping(object, 'status') ?? {}),
  validateCreate: (object) => refusePlaced(maybeMapping(object, 'spec') ?? {}),
  validateUpdate(object, old) {
    const [before, after] = [mappingAt(old, 'spec'), mappingAt(object, 'spec')];
    for (const key of ['containers', 'initContainers']) {
      if (itemsOf(before, key).length === itemsOf(after, key).length) continue;
      return [forbiddenField(`spec.${key}`, 'pod updates may not add or remove containers')];
    }
    // As there: whether they have images is looked at once more, as these may change.
    const ofParts: Cause[] = ['containers', 'initContainers'].flatMap((key) =>
      itemsOf(after, key).flatMap(({ image }, index) =>
        isSet(image) ? [] : [required(`spec.${key}[${index}].image`)],
      ),
    );
    const [wasActive, isActive] = [before.activeDeadlineSeconds, after.activeDeadlineSeconds];
    if (typeof wasActive === 'number' && (typeof isActive !== 'number' || isActive > wasActive)) {
      const why =
        typeof isActive === 'number'
          ? 'must be less than or equal to previous value'
          : 'must not update from a positive integer to nil value';
      ofParts.push(invalidValue('spec.activeDeadlineSeconds', isActive ?? null, why));
    }
    const isGated = itemsOf(mappingAt(old, 'spec'), 'schedulingGates').length > 0;
    ofParts.push(...tolerationChanges(before, after), ...gateChanges(before, after));
    if (deepEqual(unchangeable(object, isGated), unchangeable(old, isGated))) return ofParts;
    return [
      ...ofParts,
      forbiddenField(
        'spec',
        'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      ),
    ];
  },
};

const ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** As there: the name of a field is that of the internal type. */
const statusProblems = (status: Mapping): readonly Cause[] => [
  ...itemsOf(status, 'conditions').flatMap(({ type = '' }, index) =>
    qualifiedName(String(type)).map((why) => invalidValue(`status.conditions[${index}].Type`, type, why)),
  ),
  ...itemsOf(status, 'podIPs').flatMap(({ ip = '' }, index) =>
    isIP(String(ip)) === 0 ? [invalidValue(`status.podIPs[${index}]`, ip, ADDRESS)] : [],
  ),
];

/** They only become more. */
function ephemeralChanges(object: ServedObject, old: ServedObject): readonly Cause[] {
  const after = itemsOf(mappingAt(object, 'spec'), 'ephemeralContainers');
  return itemsOf(mappingAt(old, 'spec'), 'ephemeralContainers').flatMap((before) => {
    const found = after.find(({ name }) => name === before.name);
    if (found !== undefined && deepEqual(found, before)) return [];
    const what = found === undefined ? 'removed\n' : 'changed';
    const why = `existing ephemeral containers "${String(before.name)}" may not be ${what}`;
    return [forbiddenField('spec.ephemeralContainers', why)];
  });
}

/** More may be tolerated, and for another time; nothing else changes. */
function tolerationChanges(before: Mapping, after: Mapping): readonly Cause[] {
  const timeless = ({ tolerationSeconds: _, ...rest }: Mapping): Mapping => rest;
  const now = itemsOf(after, 'tolerations').map(timeless);
  const isKept = itemsOf(before, 'tolerations').every((old) => now.some((one) => deepEqual(one, timeless(old))));
  const why = 'existing toleration can not be modified except its tolerationSeconds';
  return isKept ? [] : [forbiddenField('spec.tolerations', why)];
}

function gateChanges(before: Mapping, after: Mapping): readonly Cause[] {
  const known = new Set(itemsOf(before, 'schedulingGates').map(({ name }) => name));
  return itemsOf(after, 'schedulingGates').flatMap(({ name }, index) => {
    const why = `only deletion is allowed, but found new scheduling gate '${String(name)}'`;
    return known.has(name) ? [] : [forbiddenField(`spec.schedulingGates[${index}].name`, why)];
  });
}

/** A pod without what may be changed in it: more as long as it is held back from being scheduled. */
function unchangeable(object: ServedObject, isGated: boolean): Mapping {
  const spec = deepCopy(mappingAt(object, 'spec'));
  const ofGated = isGated ? ['nodeSelector', 'affinity'] : [];
  for (const key of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates', ...ofGated]) delete spec[key];
  for (const container of [...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')]) delete container.image;
  return spec;
}

export const podRules: Readonly<Record<string, KindRules>> = {
  'core.Pod': pod,
  'core.PodTemplate': {
    warnings: (object) => podWarnings(maybeMapping(maybeMapping(object, 'template'), 'spec'), 'template.spec'),
    validate: (object) => validatePodTemplate(maybeMapping(object, 'template') ?? {}, 'template'),
  },
};
