/** Pods and the templates of pods. */
import { isIP } from 'node:net';
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, mappingAt, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { validateAnnotations, validateLabels } from '../metadata.js';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../names.js';
import { validateResize } from '../pods/pod-resize.js';
import { validateResources } from '../pods/pod-resources.js';
import { checkVolumes, tokenProblems } from '../pods/pod-volumes.js';
import { podWarnings } from '../pods/pod-warnings.js';
import {
  refusePlaced,
  validateAffinity,
  validateGates,
  validateSpreading,
  validateTolerations,
} from '../pods/scheduling.js';
import { userNamespaceProblems, validatePodContext, validateSecurityContext } from '../pods/security-contexts.js';
import {
  hostPortConflicts,
  validateLifecycle,
  validateMounts,
  validatePorts,
  validateProbe,
  validateResizePolicy,
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
  const volumes = new Map([...usable, ...claims.map((name) => [name, { name, persistentVolumeClaim: {} }] as const)]);
  return [
    ...ofVolumes,
    ...validateContainers(spec, path, volumes),
    ...hostNetworkProblems(spec, path),
    ...validateChoice(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], path),
    ...validateChoice(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], path),
    ...validateLabels((maybeMapping(spec, 'nodeSelector') ?? {}) as Record<string, string>, `${path}.nodeSelector`),
    ...validatePodContext(spec, path),
    ...validateAffinity(maybeMapping(spec, 'affinity'), `${path}.affinity`),
    ...validateNames(spec, path),
    ...itemsOf(spec, 'readinessGates').flatMap(({ conditionType = '' }, index) =>
      qualifiedName(String(conditionType)).map((why) =>
        invalidValue(`${path}.readinessGates[${index}].conditionType`, conditionType, why),
      ),
    ),
    ...validateGates(spec, path),
    ...validateSpreading(spec, path),
    ...userNamespaceProblems(spec, path),
    ...nameProblems(spec, ['serviceAccountName', 'nodeName'], path),
    ...validateDeadline(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...['hostname', 'subdomain'].flatMap((key) => (isSet(spec[key]) ? checkLabel(spec[key], `${path}.${key}`) : [])),
    ...validateTolerations(spec, path),
    ...aliasProblems(spec, path),
    ...nameProblems(spec, ['priorityClassName', 'runtimeClassName'], path),
    ...systemProblems(maybeMapping(spec, 'os'), `${path}.os`),
  ];
}

function validateContainers(spec: Mapping, path: string, volumes: ReadonlyMap<unknown, Mapping>): readonly Cause[] {
  const names = new Set<unknown>();
  const pod = { spec, volumes, names };
  return [
    ...(itemsOf(spec, 'containers').length === 0 ? [required(`${path}.containers`)] : []),
    ...containersOf(spec, 'containers', path).flatMap((one) => [
      ...validateContainer(one, pod),
      ...repeatedName(one, names),
      ...validateLife(one),
    ]),
    ...hostPortConflicts(itemsOf(spec, 'containers'), `${path}.containers`),
    ...containersOf(spec, 'initContainers', path).flatMap((one) => [
      ...validateContainer(one, pod),
      ...repeatedName(one, names),
      // As there: they are told as if each were the first.
      ...hostPortConflicts([one.container], `${path}.initContainers`),
      ...(one.container.restartPolicy === 'Always' ? validateLife(one) : validateInitContainer(one)),
    ]),
    ...validateEphemeral(spec, path, pod),
  ];
}

function nameProblems(spec: Mapping, keys: readonly string[], path: string): readonly Cause[] {
  return keys.flatMap((key) =>
    isSet(spec[key])
      ? dnsSubdomain(String(spec[key]), false).map((why) => invalidValue(`${path}.${key}`, spec[key], why))
      : [],
  );
}

