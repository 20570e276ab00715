/** The built-in kinds, one row each: what they are called, and in what they differ from each other. */
import type { Cause, ServedObject } from '../contracts/objects.js';
import { defaultDefinition } from '../crd/definition.js';
import { dnsLabel, dnsSubdomain, type NameRule, pathSegment } from '../validation/names.js';
import { autoscalerConversion } from './conversions/autoscaler-versions.js';
import { claimConversion } from './conversions/claim-storage.js';
import { eventConversion } from './conversions/event-versions.js';
import { defaultAutoscaler, defaultOldAutoscaler } from './defaults/autoscaler-defaults.js';
import { defaultDriver, defaultPriorityClass, defaultSlice, defaultStorageClass } from './defaults/class-defaults.js';
import {
  type Defaulting,
  defaultAdmissionPolicy,
  defaultAdmissionPolicyBinding,
  defaultBarePod,
  defaultEndpoints,
  defaultIngressClass,
  defaultLimitRange,
  defaultNamespace,
  defaultNetworkPolicy,
  defaultNode,
  defaultPersistentVolume,
  defaultPersistentVolumeClaim,
  defaultRoleBinding,
  defaultSecret,
  defaultService,
  defaultTemplate,
  defaultWebhooks,
} from './defaults/other-defaults.js';
import {
  defaultCronJob,
  defaultDaemonSet,
  defaultDeployment,
  defaultJob,
  defaultReplicaSet,
  defaultReplicationController,
  defaultStatefulSet,
} from './defaults/workload-defaults.js';
import type { Conversion, PreparationContext, ScalePaths, Subresource } from './served.js';
import { ALL_VERBS, SUBRESOURCE_VERBS } from './served.js';

export interface BuiltinKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  /** Its name in the table of types. */
  readonly type: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly nameRule: NameRule;
  readonly countsGenerations: boolean;
  readonly allowsUnconditionalUpdate: boolean;
  readonly allowsCreateOnUpdate: boolean;
  readonly returnsDeleted: boolean;
  readonly orphansByDefault: boolean;
  /** Does nobody manage its fields? */
  readonly isUnmanaged?: boolean;
  /** Told to everyone who uses it. */
  readonly deprecation?: string;
  /** Is the whole metadata validated once more on updates? It only shows in how often a problem is told. */
  readonly revalidatesMetadata: boolean;
  /** Is its metadata looked at only as that of everything is? */
  readonly leavesMetadata?: boolean;
  /** Is a status given on creation dropped? */
  readonly resetsStatus: boolean;
  readonly fields: Readonly<Record<string, string>>;
  readonly defaults?: Defaulting;
  readonly scale?: ScalePaths;
  /** If it is stored in another version. */
  readonly conversion?: Conversion;
  prepareForCreate?(object: ServedObject, context: PreparationContext): void;
  prepareForUpdate?(object: ServedObject, old: ServedObject, subresource: string): void;
  validate?(object: ServedObject): readonly Cause[];
  validateUpdate?(object: ServedObject, old: ServedObject): readonly Cause[];
  gracePeriod?(object: ServedObject, requested: number | undefined): number;
}

type Row = Partial<Omit<BuiltinKind, 'subresources'>> & { readonly subresources?: readonly (string | Subresource)[] };

