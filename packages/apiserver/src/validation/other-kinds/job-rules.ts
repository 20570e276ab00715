/** Jobs and cron jobs. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, invalidValue, notSupported, required, tooLong } from '../../text/field-causes.js';
import { scheduleProblem, timeZoneProblem } from '../cron-schedules.js';
import { validatePodTemplate } from '../kinds/pods.js';
import type { KindRules } from '../kinds/rules.js';
import { MISMATCH, matches, nonNegative, specOf, templateWarnings } from '../kinds/workloads.js';
import { dnsSubdomain, qualifiedName } from '../names.js';
import { validateSelectorObject } from '../selector-rules.js';
import { validateJobStatus } from './job-status-rules.js';

const JOB_POLICIES = ['OnFailure', 'Never'];

function validateJobSpec(spec: Mapping, path: string): readonly Cause[] {
  const template = maybeMapping(spec, 'template') ?? {};
  const policy = maybeMapping(template, 'spec')?.restartPolicy;
  const field = `${path}.template.spec.restartPolicy`;
  const hasFailurePolicy = maybeMapping(spec, 'podFailurePolicy') !== undefined;
  return [
    ...COUNTS.flatMap((key) => nonNegative(spec, key, path)),
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')]
      : []),
    ...managerProblems(spec.managedBy, `${path}.managedBy`),
    ...validateCompletions(spec, path),
    ...validateFailurePolicy(spec, `${path}.podFailurePolicy`),
    ...validateReplacement(spec, `${path}.podReplacementPolicy`),
    ...validatePodTemplate(template, `${path}.template`),
    ...(policy === 'Always'
      ? [{ ...required(field, `valid values: ${JOB_POLICIES.map((one) => `"${one}"`).join(', ')}`) }]
      : !JOB_POLICIES.includes(String(policy))
        ? [notSupported(field, policy, JOB_POLICIES)]
        : hasFailurePolicy && policy !== 'Never'
          ? [invalidValue(field, policy, 'only "Never" is supported when podFailurePolicy is specified')]
          : []),
  ];
}

const COUNTS = [
  ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'],
  ...['backoffLimitPerIndex', 'maxFailedIndexes'],
];
const MOST_AT_ONCE = 100_000;
const COMPLETION_MODES = ['NonIndexed', 'Indexed'];
const REPLACEMENTS = ['Failed', 'TerminatingOrFailed'];

function managerProblems(manager: unknown, field: string): readonly Cause[] {
  if (typeof manager !== 'string') return [];
  const [domain = '', ...rest] = manager.split('/');
  if (domain === '' || rest.join('/') === '') {
    const why = manager === '' ? '' : 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [manager === '' ? required(field) : invalidValue(field, manager, why)];
  }
  return [
    ...dnsSubdomain(domain, false).map((why) => invalidValue(field, domain, why)),
    ...(manager.length > 63 ? [tooLong(field, 63)] : []),
  ];
}

function validateCompletions(spec: Mapping, path: string): readonly Cause[] {
  const { completionMode: mode, completions, parallelism, maxFailedIndexes } = spec;
  const isIndexed = mode === 'Indexed';
  const onlyIndexed = ['backoffLimitPerIndex', 'maxFailedIndexes'].filter((key) => spec[key] !== undefined);
  if (mode !== undefined && !COMPLETION_MODES.includes(String(mode))) {
    return [notSupported(`${path}.completionMode`, mode, COMPLETION_MODES)];
  }
  if (!isIndexed) {
    return onlyIndexed.map((key) => invalidValue(`${path}.${key}`, spec[key], 'requires indexed completion mode'));
  }
  const atOnce = `must be less than or equal to ${MOST_AT_ONCE} when completion mode is Indexed`;
  return [
    ...(completions === undefined ? [required(`${path}.completions`, 'when completion mode is Indexed')] : []),
    ...(Number(parallelism ?? 0) > MOST_AT_ONCE ? [invalidValue(`${path}.parallelism`, parallelism, atOnce)] : []),
    ...(Number(maxFailedIndexes ?? 0) > Number(completions ?? Number.POSITIVE_INFINITY)
      ? [invalidValue(`${path}.maxFailedIndexes`, maxFailedIndexes, 'must be less than or equal to completions')]
      : []),
  ];
}

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const quoted = (values: readonly string[]): string => `valid values: [${values.map((one) => `"${one}"`).join(' ')}]`;

/** One of the values, and not none. */
function oneOf(value: unknown, field: string, values: readonly string[]): readonly Cause[] {
  if (value === undefined || value === '') return [required(field, quoted(values))];
  return values.includes(String(value)) ? [] : [notSupported(field, value, values)];
}

