/**
 * The kinds of apps/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { IntOrString, LabelSelector, ObjectMeta, RawExtension, Time } from '../../meta.k8s.io/v1/index.js';
import type { PersistentVolumeClaim, PodTemplateSpec } from '../../v1/index.js';

/** ControllerRevision implements an immutable snapshot of state data. */
export interface ControllerRevision {
  apiVersion?: 'apps/v1';
  kind?: 'ControllerRevision';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** Data is the serialized representation of the state. */
  data?: RawExtension;
  /** Revision indicates the revision of the state represented by Data. */
  revision: number;
}
/** The controllerrevisions of `apps/v1`. They are in namespaces. */
export const ControllerRevision: ResourceToken<ControllerRevision, string> = { selector: { group: 'apps', version: 'v1', plural: 'controllerrevisions' }, namespaced: true };

/** DaemonSet represents the configuration of a daemon set. */
export interface DaemonSet {
  apiVersion?: 'apps/v1';
  kind?: 'DaemonSet';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** The desired behavior of this daemon set. */
  spec: DaemonSetSpec;
  /** The current status of this daemon set. */
  status?: DaemonSetStatus;
}
/** The daemonsets of `apps/v1`. They are in namespaces. */
export const DaemonSet: ResourceToken<DaemonSet, string> = { selector: { group: 'apps', version: 'v1', plural: 'daemonsets' }, namespaced: true };

/** Deployment enables declarative updates for Pods and ReplicaSets. */
export interface Deployment {
  apiVersion?: 'apps/v1';
  kind?: 'Deployment';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** Specification of the desired behavior of the Deployment. */
  spec: DeploymentSpec;
  /** Most recently observed status of the Deployment. */
  status?: DeploymentStatus;
}
/** The deployments of `apps/v1`. They are in namespaces. */
export const Deployment: ResourceToken<Deployment, string> = { selector: { group: 'apps', version: 'v1', plural: 'deployments' }, namespaced: true };

/** ReplicaSet ensures that a specified number of pod replicas are running at any given time. */
export interface ReplicaSet {
  apiVersion?: 'apps/v1';
  kind?: 'ReplicaSet';
  /**
   * If the Labels of a ReplicaSet are empty, they are defaulted to be the same as the Pod(s) that the ReplicaSet
   * manages.
   */
  metadata: ObjectMeta;
  /** Spec defines the specification of the desired behavior of the ReplicaSet. */
  spec: ReplicaSetSpec;
  /** Status is the most recently observed status of the ReplicaSet. */
  status?: ReplicaSetStatus;
}
/** The replicasets of `apps/v1`. They are in namespaces. */
export const ReplicaSet: ResourceToken<ReplicaSet, string> = { selector: { group: 'apps', version: 'v1', plural: 'replicasets' }, namespaced: true };

/** StatefulSet represents a set of pods with consistent identities. */
export interface StatefulSet {
  apiVersion?: 'apps/v1';
  kind?: 'StatefulSet';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** Spec defines the desired identities of pods in this set. */
  spec: StatefulSetSpec;
  /** Status is the current status of Pods in this StatefulSet. */
  status?: StatefulSetStatus;
}
/** The statefulsets of `apps/v1`. They are in namespaces. */
export const StatefulSet: ResourceToken<StatefulSet, string> = { selector: { group: 'apps', version: 'v1', plural: 'statefulsets' }, namespaced: true };

/** DaemonSetCondition describes the state of a DaemonSet at a certain point. */
export interface DaemonSetCondition {
  /** Last time the condition transitioned from one status to another. */
  lastTransitionTime?: Time;
  /** A human readable message indicating details about the transition. */
  message?: string;
  /** The reason for the condition's last transition. */
  reason?: string;
  /** Status of the condition, one of True, False, Unknown. */
  status: string;
  /** Type of DaemonSet condition. */
  type: string;
}

