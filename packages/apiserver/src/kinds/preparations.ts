/** What some built-in kinds do to their objects before these are stored, beyond defaults. */
import { deepCopy, deepEqual, isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import { keepAllButSizes } from '../validation/pods/pod-resize.js';
import { itemsOf, mappingAt, maybeMapping } from './defaults/setting.js';
import { otherPreparations } from './other-preparations.js';
import { applyArmor } from './pod-armor.js';
import { qualityOf } from './pod-quality.js';
import type { PreparationContext, Strategy } from './served.js';
import { allocateAddresses, hasNodePorts, isGiven, needsHealthPort } from './service-addresses.js';

export interface Preparation {
  create?(object: ServedObject, context: PreparationContext): void;
  update?(object: ServedObject, old: ServedObject, subresource: string, timestamp: string): void;
  readonly allocate?: NonNullable<Strategy['allocate']>;
  readonly gracePeriod?: NonNullable<Strategy['gracePeriod']>;
  readonly fieldValue?: NonNullable<Strategy['fieldValue']>;
}

const namespace: Preparation = {
  create(object) {
    object.status = { phase: 'Active' };
    const spec = mappingAt(object, 'spec');
    const finalizers = Array.isArray(spec.finalizers) ? spec.finalizers : [];
    spec.finalizers = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
  },
  update(object, old, subresource) {
    if (subresource === 'finalize') {
      object.status = deepCopy(old.status);
      return;
    }
    if (subresource !== '') return;
    const { finalizers } = mappingAt(old, 'spec');
    if (finalizers === undefined) delete mappingAt(object, 'spec').finalizers;
    else mappingAt(object, 'spec').finalizers = deepCopy(finalizers);
  },
};

/** Nobody goes before the end. */
function settleGrace(spec: Mapping): void {
  if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1;
}

const pod: Preparation = {
  create(object, { timestamp, warn }) {
    const spec = mappingAt(object, 'spec');
    settleGrace(spec);
    applyArmor(object, warn);
    const isGated = itemsOf(spec, 'schedulingGates').length > 0;
    const gated = {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: timestamp,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    };
    object.status = { phase: 'Pending', ...(isGated ? { conditions: [gated] } : {}), qosClass: qualityOf(spec) };
  },
  update(object, old, subresource) {
    if (subresource === 'resize') keepAllButSizes(object, old);
    if (subresource === '') settleGrace(mappingAt(object, 'spec'));
    if (subresource !== 'status') return;
    const [status, before] = [mappingAt(object, 'status'), mappingAt(old, 'status')];
    if (!isGiven(status.qosClass) && before.qosClass !== undefined) status.qosClass = before.qosClass;
    if (old.metadata.ownerReferences === undefined) delete object.metadata.ownerReferences;
    else object.metadata.ownerReferences = deepCopy(old.metadata.ownerReferences);
  },
  gracePeriod(object, requested) {
    const spec = mappingAt(object, 'spec');
    const { phase } = mappingAt(object, 'status');
    if (spec.nodeName === undefined || spec.nodeName === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
    const configured = typeof spec.terminationGracePeriodSeconds === 'number' ? spec.terminationGracePeriodSeconds : 0;
    const wanted = requested ?? configured;
    return wanted < 0 ? 1 : wanted;
  },
  fieldValue(object, path) {
    if (path === 'spec.hostNetwork') return String(mappingAt(object, 'spec').hostNetwork === true);
    if (path === 'status.podIPs') return String(mappingAt(object, 'status').podIP ?? '');
    return undefined;
  },
};

/** What a service had, and cannot have any more as it is of another type, unless the client has changed it. */
function releaseUnneeded(spec: Mapping, before: Mapping): void {
  const release = (...keys: readonly string[]): void => {
    for (const key of keys) if (deepEqual(spec[key], before[key])) delete spec[key];
  };
  if (spec.type === 'ExternalName' && before.type !== 'ExternalName') {
    release('clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy');
  }
  const isPublished = (one: Mapping): boolean => one.type === 'NodePort' || one.type === 'LoadBalancer';
  if (isPublished(before) && !isPublished(spec)) {
    release('externalTrafficPolicy', 'healthCheckNodePort');
    const ports = new Set(itemsOf(before, 'ports').map(({ nodePort }) => nodePort));
    for (const port of itemsOf(spec, 'ports')) if (ports.has(port.nodePort)) delete port.nodePort;
  }
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    release('allocateLoadBalancerNodePorts', 'loadBalancerClass');
  }
}

function settleFamilies(spec: Mapping): void {
  // Without a selector and an address, it may be anything.
  const isAnything = spec.clusterIP === 'None' && Object.keys(maybeMapping(spec, 'selector') ?? {}).length === 0;
  spec.ipFamilyPolicy ??= isAnything ? 'RequireDualStack' : 'SingleStack';
  const families = Array.isArray(spec.ipFamilies) ? spec.ipFamilies : ['IPv4'];
  const isDual = isAnything && spec.ipFamilyPolicy !== 'SingleStack' && families.length === 1;
  spec.ipFamilies = isDual ? [...families, families[0] === 'IPv4' ? 'IPv6' : 'IPv4'] : families;
}

const service: Preparation = {
  create(object) {
    const spec = mappingAt(object, 'spec');
    object.status = { loadBalancer: {} };
    if (spec.type === 'ExternalName') {
      delete spec.internalTrafficPolicy;
      return;
    }
    settleFamilies(spec);
  },
  update(object, old, subresource) {
    if (subresource !== '') return;
    const spec = mappingAt(object, 'spec');
    const before = mappingAt(old, 'spec');
    releaseUnneeded(spec, before);
    if (spec.type === 'ExternalName') {
      delete spec.internalTrafficPolicy;
      return;
    }
    if (before.type === 'ExternalName') {
      settleFamilies(spec);
    }
    // What was allocated stays, even if the client did not know of it.
    for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      if (!isGiven(spec[key]) && before[key] !== undefined) spec[key] = deepCopy(before[key]);
    }
    if (!isGiven(spec.healthCheckNodePort) && isGiven(before.healthCheckNodePort) && needsHealthPort(spec)) {
      spec.healthCheckNodePort = before.healthCheckNodePort;
    }
    if (!hasNodePorts(spec)) return;
    for (const port of itemsOf(spec, 'ports')) {
      const known = itemsOf(before, 'ports').find((one) => one.port === port.port && one.protocol === port.protocol);
      if (!isGiven(port.nodePort) && hasNodePorts(before) && known?.nodePort !== undefined)
        port.nodePort = known.nodePort;
    }
  },
  allocate: allocateAddresses,
};

