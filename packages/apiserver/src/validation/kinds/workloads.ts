/** Deployments, replica sets, stateful sets, daemon sets, jobs and cron jobs. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { validatePodTemplate } from './pods.js';
import type { KindRules } from './rules.js';

const specOf = (object: ServedObject): Mapping => maybeMapping(object, 'spec') ?? {};

function nonNegative(spec: Mapping, key: string, path = 'spec'): readonly Cause[] {
  const value = spec[key];
  return typeof value === 'number' && value < 0
    ? [invalidValue(`${path}.${key}`, value, 'must be greater than or equal to 0')]
    : [];
}

function matches(selector: Mapping, labels: Mapping): boolean {
  const expected = Object.entries(maybeMapping(selector, 'matchLabels') ?? {});
  if (!expected.every(([key, value]) => labels[key] === value)) return false;
  return itemsOf(selector, 'matchExpressions').every(({ key, operator, values }) => {
    const value = labels[String(key)];
    const list = Array.isArray(values) ? values : [];
    if (operator === 'Exists') return value !== undefined;
    if (operator === 'DoesNotExist') return value === undefined;
    return operator === 'In' ? list.includes(value) : !list.includes(value);
  });
}

/** The selector is there, says something, and selects the pods of the template. */
function validateSelector(spec: Mapping, emptyMessage: string, isRequired = true): readonly Cause[] {
  const selector = maybeMapping(spec, 'selector');
  const labels = maybeMapping(maybeMapping(maybeMapping(spec, 'template'), 'metadata'), 'labels');
  const mismatch = invalidValue('spec.template.metadata.labels', labels ?? null, MISMATCH);
  // Nothing selects nothing: it does not match the template either.
  if (selector === undefined) return isRequired ? [required('spec.selector'), mismatch] : [mismatch];
  const isEmpty =
    Object.keys(maybeMapping(selector, 'matchLabels') ?? {}).length + itemsOf(selector, 'matchExpressions').length ===
    0;
  if (isEmpty) return [invalidValue('spec.selector', selector, emptyMessage)];
  return matches(selector, labels ?? {}) ? [] : [mismatch];
}

const MISMATCH = '`selector` does not match template `labels`';

/** Long-running pods are always restarted. */
function validateRestart(spec: Mapping): readonly Cause[] {
  const policy = maybeMapping(maybeMapping(spec, 'template'), 'spec')?.restartPolicy;
  return policy === 'Always' ? [] : [notSupported('spec.template.spec.restartPolicy', policy, ['Always'])];
}

const validateTemplate = (spec: Mapping): readonly Cause[] =>
  validatePodTemplate(maybeMapping(spec, 'template') ?? {}, 'spec.template');

const immutableSelector: KindRules['validateUpdate'] = (object, old) =>
  deepEqual(specOf(object).selector, specOf(old).selector)
    ? []
    : [invalidValue('spec.selector', specOf(object).selector, 'field is immutable')];

const deployment: KindRules = {
  validate(object) {
    const spec = specOf(object);
    return [
      ...nonNegative(spec, 'replicas'),
      ...validateSelector(spec, 'empty selector is invalid for deployment'),
      ...validateTemplate(spec),
      ...validateRestart(spec),
      ...validateStrategy(spec),
      ...nonNegative(spec, 'minReadySeconds'),
      ...nonNegative(spec, 'revisionHistoryLimit'),
      ...nonNegative(spec, 'progressDeadlineSeconds'),
    ];
  },
  validateUpdate: immutableSelector,
  validateStatus: (object) => validateReplicaCounts(maybeMapping(object, 'status') ?? {}),
};

/** None is negative, and none but all of them is more than all of them. */
function validateReplicaCounts(status: Mapping): readonly Cause[] {
  const count = (key: string): number => Number(status[key] ?? 0);
  const negative = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas']
    .filter((key) => count(key) < 0)
    .map((key) => invalidValue(`status.${key}`, count(key), 'must be greater than or equal to 0'));
  const isMore = (key: string, other: string): readonly Cause[] =>
    count(key) > count(other)
      ? [
          invalidValue(
            `status.${key}`,
            count(key),
            `cannot be greater than ${other === 'replicas' ? 'status.' : ''}${other}`,
          ),
        ]
      : [];
  return [
    ...negative,
    ...isMore('updatedReplicas', 'replicas'),
    ...isMore('readyReplicas', 'replicas'),
    ...isMore('availableReplicas', 'replicas'),
    ...isMore('availableReplicas', 'readyReplicas'),
  ];
}

