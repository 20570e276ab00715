/** Where pods may run: tolerations, affinities, spreading, gates. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { labelValue, qualifiedName } from '../names.js';
import { validateLabelSelector } from './selector-objects.js';

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(spec: Mapping, path: string): readonly Cause[] {
  return itemsOf(spec, 'tolerations').flatMap((toleration, index) => {
    const at = `${path}.tolerations[${index}]`;
    const { key, operator = '', value = '', effect = '', tolerationSeconds: seconds } = toleration;
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    return [
      ...(isSet(key) ? qualifiedName(String(key)).map((one) => invalidValue(`${at}.key`, key, one)) : []),
      ...(!isSet(key) && operator !== 'Exists' ? [invalidValue(`${at}.operator`, operator, why)] : []),
      ...(seconds !== undefined && effect !== 'NoExecute'
        ? [invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
        : []),
      ...validateOperator(String(operator), value, at),
      ...(effect === '' || EFFECTS.includes(String(effect)) ? [] : [notSupported(`${at}.effect`, effect, EFFECTS)]),
    ];
  });
}

function validateOperator(operator: string, value: unknown, at: string): readonly Cause[] {
  if (operator === 'Exists') {
    const why = "value must be empty when `operator` is 'Exists'";
    return isSet(value) ? [invalidValue(`${at}.operator`, value, why)] : [];
  }
  if (operator !== '' && operator !== 'Equal') return [notSupported(`${at}.operator`, operator, ['Equal', 'Exists'])];
  return labelValue(String(value)).map((why) => invalidValue(`${at}.operator`, value, why));
}

const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateSpreading(spec: Mapping, path: string): readonly Cause[] {
  const seen = new Set<string>();
  return itemsOf(spec, 'topologySpreadConstraints').flatMap((constraint, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    const { maxSkew = 0, topologyKey: key = '', whenUnsatisfiable: policy = '' } = constraint;
    const pair = `{${String(key)}, ${String(policy)}}`;
    const isRepeated = seen.has(pair);
    seen.add(pair);
    const selector = maybeMapping(constraint, 'labelSelector');
    return [
      ...(Number(maxSkew) > 0 ? [] : [invalidValue(`${at}.maxSkew`, maxSkew, 'must be greater than zero')]),
      ...(isSet(key)
        ? qualifiedName(String(key)).map((why) => invalidValue(`${at}.topologyKey`, key, why))
        : [required(`${at}.topologyKey`, 'can not be empty')]),
      ...(UNSATISFIABLE.includes(String(policy))
        ? []
        : [notSupported(`${at}.whenUnsatisfiable`, policy, UNSATISFIABLE)]),
      ...(isRepeated ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair)] : []),
      ...(selector === undefined ? [] : validateLabelSelector(selector, `${at}.labelSelector`)),
    ];
  });
}

export function validateGates(spec: Mapping, path: string): readonly Cause[] {
  const seen = new Set<unknown>();
  return itemsOf(spec, 'schedulingGates').flatMap(({ name = '' }, index) => {
    const at = `${path}.schedulingGates[${index}]`;
    const isRepeated = seen.has(name);
    seen.add(name);
    return [
      ...qualifiedName(String(name)).map((why) => invalidValue(`${at}`, name, why)),
      ...(isRepeated ? [duplicate(at, name)] : []),
    ];
  });
}

/** Of new pods: nobody waits for a place that it has. */
export function refusePlaced(spec: Mapping): readonly Cause[] {
  if (itemsOf(spec, 'schedulingGates').length === 0 || !isSet(spec.nodeName)) return [];
  return [forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')];
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(affinity: Mapping | undefined, path: string): readonly Cause[] {
  if (affinity === undefined) return [];
  const node = maybeMapping(affinity, 'nodeAffinity');
  return [
    ...(node === undefined ? [] : validateNodeAffinity(node, `${path}.nodeAffinity`)),
    ...['podAffinity', 'podAntiAffinity'].flatMap((key) =>
      validatePodAffinity(maybeMapping(affinity, key), `${path}.${key}`),
    ),
  ];
}

const weightProblem = (weight: unknown, path: string): readonly Cause[] =>
  Number(weight ?? 0) >= 1 && Number(weight) <= 100
    ? []
    : [invalidValue(`${path}.weight`, weight ?? 0, 'must be in the range 1-100')];

function validateNodeAffinity(affinity: Mapping, path: string): readonly Cause[] {
  const needed = maybeMapping(affinity, REQUIRED);
  return [
    ...(needed === undefined ? [] : validateNodeSelector(needed, `${path}.${REQUIRED}`)),
    ...itemsOf(affinity, PREFERRED).flatMap((one, index) => {
      const at = `${path}.${PREFERRED}[${index}]`;
      return [
        ...weightProblem(one.weight, at),
        ...validateTerm(maybeMapping(one, 'preference') ?? {}, `${at}.preference`),
      ];
    }),
  ];
}

export function validateNodeSelector(selector: Mapping, path: string): readonly Cause[] {
  const terms = itemsOf(selector, 'nodeSelectorTerms');
  if (terms.length === 0) return [required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')];
  return terms.flatMap((term, index) => validateTerm(term, `${path}.nodeSelectorTerms[${index}]`));
}

function validateTerm(term: Mapping, path: string): readonly Cause[] {
  return itemsOf(term, 'matchExpressions').flatMap((expression, index) =>
    validateExpression(expression, `${path}.matchExpressions[${index}]`),
  );
}

function validateExpression({ key = '', operator = '', values }: Mapping, path: string): readonly Cause[] {
  const list = Array.isArray(values) ? values : [];
  return [...ofOperator(), ...qualifiedName(String(key)).map((why) => invalidValue(`${path}.key`, key, why))];

  function ofOperator(): readonly Cause[] {
    switch (operator) {
      case 'In':
      case 'NotIn':
        return list.length > 0
          ? list.flatMap((value, index) =>
              labelValue(String(value)).map((why) => invalidValue(`${path}.values[${index}]`, value, why)),
            )
          : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
      case 'Exists':
      case 'DoesNotExist':
        return list.length === 0
          ? []
          : [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
      case 'Gt':
      case 'Lt':
        return list.length === 1
          ? []
          : [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
      default:
        return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
    }
  }
}

function validatePodAffinity(affinity: Mapping | undefined, path: string): readonly Cause[] {
  if (affinity === undefined) return [];
  return [
    ...itemsOf(affinity, REQUIRED).flatMap((term, index) => validatePodTerm(term, `${path}.${REQUIRED}[${index}]`)),
    ...itemsOf(affinity, PREFERRED).flatMap((one, index) => {
      const at = `${path}.${PREFERRED}[${index}]`;
      return [
        ...weightProblem(one.weight, at),
        ...validatePodTerm(maybeMapping(one, 'podAffinityTerm') ?? {}, `${at}.podAffinityTerm`),
      ];
    }),
  ];
}

function validatePodTerm(term: Mapping, path: string): readonly Cause[] {
  const { topologyKey: key = '' } = term;
  const selectors = ['labelSelector', 'namespaceSelector'].flatMap((name) => {
    const selector = maybeMapping(term, name);
    return selector === undefined ? [] : validateLabelSelector(selector, `${path}.${name}`);
  });
  return [
    ...selectors,
    ...(isSet(key) ? [] : [required(`${path}.topologyKey`, 'can not be empty')]),
    ...qualifiedName(String(key)).map((why) => invalidValue(`${path}.topologyKey`, key, why)),
  ];
}
