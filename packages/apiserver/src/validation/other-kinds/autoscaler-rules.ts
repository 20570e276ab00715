/** Autoscalers: both versions are checked as what they are stored as. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { inSecondVersion } from '../../kinds/conversions/autoscaler-versions.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { compareQuantities } from '../../typed/quantity.js';
import type { KindRules } from '../kinds/rules.js';
import { pathSegment } from '../names.js';

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

const autoscaler: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    return [
      ...validateReplicas(spec),
      ...validateTarget(maybeMapping(spec, 'scaleTargetRef') ?? {}, 'spec.scaleTargetRef', true),
      ...itemsOf(spec, 'metrics').flatMap((metric, index) => validateMetric(metric, `spec.metrics[${index}]`)),
      ...validateZero(spec),
      ...['scaleUp', 'scaleDown'].flatMap((way) =>
        validateBehavior(maybeMapping(maybeMapping(spec, 'behavior'), way), `spec.behavior.${way}`),
      ),
    ];
  },
  validateStatus(object) {
    const status = maybeMapping(object, 'status') ?? {};
    return ['currentReplicas', 'desiredReplicas']
      .filter((key) => Number(status[key] ?? 0) < 0)
      .map((key) => invalidValue(`status.${key}`, status[key], 'must be greater than or equal to 0'));
  },
};

function validateReplicas({ minReplicas: least, maxReplicas }: Mapping): readonly Cause[] {
  const most = Number(maxReplicas ?? 0);
  const atLeast = (field: string, value: unknown): Cause =>
    invalidValue(field, value, 'must be greater than or equal to 1');
  return [
    ...(least !== undefined && Number(least) < 1 ? [atLeast('spec.minReplicas', least)] : []),
    ...(most === 0 ? [required('spec.maxReplicas', 'must be set and greater than 0')] : []),
    ...(most < 0 ? [atLeast('spec.maxReplicas', most)] : []),
    ...(least !== undefined && most < Number(least)
      ? [invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`')]
      : []),
  ];
}

/** Without pods, there is nothing of theirs to be measured. */
function validateZero(spec: Mapping): readonly Cause[] {
  const isOfOthers = itemsOf(spec, 'metrics').some(({ type }) => type === 'Object' || type === 'External');
  if (spec.minReplicas !== 0 || isOfOthers) return [];
  const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return [forbiddenField('spec.metrics', why)];
}

