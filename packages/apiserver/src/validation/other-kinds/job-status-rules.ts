/** What the status of a job may say: those who run jobs themselves have to keep what others rely on. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, invalidValue, required } from '../../text/field-causes.js';
import { nonNegative, specOf } from '../kinds/workloads.js';

/** A status with what its conditions mean. */
class JobStatus {
  readonly fields: Mapping;
  readonly isComplete: boolean;
  readonly hasFailed: boolean;
  readonly isFailing: boolean;
  readonly isSucceeding: boolean;
  readonly isFinished: boolean;

  constructor(job: ServedObject) {
    this.fields = maybeMapping(job, 'status') ?? {};
    this.isComplete = this.is('Complete');
    this.hasFailed = this.is('Failed');
    this.isFailing = this.is('FailureTarget');
    this.isSucceeding = this.is('SuccessCriteriaMet');
    this.isFinished = this.isComplete || this.hasFailed;
  }

  is(type: string, status = 'True'): boolean {
    return itemsOf(this.fields, 'conditions').some((one) => one.type === type && one.status === status);
  }

  count(key: string): number {
    return Number(this.fields[key] ?? 0);
  }

  time(key: string): number | undefined {
    const value = this.fields[key];
    return typeof value === 'string' ? Date.parse(value) : undefined;
  }
}

type Question = keyof { [K in keyof JobStatus as JobStatus[K] extends boolean ? K : never]: true };

const COUNTS = ['active', 'succeeded', 'failed', 'ready', 'terminating'];

export function validateJobStatus(job: ServedObject, old: ServedObject): readonly Cause[] {
  const [now, before] = [new JobStatus(job), new JobStatus(old)];
  // Only news are looked at: what was strange before may stay so.
  const isNews = (...whats: readonly (Question | `status.${string}`)[]): boolean =>
    whats.some((what) =>
      what.startsWith('status.')
        ? !deepEqual(now.fields[what.slice(7)], before.fields[what.slice(7)])
        : now[what as Question] !== before[what as Question],
    );
  const causes: Cause[] = [];
  const refuse = (isWrong: boolean, cause: Cause): void => {
    if (isWrong) causes.push(cause);
  };
  ofFields(now, causes);
  const { fields } = now;
  const spec = specOf(job);

  refuse(
    isNews('isComplete', 'hasFailed') && now.isComplete && now.hasFailed,
    ofConditions('cannot set Complete=True and Failed=true conditions'),
  );
  refuse(
    isNews('isComplete', 'isFailing') && now.isComplete && now.isFailing,
    ofConditions('cannot set Complete=True and FailureTarget=true conditions'),
  );
  const [start, end] = [now.time('startTime'), now.time('completionTime')];
  const endField = 'status.completionTime';
  if (isNews('isComplete', 'status.completionTime')) {
    const why = 'cannot set completionTime when there is no Complete=True condition';
    refuse(end !== undefined && !now.isComplete, invalidValue(endField, fields.completionTime, why));
    refuse(end === undefined && now.isComplete, required(endField, 'completionTime is required for Complete jobs'));
  }
  if (isNews('status.startTime', 'status.completionTime') && start !== undefined && end !== undefined) {
    refuse(end < start, invalidValue(endField, fields.completionTime, 'must be equal to or after `startTime`'));
  }
  refuse(
    isNews('hasFailed', 'status.failedIndexes') && now.hasFailed && !now.isFailing,
    ofConditions('cannot set Failed=True condition without the FailureTarget=true condition'),
  );
  refuse(
    isNews('isComplete', 'isSucceeding') && now.isComplete && !now.isSucceeding,
    ofConditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
  );
  causes.push(...ofFinished(now, spec, isNews), ...ofIndexes(now, spec, isNews));
  refuse(
    isNews('isFinished', 'status.terminating') && now.isFinished && now.count('terminating') > 0,
    invalidValue('status.terminating', fields.terminating, 'terminating>0 is invalid for finished job'),
  );
  refuse(
    isNews('status.ready', 'status.active') && fields.ready !== undefined && now.count('ready') > now.count('active'),
    invalidValue('status.ready', fields.ready, 'cannot set more ready pods than active'),
  );
  refuse(
    now.isSucceeding && now.hasFailed,
    ofConditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'),
  );
  refuse(
    now.isSucceeding && now.isFailing,
    ofConditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
  );
  refuse(
    spec.successPolicy !== undefined && !now.isSucceeding && now.isComplete,
    ofConditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'),
  );
  return [...causes, ...ofChange(now, before, spec)];
}

const ofConditions = (why: string): Cause => ({
  ...invalidValue('status.conditions', '', ''),
  message: `Invalid value: ${why}`,
});

