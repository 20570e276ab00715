/**
 * How the pods of a job are counted, each of them once, even if they are deleted in between. A pod is held by a
 * finalizer until the status has its name; then it is let go; then it becomes a number.
 */
import type { ServedObject } from '../../contracts/objects.js';
import { isActive, isReady, isTerminating } from '../workloads/pods-of-templates.js';
import { indexOf, isIndexed, parseIndexes } from './job-indexes.js';

export const TRACKED = 'batch.kubernetes.io/job-tracking';

export interface Count {
  /** In all, with those that are not numbers yet. */
  readonly succeeded: number;
  readonly failed: number;
  readonly active: number;
  readonly ready: number;
  /** Deleted, but not ended yet. */
  readonly terminating: number;
  /** The numbers that have succeeded, of indexed jobs. */
  readonly completed: ReadonlySet<number>;
  /** By name in the status, as uids. */
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
  /** Those whose fate is in the status already, and who are still held. */
  readonly settled: readonly ServedObject[];
  /** What the status has as numbers then. */
  readonly counted: { readonly succeeded: number; readonly failed: number };
}

export function countedPods(job: ServedObject, pods: readonly ServedObject[]): Count {
  const { status, spec } = job;
  const known = {
    succeeded: (status?.uncountedTerminatedPods?.succeeded ?? []) as readonly string[],
    failed: (status?.uncountedTerminatedPods?.failed ?? []) as readonly string[],
  };
  const isHeld = ({ metadata }: ServedObject): boolean => metadata.finalizers?.includes(TRACKED) === true;
  const held = new Map(pods.filter(isHeld).map((pod) => [pod.metadata.uid ?? '', pod]));
  const fates = new Map([...held].map(([uid, pod]) => [uid, fateOf(job, pod)]));
  const named = new Set([...known.succeeded, ...known.failed]);
  const completed = parseIndexes(status?.completedIndexes);
  const fresh = { succeeded: [] as string[], failed: [] as string[] };
  for (const [uid, fate] of fates) {
    if ((fate !== 'succeeded' && fate !== 'failed') || named.has(uid)) continue;
    const index = indexOf(held.get(uid) as ServedObject);
    const isRepeated = fate === 'succeeded' && isIndexed(job) && (index === undefined || completed.has(index));
    if (fate === 'succeeded' && index !== undefined && index < (spec.completions ?? 0)) completed.add(index);
    if (!isRepeated) fresh[fate].push(uid);
  }
  // Whom nobody holds any more becomes a number.
  const done = (uids: readonly string[]): number => uids.filter((uid) => !held.has(uid)).length;
  const left = (uids: readonly string[]): readonly string[] => uids.filter((uid) => held.has(uid));
  const counted = {
    succeeded: isIndexed(job) ? completed.size : (status?.succeeded ?? 0) + done(known.succeeded),
    failed: (status?.failed ?? 0) + done(known.failed),
  };
  const uncounted = {
    succeeded: isIndexed(job) ? [] : [...left(known.succeeded), ...fresh.succeeded],
    failed: [...left(known.failed), ...fresh.failed],
  };
  return {
    succeeded: counted.succeeded + uncounted.succeeded.length,
    failed: counted.failed + uncounted.failed.length,
    active: pods.filter(isActive).length,
    ready: pods.filter((pod) => isActive(pod) && isReady(pod)).length,
    terminating: pods.filter((pod) => isTerminating(pod) && !isOver(pod)).length,
    completed,
    uncounted,
    settled: [...held.values()].filter((pod) => fates.get(pod.metadata.uid ?? '') !== undefined),
    counted,
  };
}

const isOver = ({ status, metadata }: ServedObject): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed' || metadata.deletionGracePeriodSeconds === 0;

/** What became of the pod; nothing yet, as long as it runs. Pods that the job itself does not want are not its failures. */
function fateOf(job: ServedObject, pod: ServedObject): 'succeeded' | 'failed' | 'dismissed' | undefined {
  if (pod.status?.phase === 'Succeeded') return 'succeeded';
  const isDismissed = job.spec.suspend === true || hasSucceeded(job);
  if (pod.status?.phase === 'Failed') return isDismissed && isTerminating(pod) ? 'dismissed' : 'failed';
  if (!isTerminating(pod)) return undefined;
  if (isDismissed) return isOver(pod) ? 'dismissed' : undefined;
  if (job.spec.podReplacementPolicy === 'Failed') return isOver(pod) ? 'failed' : undefined;
  return 'failed';
}

const hasSucceeded = ({ status }: ServedObject): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: value }: { type: string; status: string }) => type === 'SuccessCriteriaMet' && value === 'True',
  );
