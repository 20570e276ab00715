/** Which pods stand behind a service, and where they would listen. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { StoreEvent } from '../../contracts/store.js';
import type { Place } from '../decisions.js';
import { PODS } from '../pods/kubelet.js';
import { hasEnded, isReady, isTerminating } from '../workloads/pods-of-templates.js';
import type { World } from '../world.js';

export const SERVICES = 'services';

export interface Backend {
  readonly pod: ServedObject;
  readonly ip: string;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** By which it can be found beside its address. */
  readonly hostname: string | undefined;
}

/** Pods that listen on the same ports. */
export interface BackendGroup {
  readonly ports: readonly Mapping[];
  readonly backends: readonly Backend[];
}

/** Does the service have backends that follow its selector? */
export const isFollowed = ({ spec }: ServedObject): boolean =>
  spec.type !== 'ExternalName' && Object.keys(spec.selector ?? {}).length > 0;

const isSelected = ({ spec }: ServedObject, labels: Readonly<Record<string, string>> | undefined): boolean =>
  Object.entries(spec.selector ?? {}).every(([key, value]) => labels?.[key] === value);

/** Services that select the pod, or did so before. */
export function servicesOf({ object, previous }: StoreEvent, world: World): readonly Place[] {
  const { namespace } = object;
  return world
    .list(SERVICES, namespace)
    .filter((service) => isFollowed(service))
    .filter((service) => [object, previous].some((pod) => pod !== undefined && isSelected(service, pod.labels)))
    .map(({ metadata }) => ({ namespace, name: metadata.name ?? '' }));
}

export function backendsOf(service: ServedObject, world: World): readonly BackendGroup[] {
  const { namespace, name } = service.metadata;
  const groups: { readonly ports: readonly Mapping[]; readonly backends: Backend[] }[] = [];
  for (const pod of world.list(PODS, namespace, ({ labels }) => isSelected(service, labels))) {
    if (hasEnded(pod) || typeof pod.status?.podIP !== 'string') continue;
    const ports = portsOf(service, pod);
    const isNamed = pod.spec.hostname !== undefined && pod.spec.subdomain === name;
    const backend = {
      pod,
      ip: pod.status.podIP,
      isReady: isReady(pod),
      isTerminating: isTerminating(pod),
      hostname: isNamed ? pod.spec.hostname : undefined,
    };
    const group = groups.find((one) => deepEqual(one.ports, ports));
    if (group === undefined) groups.push({ ports, backends: [backend] });
    else group.backends.push(backend);
  }
  return groups;
}

/** Ports that the pod does not know by name are not there. */
function portsOf({ spec }: ServedObject, pod: ServedObject): readonly Mapping[] {
  const ports: readonly Mapping[] = spec.ports ?? [];
  return ports
    .flatMap(({ name, port, targetPort, protocol = 'TCP', appProtocol }) => {
      const number = typeof targetPort === 'string' ? namedPort(pod, targetPort, protocol) : (targetPort ?? port);
      if (number === undefined) return [];
      return [
        {
          ...(name === undefined ? {} : { name }),
          port: number,
          protocol,
          ...(appProtocol === undefined ? {} : { appProtocol }),
        },
      ];
    })
    .sort((a, b) => (String(a['name'] ?? '') < String(b['name'] ?? '') ? -1 : 1));
}

function namedPort({ spec }: ServedObject, wanted: string, protocol: unknown): unknown {
  for (const { ports = [] } of spec.containers ?? []) {
    for (const port of ports) if (port.name === wanted && port.protocol === protocol) return port.containerPort;
  }
  return undefined;
}

export function targetRef({ metadata }: ServedObject): Mapping {
  const { namespace, name, uid } = metadata;
  return { kind: 'Pod', namespace, name, uid };
}
