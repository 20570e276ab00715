/** What jobs say of themselves, and when they are over. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Condition, findCondition } from '../conditions.js';
import { type Note, normal, warning } from '../notes.js';
import { isActive } from '../workloads/pods-of-templates.js';
import type { World } from '../world.js';
import type { Count } from './job-counts.js';
import { formatIndexes, isIndexed } from './job-indexes.js';

/** How a job is going to end, as soon as nothing of it runs any more. */
export interface Target {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

const conditionsOf = ({ status }: ServedObject): readonly Condition[] => status?.conditions ?? [];

const isTrue = (job: ServedObject, type: string): boolean => findCondition(conditionsOf(job), type)?.status === 'True';

export const isFinished = (job: ServedObject): boolean => isTrue(job, 'Complete') || isTrue(job, 'Failed');

/** In milliseconds. */
export function finishedAt(job: ServedObject): number | undefined {
  const end = conditionsOf(job).find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  return end?.lastTransitionTime === undefined ? undefined : Date.parse(end.lastTransitionTime);
}

/** What has become of the job since it was like that. */
export function newsOf(before: ServedObject, after: ServedObject): readonly Note[] {
  const isNews = ({ type, status }: Condition): boolean => findCondition(conditionsOf(before), type)?.status !== status;
  return conditionsOf(after)
    .filter(isNews)
    .flatMap(({ type, status, reason = '', message = '' }) => {
      if (type === 'Suspended') return status === 'True' ? normal('Suspended', message) : normal('Resumed', message);
      if (type === 'Complete') return normal('Completed', 'Job completed');
      return type === 'Failed' ? warning(reason, message) : [];
    });
}

/** When the containers of the pod ended, in milliseconds; `undefined` if they did not. */
export function endOf({ status, metadata }: ServedObject): number | undefined {
  const isOver =
    status?.phase === 'Succeeded' || status?.phase === 'Failed' || metadata.deletionTimestamp !== undefined;
  if (!isOver) return undefined;
  const containers: readonly { state?: { terminated?: { finishedAt?: string } } }[] = status?.containerStatuses ?? [];
  const ends = containers.flatMap(({ state }) => state?.terminated?.finishedAt ?? []).map((time) => Date.parse(time));
  return ends.length > 0
    ? Math.max(...ends)
    : Date.parse(metadata.deletionTimestamp ?? metadata.creationTimestamp ?? '');
}

/** What was decided before stays; otherwise what the counts and the time say. */
export function targetOf(
  job: ServedObject,
  count: Count,
  pods: readonly ServedObject[],
  world: World,
): Target | undefined {
  const { spec, status } = job;
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const old = findCondition(conditionsOf(job), type);
    if (old?.status === 'True') return { type, reason: old.reason ?? '', message: old.message ?? '' };
  }
  if (count.failed > spec.backoffLimit || isPastLimitByRestarts(job, pods)) {
    const message = 'Job has reached the specified backoff limit';
    return { type: 'FailureTarget', reason: 'BackoffLimitExceeded', message };
  }
  const { activeDeadlineSeconds: deadline, suspend } = spec;
  const isRunning = suspend !== true && status?.startTime !== undefined;
  if (deadline !== undefined && isRunning && world.now - Date.parse(status.startTime) >= deadline * 1000) {
    const message = 'Job was active longer than specified deadline';
    return { type: 'FailureTarget', reason: 'DeadlineExceeded', message };
  }
  const isEnough =
    spec.completions === undefined
      ? count.succeeded > 0 && count.active === 0
      : count.succeeded >= spec.completions && suspend !== true;
  if (!isEnough) return undefined;
  const message = 'Reached expected number of succeeded pods';
  return { type: 'SuccessCriteriaMet', reason: 'CompletionsReached', message };
}

/** Where pods restart by themselves, their restarts are the failures. */
function isPastLimitByRestarts({ spec }: ServedObject, pods: readonly ServedObject[]): boolean {
  if (spec.template.spec.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of pods.filter(isActive)) {
    for (const { restartCount = 0 } of status?.containerStatuses ?? []) restarts += restartCount;
  }
  return spec.backoffLimit === 0 ? restarts > 0 : restarts >= spec.backoffLimit;
}

interface Report {
  readonly count: Count;
  readonly pods: readonly ServedObject[];
  readonly target: Target | undefined;
  readonly timestamp: string;
}

export function jobStatus(job: ServedObject, { count, target, timestamp }: Report): Mapping {
  const { spec, status } = job;
  const isSuspended = spec.suspend === true && target === undefined;
  const isOver =
    target !== undefined &&
    count.active === 0 &&
    count.terminating === 0 &&
    count.settled.length === 0 &&
    count.uncounted.succeeded.length + count.uncounted.failed.length === 0;
  const isSuccess = target?.type === 'SuccessCriteriaMet';
  let conditions = withSuspension(job, isSuspended, timestamp);
  if (target !== undefined) conditions = withNew(conditions, target, timestamp);
  if (isOver) conditions = withNew(conditions, { ...target, type: isSuccess ? 'Complete' : 'Failed' }, timestamp);
  const startTime = isSuspended ? undefined : (status?.startTime ?? timestamp);
  const { succeeded, failed } = count.counted;
  return {
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(startTime === undefined ? {} : { startTime }),
    ...(isOver && isSuccess ? { completionTime: timestamp } : {}),
    ...(count.active > 0 ? { active: count.active } : {}),
    ...(succeeded > 0 ? { succeeded } : {}),
    ...(failed > 0 ? { failed } : {}),
    terminating: count.terminating,
    ...(isIndexed(job) && count.completed.size > 0 ? { completedIndexes: formatIndexes(count.completed) } : {}),
    uncountedTerminatedPods: Object.fromEntries(Object.entries(count.uncounted).filter(([, uids]) => uids.length > 0)),
    ready: count.ready,
  };
}

function withSuspension(job: ServedObject, isSuspended: boolean, now: string): readonly Condition[] {
  const conditions = conditionsOf(job);
  const old = findCondition(conditions, 'Suspended');
  if (isSuspended === (old?.status === 'True')) return conditions;
  const told = isSuspended
    ? { status: 'True', reason: 'JobSuspended', message: 'Job suspended' }
    : { status: 'False', reason: 'JobResumed', message: 'Job resumed' };
  const condition = { type: 'Suspended', lastProbeTime: now, lastTransitionTime: now, ...told };
  return old === undefined ? [...conditions, condition] : conditions.map((one) => (one === old ? condition : one));
}

function withNew(
  conditions: readonly Condition[],
  { type, reason, message }: { readonly type: string; readonly reason: string; readonly message: string },
  now: string,
): readonly Condition[] {
  if (findCondition(conditions, type) !== undefined) return conditions;
  const condition = { type, status: 'True', lastProbeTime: now, lastTransitionTime: now, reason, message };
  return [...conditions, condition];
}