const NAMES = { 'metadata.name': 'metadata.name', 'metadata.namespace': 'metadata.namespace' };
const fieldsNamed = (...labels: string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(labels.map((label) => [label, label]));

/** Most kinds are alike: what a row does not say is as here. */
function row(group: string, kind: string, plural: string, options: Row = {}): BuiltinKind {
  const packageName = group === '' ? 'core' : (group.split('.')[0] as string);
  const { subresources = [], ...rest } = options;
  return {
    group,
    version: 'v1',
    plural,
    singular: kind.toLowerCase(),
    kind,
    type: `${packageName}.${kind}`,
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    nameRule: dnsSubdomain,
    countsGenerations: false,
    allowsUnconditionalUpdate: true,
    allowsCreateOnUpdate: false,
    returnsDeleted: false,
    orphansByDefault: false,
    revalidatesMetadata: false,
    resetsStatus: subresources.includes('status'),
    fields: NAMES,
    subresources: subresources.map((one) => (typeof one === 'string' ? subresourceNamed(one, kind) : one)),
    ...rest,
  };
}

function subresourceNamed(name: string, kind: string): Subresource {
  if (name === 'scale') return { name, kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: SUBRESOURCE_VERBS };
  return { name, kind, verbs: SUBRESOURCE_VERBS };
}

const ALL = ['all'];
const PROXY_VERBS = ['create', 'delete', 'get', 'patch', 'update'];
const scaled = (selector: string): ScalePaths => ({
  specReplicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
  labelSelector: selector,
});

const APPS = 'apps';
const BATCH = 'batch';
const NETWORKING = 'networking.k8s.io';
const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const EXTENSIONS = ['api-extensions'];
const STORAGE = 'storage.k8s.io';
const AUTOSCALING = 'autoscaling';
const workload: Row = { subresources: ['status'], categories: ALL, countsGenerations: true };
const cluster: Row = { namespaced: false };
const autoscaler: Row = { subresources: ['status'], shortNames: ['hpa'], categories: ALL };
/** Who changes one has to have seen it. */
const locked: Row = { allowsUnconditionalUpdate: false };
const role: Row = { nameRule: pathSegment, allowsCreateOnUpdate: true, revalidatesMetadata: true };
const webhooks: Row = {
  ...cluster,
  categories: EXTENSIONS,
  countsGenerations: true,
  allowsUnconditionalUpdate: false,
};

const EVENT_FIELDS = fieldsNamed(
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'involvedObject.apiVersion',
  'involvedObject.resourceVersion',
  'involvedObject.fieldPath',
  'reason',
  'reportingComponent',
  'source',
  'type',
  'metadata.namespace',
  'metadata.name',
);
const NEW_EVENT_FIELDS: Readonly<Record<string, string>> = {
  reason: 'reason',
  'regarding.kind': 'involvedObject.kind',
  'regarding.namespace': 'involvedObject.namespace',
  'regarding.name': 'involvedObject.name',
  'regarding.uid': 'involvedObject.uid',
  'regarding.apiVersion': 'involvedObject.apiVersion',
  'regarding.resourceVersion': 'involvedObject.resourceVersion',
  'regarding.fieldPath': 'involvedObject.fieldPath',
  reportingController: 'reportingComponent',
  type: 'type',
  ...NAMES,
};

const POD_FIELDS = fieldsNamed(
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.podIPs',
  'status.nominatedNodeName',
);

/** In the order in which discovery lists them. */
export const builtinKinds: readonly BuiltinKind[] = [
  row('', 'ConfigMap', 'configmaps', { shortNames: ['cm'], revalidatesMetadata: true }),
  row('', 'Endpoints', 'endpoints', {
    shortNames: ['ep'],
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    allowsCreateOnUpdate: true,
    defaults: defaultEndpoints,
  }),
  row('', 'Event', 'events', {
    shortNames: ['ev'],
    allowsCreateOnUpdate: true,
    fields: EVENT_FIELDS,
    leavesMetadata: true,
  }),
  row('', 'LimitRange', 'limitranges', {
    defaults: defaultLimitRange,
    shortNames: ['limits'],
    allowsCreateOnUpdate: true,
    revalidatesMetadata: true,
  }),
  row('', 'Namespace', 'namespaces', {
    ...cluster,
    shortNames: ['ns'],
    verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
    subresources: [{ name: 'finalize', kind: 'Namespace', verbs: ['update'] }, 'status'],
    nameRule: dnsLabel,
    returnsDeleted: true,
    fields: fieldsNamed('status.phase', 'metadata.name'),
    defaults: defaultNamespace,
  }),
  row('', 'Node', 'nodes', {
    ...cluster,
    shortNames: ['no'],
    subresources: ['status'],
    resetsStatus: false,
    fields: fieldsNamed('metadata.name', 'spec.unschedulable'),
    defaults: defaultNode,
  }),
  row('', 'PersistentVolumeClaim', 'persistentvolumeclaims', {
    shortNames: ['pvc'],
    subresources: ['status'],
    returnsDeleted: true,
    revalidatesMetadata: true,
    defaults: defaultPersistentVolumeClaim,
    conversion: claimConversion,
  }),
  row('', 'PersistentVolume', 'persistentvolumes', {
    ...cluster,
    shortNames: ['pv'],
    subresources: ['status'],
    returnsDeleted: true,
    defaults: defaultPersistentVolume,
  }),
  row('', 'Pod', 'pods', {
    shortNames: ['po'],
    categories: ALL,
    subresources: [
      { name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
      { name: 'binding', kind: 'Binding', verbs: ['create'] },
      'ephemeralcontainers',
      { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
      { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
      { name: 'log', kind: 'Pod', verbs: ['get'] },
      { name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
      { name: 'proxy', kind: 'PodProxyOptions', verbs: PROXY_VERBS },
      'resize',
      'status',
    ],
    countsGenerations: true,
    returnsDeleted: true,
    fields: { ...POD_FIELDS, 'spec.host': 'spec.nodeName' },
    defaults: defaultBarePod,
  }),
  row('', 'PodTemplate', 'podtemplates', { countsGenerations: true, returnsDeleted: true, defaults: defaultTemplate }),
  row('', 'ReplicationController', 'replicationcontrollers', {
    ...workload,
    shortNames: ['rc'],
    orphansByDefault: true,
    subresources: ['scale', 'status'],
    fields: fieldsNamed('metadata.name', 'metadata.namespace', 'status.replicas'),
    defaults: defaultReplicationController,
    scale: scaled('.spec.selector'),
  }),
  row('', 'ResourceQuota', 'resourcequotas', {
    shortNames: ['quota'],
    subresources: ['status'],
    returnsDeleted: true,
  }),
  row('', 'Secret', 'secrets', {
    revalidatesMetadata: true,
    fields: fieldsNamed('type', 'metadata.namespace', 'metadata.name'),
    defaults: defaultSecret,
  }),
  row('', 'ServiceAccount', 'serviceaccounts', {
    shortNames: ['sa'],
    subresources: [
      { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
    ],
    returnsDeleted: true,
    revalidatesMetadata: true,
  }),
  row('', 'Service', 'services', {
    shortNames: ['svc'],
    categories: ALL,
    subresources: [{ name: 'proxy', kind: 'ServiceProxyOptions', verbs: PROXY_VERBS }, 'status'],
    nameRule: dnsLabel,
    allowsCreateOnUpdate: true,
    returnsDeleted: true,
    revalidatesMetadata: true,
    fields: fieldsNamed('metadata.namespace', 'metadata.name', 'spec.clusterIP', 'spec.type'),
    defaults: defaultService,
  }),

  row(APPS, 'ControllerRevision', 'controllerrevisions'),
  row(APPS, 'DaemonSet', 'daemonsets', { ...workload, shortNames: ['ds'], defaults: defaultDaemonSet }),
  row(APPS, 'Deployment', 'deployments', {
    ...workload,
    shortNames: ['deploy'],
    subresources: ['scale', 'status'],
    defaults: defaultDeployment,
    scale: scaled('.spec.selector'),
  }),
  row(APPS, 'ReplicaSet', 'replicasets', {
    ...workload,
    shortNames: ['rs'],
    subresources: ['scale', 'status'],
    defaults: defaultReplicaSet,
    scale: scaled('.spec.selector'),
  }),
  row(APPS, 'StatefulSet', 'statefulsets', {
    ...workload,
    shortNames: ['sts'],
    subresources: ['scale', 'status'],
    defaults: defaultStatefulSet,
    scale: scaled('.spec.selector'),
  }),

  row('events.k8s.io', 'Event', 'events', {
    shortNames: ['ev'],
    allowsCreateOnUpdate: true,
    fields: NEW_EVENT_FIELDS,
    conversion: eventConversion,
    revalidatesMetadata: true,
  }),

  row(BATCH, 'CronJob', 'cronjobs', { ...workload, shortNames: ['cj'], defaults: defaultCronJob }),
  row(BATCH, 'Job', 'jobs', {
    ...workload,
    orphansByDefault: true,
    fields: fieldsNamed('metadata.name', 'metadata.namespace', 'status.successful'),
    defaults: defaultJob,
  }),

  row(NETWORKING, 'IngressClass', 'ingressclasses', {
    ...cluster,
    countsGenerations: true,
    defaults: defaultIngressClass,
  }),
  row(NETWORKING, 'Ingress', 'ingresses', { shortNames: ['ing'], subresources: ['status'], countsGenerations: true }),
  row(NETWORKING, 'IPAddress', 'ipaddresses', { ...cluster, shortNames: ['ip'] }),
  row(NETWORKING, 'NetworkPolicy', 'networkpolicies', {
    shortNames: ['netpol'],
    countsGenerations: true,
    defaults: defaultNetworkPolicy,
  }),
  row(NETWORKING, 'ServiceCIDR', 'servicecidrs', { ...cluster, subresources: ['status'] }),

  row(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', { ...cluster, ...role, defaults: defaultRoleBinding }),
  row(RBAC, 'ClusterRole', 'clusterroles', { ...cluster, ...role }),
  row(RBAC, 'RoleBinding', 'rolebindings', { ...role, defaults: defaultRoleBinding }),
  row(RBAC, 'Role', 'roles', { ...role }),

  row(ADMISSION, 'MutatingAdmissionPolicy', 'mutatingadmissionpolicies', {
    ...webhooks,
    defaults: defaultAdmissionPolicy,
  }),
  row(ADMISSION, 'MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', {
    ...webhooks,
    defaults: defaultAdmissionPolicyBinding,
  }),
  row(ADMISSION, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', {
    ...webhooks,
    defaults: defaultWebhooks,
  }),
  row(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', {
    ...webhooks,
    subresources: ['status'],
    defaults: defaultAdmissionPolicy,
  }),
  row(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', {
    ...webhooks,
    defaults: defaultAdmissionPolicyBinding,
  }),
  row(ADMISSION, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', {
    ...webhooks,
    defaults: defaultWebhooks,
  }),

  row('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions', {
    ...cluster,
    shortNames: ['crd', 'crds'],
    categories: EXTENSIONS,
    subresources: ['status'],
    countsGenerations: true,
    allowsUnconditionalUpdate: false,
    defaults: defaultDefinition,
  }),

  row(AUTOSCALING, 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    ...autoscaler,
    version: 'v2',
    type: 'autoscaling.v2.HorizontalPodAutoscaler',
    defaults: defaultAutoscaler,
  }),
  row(AUTOSCALING, 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    ...autoscaler,
    defaults: defaultOldAutoscaler,
    conversion: autoscalerConversion,
  }),
  row('policy', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    ...locked,
    shortNames: ['pdb'],
    nameRule: pathSegment,
    subresources: ['status'],
    countsGenerations: true,
  }),
  row('discovery.k8s.io', 'EndpointSlice', 'endpointslices', { defaults: defaultSlice }),
  row('scheduling.k8s.io', 'PriorityClass', 'priorityclasses', {
    ...cluster,
    shortNames: ['pc'],
    defaults: defaultPriorityClass,
  }),
  row('node.k8s.io', 'RuntimeClass', 'runtimeclasses', { ...cluster, ...locked, allowsCreateOnUpdate: true }),
  row('certificates.k8s.io', 'CertificateSigningRequest', 'certificatesigningrequests', {
    ...cluster,
    shortNames: ['csr'],
    subresources: ['approval', 'status'],
    isUnmanaged: true,
    fields: fieldsNamed('metadata.name', 'spec.signerName'),
  }),

  row(STORAGE, 'CSIDriver', 'csidrivers', { ...cluster, ...locked, returnsDeleted: true, defaults: defaultDriver }),
  row(STORAGE, 'CSINode', 'csinodes', { ...cluster, ...locked, returnsDeleted: true }),
  row(STORAGE, 'CSIStorageCapacity', 'csistoragecapacities', locked),
  row(STORAGE, 'StorageClass', 'storageclasses', {
    ...cluster,
    shortNames: ['sc'],
    returnsDeleted: true,
    defaults: defaultStorageClass,
  }),
  row(STORAGE, 'VolumeAttachment', 'volumeattachments', {
    ...cluster,
    ...locked,
    subresources: ['status'],
    returnsDeleted: true,
  }),
  row(STORAGE, 'VolumeAttributesClass', 'volumeattributesclasses', {
    ...cluster,
    shortNames: ['vac'],
    returnsDeleted: true,
  }),

  row('coordination.k8s.io', 'Lease', 'leases', { allowsCreateOnUpdate: true, allowsUnconditionalUpdate: false }),
];
