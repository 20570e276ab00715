/** Puts the roles and bindings that every cluster begins with into a new cluster. */
import type { AnyObject, KubeClient } from '@kopf-ts/core';
import type { Rule } from '../contracts/authorization.js';
import type { StoreReader } from '../contracts/store.js';
import { applyRules, newRulesOf } from './aggregation.js';
import { type BootstrapRole, bootstrapBindings, bootstrapRoles } from './bootstrap-policy.js';

const GROUP = 'rbac.authorization.k8s.io';
const API = `/apis/${GROUP}/v1`;

/** What is already there stays as it is. */
export async function bootstrapRbac(client: KubeClient, store: StoreReader): Promise<void> {
  for (const [place, role] of Object.entries(bootstrapRoles)) await create(client, store, roleOf(place, role));
  for (const [place, { role, subjects }] of Object.entries(bootstrapBindings)) {
    const [kind = '', name = ''] = role.split(' ');
    const body = { subjects: subjects.map(subjectOf), roleRef: { apiGroup: GROUP, kind, name } };
    await create(client, store, { ...named(place, 'Binding'), ...body });
  }
  // The least powerful one first: it is a part of the others.
  for (const name of ['view', 'edit', 'admin']) {
    const rules = newRulesOf(store, name);
    if (rules !== undefined) await applyRules(client, name, rules);
  }
}

async function create(client: KubeClient, store: StoreReader, body: AnyObject): Promise<void> {
  const { name = '', namespace = '' } = body.metadata ?? {};
  const plural = `${String(body.kind).toLowerCase()}s`;
  if (store.get(`${plural}.${GROUP}`, namespace, name) !== undefined) return;
  const path = `${API}/${namespace === '' ? '' : `namespaces/${namespace}/`}${plural}`;
  await client.request({ method: 'POST', path, body });
}

/** `kube-system/name` is a name in a namespace. */
function named(place: string, suffix: string, labels: readonly string[] = []): AnyObject {
  const [namespace, name] = place.includes('/') ? place.split('/') : [undefined, place];
  const others = Object.fromEntries(labels.map((label) => [label, 'true']));
  return {
    apiVersion: `${GROUP}/v1`,
    kind: `${namespace === undefined ? 'Cluster' : ''}Role${suffix}`,
    metadata: {
      name: name as string,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...others },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
  };
}

function roleOf(place: string, { labels, aggregates, rules = [] }: BootstrapRole): AnyObject {
  const selectors = aggregates?.map((label) => ({ matchLabels: { [label]: 'true' } }));
  return {
    ...named(place, '', labels),
    ...(selectors === undefined
      ? { rules: rules.map(ruleOf) }
      : { aggregationRule: { clusterRoleSelectors: selectors } }),
  };
}

function ruleOf(text: string): Rule {
  const [verbs = [], groups = [], resources = [], names = []] = text.split(' ').map((part) => part.split(','));
  if (groups[0] === 'path') return { verbs, nonResourceURLs: resources };
  return {
    verbs,
    apiGroups: groups.map((group) => (group === 'core' ? '' : group)),
    resources,
    ...(names.length === 0 ? {} : { resourceNames: names }),
  };
}

function subjectOf(text: string): object {
  const [kind = '', name = ''] = text.split(' ');
  if (kind !== 'ServiceAccount') return { kind, apiGroup: GROUP, name };
  const [namespace, account] = name.split('/');
  return { kind, name: account, namespace };
}