function ofFields({ fields }: JobStatus, causes: Cause[]): void {
  causes.push(...COUNTS.flatMap((key) => nonNegative(fields, key, 'status')));
  const seen = new Set<unknown>();
  for (const key of ['succeeded', 'failed']) {
    const uids = maybeMapping(fields, 'uncountedTerminatedPods')?.[key];
    for (const [index, uid] of (Array.isArray(uids) ? uids : []).entries()) {
      const field = `status.uncountedTerminatedPods.${key}[${index}]`;
      if (uid === '') causes.push(invalidValue(field, uid, 'must not be empty'));
      else if (seen.has(uid)) causes.push(duplicate(field, uid));
      seen.add(uid);
    }
  }
}

type News = (...whats: readonly (Question | `status.${string}`)[]) => boolean;

function ofFinished(now: JobStatus, spec: Mapping, isNews: News): readonly Cause[] {
  if (!now.isFinished) return [];
  const { active, startTime } = now.fields;
  const uncounted = maybeMapping(now.fields, 'uncountedTerminatedPods') ?? {};
  const isEmptyJob = spec.suspend === true && spec.completions === 0;
  const left = ['succeeded', 'failed'].flatMap((key) => (Array.isArray(uncounted[key]) ? uncounted[key] : []));
  return [
    ...(isNews('isFinished', 'status.active') && Number(active ?? 0) > 0
      ? [invalidValue('status.active', active, 'active>0 is invalid for finished job')]
      : []),
    ...(isNews('isFinished', 'status.startTime') && !isEmptyJob && startTime === undefined
      ? [required('status.startTime', 'startTime is required for finished job')]
      : []),
    ...(isNews('isFinished', 'status.uncountedTerminatedPods') && left.length > 0
      ? [
          invalidValue(
            'status.uncountedTerminatedPods',
            { Succeeded: uncounted.succeeded ?? null, Failed: uncounted.failed ?? null },
            'must be empty for finished job',
          ),
        ]
      : []),
  ];
}

function ofIndexes({ fields }: JobStatus, spec: Mapping, isNews: News): readonly Cause[] {
  const { completedIndexes: completed, failedIndexes: failed } = fields;
  const isGiven = completed !== undefined && completed !== '';
  return [
    ...(isNews('status.completedIndexes') && isGiven && spec.completionMode !== 'Indexed'
      ? [
          invalidValue(
            'status.completedIndexes',
            completed,
            'cannot set non-empty completedIndexes when non-indexed completion mode',
          ),
        ]
      : []),
    ...(isNews('status.failedIndexes') && failed !== undefined && spec.backoffLimitPerIndex === undefined
      ? [
          invalidValue(
            'status.failedIndexes',
            failed,
            'cannot set non-null failedIndexes when backoffLimitPerIndex is null',
          ),
        ]
      : []),
    ...(isNews('status.failedIndexes', 'status.completedIndexes') &&
    spec.completions !== undefined &&
    failed !== undefined
      ? overlap(String(completed ?? ''), String(failed))
      : []),
  ];
}

function overlap(completed: string, failed: string): readonly Cause[] {
  const done = rangesOf(completed);
  for (const [first, last] of rangesOf(failed)) {
    const other = done.find((range) => range[0] <= last && range[1] >= first);
    if (other === undefined) continue;
    const why = `failedIndexes and completedIndexes overlap at index: ${Math.max(first, other[0])}`;
    return [invalidValue('status.failedIndexes', failed, why)];
  }
  return [];
}

/** As they are written: `0-2,5`. */
const rangesOf = (text: string): readonly (readonly [number, number])[] =>
  text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return [first, last] as const;
    });

/** What has been said is not taken back. */
function ofChange(now: JobStatus, before: JobStatus, spec: Mapping): readonly Cause[] {
  const { fields } = now;
  const isScalable = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  const isResuming = before.is('Suspended') && now.is('Suspended', 'False');
  const [start, oldStart] = [now.time('startTime'), before.time('startTime')];
  const [end, oldEnd] = [now.time('completionTime'), before.time('completionTime')];
  const decreased = (key: string): readonly Cause[] =>
    now.count(key) < before.count(key)
      ? [invalidValue(`status.${key}`, now.count(key), `cannot decrease the ${key} counter`)]
      : [];
  return [
    ...['Failed', 'Complete', 'FailureTarget']
      .filter((type) => before.is(type) && !now.is(type))
      .map((type) => ofConditions(`cannot disable the terminal ${type}=True condition`)),
    ...decreased('failed'),
    ...(isScalable ? [] : decreased('succeeded')),
    ...(end !== undefined && oldEnd !== undefined && end !== oldEnd
      ? [invalidValue('status.completionTime', fields.completionTime, 'field is immutable')]
      : []),
    ...(oldStart !== undefined && start !== oldStart && spec.suspend !== true && !isResuming
      ? [invalidValue('status.startTime', fields.startTime ?? null, 'field is immutable for unsuspended job once set')]
      : []),
    ...(before.isSucceeding && !now.isSucceeding
      ? [ofConditions('cannot disable the SuccessCriteriaMet=True condition')]
      : []),
    ...(before.isComplete && !before.isSucceeding && now.isSucceeding
      ? [ofConditions('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions')]
      : []),
  ];
}