const job: Preparation = {
  fieldValue: (object, path) =>
    path === 'status.successful' ? String(maybeMapping(object, 'status')?.succeeded ?? 0) : undefined,
  create(object) {
    const spec = mappingAt(object, 'spec');
    if (spec.manualSelector === true) return;
    const { uid = '', name = '' } = object.metadata;
    const labels = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': name,
      'controller-uid': uid,
      'job-name': name,
    };
    const metadata = mappingAt(mappingAt(spec, 'template'), 'metadata');
    const before = isMapping(metadata.labels) ? metadata.labels : {};
    // What is wrong with those that are there already is told later.
    const all = { ...labels, ...before };
    metadata.labels = all;
    // By default, the labels are those of the template, whatever becomes of these.
    if (object.metadata.labels === before || Object.keys(object.metadata.labels ?? {}).length === 0) {
      object.metadata.labels = { ...all } as Record<string, string>;
    }
    const chosen = mappingAt(mappingAt(spec, 'selector'), 'matchLabels');
    chosen['batch.kubernetes.io/controller-uid'] ??= uid;
  },
  update(object, _old, subresource) {
    if (subresource !== 'status' || Object.keys(object.metadata.labels ?? {}).length > 0) return;
    // Who writes a status without the labels has those of the template, which are not changed by it.
    const labels = maybeMapping(maybeMapping(mappingAt(object, 'spec'), 'template'), 'metadata')?.labels;
    if (isMapping(labels)) object.metadata.labels = { ...labels } as Record<string, string>;
  },
};

const node: Preparation = {
  create(object) {
    const spec = mappingAt(object, 'spec');
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const taints = itemsOf(spec, 'taints');
    if (!taints.some(({ key, effect }) => key === taint.key && effect === taint.effect))
      spec.taints = [...taints, taint];
  },
  fieldValue: (object, path) =>
    path === 'spec.unschedulable' ? String(mappingAt(object, 'spec').unschedulable === true) : undefined,
};

