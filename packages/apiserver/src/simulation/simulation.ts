/** A life for workloads: a node, its pods, and all the controllers that make them; nothing of it really runs. */
import { type Clock, KopfError, type KubeClient } from '@kopf-ts/core';
import type { RunningController } from '../contracts/controller.js';
import type { ServedObject } from '../contracts/objects.js';
import type { Catalog } from '../contracts/resource.js';
import type { Containers } from '../contracts/simulated-containers.js';
import type { StoreReader } from '../contracts/store.js';
import { cronJobController } from './batch/cron-jobs.js';
import { jobController } from './batch/jobs.js';
import type { SimulatedController } from './decisions.js';
import { startLoop } from './loop.js';
import { NODE, nodeController } from './node.js';
import type { PodBehaviour } from './pods/behaviour.js';
import { kubelet, PODS } from './pods/kubelet.js';
import { printing } from './pods/printing.js';
import { scheduler } from './pods/scheduler.js';
import { endpointSliceController } from './services/endpoint-slices.js';
import { endpointsController } from './services/endpoints.js';
import { claimController, volumeController } from './volumes/claims.js';
import { budgetController } from './workloads/budget-status.js';
import { daemonSetController } from './workloads/daemon-sets.js';
import { deploymentController } from './workloads/deployments.js';
import { replicaSetController } from './workloads/replica-sets.js';
import { statefulSetController } from './workloads/stateful-sets.js';

/** Beside the node and its pods. */
const controllers: readonly SimulatedController[] = [
  claimController,
  volumeController,
  replicaSetController,
  deploymentController,
  statefulSetController,
  daemonSetController,
  jobController,
  cronJobController,
  budgetController,
  endpointsController,
  endpointSliceController,
];

/**
 * Which pods: by their namespaces, names (or the beginnings of them, `web-*`), or anything else.
 *
 * ```ts
 * import type { PodMatch } from 'kopf-ts/testing';
 * const match: PodMatch = { namespace: 'shop', name: 'web-*' };
 * ```
 */
export interface PodMatch {
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * The simulated workloads of a cluster, for tests that want more of them than annotations can say.
 *
 * ```ts
 * import { localCluster } from 'kopf-ts/testing';
 * await using cluster = await localCluster({ controllers: 'simulated' });
 * const trouble = cluster.simulation.behave({ name: 'web-*' }, { ready: false });
 * trouble.remove();
 * cluster.simulation.exit('default/backup-x7k2p', 1);
 * ```
 */
export interface Simulation {
  /** From now on, these pods behave like this. Of several rules, the last wins; annotations of a pod win over all. */
  behave(match: PodMatch, behaviour: PodBehaviour): { remove(): void };
  /** The containers of the pod (`namespace/name`) exit now, or as soon as they run. Whether they restart is up to the pod. */
  exit(pod: string, code?: number): void;
  /** The containers of the pod (`namespace/name`) print this now. */
  print(pod: string, text: string): void;
}

export interface SimulationContext {
  readonly store: StoreReader;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** How pods behave that nobody says anything of. */
  readonly pods: PodBehaviour;
  clientAs(username: string, program: string): KubeClient;
}

/** What it is for the cluster itself. */
export interface RunningSimulation extends RunningController, Simulation {
  readonly containers: Containers;
}

export function startSimulation(context: SimulationContext): RunningSimulation {
  const { store, clock } = context;
  const rules = new Set<{ readonly match: PodMatch; readonly behaviour: PodBehaviour }>();
  const saidOf = (pod: ServedObject): readonly PodBehaviour[] => [
    context.pods,
    ...[...rules].filter(({ match }) => isMatched(pod, match)).map(({ behaviour }) => behaviour),
  ];
  const node = kubelet(clock, saidOf);
  const planner = scheduler(clock, saidOf);
  const containers = printing(store, clock, saidOf);
  const unfollow = store.observe(PODS, () => containers.look());
  const loop = startLoop(
    {
      ...context,
      clientOf: ({ username, program }) => context.clientAs(username, program),
    },
    [nodeController, planner, node.controller, ...controllers],
  );
  loop.look(nodeController, { namespace: '', name: NODE });
  const lookAtPods = (): void => {
    for (const pod of store.list(PODS)) {
      loop.look(planner, pod);
      loop.look(node.controller, pod);
    }
  };
  const podOf = (text: string) => {
    const [namespace = '', name = ''] = text.split('/');
    const pod = store.get(PODS, namespace, name);
    if (pod === undefined) throw new KopfError(`There is no pod "${text}".`, { code: 'KOPF_NO_POD' });
    return pod;
  };
  return {
    get isIdle() {
      return loop.isIdle;
    },
    stop() {
      unfollow();
      return loop.stop();
    },
    containers,
    behave(match, behaviour) {
      const rule = { match, behaviour };
      rules.add(rule);
      lookAtPods();
      return {
        remove() {
          rules.delete(rule);
          lookAtPods();
        },
      };
    },
    exit(text, code = 1) {
      const pod = podOf(text);
      node.exit(pod.uid, code);
      loop.look(node.controller, pod);
    },
    print: (pod, text) => containers.print(podOf(pod).uid, text),
  };
}

function isMatched({ metadata }: ServedObject, { namespace, name, labels = {} }: PodMatch): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  if (name !== undefined && !isNamed(metadata.name ?? '', name)) return false;
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

const isNamed = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
