/** Deployments lead from one replica set to the next. */
import { deepEqual } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Decision, managed, NOTHING, type SimulatedController } from '../decisions.js';
import { controllerOf, familyOf } from '../family.js';
import { normal, told, warning } from '../notes.js';
import { PODS } from '../pods/kubelet.js';
import type { World } from '../world.js';
import { create, remove, replace, type Write } from '../writes.js';
import {
  annotationsOf,
  byAge,
  desiredOf,
  maxReplicasOf,
  newSet,
  newSetName,
  newSetOf,
  nextRevision,
  REVISION,
  revisionOf,
  scaleAnnotations,
} from './deployment-revisions.js';
import {
  countedStatus,
  type DeploymentStatus,
  isComplete,
  pausedConditions,
  progressedStatus,
  timeLeft,
  withNewSet,
  withoutNewSet,
} from './deployment-status.js';
import { hasEnded, isTerminating } from './pods-of-templates.js';
import { REPLICA_SETS } from './replica-sets.js';
import { newSetSize, oldSetSizes, proportionalSizes, type Rollout, rolloutOf, type SetSize } from './rollouts.js';

const DEPLOYMENTS = 'deployments.apps';
const SCALING = 'ScalingReplicaSet';

/** A deployment with its replica sets, the oldest first. */
interface Scene {
  readonly deployment: ServedObject;
  readonly world: World;
  readonly rollout: Rollout;
  readonly sets: readonly ServedObject[];
  readonly fresh: ServedObject | undefined;
  readonly old: readonly ServedObject[];
}

export const deploymentController: SimulatedController = {
  ...managed('deployment-controller'),
  collection: DEPLOYMENTS,
  dependents: [REPLICA_SETS],
  decide(deployment, world, { failure }): Decision {
    if (deployment === undefined) return NOTHING;
    const family = familyOf(world, deployment, REPLICA_SETS);
    if (family.writes.length > 0) return family;
    const scene = sceneOf(deployment, world, [...family.members].sort(byAge));
    if (isTerminating(deployment)) return { writes: statusWrites(scene, counted(scene)) };
    const conditions = pausedConditions(deployment, world.timestamp);
    if (conditions !== undefined) return { writes: statusWrites(scene, { ...deployment.status, conditions }) };
    const isPaused = deployment.spec.paused === true;
    if (isPaused || isBeingScaled(scene)) {
      const writes = [...scaling(scene), ...(isPaused ? cleanup(scene) : [])];
      return { writes: [...writes, ...statusWrites(scene, counted(scene))] };
    }
    return deployment.spec.strategy?.type === 'Recreate' ? recreation(scene, failure) : rolling(scene, failure);
  },
};

function sceneOf(deployment: ServedObject, world: World, sets: readonly ServedObject[]): Scene {
  const { spec } = deployment;
  const isRolling = spec.strategy?.type !== 'Recreate';
  const replicas = spec.replicas ?? 1;
  const rollout = isRolling
    ? rolloutOf(replicas, spec.strategy?.rollingUpdate)
    : { replicas, maxSurge: 0, maxUnavailable: 0 };
  const fresh = newSetOf(deployment, sets);
  return { deployment, world, rollout, sets, fresh, old: sets.filter((set) => set !== fresh) };
}

const sizeOf = ({ spec, status }: ServedObject): SetSize => ({
  replicas: spec.replicas ?? 0,
  available: status?.availableReplicas ?? 0,
});

const isUsed = ({ spec }: ServedObject): boolean => (spec.replicas ?? 0) > 0;

// Rolling updates: the new one grows and the old ones shrink, in turns.

function rolling(scene: Scene, failure: string | undefined): Decision {
  const { fresh, old, rollout } = scene;
  if (fresh === undefined) return creation(scene, failure);
  const found = foundSet(scene, fresh);
  if (found !== undefined) return found;
  const size = sizeOf(fresh);
  const wanted = newSetSize(rollout, size.replicas, old.map(sizeOf));
  if (wanted !== size.replicas) return progress(scene, [scaledTo(scene, fresh, wanted)]);
  const sizes = oldSetSizes(rollout, size, old.map(sizeOf));
  const shrinking = old.flatMap((set, index) => {
    const next = sizes[index] as number;
    return next === set.spec.replicas ? [] : [scaledTo(scene, set, next)];
  });
  return progress(scene, shrinking.length > 0 ? shrinking : cleanupIfComplete(scene));
}

