/** What deployments say of themselves: how many of what, and whether they get on. */
import type { Mapping, Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Condition, findCondition } from '../conditions.js';
import type { World } from '../world.js';
import { mostUnavailable, type Rollout } from './rollouts.js';

interface DeploymentCondition extends Condition {
  readonly lastUpdateTime: string;
  readonly lastTransitionTime: string;
}

export interface DeploymentStatus extends Mapping {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly conditions?: readonly DeploymentCondition[];
}

const AVAILABLE = 'Available';
const PROGRESSING = 'Progressing';
const FAILURE = 'ReplicaFailure';
const DONE = 'NewReplicaSetAvailable';
const TIMED_OUT = 'ProgressDeadlineExceeded';
const PAUSED = 'DeploymentPaused';
/** Some write it down when they want none. */
const NO_DEADLINE = 2 ** 31 - 1;

const deadlineOf = ({ spec }: ServedObject): Seconds | undefined =>
  spec.progressDeadlineSeconds === NO_DEADLINE ? undefined : spec.progressDeadlineSeconds;

const statusOf = ({ status }: ServedObject): DeploymentStatus => status ?? {};

/** The counts, and whether there are enough. */
export function countedStatus(
  deployment: ServedObject,
  rollout: Rollout,
  sets: readonly ServedObject[],
  newSet: ServedObject | undefined,
  now: string,
): DeploymentStatus {
  const { metadata, status } = deployment;
  const total = (field: string): number => sets.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0);
  const available = total('availableReplicas');
  const wanted = sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
  const counts = {
    observedGeneration: metadata.generation ?? 0,
    replicas: total('replicas'),
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: total('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
  };
  const isEnough = available >= rollout.replicas - mostUnavailable(rollout);
  const condition = isEnough
    ? conditionOf(AVAILABLE, 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', now)
    : conditionOf(
        AVAILABLE,
        'False',
        'MinimumReplicasUnavailable',
        'Deployment does not have minimum availability.',
        now,
      );
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: total('terminatingReplicas'),
    ...(status?.collisionCount === undefined ? {} : { collisionCount: status.collisionCount }),
    conditions: withDeploymentCondition(statusOf(deployment).conditions ?? [], condition),
  };
}

/** The same with what there is to say of the progress since the last time. */
export function progressedStatus(
  deployment: ServedObject,
  counted: DeploymentStatus,
  sets: readonly ServedObject[],
  newSet: ServedObject | undefined,
  world: World,
): DeploymentStatus {
  const now = world.timestamp;
  const current = findCondition(counted.conditions, PROGRESSING);
  const isOldNews = counted.replicas === counted.updatedReplicas && current?.reason === DONE;
  let conditions = counted.conditions ?? [];
  if (deadlineOf(deployment) !== undefined && !isOldNews) {
    const who =
      newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
    if (isComplete(deployment, counted)) {
      const condition = conditionOf(PROGRESSING, 'True', DONE, `${who} has successfully progressed.`, now);
      conditions = withDeploymentCondition(conditions, condition);
    } else if (hasProgressed(statusOf(deployment), counted)) {
      const condition = conditionOf(PROGRESSING, 'True', 'ReplicaSetUpdated', `${who} is progressing.`, now);
      // Each step counts anew: the deadline is one of standing still.
      const isSame = current?.status === 'True';
      const others = conditions.filter(({ type }) => type !== PROGRESSING);
      conditions = [...others, isSame ? { ...condition, lastTransitionTime: current.lastTransitionTime } : condition];
    } else if ((timeLeft(deployment, counted, world.now) ?? 0) < 0) {
      const condition = conditionOf(PROGRESSING, 'False', TIMED_OUT, `${who} has timed out progressing.`, now);
      conditions = withDeploymentCondition(conditions, condition);
    }
  }
  const failure = failureOf(sets, newSet);
  conditions =
    failure === undefined
      ? conditions.filter(({ type }) => type !== FAILURE)
      : withDeploymentCondition(conditions, {
          ...conditionOf(FAILURE, failure.status, failure.reason ?? '', failure.message ?? '', now),
          lastTransitionTime: failure.lastTransitionTime ?? now,
        });
  return { ...counted, conditions };
}

