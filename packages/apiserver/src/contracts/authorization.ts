/** Authorization: what a user may do, asked before the body of a request is read. */
import type { UserInfo } from './objects.js';

/** Objects of a resource that somebody wants to use. */
export interface ResourceAccess {
  readonly kind: 'resource';
  /** `get`, `list`, `impersonate`, and so on; empty for methods that Kubernetes does not know. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for all namespaces, and for what is in none. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
}

/** A path that leads to no objects: `/healthz`, `/version`, discovery. */
interface PathAccess {
  readonly kind: 'path';
  readonly verb: string;
  readonly path: string;
}

export type Access = ResourceAccess | PathAccess;

export interface Decision {
  readonly isAllowed: boolean;
  /** For people; often empty. */
  readonly reason: string;
}

/** What a role allows. The order of the keys is that of the answers. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface RulesOfUser {
  readonly rules: readonly Rule[];
  /** Why some rules are not known: bindings to roles that are not there. */
  readonly problems: readonly string[];
}

export interface Authorizer {
  decide(user: UserInfo, access: Access): Decision;
  /** In a namespace, together with what holds everywhere; without a namespace, only the latter. */
  rulesOf(user: UserInfo, namespace: string): RulesOfUser;
  /** Are roles enforced? Then nobody may give away more than they have. */
  readonly isEnforcing: boolean;
}
