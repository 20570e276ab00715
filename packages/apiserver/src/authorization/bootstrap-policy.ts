/**
 * The roles and bindings that every cluster begins with. Written by scripts/bootstrap-roles.mjs; do not edit.
 *
 * A rule is `verbs groups resources names`, or `verbs path paths`; the group without a name is `core`.
 */

export interface BootstrapRole {
  readonly labels?: readonly string[];
  /** Labels of the roles of which it is made. */
  readonly aggregates?: readonly string[];
  readonly rules?: readonly string[];
}

export interface BootstrapBinding {
  readonly role: string;
  readonly subjects: readonly string[];
}

/** By their names, with their namespaces if they have any. */
export const bootstrapRoles: Readonly<Record<string, BootstrapRole>> = {
  admin: {
    aggregates: ['rbac.authorization.k8s.io/aggregate-to-admin'],
  },
  'cluster-admin': {
    rules: ['* * *', '* path *'],
  },
  edit: {
    labels: ['rbac.authorization.k8s.io/aggregate-to-admin'],
    aggregates: ['rbac.authorization.k8s.io/aggregate-to-edit'],
  },
  'system:aggregate-to-admin': {
    labels: ['rbac.authorization.k8s.io/aggregate-to-admin'],
    rules: [
      'create authorization.k8s.io localsubjectaccessreviews',
      'create,delete,deletecollection,get,list,patch,update,watch rbac.authorization.k8s.io rolebindings,roles',
    ],
  },
  'system:aggregate-to-edit': {
    labels: ['rbac.authorization.k8s.io/aggregate-to-edit'],
    rules: [
      'get,list,watch core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
      'impersonate core serviceaccounts',
      'create,delete,deletecollection,patch,update core pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
      'create core pods/eviction',
      'create,delete,deletecollection,patch,update core configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
      'create core serviceaccounts/token',
      'create,delete,deletecollection,patch,update core,events.k8s.io events',
      'create,delete,deletecollection,patch,update apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale',
      'create,delete,deletecollection,patch,update autoscaling horizontalpodautoscalers',
      'create,delete,deletecollection,patch,update batch cronjobs,jobs',
      'create,delete,deletecollection,patch,update extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale',
      'create,delete,deletecollection,patch,update policy poddisruptionbudgets',
      'create,delete,deletecollection,patch,update networking.k8s.io ingresses,networkpolicies',
      'create,delete,deletecollection,get,list,patch,update,watch coordination.k8s.io leases',
      'create,delete,deletecollection,patch,update resource.k8s.io resourceclaims,resourceclaimtemplates',
    ],
  },
  'system:aggregate-to-view': {
    labels: ['rbac.authorization.k8s.io/aggregate-to-view'],
    rules: [
      'get,list,watch core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status',
      'get,list,watch core bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status',
      'get,list,watch core namespaces',
      'get,list,watch core,events.k8s.io events',
      'get,list,watch discovery.k8s.io endpointslices',
      'get,list,watch apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status',
      'get,list,watch autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status',
      'get,list,watch batch cronjobs,cronjobs/status,jobs,jobs/status',
      'get,list,watch extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale',
      'get,list,watch policy poddisruptionbudgets,poddisruptionbudgets/status',
      'get,list,watch networking.k8s.io ingresses,ingresses/status,networkpolicies',
      'get,list,watch resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates',
    ],
  },
  'system:auth-delegator': {
    rules: ['create authentication.k8s.io tokenreviews', 'create authorization.k8s.io subjectaccessreviews'],
  },
  'system:basic-user': {
    rules: [
      'create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews',
      'create authentication.k8s.io selfsubjectreviews',
    ],
  },
  'system:certificates.k8s.io:certificatesigningrequests:nodeclient': {
    rules: ['create certificates.k8s.io certificatesigningrequests/nodeclient'],
  },
  'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient': {
    rules: ['create certificates.k8s.io certificatesigningrequests/selfnodeclient'],
  },
  'system:certificates.k8s.io:kube-apiserver-client-approver': {
    rules: ['approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client'],
  },
  'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver': {
    rules: ['approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet'],
  },
  'system:certificates.k8s.io:kubelet-serving-approver': {
    rules: ['approve certificates.k8s.io signers kubernetes.io/kubelet-serving'],
  },
  'system:certificates.k8s.io:legacy-unknown-approver': {
    rules: ['approve certificates.k8s.io signers kubernetes.io/legacy-unknown'],
  },
  'system:controller:attachdetach-controller': {
    rules: [
      'list,watch core persistentvolumeclaims,persistentvolumes',
      'get,list,watch core nodes',
      'patch,update core nodes/status',
      'list,watch core pods',
      'create,patch,update core,events.k8s.io events',
      'create,delete,get,list,watch storage.k8s.io volumeattachments',
      'get,list,watch storage.k8s.io csidrivers',
      'get,list,watch storage.k8s.io csinodes',
    ],
  },
  'system:controller:certificate-controller': {
    rules: [
      'delete,get,list,watch certificates.k8s.io certificatesigningrequests',
      'update certificates.k8s.io certificatesigningrequests/approval,certificatesigningrequests/status',
      'approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet',
      'sign certificates.k8s.io signers kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown',
      'create authorization.k8s.io subjectaccessreviews',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:clusterrole-aggregation-controller': {
    rules: ['escalate,get,list,patch,update,watch rbac.authorization.k8s.io clusterroles'],
  },
  'system:controller:cronjob-controller': {
    rules: [
      'get,list,update,watch batch cronjobs',
      'create,delete,get,list,patch,update,watch batch jobs',
      'update batch cronjobs/status',
      'update batch cronjobs/finalizers',
      'delete,list,watch core pods',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:daemon-set-controller': {
    rules: [
      'get,list,watch apps,extensions daemonsets',
      'update apps,extensions daemonsets/status',
      'update apps,extensions daemonsets/finalizers',
      'list,watch core nodes',
      'create,delete,list,patch,watch core pods',
      'create core pods/binding',
      'create,delete,get,list,patch,update,watch apps controllerrevisions',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:deployment-controller': {
    rules: [
      'get,list,update,watch apps,extensions deployments',
      'update apps,extensions deployments/status',
      'update apps,extensions deployments/finalizers',
      'create,delete,get,list,patch,update,watch apps,extensions replicasets',
      'get,list,update,watch core pods',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:device-taint-eviction-controller': {
    rules: [
      'delete,get,list,watch core pods',
      'patch,update core pods/status',
      'get,list,watch resource.k8s.io resourceclaims',
      'get,list,watch resource.k8s.io resourceslices',
      'get,list,watch resource.k8s.io deviceclasses',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:disruption-controller': {
    rules: [
      'get,list,watch apps,extensions deployments',
      'get,list,watch apps,extensions replicasets',
      'get,list,watch core replicationcontrollers',
      'get,list,watch policy poddisruptionbudgets',
      'get,list,watch apps statefulsets',
      'update policy poddisruptionbudgets/status',
      'patch,update core pods/status',
      'get * */scale',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:endpoint-controller': {
    rules: [
      'get,list,watch core pods,services',
      'create,delete,get,list,update,watch core endpoints',
      'create core endpoints/restricted',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:endpointslice-controller': {
    rules: [
      'get,list,watch core nodes,pods,services',
      'update core services/finalizers',
      'create,delete,get,list,update,watch discovery.k8s.io endpointslices',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:endpointslicemirroring-controller': {
    rules: [
      'get,list,watch core endpoints,services',
      'update core services/finalizers',
      'update core endpoints/finalizers',
      'create,delete,get,list,update,watch discovery.k8s.io endpointslices',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:ephemeral-volume-controller': {
    rules: [
      'get,list,watch core pods',
      'update core pods/finalizers',
      'create,get,list,watch core persistentvolumeclaims',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:expand-controller': {
    rules: [
      'get,list,patch,update,watch core persistentvolumes',
      'patch,update core persistentvolumeclaims/status',
      'get,list,watch core persistentvolumeclaims',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:generic-garbage-collector': {
    rules: ['delete,get,list,patch,update,watch * *', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:horizontal-pod-autoscaler': {
    rules: [
      'get,list,watch autoscaling horizontalpodautoscalers',
      'update autoscaling horizontalpodautoscalers/status',
      'get,update * */scale',
      'list,watch core pods',
      'list,watch metrics.k8s.io pods',
      'get,list,watch custom.metrics.k8s.io *',
      'get,list,watch external.metrics.k8s.io *',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:job-controller': {
    rules: [
      'get,list,patch,update,watch batch jobs',
      'update batch jobs/status',
      'update batch jobs/finalizers',
      'create,delete,list,patch,watch core pods',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:legacy-service-account-token-cleaner': {
    rules: ['get core configmaps kube-apiserver-legacy-service-account-token-tracking', 'delete,patch core secrets'],
  },
  'system:controller:namespace-controller': {
    rules: [
      'delete,get,list,watch core namespaces',
      'update core namespaces/finalize,namespaces/status',
      'delete,deletecollection,get,list,watch * *',
    ],
  },
  'system:controller:node-controller': {
    rules: [
      'delete,get,list,patch,update,watch core nodes',
      'patch,update core nodes/status',
      'patch,update core pods/status',
      'delete,get,list,watch core pods',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:persistent-volume-binder': {
    rules: [
      'create,delete,get,list,update,watch core persistentvolumes',
      'update core persistentvolumes/status',
      'get,list,update,watch core persistentvolumeclaims',
      'update core persistentvolumeclaims/status',
      'create,delete,get,list,watch core pods',
      'get,list,watch storage.k8s.io storageclasses',
      'list,watch core nodes',
      'create,patch,update core,events.k8s.io events',
      'watch core events',
    ],
  },
  'system:controller:pod-garbage-collector': {
    rules: ['delete,list,watch core pods', 'get,list,watch core nodes', 'patch core pods/status'],
  },
  'system:controller:pv-protection-controller': {
    rules: ['get,list,update,watch core persistentvolumes', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:pvc-protection-controller': {
    rules: [
      'get,list,update,watch core persistentvolumeclaims',
      'update core persistentvolumeclaims/status',
      'get,list,watch core pods',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:replicaset-controller': {
    rules: [
      'get,list,update,watch apps,extensions replicasets',
      'update apps,extensions replicasets/status',
      'update apps,extensions replicasets/finalizers',
      'create,delete,list,patch,watch core pods',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:replication-controller': {
    rules: [
      'get,list,update,watch core replicationcontrollers',
      'update core replicationcontrollers/status',
      'update core replicationcontrollers/finalizers',
      'create,delete,list,patch,watch core pods',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:resource-claim-controller': {
    rules: [
      'get,list,watch core pods',
      'update core pods/finalizers',
      'create,delete,get,list,watch resource.k8s.io resourceclaims',
      'patch,update resource.k8s.io resourceclaims,resourceclaims/status',
      'patch,update core pods/status',
      'create,patch,update core,events.k8s.io events',
      'patch,update resource.k8s.io resourceclaims/binding',
    ],
  },
  'system:controller:resourcequota-controller': {
    rules: ['list,watch * *', 'update core resourcequotas/status', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:root-ca-cert-publisher': {
    rules: ['create,update core configmaps', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:route-controller': {
    rules: ['list,watch core nodes', 'patch core nodes/status', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:selinux-warning-controller': {
    rules: [
      'create,patch,update core,events.k8s.io events',
      'get,list,watch core persistentvolumes',
      'get,list,watch core persistentvolumeclaims',
      'get,list,watch core pods',
      'get,list,watch storage.k8s.io csidrivers',
    ],
  },
  'system:controller:service-account-controller': {
    rules: ['create core serviceaccounts', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:service-cidrs-controller': {
    rules: [
      'get,list,patch,update,watch networking.k8s.io servicecidrs',
      'patch,update networking.k8s.io servicecidrs/finalizers',
      'patch,update networking.k8s.io servicecidrs/status',
      'get,list,watch networking.k8s.io ipaddresses',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:service-controller': {
    rules: [
      'get,list,watch core services',
      'patch,update core services/status',
      'list,watch core nodes',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:statefulset-controller': {
    rules: [
      'list,watch core pods',
      'get,list,watch apps statefulsets',
      'update apps statefulsets/status',
      'update apps statefulsets/finalizers',
      'create,delete,get,patch,update core pods',
      'create,delete,get,list,patch,update,watch apps controllerrevisions',
      'create,get,list,watch core persistentvolumeclaims',
      'delete,update core persistentvolumeclaims',
      'update core pods/finalizers',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:ttl-after-finished-controller': {
    rules: ['delete,get,list,watch batch jobs', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:ttl-controller': {
    rules: ['list,patch,update,watch core nodes', 'create,patch,update core,events.k8s.io events'],
  },
  'system:controller:validatingadmissionpolicy-status-controller': {
    rules: [
      'get,list,watch admissionregistration.k8s.io validatingadmissionpolicies',
      'get,patch,update admissionregistration.k8s.io validatingadmissionpolicies/status',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:controller:volumeattributesclass-protection-controller': {
    rules: [
      'get,list,watch core persistentvolumeclaims',
      'get,list,watch core persistentvolumes',
      'get,list,update,watch storage.k8s.io volumeattributesclasses',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:discovery': {
    rules: ['get path /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/'],
  },
  'system:heapster': {
    rules: ['get,list,watch core events,namespaces,nodes,pods', 'get,list,watch extensions deployments'],
  },
  'system:kube-aggregator': {
    rules: ['get,list,watch core endpoints,services'],
  },
  'system:kube-controller-manager': {
    rules: [
      'create,patch,update core,events.k8s.io events',
      'create coordination.k8s.io leases',
      'get,update coordination.k8s.io leases kube-controller-manager',
      'create core secrets,serviceaccounts',
      'delete core secrets',
      'get core configmaps,namespaces,secrets,serviceaccounts',
      'update core secrets,serviceaccounts',
      'create authentication.k8s.io tokenreviews',
      'create authorization.k8s.io subjectaccessreviews',
      'list,watch * *',
      'create core serviceaccounts/token',
    ],
  },
  'system:kube-dns': {
    rules: ['list,watch core endpoints,services'],
  },
  'system:kube-scheduler': {
    rules: [
      'create,patch,update core,events.k8s.io events',
      'create coordination.k8s.io leases',
      'get,list,update,watch coordination.k8s.io leases kube-scheduler',
      'create,delete,deletecollection,get,list,patch,update,watch coordination.k8s.io leasecandidates',
      'get,list,watch core nodes',
      'delete,get,list,watch core pods',
      'create core bindings,pods/binding',
      'patch,update core pods/status',
      'get,list,watch core replicationcontrollers,services',
      'get,list,watch apps,extensions replicasets',
      'get,list,watch apps statefulsets',
      'get,list,watch policy poddisruptionbudgets',
      'get,list,watch core persistentvolumeclaims,persistentvolumes',
      'create authentication.k8s.io tokenreviews',
      'create authorization.k8s.io subjectaccessreviews',
      'get,list,watch storage.k8s.io csinodes',
      'get,list,watch storage.k8s.io volumeattachments',
      'get,list,watch core namespaces',
      'get,list,watch storage.k8s.io csidrivers',
      'get,list,watch storage.k8s.io csistoragecapacities',
      'get,list,watch resource.k8s.io deviceclasses',
      'get,list,patch,update,watch resource.k8s.io resourceclaims',
      'get,list,patch,update,watch resource.k8s.io resourceclaims/status',
      'update core pods/finalizers',
      'get,list,watch resource.k8s.io resourceslices',
      'create,delete resource.k8s.io resourceclaims',
      'patch,update resource.k8s.io resourceclaims/binding',
    ],
  },
  'system:kubelet-api-admin': {
    rules: [
      'get,list,watch core nodes',
      'proxy core nodes',
      '* core nodes/log,nodes/metrics,nodes/proxy,nodes/stats',
      '* core nodes/configz,nodes/healthz,nodes/pods',
    ],
  },
  'system:monitoring': {
    rules: [
      'get path /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz',
      'get core nodes/metrics',
    ],
  },
  'system:node': {
    rules: [
      'create authentication.k8s.io tokenreviews',
      'create authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews',
      'get,list,watch core services',
      'create,get,list,watch core nodes',
      'patch,update core nodes/status',
      'patch,update core nodes',
      'create,patch,update core,events.k8s.io events',
      'get,list,watch core pods',
      'create,delete core pods',
      'patch,update core pods/status',
      'create core pods/eviction',
      'get,list,watch core configmaps,secrets',
      'get core persistentvolumeclaims,persistentvolumes',
      'get core endpoints',
      'create,get,list,watch certificates.k8s.io certificatesigningrequests',
      'create,delete,get,patch,update coordination.k8s.io leases',
      'get storage.k8s.io volumeattachments',
      'create core serviceaccounts/token',
      'get,patch,update core persistentvolumeclaims/status',
      'get,list,watch storage.k8s.io csidrivers',
      'create,delete,get,patch,update storage.k8s.io csinodes',
      'get,list,watch node.k8s.io runtimeclasses',
      'get resource.k8s.io resourceclaims',
      'deletecollection resource.k8s.io resourceslices',
      'get core serviceaccounts',
    ],
  },
  'system:node-bootstrapper': {
    rules: ['create,get,list,watch certificates.k8s.io certificatesigningrequests'],
  },
  'system:node-problem-detector': {
    rules: ['get core nodes', 'patch core nodes/status', 'create,patch,update core,events.k8s.io events'],
  },
  'system:node-proxier': {
    rules: [
      'list,watch core endpoints,services',
      'get,list,watch core nodes',
      'create,patch,update core,events.k8s.io events',
      'list,watch networking.k8s.io servicecidrs',
      'list,watch discovery.k8s.io endpointslices',
    ],
  },
  'system:persistent-volume-provisioner': {
    rules: [
      'create,delete,get,list,watch core persistentvolumes',
      'get,list,update,watch core persistentvolumeclaims',
      'get,list,watch storage.k8s.io storageclasses',
      'watch core events',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'system:public-info-viewer': {
    rules: ['get path /healthz,/livez,/readyz,/version,/version/'],
  },
  'system:service-account-issuer-discovery': {
    rules: [
      'get path /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/',
    ],
  },
  'system:volume-scheduler': {
    rules: [
      'get,list,patch,update,watch core persistentvolumes',
      'get,list,watch storage.k8s.io storageclasses',
      'get,list,patch,update,watch core persistentvolumeclaims',
    ],
  },
  view: {
    labels: ['rbac.authorization.k8s.io/aggregate-to-edit'],
    aggregates: ['rbac.authorization.k8s.io/aggregate-to-view'],
  },
  'kube-public/system:controller:bootstrap-signer': {
    rules: [
      'get,list,watch core configmaps',
      'update core configmaps cluster-info',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  'kube-system/extension-apiserver-authentication-reader': {
    rules: ['get,list,watch core configmaps extension-apiserver-authentication'],
  },
  'kube-system/system::leader-locking-kube-controller-manager': {
    rules: [
      'create,get,list,update,watch coordination.k8s.io leases',
      'create,get,list,update,watch coordination.k8s.io leasecandidates',
    ],
  },
  'kube-system/system::leader-locking-kube-scheduler': {
    rules: [
      'create,get,list,update,watch coordination.k8s.io leases',
      'create,get,list,update,watch coordination.k8s.io leasecandidates',
    ],
  },
  'kube-system/system:controller:bootstrap-signer': {
    rules: ['get,list,watch core secrets'],
  },
  'kube-system/system:controller:cloud-provider': {
    rules: ['create,get,list,watch core configmaps'],
  },
  'kube-system/system:controller:token-cleaner': {
    rules: ['delete,get,list,watch core secrets', 'create,patch,update core,events.k8s.io events'],
  },
};

export const bootstrapBindings: Readonly<Record<string, BootstrapBinding>> = {
  'cluster-admin': { role: 'ClusterRole cluster-admin', subjects: ['Group system:masters'] },
  'system:basic-user': { role: 'ClusterRole system:basic-user', subjects: ['Group system:authenticated'] },
  'system:controller:attachdetach-controller': {
    role: 'ClusterRole system:controller:attachdetach-controller',
    subjects: ['ServiceAccount kube-system/attachdetach-controller'],
  },
  'system:controller:certificate-controller': {
    role: 'ClusterRole system:controller:certificate-controller',
    subjects: ['ServiceAccount kube-system/certificate-controller'],
  },
  'system:controller:clusterrole-aggregation-controller': {
    role: 'ClusterRole system:controller:clusterrole-aggregation-controller',
    subjects: ['ServiceAccount kube-system/clusterrole-aggregation-controller'],
  },
  'system:controller:cronjob-controller': {
    role: 'ClusterRole system:controller:cronjob-controller',
    subjects: ['ServiceAccount kube-system/cronjob-controller'],
  },
  'system:controller:daemon-set-controller': {
    role: 'ClusterRole system:controller:daemon-set-controller',
    subjects: ['ServiceAccount kube-system/daemon-set-controller'],
  },
  'system:controller:deployment-controller': {
    role: 'ClusterRole system:controller:deployment-controller',
    subjects: ['ServiceAccount kube-system/deployment-controller'],
  },
  'system:controller:device-taint-eviction-controller': {
    role: 'ClusterRole system:controller:device-taint-eviction-controller',
    subjects: ['ServiceAccount kube-system/device-taint-eviction-controller'],
  },
  'system:controller:disruption-controller': {
    role: 'ClusterRole system:controller:disruption-controller',
    subjects: ['ServiceAccount kube-system/disruption-controller'],
  },
  'system:controller:endpoint-controller': {
    role: 'ClusterRole system:controller:endpoint-controller',
    subjects: ['ServiceAccount kube-system/endpoint-controller'],
  },
  'system:controller:endpointslice-controller': {
    role: 'ClusterRole system:controller:endpointslice-controller',
    subjects: ['ServiceAccount kube-system/endpointslice-controller'],
  },
  'system:controller:endpointslicemirroring-controller': {
    role: 'ClusterRole system:controller:endpointslicemirroring-controller',
    subjects: ['ServiceAccount kube-system/endpointslicemirroring-controller'],
  },
  'system:controller:ephemeral-volume-controller': {
    role: 'ClusterRole system:controller:ephemeral-volume-controller',
    subjects: ['ServiceAccount kube-system/ephemeral-volume-controller'],
  },
  'system:controller:expand-controller': {
    role: 'ClusterRole system:controller:expand-controller',
    subjects: ['ServiceAccount kube-system/expand-controller'],
  },
  'system:controller:generic-garbage-collector': {
    role: 'ClusterRole system:controller:generic-garbage-collector',
    subjects: ['ServiceAccount kube-system/generic-garbage-collector'],
  },
  'system:controller:horizontal-pod-autoscaler': {
    role: 'ClusterRole system:controller:horizontal-pod-autoscaler',
    subjects: ['ServiceAccount kube-system/horizontal-pod-autoscaler'],
  },
  'system:controller:job-controller': {
    role: 'ClusterRole system:controller:job-controller',
    subjects: ['ServiceAccount kube-system/job-controller'],
  },
  'system:controller:legacy-service-account-token-cleaner': {
    role: 'ClusterRole system:controller:legacy-service-account-token-cleaner',
    subjects: ['ServiceAccount kube-system/legacy-service-account-token-cleaner'],
  },
  'system:controller:namespace-controller': {
    role: 'ClusterRole system:controller:namespace-controller',
    subjects: ['ServiceAccount kube-system/namespace-controller'],
  },
  'system:controller:node-controller': {
    role: 'ClusterRole system:controller:node-controller',
    subjects: ['ServiceAccount kube-system/node-controller'],
  },
  'system:controller:persistent-volume-binder': {
    role: 'ClusterRole system:controller:persistent-volume-binder',
    subjects: ['ServiceAccount kube-system/persistent-volume-binder'],
  },
  'system:controller:pod-garbage-collector': {
    role: 'ClusterRole system:controller:pod-garbage-collector',
    subjects: ['ServiceAccount kube-system/pod-garbage-collector'],
  },
  'system:controller:pv-protection-controller': {
    role: 'ClusterRole system:controller:pv-protection-controller',
    subjects: ['ServiceAccount kube-system/pv-protection-controller'],
  },
  'system:controller:pvc-protection-controller': {
    role: 'ClusterRole system:controller:pvc-protection-controller',
    subjects: ['ServiceAccount kube-system/pvc-protection-controller'],
  },
  'system:controller:replicaset-controller': {
    role: 'ClusterRole system:controller:replicaset-controller',
    subjects: ['ServiceAccount kube-system/replicaset-controller'],
  },
  'system:controller:replication-controller': {
    role: 'ClusterRole system:controller:replication-controller',
    subjects: ['ServiceAccount kube-system/replication-controller'],
  },
  'system:controller:resource-claim-controller': {
    role: 'ClusterRole system:controller:resource-claim-controller',
    subjects: ['ServiceAccount kube-system/resource-claim-controller'],
  },
  'system:controller:resourcequota-controller': {
    role: 'ClusterRole system:controller:resourcequota-controller',
    subjects: ['ServiceAccount kube-system/resourcequota-controller'],
  },
  'system:controller:root-ca-cert-publisher': {
    role: 'ClusterRole system:controller:root-ca-cert-publisher',
    subjects: ['ServiceAccount kube-system/root-ca-cert-publisher'],
  },
  'system:controller:route-controller': {
    role: 'ClusterRole system:controller:route-controller',
    subjects: ['ServiceAccount kube-system/route-controller'],
  },
  'system:controller:selinux-warning-controller': {
    role: 'ClusterRole system:controller:selinux-warning-controller',
    subjects: ['ServiceAccount kube-system/selinux-warning-controller'],
  },
  'system:controller:service-account-controller': {
    role: 'ClusterRole system:controller:service-account-controller',
    subjects: ['ServiceAccount kube-system/service-account-controller'],
  },
  'system:controller:service-cidrs-controller': {
    role: 'ClusterRole system:controller:service-cidrs-controller',
    subjects: ['ServiceAccount kube-system/service-cidrs-controller'],
  },
  'system:controller:service-controller': {
    role: 'ClusterRole system:controller:service-controller',
    subjects: ['ServiceAccount kube-system/service-controller'],
  },
  'system:controller:statefulset-controller': {
    role: 'ClusterRole system:controller:statefulset-controller',
    subjects: ['ServiceAccount kube-system/statefulset-controller'],
  },
  'system:controller:ttl-after-finished-controller': {
    role: 'ClusterRole system:controller:ttl-after-finished-controller',
    subjects: ['ServiceAccount kube-system/ttl-after-finished-controller'],
  },
  'system:controller:ttl-controller': {
    role: 'ClusterRole system:controller:ttl-controller',
    subjects: ['ServiceAccount kube-system/ttl-controller'],
  },
  'system:controller:validatingadmissionpolicy-status-controller': {
    role: 'ClusterRole system:controller:validatingadmissionpolicy-status-controller',
    subjects: ['ServiceAccount kube-system/validatingadmissionpolicy-status-controller'],
  },
  'system:controller:volumeattributesclass-protection-controller': {
    role: 'ClusterRole system:controller:volumeattributesclass-protection-controller',
    subjects: ['ServiceAccount kube-system/volumeattributesclass-protection-controller'],
  },
  'system:discovery': { role: 'ClusterRole system:discovery', subjects: ['Group system:authenticated'] },
  'system:kube-controller-manager': {
    role: 'ClusterRole system:kube-controller-manager',
    subjects: ['User system:kube-controller-manager'],
  },
  'system:kube-dns': { role: 'ClusterRole system:kube-dns', subjects: ['ServiceAccount kube-system/kube-dns'] },
  'system:kube-scheduler': { role: 'ClusterRole system:kube-scheduler', subjects: ['User system:kube-scheduler'] },
  'system:monitoring': { role: 'ClusterRole system:monitoring', subjects: ['Group system:monitoring'] },
  'system:node': { role: 'ClusterRole system:node', subjects: [] },
  'system:node-proxier': { role: 'ClusterRole system:node-proxier', subjects: ['User system:kube-proxy'] },
  'system:public-info-viewer': {
    role: 'ClusterRole system:public-info-viewer',
    subjects: ['Group system:authenticated', 'Group system:unauthenticated'],
  },
  'system:service-account-issuer-discovery': {
    role: 'ClusterRole system:service-account-issuer-discovery',
    subjects: ['Group system:serviceaccounts'],
  },
  'system:volume-scheduler': { role: 'ClusterRole system:volume-scheduler', subjects: ['User system:kube-scheduler'] },
  'kube-public/system:controller:bootstrap-signer': {
    role: 'Role system:controller:bootstrap-signer',
    subjects: ['ServiceAccount kube-system/bootstrap-signer'],
  },
  'kube-system/system::extension-apiserver-authentication-reader': {
    role: 'Role extension-apiserver-authentication-reader',
    subjects: ['User system:kube-controller-manager', 'User system:kube-scheduler'],
  },
  'kube-system/system::leader-locking-kube-controller-manager': {
    role: 'Role system::leader-locking-kube-controller-manager',
    subjects: [
      'User system:kube-controller-manager',
      'ServiceAccount kube-system/kube-controller-manager',
      'ServiceAccount kube-system/leader-election-controller',
    ],
  },
  'kube-system/system::leader-locking-kube-scheduler': {
    role: 'Role system::leader-locking-kube-scheduler',
    subjects: ['User system:kube-scheduler', 'ServiceAccount kube-system/kube-scheduler'],
  },
  'kube-system/system:controller:bootstrap-signer': {
    role: 'Role system:controller:bootstrap-signer',
    subjects: ['ServiceAccount kube-system/bootstrap-signer'],
  },
  'kube-system/system:controller:cloud-provider': {
    role: 'Role system:controller:cloud-provider',
    subjects: ['ServiceAccount kube-system/cloud-provider'],
  },
  'kube-system/system:controller:token-cleaner': {
    role: 'Role system:controller:token-cleaner',
    subjects: ['ServiceAccount kube-system/token-cleaner'],
  },
};