/** DaemonSetSpec is the specification of a daemon set. */
export interface DaemonSetSpec {
  /**
   * The minimum number of seconds for which a newly created DaemonSet pod should be ready without any of its
   * container crashing, for it to be considered available.
   */
  minReadySeconds?: number;
  /** The number of old history to retain to allow rollback. */
  revisionHistoryLimit?: number;
  /** A label query over pods that are managed by the daemon set. */
  selector: LabelSelector;
  /** An object that describes the pod that will be created. */
  template: PodTemplateSpec;
  /** An update strategy to replace existing DaemonSet pods with new pods. */
  updateStrategy?: DaemonSetUpdateStrategy;
}

/** DaemonSetStatus represents the current status of a daemon set. */
export interface DaemonSetStatus {
  /** Count of hash collisions for the DaemonSet. */
  collisionCount?: number;
  /** Represents the latest available observations of a DaemonSet's current state. */
  conditions?: DaemonSetCondition[];
  /** The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. */
  currentNumberScheduled: number;
  /**
   * The total number of nodes that should be running the daemon pod (including nodes correctly running the daemon
   * pod).
   */
  desiredNumberScheduled: number;
  /**
   * The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and
   * available (ready for at least spec.minReadySeconds)
   */
  numberAvailable?: number;
  /** The number of nodes that are running the daemon pod, but are not supposed to run the daemon pod. */
  numberMisscheduled: number;
  /**
   * numberReady is the number of nodes that should be running the daemon pod and have one or more of the daemon
   * pod running with a Ready Condition.
   */
  numberReady: number;
  /**
   * The number of nodes that should be running the daemon pod and have none of the daemon pod running and
   * available (ready for at least spec.minReadySeconds)
   */
  numberUnavailable?: number;
  /** The most recent generation observed by the daemon set controller. */
  observedGeneration?: number;
  /** The total number of nodes that are running updated daemon pod */
  updatedNumberScheduled?: number;
}

/** DaemonSetUpdateStrategy is a struct used to control the update strategy for a DaemonSet. */
export interface DaemonSetUpdateStrategy {
  /** Rolling update config params. */
  rollingUpdate?: RollingUpdateDaemonSet;
  /** Type of daemon set update. */
  type?: 'OnDelete' | 'RollingUpdate';
}

/** DeploymentCondition describes the state of a deployment at a certain point. */
export interface DeploymentCondition {
  /** Last time the condition transitioned from one status to another. */
  lastTransitionTime?: Time;
  /** The last time this condition was updated. */
  lastUpdateTime?: Time;
  /** A human readable message indicating details about the transition. */
  message?: string;
  /** The reason for the condition's last transition. */
  reason?: string;
  /** Status of the condition, one of True, False, Unknown. */
  status: string;
  /** Type of deployment condition. */
  type: string;
}

/** DeploymentSpec is the specification of the desired behavior of the Deployment. */
export interface DeploymentSpec {
  /**
   * Minimum number of seconds for which a newly created pod should be ready without any of its container crashing,
   * for it to be considered available.
   */
  minReadySeconds?: number;
  /** Indicates that the deployment is paused. */
  paused?: boolean;
  /** The maximum time in seconds for a deployment to make progress before it is considered to be failed. */
  progressDeadlineSeconds?: number;
  /** Number of desired pods. */
  replicas?: number;
  /** The number of old ReplicaSets to retain to allow rollback. */
  revisionHistoryLimit?: number;
  /** Label selector for pods. */
  selector: LabelSelector;
  /** The deployment strategy to use to replace existing pods with new ones. */
  strategy?: DeploymentStrategy;
  /** Template describes the pods that will be created. */
  template: PodTemplateSpec;
}

/** DeploymentStatus is the most recently observed status of the Deployment. */
export interface DeploymentStatus {
  /**
   * Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this
   * deployment.
   */
  availableReplicas?: number;
  /** Count of hash collisions for the Deployment. */
  collisionCount?: number;
  /** Represents the latest available observations of a deployment's current state. */
  conditions?: DeploymentCondition[];
  /** The generation observed by the deployment controller. */
  observedGeneration?: number;
  /** Total number of non-terminating pods targeted by this Deployment with a Ready Condition. */
  readyReplicas?: number;
  /** Total number of non-terminating pods targeted by this deployment (their labels match the selector). */
  replicas?: number;
  /** Total number of terminating pods targeted by this deployment. */
  terminatingReplicas?: number;
  /** Total number of unavailable pods targeted by this deployment. */
  unavailableReplicas?: number;
  /** Total number of non-terminating pods targeted by this deployment that have the desired template spec. */
  updatedReplicas?: number;
}

