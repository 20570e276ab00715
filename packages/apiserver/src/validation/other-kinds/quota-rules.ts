/** Quotas and ranges of limits. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, required } from '../../text/field-causes.js';
import { compareQuantities } from '../../typed/quantity.js';
import { ratioOf } from '../../typed/quantity-sums.js';
import type { KindRules } from '../kinds/rules.js';
import { qualifiedName } from '../names.js';

const COUNTED: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
]);
const MEASURED: ReadonlySet<string> = new Set([
  ...['cpu', 'memory', 'ephemeral-storage', 'requests.storage'],
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

export const isStandard = (name: string): boolean =>
  COUNTED.has(name) || MEASURED.has(name) || /^(?:requests\.)?hugepages-/.test(name);

/** Whole things: objects, and whatever devices others bring to nodes. */
const isWhole = (name: string): boolean =>
  COUNTED.has(name) ||
  (name.includes('/') && !name.startsWith('requests.') && !name.split('/')[0]?.endsWith('kubernetes.io'));

function validateAmounts(amounts: Mapping, path: string): readonly Cause[] {
  return Object.entries(amounts).flatMap(([name, value]) => {
    const field = `${path}[${name}]`;
    const text = String(value);
    const isNegative = compareQuantities(text, '0') < 0;
    return [
      ...qualifiedName(name).map((why) => invalidValue(field, name, why)),
      ...(name.includes('/') || isStandard(name)
        ? []
        : [
            ...(qualifiedName(name).length > 0
              ? []
              : [invalidValue(field, name, 'must be a standard resource type or fully qualified')]),
            invalidValue(field, name, 'must be a standard resource for quota'),
          ]),
      ...(isNegative ? [invalidValue(field, text, 'must be greater than or equal to 0')] : []),
      ...(isWhole(name) && !Number.isInteger(ratioOf(text, '1'))
        ? [invalidValue(field, text, 'must be an integer')]
        : []),
    ];
  });
}

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

/** Pods that ask for nothing can only be counted. */
function isLimitedIn(scope: string, name: string): boolean {
  if (name === 'pods' || name === 'count/pods') return true;
  if (scope === 'BestEffort') return false;
  return MEASURED.has(name) && name !== 'requests.storage';
}

function validateScopes(spec: Mapping): readonly Cause[] {
  const scopes = (Array.isArray(spec.scopes) ? spec.scopes : []).map(String);
  const wrong = (why: string): Cause => invalidValue('spec.scopes', scopes, why);
  const names = Object.keys(maybeMapping(spec, 'hard') ?? {}).filter(isStandard);
  return [
    ...scopes.flatMap((scope) => {
      if (!SCOPES.includes(scope)) return [wrong('unsupported scope')];
      return names
        .filter((name) => !isLimitedIn(scope, name))
        .map(() => wrong('unsupported scope applied to resource'));
    }),
    ...OPPOSITES.filter((pair) => pair.every((one) => scopes.includes(one))).map(() => wrong('conflicting scopes')),
  ];
}

const quota: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    return [...validateAmounts(maybeMapping(spec, 'hard') ?? {}, 'spec.hard'), ...validateScopes(spec)];
  },
  validateUpdate(object, old) {
    const [scopes, before] = [maybeMapping(object, 'spec')?.scopes, maybeMapping(old, 'spec')?.scopes];
    return deepEqual(scopes, before) ? [] : [invalidValue('spec.scopes', scopes ?? null, 'field is immutable')];
  },
  validateStatus(object) {
    const status = maybeMapping(object, 'status');
    return ['hard', 'used'].flatMap((key) => validateAmounts(maybeMapping(status, key) ?? {}, `status.${key}`));
  },
};

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

const limitRange: KindRules = {
  validate(object) {
    const types = new Set<unknown>();
    return itemsOf(maybeMapping(object, 'spec'), 'limits').flatMap((limit, index) => {
      const path = `spec.limits[${index}]`;
      const isRepeated = types.has(limit.type);
      types.add(limit.type);
      return [
        ...validateType(String(limit.type ?? ''), `${path}.type`),
        ...(isRepeated ? [duplicate(`${path}.type`, limit.type)] : []),
        ...validateLimit(limit, path),
      ];
    });
  },
};

function validateType(type: string, field: string): readonly Cause[] {
  const problems = qualifiedName(type);
  if (problems.length > 0) return problems.map((why) => invalidValue(field, type, why));
  if (type.includes('/') || TYPES.includes(type)) return [];
  return [invalidValue(field, type, 'must be a standard limit type or fully qualified')];
}

function validateLimit(limit: Mapping, path: string): readonly Cause[] {
  const lists = ['min', 'max', 'defaultRequest', 'default', 'maxLimitRequestRatio'];
  const names = new Set(lists.flatMap((list) => Object.keys(maybeMapping(limit, list) ?? {})));
  const hasStorage = ['min', 'max'].some((list) => maybeMapping(limit, list)?.storage !== undefined);
  const isOfPod = limit.type === 'Pod';
  return [
    ...(isOfPod ? ['default', 'defaultRequest'] : [])
      .filter((list) => Object.keys(maybeMapping(limit, list) ?? {}).length > 0)
      .map((list) => forbiddenField(`${path}.${list}`, "may not be specified when `type` is 'Pod'")),
    ...(limit.type === 'PersistentVolumeClaim' && !hasStorage
      ? [required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided')]
      : []),
    ...[...names].sort().flatMap((name) => validateOrder(limit, name, path)),
  ];
}

/** The least, the usual and the most of one resource are to come in this order. */
function validateOrder(limit: Mapping, name: string, path: string): readonly Cause[] {
  const given = (list: string): string | undefined => {
    const value = maybeMapping(limit, list)?.[name];
    return value === undefined ? undefined : String(value);
  };
  const [min, max, ratio] = [given('min'), given('max'), given('maxLimitRequestRatio')];
  const isOfPod = limit.type === 'Pod';
  const [request, most] = isOfPod ? [] : [given('defaultRequest'), given('default')];
  const isMore = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0;
  const at = (list: string): string => `${path}.${list}[${name}]`;
  return [
    ...(isMore(min, max) ? [invalidValue(at('min'), min, `min value ${min} is greater than max value ${max}`)] : []),
    ...(isMore(min, request)
      ? [
          invalidValue(
            at('defaultRequest'),
            request,
            `min value ${min} is greater than default request value ${request}`,
          ),
        ]
      : []),
    ...(isMore(request, max)
      ? [
          invalidValue(
            at('defaultRequest'),
            request,
            `default request value ${request} is greater than max value ${max}`,
          ),
        ]
      : []),
    ...(isMore(request, most)
      ? [
          invalidValue(
            at('defaultRequest'),
            request,
            `default request value ${request} is greater than default limit value ${most}`,
          ),
        ]
      : []),
    ...(isMore(min, most)
      ? [invalidValue(at('default'), min, `min value ${min} is greater than default value ${most}`)]
      : []),
    ...(isMore(most, max)
      ? [invalidValue(at('default'), max, `default value ${most} is greater than max value ${max}`)]
      : []),
    ...(isMore('1', ratio) ? [invalidValue(at('maxLimitRequestRatio'), ratio, `ratio ${ratio} is less than 1`)] : []),
  ];
}

export const quotaRules: Readonly<Record<string, KindRules>> = {
  'core.LimitRange': limitRange,
  'core.ResourceQuota': quota,
};
