/** Deployments, replica sets, stateful sets and daemon sets. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { validateAnnotations, validateLabels } from '../metadata.js';
import { dnsLabel } from '../names.js';
import { podWarnings } from '../pods/pod-warnings.js';
import { validateSelectorObject } from '../selector-rules.js';
import { validatePodTemplate } from './pods.js';
import type { KindRules } from './rules.js';

export const specOf = (object: ServedObject): Mapping => maybeMapping(object, 'spec') ?? {};

export function nonNegative(spec: Mapping, key: string, path = 'spec'): readonly Cause[] {
  const value = spec[key];
  return typeof value === 'number' && value < 0
    ? [invalidValue(`${path}.${key}`, value, 'must be greater than or equal to 0')]
    : [];
}

export function matches(selector: Mapping, labels: Mapping): boolean {
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

interface Selecting {
  /** How it is told that the selector says nothing, or that it cannot be understood. */
  readonly empty: string;
  readonly unusable: string;
  /** What is looked at if the selector can be understood. */
  readonly template: (spec: Mapping) => readonly Cause[];
}

/** The selector is there, says something, and selects the pods of the template, which is looked at then. */
function validateSelected(spec: Mapping, { empty, unusable, template }: Selecting): readonly Cause[] {
  const selector = maybeMapping(spec, 'selector');
  if (selector === undefined) return [required('spec.selector'), mismatchOf(spec), ...template(spec)];
  const wrong = validateSelectorObject(selector, 'spec.selector');
  if (wrong.length > 0) return [...wrong, invalidValue('spec.selector', selector, unusable)];
  if (isEmpty(selector)) return [invalidValue('spec.selector', selector, empty), ...template(spec)];
  return [...(matches(selector, labelsOf(spec) ?? {}) ? [] : [mismatchOf(spec)]), ...template(spec)];
}

const labelsOf = (spec: Mapping): Mapping | undefined =>
  maybeMapping(maybeMapping(maybeMapping(spec, 'template'), 'metadata'), 'labels');
const mismatchOf = (spec: Mapping): Cause =>
  invalidValue('spec.template.metadata.labels', labelsOf(spec) ?? null, MISMATCH);
const isEmpty = (selector: Mapping): boolean =>
  Object.keys(maybeMapping(selector, 'matchLabels') ?? {}).length + itemsOf(selector, 'matchExpressions').length === 0;

export const MISMATCH = '`selector` does not match template `labels`';

/** Long-running pods are always restarted. */
function validateRestart(spec: Mapping, kind: string): readonly Cause[] {
  const { restartPolicy: policy, activeDeadlineSeconds: deadline } =
    maybeMapping(maybeMapping(spec, 'template'), 'spec') ?? {};
  const why = `activeDeadlineSeconds in ${kind} is not Supported`;
  return [
    ...(policy === 'Always' ? [] : [notSupported('spec.template.spec.restartPolicy', policy, ['Always'])]),
    ...(deadline === undefined ? [] : [forbiddenField('spec.template.spec.activeDeadlineSeconds', why)]),
  ];
}

/** Stateful sets make the claims that their pods mount. */
const validateTemplate = (spec: Mapping): readonly Cause[] =>
  validatePodTemplate(
    maybeMapping(spec, 'template') ?? {},
    'spec.template',
    itemsOf(spec, 'volumeClaimTemplates').map((claim) => maybeMapping(claim, 'metadata')?.name),
  );

const immutableSelector: KindRules['validateUpdate'] = (object, old) =>
  deepEqual(specOf(object).selector, specOf(old).selector)
    ? []
    : [invalidValue('spec.selector', specOf(object).selector, 'field is immutable')];

/** Where the template is, and what is strange in it; of changed objects, only if there is something new to look at. */
export const templateWarnings =
  (...keys: readonly string[]): NonNullable<KindRules['warnings']> =>
  (object, old) => {
    const templateOf = (one: ServedObject): Mapping | undefined =>
      keys.reduce<Mapping | undefined>((found, key) => maybeMapping(found, key), one);
    const isOld = old !== undefined && old.metadata.generation === object.metadata.generation;
    return isOld ? [] : podWarnings(templateOf(object), keys.join('.'));
  };
const ofTemplate = templateWarnings('spec', 'template');

