/** Jobs and cron jobs. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { invalidValue, notSupported, required } from '../../text/field-causes.js';
import { scheduleProblem, timeZoneProblem } from '../cron-schedules.js';
import { validatePodTemplate } from '../kinds/pods.js';
import type { KindRules } from '../kinds/rules.js';
import { MISMATCH, matches, nonNegative, specOf, templateWarnings } from '../kinds/workloads.js';

const JOB_POLICIES = ['OnFailure', 'Never'];

function validateJobSpec(spec: Mapping, path: string): readonly Cause[] {
  const template = maybeMapping(spec, 'template') ?? {};
  const policy = maybeMapping(template, 'spec')?.restartPolicy;
  const field = `${path}.template.spec.restartPolicy`;
  return [
    ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'].flatMap(
      (key) => nonNegative(spec, key, path),
    ),
    ...(spec.completionMode === 'Indexed' && spec.completions === undefined
      ? [required(`${path}.completions`, 'when completion mode is Indexed')]
      : []),
    ...validatePodTemplate(template, `${path}.template`),
    ...(policy === 'Always'
      ? [{ ...required(field, `valid values: ${JOB_POLICIES.map((one) => `"${one}"`).join(', ')}`) }]
      : JOB_POLICIES.includes(String(policy))
        ? []
        : [notSupported(field, policy, JOB_POLICIES)]),
  ];
}

/** It is generated, and required of everyone who writes it once more. */
function validateJobSelector(spec: Mapping): readonly Cause[] {
  const selector = maybeMapping(spec, 'selector');
  const labels = maybeMapping(maybeMapping(maybeMapping(spec, 'template'), 'metadata'), 'labels');
  const mismatch = invalidValue('spec.template.metadata.labels', labels ?? null, MISMATCH);
  if (selector === undefined) return [required('spec.selector'), mismatch];
  return matches(selector, labels ?? {}) ? [] : [mismatch];
}

const COMPLETION_MODES = ['NonIndexed', 'Indexed'];
const REPLACEMENTS = ['Failed', 'TerminatingOrFailed'];

function validateJob(object: ServedObject): readonly Cause[] {
  const spec = specOf(object);
  const { completionMode: mode, podReplacementPolicy: replacement, backoffLimitPerIndex: perIndex } = spec;
  return [
    ...validateJobSpec(spec, 'spec'),
    ...validateJobSelector(spec),
    ...(mode === undefined || COMPLETION_MODES.includes(String(mode))
      ? []
      : [notSupported('spec.completionMode', mode, COMPLETION_MODES)]),
    ...(perIndex !== undefined && mode !== 'Indexed'
      ? [invalidValue('spec.backoffLimitPerIndex', perIndex, 'requires indexed completion mode')]
      : []),
    ...(replacement === undefined || REPLACEMENTS.includes(String(replacement))
      ? []
      : [notSupported('spec.podReplacementPolicy', replacement, REPLACEMENTS)]),
  ];
}

/** By these labels a job knows its own pods. */
function validateGenerated({ metadata, spec }: ServedObject): readonly Cause[] {
  const { manualSelector, template } = (spec ?? {}) as Mapping;
  const selector = maybeMapping(spec as Mapping | undefined, 'selector');
  if (manualSelector === true || selector === undefined) return [];
  const { uid = '', name = '' } = metadata;
  const labels = maybeMapping(maybeMapping((template ?? {}) as Mapping, 'metadata'), 'labels') ?? {};
  const expected = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  };
  return [
    ...Object.entries(expected).flatMap(([key, value]) => {
      const field = `spec.template.metadata.labels[${key}]`;
      const why = `must be '${value}'`;
      if (labels[key] === value) return [];
      return [Object.hasOwn(labels, key) ? invalidValue(field, labels, why) : required(field, why)];
    }),
    ...(matches(selector, expected) ? [] : [invalidValue('spec.selector', selector, '`selector` not auto-generated')]),
  ];
}

const FIXED = ['selector', 'completionMode', 'backoffLimitPerIndex', 'podFailurePolicy', 'successPolicy', 'managedBy'];

