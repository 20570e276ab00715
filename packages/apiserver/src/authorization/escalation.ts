/** Nobody gives away more than they have, neither by a role nor by a binding, unless a rule says so explicitly. */
import { deepEqual, isMapping } from '@kopf-ts/core';
import type { Authorizer, Rule } from '../contracts/authorization.js';
import type { ServedObject, UserInfo } from '../contracts/objects.js';
import type { StoreReader } from '../contracts/store.js';
import { forbidden, notFound, type StatusError } from '../http/status-errors.js';
import type { Served } from '../kinds/served.js';
import { goQuote } from '../text/go-text.js';
import { CLUSTER_ROLES, ROLES, type RoleReference } from './rbac.js';
import { missingRules, textOfList } from './role-rules.js';

const GROUP = 'rbac.authorization.k8s.io';
const ROLE_KINDS: ReadonlySet<string> = new Set(['roles', 'clusterroles']);
const FULL_POWER: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

interface Writing {
  readonly user: UserInfo;
  readonly served: Served;
  readonly object: ServedObject;
  /** Absent for creations. */
  readonly old: ServedObject | undefined;
}

/** Throws if the object would give more than the user has. Objects of other kinds are none of its business. */
export function refuseEscalation(authorizer: Authorizer, store: StoreReader, writing: Writing): void {
  const { served, object, old } = writing;
  if (!authorizer.isEnforcing || served.group !== GROUP) return;
  if (old !== undefined && isOfGarbageCollection(object, old)) return;
  const problem = ROLE_KINDS.has(served.plural)
    ? problemOfRole(authorizer, writing)
    : problemOfBinding(authorizer, store, writing);
  if (problem !== undefined) throw problem;
}

function problemOfRole(authorizer: Authorizer, { user, served, object, old }: Writing): StatusError | undefined {
  const { name = '', namespace = '' } = object.metadata;
  if (may(authorizer, user, 'escalate', served.plural, namespace, name)) return undefined;
  const isAggregated = isMapping(object['aggregationRule']) || isMapping(old?.['aggregationRule']);
  if (isAggregated && missing(authorizer, user, '', FULL_POWER).length > 0) {
    return forbidden(served, name, 'must have cluster-admin privileges to use the aggregationRule');
  }
  return problemOfRules(authorizer, user, served, object, (object['rules'] ?? []) as readonly Rule[]);
}

function problemOfBinding(authorizer: Authorizer, store: StoreReader, writing: Writing): StatusError | undefined {
  const { user, served, object } = writing;
  const { namespace = '' } = object.metadata;
  const { kind, name } = (object['roleRef'] ?? {}) as RoleReference;
  const isOfCluster = kind === 'ClusterRole';
  if (may(authorizer, user, 'bind', isOfCluster ? 'clusterroles' : 'roles', namespace, name)) return undefined;
  const role = isOfCluster ? store.get(CLUSTER_ROLES, '', name) : store.get(ROLES, namespace, name);
  if (role === undefined) return notFound(served, name);
  const { rules } = JSON.parse(role.json) as { readonly rules?: readonly Rule[] | null };
  return problemOfRules(authorizer, user, served, object, rules ?? []);
}

function problemOfRules(
  authorizer: Authorizer,
  user: UserInfo,
  served: Served,
  { metadata: { name = '', namespace = '' } }: ServedObject,
  rules: readonly Rule[],
): StatusError | undefined {
  const lacking = missing(authorizer, user, namespace, rules);
  if (lacking.length === 0) return undefined;
  const who = `user ${goQuote(user.username)} (groups=${textOfList(user.groups)})`;
  const what = 'is attempting to grant RBAC permissions not currently held';
  return forbidden(served, name, `${who} ${what}:\n${lacking.join('\n')}`);
}

const missing = (
  authorizer: Authorizer,
  user: UserInfo,
  namespace: string,
  rules: readonly Rule[],
): readonly string[] => missingRules(authorizer.rulesOf(user, namespace).rules, rules);

function may(
  authorizer: Authorizer,
  user: UserInfo,
  verb: string,
  resource: string,
  namespace: string,
  name: string,
): boolean {
  const access = { kind: 'resource', verb, group: GROUP, resource, subresource: '', namespace, name } as const;
  return authorizer.decide(user, access).isAllowed;
}

/** The garbage collector only changes what it needs to. */
function isOfGarbageCollection(object: ServedObject, old: ServedObject): boolean {
  const rest = ({ metadata, ...others }: ServedObject): object => {
    const { finalizers, ownerReferences, managedFields, ...kept } = metadata;
    return { ...others, metadata: kept };
  };
  return !deepEqual(object, old) && deepEqual(rest(object), rest(old));
}
