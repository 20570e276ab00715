/** What objects use of what quotas limit. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { compareQuantities } from '../../typed/quantity.js';
import { addQuantities } from '../../typed/quantity-sums.js';

/** Quantities by the names of resources. */
export type Usage = Readonly<Record<string, string>>;

/** Kinds that have been counted under their own names since before there was `count/…`. */
const LEGACY: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
]);
const COMPUTED = ['cpu', 'memory', 'ephemeral-storage'];

/** Of one object of that collection. */
export function usageOf(collection: string, object: ServedObject): Usage {
  const counted = `count/${collection}`;
  switch (collection) {
    case 'pods':
      return usageOfPod(object);
    case 'services':
      return { [counted]: '1', services: '1', ...usageOfService(maybeMapping(object, 'spec') ?? {}) };
    case 'persistentvolumeclaims':
      return { [counted]: '1', [collection]: '1', ...usageOfClaim(maybeMapping(object, 'spec') ?? {}) };
    default:
      return { [counted]: '1', ...(LEGACY.has(collection) ? { [collection]: '1' } : {}) };
  }
}

/** Of the names in a quota, those that objects of the collection can use. */
export function isUsedBy(collection: string, name: string): boolean {
  if (name === `count/${collection}` || (LEGACY.has(collection) && name === collection)) return true;
  switch (collection) {
    case 'pods':
      return (
        COMPUTED.includes(name) || /^(?:requests|limits)\.(?!storage$)/.test(name) || name.startsWith('hugepages-')
      );
    case 'services':
      return name === 'services.nodeports' || name === 'services.loadbalancers';
    case 'persistentvolumeclaims':
      return name === 'requests.storage' || name.includes('.storageclass.storage.k8s.io/');
    default:
      return false;
  }
}

/** Names that limit something, whatever it is. */
export function collectionOf(name: string): string | undefined {
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (LEGACY.has(name)) return name;
  return ['pods', 'services', 'persistentvolumeclaims'].find((collection) => isUsedBy(collection, name));
}

function usageOfService(spec: Mapping): Usage {
  const ports = itemsOf(spec, 'ports');
  const isBalanced = spec.type === 'LoadBalancer';
  const hasNodePorts = spec.type === 'NodePort' || (isBalanced && spec.allocateLoadBalancerNodePorts !== false);
  return {
    'services.loadbalancers': isBalanced ? '1' : '0',
    'services.nodeports': hasNodePorts ? String(ports.length) : '0',
  };
}

function usageOfClaim(spec: Mapping): Usage {
  const { storage } = maybeMapping(maybeMapping(spec, 'resources'), 'requests') ?? {};
  const size: Record<string, string> = storage === undefined ? {} : { 'requests.storage': String(storage) };
  if (typeof spec.storageClassName !== 'string' || spec.storageClassName === '') return size;
  const prefix = `${spec.storageClassName}.storageclass.storage.k8s.io/`;
  const ofClass = Object.fromEntries(Object.entries(size).map(([name, value]) => [prefix + name, value]));
  return { ...size, ...ofClass, [`${prefix}persistentvolumeclaims`]: '1' };
}

/** Pods that are done are still objects, but nothing else. */
function usageOfPod(pod: ServedObject): Usage {
  if (isDone(pod)) return { 'count/pods': '1' };
  const spec = maybeMapping(pod, 'spec') ?? {};
  const [requests, limits] = [totalOf(spec, 'requests'), totalOf(spec, 'limits')];
  const usage: Record<string, string> = { 'count/pods': '1', pods: '1' };
  for (const [name, value] of Object.entries(requests)) {
    usage[`requests.${name}`] = value;
    if (COMPUTED.includes(name) || name.startsWith('hugepages-')) usage[name] = value;
  }
  for (const [name, value] of Object.entries(limits)) usage[`limits.${name}`] = value;
  return usage;
}

function isDone({ status }: ServedObject): boolean {
  const { phase } = isMapping(status) ? status : {};
  return phase === 'Succeeded' || phase === 'Failed';
}

function totalOf(spec: Mapping, list: string): Record<string, string> {
  const total: Record<string, string> = {};
  const of = (container: Mapping): Mapping => maybeMapping(maybeMapping(container, 'resources'), list) ?? {};
  const isLasting = (container: Mapping): boolean => container.restartPolicy === 'Always';
  const initial = itemsOf(spec, 'initContainers');
  const together = [...itemsOf(spec, 'containers').map(of), ...initial.filter(isLasting).map(of)];
  for (const one of [...together, maybeMapping(spec, 'overhead') ?? {}]) {
    for (const [name, value] of Object.entries(one)) total[name] = addQuantities(total[name] ?? '0', String(value));
  }
  for (const one of initial.filter((container) => !isLasting(container)).map(of)) {
    for (const [name, value] of Object.entries(one)) {
      if (compareQuantities(String(value), total[name] ?? '0') > 0) total[name] = String(value);
    }
  }
  return total;
}