const job: KindRules = {
  warnings: templateWarnings('spec', 'template'),
  validate: (object) => [...validateGenerated(object), ...validateJob(object)],
  validateUpdate(object, old) {
    const [spec, before] = [specOf(object), specOf(old)];
    return [
      // As there: a changed job is looked at as a whole twice.
      ...validateJob(object),
      ...FIXED.filter((key) => !deepEqual(spec[key], before[key])).map((key) =>
        invalidValue(`spec.${key}`, spec[key] ?? null, 'field is immutable'),
      ),
      ...completionsChange(spec, before),
      ...templateChange(spec, old),
    ];
  },
};

/** An indexed job may get more completions, if as many of them run side by side. */
function completionsChange(spec: Mapping, before: Mapping): readonly Cause[] {
  const { completions, completionMode, parallelism } = spec;
  if (deepEqual(completions, before.completions)) return [];
  if (completionMode !== 'Indexed')
    return [invalidValue('spec.completions', completions ?? null, 'field is immutable')];
  return completions === undefined || completions === parallelism
    ? []
    : [invalidValue('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

/** As long as a job is suspended, where its pods run may be changed, and what they need. */
function templateChange(spec: Mapping, old: ServedObject): readonly Cause[] {
  const before = specOf(old);
  const isWaiting = before.suspend === true && maybeMapping(old, 'status')?.startTime === undefined;
  const [now, then] = [maybeMapping(spec, 'template') ?? {}, maybeMapping(before, 'template') ?? {}];
  if (!isWaiting) {
    return deepEqual(now, then) ? [] : [invalidValue('spec.template', now, 'field is immutable')];
  }
  const [pods, podsBefore] = [maybeMapping(now, 'spec') ?? {}, maybeMapping(then, 'spec') ?? {}];
  if (deepEqual(unchangeable(pods), unchangeable(podsBefore))) return [];
  return [invalidValue('spec.template.spec', pods, 'field is immutable')];
}

function unchangeable(pods: Mapping): unknown {
  const { nodeSelector: _, tolerations: _tolerations, schedulingGates: _gates, affinity, ...rest } = pods;
  const { nodeAffinity: _node, ...others } = (affinity ?? {}) as Mapping;
  const containers = ['containers', 'initContainers'].map((key) =>
    itemsOf(pods, key).map(({ resources: _resources, ...container }) => container),
  );
  return { ...rest, affinity: others, containers, initContainers: undefined };
}

function validateSchedule(schedule: string): readonly Cause[] {
  if (schedule === '') return [required('spec.schedule')];
  const why = /^(?:CRON_)?TZ=/.test(schedule)
    ? 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
    : scheduleProblem(schedule);
  return why === undefined ? [] : [invalidValue('spec.schedule', schedule, why)];
}

function validateTimeZone(zone: unknown): readonly Cause[] {
  const why = typeof zone === 'string' ? timeZoneProblem(zone) : undefined;
  return why === undefined ? [] : [invalidValue('spec.timeZone', zone, why)];
}

const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];

const cronJob: KindRules = {
  warnings: templateWarnings('spec', 'jobTemplate', 'spec', 'template'),
  validate(object) {
    const spec = specOf(object);
    const template = maybeMapping(maybeMapping(spec, 'jobTemplate'), 'spec') ?? {};
    const { name = '' } = object.metadata;
    return [
      // The names of its jobs are longer.
      ...(name.length > 52 ? [invalidValue('metadata.name', name, 'must be no more than 52 characters')] : []),
      ...validateSchedule(String(spec.schedule ?? '')),
      ...validateTimeZone(spec.timeZone),
      ...nonNegative(spec, 'startingDeadlineSeconds'),
      ...(CONCURRENCY.includes(String(spec.concurrencyPolicy))
        ? []
        : [notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, CONCURRENCY)]),
      ...validateJobSpec(template, 'spec.jobTemplate.spec'),
      ...nonNegative(spec, 'successfulJobsHistoryLimit'),
      ...nonNegative(spec, 'failedJobsHistoryLimit'),
    ];
  },
};

export const jobRules: Readonly<Record<string, KindRules>> = { 'batch.Job': job, 'batch.CronJob': cronJob };
