/** Role-based access control: roles and bindings as they are in the store. */
import { isMapping } from '@kopf-ts/core';
import type { Access, Authorizer, Decision, Rule, RulesOfUser } from '../contracts/authorization.js';
import type { UserInfo } from '../contracts/objects.js';
import type { Revision, StoreReader } from '../contracts/store.js';
import { goQuote } from '../text/go-text.js';
import { allows } from './role-rules.js';
import { MASTERS, usernameOfAccount } from './users.js';

const GROUP = 'rbac.authorization.k8s.io';
export const CLUSTER_ROLES = `clusterroles.${GROUP}`;
export const ROLES = `roles.${GROUP}`;
const CLUSTER_ROLE_BINDINGS = `clusterrolebindings.${GROUP}`;
const ROLE_BINDINGS = `rolebindings.${GROUP}`;

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RoleReference {
  readonly kind: string;
  readonly name: string;
}

interface Content {
  readonly rules?: readonly Rule[];
  readonly subjects?: readonly Subject[];
  readonly roleRef?: RoleReference;
}

/** Bindings, and what they give to somebody. Without a role, there is a problem. */
interface Grant {
  readonly rules: readonly Rule[];
  readonly problem?: string;
  /** For people. */
  readonly reason: () => string;
}

/** Nothing of it is written: administrators pass without any role, as they do on the real server. */
export function rbacAuthorizer(store: StoreReader): Authorizer {
  const contents = new WeakMap<Revision, Content>();
  const contentOf = (revision: Revision): Content => {
    let content = contents.get(revision);
    if (content === undefined) {
      const parsed: unknown = JSON.parse(revision.json);
      content = isMapping(parsed) ? (parsed as Content) : {};
      contents.set(revision, content);
    }
    return content;
  };

  function* grantsTo(user: UserInfo, namespace: string): Generator<Grant> {
    for (const binding of store.list(CLUSTER_ROLE_BINDINGS)) yield* grantOf(binding, user);
    if (namespace === '') return;
    for (const binding of store.list(ROLE_BINDINGS, namespace)) yield* grantOf(binding, user);
  }

  function* grantOf(binding: Revision, user: UserInfo): Generator<Grant> {
    const { subjects = [], roleRef } = contentOf(binding);
    const subject = subjects.find((one) => isMeant(one, user, binding.namespace));
    if (subject === undefined || roleRef === undefined) return;
    const reason = (): string => reasonOf(binding, roleRef, subject);
    const rules = rulesIn(roleRef, binding.namespace);
    const problem = `${roleRef.kind.toLowerCase()}.${GROUP} ${goQuote(roleRef.name)} not found`;
    yield rules === undefined ? { rules: [], problem, reason } : { rules, reason };
  }

  const rulesIn = ({ kind, name }: RoleReference, namespace: string): readonly Rule[] | undefined => {
    const role = kind === 'ClusterRole' ? store.get(CLUSTER_ROLES, '', name) : store.get(ROLES, namespace, name);
    return role === undefined ? undefined : (contentOf(role).rules ?? []);
  };

  return {
    isEnforcing: true,
    decide(user, access): Decision {
      if (user.groups.includes(MASTERS)) return { isAllowed: true, reason: '' };
      const problems: string[] = [];
      for (const { rules, problem, reason } of grantsTo(user, namespaceOf(access))) {
        if (problem !== undefined) problems.push(problem);
        if (rules.some((rule) => allows(rule, access))) return { isAllowed: true, reason: `RBAC: ${reason()}` };
      }
      return { isAllowed: false, reason: problems.length === 0 ? '' : `RBAC: ${textOfProblems(problems)}` };
    },
    rulesOf(user, namespace): RulesOfUser {
      const grants = [...grantsTo(user, namespace)];
      return {
        rules: grants.flatMap(({ rules }) => rules),
        problems: grants.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
      };
    },
  };
}

const namespaceOf = (access: Access): string => (access.kind === 'resource' ? access.namespace : '');

/** Several of them in brackets, one as it is. */
export function textOfProblems(problems: readonly string[]): string {
  const all = [...new Set(problems)];
  return all.length === 1 ? (all[0] as string) : `[${all.join(', ')}]`;
}

/** An account without a namespace is of that of the binding. */
function isMeant({ kind, name, namespace = '' }: Subject, user: UserInfo, ownNamespace: string): boolean {
  if (kind === 'User') return user.username === name;
  if (kind === 'Group') return user.groups.includes(name);
  const place = namespace === '' ? ownNamespace : namespace;
  return kind === 'ServiceAccount' && place !== '' && user.username === usernameOfAccount(place, name);
}

function reasonOf(binding: Revision, role: RoleReference, { kind, name, namespace }: Subject): string {
  const title =
    binding.namespace === ''
      ? `ClusterRoleBinding ${goQuote(binding.name)}`
      : `RoleBinding ${goQuote(`${binding.name}/${binding.namespace}`)}`;
  const subject = kind === 'ServiceAccount' ? `${name}/${namespace ?? binding.namespace}` : name;
  return `allowed by ${title} of ${role.kind} ${goQuote(role.name)} to ${kind} ${goQuote(subject)}`;
}
