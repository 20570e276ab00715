/** What is fine in pods and templates of pods, but most likely not meant so. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { ARMOR, armorOf, armorWarning } from '../../kinds/pod-armor.js';
import { goQuote } from '../../text/go-text.js';
import { isFractional } from './pod-resources.js';

interface Placed {
  readonly container: Mapping;
  readonly path: string;
}

/** `path` is where the template is; it is empty for pods. */
export function podWarnings(template: Mapping | undefined, path: string): readonly string[] {
  const spec = maybeMapping(template, 'spec') ?? {};
  const annotations = maybeMapping(maybeMapping(template, 'metadata'), 'annotations') ?? {};
  const at = (part: string): string => (path === '' ? part : `${path}.${part}`);
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((key) =>
    itemsOf(spec, key).map((container, index): Placed => ({ container, path: at(`spec.${key}[${index}]`) })),
  );
  return [
    ...oldLabels(spec, at('spec')),
    ...oldAnnotations(annotations, at('metadata.annotations')),
    ...oldVolumes(spec, at('spec')),
    ...repeatedIn(spec, 'hostAliases', 'ip', at('spec')),
    ...repeatedIn(spec, 'imagePullSecrets', 'name', at('spec')),
    ...itemsOf(spec, 'imagePullSecrets').flatMap(({ name = '' }, index) =>
      name === '' ? [`${at('spec')}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
    ...fractions(maybeMapping(spec, 'overhead'), `${at('spec')}.overhead`),
    ...ofSeccomp(spec, annotations, `${SECCOMP}/pod`, at('metadata.annotations')),
    ...containers.flatMap(({ container, path: field }) => [
      ...ofSeccomp(
        container,
        annotations,
        `container.${SECCOMP}/${String(container.name)}`,
        at('metadata.annotations'),
      ),
      ...(path === '' ? [] : oldArmor(container, spec, annotations, at('metadata.annotations'))),
      ...ofSizes(container, field),
      ...hiddenVariables(container, `${field}.env`),
    ]),
    ...ofPorts(containers),
    ...ofPortNames(containers),
    ...(Number(spec.terminationGracePeriodSeconds) < 0
      ? [
          `${at('spec')}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...ofAffinity(maybeMapping(spec, 'affinity'), at('spec.affinity')),
  ];
}

const OLD_LABELS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};
const NO_SELECTOR = 'labelSelector: a null labelSelector results in matching no pod';

function oldLabels(spec: Mapping, path: string): readonly string[] {
  return [
    ...Object.keys(maybeMapping(spec, 'nodeSelector') ?? {}).flatMap((key) =>
      OLD_LABELS[key] === undefined ? [] : [`${path}.nodeSelector[${key}]: ${OLD_LABELS[key]}`],
    ),
    ...itemsOf(spec, 'topologySpreadConstraints').flatMap(({ topologyKey, labelSelector }, index) => {
      const at = `${path}.topologySpreadConstraints[${index}]`;
      const old = OLD_LABELS[String(topologyKey)];
      return [
        ...(old === undefined ? [] : [`${at}.topologyKey: ${String(topologyKey)} is ${old}`]),
        ...(labelSelector === undefined ? [`${at}.${NO_SELECTOR}`] : []),
      ];
    }),
  ];
}

const OLD_ANNOTATIONS = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

const oldAnnotations = (annotations: Mapping, path: string): readonly string[] =>
  Object.entries(OLD_ANNOTATIONS)
    .filter(([key]) => annotations[key] !== undefined)
    .map(([key, why]) => `${path}[${key}]: ${why}`);

/** By the names of their fields in messages. */
const OLD_VOLUMES = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageOS: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

function oldVolumes(spec: Mapping, path: string): readonly string[] {
  return itemsOf(spec, 'volumes').flatMap((volume, index) =>
    Object.entries(OLD_VOLUMES)
      .filter(([key]) => volume[key === 'storageOS' ? 'storageos' : key] !== undefined)
      .map(([key, why]) => `${path}.volumes[${index}].${key}: ${why}`),
  );
}

function repeatedIn(spec: Mapping, list: string, key: string, path: string): readonly string[] {
  const seen = new Set<unknown>();
  return itemsOf(spec, list).flatMap(({ [key]: value = '' }, index) => {
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated ? [`${path}.${list}[${index}].${key}: duplicate ${key} ${goQuote(String(value))}`] : [];
  });
}

const fractions = (amounts: Mapping | undefined, path: string): readonly string[] =>
  ['memory', 'ephemeral-storage']
    .filter((name) => amounts?.[name] !== undefined && isFractional(amounts[name]))
    .map(
      (name) => `${path}[${name}]: fractional byte value "${String(amounts?.[name])}" is invalid, must be an integer`,
    );

function ofSizes(container: Mapping, path: string): readonly string[] {
  const resources = maybeMapping(container, 'resources');
  if (resources === undefined) return [];
  const all = ['limits', 'requests'].flatMap((list) =>
    fractions(maybeMapping(resources, list), `${path}.resources.${list}`),
  );
  return [...all.filter((text) => text.includes('[memory]')), ...all.filter((text) => !text.includes('[memory]'))];
}

const SECCOMP = 'seccomp.security.alpha.kubernetes.io';

function ofSeccomp(one: Mapping, annotations: Mapping, key: string, path: string): readonly string[] {
  const isSaid = maybeMapping(maybeMapping(one, 'securityContext'), 'seccompProfile') !== undefined;
  if (isSaid || annotations[key] === undefined) return [];
  return [`${path}[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`];
}

/** Of templates. Of pods, it is told as the field is set. */
function oldArmor(container: Mapping, spec: Mapping, annotations: Mapping, path: string): readonly string[] {
  const key = `${ARMOR}${String(container.name)}`;
  const isSaid = maybeMapping(maybeMapping(container, 'securityContext'), 'appArmorProfile') !== undefined;
  const ofPod = maybeMapping(maybeMapping(spec, 'securityContext'), 'appArmorProfile');
  if (isSaid || annotations[key] === undefined) return [];
  if (ofPod !== undefined && deepEqual(ofPod, armorOf(annotations[key]))) return [];
  return [armorWarning(key, path)];
}

/** Unless the new value is made of the old one. */
function hiddenVariables(container: Mapping, path: string): readonly string[] {
  const seen = new Set<unknown>();
  return itemsOf(container, 'env').flatMap(({ name, value = '', valueFrom }, index) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    const old = `$(${String(name)})`;
    const isBuiltOn = valueFrom === undefined && value !== old && String(value).includes(old);
    const why = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    return isRepeated && !isBuiltOn ? [`${path}[${index}]: ${why}`] : [];
  });
}