function validateStrategy(spec: Mapping): readonly Cause[] {
  const strategy = maybeMapping(spec, 'strategy') ?? {};
  if (strategy.type === 'RollingUpdate') return [];
  if (strategy.type !== 'Recreate') {
    const shown = { Type: strategy.type, RollingUpdate: strategy.rollingUpdate ?? null };
    const supported = ['Recreate', 'RollingUpdate'].map((one) => `"${one}"`).join(', ');
    const message = `Unsupported value: ${JSON.stringify(shown)}: supported values: ${supported}`;
    return [{ ...notSupported('spec.strategy', '', []), message }];
  }
  if (strategy.rollingUpdate === undefined) return [];
  return [
    {
      reason: 'FieldValueForbidden',
      message: "Forbidden: may not be specified when strategy `type` is 'Recreate'",
      field: 'spec.strategy.rollingUpdate',
    },
  ];
}

const set = (emptyMessage: string, isRequired = true): KindRules => ({
  validate(object) {
    const spec = specOf(object);
    return [
      ...nonNegative(spec, 'replicas'),
      ...nonNegative(spec, 'minReadySeconds'),
      ...validateSelector(spec, emptyMessage, isRequired),
      ...validateTemplate(spec),
      ...validateRestart(spec),
    ];
  },
  validateUpdate: immutableSelector,
});

const JOB_POLICIES = ['OnFailure', 'Never'];

function validateJobSpec(spec: Mapping, path: string): readonly Cause[] {
  const template = maybeMapping(spec, 'template') ?? {};
  const policy = maybeMapping(template, 'spec')?.restartPolicy;
  const field = `${path}.template.spec.restartPolicy`;
  return [
    ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'].flatMap(
      (key) => nonNegative(spec, key, path),
    ),
    ...validatePodTemplate(template, `${path}.template`),
    ...(policy === 'Always'
      ? [{ ...required(field, `valid values: ${JOB_POLICIES.map((one) => `"${one}"`).join(', ')}`) }]
      : []),
  ];
}

const job: KindRules = { validate: (object) => validateJobSpec(specOf(object), 'spec') };

/** Only its shape: five fields, or a word for them. */
function validateSchedule(schedule: string): readonly Cause[] {
  if (schedule === '') return [required('spec.schedule')];
  const fields = schedule
    .replace(/^(?:TZ|CRON_TZ)=\S+\s+/, '')
    .trim()
    .split(/\s+/);
  if (schedule.startsWith('@') || fields.length === 5) return [];
  const why = `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  return [invalidValue('spec.schedule', schedule, why)];
}

const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];

const cronJob: KindRules = {
  validate(object) {
    const spec = specOf(object);
    const template = maybeMapping(maybeMapping(spec, 'jobTemplate'), 'spec') ?? {};
    return [
      ...validateSchedule(String(spec.schedule ?? '')),
      ...(CONCURRENCY.includes(String(spec.concurrencyPolicy))
        ? []
        : [notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, CONCURRENCY)]),
      ...validateJobSpec(template, 'spec.jobTemplate.spec'),
      ...nonNegative(spec, 'successfulJobsHistoryLimit'),
      ...nonNegative(spec, 'failedJobsHistoryLimit'),
    ];
  },
};

const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

const statefulSet: KindRules = {
  ...set('empty selector is invalid for statefulset'),
  validateUpdate(object, old) {
    const unchangeable = (spec: Mapping): Mapping =>
      Object.fromEntries(Object.entries(spec).filter(([key]) => !CHANGEABLE.includes(key)));
    if (deepEqual(unchangeable(specOf(object)), unchangeable(specOf(old)))) return [];
    const most = CHANGEABLE.slice(0, -1).map((key) => `'${key}'`);
    const why = `updates to statefulset spec for fields other than ${most.join(', ')} and '${CHANGEABLE.at(-1)}' are forbidden`;
    return [forbiddenField('spec', why)];
  },
};

const revision: KindRules = {
  validateUpdate: (object, old) =>
    deepEqual(object.data, old.data) ? [] : [invalidValue('data', object.data, 'field is immutable')],
};

export const workloadRules: Readonly<Record<string, KindRules>> = {
  'apps.Deployment': deployment,
  'apps.ReplicaSet': set('empty selector is invalid for deployment'),
  'apps.ControllerRevision': revision,
  'apps.StatefulSet': statefulSet,
  'apps.DaemonSet': set('empty selector is invalid for daemonset', false),
  'batch.Job': job,
  'batch.CronJob': cronJob,
};
