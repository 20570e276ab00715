/** Budgets of disruptions. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { invalidValue, notSupported, required } from '../../text/field-causes.js';
import { goJson } from '../../text/go-text.js';
import type { KindRules } from '../kinds/rules.js';
import { PERCENT } from '../kinds/workloads.js';
import { validateSelectorObject } from '../selector-rules.js';

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];
const STATUSES = ['False', 'True', 'Unknown'];

const budget: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const policy = spec.unhealthyPodEvictionPolicy;
    return [
      ...(spec.minAvailable !== undefined && spec.maxUnavailable !== undefined ? [bothAreSet(spec)] : []),
      ...['minAvailable', 'maxUnavailable'].flatMap((key) => validatePart(spec[key], `spec.${key}`)),
      ...(policy === undefined || POLICIES.includes(String(policy))
        ? []
        : [notSupported('spec.unhealthyPodEvictionPolicy', policy, POLICIES)]),
      ...validateSelectorObject(maybeMapping(spec, 'selector'), 'spec.selector'),
    ];
  },
  validateStatus(object) {
    const status = maybeMapping(object, 'status') ?? {};
    return [
      ...itemsOf(status, 'conditions').flatMap((one, index) => validateCondition(one, `status.conditions[${index}]`)),
      ...['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']
        .filter((key) => Number(status[key] ?? 0) < 0)
        .map((key) => invalidValue(`status.${key}`, status[key], 'must be greater than or equal to 0')),
    ];
  },
};

/** Structs are shown in the order of their fields, unlike mappings. */
function bothAreSet(spec: Mapping): Cause {
  const shown = {
    MinAvailable: spec.minAvailable,
    Selector: (spec.selector === undefined ? null : JSON.parse(goJson(spec.selector))) as unknown,
    MaxUnavailable: spec.maxUnavailable,
    UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
  };
  const message = `Invalid value: ${JSON.stringify(shown)}: minAvailable and maxUnavailable cannot be both set`;
  return { reason: 'FieldValueInvalid', message, field: 'spec' };
}

function validatePart(value: unknown, field: string): readonly Cause[] {
  if (typeof value === 'number') {
    return value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : [];
  }
  if (typeof value !== 'string') return [];
  if (!/^[0-9]+%$/.test(value)) return [invalidValue(field, value, PERCENT)];
  return Number(value.slice(0, -1)) > 100 ? [invalidValue(field, value, 'must not be greater than 100%')] : [];
}

/** As it is with the conditions of many kinds. */
function validateCondition({ status, lastTransitionTime, reason, type }: Mapping, path: string): readonly Cause[] {
  const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';
  return [
    ...(isEmpty(type) ? [required(`${path}.type`)] : []),
    ...(STATUSES.includes(String(status)) ? [] : [notSupported(`${path}.status`, status ?? '', STATUSES)]),
    ...(isEmpty(lastTransitionTime) ? [required(`${path}.lastTransitionTime`)] : []),
    ...(isEmpty(reason) ? [required(`${path}.reason`)] : []),
  ];
}

export const budgetRules: Readonly<Record<string, KindRules>> = { 'policy.PodDisruptionBudget': budget };