function ofPorts(containers: readonly Placed[]): readonly string[] {
  const seen = new Map<string, { readonly path: string; readonly hostPort: unknown; readonly hostIP: unknown }[]>();
  return containers.flatMap(({ container, path }) =>
    itemsOf(container, 'ports').flatMap(
      ({ name = '', containerPort = 0, protocol = '', hostPort = 0, hostIP = '' }, index) => {
        const at = `${path}.ports[${index}]`;
        const key = `${String(containerPort)}/${String(protocol)}`;
        const others = seen.get(key) ?? [];
        seen.set(key, [...others, { path: at, hostPort, hostIP }]);
        const shown = `{Name:${String(name)} HostPort:0 ContainerPort:${String(containerPort)} Protocol:${String(protocol)} HostIP:${String(hostIP)}}`;
        return [
          ...(hostIP !== '' && hostPort === 0 ? [`${at}: hostIP set without hostPort: ${shown}`] : []),
          ...others.flatMap((other) => {
            if (other.hostIP === hostIP && other.hostPort === hostPort)
              return [`${at}: duplicate port definition with ${other.path}`];
            if (hostPort === 0 || other.hostPort === 0)
              return [`${at}: overlapping port definition with ${other.path}`];
            const isAmbiguous = hostPort === other.hostPort && (hostIP === '') !== (other.hostIP === '');
            return isAmbiguous ? [`${at}: dangerously ambiguous port definition with ${other.path}`] : [];
          }),
        ];
      },
    ),
  );
}

function ofPortNames(containers: readonly Placed[]): readonly string[] {
  const seen = new Map<unknown, string>();
  return containers.flatMap(({ container, path }) =>
    itemsOf(container, 'ports').flatMap(({ name = '' }, index) => {
      const at = `${path}.ports[${index}]`;
      const first = seen.get(name);
      if (name !== '' && first === undefined) seen.set(name, at);
      if (first === undefined) return [];
      const which = `services and probes that select ports by name will use ${first}`;
      return [`${at}: duplicate port name ${goQuote(String(name))} with ${first}, ${which}`];
    }),
  );
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function ofAffinity(affinity: Mapping | undefined, path: string): readonly string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((key) => {
    const terms = maybeMapping(affinity, key);
    return [
      ...itemsOf(terms, REQUIRED).flatMap(({ labelSelector }, index) =>
        labelSelector === undefined ? [`${path}.${key}.${REQUIRED}[${index}].${NO_SELECTOR}`] : [],
      ),
      ...itemsOf(terms, PREFERRED).flatMap((one, index) =>
        maybeMapping(one, 'podAffinityTerm')?.labelSelector === undefined
          ? [`${path}.${key}.${PREFERRED}[${index}].podAffinityTerm.${NO_SELECTOR}`]
          : [],
      ),
    ];
  });
}