const event: Preparation = {
  fieldValue(object, path) {
    if (path === 'source') {
      const component = maybeMapping(object, 'source')?.component;
      return String(component === undefined || component === '' ? (object.reportingComponent ?? '') : component);
    }
    return undefined;
  },
};

const deployment: Preparation = {
  update(object, old, subresource) {
    if (subresource !== 'status') return;
    if (old.metadata.labels === undefined) delete object.metadata.labels;
    else object.metadata.labels = deepCopy(old.metadata.labels);
  },
};

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** Counted long before there were generations, and kept since. */
const daemonSet: Preparation = {
  create(object) {
    mappingAt(object.metadata, 'annotations')[TEMPLATE_GENERATION] = '1';
  },
  update(object, old, subresource) {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const isChanged =
      subresource === '' && !deepEqual(mappingAt(object, 'spec').template, mappingAt(old, 'spec').template);
    mappingAt(object.metadata, 'annotations')[TEMPLATE_GENERATION] = String(before + (isChanged ? 1 : 0));
  },
};

/** The younger field says the same as the older one, and the other way round. */
function alignSources(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  const [source, reference] = [maybeMapping(spec, 'dataSource'), maybeMapping(spec, 'dataSourceRef')];
  if (source !== undefined && reference === undefined) spec.dataSourceRef = deepCopy(source);
  if (source === undefined && reference !== undefined && !isGiven(reference.namespace)) {
    const isCore = !isGiven(reference.apiGroup) && reference.kind === 'PersistentVolumeClaim';
    if (isCore || reference.apiGroup === 'snapshot.storage.k8s.io') spec.dataSource = deepCopy(reference);
  }
}

const claim: Preparation = {
  create: alignSources,
  update(object, _old, subresource) {
    if (subresource === '') alignSources(object);
  },
};

const persistentVolume: Preparation = {
  create(object, { timestamp }) {
    object.status = { ...object.status, lastPhaseTransitionTime: timestamp };
  },
  update(object, old, subresource, timestamp) {
    if (subresource === 'resize') keepAllButSizes(object, old);
    if (subresource === '') settleGrace(mappingAt(object, 'spec'));
    if (subresource !== 'status') return;
    const [status, before] = [mappingAt(object, 'status'), mappingAt(old, 'status')];
    if (status.lastPhaseTransitionTime !== undefined) return;
    status.lastPhaseTransitionTime = status.phase === before.phase ? before.lastPhaseTransitionTime : timestamp;
    if (status.lastPhaseTransitionTime === undefined) delete status.lastPhaseTransitionTime;
  },
};

const definition: Preparation = {
  create(object) {
    const storage = itemsOf(mappingAt(object, 'spec'), 'versions').find((version) => version.storage === true);
    object.status = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storage === undefined ? null : [storage.name],
    };
  },
  update(object, _old, subresource) {
    if (subresource !== '') return;
    // A version that becomes the storage one is remembered as stored at once.
    const storage = itemsOf(mappingAt(object, 'spec'), 'versions').find((version) => version.storage === true);
    const status = mappingAt(object, 'status');
    const stored = Array.isArray(status.storedVersions) ? status.storedVersions : [];
    if (storage !== undefined && !stored.includes(storage.name)) status.storedVersions = [...stored, storage.name];
  },
};

/** No rules are nothing at all. */
const role: Preparation = {
  create: dropNoRules,
  update: dropNoRules,
};

function dropNoRules(object: ServedObject): void {
  if (Array.isArray(object.rules) && object.rules.length === 0) object.rules = null;
}

/** By the name in the table of types. */
export const preparations: ReadonlyMap<string, Preparation> = new Map(
  Object.entries({
    'core.Namespace': namespace,
    'core.Pod': pod,
    'core.Service': service,
    'core.Node': node,
    'core.Event': event,
    'core.PersistentVolume': persistentVolume,
    'core.PersistentVolumeClaim': claim,
    'apps.Deployment': deployment,
    'apps.DaemonSet': daemonSet,
    'events.Event': event,
    'batch.Job': job,
    'rbac.ClusterRole': role,
    'rbac.Role': role,
    ...otherPreparations,
    'apiextensions.CustomResourceDefinition': definition,
  }),
);
