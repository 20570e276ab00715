/** Budgets of disruptions: how many of their pods may be evicted now. */
import { deepEqual, type Mapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { OwnerRef } from '../../contracts/store.js';
import { withCondition } from '../conditions.js';
import { type Decision, managed, NOTHING, type SimulatedController, sooner } from '../decisions.js';
import { controllerOf, selectorOf } from '../family.js';
import { normal, told } from '../notes.js';
import { PODS } from '../pods/kubelet.js';
import type { World } from '../world.js';
import { replaceStatus } from '../writes.js';
import { hasEnded, isReady, isTerminating } from './pods-of-templates.js';
import { scaled } from './rollouts.js';

const BUDGETS = 'poddisruptionbudgets.policy';
/** Of kinds that can be scaled, by their names in references. */
const SCALED: Readonly<Record<string, string>> = {
  Deployment: 'deployments.apps',
  ReplicaSet: 'replicasets.apps',
  StatefulSet: 'statefulsets.apps',
};
/** An eviction that has not become a deletion by then never will. */
const PATIENCE: Seconds = 120;

export const budgetController: SimulatedController = {
  ...managed('disruption-controller', 'controllermanager'),
  collection: BUDGETS,
  concerns: {
    [PODS]: ({ object, previous }, world) =>
      world
        .list(BUDGETS, object.namespace)
        .filter((budget) => [object, previous].some((pod) => pod !== undefined && selectorOf(budget)?.(pod.labels)))
        .map(({ metadata }) => ({ namespace: object.namespace, name: metadata.name ?? '' })),
  },
  decide(budget, world): Decision {
    if (budget === undefined || isTerminating(budget)) return NOTHING;
    const selects = selectorOf(budget) ?? (() => true);
    const chosen = world.list(PODS, budget.metadata.namespace, ({ labels }) => selects(labels));
    const pods = chosen.filter((pod) => !hasEnded(pod));
    const evicted = stillGoing(budget, pods, world.now);
    const status = statusOf(budget, pods, evicted, world);
    const again = Object.values(evicted).reduce<Seconds | undefined>(
      (soonest, time) => sooner(soonest, Math.max(0, (Date.parse(time) - world.now) / 1000 + PATIENCE)),
      undefined,
    );
    if (deepEqual(status, budget.status)) return { writes: [], again };
    const notes = pods.length === 0 ? [normal('NoPods', 'No matching pods found')] : [];
    return { writes: [told(replaceStatus(BUDGETS, budget, status), { done: () => notes })], again };
  },
};

/** Those whose eviction was allowed, and who are still there as if nothing had happened. */
function stillGoing({ status }: ServedObject, pods: readonly ServedObject[], now: number): Record<string, string> {
  const noted: Readonly<Record<string, string>> = status?.disruptedPods ?? {};
  const present = new Set(pods.filter((pod) => !isTerminating(pod)).map(({ metadata }) => metadata.name));
  const isPending = ([name, time]: [string, string]): boolean =>
    present.has(name) && now - Date.parse(time) < PATIENCE * 1000;
  return Object.fromEntries(Object.entries(noted).filter(isPending));
}

function statusOf(budget: ServedObject, pods: readonly ServedObject[], evicted: Mapping, world: World): Mapping {
  const { spec, metadata, status } = budget;
  const isHealthy = (pod: ServedObject): boolean =>
    isReady(pod) && !isTerminating(pod) && evicted[pod.metadata.name ?? ''] === undefined;
  const currentHealthy = pods.filter(isHealthy).length;
  const isByScale = spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
  const expectedPods = isByScale ? wantedOf(pods, world) : pods.length;
  const desiredHealthy =
    spec.maxUnavailable === undefined
      ? scaled(spec.minAvailable ?? 0, expectedPods, Math.ceil)
      : Math.max(0, expectedPods - scaled(spec.maxUnavailable, expectedPods, Math.ceil));
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const isAllowed = disruptionsAllowed > 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    observedGeneration: metadata.generation,
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  };
  return {
    observedGeneration: metadata.generation,
    ...(Object.keys(evicted).length === 0 ? {} : { disruptedPods: evicted }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: withCondition(status?.conditions ?? [], condition, world.timestamp),
  };
}

/** How many pods there should be, by those who make them. */
function wantedOf(pods: readonly ServedObject[], world: World): number {
  const scales = new Map<string, number>();
  let others = 0;
  for (const pod of pods) {
    const owner = topOf(pod, world);
    if (owner === undefined) others++;
    else scales.set(owner.metadata.uid ?? '', owner.spec.replicas ?? 1);
  }
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, others);
}

/** The controller of the pod, or the controller of that. */
function topOf({ metadata }: ServedObject, world: World): ServedObject | undefined {
  const owners = (metadata.ownerReferences ?? []) as readonly OwnerRef[];
  const reference = controllerOf({ owners });
  const collection = reference === undefined ? undefined : SCALED[reference.kind];
  if (reference === undefined || collection === undefined) return undefined;
  const owner = world.get(collection, metadata.namespace ?? '', reference.name);
  return owner === undefined ? undefined : (topOf(owner, world) ?? owner);
}
