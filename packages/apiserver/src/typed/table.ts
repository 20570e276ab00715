/**
 * The fields of the built-in kinds, as facts about the Kubernetes API 1.36: their names, order and types.
 *
 * Each field is `name`, then marks, then `:type`. The marks: `?` is left out when empty, `*` may be absent as opposed
 * to empty, `0` is left out when it is the zero time. The types: `s` string, `b` boolean, `i` and `l` integers of 32
 * and 64 bits, `f` number, `time`, `micro`, `quantity`, `intstr`, `bytes`, `any`, `[]T` lists, `{}T` mappings, and the
 * names of this table.
 */
export const table: Readonly<Record<string, string>> = {
  'admissionregistration.ApplyConfiguration': 'expression?:s',
  'admissionregistration.AuditAnnotation': 'key:s valueExpression:s',
  'admissionregistration.ExpressionWarning': 'fieldRef:s warning:s',
  'admissionregistration.JSONPatch': 'expression?:s',
  'admissionregistration.MatchCondition': 'name:s expression:s',
  'admissionregistration.MatchResources':
    'namespaceSelector?*:meta.LabelSelector objectSelector?*:meta.LabelSelector resourceRules?:[]admissionregistration.NamedRuleWithOperations excludeResourceRules?:[]admissionregistration.NamedRuleWithOperations matchPolicy?*:s',
  'admissionregistration.MutatingAdmissionPolicy':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:admissionregistration.MutatingAdmissionPolicySpec',
  'admissionregistration.MutatingAdmissionPolicyBinding':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:admissionregistration.MutatingAdmissionPolicyBindingSpec',
  'admissionregistration.MutatingAdmissionPolicyBindingSpec':
    'policyName?:s paramRef?*:admissionregistration.ParamRef matchResources?*:admissionregistration.MatchResources',
  'admissionregistration.MutatingAdmissionPolicySpec':
    'paramKind?*:admissionregistration.ParamKind matchConstraints?*:admissionregistration.MatchResources variables?:[]admissionregistration.Variable mutations?:[]admissionregistration.Mutation failurePolicy?*:s matchConditions?:[]admissionregistration.MatchCondition reinvocationPolicy?:s',
  'admissionregistration.MutatingWebhook':
    'name:s clientConfig:admissionregistration.WebhookClientConfig rules?:[]admissionregistration.RuleWithOperations failurePolicy?*:s matchPolicy?*:s namespaceSelector?*:meta.LabelSelector objectSelector?*:meta.LabelSelector sideEffects*:s timeoutSeconds?*:i admissionReviewVersions:[]s reinvocationPolicy?*:s matchConditions?:[]admissionregistration.MatchCondition',
  'admissionregistration.MutatingWebhookConfiguration':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta webhooks?:[]admissionregistration.MutatingWebhook',
  'admissionregistration.Mutation':
    'patchType:s applyConfiguration?*:admissionregistration.ApplyConfiguration jsonPatch?*:admissionregistration.JSONPatch',
  'admissionregistration.NamedRuleWithOperations':
    'resourceNames?:[]s operations?:[]s apiGroups?:[]s apiVersions?:[]s resources?:[]s scope?*:s',
  'admissionregistration.ParamKind': 'apiVersion?:s kind?:s',
  'admissionregistration.ParamRef': 'name?:s namespace?:s selector?*:meta.LabelSelector parameterNotFoundAction?*:s',
  'admissionregistration.RuleWithOperations':
    'operations?:[]s apiGroups?:[]s apiVersions?:[]s resources?:[]s scope?*:s',
  'admissionregistration.ServiceReference': 'namespace:s name:s path?*:s port?*:i',
  'admissionregistration.TypeChecking': 'expressionWarnings?:[]admissionregistration.ExpressionWarning',
  'admissionregistration.ValidatingAdmissionPolicy':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:admissionregistration.ValidatingAdmissionPolicySpec status?:admissionregistration.ValidatingAdmissionPolicyStatus',
  'admissionregistration.ValidatingAdmissionPolicyBinding':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:admissionregistration.ValidatingAdmissionPolicyBindingSpec',
  'admissionregistration.ValidatingAdmissionPolicyBindingSpec':
    'policyName?:s paramRef?*:admissionregistration.ParamRef matchResources?*:admissionregistration.MatchResources validationActions?:[]s',
  'admissionregistration.ValidatingAdmissionPolicySpec':
    'paramKind?*:admissionregistration.ParamKind matchConstraints?*:admissionregistration.MatchResources validations?:[]admissionregistration.Validation failurePolicy?*:s auditAnnotations?:[]admissionregistration.AuditAnnotation matchConditions?:[]admissionregistration.MatchCondition variables?:[]admissionregistration.Variable',
  'admissionregistration.ValidatingAdmissionPolicyStatus':
    'observedGeneration?:l typeChecking?*:admissionregistration.TypeChecking conditions?:[]meta.Condition',
  'admissionregistration.ValidatingWebhook':
    'name:s clientConfig:admissionregistration.WebhookClientConfig rules?:[]admissionregistration.RuleWithOperations failurePolicy?*:s matchPolicy?*:s namespaceSelector?*:meta.LabelSelector objectSelector?*:meta.LabelSelector sideEffects*:s timeoutSeconds?*:i admissionReviewVersions:[]s matchConditions?:[]admissionregistration.MatchCondition',
  'admissionregistration.ValidatingWebhookConfiguration':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta webhooks?:[]admissionregistration.ValidatingWebhook',
  'admissionregistration.Validation': 'expression:s message?:s reason?*:s messageExpression?:s',
  'admissionregistration.Variable': 'name:s expression:s',
  'admissionregistration.WebhookClientConfig':
    'url?*:s service?*:admissionregistration.ServiceReference caBundle?:bytes',
  'apiextensions.CustomResourceColumnDefinition': 'name:s type:s format?:s description?:s priority?:i jsonPath:s',
  'apiextensions.CustomResourceConversion': 'strategy:s webhook?*:apiextensions.WebhookConversion',
  'apiextensions.CustomResourceDefinition':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec:apiextensions.CustomResourceDefinitionSpec status?:apiextensions.CustomResourceDefinitionStatus',
  'apiextensions.CustomResourceDefinitionCondition':
    'type:s status:s lastTransitionTime?:time reason?:s message?:s observedGeneration?:l',
  'apiextensions.CustomResourceDefinitionNames':
    'plural:s singular?:s shortNames?:[]s kind:s listKind?:s categories?:[]s',
  'apiextensions.CustomResourceDefinitionSpec':
    'group:s names:apiextensions.CustomResourceDefinitionNames scope:s versions:[]apiextensions.CustomResourceDefinitionVersion conversion?*:apiextensions.CustomResourceConversion preserveUnknownFields?:b',
  'apiextensions.CustomResourceDefinitionStatus':
    'conditions:[]apiextensions.CustomResourceDefinitionCondition acceptedNames:apiextensions.CustomResourceDefinitionNames storedVersions:[]s observedGeneration?:l',
  'apiextensions.CustomResourceDefinitionVersion':
    'name:s served:b storage:b deprecated?:b deprecationWarning?*:s schema?*:apiextensions.CustomResourceValidation subresources?*:apiextensions.CustomResourceSubresources additionalPrinterColumns?:[]apiextensions.CustomResourceColumnDefinition selectableFields?:[]apiextensions.SelectableField',
  'apiextensions.CustomResourceSubresourceScale': 'specReplicasPath:s statusReplicasPath:s labelSelectorPath?*:s',
  'apiextensions.CustomResourceSubresourceStatus': '',
  'apiextensions.CustomResourceSubresources':
    'status?*:apiextensions.CustomResourceSubresourceStatus scale?*:apiextensions.CustomResourceSubresourceScale',
  'apiextensions.CustomResourceValidation': 'openAPIV3Schema?*:apiextensions.JSONSchemaProps',
  'apiextensions.ExternalDocumentation': 'description?:s url?:s',
  'apiextensions.JSONSchemaProps':
    'id?:s $schema?:s $ref?*:s description?:s type?:s format?:s title?:s default?*:any maximum?*:f exclusiveMaximum?:b minimum?*:f exclusiveMinimum?:b maxLength?*:l minLength?*:l pattern?:s maxItems?*:l minItems?*:l uniqueItems?:b multipleOf?*:f enum?:[]any maxProperties?*:l minProperties?*:l required?:[]s items?*:propsOrArray allOf?:[]apiextensions.JSONSchemaProps oneOf?:[]apiextensions.JSONSchemaProps anyOf?:[]apiextensions.JSONSchemaProps not?*:apiextensions.JSONSchemaProps properties?:{}apiextensions.JSONSchemaProps additionalProperties?*:propsOrBool patternProperties?:{}apiextensions.JSONSchemaProps dependencies?:{}propsOrStrings additionalItems?*:propsOrBool definitions?:{}apiextensions.JSONSchemaProps externalDocs?*:apiextensions.ExternalDocumentation example?*:any nullable?:b x-kubernetes-preserve-unknown-fields?*:b x-kubernetes-embedded-resource?:b x-kubernetes-int-or-string?:b x-kubernetes-list-map-keys?:[]s x-kubernetes-list-type?*:s x-kubernetes-map-type?*:s x-kubernetes-validations?:[]apiextensions.ValidationRule',
  'apiextensions.SelectableField': 'jsonPath:s',
  'apiextensions.ServiceReference': 'namespace:s name:s path?*:s port?*:i',
  'apiextensions.ValidationRule': 'rule:s message?:s messageExpression?:s reason?*:s fieldPath?:s optionalOldSelf?*:b',
  'apiextensions.WebhookClientConfig': 'url?*:s service?*:apiextensions.ServiceReference caBundle?:bytes',
  'apiextensions.WebhookConversion': 'clientConfig?*:apiextensions.WebhookClientConfig conversionReviewVersions:[]s',
  'apps.ControllerRevision': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta data?:any revision:l',
  'apps.DaemonSet':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:apps.DaemonSetSpec status?:apps.DaemonSetStatus',
  'apps.DaemonSetCondition': 'type:s status:s lastTransitionTime?:time reason?:s message?:s',
  'apps.DaemonSetSpec':
    'selector*:meta.LabelSelector template:core.PodTemplateSpec updateStrategy?:apps.DaemonSetUpdateStrategy minReadySeconds?:i revisionHistoryLimit?*:i',
  'apps.DaemonSetStatus':
    'currentNumberScheduled:i numberMisscheduled:i desiredNumberScheduled:i numberReady:i observedGeneration?:l updatedNumberScheduled?:i numberAvailable?:i numberUnavailable?:i collisionCount?*:i conditions?:[]apps.DaemonSetCondition',
  'apps.DaemonSetUpdateStrategy': 'type?:s rollingUpdate?*:apps.RollingUpdateDaemonSet',
  'apps.Deployment':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:apps.DeploymentSpec status?:apps.DeploymentStatus',
  'apps.DeploymentCondition': 'type:s status:s lastUpdateTime?:time lastTransitionTime?:time reason?:s message?:s',
  'apps.DeploymentSpec':
    'replicas?*:i selector*:meta.LabelSelector template:core.PodTemplateSpec strategy?:apps.DeploymentStrategy minReadySeconds?:i revisionHistoryLimit?*:i paused?:b progressDeadlineSeconds?*:i',
  'apps.DeploymentStatus':
    'observedGeneration?:l replicas?:i updatedReplicas?:i readyReplicas?:i availableReplicas?:i unavailableReplicas?:i terminatingReplicas?*:i conditions?:[]apps.DeploymentCondition collisionCount?*:i',
  'apps.DeploymentStrategy': 'type?:s rollingUpdate?*:apps.RollingUpdateDeployment',
  'apps.ReplicaSet':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:apps.ReplicaSetSpec status?:apps.ReplicaSetStatus',
  'apps.ReplicaSetCondition': 'type:s status:s lastTransitionTime?:time reason?:s message?:s',
  'apps.ReplicaSetSpec': 'replicas?*:i minReadySeconds?:i selector*:meta.LabelSelector template?:core.PodTemplateSpec',
  'apps.ReplicaSetStatus':
    'replicas:i fullyLabeledReplicas?:i readyReplicas?:i availableReplicas?:i terminatingReplicas?*:i observedGeneration?:l conditions?:[]apps.ReplicaSetCondition',
  'apps.RollingUpdateDaemonSet': 'maxUnavailable?*:intstr maxSurge?*:intstr',
  'apps.RollingUpdateDeployment': 'maxUnavailable?*:intstr maxSurge?*:intstr',
  'apps.RollingUpdateStatefulSetStrategy': 'partition?*:i maxUnavailable?*:intstr',
  'apps.StatefulSet':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:apps.StatefulSetSpec status?:apps.StatefulSetStatus',
  'apps.StatefulSetCondition': 'type:s status:s lastTransitionTime?:time reason?:s message?:s',
  'apps.StatefulSetOrdinals': 'start:i',
  'apps.StatefulSetPersistentVolumeClaimRetentionPolicy': 'whenDeleted?:s whenScaled?:s',
  'apps.StatefulSetSpec':
    'replicas?*:i selector*:meta.LabelSelector template:core.PodTemplateSpec volumeClaimTemplates?:[]core.PersistentVolumeClaim serviceName:s podManagementPolicy?:s updateStrategy?:apps.StatefulSetUpdateStrategy revisionHistoryLimit?*:i minReadySeconds?:i persistentVolumeClaimRetentionPolicy?*:apps.StatefulSetPersistentVolumeClaimRetentionPolicy ordinals?*:apps.StatefulSetOrdinals',
  'apps.StatefulSetStatus':
    'observedGeneration?:l replicas:i readyReplicas?:i currentReplicas?:i updatedReplicas?:i currentRevision?:s updateRevision?:s collisionCount?*:i conditions?:[]apps.StatefulSetCondition availableReplicas:i',
  'apps.StatefulSetUpdateStrategy': 'type?:s rollingUpdate?*:apps.RollingUpdateStatefulSetStrategy',
  'authentication.BoundObjectReference': 'kind?:s apiVersion?:s name?:s uid?:s',
  'authentication.SelfSubjectReview':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta status?:authentication.SelfSubjectReviewStatus',
  'authentication.SelfSubjectReviewStatus': 'userInfo?:authentication.UserInfo',
  'authentication.TokenRequest':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec:authentication.TokenRequestSpec status?:authentication.TokenRequestStatus',
  'authentication.TokenRequestSpec':
    'audiences:[]s expirationSeconds*:l boundObjectRef*:authentication.BoundObjectReference',
  'authentication.TokenRequestStatus': 'token:s expirationTimestamp:time',
  'authentication.TokenReview':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec:authentication.TokenReviewSpec status?:authentication.TokenReviewStatus',
  'authentication.TokenReviewSpec': 'token?:s audiences?:[]s',
  'authentication.TokenReviewStatus': 'authenticated?:b user?:authentication.UserInfo audiences?:[]s error?:s',
  'authentication.UserInfo': 'username?:s uid?:s groups?:[]s extra?:{}[]s',
  'authorization.FieldSelectorAttributes': 'rawSelector?:s requirements?:[]meta.FieldSelectorRequirement',
  'authorization.LabelSelectorAttributes': 'rawSelector?:s requirements?:[]meta.LabelSelectorRequirement',
  'authorization.LocalSubjectAccessReview':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec:authorization.SubjectAccessReviewSpec status?:authorization.SubjectAccessReviewStatus',
  'authorization.NonResourceAttributes': 'path?:s verb?:s',
  'authorization.NonResourceRule': 'verbs:[]s nonResourceURLs?:[]s',
  'authorization.ResourceAttributes':
    'namespace?:s verb?:s group?:s version?:s resource?:s subresource?:s name?:s fieldSelector?*:authorization.FieldSelectorAttributes labelSelector?*:authorization.LabelSelectorAttributes',
  'authorization.ResourceRule': 'verbs:[]s apiGroups?:[]s resources?:[]s resourceNames?:[]s',
  'authorization.SelfSubjectAccessReview':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec:authorization.SelfSubjectAccessReviewSpec status?:authorization.SubjectAccessReviewStatus',
  'authorization.SelfSubjectAccessReviewSpec':
    'resourceAttributes?*:authorization.ResourceAttributes nonResourceAttributes?*:authorization.NonResourceAttributes',
  'authorization.SelfSubjectRulesReview':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec:authorization.SelfSubjectRulesReviewSpec status?:authorization.SubjectRulesReviewStatus',
  'authorization.SelfSubjectRulesReviewSpec': 'namespace?:s',
  'authorization.SubjectAccessReview':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec:authorization.SubjectAccessReviewSpec status?:authorization.SubjectAccessReviewStatus',
  'authorization.SubjectAccessReviewSpec':
    'resourceAttributes?*:authorization.ResourceAttributes nonResourceAttributes?*:authorization.NonResourceAttributes user?:s groups?:[]s extra?:{}[]s uid?:s',
  'authorization.SubjectAccessReviewStatus': 'allowed:b denied?:b reason?:s evaluationError?:s',
  'authorization.SubjectRulesReviewStatus':
    'resourceRules:[]authorization.ResourceRule nonResourceRules:[]authorization.NonResourceRule incomplete:b evaluationError?:s',
  'autoscaling.Scale':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:autoscaling.ScaleSpec status?:autoscaling.ScaleStatus',
  'autoscaling.ScaleSpec': 'replicas?:i',
  'autoscaling.ScaleStatus': 'replicas:i selector?:s',
  'batch.CronJob':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:batch.CronJobSpec status?:batch.CronJobStatus',
  'batch.CronJobSpec':
    'schedule:s timeZone?*:s startingDeadlineSeconds?*:l concurrencyPolicy?:s suspend?*:b jobTemplate:batch.JobTemplateSpec successfulJobsHistoryLimit?*:i failedJobsHistoryLimit?*:i',
  'batch.CronJobStatus': 'active?:[]core.ObjectReference lastScheduleTime?*:time lastSuccessfulTime?*:time',
  'batch.Job': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:batch.JobSpec status?:batch.JobStatus',
  'batch.JobCondition': 'type:s status:s lastProbeTime?:time lastTransitionTime?:time reason?:s message?:s',
  'batch.JobSpec':
    'parallelism?*:i completions?*:i activeDeadlineSeconds?*:l podFailurePolicy?*:batch.PodFailurePolicy successPolicy?*:batch.SuccessPolicy backoffLimit?*:i backoffLimitPerIndex?*:i maxFailedIndexes?*:i selector?*:meta.LabelSelector manualSelector?*:b template:core.PodTemplateSpec ttlSecondsAfterFinished?*:i completionMode?*:s suspend?*:b podReplacementPolicy?*:s managedBy?*:s',
  'batch.JobStatus':
    'conditions?:[]batch.JobCondition startTime?*:time completionTime?*:time active?:i succeeded?:i failed?:i terminating?*:i completedIndexes?:s failedIndexes?*:s uncountedTerminatedPods?*:batch.UncountedTerminatedPods ready?*:i',
  'batch.JobTemplateSpec': 'metadata?:meta.ObjectMeta spec?:batch.JobSpec',
  'batch.PodFailurePolicy': 'rules:[]batch.PodFailurePolicyRule',
  'batch.PodFailurePolicyOnExitCodesRequirement': 'containerName?*:s operator:s values:[]i',
  'batch.PodFailurePolicyOnPodConditionsPattern': 'type:s status:s',
  'batch.PodFailurePolicyRule':
    'action:s onExitCodes?*:batch.PodFailurePolicyOnExitCodesRequirement onPodConditions?:[]batch.PodFailurePolicyOnPodConditionsPattern',
  'batch.SuccessPolicy': 'rules:[]batch.SuccessPolicyRule',
  'batch.SuccessPolicyRule': 'succeededIndexes?*:s succeededCount?*:i',
  'batch.UncountedTerminatedPods': 'succeeded?:[]s failed?:[]s',
  'coordination.Lease': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:coordination.LeaseSpec',
  'coordination.LeaseSpec':
    'holderIdentity?*:s leaseDurationSeconds?*:i acquireTime?*:micro renewTime?*:micro leaseTransitions?*:i strategy?*:s preferredHolder?*:s',
  'core.AWSElasticBlockStoreVolumeSource': 'volumeID:s fsType?:s partition?:i readOnly?:b',
  'core.Affinity':
    'nodeAffinity?*:core.NodeAffinity podAffinity?*:core.PodAffinity podAntiAffinity?*:core.PodAntiAffinity',
  'core.AppArmorProfile': 'type:s localhostProfile?*:s',
  'core.AttachedVolume': 'name:s devicePath:s',
  'core.AzureDiskVolumeSource': 'diskName:s diskURI:s cachingMode?*:s fsType?*:s readOnly?*:b kind?*:s',
  'core.AzureFilePersistentVolumeSource': 'secretName:s shareName:s readOnly?:b secretNamespace*:s',
  'core.AzureFileVolumeSource': 'secretName:s shareName:s readOnly?:b',
  'core.Binding': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta target:core.ObjectReference',
  'core.CSIPersistentVolumeSource':
    'driver:s volumeHandle:s readOnly?:b fsType?:s volumeAttributes?:{}s controllerPublishSecretRef?*:core.SecretReference nodeStageSecretRef?*:core.SecretReference nodePublishSecretRef?*:core.SecretReference controllerExpandSecretRef?*:core.SecretReference nodeExpandSecretRef?*:core.SecretReference',
  'core.CSIVolumeSource':
    'driver:s readOnly?*:b fsType?*:s volumeAttributes?:{}s nodePublishSecretRef?*:core.LocalObjectReference',
  'core.Capabilities': 'add?:[]s drop?:[]s',
  'core.CephFSPersistentVolumeSource':
    'monitors:[]s path?:s user?:s secretFile?:s secretRef?*:core.SecretReference readOnly?:b',
  'core.CephFSVolumeSource':
    'monitors:[]s path?:s user?:s secretFile?:s secretRef?*:core.LocalObjectReference readOnly?:b',
  'core.CinderPersistentVolumeSource': 'volumeID:s fsType?:s readOnly?:b secretRef?*:core.SecretReference',
  'core.CinderVolumeSource': 'volumeID:s fsType?:s readOnly?:b secretRef?*:core.LocalObjectReference',
  'core.ClientIPConfig': 'timeoutSeconds?*:i',
  'core.ClusterTrustBundleProjection': 'name?*:s signerName?*:s labelSelector?*:meta.LabelSelector optional?*:b path:s',
  'core.ConfigMap': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta immutable?*:b data?:{}s binaryData?:{}bytes',
  'core.ConfigMapEnvSource': 'name?:s optional?*:b',
  'core.ConfigMapKeySelector': 'name?:s key:s optional?*:b',
  'core.ConfigMapNodeConfigSource': 'namespace:s name:s uid?:s resourceVersion?:s kubeletConfigKey:s',
  'core.ConfigMapProjection': 'name?:s items?:[]core.KeyToPath optional?*:b',
  'core.ConfigMapVolumeSource': 'name?:s items?:[]core.KeyToPath defaultMode?*:i optional?*:b',
  'core.Container':
    'name:s image?:s command?:[]s args?:[]s workingDir?:s ports?:[]core.ContainerPort envFrom?:[]core.EnvFromSource env?:[]core.EnvVar resources?:core.ResourceRequirements resizePolicy?:[]core.ContainerResizePolicy restartPolicy?*:s restartPolicyRules?:[]core.ContainerRestartRule volumeMounts?:[]core.VolumeMount volumeDevices?:[]core.VolumeDevice livenessProbe?*:core.Probe readinessProbe?*:core.Probe startupProbe?*:core.Probe lifecycle?*:core.Lifecycle terminationMessagePath?:s terminationMessagePolicy?:s imagePullPolicy?:s securityContext?*:core.SecurityContext stdin?:b stdinOnce?:b tty?:b',
  'core.ContainerExtendedResourceRequest': 'containerName:s resourceName:s requestName:s',
  'core.ContainerImage': 'names:[]s sizeBytes?:l',
  'core.ContainerPort': 'name?:s hostPort?:i containerPort:i protocol?:s hostIP?:s',
  'core.ContainerResizePolicy': 'resourceName:s restartPolicy:s',
  'core.ContainerRestartRule': 'action?:s exitCodes?*:core.ContainerRestartRuleOnExitCodes',
  'core.ContainerRestartRuleOnExitCodes': 'operator?:s values?:[]i',
  'core.ContainerState':
    'waiting?*:core.ContainerStateWaiting running?*:core.ContainerStateRunning terminated?*:core.ContainerStateTerminated',
  'core.ContainerStateRunning': 'startedAt?:time',
  'core.ContainerStateTerminated':
    'exitCode:i signal?:i reason?:s message?:s startedAt?:time finishedAt?:time containerID?:s',
  'core.ContainerStateWaiting': 'reason?:s message?:s',
  'core.ContainerStatus':
    'name:s state?:core.ContainerState lastState?:core.ContainerState ready:b restartCount:i image:s imageID:s containerID?:s started?*:b allocatedResources?:{}quantity resources?*:core.ResourceRequirements volumeMounts?:[]core.VolumeMountStatus user?*:core.ContainerUser allocatedResourcesStatus?:[]core.ResourceStatus stopSignal?*:s',
  'core.ContainerUser': 'linux?*:core.LinuxContainerUser',
  'core.DaemonEndpoint': 'Port:i',
  'core.DownwardAPIProjection': 'items?:[]core.DownwardAPIVolumeFile',
  'core.DownwardAPIVolumeFile':
    'path:s fieldRef?*:core.ObjectFieldSelector resourceFieldRef?*:core.ResourceFieldSelector mode?*:i',
  'core.DownwardAPIVolumeSource': 'items?:[]core.DownwardAPIVolumeFile defaultMode?*:i',
  'core.EmptyDirVolumeSource': 'medium?:s sizeLimit?*:quantity',
  'core.EndpointAddress': 'ip:s hostname?:s nodeName?*:s targetRef?*:core.ObjectReference',
  'core.EndpointPort': 'name?:s port:i protocol?:s appProtocol?*:s',
  'core.EndpointSubset':
    'addresses?:[]core.EndpointAddress notReadyAddresses?:[]core.EndpointAddress ports?:[]core.EndpointPort',
  'core.Endpoints': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta subsets?:[]core.EndpointSubset',
  'core.EnvFromSource': 'prefix?:s configMapRef?*:core.ConfigMapEnvSource secretRef?*:core.SecretEnvSource',
  'core.EnvVar': 'name:s value?:s valueFrom?*:core.EnvVarSource',
  'core.EnvVarSource':
    'fieldRef?*:core.ObjectFieldSelector resourceFieldRef?*:core.ResourceFieldSelector configMapKeyRef?*:core.ConfigMapKeySelector secretKeyRef?*:core.SecretKeySelector fileKeyRef?*:core.FileKeySelector',
  'core.EphemeralContainer':
    'name:s image?:s command?:[]s args?:[]s workingDir?:s ports?:[]core.ContainerPort envFrom?:[]core.EnvFromSource env?:[]core.EnvVar resources?:core.ResourceRequirements resizePolicy?:[]core.ContainerResizePolicy restartPolicy?*:s restartPolicyRules?:[]core.ContainerRestartRule volumeMounts?:[]core.VolumeMount volumeDevices?:[]core.VolumeDevice livenessProbe?*:core.Probe readinessProbe?*:core.Probe startupProbe?*:core.Probe lifecycle?*:core.Lifecycle terminationMessagePath?:s terminationMessagePolicy?:s imagePullPolicy?:s securityContext?*:core.SecurityContext stdin?:b stdinOnce?:b tty?:b targetContainerName?:s',
  'core.EphemeralVolumeSource': 'volumeClaimTemplate?*:core.PersistentVolumeClaimTemplate',
  'core.Event':
    'kind?:s apiVersion?:s metadata:meta.ObjectMeta involvedObject:core.ObjectReference reason?:s message?:s source?:core.EventSource firstTimestamp?:time lastTimestamp?:time count?:i type?:s eventTime?:micro series?*:core.EventSeries action?:s related?*:core.ObjectReference reportingComponent:s reportingInstance:s',
  'core.EventSeries': 'count?:i lastObservedTime?:micro',
  'core.EventSource': 'component?:s host?:s',
  'core.ExecAction': 'command?:[]s',
  'core.FCVolumeSource': 'targetWWNs?:[]s lun?*:i fsType?:s readOnly?:b wwids?:[]s',
  'core.FileKeySelector': 'volumeName:s path:s key:s optional?*:b',
  'core.FlexPersistentVolumeSource': 'driver:s fsType?:s secretRef?*:core.SecretReference readOnly?:b options?:{}s',
  'core.FlexVolumeSource': 'driver:s fsType?:s secretRef?*:core.LocalObjectReference readOnly?:b options?:{}s',
  'core.FlockerVolumeSource': 'datasetName?:s datasetUUID?:s',
  'core.GCEPersistentDiskVolumeSource': 'pdName:s fsType?:s partition?:i readOnly?:b',
  'core.GRPCAction': 'port:i service*:s',
  'core.GitRepoVolumeSource': 'repository:s revision?:s directory?:s',
  'core.GlusterfsPersistentVolumeSource': 'endpoints:s path:s readOnly?:b endpointsNamespace?*:s',
  'core.GlusterfsVolumeSource': 'endpoints:s path:s readOnly?:b',
  'core.HTTPGetAction': 'path?:s port:intstr host?:s scheme?:s httpHeaders?:[]core.HTTPHeader',
  'core.HTTPHeader': 'name:s value:s',
  'core.HostAlias': 'ip:s hostnames?:[]s',
  'core.HostIP': 'ip:s',
  'core.HostPathVolumeSource': 'path:s type?*:s',
  'core.ISCSIPersistentVolumeSource':
    'targetPortal:s iqn:s lun:i iscsiInterface?:s fsType?:s readOnly?:b portals?:[]s chapAuthDiscovery?:b chapAuthSession?:b secretRef?*:core.SecretReference initiatorName?*:s',
  'core.ISCSIVolumeSource':
    'targetPortal:s iqn:s lun:i iscsiInterface?:s fsType?:s readOnly?:b portals?:[]s chapAuthDiscovery?:b chapAuthSession?:b secretRef?*:core.LocalObjectReference initiatorName?*:s',
  'core.ImageVolumeSource': 'reference?:s pullPolicy?:s',
  'core.ImageVolumeStatus': 'imageRef?:s',
  'core.KeyToPath': 'key:s path:s mode?*:i',
  'core.Lifecycle': 'postStart?*:core.LifecycleHandler preStop?*:core.LifecycleHandler stopSignal?*:s',
  'core.LifecycleHandler':
    'exec?*:core.ExecAction httpGet?*:core.HTTPGetAction tcpSocket?*:core.TCPSocketAction sleep?*:core.SleepAction',
  'core.LimitRange': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.LimitRangeSpec',
  'core.LimitRangeItem':
    'type:s max?:{}quantity min?:{}quantity default?:{}quantity defaultRequest?:{}quantity maxLimitRequestRatio?:{}quantity',
  'core.LimitRangeSpec': 'limits:[]core.LimitRangeItem',
  'core.LinuxContainerUser': 'uid:l gid:l supplementalGroups?:[]l',
  'core.LoadBalancerIngress': 'ip?:s hostname?:s ipMode?*:s ports?:[]core.PortStatus',
  'core.LoadBalancerStatus': 'ingress?:[]core.LoadBalancerIngress',
  'core.LocalObjectReference': 'name?:s',
  'core.LocalVolumeSource': 'path:s fsType?*:s',
  'core.ModifyVolumeStatus': 'targetVolumeAttributesClassName?:s status:s',
  'core.NFSVolumeSource': 'server:s path:s readOnly?:b',
  'core.Namespace':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.NamespaceSpec status?:core.NamespaceStatus',
  'core.NamespaceCondition': 'type:s status:s lastTransitionTime?:time reason?:s message?:s',
  'core.NamespaceSpec': 'finalizers?:[]s',
  'core.NamespaceStatus': 'phase?:s conditions?:[]core.NamespaceCondition',
  'core.Node': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.NodeSpec status?:core.NodeStatus',
  'core.NodeAddress': 'type:s address:s',
  'core.NodeAffinity':
    'requiredDuringSchedulingIgnoredDuringExecution?*:core.NodeSelector preferredDuringSchedulingIgnoredDuringExecution?:[]core.PreferredSchedulingTerm',
  'core.NodeAllocatableResourceClaimStatus': 'resourceClaimName:s containers?:[]s resources:{}quantity',
  'core.NodeCondition': 'type:s status:s lastHeartbeatTime?:time lastTransitionTime?:time reason?:s message?:s',
  'core.NodeConfigSource': 'configMap?*:core.ConfigMapNodeConfigSource',
  'core.NodeConfigStatus':
    'assigned?*:core.NodeConfigSource active?*:core.NodeConfigSource lastKnownGood?*:core.NodeConfigSource error?:s',
  'core.NodeDaemonEndpoints': 'kubeletEndpoint?:core.DaemonEndpoint',
  'core.NodeFeatures': 'supplementalGroupsPolicy?*:b',
  'core.NodeRuntimeHandler': 'name:s features?*:core.NodeRuntimeHandlerFeatures',
  'core.NodeRuntimeHandlerFeatures': 'recursiveReadOnlyMounts?*:b userNamespaces?*:b',
  'core.NodeSelector': 'nodeSelectorTerms:[]core.NodeSelectorTerm',
  'core.NodeSelectorRequirement': 'key:s operator:s values?:[]s',
  'core.NodeSelectorTerm':
    'matchExpressions?:[]core.NodeSelectorRequirement matchFields?:[]core.NodeSelectorRequirement',
  'core.NodeSpec':
    'podCIDR?:s podCIDRs?:[]s providerID?:s unschedulable?:b taints?:[]core.Taint configSource?*:core.NodeConfigSource externalID?:s',
  'core.NodeStatus':
    'capacity?:{}quantity allocatable?:{}quantity phase?:s conditions?:[]core.NodeCondition addresses?:[]core.NodeAddress daemonEndpoints?:core.NodeDaemonEndpoints nodeInfo?:core.NodeSystemInfo images?:[]core.ContainerImage volumesInUse?:[]s volumesAttached?:[]core.AttachedVolume config?*:core.NodeConfigStatus runtimeHandlers?:[]core.NodeRuntimeHandler features?*:core.NodeFeatures declaredFeatures?:[]s',
  'core.NodeSwapStatus': 'capacity?*:l',
  'core.NodeSystemInfo':
    'machineID:s systemUUID:s bootID:s kernelVersion:s osImage:s containerRuntimeVersion:s kubeletVersion:s kubeProxyVersion:s operatingSystem:s architecture:s swap?*:core.NodeSwapStatus',
  'core.ObjectFieldSelector': 'apiVersion?:s fieldPath:s',
  'core.ObjectReference': 'kind?:s namespace?:s name?:s uid?:s apiVersion?:s resourceVersion?:s fieldPath?:s',
  'core.PersistentVolume':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.PersistentVolumeSpec status?:core.PersistentVolumeStatus',
  'core.PersistentVolumeClaim':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.PersistentVolumeClaimSpec status?:core.PersistentVolumeClaimStatus',
  'core.PersistentVolumeClaimCondition':
    'type:s status:s lastProbeTime?:time lastTransitionTime?:time reason?:s message?:s',
  'core.PersistentVolumeClaimSpec':
    'accessModes?:[]s selector?*:meta.LabelSelector resources?:core.VolumeResourceRequirements volumeName?:s storageClassName?*:s volumeMode?*:s dataSource?*:core.TypedLocalObjectReference dataSourceRef?*:core.TypedObjectReference volumeAttributesClassName?*:s',
  'core.PersistentVolumeClaimStatus':
    'phase?:s accessModes?:[]s capacity?:{}quantity conditions?:[]core.PersistentVolumeClaimCondition allocatedResources?:{}quantity allocatedResourceStatuses?:{}s currentVolumeAttributesClassName?*:s modifyVolumeStatus?*:core.ModifyVolumeStatus',
  'core.PersistentVolumeClaimTemplate': 'metadata?:meta.ObjectMeta spec:core.PersistentVolumeClaimSpec',
  'core.PersistentVolumeClaimVolumeSource': 'claimName:s readOnly?:b',
  'core.PersistentVolumeSpec':
    'capacity?:{}quantity gcePersistentDisk?*:core.GCEPersistentDiskVolumeSource awsElasticBlockStore?*:core.AWSElasticBlockStoreVolumeSource hostPath?*:core.HostPathVolumeSource glusterfs?*:core.GlusterfsPersistentVolumeSource nfs?*:core.NFSVolumeSource rbd?*:core.RBDPersistentVolumeSource iscsi?*:core.ISCSIPersistentVolumeSource cinder?*:core.CinderPersistentVolumeSource cephfs?*:core.CephFSPersistentVolumeSource fc?*:core.FCVolumeSource flocker?*:core.FlockerVolumeSource flexVolume?*:core.FlexPersistentVolumeSource azureFile?*:core.AzureFilePersistentVolumeSource vsphereVolume?*:core.VsphereVirtualDiskVolumeSource quobyte?*:core.QuobyteVolumeSource azureDisk?*:core.AzureDiskVolumeSource photonPersistentDisk?*:core.PhotonPersistentDiskVolumeSource portworxVolume?*:core.PortworxVolumeSource scaleIO?*:core.ScaleIOPersistentVolumeSource local?*:core.LocalVolumeSource storageos?*:core.StorageOSPersistentVolumeSource csi?*:core.CSIPersistentVolumeSource accessModes?:[]s claimRef?*:core.ObjectReference persistentVolumeReclaimPolicy?:s storageClassName?:s mountOptions?:[]s volumeMode?*:s nodeAffinity?*:core.VolumeNodeAffinity volumeAttributesClassName?*:s',
  'core.PersistentVolumeStatus': 'phase?:s message?:s reason?:s lastPhaseTransitionTime?*:time',
  'core.PhotonPersistentDiskVolumeSource': 'pdID:s fsType?:s',
  'core.Pod': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.PodSpec status?:core.PodStatus',
  'core.PodAffinity':
    'requiredDuringSchedulingIgnoredDuringExecution?:[]core.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?:[]core.WeightedPodAffinityTerm',
  'core.PodAffinityTerm':
    'labelSelector?*:meta.LabelSelector namespaces?:[]s topologyKey:s namespaceSelector?*:meta.LabelSelector matchLabelKeys?:[]s mismatchLabelKeys?:[]s',
  'core.PodAntiAffinity':
    'requiredDuringSchedulingIgnoredDuringExecution?:[]core.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?:[]core.WeightedPodAffinityTerm',
  'core.PodCertificateProjection':
    'signerName?:s keyType?:s maxExpirationSeconds?*:i credentialBundlePath?:s keyPath?:s certificateChainPath?:s userAnnotations?:{}s',
  'core.PodCondition':
    'type:s observedGeneration?:l status:s lastProbeTime?:time lastTransitionTime?:time reason?:s message?:s',
  'core.PodDNSConfig': 'nameservers?:[]s searches?:[]s options?:[]core.PodDNSConfigOption',
  'core.PodDNSConfigOption': 'name?:s value?*:s',
  'core.PodExtendedResourceClaimStatus': 'requestMappings:[]core.ContainerExtendedResourceRequest resourceClaimName:s',
  'core.PodIP': 'ip:s',
  'core.PodOS': 'name:s',
  'core.PodReadinessGate': 'conditionType:s',
  'core.PodResourceClaim': 'name:s resourceClaimName?*:s resourceClaimTemplateName?*:s',
  'core.PodResourceClaimStatus': 'name:s resourceClaimName?*:s',
  'core.PodSchedulingGate': 'name:s',
  'core.PodSchedulingGroup': 'podGroupName?*:s',
  'core.PodSecurityContext':
    'seLinuxOptions?*:core.SELinuxOptions windowsOptions?*:core.WindowsSecurityContextOptions runAsUser?*:l runAsGroup?*:l runAsNonRoot?*:b supplementalGroups?:[]l supplementalGroupsPolicy?*:s fsGroup?*:l sysctls?:[]core.Sysctl fsGroupChangePolicy?*:s seccompProfile?*:core.SeccompProfile appArmorProfile?*:core.AppArmorProfile seLinuxChangePolicy?*:s',
  'core.PodSpec':
    'volumes?:[]core.Volume initContainers?:[]core.Container containers:[]core.Container ephemeralContainers?:[]core.EphemeralContainer restartPolicy?:s terminationGracePeriodSeconds?*:l activeDeadlineSeconds?*:l dnsPolicy?:s nodeSelector?:{}s serviceAccountName?:s serviceAccount?:s automountServiceAccountToken?*:b nodeName?:s hostNetwork?:b hostPID?:b hostIPC?:b shareProcessNamespace?*:b securityContext?*:core.PodSecurityContext imagePullSecrets?:[]core.LocalObjectReference hostname?:s subdomain?:s affinity?*:core.Affinity schedulerName?:s tolerations?:[]core.Toleration hostAliases?:[]core.HostAlias priorityClassName?:s priority?*:i dnsConfig?*:core.PodDNSConfig readinessGates?:[]core.PodReadinessGate runtimeClassName?*:s enableServiceLinks?*:b preemptionPolicy?*:s overhead?:{}quantity topologySpreadConstraints?:[]core.TopologySpreadConstraint setHostnameAsFQDN?*:b os?*:core.PodOS hostUsers?*:b schedulingGates?:[]core.PodSchedulingGate resourceClaims?:[]core.PodResourceClaim resources?*:core.ResourceRequirements hostnameOverride?*:s schedulingGroup?*:core.PodSchedulingGroup',
  'core.PodStatus':
    'observedGeneration?:l phase?:s conditions?:[]core.PodCondition message?:s reason?:s nominatedNodeName?:s hostIP?:s hostIPs?:[]core.HostIP podIP?:s podIPs?:[]core.PodIP startTime?*:time initContainerStatuses?:[]core.ContainerStatus containerStatuses?:[]core.ContainerStatus qosClass?:s ephemeralContainerStatuses?:[]core.ContainerStatus resize?:s resourceClaimStatuses?:[]core.PodResourceClaimStatus extendedResourceClaimStatus?*:core.PodExtendedResourceClaimStatus allocatedResources?:{}quantity resources?*:core.ResourceRequirements nodeAllocatableResourceClaimStatuses?:[]core.NodeAllocatableResourceClaimStatus',
  'core.PodTemplate': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta template?:core.PodTemplateSpec',
  'core.PodTemplateSpec': 'metadata?:meta.ObjectMeta spec?:core.PodSpec',
  'core.PortStatus': 'port:i protocol:s error?*:s',
  'core.PortworxVolumeSource': 'volumeID:s fsType?:s readOnly?:b',
  'core.PreferredSchedulingTerm': 'weight:i preference:core.NodeSelectorTerm',
  'core.Probe':
    'exec?*:core.ExecAction httpGet?*:core.HTTPGetAction tcpSocket?*:core.TCPSocketAction grpc?*:core.GRPCAction initialDelaySeconds?:i timeoutSeconds?:i periodSeconds?:i successThreshold?:i failureThreshold?:i terminationGracePeriodSeconds?*:l',
  'core.ProjectedVolumeSource': 'sources:[]core.VolumeProjection defaultMode?*:i',
  'core.QuobyteVolumeSource': 'registry:s volume:s readOnly?:b user?:s group?:s tenant?:s',
  'core.RBDPersistentVolumeSource':
    'monitors:[]s image:s fsType?:s pool?:s user?:s keyring?:s secretRef?*:core.SecretReference readOnly?:b',
  'core.RBDVolumeSource':
    'monitors:[]s image:s fsType?:s pool?:s user?:s keyring?:s secretRef?*:core.LocalObjectReference readOnly?:b',
  'core.ReplicationController':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.ReplicationControllerSpec status?:core.ReplicationControllerStatus',
  'core.ReplicationControllerCondition': 'type:s status:s lastTransitionTime?:time reason?:s message?:s',
  'core.ReplicationControllerSpec': 'replicas?*:i minReadySeconds?:i selector?:{}s template?*:core.PodTemplateSpec',
  'core.ReplicationControllerStatus':
    'replicas:i fullyLabeledReplicas?:i readyReplicas?:i availableReplicas?:i observedGeneration?:l conditions?:[]core.ReplicationControllerCondition',
  'core.ResourceClaim': 'name:s request?:s',
  'core.ResourceFieldSelector': 'containerName?:s resource:s divisor?:quantity',
  'core.ResourceHealth': 'resourceID:s health?:s message?*:s',
  'core.ResourceQuota':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.ResourceQuotaSpec status?:core.ResourceQuotaStatus',
  'core.ResourceQuotaSpec': 'hard?:{}quantity scopes?:[]s scopeSelector?*:core.ScopeSelector',
  'core.ResourceQuotaStatus': 'hard?:{}quantity used?:{}quantity',
  'core.ResourceRequirements': 'limits?:{}quantity requests?:{}quantity claims?:[]core.ResourceClaim',
  'core.ResourceStatus': 'name:s resources?:[]core.ResourceHealth',
  'core.SELinuxOptions': 'user?:s role?:s type?:s level?:s',
  'core.ScaleIOPersistentVolumeSource':
    'gateway:s system:s secretRef*:core.SecretReference sslEnabled?:b protectionDomain?:s storagePool?:s storageMode?:s volumeName?:s fsType?:s readOnly?:b',
  'core.ScaleIOVolumeSource':
    'gateway:s system:s secretRef*:core.LocalObjectReference sslEnabled?:b protectionDomain?:s storagePool?:s storageMode?:s volumeName?:s fsType?:s readOnly?:b',
  'core.ScopeSelector': 'matchExpressions?:[]core.ScopedResourceSelectorRequirement',
  'core.ScopedResourceSelectorRequirement': 'scopeName:s operator:s values?:[]s',
  'core.SeccompProfile': 'type:s localhostProfile?*:s',
  'core.Secret': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta immutable?*:b data?:{}bytes stringData?:{}s type?:s',
  'core.SecretEnvSource': 'name?:s optional?*:b',
  'core.SecretKeySelector': 'name?:s key:s optional?*:b',
  'core.SecretProjection': 'name?:s items?:[]core.KeyToPath optional?*:b',
  'core.SecretReference': 'name?:s namespace?:s',
  'core.SecretVolumeSource': 'secretName?:s items?:[]core.KeyToPath defaultMode?*:i optional?*:b',
  'core.SecurityContext':
    'capabilities?*:core.Capabilities privileged?*:b seLinuxOptions?*:core.SELinuxOptions windowsOptions?*:core.WindowsSecurityContextOptions runAsUser?*:l runAsGroup?*:l runAsNonRoot?*:b readOnlyRootFilesystem?*:b allowPrivilegeEscalation?*:b procMount?*:s seccompProfile?*:core.SeccompProfile appArmorProfile?*:core.AppArmorProfile',
  'core.Service': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:core.ServiceSpec status?:core.ServiceStatus',
  'core.ServiceAccount':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta secrets?:[]core.ObjectReference imagePullSecrets?:[]core.LocalObjectReference automountServiceAccountToken?*:b',
  'core.ServiceAccountTokenProjection': 'audience?:s expirationSeconds?*:l path:s',
  'core.ServicePort': 'name?:s protocol?:s appProtocol?*:s port:i targetPort?:intstr nodePort?:i',
  'core.ServiceSpec':
    'ports?:[]core.ServicePort selector?:{}s clusterIP?:s clusterIPs?:[]s type?:s externalIPs?:[]s sessionAffinity?:s loadBalancerIP?:s loadBalancerSourceRanges?:[]s externalName?:s externalTrafficPolicy?:s healthCheckNodePort?:i publishNotReadyAddresses?:b sessionAffinityConfig?*:core.SessionAffinityConfig ipFamilies?:[]s ipFamilyPolicy?*:s allocateLoadBalancerNodePorts?*:b loadBalancerClass?*:s internalTrafficPolicy?*:s trafficDistribution?*:s',
  'core.ServiceStatus': 'loadBalancer?:core.LoadBalancerStatus conditions?:[]meta.Condition',
  'core.SessionAffinityConfig': 'clientIP?*:core.ClientIPConfig',
  'core.SleepAction': 'seconds:l',
  'core.StorageOSPersistentVolumeSource':
    'volumeName?:s volumeNamespace?:s fsType?:s readOnly?:b secretRef?*:core.ObjectReference',
  'core.StorageOSVolumeSource':
    'volumeName?:s volumeNamespace?:s fsType?:s readOnly?:b secretRef?*:core.LocalObjectReference',
  'core.Sysctl': 'name:s value:s',
  'core.TCPSocketAction': 'port:intstr host?:s',
  'core.Taint': 'key:s value?:s effect:s timeAdded?*:time',
  'core.Toleration': 'key?:s operator?:s value?:s effect?:s tolerationSeconds?*:l',
  'core.TopologySpreadConstraint':
    'maxSkew:i topologyKey:s whenUnsatisfiable:s labelSelector?*:meta.LabelSelector minDomains?*:i nodeAffinityPolicy?*:s nodeTaintsPolicy?*:s matchLabelKeys?:[]s',
  'core.TypedLocalObjectReference': 'apiGroup*:s kind:s name:s',
  'core.TypedObjectReference': 'apiGroup*:s kind:s name:s namespace?*:s',
  'core.Volume':
    'name:s hostPath?*:core.HostPathVolumeSource emptyDir?*:core.EmptyDirVolumeSource gcePersistentDisk?*:core.GCEPersistentDiskVolumeSource awsElasticBlockStore?*:core.AWSElasticBlockStoreVolumeSource gitRepo?*:core.GitRepoVolumeSource secret?*:core.SecretVolumeSource nfs?*:core.NFSVolumeSource iscsi?*:core.ISCSIVolumeSource glusterfs?*:core.GlusterfsVolumeSource persistentVolumeClaim?*:core.PersistentVolumeClaimVolumeSource rbd?*:core.RBDVolumeSource flexVolume?*:core.FlexVolumeSource cinder?*:core.CinderVolumeSource cephfs?*:core.CephFSVolumeSource flocker?*:core.FlockerVolumeSource downwardAPI?*:core.DownwardAPIVolumeSource fc?*:core.FCVolumeSource azureFile?*:core.AzureFileVolumeSource configMap?*:core.ConfigMapVolumeSource vsphereVolume?*:core.VsphereVirtualDiskVolumeSource quobyte?*:core.QuobyteVolumeSource azureDisk?*:core.AzureDiskVolumeSource photonPersistentDisk?*:core.PhotonPersistentDiskVolumeSource projected?*:core.ProjectedVolumeSource portworxVolume?*:core.PortworxVolumeSource scaleIO?*:core.ScaleIOVolumeSource storageos?*:core.StorageOSVolumeSource csi?*:core.CSIVolumeSource ephemeral?*:core.EphemeralVolumeSource image?*:core.ImageVolumeSource',
  'core.VolumeDevice': 'name:s devicePath:s',
  'core.VolumeMount':
    'name:s readOnly?:b recursiveReadOnly?*:s mountPath:s subPath?:s mountPropagation?*:s subPathExpr?:s',
  'core.VolumeMountStatus': 'name:s mountPath:s readOnly?:b recursiveReadOnly?*:s volumeStatus?*:core.VolumeStatus',
  'core.VolumeNodeAffinity': 'required?*:core.NodeSelector',
  'core.VolumeProjection':
    'secret?*:core.SecretProjection downwardAPI?*:core.DownwardAPIProjection configMap?*:core.ConfigMapProjection serviceAccountToken?*:core.ServiceAccountTokenProjection clusterTrustBundle?*:core.ClusterTrustBundleProjection podCertificate?*:core.PodCertificateProjection',
  'core.VolumeResourceRequirements': 'limits?:{}quantity requests?:{}quantity',
  'core.VolumeStatus': 'image?*:core.ImageVolumeStatus',
  'core.VsphereVirtualDiskVolumeSource': 'volumePath:s fsType?:s storagePolicyName?:s storagePolicyID?:s',
  'core.WeightedPodAffinityTerm': 'weight:i podAffinityTerm:core.PodAffinityTerm',
  'core.WindowsSecurityContextOptions':
    'gmsaCredentialSpecName?*:s gmsaCredentialSpec?*:s runAsUserName?*:s hostProcess?*:b',
  'events.Event':
    'kind?:s apiVersion?:s metadata:meta.ObjectMeta eventTime:micro series?*:events.EventSeries reportingController?:s reportingInstance?:s action?:s reason?:s regarding?:core.ObjectReference related?*:core.ObjectReference note?:s type?:s deprecatedSource?:core.EventSource deprecatedFirstTimestamp?:time deprecatedLastTimestamp?:time deprecatedCount?:i',
  'events.EventSeries': 'count:i lastObservedTime:micro',
  'meta.Condition': 'type:s status:s observedGeneration?:l lastTransitionTime:time reason:s message:s',
  'meta.DeleteOptions':
    'kind?:s apiVersion?:s gracePeriodSeconds?*:l preconditions?*:meta.Preconditions orphanDependents?*:b propagationPolicy?*:s dryRun?:[]s ignoreStoreReadErrorWithClusterBreakingPotential?*:b',
  'meta.FieldSelectorRequirement': 'key:s operator:s values?:[]s',
  'meta.LabelSelector': 'matchLabels?:{}s matchExpressions?:[]meta.LabelSelectorRequirement',
  'meta.LabelSelectorRequirement': 'key:s operator:s values?:[]s',
  'meta.ManagedFieldsEntry':
    'manager?:s operation?:s apiVersion?:s time?*:time fieldsType?:s fieldsV1?*:any subresource?:s',
  'meta.ObjectMeta':
    'name?:s generateName?:s namespace?:s selfLink?:s uid?:s resourceVersion?:s generation?:l creationTimestamp?0:time deletionTimestamp?*:time deletionGracePeriodSeconds?*:l labels?:{}s annotations?:{}s ownerReferences?:[]meta.OwnerReference finalizers?:[]s managedFields?:[]meta.ManagedFieldsEntry',
  'meta.OwnerReference': 'apiVersion:s kind:s name:s uid:s controller?*:b blockOwnerDeletion?*:b',
  'meta.Preconditions': 'uid?*:s resourceVersion?*:s',
  'networking.HTTPIngressPath': 'path?:s pathType*:s backend:networking.IngressBackend',
  'networking.HTTPIngressRuleValue': 'paths:[]networking.HTTPIngressPath',
  'networking.IPAddress': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:networking.IPAddressSpec',
  'networking.IPAddressSpec': 'parentRef?*:networking.ParentReference',
  'networking.IPBlock': 'cidr:s except?:[]s',
  'networking.Ingress':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:networking.IngressSpec status?:networking.IngressStatus',
  'networking.IngressBackend': 'service?*:networking.IngressServiceBackend resource?*:core.TypedLocalObjectReference',
  'networking.IngressClass': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:networking.IngressClassSpec',
  'networking.IngressClassParametersReference': 'apiGroup?*:s kind:s name:s scope*:s namespace?*:s',
  'networking.IngressClassSpec': 'controller?:s parameters?*:networking.IngressClassParametersReference',
  'networking.IngressLoadBalancerIngress': 'ip?:s hostname?:s ports?:[]networking.IngressPortStatus',
  'networking.IngressLoadBalancerStatus': 'ingress?:[]networking.IngressLoadBalancerIngress',
  'networking.IngressPortStatus': 'port:i protocol:s error?*:s',
  'networking.IngressRule': 'host?:s http?*:networking.HTTPIngressRuleValue',
  'networking.IngressServiceBackend': 'name:s port?:networking.ServiceBackendPort',
  'networking.IngressSpec':
    'ingressClassName?*:s defaultBackend?*:networking.IngressBackend tls?:[]networking.IngressTLS rules?:[]networking.IngressRule',
  'networking.IngressStatus': 'loadBalancer?:networking.IngressLoadBalancerStatus',
  'networking.IngressTLS': 'hosts?:[]s secretName?:s',
  'networking.NetworkPolicy': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:networking.NetworkPolicySpec',
  'networking.NetworkPolicyEgressRule': 'ports?:[]networking.NetworkPolicyPort to?:[]networking.NetworkPolicyPeer',
  'networking.NetworkPolicyIngressRule': 'ports?:[]networking.NetworkPolicyPort from?:[]networking.NetworkPolicyPeer',
  'networking.NetworkPolicyPeer':
    'podSelector?*:meta.LabelSelector namespaceSelector?*:meta.LabelSelector ipBlock?*:networking.IPBlock',
  'networking.NetworkPolicyPort': 'protocol?*:s port?*:intstr endPort?*:i',
  'networking.NetworkPolicySpec':
    'podSelector:meta.LabelSelector ingress?:[]networking.NetworkPolicyIngressRule egress?:[]networking.NetworkPolicyEgressRule policyTypes?:[]s',
  'networking.ParentReference': 'group?:s resource?:s namespace?:s name?:s',
  'networking.ServiceBackendPort': 'name?:s number?:i',
  'networking.ServiceCIDR':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta spec?:networking.ServiceCIDRSpec status?:networking.ServiceCIDRStatus',
  'networking.ServiceCIDRSpec': 'cidrs?:[]s',
  'networking.ServiceCIDRStatus': 'conditions?:[]meta.Condition',
  'policy.Eviction': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta deleteOptions?*:meta.DeleteOptions',
  'rbac.AggregationRule': 'clusterRoleSelectors?:[]meta.LabelSelector',
  'rbac.ClusterRole':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta rules:[]rbac.PolicyRule aggregationRule?*:rbac.AggregationRule',
  'rbac.ClusterRoleBinding':
    'kind?:s apiVersion?:s metadata?:meta.ObjectMeta subjects?:[]rbac.Subject roleRef:rbac.RoleRef',
  'rbac.PolicyRule': 'verbs:[]s apiGroups?:[]s resources?:[]s resourceNames?:[]s nonResourceURLs?:[]s',
  'rbac.Role': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta rules:[]rbac.PolicyRule',
  'rbac.RoleBinding': 'kind?:s apiVersion?:s metadata?:meta.ObjectMeta subjects?:[]rbac.Subject roleRef:rbac.RoleRef',
  'rbac.RoleRef': 'apiGroup:s kind:s name:s',
  'rbac.Subject': 'kind:s apiGroup?:s name:s namespace?:s',
};