/** What has just become of the new set is told at once: it begins the time of the progress. */
export function withNewSet(
  deployment: ServedObject,
  name: string,
  how: 'created' | 'found',
  now: string,
): readonly DeploymentCondition[] {
  const conditions = statusOf(deployment).conditions ?? [];
  if (deadlineOf(deployment) === undefined) return conditions;
  if (how === 'found' && findCondition(conditions, PROGRESSING) !== undefined) return conditions;
  const condition =
    how === 'created'
      ? conditionOf(PROGRESSING, 'True', 'NewReplicaSetCreated', `Created new replica set "${name}"`, now)
      : conditionOf(PROGRESSING, 'True', 'FoundNewReplicaSet', `Found new replica set "${name}"`, now);
  return withDeploymentCondition(conditions, condition);
}

/** The new set could not be created. */
export function withoutNewSet(
  deployment: ServedObject,
  name: string,
  failure: string,
  now: string,
): readonly DeploymentCondition[] {
  const conditions = statusOf(deployment).conditions ?? [];
  if (deadlineOf(deployment) === undefined) return conditions;
  const message = `Failed to create new replica set "${name}": ${failure}`;
  return withDeploymentCondition(conditions, conditionOf(PROGRESSING, 'False', 'ReplicaSetCreateError', message, now));
}

/** Paused and resumed deployments say so; `undefined` if there is nothing new to say. */
export function pausedConditions(deployment: ServedObject, now: string): readonly DeploymentCondition[] | undefined {
  if (deadlineOf(deployment) === undefined) return undefined;
  const conditions = statusOf(deployment).conditions ?? [];
  const current = findCondition(conditions, PROGRESSING);
  if (current?.reason === TIMED_OUT) return undefined;
  const isPaused = deployment.spec.paused === true;
  if (isPaused === (current?.reason === PAUSED)) return undefined;
  const condition = isPaused
    ? conditionOf(PROGRESSING, 'Unknown', PAUSED, 'Deployment is paused', now)
    : conditionOf(PROGRESSING, 'Unknown', 'DeploymentResumed', 'Deployment is resumed', now);
  return withDeploymentCondition(conditions, condition);
}

/** All replicas are new, and available, and no others are left. */
export function isComplete({ spec, metadata }: ServedObject, status: DeploymentStatus): boolean {
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  const isObserved = observedGeneration >= (metadata.generation ?? 0);
  return [updatedReplicas, replicas, availableReplicas].every((count) => count === (spec.replicas ?? 1)) && isObserved;
}

/** Seconds until it has stood still for too long; negative if it has, `undefined` if it never can. */
export function timeLeft(deployment: ServedObject, status: DeploymentStatus, now: number): Seconds | undefined {
  const current = findCondition(status.conditions, PROGRESSING);
  const deadline = deadlineOf(deployment);
  if (current === undefined || current.reason === DONE || deadline === undefined) return undefined;
  if (current.reason === TIMED_OUT) return -1;
  return (Date.parse(current.lastUpdateTime) - now) / 1000 + deadline;
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const oldOnes = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  const grows = (field: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean =>
    (after[field] ?? 0) > (before[field] ?? 0);
  return (
    grows('updatedReplicas') || oldOnes(after) < oldOnes(before) || grows('readyReplicas') || grows('availableReplicas')
  );
}

/** The new set's, or else that of any other. */
function failureOf(sets: readonly ServedObject[], newSet: ServedObject | undefined): Condition | undefined {
  const own = findCondition<Condition>(newSet?.status?.conditions, FAILURE);
  if (own !== undefined) return own;
  for (const { status } of sets) {
    const failure = findCondition<Condition>(status?.conditions, FAILURE);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function conditionOf(type: string, status: string, reason: string, message: string, now: string): DeploymentCondition {
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}

/** Nothing changes if it says the same as before, in other words or not; what is new comes last. */
function withDeploymentCondition(
  conditions: readonly DeploymentCondition[],
  condition: DeploymentCondition,
): readonly DeploymentCondition[] {
  const old = findCondition(conditions, condition.type);
  if (old?.status === condition.status && old.reason === condition.reason) return conditions;
  const { lastTransitionTime } = old?.status === condition.status ? old : condition;
  return [...conditions.filter((one) => one !== old), { ...condition, lastTransitionTime }];
}
