/** Cluster roles that are made of others, by the labels of those. */
import { deepEqual, isMapping, type KubeClient } from '@kopf-ts/core';
import type { Rule } from '../contracts/authorization.js';
import type { Revision, StoreReader } from '../contracts/store.js';
import { parseSelectorObject } from '../selectors/label-selector-objects.js';
import { CLUSTER_ROLES } from './rbac.js';

interface ClusterRole {
  readonly rules?: readonly Rule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly object[] };
}

const contentOf = (revision: Revision): ClusterRole => JSON.parse(revision.json) as ClusterRole;

export const isAggregated = (revision: Revision): boolean => isMapping(contentOf(revision).aggregationRule);

/** The rules that the role should have, each of them once; `undefined` if it has them already, or is not aggregated. */
export function newRulesOf(store: StoreReader, name: string): readonly Rule[] | undefined {
  const role = store.get(CLUSTER_ROLES, '', name);
  if (role === undefined) return undefined;
  const { aggregationRule, rules: current } = contentOf(role);
  if (aggregationRule === undefined) return undefined;
  const rules: Rule[] = [];
  for (const selector of aggregationRule.clusterRoleSelectors ?? []) {
    const isSelected = parseSelectorObject(selector) ?? (() => true);
    for (const other of store.list(CLUSTER_ROLES)) {
      if (other.name === name || !isSelected(other.labels)) continue;
      for (const rule of contentOf(other).rules ?? []) {
        if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
      }
    }
  }
  return deepEqual(current ?? [], rules) ? undefined : rules;
}

/** Nobody else manages the rules of aggregated roles. */
export async function applyRules(client: KubeClient, name: string, rules: readonly Rule[]): Promise<void> {
  await client.request({
    method: 'PATCH',
    path: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${encodeURIComponent(name)}?fieldManager=${MANAGER}&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
  });
}

const MANAGER = 'clusterrole-aggregation-controller';
