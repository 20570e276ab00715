/**
 * The kinds of policy/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { Condition, IntOrString, LabelSelector, ObjectMeta, Time } from '../../meta.k8s.io/v1/index.js';

/** PodDisruptionBudget is an object to define the max disruption that can be caused to a collection of pods */
export interface PodDisruptionBudget {
  apiVersion?: 'policy/v1';
  kind?: 'PodDisruptionBudget';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** Specification of the desired behavior of the PodDisruptionBudget. */
  spec: PodDisruptionBudgetSpec;
  /** Most recently observed status of the PodDisruptionBudget. */
  status?: PodDisruptionBudgetStatus;
}
/** The poddisruptionbudgets of `policy/v1`. They are in namespaces. */
export const PodDisruptionBudget: ResourceToken<PodDisruptionBudget, string> = { selector: { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' }, namespaced: true };

/** PodDisruptionBudgetSpec is a description of a PodDisruptionBudget. */
export interface PodDisruptionBudgetSpec {
  /**
   * An eviction is allowed if at most "maxUnavailable" pods selected by "selector" are unavailable after the
   * eviction, i.e. even in absence of the evicted pod.
   */
  maxUnavailable?: IntOrString;
  /**
   * An eviction is allowed if at least "minAvailable" pods selected by "selector" will still be available after
   * the eviction, i.e. even in the absence of the evicted pod.
   */
  minAvailable?: IntOrString;
  /** Label query over pods whose evictions are managed by the disruption budget. */
  selector?: LabelSelector;
  /** UnhealthyPodEvictionPolicy defines the criteria for when unhealthy pods should be considered for eviction. */
  unhealthyPodEvictionPolicy?: 'AlwaysAllow' | 'IfHealthyBudget';
}

/** PodDisruptionBudgetStatus represents information about the status of a PodDisruptionBudget. */
export interface PodDisruptionBudgetStatus {
  /** Conditions contain conditions for PDB. */
  conditions?: Condition[];
  /** current number of healthy pods */
  currentHealthy?: number;
  /** minimum desired number of healthy pods */
  desiredHealthy?: number;
  /**
   * DisruptedPods contains information about pods whose eviction was processed by the API server eviction
   * subresource handler but has not yet been observed by the PodDisruptionBudget controller.
   */
  disruptedPods?: { [key: string]: Time };
  /** Number of pod disruptions that are currently allowed. */
  disruptionsAllowed?: number;
  /** total number of pods counted by this disruption budget */
  expectedPods?: number;
  /** Most recent generation observed when updating this PDB status. */
  observedGeneration?: number;
}