/** On the network of the host, ports are what they are. Templates may leave them to be set. */
function hostNetworkProblems(spec: Mapping, path: string): readonly Cause[] {
  if (spec.hostNetwork !== true) return [];
  const isPod = path === 'spec';
  return containersOf(spec, 'containers', path).flatMap(({ container, path: at }) =>
    itemsOf(container, 'ports').flatMap(({ hostPort = 0, containerPort = 0 }, index) => {
      if (hostPort === containerPort || (!isPod && hostPort === 0)) return [];
      const why = 'must match `containerPort` when `hostNetwork` is true';
      return [invalidValue(`${at}.ports[${index}].hostPort`, hostPort, why)];
    }),
  );
}

const ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const addressProblems = (address: unknown, field: string): readonly Cause[] =>
  isIP(String(address ?? '')) === 0 ? [invalidValue(field, address ?? '', ADDRESS)] : [];

function aliasProblems(spec: Mapping, path: string): readonly Cause[] {
  return itemsOf(spec, 'hostAliases').flatMap(({ ip, hostnames }, index) => [
    ...addressProblems(ip, `${path}.hostAliases[${index}].ip`),
    ...(Array.isArray(hostnames) ? hostnames : []).flatMap((name, number) =>
      dnsSubdomain(String(name), false).map((why) =>
        invalidValue(`${path}.hostAliases[${index}].hostnames[${number}]`, name, why),
      ),
    ),
  ]);
}

function systemProblems(system: Mapping | undefined, path: string): readonly Cause[] {
  if (system === undefined) return [];
  const { name = '' } = system;
  if (name === '') return [required(`${path}.name`)];
  return ['linux', 'windows'].includes(String(name)) ? [] : [notSupported(path, name, ['linux', 'windows'])];
}

const MOST_SERVERS = 3;
const MOST_SEARCHES = 32;