/** DeploymentStrategy describes how to replace existing pods with new ones. */
export interface DeploymentStrategy {
  /** Rolling update config params. */
  rollingUpdate?: RollingUpdateDeployment;
  /** Type of deployment. */
  type?: 'Recreate' | 'RollingUpdate';
}

/** ReplicaSetCondition describes the state of a replica set at a certain point. */
export interface ReplicaSetCondition {
  /** The last time the condition transitioned from one status to another. */
  lastTransitionTime?: Time;
  /** A human readable message indicating details about the transition. */
  message?: string;
  /** The reason for the condition's last transition. */
  reason?: string;
  /** Status of the condition, one of True, False, Unknown. */
  status: string;
  /** Type of replica set condition. */
  type: string;
}

/** ReplicaSetSpec is the specification of a ReplicaSet. */
export interface ReplicaSetSpec {
  /**
   * Minimum number of seconds for which a newly created pod should be ready without any of its container crashing,
   * for it to be considered available.
   */
  minReadySeconds?: number;
  /** Replicas is the number of desired pods. */
  replicas?: number;
  /** Selector is a label query over pods that should match the replica count. */
  selector: LabelSelector;
  /** Template is the object that describes the pod that will be created if insufficient replicas are detected. */
  template?: PodTemplateSpec;
}

/** ReplicaSetStatus represents the current status of a ReplicaSet. */
export interface ReplicaSetStatus {
  /** The number of available non-terminating pods (ready for at least minReadySeconds) for this replica set. */
  availableReplicas?: number;
  /** Represents the latest available observations of a replica set's current state. */
  conditions?: ReplicaSetCondition[];
  /** The number of non-terminating pods that have labels matching the labels of the pod template of the replicaset. */
  fullyLabeledReplicas?: number;
  /** ObservedGeneration reflects the generation of the most recently observed ReplicaSet. */
  observedGeneration?: number;
  /** The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition. */
  readyReplicas?: number;
  /** Replicas is the most recently observed number of non-terminating pods. */
  replicas: number;
  /** The number of terminating pods for this replica set. */
  terminatingReplicas?: number;
}

/** Spec to control the desired behavior of daemon set rolling update. */
export interface RollingUpdateDaemonSet {
  /**
   * The maximum number of nodes with an existing available DaemonSet pod that can have an updated DaemonSet pod
   * during during an update.
   */
  maxSurge?: IntOrString;
  /** The maximum number of DaemonSet pods that can be unavailable during the update. */
  maxUnavailable?: IntOrString;
}

/** Spec to control the desired behavior of rolling update. */
export interface RollingUpdateDeployment {
  /** The maximum number of pods that can be scheduled above the desired number of pods. */
  maxSurge?: IntOrString;
  /** The maximum number of pods that can be unavailable during the update. */
  maxUnavailable?: IntOrString;
}

/** RollingUpdateStatefulSetStrategy is used to communicate parameter for RollingUpdateStatefulSetStrategyType. */
export interface RollingUpdateStatefulSetStrategy {
  /** The maximum number of pods that can be unavailable during the update. */
  maxUnavailable?: IntOrString;
  /** Partition indicates the ordinal at which the StatefulSet should be partitioned for updates. */
  partition?: number;
}

/** StatefulSetCondition describes the state of a statefulset at a certain point. */
export interface StatefulSetCondition {
  /** Last time the condition transitioned from one status to another. */
  lastTransitionTime?: Time;
  /** A human readable message indicating details about the transition. */
  message?: string;
  /** The reason for the condition's last transition. */
  reason?: string;
  /** Status of the condition, one of True, False, Unknown. */
  status: string;
  /** Type of statefulset condition. */
  type: string;
}

/** StatefulSetOrdinals describes the policy used for replica ordinal assignment in this StatefulSet. */
export interface StatefulSetOrdinals {
  /** start is the number representing the first replica's index. */
  start?: number;
}

