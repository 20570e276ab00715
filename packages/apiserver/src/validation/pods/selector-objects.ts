/** Selectors of labels as objects have them: `matchLabels` and `matchExpressions`. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, required } from '../../text/field-causes.js';
import { validateLabels } from '../metadata.js';
import { labelValue, qualifiedName } from '../names.js';

export function validateLabelSelector(selector: Mapping, path: string): readonly Cause[] {
  return [
    ...validateLabels((maybeMapping(selector, 'matchLabels') ?? {}) as Record<string, string>, `${path}.matchLabels`),
    ...itemsOf(selector, 'matchExpressions').flatMap((expression, index) =>
      validateRequirement(expression, `${path}.matchExpressions[${index}]`),
    ),
  ];
}

function validateRequirement({ key = '', operator = '', values }: Mapping, path: string): readonly Cause[] {
  const list = Array.isArray(values) ? values : [];
  return [
    ...ofOperator(),
    ...qualifiedName(String(key)).map((why) => invalidValue(`${path}.key`, key, why)),
    ...ofValues(),
  ];

  function ofOperator(): readonly Cause[] {
    switch (operator) {
      case 'In':
      case 'NotIn':
        return list.length > 0
          ? []
          : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
      case 'Exists':
      case 'DoesNotExist':
        return list.length === 0
          ? []
          : [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
      default:
        return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
    }
  }

  function ofValues(): readonly Cause[] {
    return list.flatMap((value, index) =>
      labelValue(String(value)).map((why) => invalidValue(`${path}.values[${index}]`, value, why)),
    );
  }
}