function validateTarget(target: Mapping, path: string, needsGroup: boolean): readonly Cause[] {
  const named = ['kind', 'name'].flatMap((key) =>
    isEmpty(target[key])
      ? [required(`${path}.${key}`)]
      : pathSegment(String(target[key]), false).map((why) => invalidValue(`${path}.${key}`, target[key], why)),
  );
  if (!needsGroup) return named;
  const { apiVersion = '', kind } = target;
  const parts = String(apiVersion).split('/');
  const field = `${path}.apiVersion`;
  if (parts.length > 2)
    return [...named, invalidValue(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  // The only kind without a group that can be scaled.
  const isFine = parts.length === 2 || kind === 'ReplicationController';
  return isFine ? named : [...named, invalidValue(field, apiVersion, 'apiVersion must specify API group')];
}

const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'];
const TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

function validateMetric(metric: Mapping, path: string): readonly Cause[] {
  const { type = '' } = metric;
  const isKnown = TYPES.includes(String(type));
  const unknown = notSupported(`${path}.type`, type, TYPES);
  const given = SOURCES.filter((source) => maybeMapping(metric, source) !== undefined);
  const [first] = given;
  const expected = String(type).charAt(0).toLowerCase() + String(type).slice(1);
  const missing = required(`${path}.${expected}`, 'must populate information for the given metric source');
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric source type')] : []),
    ...(isKnown ? [] : [unknown]),
    ...(first === undefined ? [] : validateSource(first, maybeMapping(metric, first) ?? {}, `${path}.${first}`)),
    ...(isKnown ? (given.includes(expected) ? [] : [missing]) : [unknown]),
    ...given
      .filter((source) => given.length > 1 && source !== expected)
      .map((source) => forbiddenField(`${path}.${source}`, 'must populate the given metric source only')),
  ];
}

function validateSource(source: string, of: Mapping, path: string): readonly Cause[] {
  const target = maybeMapping(of, 'target') ?? {};
  const has = (key: string): boolean => target[key] !== undefined;
  const ofTarget = validateMetricTarget(target, `${path}.target`);
  const ofMetric = validateMetricName(maybeMapping(of, 'metric') ?? {}, `${path}.metric`);
  switch (source) {
    case 'resource':
    case 'containerResource': {
      const neither = 'must set either a target raw value or a target utilization';
      const both = 'may not set both a target raw value and a target utilization';
      return [
        ...(isEmpty(of.name) ? [required(`${path}.name`, 'must specify a resource name')] : []),
        ...(source === 'containerResource' && isEmpty(of.container)
          ? [required(`${path}.container`, 'must specify a container')]
          : []),
        ...ofTarget,
        ...(has('averageUtilization') || has('averageValue')
          ? []
          : [required(`${path}.target.averageUtilization`, neither)]),
        ...(has('averageUtilization') && has('averageValue')
          ? [forbiddenField(`${path}.target.averageValue`, both)]
          : []),
      ];
    }
    case 'pods': {
      const why = 'must specify a positive target averageValue';
      return [...ofMetric, ...ofTarget, ...(has('averageValue') ? [] : [required(`${path}.target.averageValue`, why)])];
    }
    case 'object': {
      const neither = 'must set either a target value or averageValue';
      return [
        ...validateTarget(maybeMapping(of, 'describedObject') ?? {}, `${path}.describedObject`, false),
        ...ofMetric,
        ...ofTarget,
        ...(has('value') || has('averageValue') ? [] : [required(`${path}.target.averageValue`, neither)]),
      ];
    }
    default: {
      const neither = 'must set either a target value for metric or a per-pod target';
      const both = 'may not set both a target value for metric and a per-pod target';
      return [
        ...ofMetric,
        ...ofTarget,
        ...(has('value') || has('averageValue') ? [] : [required(`${path}.target.averageValue`, neither)]),
        ...(has('value') && has('averageValue') ? [forbiddenField(`${path}.target.value`, both)] : []),
      ];
    }
  }
}

function validateMetricName({ name }: Mapping, path: string): readonly Cause[] {
  if (isEmpty(name)) return [required(`${path}.name`, 'must specify a metric name')];
  return pathSegment(String(name), false).map((why) => invalidValue(`${path}.name`, name, why));
}

const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

function validateMetricTarget(target: Mapping, path: string): readonly Cause[] {
  const { type = '', averageUtilization: utilization } = target;
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric target type')] : []),
    ...(TARGET_TYPES.includes(String(type))
      ? []
      : [invalidValue(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue')]),
    ...['value', 'averageValue']
      .filter((key) => target[key] !== undefined && compareQuantities(String(target[key]), '0') <= 0)
      .map((key) => invalidValue(`${path}.${key}`, target[key], 'must be positive')),
    ...(typeof utilization === 'number' && utilization < 1
      ? [invalidValue(`${path}.averageUtilization`, utilization, 'must be greater than 0')]
      : []),
  ];
}

const LONGEST_WINDOW = 3600;
const LONGEST_PERIOD = 1800;

function validateBehavior(rules: Mapping | undefined, path: string): readonly Cause[] {
  if (rules === undefined) return [];
  const { stabilizationWindowSeconds: window, selectPolicy } = rules;
  const policies = itemsOf(rules, 'policies');
  const choices = ['Disabled', 'Max', 'Min'];
  return [
    ...validateSeconds(window, LONGEST_WINDOW, true, `${path}.stabilizationWindowSeconds`),
    ...(selectPolicy === undefined || choices.includes(String(selectPolicy))
      ? []
      : [notSupported(`${path}.selectPolicy`, selectPolicy, choices)]),
    ...(policies.length === 0 ? [required(`${path}.policies`, 'must specify at least one Policy')] : []),
    ...policies.flatMap(({ type, value, periodSeconds }, index) => {
      const at = `${path}.policies[${index}]`;
      return [
        ...(type === 'Pods' || type === 'Percent' ? [] : [notSupported(`${at}.type`, type ?? '', ['Percent', 'Pods'])]),
        ...(Number(value ?? 0) > 0 ? [] : [invalidValue(`${at}.value`, value ?? 0, 'must be greater than zero')]),
        ...validateSeconds(periodSeconds ?? 0, LONGEST_PERIOD, false, `${at}.periodSeconds`),
      ];
    }),
  ];
}

function validateSeconds(value: unknown, longest: number, mayBeZero: boolean, field: string): readonly Cause[] {
  if (typeof value !== 'number') return [];
  if (value < 0 || (value === 0 && !mayBeZero)) {
    return [invalidValue(field, value, `must be greater than ${mayBeZero ? 'or equal to ' : ''}zero`)];
  }
  return value > longest ? [invalidValue(field, value, `must be less than or equal to ${longest}`)] : [];
}

const oldAutoscaler: KindRules = {
  validate: (object) => autoscaler.validate?.(inSecondVersion(object)) ?? [],
  validateStatus: (object, old) => autoscaler.validateStatus?.(inSecondVersion(object), old) ?? [],
};

export const autoscalerRules: Readonly<Record<string, KindRules>> = {
  'autoscaling.v2.HorizontalPodAutoscaler': autoscaler,
  'autoscaling.HorizontalPodAutoscaler': oldAutoscaler,
};