/**
 * StatefulSetPersistentVolumeClaimRetentionPolicy describes the policy used for PVCs created from the
 * StatefulSet VolumeClaimTemplates.
 */
export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  /**
   * WhenDeleted specifies what happens to PVCs created from StatefulSet VolumeClaimTemplates when the StatefulSet
   * is deleted.
   */
  whenDeleted?: string;
  /**
   * WhenScaled specifies what happens to PVCs created from StatefulSet VolumeClaimTemplates when the StatefulSet
   * is scaled down.
   */
  whenScaled?: string;
}

/** A StatefulSetSpec is the specification of a StatefulSet. */
export interface StatefulSetSpec {
  /**
   * Minimum number of seconds for which a newly created pod should be ready without any of its container crashing
   * for it to be considered available.
   */
  minReadySeconds?: number;
  /** ordinals controls the numbering of replica indices in a StatefulSet. */
  ordinals?: StatefulSetOrdinals;
  /**
   * persistentVolumeClaimRetentionPolicy describes the lifecycle of persistent volume claims created from
   * volumeClaimTemplates.
   */
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  /**
   * podManagementPolicy controls how pods are created during initial scale up, when replacing pods on nodes, or
   * when scaling down.
   */
  podManagementPolicy?: 'OrderedReady' | 'Parallel';
  /** replicas is the desired number of replicas of the given Template. */
  replicas?: number;
  /**
   * revisionHistoryLimit is the maximum number of revisions that will be maintained in the StatefulSet's revision
   * history.
   */
  revisionHistoryLimit?: number;
  /** selector is a label query over pods that should match the replica count. */
  selector: LabelSelector;
  /** serviceName is the name of the service that governs this StatefulSet. */
  serviceName?: string;
  /** template is the object that describes the pod that will be created if insufficient replicas are detected. */
  template: PodTemplateSpec;
  /**
   * updateStrategy indicates the StatefulSetUpdateStrategy that will be employed to update Pods in the StatefulSet
   * when a revision is made to Template.
   */
  updateStrategy?: StatefulSetUpdateStrategy;
  /** volumeClaimTemplates is a list of claims that pods are allowed to reference. */
  volumeClaimTemplates?: PersistentVolumeClaim[];
}

/** StatefulSetStatus represents the current state of a StatefulSet. */
export interface StatefulSetStatus {
  /** Total number of available pods (ready for at least minReadySeconds) targeted by this statefulset. */
  availableReplicas?: number;
  /** collisionCount is the count of hash collisions for the StatefulSet. */
  collisionCount?: number;
  /** Represents the latest available observations of a statefulset's current state. */
  conditions?: StatefulSetCondition[];
  /**
   * currentReplicas is the number of Pods created by the StatefulSet controller from the StatefulSet version
   * indicated by currentRevision.
   */
  currentReplicas?: number;
  /**
   * currentRevision, if not empty, indicates the version of the StatefulSet used to generate Pods in the sequence
   * [0,currentReplicas).
   */
  currentRevision?: string;
  /** observedGeneration is the most recent generation observed for this StatefulSet. */
  observedGeneration?: number;
  /** readyReplicas is the number of pods created for this StatefulSet with a Ready Condition. */
  readyReplicas?: number;
  /** replicas is the number of Pods created by the StatefulSet controller. */
  replicas: number;
  /**
   * updateRevision, if not empty, indicates the version of the StatefulSet used to generate Pods in the sequence
   * [replicas-updatedReplicas,replicas)
   */
  updateRevision?: string;
  /**
   * updatedReplicas is the number of Pods created by the StatefulSet controller from the StatefulSet version
   * indicated by updateRevision.
   */
  updatedReplicas?: number;
}

/** StatefulSetUpdateStrategy indicates the strategy that the StatefulSet controller will use to perform updates. */
export interface StatefulSetUpdateStrategy {
  /** RollingUpdate is used to communicate parameters when Type is RollingUpdateStatefulSetStrategyType. */
  rollingUpdate?: RollingUpdateStatefulSetStrategy;
  /** Type indicates the type of the StatefulSetUpdateStrategy. */
  type?: 'OnDelete' | 'RollingUpdate';
}
