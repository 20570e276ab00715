/** ReplicaSets keep as many pods as they are told to. */
import { deepEqual, type Mapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Condition, findCondition, withCondition } from '../conditions.js';
import { type Decision, managed, NOTHING, type SimulatedController } from '../decisions.js';
import { familyOf } from '../family.js';
import { podCreated, podDeleted, told } from '../notes.js';
import { PODS } from '../pods/kubelet.js';
import type { World } from '../world.js';
import { create, remove, replaceStatus, type Write } from '../writes.js';
import { availableIn, byWorth, isActive, isReady, isTerminating, podOf } from './pods-of-templates.js';

export const REPLICA_SETS = 'replicasets.apps';
/** As many pods are made or deleted at once, at most. */
const BURST = 500;

export const replicaSetController: SimulatedController = {
  ...managed('replicaset-controller'),
  collection: REPLICA_SETS,
  dependents: [PODS],
  decide(set, world, { failure }): Decision {
    if (set === undefined) return NOTHING;
    const family = familyOf(world, set, PODS);
    if (family.writes.length > 0) return family;
    const active = family.members.filter(isActive);
    const terminating = family.members.filter(isTerminating).length;
    const { status, again } = statusOf(set, active, terminating, world, failure);
    return {
      writes: [
        ...(isTerminating(set) ? [] : changesOf(set, active)),
        ...(deepEqual(status, set.status) ? [] : [replaceStatus(REPLICA_SETS, set, status)]),
      ],
      again,
    };
  },
};

function changesOf(set: ServedObject, active: readonly ServedObject[]): readonly Write[] {
  const missing = (set.spec.replicas ?? 1) - active.length;
  if (missing > 0) {
    const pod = podOf(set, set.spec.template);
    return Array.from({ length: Math.min(missing, BURST) }, () =>
      told(create(PODS, pod, { isReported: true }), podCreated),
    );
  }
  return [...active]
    .sort(byWorth)
    .slice(0, Math.min(-missing, BURST))
    .map((pod) => told(remove(PODS, pod), podDeleted(pod)));
}

function statusOf(
  set: ServedObject,
  active: readonly ServedObject[],
  terminating: number,
  world: World,
  failure: string | undefined,
): { readonly status: Mapping; readonly again: Seconds | undefined } {
  const { spec, metadata } = set;
  const labels = Object.entries(spec.template?.metadata?.labels ?? {});
  const isLabelled = (pod: ServedObject): boolean =>
    labels.every(([key, value]) => pod.metadata.labels?.[key] === value);
  const waits = active.map((pod) => availableIn(pod, spec.minReadySeconds, world.now));
  const counts = {
    fullyLabeledReplicas: active.filter(isLabelled).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: waits.filter((wait) => wait === 0).length,
  };
  const conditions = conditionsOf(set, failure, world);
  const status = {
    replicas: active.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: terminating,
    observedGeneration: metadata.generation,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
  const next = Math.min(...waits.filter((wait) => wait > 0));
  return { status, again: Number.isFinite(next) ? next : undefined };
}

const FAILURE = 'ReplicaFailure';

function conditionsOf({ status }: ServedObject, failure: string | undefined, world: World): readonly Condition[] {
  const before: readonly Condition[] = status?.conditions ?? [];
  if (failure === undefined) return before.filter(({ type }) => type !== FAILURE);
  // It is told once, even if the reasons change.
  if (findCondition(before, FAILURE) !== undefined) return before;
  return withCondition(
    before,
    { type: FAILURE, status: 'True', reason: 'FailedCreate', message: failure },
    world.timestamp,
  );
}
