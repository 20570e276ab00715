/** CronJobs make jobs at their times. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Condition, findCondition } from '../conditions.js';
import { type Decision, managed, NOTHING, type SimulatedController } from '../decisions.js';
import { controllerOf, ownerReference } from '../family.js';
import { type Note, normal, told, warning } from '../notes.js';
import { isTerminating } from '../workloads/pods-of-templates.js';
import type { World } from '../world.js';
import { create, remove, replaceStatus, type Write } from '../writes.js';
import { isFinished } from './job-status.js';
import { JOBS } from './jobs.js';
import { scheduleOf } from './schedules.js';

const CRON_JOBS = 'cronjobs.batch';
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

export const cronJobController: SimulatedController = {
  ...managed('cronjob-controller'),
  collection: CRON_JOBS,
  dependents: [JOBS],
  decide(cron, world): Decision {
    if (cron === undefined) return NOTHING;
    const { namespace, uid } = cron.metadata;
    const jobs = world.list(JOBS, namespace, (revision) => controllerOf(revision)?.uid === uid);
    const isIdle = isTerminating(cron) || cron.spec.suspend === true;
    const { starts, again, isHeldBack } = isIdle ? NOT_DUE : due(cron, jobs, world);
    const status = statusOf(cron, jobs, starts);
    const old = forgotten(cron, jobs);
    return {
      notes: isHeldBack ? [HELD_BACK] : [],
      writes: [
        ...old.map(removal),
        ...(starts === undefined ? [] : start(cron, jobs, starts)),
        ...(deepEqual(status, cron.status ?? {})
          ? []
          : [told(replaceStatus(CRON_JOBS, cron, status), { done: () => newsOf(cron, jobs, old) })]),
      ],
      again,
    };
  },
};

interface Due {
  /** The time for which a job is to be made now, if there is one. */
  readonly starts: number | undefined;
  readonly again: number | undefined;
  /** One would be, but another one still runs. */
  readonly isHeldBack: boolean;
}

const NOT_DUE: Due = { starts: undefined, again: undefined, isHeldBack: false };
const HELD_BACK = normal(
  'JobAlreadyActive',
  'Not starting job because prior execution is running and concurrency policy is Forbid',
);

function due({ spec, status, metadata }: ServedObject, jobs: readonly ServedObject[], world: World): Due {
  const next = scheduleOf(spec.schedule, spec.timeZone);
  const deadline: number | undefined = spec.startingDeadlineSeconds;
  const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  const earliest = deadline === undefined ? since : Math.max(since, world.now - deadline * 1000);
  const upcoming = next(world.now);
  const again = upcoming === undefined ? undefined : (upcoming - world.now) / 1000;
  const missed = latest(next, earliest, world.now);
  const isForbidden = spec.concurrencyPolicy === 'Forbid' && jobs.some((job) => !isFinished(job));
  return { starts: isForbidden ? undefined : missed, again, isHeldBack: isForbidden && missed !== undefined };
}

const MOST_MISSED = 1000;

/** The last time of the schedule that has come; of many that were missed, only one is made up for. */
function latest(next: (after: number) => number | undefined, since: number, now: number): number | undefined {
  let found: number | undefined;
  let from = since;
  for (let missed = 0; ; missed++) {
    const time = next(from);
    if (time === undefined || time > now) return found;
    found = time;
    // After a long time without anybody, it is enough to look at the end of it.
    from = missed === MOST_MISSED ? Math.max(time, now - 24 * 3_600_000) : time;
  }
}

function start(cron: ServedObject, jobs: readonly ServedObject[], time: number): readonly Write[] {
  const { spec, metadata } = cron;
  const running = jobs.filter((job) => !isFinished(job) && !isTerminating(job));
  const name = `${metadata.name}-${Math.floor(time / 60_000)}`;
  const replaced = spec.concurrencyPolicy === 'Replace' ? running : [];
  if (jobs.some((job) => job.metadata.name === name)) return [];
  return [
    ...replaced.map(removal),
    told(
      create(JOBS, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          ...spec.jobTemplate.metadata,
          namespace: metadata.namespace,
          name,
          annotations: { ...spec.jobTemplate.metadata?.annotations, [SCHEDULED_AT]: stamp(time) },
          ownerReferences: [ownerReference(cron)],
        },
        spec: spec.jobTemplate.spec,
      }),
      {
        done: () => [normal('SuccessfulCreate', `Created job ${name}`)],
        refused: (problem) => [warning('FailedCreate', `Error creating job: ${problem}`)],
      },
    ),
  ];
}

const removal = (job: ServedObject): Write =>
  told(remove(JOBS, job, { propagationPolicy: 'Background' }), {
    done: () => [normal('SuccessfulDelete', `Deleted job ${job.metadata.name}`)],
  });

/** What has become of those that were active; nobody looks at those that go at once. */
function newsOf(
  { status }: ServedObject,
  jobs: readonly ServedObject[],
  old: readonly ServedObject[],
): readonly Note[] {
  const active: readonly { readonly uid?: string; readonly name?: string }[] = status?.active ?? [];
  return active.flatMap(({ uid, name }) => {
    const job = jobs.find(({ metadata }) => metadata.uid === uid);
    if (job === undefined) return normal('MissingJob', `Active job went missing: ${name}`);
    if (old.includes(job)) return [];
    const end = completionOf(job)?.status === 'True' ? 'Complete' : 'Failed';
    return isFinished(job) ? normal('SawCompletedJob', `Saw completed job: ${name}, condition: ${end}`) : [];
  });
}

const stamp = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

const completionOf = ({ status }: ServedObject): Condition | undefined => findCondition(status?.conditions, 'Complete');

function statusOf({ status }: ServedObject, jobs: readonly ServedObject[], starts: number | undefined): Mapping {
  const before: readonly { readonly uid?: string }[] = status?.active ?? [];
  const active = jobs
    .filter((job) => !isFinished(job))
    .map((job) => before.find(({ uid }) => uid === job.metadata.uid) ?? referenceTo(job));
  const successes = jobs
    .filter((job) => completionOf(job)?.status === 'True')
    .map((job) => job.status.completionTime as string);
  const lastSuccessfulTime = [status?.lastSuccessfulTime ?? '', ...successes].sort().at(-1);
  const lastScheduleTime = starts === undefined ? status?.lastScheduleTime : stamp(starts);
  return {
    ...(active.length === 0 ? {} : { active }),
    ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
    ...(lastSuccessfulTime === '' ? {} : { lastSuccessfulTime }),
  };
}

function referenceTo({ metadata }: ServedObject): Mapping {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion };
}

/** Of those that are over, some are kept for people to look at. */
function forgotten({ spec }: ServedObject, jobs: readonly ServedObject[]): readonly ServedObject[] {
  const finished = jobs.filter((job) => isFinished(job) && !isTerminating(job));
  const startOf = ({ status }: ServedObject): string => status?.startTime ?? '';
  const inOrder = [...finished].sort((a, b) => (startOf(a) < startOf(b) ? -1 : startOf(a) > startOf(b) ? 1 : 0));
  const isSuccess = (job: ServedObject): boolean => completionOf(job)?.status === 'True';
  const beyond = (some: readonly ServedObject[], limit: number): readonly ServedObject[] =>
    some.slice(0, Math.max(0, some.length - limit));
  return [
    ...beyond(inOrder.filter(isSuccess), spec.successfulJobsHistoryLimit ?? 3),
    ...beyond(
      inOrder.filter((job) => !isSuccess(job)),
      spec.failedJobsHistoryLimit ?? 1,
    ),
  ];
}
