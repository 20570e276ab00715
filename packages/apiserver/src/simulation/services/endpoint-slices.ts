/** Slices of endpoints: the same pods once more, with more to say of each. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Decision, managed, NOTHING, type SimulatedController } from '../decisions.js';
import { ownerReference } from '../family.js';
import { PODS } from '../pods/kubelet.js';
import { create, remove, replace, type Write } from '../writes.js';
import {
  type Backend,
  type BackendGroup,
  backendsOf,
  isFollowed,
  SERVICES,
  servicesOf,
  targetRef,
} from './backends.js';

const SLICES = 'endpointslices.discovery.k8s.io';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const MANAGER = 'endpointslice-controller.k8s.io';
const SERVICE = 'kubernetes.io/service-name';
const HEADLESS = 'service.kubernetes.io/headless';

export const endpointSliceController: SimulatedController = {
  ...managed('endpointslice-controller'),
  collection: SERVICES,
  concerns: {
    [PODS]: servicesOf,
    [SLICES]: ({ object }) => {
      const name = object.labels?.[SERVICE];
      return name === undefined ? [] : [{ namespace: object.namespace, name }];
    },
  },
  decide(service, world, { place }): Decision {
    const isOurs = (labels: Readonly<Record<string, string>> | undefined): boolean =>
      labels?.[MANAGED_BY] === MANAGER && labels[SERVICE] === place.name;
    const existing = world.list(SLICES, place.namespace, ({ labels, isDeleting }) => isOurs(labels) && !isDeleting);
    // Those of a service that is gone are garbage, and are collected as such.
    if (service === undefined || !isFollowed(service) || service.metadata.deletionTimestamp !== undefined)
      return NOTHING;
    const groups = backendsOf(service, world);
    return { writes: reconciled(service, existing, groups.length === 0 ? [{ ports: [], backends: [] }] : groups) };
  },
};

/** A slice for each group: one that has the same ports already, or any that is left, or a new one. */
function reconciled(
  service: ServedObject,
  existing: readonly ServedObject[],
  groups: readonly BackendGroup[],
): readonly Write[] {
  const left = new Set(existing);
  const portsOf = (slice: ServedObject): unknown => slice['ports'] ?? [];
  const taken = groups.map(({ ports }) => {
    const slice = [...left].find((one) => deepEqual(portsOf(one), ports));
    if (slice !== undefined) left.delete(slice);
    return slice;
  });
  const writes = groups.flatMap(({ ports, backends }, index): readonly Write[] => {
    const [spare] = left;
    const slice = taken[index] ?? spare;
    if (slice !== undefined) left.delete(slice);
    const endpoints = backends.map((backend) => endpointOf(service, backend));
    const labels = labelsOf(service);
    if (slice === undefined) return [create(SLICES, newSlice(service, labels, endpoints, ports))];
    const isSame =
      deepEqual(slice['endpoints'] ?? [], endpoints) &&
      deepEqual(portsOf(slice), ports) &&
      deepEqual(slice.metadata.labels, labels);
    if (isSame) return [];
    const metadata = { ...slice.metadata, labels };
    return [replace(SLICES, { ...slice, metadata, endpoints: some(endpoints), ports: some(ports) })];
  });
  return [...writes, ...[...left].map((slice) => remove(SLICES, slice))];
}

function labelsOf({ metadata, spec }: ServedObject): Record<string, string> {
  return {
    ...metadata.labels,
    [MANAGED_BY]: MANAGER,
    [SERVICE]: metadata.name ?? '',
    ...(spec.clusterIP === 'None' ? { [HEADLESS]: '' } : {}),
  };
}

function newSlice(
  service: ServedObject,
  labels: Mapping,
  endpoints: readonly Mapping[],
  ports: readonly Mapping[],
): Mapping {
  const { name, namespace } = service.metadata;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { generateName: `${name}-`, namespace, labels, ownerReferences: [ownerReference(service)] },
    addressType: 'IPv4',
    endpoints: some(endpoints),
    ports: some(ports),
  };
}

/** Empty lists are told as nothing. */
const some = (list: readonly Mapping[]): readonly Mapping[] | null => (list.length === 0 ? null : list);

function endpointOf({ spec }: ServedObject, { pod, ip, isReady, isTerminating, hostname }: Backend): Mapping {
  const ready = spec.publishNotReadyAddresses === true || (isReady && !isTerminating);
  return {
    addresses: [ip],
    conditions: { ready, serving: isReady, terminating: isTerminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: targetRef(pod),
    nodeName: pod.spec.nodeName,
  };
}