const deployment: KindRules = {
  warnings: ofTemplate,
  validate(object) {
    const spec = specOf(object);
    return [
      ...nonNegative(spec, 'replicas'),
      ...validateSelected(spec, ofReplicas),
      ...validateStrategy(spec),
      ...nonNegative(spec, 'minReadySeconds'),
      ...nonNegative(spec, 'revisionHistoryLimit'),
      ...nonNegative(spec, 'progressDeadlineSeconds'),
      ...validateDeadline(spec),
    ];
  },
  validateUpdate: immutableSelector,
  validateStatus: (object) => validateReplicaCounts(maybeMapping(object, 'status') ?? {}),
};

function validateDeadline({
  progressDeadlineSeconds: deadline,
  minReadySeconds: ready = 0,
}: Mapping): readonly Cause[] {
  if (typeof deadline !== 'number' || deadline < 0 || deadline > Number(ready)) return [];
  return [invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')];
}

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

export const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Something has to be there more or less than there should be, or nothing could ever be replaced. */
function validateRolling(rolling: Mapping): readonly Cause[] {
  const at = 'spec.strategy.rollingUpdate';
  const { maxSurge, maxUnavailable } = rolling;
  const causes = (
    [
      ['maxUnavailable', maxUnavailable],
      ['maxSurge', maxSurge],
    ] as const
  ).flatMap(([key, value]): readonly Cause[] => {
    if (typeof value === 'number') return nonNegative(rolling, key, at);
    const isPercent = value === undefined || /^\d+%$/.test(String(value));
    return isPercent ? [] : [invalidValue(`${at}.${key}`, value, PERCENT)];
  });
  if (causes.length > 0) return causes;
  const isZero = (value: unknown): boolean => value === 0 || value === '0%';
  if (isZero(maxSurge) && isZero(maxUnavailable)) {
    return [invalidValue(`${at}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')];
  }
  const isTooMuch = typeof maxUnavailable === 'string' && Number.parseInt(maxUnavailable, 10) > 100;
  return isTooMuch ? [invalidValue(`${at}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%')] : [];
}

function validateStrategy(spec: Mapping): readonly Cause[] {
  const strategy = maybeMapping(spec, 'strategy') ?? {};
  if (strategy.type === 'RollingUpdate') return validateRolling(maybeMapping(strategy, 'rollingUpdate') ?? {});
  if (strategy.type !== 'Recreate') {
    const { maxUnavailable = 0, maxSurge = 0 } = maybeMapping(strategy, 'rollingUpdate') ?? {};
    const rolling =
      strategy.rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge };
    const shown = { Type: strategy.type, RollingUpdate: rolling };
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

const ofReplicas: Selecting = {
  empty: 'empty selector is invalid for deployment',
  unusable: 'invalid label selector',
  template: (spec) => [...validateTemplate(spec), ...validateRestart(spec, 'ReplicaSet')],
};

const replicaSet: KindRules = {
  warnings: ofTemplate,
  validate(object) {
    const spec = specOf(object);
    return [
      ...nonNegative(spec, 'replicas'),
      ...nonNegative(spec, 'minReadySeconds'),
      ...validateSelected(spec, ofReplicas),
    ];
  },
  validateUpdate: immutableSelector,
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

const ofIdentities: Selecting = {
  empty: 'empty selector is invalid for statefulset',
  unusable: '',
  template(spec) {
    const template = maybeMapping(maybeMapping(spec, 'template'), 'metadata') ?? {};
    return [
      ...validateTemplate(spec),
      // As there: they were looked at already, as those of a template.
      ...validateLabels((maybeMapping(template, 'labels') ?? {}) as Record<string, string>, 'spec.template.labels'),
      ...validateAnnotations(
        (maybeMapping(template, 'annotations') ?? {}) as Record<string, string>,
        'spec.template.annotations',
      ),
    ];
  },
};

const ENDLESS = 'a negative value retains all historical revisions; a value >= 0 is recommended';

const statefulSet: KindRules = {
  warnings: (object, old) => [
    ...ofTemplate(object, old),
    ...(Number(specOf(object).revisionHistoryLimit) < 0 ? [`spec.revisionHistoryLimit: ${ENDLESS}`] : []),
  ],
  validate(object) {
    const spec = specOf(object);
    return [
      ...validateStateful(spec),
      ...validateSelected(withoutIdentity(spec), ofIdentities),
      ...validateRestart(spec, 'StatefulSet'),
    ];
  },
  validateUpdate(object, old) {
    const unchangeable = (spec: Mapping): Mapping =>
      Object.fromEntries(Object.entries(spec).filter(([key]) => !CHANGEABLE.includes(key)));
    if (deepEqual(unchangeable(specOf(object)), unchangeable(specOf(old)))) return [];
    const most = CHANGEABLE.slice(0, -1).map((key) => `'${key}'`);
    const why = `updates to statefulset spec for fields other than ${most.join(', ')} and '${CHANGEABLE.at(-1)}' are forbidden`;
    return [forbiddenField('spec', why)];
  },
};

/** Names of pods are not those of the template. */
function withoutIdentity(spec: Mapping): Mapping {
  const template = maybeMapping(spec, 'template') ?? {};
  const { hostname: _, subdomain: _subdomain, ...pod } = maybeMapping(template, 'spec') ?? {};
  return { ...spec, template: { ...template, spec: pod } };
}

function validateStateful(spec: Mapping): readonly Cause[] {
  const { podManagementPolicy: management } = spec;
  const { type, rollingUpdate } = maybeMapping(spec, 'updateStrategy') ?? {};
  const shown = { Type: type, RollingUpdate: rollingUpdate ?? null };
  const ofStrategy = `Invalid value: ${JSON.stringify(shown)}: must be 'RollingUpdate' or 'OnDelete'`;
  const retention = maybeMapping(spec, 'persistentVolumeClaimRetentionPolicy') ?? {};
  const serviceName = String(spec.serviceName ?? '');
  return [
    ...(management === 'OrderedReady' || management === 'Parallel'
      ? []
      : [invalidValue('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'")]),
    ...(type === 'RollingUpdate' || type === 'OnDelete'
      ? []
      : [{ ...invalidValue('spec.updateStrategy', '', ''), message: ofStrategy }]),
    ...(type === 'OnDelete' && rollingUpdate !== undefined
      ? [{ ...invalidValue('spec.updateStrategy.rollingUpdate', '', ''), message: onlyRolling(rollingUpdate) }]
      : []),
    ...(type === 'RollingUpdate'
      ? nonNegative((rollingUpdate ?? {}) as Mapping, 'partition', 'spec.updateStrategy.rollingUpdate')
      : []),
    ...['whenDeleted', 'whenScaled']
      .filter((key) => retention[key] !== undefined && !RETENTIONS.includes(String(retention[key])))
      .map((key) => notSupported(`spec.persistentVolumeClaimRetentionPolicy.${key}`, retention[key], RETENTIONS)),
    ...nonNegative(spec, 'replicas'),
    ...nonNegative(spec, 'minReadySeconds'),
    ...nonNegative(maybeMapping(spec, 'ordinals') ?? {}, 'start', 'spec.ordinals'),
    ...(serviceName === ''
      ? []
      : dnsLabel(serviceName, false).map((why) => invalidValue('spec.serviceName', serviceName, why))),
  ];
}

const RETENTIONS = ['Retain', 'Delete'];

function onlyRolling(rolling: unknown): string {
  const { partition = 0, maxUnavailable = null } = (rolling ?? {}) as Mapping;
  const shown = JSON.stringify({ Partition: partition, MaxUnavailable: maxUnavailable });
  return `Invalid value: ${shown}: only allowed for updateStrategy 'RollingUpdate'`;
}

const daemonSet: KindRules = {
  warnings: (object, old) =>
    old !== undefined && deepEqual(specOf(object).template, specOf(old).template) ? [] : ofTemplate(object, undefined),
  validate(object) {
    const spec = specOf(object);
    const selector = maybeMapping(spec, 'selector');
    const wrong = validateSelectorObject(selector, 'spec.selector');
    const isMatching = selector !== undefined && matches(selector, labelsOf(spec) ?? {});
    return [
      ...wrong,
      ...(wrong.length > 0 || isMatching ? [] : [mismatchOf(spec)]),
      ...(selector !== undefined && isEmpty(selector)
        ? [invalidValue('spec.selector', selector, 'empty selector is invalid for daemonset')]
        : []),
      ...validateTemplate(spec),
      ...validateRestart(spec, 'DaemonSet'),
      ...nonNegative(spec, 'minReadySeconds'),
      ...validateDaemonStrategy(spec),
      ...nonNegative(spec, 'revisionHistoryLimit'),
    ];
  },
  validateUpdate: immutableSelector,
};

function validateDaemonStrategy(spec: Mapping): readonly Cause[] {
  const strategy = maybeMapping(spec, 'updateStrategy') ?? {};
  const at = 'spec.updateStrategy.rollingUpdate';
  const rolling = maybeMapping(strategy, 'rollingUpdate');
  if (strategy.type === 'OnDelete') return [];
  if (strategy.type !== 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rolling ?? {};
    const shown = {
      Type: strategy.type,
      RollingUpdate: rolling === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge },
    };
    const message = `Unsupported value: ${JSON.stringify(shown)}: supported values: "RollingUpdate", "OnDelete"`;
    return [{ ...notSupported('spec.updateStrategy', '', []), message }];
  }
  if (rolling === undefined) return [required(at)];
  const { maxSurge = 0, maxUnavailable = 0 } = rolling;
  const isUnavailable = amountOf(maxUnavailable) !== 0;
  const isSurge = amountOf(maxSurge) !== 0;
  return [
    ...amountProblems(maxUnavailable, `${at}.maxUnavailable`),
    ...amountProblems(maxSurge, `${at}.maxSurge`),
    ...[
      ['maxUnavailable', maxUnavailable],
      ['maxSurge', maxSurge],
    ]
      .filter(([, value]) => isPercent(value) && amountOf(value) > 100)
      .map(([key, value]) => invalidValue(`${at}.${String(key)}`, value, 'must not be greater than 100%')),
    ...(isUnavailable && isSurge
      ? [invalidValue(`${at}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')]
      : []),
    ...(isUnavailable || isSurge ? [] : [required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]),
  ];
}

const isPercent = (value: unknown): boolean => typeof value === 'string' && /^\d+%$/.test(value);
const amountOf = (value: unknown): number =>
  typeof value === 'number' ? value : isPercent(value) ? Number.parseInt(String(value), 10) : 0;

function amountProblems(value: unknown, field: string): readonly Cause[] {
  if (typeof value === 'number') {
    return value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : [];
  }
  return isPercent(value) ? [] : [invalidValue(field, value, PERCENT)];
}

const replicationController: KindRules = {
  // As there: of changed ones, the former template is looked at.
  warnings: (object, old) =>
    old === undefined || old.metadata.generation === object.metadata.generation
      ? ofTemplate(object, old)
      : ofTemplate(old, undefined),
  validate(object) {
    const spec = specOf(object);
    const labels = maybeMapping(maybeMapping(maybeMapping(spec, 'template'), 'metadata'), 'labels');
    const selector = maybeMapping(spec, 'selector') ?? {};
    const isEmpty = Object.keys(selector).length === 0;
    const isMatching = Object.entries(selector).every(([key, value]) => labels?.[key] === value);
    return [
      ...nonNegative(spec, 'minReadySeconds'),
      ...(isEmpty ? [required('spec.selector')] : []),
      ...nonNegative(spec, 'replicas'),
      ...(maybeMapping(spec, 'template') === undefined
        ? [required('spec.template')]
        : [
            ...(isEmpty || isMatching ? [] : [invalidValue('spec.template.metadata.labels', labels ?? null, MISMATCH)]),
            ...validateTemplate(spec),
            ...validateRestart(spec, 'ReplicationController'),
          ]),
    ];
  },
};

const revision: KindRules = {
  validate: (object) => (object.data === undefined ? [required('data', 'data is mandatory')] : []),
  validateUpdate: (object, old) =>
    deepEqual(object.data, old.data) ? [] : [invalidValue('data', object.data, 'field is immutable')],
};

export const workloadRules: Readonly<Record<string, KindRules>> = {
  'apps.Deployment': deployment,
  'apps.ReplicaSet': replicaSet,
  'apps.ControllerRevision': revision,
  'apps.StatefulSet': statefulSet,
  'apps.DaemonSet': daemonSet,
  'core.ReplicationController': replicationController,
};
