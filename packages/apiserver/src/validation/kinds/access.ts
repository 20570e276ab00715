/** Roles and bindings. */
import { deepEqual } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { invalidValue, notSupported, required } from '../../text/field-causes.js';
import { dnsSubdomain, pathSegment } from '../names.js';
import { validateSelectorObject } from '../selector-rules.js';
import type { KindRules } from './rules.js';

const RBAC = 'rbac.authorization.k8s.io';
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const role = (isNamespaced: boolean): KindRules => ({
  validate: (object) =>
    itemsOf(object, 'rules').flatMap((rule, index): Cause[] => {
      const path = `rules[${index}]`;
      const { nonResourceURLs: urls } = rule;
      const noVerbs =
        listOf(rule.verbs).length === 0 ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : [];
      if (listOf(urls).length > 0) {
        const isMixed = [rule.apiGroups, rule.resources, rule.resourceNames].some((list) => listOf(list).length > 0);
        const field = `${path}.nonResourceURLs`;
        return [
          ...noVerbs,
          ...(isNamespaced ? [invalidValue(field, urls, 'namespaced rules cannot apply to non-resource URLs')] : []),
          ...(isMixed
            ? [invalidValue(field, urls, 'rules cannot apply to both regular resources and non-resource URLs')]
            : []),
        ];
      }
      return [
        ...noVerbs,
        ...(listOf(rule.apiGroups).length === 0
          ? [required(`${path}.apiGroups`, 'resource rules must supply at least one api group')]
          : []),
        ...(listOf(rule.resources).length === 0
          ? [required(`${path}.resources`, 'resource rules must supply at least one resource')]
          : []),
      ];
    }),
});

/** The rules of such a role are those of others, which it selects. */
function validateAggregation(object: ServedObject): readonly Cause[] {
  const aggregation = maybeMapping(object, 'aggregationRule');
  if (aggregation === undefined) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = itemsOf(aggregation, 'clusterRoleSelectors');
  if (selectors.length === 0) {
    return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return selectors.flatMap((selector, index) => {
    const causes = validateSelectorObject(selector, `${field}[${index}]`);
    // As there: what it would have become is shown, and that is nothing.
    return causes.length === 0 ? [] : [...causes, invalidValue(`${field}[${index}]`, null, 'invalid label selector.')];
  });
}

const clusterRole: KindRules = {
  validate: (object) => [...(role(false).validate?.(object) ?? []), ...validateAggregation(object)],
};

const binding = (kinds: readonly string[], isNamespaced: boolean): KindRules => ({
  validate(object) {
    const { apiGroup, kind = '', name = '' } = maybeMapping(object, 'roleRef') ?? {};
    return [
      ...(apiGroup === RBAC ? [] : [notSupported('roleRef.apiGroup', apiGroup, [RBAC])]),
      ...(kinds.includes(String(kind)) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
      ...(name === ''
        ? [required('roleRef.name')]
        : pathSegment(String(name), false).map((why) => invalidValue('roleRef.name', name, why))),
      ...validateSubjects(object, isNamespaced),
    ];
  },
  validateUpdate(object, old) {
    if (deepEqual(object.roleRef, old.roleRef)) return [];
    const { apiGroup, kind, name } = maybeMapping(object, 'roleRef') ?? {};
    return [invalidValue('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')];
  },
});

function validateSubjects(object: ServedObject, isNamespaced: boolean): readonly Cause[] {
  return itemsOf(object, 'subjects').flatMap((subject, index): readonly Cause[] => {
    const path = `subjects[${index}]`;
    const { kind = '', name = '', apiGroup = '', namespace = '' } = subject;
    const unnamed = name === '' ? [required(`${path}.name`)] : [];
    if (kind === 'ServiceAccount') {
      return [
        ...unnamed,
        ...(name === '' ? [] : dnsSubdomain(String(name), false)).map((why) => invalidValue(`${path}.name`, name, why)),
        ...(apiGroup === '' ? [] : [notSupported(`${path}.apiGroup`, apiGroup, [''])]),
        ...(isNamespaced || namespace !== '' ? [] : [required(`${path}.namespace`)]),
      ];
    }
    if (kind !== 'User' && kind !== 'Group') {
      return [...unnamed, notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
    }
    return [...unnamed, ...(apiGroup === RBAC ? [] : [notSupported(`${path}.apiGroup`, apiGroup, [RBAC])])];
  });
}

export const accessRules: Readonly<Record<string, KindRules>> = {
  'rbac.Role': role(true),
  'rbac.ClusterRole': clusterRole,
  'rbac.RoleBinding': binding(['Role', 'ClusterRole'], true),
  'rbac.ClusterRoleBinding': binding(['ClusterRole'], false),
};
