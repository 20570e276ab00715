/**
 * The kinds of rbac.authorization.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { LabelSelector, ObjectMeta } from '../../meta.k8s.io/v1/index.js';

/**
 * ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a
 * RoleBinding or ClusterRoleBinding.
 */
export interface ClusterRole {
  apiVersion?: 'rbac.authorization.k8s.io/v1';
  kind?: 'ClusterRole';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** AggregationRule is an optional field that describes how to build the Rules for this ClusterRole. */
  aggregationRule?: AggregationRule;
  /** Rules holds all the PolicyRules for this ClusterRole */
  rules?: PolicyRule[];
}
/** The clusterroles of `rbac.authorization.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const ClusterRole: ResourceToken<ClusterRole, undefined> = { selector: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles' }, namespaced: false };

/** ClusterRoleBinding references a ClusterRole, but not contain it. */
export interface ClusterRoleBinding {
  apiVersion?: 'rbac.authorization.k8s.io/v1';
  kind?: 'ClusterRoleBinding';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** RoleRef can only reference a ClusterRole in the global namespace. */
  roleRef: RoleRef;
  /** Subjects holds references to the objects the role applies to. */
  subjects?: Subject[];
}
/** The clusterrolebindings of `rbac.authorization.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const ClusterRoleBinding: ResourceToken<ClusterRoleBinding, undefined> = { selector: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterrolebindings' }, namespaced: false };

/** Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding. */
export interface Role {
  apiVersion?: 'rbac.authorization.k8s.io/v1';
  kind?: 'Role';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** Rules holds all the PolicyRules for this Role */
  rules?: PolicyRule[];
}
/** The roles of `rbac.authorization.k8s.io/v1`. They are in namespaces. */
export const Role: ResourceToken<Role, string> = { selector: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles' }, namespaced: true };

/** RoleBinding references a role, but does not contain it. */
export interface RoleBinding {
  apiVersion?: 'rbac.authorization.k8s.io/v1';
  kind?: 'RoleBinding';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. */
  roleRef: RoleRef;
  /** Subjects holds references to the objects the role applies to. */
  subjects?: Subject[];
}
/** The rolebindings of `rbac.authorization.k8s.io/v1`. They are in namespaces. */
export const RoleBinding: ResourceToken<RoleBinding, string> = { selector: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings' }, namespaced: true };

/** AggregationRule describes how to locate ClusterRoles to aggregate into the ClusterRole */
export interface AggregationRule {
  /** ClusterRoleSelectors holds a list of selectors which will be used to find ClusterRoles and create the rules. */
  clusterRoleSelectors?: LabelSelector[];
}

/**
 * PolicyRule holds information that describes a policy rule, but does not contain information about who the rule
 * applies to or which namespace the rule applies to.
 */
export interface PolicyRule {
  /** APIGroups is the name of the APIGroup that contains the resources. */
  apiGroups?: string[];
  /**
   * NonResourceURLs is a set of partial urls that a user should have access to. *s are allowed, but only as the
   * full, final step in the path Since non-resource URLs are not namespaced, this field is only applicable for
   * ClusterRoles referenced from a ClusterRoleBinding.
   */
  nonResourceURLs?: string[];
  /** ResourceNames is an optional white list of names that the rule applies to. */
  resourceNames?: string[];
  /** Resources is a list of resources this rule applies to. */
  resources?: string[];
  /** Verbs is a list of Verbs that apply to ALL the ResourceKinds contained in this rule. */
  verbs: string[];
}

/** RoleRef contains information that points to the role being used */
export interface RoleRef {
  /** APIGroup is the group for the resource being referenced */
  apiGroup?: string;
  /** Kind is the type of resource being referenced */
  kind: string;
  /** Name is the name of resource being referenced */
  name: string;
}

/** Subject contains a reference to the object or user identities a role binding applies to. */
export interface Subject {
  /** APIGroup holds the API group of the referenced subject. */
  apiGroup?: string;
  /** Kind of object being referenced. */
  kind: string;
  /** Name of the object being referenced. */
  name: string;
  /** Namespace of the referenced object. */
  namespace?: string;
}
