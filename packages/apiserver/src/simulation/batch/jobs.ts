/** Jobs run pods until enough of them have succeeded, or too many have failed. */
import { deepEqual, type Mapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Decision, managed, NOTHING, type SimulatedController, sooner } from '../decisions.js';
import { familyOf } from '../family.js';
import { podCreated, podDeleted, told } from '../notes.js';
import { PODS } from '../pods/kubelet.js';
import { byWorth, isActive, isTerminating, podOf } from '../workloads/pods-of-templates.js';
import type { World } from '../world.js';
import { create, patchMetadata, remove, replaceStatus, type Write } from '../writes.js';
import { type Count, countedPods, TRACKED } from './job-counts.js';
import { INDEX, isIndexed, nextIndexes } from './job-indexes.js';
import { endOf, finishedAt, isFinished, jobStatus, newsOf, targetOf } from './job-status.js';

export const JOBS = 'jobs.batch';
const FIRST_DELAY = 10;
const LONGEST_DELAY = 600;
/** As many pods are made or deleted at once, at most. */
const BURST = 500;
const SELF = 'kubernetes.io/job-controller';

export const jobController: SimulatedController = {
  ...managed('job-controller'),
  collection: JOBS,
  dependents: [PODS],
  decide(job, world): Decision {
    if (job === undefined || (job.spec.managedBy ?? SELF) !== SELF) return NOTHING;
    const family = familyOf(world, job, PODS);
    if (family.writes.length > 0) return family;
    const pods = family.members;
    if (isTerminating(job) || isFinished(job)) return { writes: released(pods), ...expiry(job, world) };
    const count = countedPods(job, pods);
    const target = targetOf(job, count, pods, world);
    const { writes, again } = target === undefined ? work(job, pods, count, world) : ending(pods);
    const status = jobStatus(job, { count, pods, target, timestamp: world.timestamp });
    return {
      writes: [
        // First it is written down who is counted; only then may they go.
        ...(deepEqual(status, job.status)
          ? count.settled.map(freed)
          : [told(replaceStatus(JOBS, job, status), { done: (after) => newsOf(job, after) })]),
        ...writes,
      ],
      again: sooner(again, target === undefined ? deadlineIn(job, world) : undefined),
    };
  },
};

const freed = (pod: ServedObject): Write => {
  const finalizers = (pod.metadata.finalizers ?? []).filter((one) => one !== TRACKED);
  return patchMetadata(PODS, pod, { finalizers: finalizers.length === 0 ? null : finalizers });
};

/** Pods of jobs that are over are held by nobody. */
const released = (pods: readonly ServedObject[]): readonly Write[] =>
  pods.filter(({ metadata }) => metadata.finalizers?.includes(TRACKED) === true).map(freed);

const ending = (pods: readonly ServedObject[]): Decision => ({
  writes: pods.filter(isActive).map((pod) => told(remove(PODS, pod), podDeleted(pod))),
});

function work(job: ServedObject, pods: readonly ServedObject[], count: Count, world: World): Decision {
  const active = pods.filter(isActive);
  if (job.spec.suspend === true) return ending(pods);
  const wanted = wantedOf(job, active.length, count);
  if (active.length > wanted) {
    const surplus = [...active].sort(byWorth).slice(0, active.length - wanted);
    return { writes: surplus.map((pod) => told(remove(PODS, pod), podDeleted(pod))) };
  }
  const replaced = job.spec.podReplacementPolicy === 'Failed' ? count.terminating : 0;
  const missing = Math.min(wanted - active.length - replaced, BURST);
  if (missing <= 0) return NOTHING;
  const delay = backoffIn(pods, world);
  if (delay > 0) return { writes: [], again: delay };
  const indexes = isIndexed(job) ? nextIndexes(job, active, count, missing) : Array(missing).fill(undefined);
  return { writes: indexes.map((index: number | undefined) => creation(job, index)) };
}

/** How many are to run at once. */
function wantedOf({ spec }: ServedObject, active: number, { succeeded }: Count): number {
  const parallelism: number = spec.parallelism ?? 1;
  // Where nobody says how many are enough, one success is the beginning of the end.
  if (spec.completions === undefined) return succeeded > 0 ? Math.min(active, parallelism) : parallelism;
  return Math.max(0, Math.min(parallelism, spec.completions - succeeded));
}

/** After failures, one waits longer and longer, until something succeeds. */
function backoffIn(pods: readonly ServedObject[], world: World): Seconds {
  const ends = pods
    .flatMap((pod) => {
      const end = endOf(pod);
      return end === undefined ? [] : [{ end, hasFailed: pod.status?.phase !== 'Succeeded' }];
    })
    .sort((a, b) => b.end - a.end);
  const lastSuccess = ends.findIndex(({ hasFailed }) => !hasFailed);
  const failures = lastSuccess < 0 ? ends : ends.slice(0, lastSuccess);
  const [latest] = failures;
  if (latest === undefined) return 0;
  const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (failures.length - 1));
  return Math.max(0, (latest.end - world.now) / 1000 + delay);
}

function creation(job: ServedObject, index: number | undefined): Write {
  if (index === undefined) {
    const pod = podOf(job, job.spec.template, { finalizers: [TRACKED] });
    return told(create(PODS, pod, { isReported: true }), podCreated);
  }
  const mark = { [INDEX]: String(index) };
  const pod = podOf(job, job.spec.template, { finalizers: [TRACKED], labels: mark, annotations: mark });
  const { metadata, spec } = pod as unknown as { metadata: Mapping; spec: Mapping };
  const env = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX}']` } },
  };
  const withIndex = (containers: unknown): unknown =>
    (containers as readonly { env?: readonly object[] }[] | undefined)?.map((one) => ({
      ...one,
      env: [...(one.env ?? []), env],
    }));
  const write = create(
    PODS,
    {
      ...pod,
      metadata: { ...metadata, generateName: `${job.metadata.name}-${index}-` },
      spec: {
        ...spec,
        hostname: spec['hostname'] ?? `${job.metadata.name}-${index}`,
        containers: withIndex(spec['containers']),
        ...(spec['initContainers'] === undefined ? {} : { initContainers: withIndex(spec['initContainers']) }),
      },
    },
    { isReported: true },
  );
  return told(write, podCreated);
}

function deadlineIn({ spec, status }: ServedObject, world: World): Seconds | undefined {
  if (spec.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined;
  return Math.max(0, (Date.parse(status.startTime) - world.now) / 1000 + spec.activeDeadlineSeconds);
}

/** Finished jobs go after a while, if they are told to. */
function expiry(job: ServedObject, world: World): Pick<Decision, 'again'> & { readonly writes?: readonly Write[] } {
  const ttl: number | undefined = job.spec.ttlSecondsAfterFinished;
  const end = finishedAt(job);
  if (ttl === undefined || end === undefined || isTerminating(job)) return {};
  const left = (end - world.now) / 1000 + ttl;
  return left > 0 ? { again: left } : { writes: [remove(JOBS, job, { propagationPolicy: 'Foreground' })] };
}
