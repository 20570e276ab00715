/**
 * All built-in kinds of Kubernetes 1.36: tokens that carry the types of their objects, and nothing else at run time.
 * What the objects are made of is in the modules of the groups and versions, such as `@kopf-ts/kinds/apps/v1`.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
export { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration } from './admissionregistration.k8s.io/v1/index.js';
export { CustomResourceDefinition } from './apiextensions.k8s.io/v1/index.js';
export { APIService } from './apiregistration.k8s.io/v1/index.js';
export { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from './apps/v1/index.js';
export { SelfSubjectReview, TokenReview } from './authentication.k8s.io/v1/index.js';
export { LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview } from './authorization.k8s.io/v1/index.js';
export { HorizontalPodAutoscaler } from './autoscaling/v2/index.js';
export { CronJob, Job } from './batch/v1/index.js';
export { CertificateSigningRequest } from './certificates.k8s.io/v1/index.js';
export { Lease } from './coordination.k8s.io/v1/index.js';
export { EndpointSlice } from './discovery.k8s.io/v1/index.js';
export { FlowSchema, PriorityLevelConfiguration } from './flowcontrol.apiserver.k8s.io/v1/index.js';
export { IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR } from './networking.k8s.io/v1/index.js';
export { RuntimeClass } from './node.k8s.io/v1/index.js';
export { PodDisruptionBudget } from './policy/v1/index.js';
export { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from './rbac.authorization.k8s.io/v1/index.js';
export { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from './resource.k8s.io/v1/index.js';
export { PriorityClass } from './scheduling.k8s.io/v1/index.js';
export { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass } from './storage.k8s.io/v1/index.js';
export { Binding, ComponentStatus, ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, ResourceQuota, Secret, Service, ServiceAccount } from './v1/index.js';
