/** What some built-in kinds do to their objects before these are stored, beyond defaults. */
import { deepCopy, deepEqual, isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import { itemsOf, mappingAt, maybeMapping } from './defaults/setting.js';
import type { PreparationContext, Strategy } from './served.js';

interface Preparation {
  create?(object: ServedObject, context: PreparationContext): void;
  update?(object: ServedObject, old: ServedObject, subresource: string): void;
  readonly gracePeriod?: NonNullable<Strategy['gracePeriod']>;
  readonly fieldValue?: NonNullable<Strategy['fieldValue']>;
}

/** The number of free ones is large, and nothing routes to them anyway. */
function addressOf(uid: string): string {
  const number = Number.parseInt(uid.slice(0, 4), 16);
  return `10.96.${number >>> 8}.${number & 255 || 1}`;
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

function qualityOf(spec: Mapping): string {
  const containers = [...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')];
  const lists = containers.map((container) => {
    const resources = maybeMapping(container, 'resources');
    return { requests: maybeMapping(resources, 'requests') ?? {}, limits: maybeMapping(resources, 'limits') ?? {} };
  });
  const counted = ['cpu', 'memory'];
  const has = (list: Mapping): boolean => counted.some((name) => list[name] !== undefined && list[name] !== '0');
  if (!lists.some(({ requests, limits }) => has(requests) || has(limits))) return 'BestEffort';
  const isGuaranteed = lists.every(({ requests, limits }) =>
    counted.every((name) => limits[name] !== undefined && requests[name] === limits[name]),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

const pod: Preparation = {
  create(object) {
    const spec = mappingAt(object, 'spec');
    object.status = { phase: 'Pending', qosClass: qualityOf(spec) };
    // What the admission plugins of every cluster set.
    spec.priority ??= 0;
    spec.preemptionPolicy ??= 'PreemptLowerPriority';
    if (spec.tolerations === undefined) {
      spec.tolerations = ['not-ready', 'unreachable'].map((name) => ({
        key: `node.kubernetes.io/${name}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      }));
    }
  },
  update(object, old, subresource) {
    if (subresource !== 'status') return;
    const status = mappingAt(object, 'status');
    // The lists are younger than the fields; clients that know only the fields get the lists, too.
    for (const [one, all] of [
      ['podIP', 'podIPs'],
      ['hostIP', 'hostIPs'],
    ] as const) {
      if (typeof status[one] === 'string' && status[all] === undefined) status[all] = [{ ip: status[one] }];
    }
    if (old.metadata.ownerReferences === undefined) delete object.metadata.ownerReferences;
    else object.metadata.ownerReferences = deepCopy(old.metadata.ownerReferences);
  },
  gracePeriod(object, requested) {
    const spec = mappingAt(object, 'spec');
    const { phase } = mappingAt(object, 'status');
    if (spec.nodeName === undefined || spec.nodeName === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
    const configured = typeof spec.terminationGracePeriodSeconds === 'number' ? spec.terminationGracePeriodSeconds : 0;
    return Math.max(0, requested ?? configured);
  },
  fieldValue(object, path) {
    if (path === 'spec.hostNetwork') return String(mappingAt(object, 'spec').hostNetwork === true);
    if (path === 'status.podIPs') return String(mappingAt(object, 'status').podIP ?? '');
    return undefined;
  },
};

const service: Preparation = {
  create(object) {
    const spec = mappingAt(object, 'spec');
    object.status = { loadBalancer: {} };
    if (spec.type === 'ExternalName') return;
    if (spec.clusterIP === undefined || spec.clusterIP === '') spec.clusterIP = addressOf(object.metadata.uid ?? '');
    spec.clusterIPs ??= [spec.clusterIP];
    // Without a selector and an address, it may be anything.
    const isAnything = spec.clusterIP === 'None' && Object.keys(maybeMapping(spec, 'selector') ?? {}).length === 0;
    spec.ipFamilies ??= isAnything ? ['IPv4', 'IPv6'] : ['IPv4'];
    spec.ipFamilyPolicy ??= isAnything ? 'RequireDualStack' : 'SingleStack';
    if (spec.type === 'ClusterIP') return;
    for (const [index, port] of itemsOf(spec, 'ports').entries()) {
      port.nodePort ??= 30_000 + ((Number.parseInt((object.metadata.uid ?? '0').slice(4, 8), 16) + index) % 2768);
    }
  },
  update(object, old, subresource) {
    if (subresource !== '') return;
    const spec = mappingAt(object, 'spec');
    const before = mappingAt(old, 'spec');
    if (spec.type === 'ExternalName') return;
    // What was allocated stays, even if the client did not know of it.
    for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      if ((spec[key] === undefined || spec[key] === '') && before[key] !== undefined) spec[key] = deepCopy(before[key]);
    }
  },
};

const job: Preparation = {
  create(object) {
    const spec = mappingAt(object, 'spec');
    if (spec.manualSelector === true) return;
    const uid = object.metadata.uid ?? '';
    const labels = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': object.metadata.name,
      'controller-uid': uid,
      'job-name': object.metadata.name,
    };
    const metadata = mappingAt(mappingAt(spec, 'template'), 'metadata');
    const all = { ...(isMapping(metadata.labels) ? metadata.labels : {}), ...labels };
    metadata.labels = all;
    if (Object.keys(object.metadata.labels ?? {}).length === 0) {
      object.metadata.labels = { ...all } as Record<string, string>;
    }
    spec.selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
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
    if (subresource !== '') return;
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const isChanged = !deepEqual(mappingAt(object, 'spec').template, mappingAt(old, 'spec').template);
    mappingAt(object.metadata, 'annotations')[TEMPLATE_GENERATION] = String(before + (isChanged ? 1 : 0));
  },
};

const persistentVolume: Preparation = {
  create(object, { timestamp }) {
    object.status = { ...object.status, lastPhaseTransitionTime: timestamp };
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

/** By the name in the table of types. */
export const preparations: ReadonlyMap<string, Preparation> = new Map(
  Object.entries({
    'core.Namespace': namespace,
    'core.Pod': pod,
    'core.Service': service,
    'core.Node': node,
    'core.Event': event,
    'core.PersistentVolume': persistentVolume,
    'apps.Deployment': deployment,
    'apps.DaemonSet': daemonSet,
    'events.Event': event,
    'batch.Job': job,
    'apiextensions.CustomResourceDefinition': definition,
  }),
);
