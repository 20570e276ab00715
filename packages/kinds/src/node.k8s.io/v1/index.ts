/**
 * The kinds of node.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { ObjectMeta, Quantity } from '../../meta.k8s.io/v1/index.js';
import type { Toleration } from '../../v1/index.js';

/** RuntimeClass defines a class of container runtime supported in the cluster. */
export interface RuntimeClass {
  apiVersion?: 'node.k8s.io/v1';
  kind?: 'RuntimeClass';
  /** More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata */
  metadata: ObjectMeta;
  /**
   * handler specifies the underlying runtime and configuration that the CRI implementation will use to handle pods
   * of this class.
   */
  handler: string;
  /** overhead represents the resource overhead associated with running a pod for a given RuntimeClass. */
  overhead?: Overhead;
  /**
   * scheduling holds the scheduling constraints to ensure that pods running with this RuntimeClass are scheduled
   * to nodes that support it.
   */
  scheduling?: Scheduling;
}
/** The runtimeclasses of `node.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const RuntimeClass: ResourceToken<RuntimeClass, undefined> = { selector: { group: 'node.k8s.io', version: 'v1', plural: 'runtimeclasses' }, namespaced: false };

/** Overhead structure represents the resource overhead associated with running a pod. */
export interface Overhead {
  /** podFixed represents the fixed resource overhead associated with running a pod. */
  podFixed?: { [key: string]: Quantity };
}

/** Scheduling specifies the scheduling constraints for nodes supporting a RuntimeClass. */
export interface Scheduling {
  /** nodeSelector lists labels that must be present on nodes that support this RuntimeClass. */
  nodeSelector?: { [key: string]: string };
  /**
   * tolerations are appended (excluding duplicates) to pods running with this RuntimeClass during admission,
   * effectively unioning the set of nodes tolerated by the pod and the RuntimeClass.
   */
  tolerations?: Toleration[];
}
