/** Label selectors inside of objects: what is wrong with them. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../contracts/objects.js';
import { itemsOf, maybeMapping } from '../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, required } from '../text/field-causes.js';
import { validateLabels } from './metadata.js';
import { labelValue, qualifiedName } from './names.js';

export function validateSelectorObject(selector: Mapping | undefined, path: string): readonly Cause[] {
  if (selector === undefined) return [];
  const labels = (maybeMapping(selector, 'matchLabels') ?? {}) as Record<string, string>;
  return [
    ...validateLabels(labels, `${path}.matchLabels`),
    ...itemsOf(selector, 'matchExpressions').flatMap((one, index) =>
      validateExpression(one, `${path}.matchExpressions[${index}]`),
    ),
  ];
}

function validateExpression({ key = '', operator = '', values }: Mapping, path: string): readonly Cause[] {
  const given: readonly unknown[] = Array.isArray(values) ? values : [];
  return [
    ...validateOperator(operator, given, path),
    ...qualifiedName(String(key)).map((why) => invalidValue(`${path}.key`, key, why)),
    ...given.flatMap((value, index) =>
      labelValue(String(value)).map((why) => invalidValue(`${path}.values[${index}]`, value, why)),
    ),
  ];
}

function validateOperator(operator: unknown, values: readonly unknown[], path: string): readonly Cause[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