// Recreation: nothing new begins before the last old pod is gone.

function recreation(scene: Scene, failure: string | undefined): Decision {
  const { fresh, old, rollout } = scene;
  const shrinking = old.filter(isUsed).map((set) => scaledTo(scene, set, 0));
  if (shrinking.length > 0 || arePodsLeft(scene)) return progress(scene, shrinking);
  if (fresh === undefined) return creation(scene, failure);
  const found = foundSet(scene, fresh);
  if (found !== undefined) return found;
  const isGrown = fresh.spec.replicas === rollout.replicas;
  return progress(scene, isGrown ? cleanupIfComplete(scene) : [scaledTo(scene, fresh, rollout.replicas)]);
}

function arePodsLeft({ deployment, old, world }: Scene): boolean {
  if (old.some(({ status }) => (status?.replicas ?? 0) > 0)) return true;
  const uids = new Set(old.map(({ metadata }) => metadata.uid));
  const pods = world.list(PODS, deployment.metadata.namespace, (pod) => uids.has(controllerOf(pod)?.uid));
  return pods.some((pod) => !hasEnded(pod));
}

// The new replica set.

function creation(scene: Scene, failure: string | undefined): Decision {
  const { deployment, world, old, rollout } = scene;
  const { status } = deployment;
  const { name } = newSetName(deployment);
  if (world.get(REPLICA_SETS, deployment.metadata.namespace ?? '', name) !== undefined) {
    const collisionCount = (status?.collisionCount ?? 0) + 1;
    return { writes: statusWrites(scene, { ...status, collisionCount }) };
  }
  const revision = nextRevision(old);
  const replicas = newSetSize(rollout, 0, old.map(sizeOf));
  const set = newSet(deployment, revision, rollout, replicas);
  const conditions =
    failure === undefined
      ? withNewSet(deployment, name, 'created', world.timestamp)
      : withoutNewSet(deployment, name, failure, world.timestamp);
  return {
    writes: [
      told(create(REPLICA_SETS, set, { isReported: true }), {
        done: () => (replicas === 0 ? [] : [normal(SCALING, `Scaled up replica set ${name} from 0 to ${replicas}`)]),
        refused: (problem) => [
          warning('ReplicaSetCreateError', `Failed to create new replica set "${name}": ${problem}`),
        ],
      }),
      ...statusWrites(scene, { ...status, conditions }, failure === undefined ? String(revision) : undefined),
    ],
  };
}

/** The new set has to be known as such: by its number, and by what the deployment says of it. */
function foundSet(scene: Scene, fresh: ServedObject): Decision | undefined {
  const { deployment, old, world } = scene;
  const before = fresh.metadata.annotations ?? {};
  const annotations = annotationsOf(deployment, before, nextRevision(old));
  const { minReadySeconds } = deployment.spec;
  if (!deepEqual(annotations, before) || fresh.spec.minReadySeconds !== minReadySeconds) {
    const spec = { ...fresh.spec, minReadySeconds };
    return { writes: [replace(REPLICA_SETS, { ...fresh, metadata: { ...fresh.metadata, annotations }, spec })] };
  }
  const conditions = withNewSet(deployment, fresh.metadata.name ?? '', 'found', world.timestamp);
  const status = conditions.length === 0 ? deployment.status : { ...deployment.status, conditions };
  const writes = statusWrites(scene, status ?? {}, before[REVISION]);
  return writes.length === 0 ? undefined : { writes };
}

// Scaling in the midst of a rollout, or while it is paused.

function isBeingScaled({ deployment, sets }: Scene): boolean {
  return sets.filter(isUsed).some((set) => {
    const desired = desiredOf(set);
    return desired !== undefined && desired !== deployment.spec.replicas;
  });
}