/** How the pod finds others by their names. */
function validateNames(spec: Mapping, parent: string): readonly Cause[] {
  const path = `${parent}.dnsConfig`;
  const config = maybeMapping(spec, 'dnsConfig');
  const listOf = (key: string): readonly unknown[] => (Array.isArray(config?.[key]) ? config[key] : []);
  const [servers, searches] = [listOf('nameservers'), listOf('searches')];
  if (spec.dnsPolicy === 'None') {
    if (config === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    if (servers.length === 0) return [required(`${path}.nameservers`, why)];
  }
  return [
    ...(servers.length > MOST_SERVERS
      ? [invalidValue(`${path}.nameservers`, servers, `must not have more than ${MOST_SERVERS} nameservers`)]
      : []),
    ...servers.flatMap((server, index) => addressProblems(server, `${path}.nameservers[${index}]`)),
    ...(searches.length > MOST_SEARCHES
      ? [invalidValue(`${path}.searches`, searches, `must not have more than ${MOST_SEARCHES} search paths`)]
      : []),
    ...searchProblems(searches, `${path}.searches`),
    ...itemsOf(config, 'options').flatMap(({ name = '' }, index) =>
      name === '' ? [required(`${path}.options[${index}]`, 'must not be empty')] : [],
    ),
  ];
}

/** Those for looking around have names of their own, and may look at others; but nothing relies on them. */
function validateEphemeral(spec: Mapping, path: string, pod: Surroundings): readonly Cause[] {
  const others = new Set(pod.names);
  return containersOf(spec, 'ephemeralContainers', path).flatMap((one, index) => {
    const { targetContainerName: target } = itemsOf(spec, 'ephemeralContainers')[index] ?? {};
    const field = `${path}.ephemeralContainers[${index}].targetContainerName`;
    const missing: Cause = { reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(target)}`, field };
    return [
      ...validateContainer(one, pod),
      ...trimmedImage(one),
      ...repeatedName(one, pod.names),
      ...(!isSet(target) || others.has(target) ? [] : [missing]),
    ];
  });
}

const SEARCH = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const SEARCH_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

function searchProblems(searches: readonly unknown[], path: string): readonly Cause[] {
  return searches.flatMap((search, index) => {
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

/** What containers are looked at together with. */
interface Surroundings {
  readonly spec: Mapping;
  readonly volumes: ReadonlyMap<unknown, Mapping>;
  readonly names: Set<unknown>;
}

/** Whatever its sort. */
function validateContainer({ container, path }: Container, { spec, volumes }: Surroundings): readonly Cause[] {
  const { name, image } = container;
  return [
    ...(isSet(name) ? checkLabel(name, `${path}.name`) : [required(`${path}.name`)]),
    ...(isSet(image) ? [] : [required(`${path}.image`)]),
    ...validateChoice(container, 'terminationMessagePolicy', ['File', 'FallbackToLogsOnError'], path),
    ...validatePorts(container, path),
    ...itemsOf(container, 'env').flatMap((variable, index) => validateVariable(variable, `${path}.env[${index}]`)),
    ...validateVariableSources(container, path),
    ...validateMounts(container, path, volumes),
    ...validateChoice(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], path),
    ...validateResources(maybeMapping(container, 'resources'), `${path}.resources`),
    ...validateResizePolicy(container, path, spec.restartPolicy),
    ...validateSecurityContext(
      maybeMapping(container, 'securityContext'),
      `${path}.securityContext`,
      spec.hostUsers !== false,
    ),
  ];
}

function repeatedName({ container: { name }, path }: Container, names: Set<unknown>): readonly Cause[] {
  const isRepeated = names.has(name);
  names.add(name);
  return isRepeated ? [duplicate(`${path}.name`, name)] : [];
}

function validateLife({ container, path }: Container): readonly Cause[] {
  return [
    ...validateLifecycle(maybeMapping(container, 'lifecycle'), `${path}.lifecycle`),
    ...PROBES.flatMap((probe) =>
      validateProbe(maybeMapping(container, probe), `${path}.${probe}`, probe !== 'readinessProbe'),
    ),
  ];
}

/** Those that end before the pod begins are not looked after. */
function validateInitContainer({ container, path }: Container): readonly Cause[] {
  const ofPolicy = itemsOf(container, 'resizePolicy').flatMap(({ restartPolicy }, index) => {
    if (restartPolicy !== 'RestartContainer') return [];
    const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    return [invalidValue(`${path}.resizePolicy[${index}].restartPolicy`, restartPolicy, why)];
  });
  return [
    ...['lifecycle', ...PROBES]
      .filter((key) => container[key] !== undefined)
      .map((key) =>
        forbiddenField(`${path}.${key}`, 'may not be set for init containers without restartPolicy=Always'),
      ),
    ...ofPolicy,
  ];
}

/** Of pods, but not of their templates. */
function trimmedImage({ container: { image = '' }, path }: Container): readonly Cause[] {
  const isTrimmed = String(image) === String(image).trim();
  return isTrimmed ? [] : [invalidValue(`${path}.image`, image, 'must not have leading or trailing whitespace')];
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];

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
  // Of changed ones, nobody wants to know: people do not change them themselves.
  warnings: (object, old) =>
    old !== undefined
      ? []
      : [...(String(object.metadata.name).includes('.') ? [DOTS] : []), ...podWarnings(object, '')],
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    return [
      ...validatePodSpec(spec, 'spec'),
      ...tokenProblems(spec),
      ...['containers', 'initContainers'].flatMap((key) => containersOf(spec, key, 'spec').flatMap(trimmedImage)),
    ];
  },
  validateParts: (object, old, subresource) =>
    subresource === 'resize' ? validateResize(object, old) : ephemeralChanges(object, old),
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

/** As there: the name of a field is that of the internal type. */
const statusProblems = (status: Mapping): readonly Cause[] => [
  ...itemsOf(status, 'conditions').flatMap(({ type = '' }, index) =>
    qualifiedName(String(type)).map((why) => invalidValue(`status.conditions[${index}].Type`, type, why)),
  ),
  ...itemsOf(status, 'podIPs').flatMap(({ ip = '' }, index) => addressProblems(ip, `status.podIPs[${index}]`)),
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
    warnings: (object, old) =>
      old !== undefined && old.metadata.generation === object.metadata.generation
        ? []
        : podWarnings(maybeMapping(object, 'template'), 'template'),
    validate: (object) => validatePodTemplate(maybeMapping(object, 'template') ?? {}, 'template'),
  },
};
