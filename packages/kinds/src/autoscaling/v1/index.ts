/**
 * The kinds of autoscaling/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { ObjectMeta, Time } from '../../meta.k8s.io/v1/index.js';

/** configuration of a horizontal pod autoscaler. */
export interface HorizontalPodAutoscaler {
  apiVersion?: 'autoscaling/v1';
  kind?: 'HorizontalPodAutoscaler';
  /** Standard object metadata. */
  metadata: ObjectMeta;
  /** spec defines the behaviour of autoscaler. */
  spec: HorizontalPodAutoscalerSpec;
  /** status is the current information about the autoscaler. */
  status?: HorizontalPodAutoscalerStatus;
}
/** The horizontalpodautoscalers of `autoscaling/v1`. They are in namespaces. */
export const HorizontalPodAutoscaler: ResourceToken<HorizontalPodAutoscaler, string> = { selector: { group: 'autoscaling', version: 'v1', plural: 'horizontalpodautoscalers' }, namespaced: true };

/** CrossVersionObjectReference contains enough information to let you identify the referred resource. */
export interface CrossVersionObjectReference {
  /** apiVersion is the API version of the referent */
  apiVersion?: string;
  /**
   * kind is the kind of the referent; More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind: string;
  /**
   * name is the name of the referent; More info:
   * https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names
   */
  name: string;
}

/** specification of a horizontal pod autoscaler. */
export interface HorizontalPodAutoscalerSpec {
  /**
   * maxReplicas is the upper limit for the number of pods that can be set by the autoscaler; cannot be smaller
   * than MinReplicas.
   */
  maxReplicas: number;
  /** minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down. */
  minReplicas?: number;
  /**
   * reference to scaled resource; horizontal pod autoscaler will learn the current resource consumption and will
   * set the desired number of pods by using its Scale subresource.
   */
  scaleTargetRef: CrossVersionObjectReference;
  /**
   * targetCPUUtilizationPercentage is the target average CPU utilization (represented as a percentage of requested
   * CPU) over all the pods; if not specified the default autoscaling policy will be used.
   */
  targetCPUUtilizationPercentage?: number;
}

/** current status of a horizontal pod autoscaler */
export interface HorizontalPodAutoscalerStatus {
  /**
   * currentCPUUtilizationPercentage is the current average CPU utilization over all pods, represented as a
   * percentage of requested CPU, e.g. 70 means that an average pod is using now 70% of its requested CPU.
   */
  currentCPUUtilizationPercentage?: number;
  /** currentReplicas is the current number of replicas of pods managed by this autoscaler. */
  currentReplicas: number;
  /** desiredReplicas is the desired number of replicas of pods managed by this autoscaler. */
  desiredReplicas: number;
  /**
   * lastScaleTime is the last time the HorizontalPodAutoscaler scaled the number of pods; used by the autoscaler
   * to control how often the number of pods is changed.
   */
  lastScaleTime?: Time;
  /** observedGeneration is the most recent generation observed by this autoscaler. */
  observedGeneration?: number;
}
