/**
 * The kinds of scheduling.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { ObjectMeta } from '../../meta.k8s.io/v1/index.js';

/** PriorityClass defines mapping from a priority class name to the priority integer value. */
export interface PriorityClass {
  apiVersion?: 'scheduling.k8s.io/v1';
  kind?: 'PriorityClass';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /**
   * description is an arbitrary string that usually provides guidelines on when this priority class should be
   * used.
   */
  description?: string;
  /**
   * globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that
   * do not have any priority class.
   */
  globalDefault?: boolean;
  /** preemptionPolicy is the Policy for preempting pods with lower priority. */
  preemptionPolicy?: 'Never' | 'PreemptLowerPriority';
  /** value represents the integer value of this priority class. */
  value?: number;
}
/** The priorityclasses of `scheduling.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const PriorityClass: ResourceToken<PriorityClass, undefined> = { selector: { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses' }, namespaced: false };