function scaling(scene: Scene): readonly Write[] {
  const { deployment, sets, fresh, old, rollout } = scene;
  const used = sets.filter(isUsed);
  const only = used.length === 1 ? used[0] : used.length === 0 ? (fresh ?? old.at(-1)) : undefined;
  if (only !== undefined) {
    return only.spec.replicas === rollout.replicas ? [] : [scaledTo(scene, only, rollout.replicas)];
  }
  if (fresh !== undefined && isSaturated(fresh, deployment)) {
    return old.filter(isUsed).map((set) => scaledTo(scene, set, 0));
  }
  if (deployment.spec.strategy?.type === 'Recreate' || used.length === 0) return [];
  const total = used.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
  const isGrowing = rollout.replicas + rollout.maxSurge > total && rollout.replicas > 0;
  // The biggest first; of equal ones, the new get more and the old lose more.
  const inOrder = [...used].sort(
    (a, b) => (b.spec.replicas ?? 0) - (a.spec.replicas ?? 0) || (isGrowing ? byAge(b, a) : byAge(a, b)),
  );
  const before = deployment.status?.replicas ?? total;
  const sizes = proportionalSizes(
    rollout,
    inOrder.map((set) => ({ replicas: set.spec.replicas ?? 0, maxReplicas: maxReplicasOf(set) })),
    before,
  );
  return inOrder.map((set, index) => scaledTo(scene, set, sizes[index] as number));
}

function isSaturated(set: ServedObject, { spec }: ServedObject): boolean {
  return (
    set.spec.replicas === spec.replicas &&
    desiredOf(set) === spec.replicas &&
    (set.status?.availableReplicas ?? 0) === spec.replicas
  );
}

function scaledTo({ rollout }: Scene, set: ServedObject, replicas: number): Write {
  const annotations = { ...set.metadata.annotations, ...scaleAnnotations(rollout) };
  const spec = { ...set.spec, replicas };
  const before: number = set.spec.replicas ?? 0;
  const way = replicas > before ? 'up' : 'down';
  const message = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${replicas}`;
  return told(replace(REPLICA_SETS, { ...set, metadata: { ...set.metadata, annotations }, spec }), {
    done: () => (replicas === before ? [] : [normal(SCALING, message)]),
  });
}

// The history: old sets are kept for going back to them, but not all.

function cleanupIfComplete(scene: Scene): readonly Write[] {
  return isComplete(scene.deployment, scene.deployment.status ?? {}) ? cleanup(scene) : [];
}

function cleanup({ deployment, old }: Scene): readonly Write[] {
  const limit: number | undefined = deployment.spec.revisionHistoryLimit;
  if (limit === undefined) return [];
  const alive = old.filter((set) => !isTerminating(set));
  return [...alive]
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, Math.max(0, alive.length - limit))
    .filter((set) => !isUsed(set) && (set.status?.replicas ?? 0) === 0 && isObserved(set))
    .map((set) => remove(REPLICA_SETS, set));
}

const isObserved = ({ metadata, status }: ServedObject): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

// The status.

const counted = ({ deployment, rollout, sets, fresh, world }: Scene): DeploymentStatus =>
  countedStatus(deployment, rollout, sets, fresh, world.timestamp);

function progress(scene: Scene, writes: readonly Write[]): Decision {
  const { deployment, sets, fresh, world } = scene;
  const status = progressedStatus(deployment, counted(scene), sets, fresh, world);
  const left = timeLeft(deployment, status, world.now);
  return {
    writes: [...writes, ...statusWrites(scene, status)],
    // Times are in whole seconds; a moment later it is certainly over.
    again: left === undefined || left < 0 ? undefined : left + 1,
  };
}

/** With the number of the revision, if it is known. */
function statusWrites(
  { deployment }: Scene,
  status: DeploymentStatus,
  revision = deployment.metadata.annotations?.[REVISION],
): readonly Write[] {
  const { annotations } = deployment.metadata;
  if (deepEqual(status, deployment.status ?? {}) && annotations?.[REVISION] === revision) return [];
  const metadata =
    revision === undefined
      ? deployment.metadata
      : { ...deployment.metadata, annotations: { ...annotations, [REVISION]: revision } };
  return [replace(DEPLOYMENTS, { ...deployment, metadata, status }, 'status')];
}
