/** Quotas that are for some pods only. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { qualityOf } from '../../kinds/pod-quality.js';

/** Is the object one of those that the quota is for? Scopes are about pods; others are in no scope. */
export function isInScopes(quota: ServedObject, collection: string, object: ServedObject): boolean {
  const spec = maybeMapping(quota, 'spec') ?? {};
  const named = (Array.isArray(spec.scopes) ? spec.scopes : []).map(
    (scopeName): Mapping => ({ scopeName, operator: 'Exists' }),
  );
  const scopes = [...named, ...itemsOf(maybeMapping(spec, 'scopeSelector'), 'matchExpressions')];
  if (scopes.length === 0) return true;
  return collection === 'pods' && scopes.every((scope) => isInScope(scope, maybeMapping(object, 'spec') ?? {}));
}

function isInScope({ scopeName, operator, values }: Mapping, spec: Mapping): boolean {
  const isBestEffort = qualityOf(spec) === 'BestEffort';
  switch (scopeName) {
    case 'Terminating':
      return spec.activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return spec.activeDeadlineSeconds === undefined;
    case 'BestEffort':
      return isBestEffort;
    case 'NotBestEffort':
      return !isBestEffort;
    case 'PriorityClass':
      return isOfClass(String(spec.priorityClassName ?? ''), operator, Array.isArray(values) ? values : []);
    case 'CrossNamespacePodAffinity':
      return hasCrossAffinity(spec);
    default:
      return false;
  }
}

function isOfClass(name: string, operator: unknown, values: readonly unknown[]): boolean {
  if (operator === 'Exists') return name !== '';
  if (operator === 'DoesNotExist') return name === '';
  return operator === 'In' ? values.includes(name) : !values.includes(name);
}

/** Pods that want to be near those of other namespaces. */
function hasCrossAffinity(spec: Mapping): boolean {
  const affinity = maybeMapping(spec, 'affinity');
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap((key) => {
    const one = maybeMapping(affinity, key);
    const preferred = itemsOf(one, 'preferredDuringSchedulingIgnoredDuringExecution');
    return [
      ...itemsOf(one, 'requiredDuringSchedulingIgnoredDuringExecution'),
      ...preferred.map((weighted) => maybeMapping(weighted, 'podAffinityTerm') ?? {}),
    ];
  });
  return terms.some((term) => term.namespaceSelector !== undefined || itemsCount(term.namespaces) > 0);
}

const itemsCount = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