/** What failures of pods mean to the job: by how their containers end, or by conditions of the pods. */
function validateFailurePolicy(spec: Mapping, path: string): readonly Cause[] {
  const pods = maybeMapping(maybeMapping(spec, 'template'), 'spec');
  const names = new Set(['containers', 'initContainers'].flatMap((key) => itemsOf(pods, key).map(({ name }) => name)));
  const rules = itemsOf(maybeMapping(spec, 'podFailurePolicy'), 'rules');
  return rules.flatMap((rule, index) => {
    const at = `${path}.rules[${index}]`;
    const codes = maybeMapping(rule, 'onExitCodes');
    const conditions = itemsOf(rule, 'onPodConditions');
    const isBoth = codes !== undefined && conditions.length > 0;
    const isNone = codes === undefined && conditions.length === 0;
    const isLonely = rule.action === 'FailIndex' && spec.backoffLimitPerIndex === undefined;
    const which = (what: string): Cause => ({ ...invalidValue(at, '', ''), message: `Invalid value: ${what}` });
    return [
      ...(isLonely
        ? [invalidValue(`${at}.action`, rule.action, 'requires the backoffLimitPerIndex to be set')]
        : oneOf(rule.action, `${at}.action`, ACTIONS)),
      ...(codes === undefined ? [] : validateExitCodes(codes, `${at}.onExitCodes`, names)),
      ...conditions.flatMap(({ type = '', status }, number) => [
        ...qualifiedName(String(type)).map((why) => invalidValue(`${at}.onPodConditions[${number}].type`, type, why)),
        ...oneOf(status, `${at}.onPodConditions[${number}].status`, ['False', 'True', 'Unknown']),
      ]),
      ...(isBoth ? [which('specifying both OnExitCodes and OnPodConditions is not supported')] : []),
      ...(isNone ? [which('specifying one of OnExitCodes and OnPodConditions is required')] : []),
    ];
  });
}

function validateExitCodes(codes: Mapping, path: string, names: ReadonlySet<unknown>): readonly Cause[] {
  const { containerName, operator, values } = codes;
  const given: readonly number[] = Array.isArray(values) ? values : [];
  const stranger = 'must be one of the container or initContainer names in the pod template';
  const isOrdered = given.every((value, index) => index === 0 || (given[index - 1] as number) <= value);
  return [
    ...oneOf(operator, `${path}.operator`, OPERATORS),
    ...(containerName === undefined || names.has(containerName)
      ? []
      : [invalidValue(`${path}.containerName`, containerName, stranger)]),
    ...(given.length === 0 ? [invalidValue(`${path}.values`, values ?? null, 'at least one value is required')] : []),
    ...given.flatMap((value, index) => [
      ...(operator === 'In' && value === 0
        ? [invalidValue(`${path}.values[${index}]`, value, 'must not be 0 for the In operator')]
        : []),
      ...(given.indexOf(value) < index ? [duplicate(`${path}.values[${index}]`, value)] : []),
    ]),
    ...(isOrdered ? [] : [invalidValue(`${path}.values`, given, 'must be ordered')]),
  ];
}

/** Whoever judges failures has to wait for them. */
function validateReplacement({ podReplacementPolicy, podFailurePolicy }: Mapping, field: string): readonly Cause[] {
  if (podReplacementPolicy === undefined) return [];
  const supported = podFailurePolicy === undefined ? REPLACEMENTS : ['Failed'];
  return supported.includes(String(podReplacementPolicy)) ? [] : [notSupported(field, podReplacementPolicy, supported)];
}

/** It is generated, and required of everyone who writes it once more. */
function validateJobSelector(spec: Mapping): readonly Cause[] {
  const selector = maybeMapping(spec, 'selector');
  const labels = maybeMapping(maybeMapping(maybeMapping(spec, 'template'), 'metadata'), 'labels');
  const mismatch = invalidValue('spec.template.metadata.labels', labels ?? null, MISMATCH);
  if (selector === undefined) return [required('spec.selector'), mismatch];
  const wrong = validateSelectorObject(selector, 'spec.selector');
  return wrong.length > 0 || matches(selector, labels ?? {}) ? wrong : [mismatch];
}

function validateJob(object: ServedObject): readonly Cause[] {
  const spec = specOf(object);
  return [...validateJobSpec(spec, 'spec'), ...validateJobSelector(spec)];
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
    ...(validateSelectorObject(selector, '').length > 0 || matches(selector, expected)
      ? []
      : [invalidValue('spec.selector', selector, '`selector` not auto-generated')]),
  ];
}

const FIXED = ['selector', 'completionMode', 'backoffLimitPerIndex', 'podFailurePolicy', 'successPolicy', 'managedBy'];

const job: KindRules = {
  warnings: templateWarnings('spec', 'template'),
  validate: (object) => [...validateGenerated(object), ...validateJob(object)],
  validateStatus: validateJobStatus,
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
      ...validateSchedule(String(spec.schedule ?? '')),
      ...nonNegative(spec, 'startingDeadlineSeconds'),
      ...validateTimeZone(spec.timeZone),
      ...(CONCURRENCY.includes(String(spec.concurrencyPolicy))
        ? []
        : [notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, CONCURRENCY)]),
      ...validateJobSpec(template, 'spec.jobTemplate.spec'),
      ...(template.selector === undefined
        ? []
        : [invalidValue('spec.jobTemplate.spec.selector', template.selector, '`selector` will be auto-generated')]),
      ...(template.manualSelector === true
        ? [notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false'])]
        : []),
      ...nonNegative(spec, 'successfulJobsHistoryLimit'),
      ...nonNegative(spec, 'failedJobsHistoryLimit'),
      // The names of its jobs are longer.
      ...(name.length > 52 ? [invalidValue('metadata.name', name, 'must be no more than 52 characters')] : []),
    ];
  },
};

export const jobRules: Readonly<Record<string, KindRules>> = { 'batch.Job': job, 'batch.CronJob': cronJob };
