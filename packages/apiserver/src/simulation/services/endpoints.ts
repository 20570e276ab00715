/** Endpoints of services: the addresses of the pods behind them. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Decision, managed, NOTHING, type SimulatedController } from '../decisions.js';
import { PODS } from '../pods/kubelet.js';
import type { World } from '../world.js';
import { create, remove, replace } from '../writes.js';
import { type Backend, backendsOf, isFollowed, SERVICES, servicesOf, targetRef } from './backends.js';

const ENDPOINTS = 'endpoints';
const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
const HEADLESS = 'service.kubernetes.io/headless';

export const endpointsController: SimulatedController = {
  ...managed(MANAGER),
  collection: SERVICES,
  concerns: { [PODS]: servicesOf, [ENDPOINTS]: ({ object }) => [object] },
  decide(service, world, { place }): Decision {
    const existing = world.get(ENDPOINTS, place.namespace, place.name);
    if (service === undefined) {
      // What others have made is theirs.
      const isOurs = existing?.metadata.labels?.[MANAGED_BY] === MANAGER;
      return isOurs ? { writes: [remove(ENDPOINTS, existing)] } : NOTHING;
    }
    if (!isFollowed(service) || service.metadata.deletionTimestamp !== undefined) return NOTHING;
    const { name, namespace, labels: own } = service.metadata;
    const headless = service.spec.clusterIP === 'None' ? { [HEADLESS]: '' } : {};
    const labels = { ...own, ...headless, [MANAGED_BY]: MANAGER };
    const subsets = subsetsOf(service, world);
    if (existing === undefined) {
      const metadata = { name, namespace, labels };
      return { writes: [create(ENDPOINTS, { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets })] };
    }
    if (deepEqual(existing['subsets'] ?? [], subsets) && deepEqual(existing.metadata.labels, labels)) return NOTHING;
    const metadata = { ...existing.metadata, labels };
    return { writes: [replace(ENDPOINTS, { ...existing, metadata, subsets } as ServedObject)] };
  },
};

function subsetsOf(service: ServedObject, world: World): readonly Mapping[] {
  const areAllReady = service.spec.publishNotReadyAddresses === true;
  return backendsOf(service, world).flatMap(({ ports, backends }) => {
    const present = backends
      .filter(({ isTerminating }) => areAllReady || !isTerminating)
      // As there: as texts.
      .sort((a, b) => (a.ip < b.ip ? -1 : 1));
    const ready = present.filter(({ isReady }) => areAllReady || isReady).map(addressOf);
    const others = present.filter(({ isReady }) => !areAllReady && !isReady).map(addressOf);
    if (present.length === 0 || (ports.length === 0 && service.spec.clusterIP !== 'None')) return [];
    return [
      {
        ...(ready.length === 0 ? {} : { addresses: ready }),
        ...(others.length === 0 ? {} : { notReadyAddresses: others }),
        ...(ports.length === 0 ? {} : { ports }),
      },
    ];
  });
}

function addressOf({ pod, ip, hostname }: Backend): Mapping {
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    nodeName: pod.spec.nodeName,
    targetRef: targetRef(pod),
  };
}
