/**
 * The fields of the built-in kinds, as facts about the Kubernetes API 1.36: their names, order and types.
 *
 * Each field is `name`, then marks, then `#number` (on the wire of protobuf), then `:type`. The name `~` is a message
 * whose fields are among those of its parent. The marks: `?` is left out when empty, `*` may be absent as opposed
 * to empty, `0` is left out when it is the zero time. The types: `s` string, `b` boolean, `i` and `l` integers of 32
 * and 64 bits, `f` number, `time`, `micro`, `quantity`, `intstr`, `bytes`, `any`, `[]T` lists, `{}T` mappings, and the
 * names of this table.
 */
export const table: Readonly<Record<string, string>> = {
  'admissionregistration.ApplyConfiguration': 'expression?#1:s',
  'admissionregistration.AuditAnnotation': 'key#1:s valueExpression#2:s',
  'admissionregistration.ExpressionWarning': 'fieldRef#2:s warning#3:s',
  'admissionregistration.JSONPatch': 'expression?#1:s',
  'admissionregistration.MatchCondition': 'name#1:s expression#2:s',
  'admissionregistration.MatchResources':
    'namespaceSelector?*#1:meta.LabelSelector objectSelector?*#2:meta.LabelSelector resourceRules?#3:[]admissionregistration.NamedRuleWithOperations excludeResourceRules?#4:[]admissionregistration.NamedRuleWithOperations matchPolicy?*#7:s',
  'admissionregistration.MutatingAdmissionPolicy':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:admissionregistration.MutatingAdmissionPolicySpec',
  'admissionregistration.MutatingAdmissionPolicyBinding':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:admissionregistration.MutatingAdmissionPolicyBindingSpec',
  'admissionregistration.MutatingAdmissionPolicyBindingSpec':
    'policyName?#1:s paramRef?*#2:admissionregistration.ParamRef matchResources?*#3:admissionregistration.MatchResources',
  'admissionregistration.MutatingAdmissionPolicySpec':
    'paramKind?*#1:admissionregistration.ParamKind matchConstraints?*#2:admissionregistration.MatchResources variables?#3:[]admissionregistration.Variable mutations?#4:[]admissionregistration.Mutation failurePolicy?*#5:s matchConditions?#6:[]admissionregistration.MatchCondition reinvocationPolicy?#7:s',
  'admissionregistration.MutatingWebhook':
    'name#1:s clientConfig#2:admissionregistration.WebhookClientConfig rules?#3:[]admissionregistration.RuleWithOperations failurePolicy?*#4:s matchPolicy?*#9:s namespaceSelector?*#5:meta.LabelSelector objectSelector?*#11:meta.LabelSelector sideEffects*#6:s timeoutSeconds?*#7:i admissionReviewVersions#8:[]s reinvocationPolicy?*#10:s matchConditions?#12:[]admissionregistration.MatchCondition',
  'admissionregistration.MutatingWebhookConfiguration':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta webhooks?#2:[]admissionregistration.MutatingWebhook',
  'admissionregistration.Mutation':
    'patchType#2:s applyConfiguration?*#3:admissionregistration.ApplyConfiguration jsonPatch?*#4:admissionregistration.JSONPatch',
  'admissionregistration.NamedRuleWithOperations':
    'resourceNames?#1:[]s operations?:[]s apiGroups?:[]s apiVersions?:[]s resources?:[]s scope?*:s ~#2:admissionregistration.RuleWithOperations',
  'admissionregistration.ParamKind': 'apiVersion?#1:s kind?#2:s',
  'admissionregistration.ParamRef':
    'name?#1:s namespace?#2:s selector?*#3:meta.LabelSelector parameterNotFoundAction?*#4:s',
  'admissionregistration.Rule': 'apiGroups?#1:[]s apiVersions?#2:[]s resources?#3:[]s scope?*#4:s',
  'admissionregistration.RuleWithOperations':
    'operations?#1:[]s apiGroups?:[]s apiVersions?:[]s resources?:[]s scope?*:s ~#2:admissionregistration.Rule',
  'admissionregistration.ServiceReference': 'namespace#1:s name#2:s path?*#3:s port?*#4:i',
  'admissionregistration.TypeChecking': 'expressionWarnings?#1:[]admissionregistration.ExpressionWarning',
  'admissionregistration.ValidatingAdmissionPolicy':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:admissionregistration.ValidatingAdmissionPolicySpec status?#3:admissionregistration.ValidatingAdmissionPolicyStatus',
  'admissionregistration.ValidatingAdmissionPolicyBinding':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:admissionregistration.ValidatingAdmissionPolicyBindingSpec',
  'admissionregistration.ValidatingAdmissionPolicyBindingSpec':
    'policyName?#1:s paramRef?*#2:admissionregistration.ParamRef matchResources?*#3:admissionregistration.MatchResources validationActions?#4:[]s',
  'admissionregistration.ValidatingAdmissionPolicySpec':
    'paramKind?*#1:admissionregistration.ParamKind matchConstraints?*#2:admissionregistration.MatchResources validations?#3:[]admissionregistration.Validation failurePolicy?*#4:s auditAnnotations?#5:[]admissionregistration.AuditAnnotation matchConditions?#6:[]admissionregistration.MatchCondition variables?#7:[]admissionregistration.Variable',
  'admissionregistration.ValidatingAdmissionPolicyStatus':
    'observedGeneration?#1:l typeChecking?*#2:admissionregistration.TypeChecking conditions?#3:[]meta.Condition',
  'admissionregistration.ValidatingWebhook':
    'name#1:s clientConfig#2:admissionregistration.WebhookClientConfig rules?#3:[]admissionregistration.RuleWithOperations failurePolicy?*#4:s matchPolicy?*#9:s namespaceSelector?*#5:meta.LabelSelector objectSelector?*#10:meta.LabelSelector sideEffects*#6:s timeoutSeconds?*#7:i admissionReviewVersions#8:[]s matchConditions?#11:[]admissionregistration.MatchCondition',
  'admissionregistration.ValidatingWebhookConfiguration':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta webhooks?#2:[]admissionregistration.ValidatingWebhook',
  'admissionregistration.Validation': 'expression#1:s message?#2:s reason?*#3:s messageExpression?#4:s',
  'admissionregistration.Variable': 'name#1:s expression#2:s',
  'admissionregistration.WebhookClientConfig':
    'url?*#3:s service?*#1:admissionregistration.ServiceReference caBundle?#2:bytes',
  'apiextensions.CustomResourceColumnDefinition':
    'name#1:s type#2:s format?#3:s description?#4:s priority?#5:i jsonPath#6:s',
  'apiextensions.CustomResourceConversion': 'strategy#1:s webhook?*#2:apiextensions.WebhookConversion',
  'apiextensions.CustomResourceDefinition':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec#2:apiextensions.CustomResourceDefinitionSpec status?#3:apiextensions.CustomResourceDefinitionStatus',
  'apiextensions.CustomResourceDefinitionCondition':
    'type#1:s status#2:s lastTransitionTime?#3:time reason?#4:s message?#5:s observedGeneration?#6:l',
  'apiextensions.CustomResourceDefinitionNames':
    'plural#1:s singular?#2:s shortNames?#3:[]s kind#4:s listKind?#5:s categories?#6:[]s',
  'apiextensions.CustomResourceDefinitionSpec':
    'group#1:s names#3:apiextensions.CustomResourceDefinitionNames scope#4:s versions#7:[]apiextensions.CustomResourceDefinitionVersion conversion?*#9:apiextensions.CustomResourceConversion preserveUnknownFields?#10:b',
  'apiextensions.CustomResourceDefinitionStatus':
    'conditions#1:[]apiextensions.CustomResourceDefinitionCondition acceptedNames#2:apiextensions.CustomResourceDefinitionNames storedVersions#3:[]s observedGeneration?#4:l',
  'apiextensions.CustomResourceDefinitionVersion':
    'name#1:s served#2:b storage#3:b deprecated?#7:b deprecationWarning?*#8:s schema?*#4:apiextensions.CustomResourceValidation subresources?*#5:apiextensions.CustomResourceSubresources additionalPrinterColumns?#6:[]apiextensions.CustomResourceColumnDefinition selectableFields?#9:[]apiextensions.SelectableField',
  'apiextensions.CustomResourceSubresourceScale': 'specReplicasPath#1:s statusReplicasPath#2:s labelSelectorPath?*#3:s',
  'apiextensions.CustomResourceSubresourceStatus': '',
  'apiextensions.CustomResourceSubresources':
    'status?*#1:apiextensions.CustomResourceSubresourceStatus scale?*#2:apiextensions.CustomResourceSubresourceScale',
  'apiextensions.CustomResourceValidation': 'openAPIV3Schema?*#1:apiextensions.JSONSchemaProps',
  'apiextensions.ExternalDocumentation': 'description?#1:s url?#2:s',
  'apiextensions.JSONSchemaProps':
    'id?#1:s $schema?#2:s $ref?*#3:s description?#4:s type?#5:s format?#6:s title?#7:s default?*#8:any maximum?*#9:f exclusiveMaximum?#10:b minimum?*#11:f exclusiveMinimum?#12:b maxLength?*#13:l minLength?*#14:l pattern?#15:s maxItems?*#16:l minItems?*#17:l uniqueItems?#18:b multipleOf?*#19:f enum?#20:[]any maxProperties?*#21:l minProperties?*#22:l required?#23:[]s items?*#24:propsOrArray allOf?#25:[]apiextensions.JSONSchemaProps oneOf?#26:[]apiextensions.JSONSchemaProps anyOf?#27:[]apiextensions.JSONSchemaProps not?*#28:apiextensions.JSONSchemaProps properties?#29:{}apiextensions.JSONSchemaProps additionalProperties?*#30:propsOrBool patternProperties?#31:{}apiextensions.JSONSchemaProps dependencies?#32:{}propsOrStrings additionalItems?*#33:propsOrBool definitions?#34:{}apiextensions.JSONSchemaProps externalDocs?*#35:apiextensions.ExternalDocumentation example?*#36:any nullable?#37:b x-kubernetes-preserve-unknown-fields?*#38:b x-kubernetes-embedded-resource?#39:b x-kubernetes-int-or-string?#40:b x-kubernetes-list-map-keys?#41:[]s x-kubernetes-list-type?*#42:s x-kubernetes-map-type?*#43:s x-kubernetes-validations?#44:[]apiextensions.ValidationRule',
  'apiextensions.SelectableField': 'jsonPath#1:s',
  'apiextensions.ServiceReference': 'namespace#1:s name#2:s path?*#3:s port?*#4:i',
  'apiextensions.ValidationRule':
    'rule#1:s message?#2:s messageExpression?#3:s reason?*#4:s fieldPath?#5:s optionalOldSelf?*#6:b',
  'apiextensions.WebhookClientConfig': 'url?*#3:s service?*#1:apiextensions.ServiceReference caBundle?#2:bytes',
  'apiextensions.WebhookConversion':
    'clientConfig?*#2:apiextensions.WebhookClientConfig conversionReviewVersions#3:[]s',
  'apps.ControllerRevision': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta data?#2:any revision#3:l',
  'apps.DaemonSet':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:apps.DaemonSetSpec status?#3:apps.DaemonSetStatus',
  'apps.DaemonSetCondition': 'type#1:s status#2:s lastTransitionTime?#3:time reason?#4:s message?#5:s',
  'apps.DaemonSetSpec':
    'selector*#1:meta.LabelSelector template#2:core.PodTemplateSpec updateStrategy?#3:apps.DaemonSetUpdateStrategy minReadySeconds?#4:i revisionHistoryLimit?*#6:i',
  'apps.DaemonSetStatus':
    'currentNumberScheduled#1:i numberMisscheduled#2:i desiredNumberScheduled#3:i numberReady#4:i observedGeneration?#5:l updatedNumberScheduled?#6:i numberAvailable?#7:i numberUnavailable?#8:i collisionCount?*#9:i conditions?#10:[]apps.DaemonSetCondition',
  'apps.DaemonSetUpdateStrategy': 'type?#1:s rollingUpdate?*#2:apps.RollingUpdateDaemonSet',
  'apps.Deployment':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:apps.DeploymentSpec status?#3:apps.DeploymentStatus',
  'apps.DeploymentCondition':
    'type#1:s status#2:s lastUpdateTime?#6:time lastTransitionTime?#7:time reason?#4:s message?#5:s',
  'apps.DeploymentSpec':
    'replicas?*#1:i selector*#2:meta.LabelSelector template#3:core.PodTemplateSpec strategy?#4:apps.DeploymentStrategy minReadySeconds?#5:i revisionHistoryLimit?*#6:i paused?#7:b progressDeadlineSeconds?*#9:i',
  'apps.DeploymentStatus':
    'observedGeneration?#1:l replicas?#2:i updatedReplicas?#3:i readyReplicas?#7:i availableReplicas?#4:i unavailableReplicas?#5:i terminatingReplicas?*#9:i conditions?#6:[]apps.DeploymentCondition collisionCount?*#8:i',
  'apps.DeploymentStrategy': 'type?#1:s rollingUpdate?*#2:apps.RollingUpdateDeployment',
  'apps.ReplicaSet':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:apps.ReplicaSetSpec status?#3:apps.ReplicaSetStatus',
  'apps.ReplicaSetCondition': 'type#1:s status#2:s lastTransitionTime?#3:time reason?#4:s message?#5:s',
  'apps.ReplicaSetSpec':
    'replicas?*#1:i minReadySeconds?#4:i selector*#2:meta.LabelSelector template?#3:core.PodTemplateSpec',
  'apps.ReplicaSetStatus':
    'replicas#1:i fullyLabeledReplicas?#2:i readyReplicas?#4:i availableReplicas?#5:i terminatingReplicas?*#7:i observedGeneration?#3:l conditions?#6:[]apps.ReplicaSetCondition',
  'apps.RollingUpdateDaemonSet': 'maxUnavailable?*#1:intstr maxSurge?*#2:intstr',
  'apps.RollingUpdateDeployment': 'maxUnavailable?*#1:intstr maxSurge?*#2:intstr',
  'apps.RollingUpdateStatefulSetStrategy': 'partition?*#1:i maxUnavailable?*#2:intstr',
  'apps.StatefulSet':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:apps.StatefulSetSpec status?#3:apps.StatefulSetStatus',
  'apps.StatefulSetCondition': 'type#1:s status#2:s lastTransitionTime?#3:time reason?#4:s message?#5:s',
  'apps.StatefulSetOrdinals': 'start#1:i',
  'apps.StatefulSetPersistentVolumeClaimRetentionPolicy': 'whenDeleted?#1:s whenScaled?#2:s',
  'apps.StatefulSetSpec':
    'replicas?*#1:i selector*#2:meta.LabelSelector template#3:core.PodTemplateSpec volumeClaimTemplates?#4:[]core.PersistentVolumeClaim serviceName#5:s podManagementPolicy?#6:s updateStrategy?#7:apps.StatefulSetUpdateStrategy revisionHistoryLimit?*#8:i minReadySeconds?#9:i persistentVolumeClaimRetentionPolicy?*#10:apps.StatefulSetPersistentVolumeClaimRetentionPolicy ordinals?*#11:apps.StatefulSetOrdinals',
  'apps.StatefulSetStatus':
    'observedGeneration?#1:l replicas#2:i readyReplicas?#3:i currentReplicas?#4:i updatedReplicas?#5:i currentRevision?#6:s updateRevision?#7:s collisionCount?*#9:i conditions?#10:[]apps.StatefulSetCondition availableReplicas#11:i',
  'apps.StatefulSetUpdateStrategy': 'type?#1:s rollingUpdate?*#2:apps.RollingUpdateStatefulSetStrategy',
  'authentication.BoundObjectReference': 'kind?#1:s apiVersion?#2:s name?#3:s uid?#4:s',
  'authentication.SelfSubjectReview':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta status?#2:authentication.SelfSubjectReviewStatus',
  'authentication.SelfSubjectReviewStatus': 'userInfo?#1:authentication.UserInfo',
  'authentication.TokenRequest':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec#2:authentication.TokenRequestSpec status?#3:authentication.TokenRequestStatus',
  'authentication.TokenRequestSpec':
    'audiences#1:[]s expirationSeconds*#4:l boundObjectRef*#3:authentication.BoundObjectReference',
  'authentication.TokenRequestStatus': 'token#1:s expirationTimestamp#2:time',
  'authentication.TokenReview':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec#2:authentication.TokenReviewSpec status?#3:authentication.TokenReviewStatus',
  'authentication.TokenReviewSpec': 'token?#1:s audiences?#2:[]s',
  'authentication.TokenReviewStatus': 'authenticated?#1:b user?#2:authentication.UserInfo audiences?#4:[]s error?#3:s',
  'authentication.UserInfo': 'username?#1:s uid?#2:s groups?#3:[]s extra?#4:{}[]s',
  'authorization.FieldSelectorAttributes': 'rawSelector?#1:s requirements?#2:[]meta.FieldSelectorRequirement',
  'authorization.LabelSelectorAttributes': 'rawSelector?#1:s requirements?#2:[]meta.LabelSelectorRequirement',
  'authorization.LocalSubjectAccessReview':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec#2:authorization.SubjectAccessReviewSpec status?#3:authorization.SubjectAccessReviewStatus',
  'authorization.NonResourceAttributes': 'path?#1:s verb?#2:s',
  'authorization.NonResourceRule': 'verbs#1:[]s nonResourceURLs?#2:[]s',
  'authorization.ResourceAttributes':
    'namespace?#1:s verb?#2:s group?#3:s version?#4:s resource?#5:s subresource?#6:s name?#7:s fieldSelector?*#8:authorization.FieldSelectorAttributes labelSelector?*#9:authorization.LabelSelectorAttributes',
  'authorization.ResourceRule': 'verbs#1:[]s apiGroups?#2:[]s resources?#3:[]s resourceNames?#4:[]s',
  'authorization.SelfSubjectAccessReview':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec#2:authorization.SelfSubjectAccessReviewSpec status?#3:authorization.SubjectAccessReviewStatus',
  'authorization.SelfSubjectAccessReviewSpec':
    'resourceAttributes?*#1:authorization.ResourceAttributes nonResourceAttributes?*#2:authorization.NonResourceAttributes',
  'authorization.SelfSubjectRulesReview':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec#2:authorization.SelfSubjectRulesReviewSpec status?#3:authorization.SubjectRulesReviewStatus',
  'authorization.SelfSubjectRulesReviewSpec': 'namespace?#1:s',
  'authorization.SubjectAccessReview':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec#2:authorization.SubjectAccessReviewSpec status?#3:authorization.SubjectAccessReviewStatus',
  'authorization.SubjectAccessReviewSpec':
    'resourceAttributes?*#1:authorization.ResourceAttributes nonResourceAttributes?*#2:authorization.NonResourceAttributes user?#3:s groups?#4:[]s extra?#5:{}[]s uid?#6:s',
  'authorization.SubjectAccessReviewStatus': 'allowed#1:b denied?#4:b reason?#2:s evaluationError?#3:s',
  'authorization.SubjectRulesReviewStatus':
    'resourceRules#1:[]authorization.ResourceRule nonResourceRules#2:[]authorization.NonResourceRule incomplete#3:b evaluationError?#4:s',
  'autoscaling.Scale':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:autoscaling.ScaleSpec status?#3:autoscaling.ScaleStatus',
  'autoscaling.ScaleSpec': 'replicas?#1:i',
  'autoscaling.ScaleStatus': 'replicas#1:i selector?#2:s',
  'batch.CronJob':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:batch.CronJobSpec status?#3:batch.CronJobStatus',
  'batch.CronJobSpec':
    'schedule#1:s timeZone?*#8:s startingDeadlineSeconds?*#2:l concurrencyPolicy?#3:s suspend?*#4:b jobTemplate#5:batch.JobTemplateSpec successfulJobsHistoryLimit?*#6:i failedJobsHistoryLimit?*#7:i',
  'batch.CronJobStatus': 'active?#1:[]core.ObjectReference lastScheduleTime?*#4:time lastSuccessfulTime?*#5:time',
  'batch.Job': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:batch.JobSpec status?#3:batch.JobStatus',
  'batch.JobCondition': 'type#1:s status#2:s lastProbeTime?#3:time lastTransitionTime?#4:time reason?#5:s message?#6:s',
  'batch.JobSpec':
    'parallelism?*#1:i completions?*#2:i activeDeadlineSeconds?*#3:l podFailurePolicy?*#11:batch.PodFailurePolicy successPolicy?*#16:batch.SuccessPolicy backoffLimit?*#7:i backoffLimitPerIndex?*#12:i maxFailedIndexes?*#13:i selector?*#4:meta.LabelSelector manualSelector?*#5:b template#6:core.PodTemplateSpec ttlSecondsAfterFinished?*#8:i completionMode?*#9:s suspend?*#10:b podReplacementPolicy?*#14:s managedBy?*#15:s',
  'batch.JobStatus':
    'conditions?#1:[]batch.JobCondition startTime?*#2:time completionTime?*#3:time active?#4:i succeeded?#5:i failed?#6:i terminating?*#11:i completedIndexes?#7:s failedIndexes?*#10:s uncountedTerminatedPods?*#8:batch.UncountedTerminatedPods ready?*#9:i',
  'batch.JobTemplateSpec': 'metadata?#1:meta.ObjectMeta spec?#2:batch.JobSpec',
  'batch.PodFailurePolicy': 'rules#1:[]batch.PodFailurePolicyRule',
  'batch.PodFailurePolicyOnExitCodesRequirement': 'containerName?*#1:s operator#2:s values#3:[]i',
  'batch.PodFailurePolicyOnPodConditionsPattern': 'type#1:s status#2:s',
  'batch.PodFailurePolicyRule':
    'action#1:s onExitCodes?*#2:batch.PodFailurePolicyOnExitCodesRequirement onPodConditions?#3:[]batch.PodFailurePolicyOnPodConditionsPattern',
  'batch.SuccessPolicy': 'rules#1:[]batch.SuccessPolicyRule',
  'batch.SuccessPolicyRule': 'succeededIndexes?*#1:s succeededCount?*#2:i',
  'batch.UncountedTerminatedPods': 'succeeded?#1:[]s failed?#2:[]s',
  'coordination.Lease': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:coordination.LeaseSpec',
  'coordination.LeaseSpec':
    'holderIdentity?*#1:s leaseDurationSeconds?*#2:i acquireTime?*#3:micro renewTime?*#4:micro leaseTransitions?*#5:i strategy?*#6:s preferredHolder?*#7:s',
  'core.AWSElasticBlockStoreVolumeSource': 'volumeID#1:s fsType?#2:s partition?#3:i readOnly?#4:b',
  'core.Affinity':
    'nodeAffinity?*#1:core.NodeAffinity podAffinity?*#2:core.PodAffinity podAntiAffinity?*#3:core.PodAntiAffinity',
  'core.AppArmorProfile': 'type#1:s localhostProfile?*#2:s',
  'core.AttachedVolume': 'name#1:s devicePath#2:s',
  'core.AzureDiskVolumeSource': 'diskName#1:s diskURI#2:s cachingMode?*#3:s fsType?*#4:s readOnly?*#5:b kind?*#6:s',
  'core.AzureFilePersistentVolumeSource': 'secretName#1:s shareName#2:s readOnly?#3:b secretNamespace*#4:s',
  'core.AzureFileVolumeSource': 'secretName#1:s shareName#2:s readOnly?#3:b',
  'core.Binding': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta target#2:core.ObjectReference',
  'core.CSIPersistentVolumeSource':
    'driver#1:s volumeHandle#2:s readOnly?#3:b fsType?#4:s volumeAttributes?#5:{}s controllerPublishSecretRef?*#6:core.SecretReference nodeStageSecretRef?*#7:core.SecretReference nodePublishSecretRef?*#8:core.SecretReference controllerExpandSecretRef?*#9:core.SecretReference nodeExpandSecretRef?*#10:core.SecretReference',
  'core.CSIVolumeSource':
    'driver#1:s readOnly?*#2:b fsType?*#3:s volumeAttributes?#4:{}s nodePublishSecretRef?*#5:core.LocalObjectReference',
  'core.Capabilities': 'add?#1:[]s drop?#2:[]s',
  'core.CephFSPersistentVolumeSource':
    'monitors#1:[]s path?#2:s user?#3:s secretFile?#4:s secretRef?*#5:core.SecretReference readOnly?#6:b',
  'core.CephFSVolumeSource':
    'monitors#1:[]s path?#2:s user?#3:s secretFile?#4:s secretRef?*#5:core.LocalObjectReference readOnly?#6:b',
  'core.CinderPersistentVolumeSource': 'volumeID#1:s fsType?#2:s readOnly?#3:b secretRef?*#4:core.SecretReference',
  'core.CinderVolumeSource': 'volumeID#1:s fsType?#2:s readOnly?#3:b secretRef?*#4:core.LocalObjectReference',
  'core.ClientIPConfig': 'timeoutSeconds?*#1:i',
  'core.ClusterTrustBundleProjection':
    'name?*#1:s signerName?*#2:s labelSelector?*#3:meta.LabelSelector optional?*#5:b path#4:s',
  'core.ConfigMap':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta immutable?*#4:b data?#2:{}s binaryData?#3:{}bytes',
  'core.ConfigMapEnvSource': 'name?:s ~#1:core.LocalObjectReference optional?*#2:b',
  'core.ConfigMapKeySelector': 'name?:s ~#1:core.LocalObjectReference key#2:s optional?*#3:b',
  'core.ConfigMapNodeConfigSource': 'namespace#1:s name#2:s uid?#3:s resourceVersion?#4:s kubeletConfigKey#5:s',
  'core.ConfigMapProjection': 'name?:s ~#1:core.LocalObjectReference items?#2:[]core.KeyToPath optional?*#4:b',
  'core.ConfigMapVolumeSource':
    'name?:s ~#1:core.LocalObjectReference items?#2:[]core.KeyToPath defaultMode?*#3:i optional?*#4:b',
  'core.Container':
    'name#1:s image?#2:s command?#3:[]s args?#4:[]s workingDir?#5:s ports?#6:[]core.ContainerPort envFrom?#19:[]core.EnvFromSource env?#7:[]core.EnvVar resources?#8:core.ResourceRequirements resizePolicy?#23:[]core.ContainerResizePolicy restartPolicy?*#24:s restartPolicyRules?#25:[]core.ContainerRestartRule volumeMounts?#9:[]core.VolumeMount volumeDevices?#21:[]core.VolumeDevice livenessProbe?*#10:core.Probe readinessProbe?*#11:core.Probe startupProbe?*#22:core.Probe lifecycle?*#12:core.Lifecycle terminationMessagePath?#13:s terminationMessagePolicy?#20:s imagePullPolicy?#14:s securityContext?*#15:core.SecurityContext stdin?#16:b stdinOnce?#17:b tty?#18:b',
  'core.ContainerExtendedResourceRequest': 'containerName#1:s resourceName#2:s requestName#3:s',
  'core.ContainerImage': 'names#1:[]s sizeBytes?#2:l',
  'core.ContainerPort': 'name?#1:s hostPort?#2:i containerPort#3:i protocol?#4:s hostIP?#5:s',
  'core.ContainerResizePolicy': 'resourceName#1:s restartPolicy#2:s',
  'core.ContainerRestartRule': 'action?#1:s exitCodes?*#2:core.ContainerRestartRuleOnExitCodes',
  'core.ContainerRestartRuleOnExitCodes': 'operator?#1:s values?#2:[]i',
  'core.ContainerState':
    'waiting?*#1:core.ContainerStateWaiting running?*#2:core.ContainerStateRunning terminated?*#3:core.ContainerStateTerminated',
  'core.ContainerStateRunning': 'startedAt?#1:time',
  'core.ContainerStateTerminated':
    'exitCode#1:i signal?#2:i reason?#3:s message?#4:s startedAt?#5:time finishedAt?#6:time containerID?#7:s',
  'core.ContainerStateWaiting': 'reason?#1:s message?#2:s',
  'core.ContainerStatus':
    'name#1:s state?#2:core.ContainerState lastState?#3:core.ContainerState ready#4:b restartCount#5:i image#6:s imageID#7:s containerID?#8:s started?*#9:b allocatedResources?#10:{}quantity resources?*#11:core.ResourceRequirements volumeMounts?#12:[]core.VolumeMountStatus user?*#13:core.ContainerUser allocatedResourcesStatus?#14:[]core.ResourceStatus stopSignal?*#15:s',
  'core.ContainerUser': 'linux?*#1:core.LinuxContainerUser',
  'core.DaemonEndpoint': 'Port#1:i',
  'core.DownwardAPIProjection': 'items?#1:[]core.DownwardAPIVolumeFile',
  'core.DownwardAPIVolumeFile':
    'path#1:s fieldRef?*#2:core.ObjectFieldSelector resourceFieldRef?*#3:core.ResourceFieldSelector mode?*#4:i',
  'core.DownwardAPIVolumeSource': 'items?#1:[]core.DownwardAPIVolumeFile defaultMode?*#2:i',
  'core.EmptyDirVolumeSource': 'medium?#1:s sizeLimit?*#2:quantity',
  'core.EndpointAddress': 'ip#1:s hostname?#3:s nodeName?*#4:s targetRef?*#2:core.ObjectReference',
  'core.EndpointPort': 'name?#1:s port#2:i protocol?#3:s appProtocol?*#4:s',
  'core.EndpointSubset':
    'addresses?#1:[]core.EndpointAddress notReadyAddresses?#2:[]core.EndpointAddress ports?#3:[]core.EndpointPort',
  'core.Endpoints': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta subsets?#2:[]core.EndpointSubset',
  'core.EnvFromSource': 'prefix?#1:s configMapRef?*#2:core.ConfigMapEnvSource secretRef?*#3:core.SecretEnvSource',
  'core.EnvVar': 'name#1:s value?#2:s valueFrom?*#3:core.EnvVarSource',
  'core.EnvVarSource':
    'fieldRef?*#1:core.ObjectFieldSelector resourceFieldRef?*#2:core.ResourceFieldSelector configMapKeyRef?*#3:core.ConfigMapKeySelector secretKeyRef?*#4:core.SecretKeySelector fileKeyRef?*#5:core.FileKeySelector',
  'core.EphemeralContainer':
    'name:s image?:s command?:[]s args?:[]s workingDir?:s ports?:[]core.ContainerPort envFrom?:[]core.EnvFromSource env?:[]core.EnvVar resources?:core.ResourceRequirements resizePolicy?:[]core.ContainerResizePolicy restartPolicy?*:s restartPolicyRules?:[]core.ContainerRestartRule volumeMounts?:[]core.VolumeMount volumeDevices?:[]core.VolumeDevice livenessProbe?*:core.Probe readinessProbe?*:core.Probe startupProbe?*:core.Probe lifecycle?*:core.Lifecycle terminationMessagePath?:s terminationMessagePolicy?:s imagePullPolicy?:s securityContext?*:core.SecurityContext stdin?:b stdinOnce?:b tty?:b ~#1:core.EphemeralContainerCommon targetContainerName?#2:s',
  'core.EphemeralContainerCommon':
    'name#1:s image?#2:s command?#3:[]s args?#4:[]s workingDir?#5:s ports?#6:[]core.ContainerPort envFrom?#19:[]core.EnvFromSource env?#7:[]core.EnvVar resources?#8:core.ResourceRequirements resizePolicy?#23:[]core.ContainerResizePolicy restartPolicy?*#24:s restartPolicyRules?#25:[]core.ContainerRestartRule volumeMounts?#9:[]core.VolumeMount volumeDevices?#21:[]core.VolumeDevice livenessProbe?*#10:core.Probe readinessProbe?*#11:core.Probe startupProbe?*#22:core.Probe lifecycle?*#12:core.Lifecycle terminationMessagePath?#13:s terminationMessagePolicy?#20:s imagePullPolicy?#14:s securityContext?*#15:core.SecurityContext stdin?#16:b stdinOnce?#17:b tty?#18:b',
  'core.EphemeralVolumeSource': 'volumeClaimTemplate?*#1:core.PersistentVolumeClaimTemplate',
  'core.Event':
    'kind?:s apiVersion?:s metadata#1:meta.ObjectMeta involvedObject#2:core.ObjectReference reason?#3:s message?#4:s source?#5:core.EventSource firstTimestamp?#6:time lastTimestamp?#7:time count?#8:i type?#9:s eventTime?#10:micro series?*#11:core.EventSeries action?#12:s related?*#13:core.ObjectReference reportingComponent#14:s reportingInstance#15:s',
  'core.EventSeries': 'count?#1:i lastObservedTime?#2:micro',
  'core.EventSource': 'component?#1:s host?#2:s',
  'core.ExecAction': 'command?#1:[]s',
  'core.FCVolumeSource': 'targetWWNs?#1:[]s lun?*#2:i fsType?#3:s readOnly?#4:b wwids?#5:[]s',
  'core.FileKeySelector': 'volumeName#1:s path#2:s key#3:s optional?*#4:b',
  'core.FlexPersistentVolumeSource':
    'driver#1:s fsType?#2:s secretRef?*#3:core.SecretReference readOnly?#4:b options?#5:{}s',
  'core.FlexVolumeSource':
    'driver#1:s fsType?#2:s secretRef?*#3:core.LocalObjectReference readOnly?#4:b options?#5:{}s',
  'core.FlockerVolumeSource': 'datasetName?#1:s datasetUUID?#2:s',
  'core.GCEPersistentDiskVolumeSource': 'pdName#1:s fsType?#2:s partition?#3:i readOnly?#4:b',
  'core.GRPCAction': 'port#1:i service*#2:s',
  'core.GitRepoVolumeSource': 'repository#1:s revision?#2:s directory?#3:s',
  'core.GlusterfsPersistentVolumeSource': 'endpoints#1:s path#2:s readOnly?#3:b endpointsNamespace?*#4:s',
  'core.GlusterfsVolumeSource': 'endpoints#1:s path#2:s readOnly?#3:b',
  'core.HTTPGetAction': 'path?#1:s port#2:intstr host?#3:s scheme?#4:s httpHeaders?#5:[]core.HTTPHeader',
  'core.HTTPHeader': 'name#1:s value#2:s',
  'core.HostAlias': 'ip#1:s hostnames?#2:[]s',
  'core.HostIP': 'ip#1:s',
  'core.HostPathVolumeSource': 'path#1:s type?*#2:s',
  'core.ISCSIPersistentVolumeSource':
    'targetPortal#1:s iqn#2:s lun#3:i iscsiInterface?#4:s fsType?#5:s readOnly?#6:b portals?#7:[]s chapAuthDiscovery?#8:b chapAuthSession?#11:b secretRef?*#10:core.SecretReference initiatorName?*#12:s',
  'core.ISCSIVolumeSource':
    'targetPortal#1:s iqn#2:s lun#3:i iscsiInterface?#4:s fsType?#5:s readOnly?#6:b portals?#7:[]s chapAuthDiscovery?#8:b chapAuthSession?#11:b secretRef?*#10:core.LocalObjectReference initiatorName?*#12:s',
  'core.ImageVolumeSource': 'reference?#1:s pullPolicy?#2:s',
  'core.ImageVolumeStatus': 'imageRef?#1:s',
  'core.KeyToPath': 'key#1:s path#2:s mode?*#3:i',
  'core.Lifecycle': 'postStart?*#1:core.LifecycleHandler preStop?*#2:core.LifecycleHandler stopSignal?*#3:s',
  'core.LifecycleHandler':
    'exec?*#1:core.ExecAction httpGet?*#2:core.HTTPGetAction tcpSocket?*#3:core.TCPSocketAction sleep?*#4:core.SleepAction',
  'core.LimitRange': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.LimitRangeSpec',
  'core.LimitRangeItem':
    'type#1:s max?#2:{}quantity min?#3:{}quantity default?#4:{}quantity defaultRequest?#5:{}quantity maxLimitRequestRatio?#6:{}quantity',
  'core.LimitRangeSpec': 'limits#1:[]core.LimitRangeItem',
  'core.LinuxContainerUser': 'uid#1:l gid#2:l supplementalGroups?#3:[]l',
  'core.LoadBalancerIngress': 'ip?#1:s hostname?#2:s ipMode?*#3:s ports?#4:[]core.PortStatus',
  'core.LoadBalancerStatus': 'ingress?#1:[]core.LoadBalancerIngress',
  'core.LocalObjectReference': 'name?#1:s',
  'core.LocalVolumeSource': 'path#1:s fsType?*#2:s',
  'core.ModifyVolumeStatus': 'targetVolumeAttributesClassName?#1:s status#2:s',
  'core.NFSVolumeSource': 'server#1:s path#2:s readOnly?#3:b',
  'core.Namespace':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.NamespaceSpec status?#3:core.NamespaceStatus',
  'core.NamespaceCondition': 'type#1:s status#2:s lastTransitionTime?#4:time reason?#5:s message?#6:s',
  'core.NamespaceSpec': 'finalizers?#1:[]s',
  'core.NamespaceStatus': 'phase?#1:s conditions?#2:[]core.NamespaceCondition',
  'core.Node': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.NodeSpec status?#3:core.NodeStatus',
  'core.NodeAddress': 'type#1:s address#2:s',
  'core.NodeAffinity':
    'requiredDuringSchedulingIgnoredDuringExecution?*#1:core.NodeSelector preferredDuringSchedulingIgnoredDuringExecution?#2:[]core.PreferredSchedulingTerm',
  'core.NodeAllocatableResourceClaimStatus': 'resourceClaimName#1:s containers?#2:[]s resources#3:{}quantity',
  'core.NodeCondition':
    'type#1:s status#2:s lastHeartbeatTime?#3:time lastTransitionTime?#4:time reason?#5:s message?#6:s',
  'core.NodeConfigSource': 'configMap?*#2:core.ConfigMapNodeConfigSource',
  'core.NodeConfigStatus':
    'assigned?*#1:core.NodeConfigSource active?*#2:core.NodeConfigSource lastKnownGood?*#3:core.NodeConfigSource error?#4:s',
  'core.NodeDaemonEndpoints': 'kubeletEndpoint?#1:core.DaemonEndpoint',
  'core.NodeFeatures': 'supplementalGroupsPolicy?*#1:b',
  'core.NodeRuntimeHandler': 'name#1:s features?*#2:core.NodeRuntimeHandlerFeatures',
  'core.NodeRuntimeHandlerFeatures': 'recursiveReadOnlyMounts?*#1:b userNamespaces?*#2:b',
  'core.NodeSelector': 'nodeSelectorTerms#1:[]core.NodeSelectorTerm',
  'core.NodeSelectorRequirement': 'key#1:s operator#2:s values?#3:[]s',
  'core.NodeSelectorTerm':
    'matchExpressions?#1:[]core.NodeSelectorRequirement matchFields?#2:[]core.NodeSelectorRequirement',
  'core.NodeSpec':
    'podCIDR?#1:s podCIDRs?#7:[]s providerID?#3:s unschedulable?#4:b taints?#5:[]core.Taint configSource?*#6:core.NodeConfigSource externalID?#2:s',
  'core.NodeStatus':
    'capacity?#1:{}quantity allocatable?#2:{}quantity phase?#3:s conditions?#4:[]core.NodeCondition addresses?#5:[]core.NodeAddress daemonEndpoints?#6:core.NodeDaemonEndpoints nodeInfo?#7:core.NodeSystemInfo images?#8:[]core.ContainerImage volumesInUse?#9:[]s volumesAttached?#10:[]core.AttachedVolume config?*#11:core.NodeConfigStatus runtimeHandlers?#12:[]core.NodeRuntimeHandler features?*#13:core.NodeFeatures declaredFeatures?#14:[]s',
  'core.NodeSwapStatus': 'capacity?*#1:l',
  'core.NodeSystemInfo':
    'machineID#1:s systemUUID#2:s bootID#3:s kernelVersion#4:s osImage#5:s containerRuntimeVersion#6:s kubeletVersion#7:s kubeProxyVersion#8:s operatingSystem#9:s architecture#10:s swap?*#11:core.NodeSwapStatus',
  'core.ObjectFieldSelector': 'apiVersion?#1:s fieldPath#2:s',
  'core.ObjectReference':
    'kind?#1:s namespace?#2:s name?#3:s uid?#4:s apiVersion?#5:s resourceVersion?#6:s fieldPath?#7:s',
  'core.PersistentVolume':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.PersistentVolumeSpec status?#3:core.PersistentVolumeStatus',
  'core.PersistentVolumeClaim':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.PersistentVolumeClaimSpec status?#3:core.PersistentVolumeClaimStatus',
  'core.PersistentVolumeClaimCondition':
    'type#1:s status#2:s lastProbeTime?#3:time lastTransitionTime?#4:time reason?#5:s message?#6:s',
  'core.PersistentVolumeClaimSpec':
    'accessModes?#1:[]s selector?*#4:meta.LabelSelector resources?#2:core.VolumeResourceRequirements volumeName?#3:s storageClassName?*#5:s volumeMode?*#6:s dataSource?*#7:core.TypedLocalObjectReference dataSourceRef?*#8:core.TypedObjectReference volumeAttributesClassName?*#9:s',
  'core.PersistentVolumeClaimStatus':
    'phase?#1:s accessModes?#2:[]s capacity?#3:{}quantity conditions?#4:[]core.PersistentVolumeClaimCondition allocatedResources?#5:{}quantity allocatedResourceStatuses?#7:{}s currentVolumeAttributesClassName?*#8:s modifyVolumeStatus?*#9:core.ModifyVolumeStatus',
  'core.PersistentVolumeClaimTemplate': 'metadata?#1:meta.ObjectMeta spec#2:core.PersistentVolumeClaimSpec',
  'core.PersistentVolumeClaimVolumeSource': 'claimName#1:s readOnly?#2:b',
  'core.PersistentVolumeSource':
    'gcePersistentDisk?*#1:core.GCEPersistentDiskVolumeSource awsElasticBlockStore?*#2:core.AWSElasticBlockStoreVolumeSource hostPath?*#3:core.HostPathVolumeSource glusterfs?*#4:core.GlusterfsPersistentVolumeSource nfs?*#5:core.NFSVolumeSource rbd?*#6:core.RBDPersistentVolumeSource iscsi?*#7:core.ISCSIPersistentVolumeSource cinder?*#8:core.CinderPersistentVolumeSource cephfs?*#9:core.CephFSPersistentVolumeSource fc?*#10:core.FCVolumeSource flocker?*#11:core.FlockerVolumeSource flexVolume?*#12:core.FlexPersistentVolumeSource azureFile?*#13:core.AzureFilePersistentVolumeSource vsphereVolume?*#14:core.VsphereVirtualDiskVolumeSource quobyte?*#15:core.QuobyteVolumeSource azureDisk?*#16:core.AzureDiskVolumeSource photonPersistentDisk?*#17:core.PhotonPersistentDiskVolumeSource portworxVolume?*#18:core.PortworxVolumeSource scaleIO?*#19:core.ScaleIOPersistentVolumeSource local?*#20:core.LocalVolumeSource storageos?*#21:core.StorageOSPersistentVolumeSource csi?*#22:core.CSIPersistentVolumeSource',
  'core.PersistentVolumeSpec':
    'capacity?#1:{}quantity gcePersistentDisk?*:core.GCEPersistentDiskVolumeSource awsElasticBlockStore?*:core.AWSElasticBlockStoreVolumeSource hostPath?*:core.HostPathVolumeSource glusterfs?*:core.GlusterfsPersistentVolumeSource nfs?*:core.NFSVolumeSource rbd?*:core.RBDPersistentVolumeSource iscsi?*:core.ISCSIPersistentVolumeSource cinder?*:core.CinderPersistentVolumeSource cephfs?*:core.CephFSPersistentVolumeSource fc?*:core.FCVolumeSource flocker?*:core.FlockerVolumeSource flexVolume?*:core.FlexPersistentVolumeSource azureFile?*:core.AzureFilePersistentVolumeSource vsphereVolume?*:core.VsphereVirtualDiskVolumeSource quobyte?*:core.QuobyteVolumeSource azureDisk?*:core.AzureDiskVolumeSource photonPersistentDisk?*:core.PhotonPersistentDiskVolumeSource portworxVolume?*:core.PortworxVolumeSource scaleIO?*:core.ScaleIOPersistentVolumeSource local?*:core.LocalVolumeSource storageos?*:core.StorageOSPersistentVolumeSource csi?*:core.CSIPersistentVolumeSource ~#2:core.PersistentVolumeSource accessModes?#3:[]s claimRef?*#4:core.ObjectReference persistentVolumeReclaimPolicy?#5:s storageClassName?#6:s mountOptions?#7:[]s volumeMode?*#8:s nodeAffinity?*#9:core.VolumeNodeAffinity volumeAttributesClassName?*#10:s',
  'core.PersistentVolumeStatus': 'phase?#1:s message?#2:s reason?#3:s lastPhaseTransitionTime?*#4:time',
  'core.PhotonPersistentDiskVolumeSource': 'pdID#1:s fsType?#2:s',
  'core.Pod': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.PodSpec status?#3:core.PodStatus',
  'core.PodAffinity':
    'requiredDuringSchedulingIgnoredDuringExecution?#1:[]core.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?#2:[]core.WeightedPodAffinityTerm',
  'core.PodAffinityTerm':
    'labelSelector?*#1:meta.LabelSelector namespaces?#2:[]s topologyKey#3:s namespaceSelector?*#4:meta.LabelSelector matchLabelKeys?#5:[]s mismatchLabelKeys?#6:[]s',
  'core.PodAntiAffinity':
    'requiredDuringSchedulingIgnoredDuringExecution?#1:[]core.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?#2:[]core.WeightedPodAffinityTerm',
  'core.PodCertificateProjection':
    'signerName?#1:s keyType?#2:s maxExpirationSeconds?*#3:i credentialBundlePath?#4:s keyPath?#5:s certificateChainPath?#6:s userAnnotations?#7:{}s',
  'core.PodCondition':
    'type#1:s observedGeneration?#7:l status#2:s lastProbeTime?#3:time lastTransitionTime?#4:time reason?#5:s message?#6:s',
  'core.PodDNSConfig': 'nameservers?#1:[]s searches?#2:[]s options?#3:[]core.PodDNSConfigOption',
  'core.PodDNSConfigOption': 'name?#1:s value?*#2:s',
  'core.PodExtendedResourceClaimStatus':
    'requestMappings#1:[]core.ContainerExtendedResourceRequest resourceClaimName#2:s',
  'core.PodIP': 'ip#1:s',
  'core.PodOS': 'name#1:s',
  'core.PodReadinessGate': 'conditionType#1:s',
  'core.PodResourceClaim': 'name#1:s resourceClaimName?*#3:s resourceClaimTemplateName?*#4:s',
  'core.PodResourceClaimStatus': 'name#1:s resourceClaimName?*#2:s',
  'core.PodSchedulingGate': 'name#1:s',
  'core.PodSchedulingGroup': 'podGroupName?*#1:s',
  'core.PodSecurityContext':
    'seLinuxOptions?*#1:core.SELinuxOptions windowsOptions?*#8:core.WindowsSecurityContextOptions runAsUser?*#2:l runAsGroup?*#6:l runAsNonRoot?*#3:b supplementalGroups?#4:[]l supplementalGroupsPolicy?*#12:s fsGroup?*#5:l sysctls?#7:[]core.Sysctl fsGroupChangePolicy?*#9:s seccompProfile?*#10:core.SeccompProfile appArmorProfile?*#11:core.AppArmorProfile seLinuxChangePolicy?*#13:s',
  'core.PodSpec':
    'volumes?#1:[]core.Volume initContainers?#20:[]core.Container containers#2:[]core.Container ephemeralContainers?#34:[]core.EphemeralContainer restartPolicy?#3:s terminationGracePeriodSeconds?*#4:l activeDeadlineSeconds?*#5:l dnsPolicy?#6:s nodeSelector?#7:{}s serviceAccountName?#8:s serviceAccount?#9:s automountServiceAccountToken?*#21:b nodeName?#10:s hostNetwork?#11:b hostPID?#12:b hostIPC?#13:b shareProcessNamespace?*#27:b securityContext?*#14:core.PodSecurityContext imagePullSecrets?#15:[]core.LocalObjectReference hostname?#16:s subdomain?#17:s affinity?*#18:core.Affinity schedulerName?#19:s tolerations?#22:[]core.Toleration hostAliases?#23:[]core.HostAlias priorityClassName?#24:s priority?*#25:i dnsConfig?*#26:core.PodDNSConfig readinessGates?#28:[]core.PodReadinessGate runtimeClassName?*#29:s enableServiceLinks?*#30:b preemptionPolicy?*#31:s overhead?#32:{}quantity topologySpreadConstraints?#33:[]core.TopologySpreadConstraint setHostnameAsFQDN?*#35:b os?*#36:core.PodOS hostUsers?*#37:b schedulingGates?#38:[]core.PodSchedulingGate resourceClaims?#39:[]core.PodResourceClaim resources?*#40:core.ResourceRequirements hostnameOverride?*#41:s schedulingGroup?*#43:core.PodSchedulingGroup',
  'core.PodStatus':
    'observedGeneration?#17:l phase?#1:s conditions?#2:[]core.PodCondition message?#3:s reason?#4:s nominatedNodeName?#11:s hostIP?#5:s hostIPs?#16:[]core.HostIP podIP?#6:s podIPs?#12:[]core.PodIP startTime?*#7:time initContainerStatuses?#10:[]core.ContainerStatus containerStatuses?#8:[]core.ContainerStatus qosClass?#9:s ephemeralContainerStatuses?#13:[]core.ContainerStatus resize?#14:s resourceClaimStatuses?#15:[]core.PodResourceClaimStatus extendedResourceClaimStatus?*#18:core.PodExtendedResourceClaimStatus allocatedResources?#19:{}quantity resources?*#20:core.ResourceRequirements nodeAllocatableResourceClaimStatuses?#21:[]core.NodeAllocatableResourceClaimStatus',
  'core.PodTemplate': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta template?#2:core.PodTemplateSpec',
  'core.PodTemplateSpec': 'metadata?#1:meta.ObjectMeta spec?#2:core.PodSpec',
  'core.PortStatus': 'port#1:i protocol#2:s error?*#3:s',
  'core.PortworxVolumeSource': 'volumeID#1:s fsType?#2:s readOnly?#3:b',
  'core.PreferredSchedulingTerm': 'weight#1:i preference#2:core.NodeSelectorTerm',
  'core.Probe':
    'exec?*:core.ExecAction httpGet?*:core.HTTPGetAction tcpSocket?*:core.TCPSocketAction grpc?*:core.GRPCAction ~#1:core.ProbeHandler initialDelaySeconds?#2:i timeoutSeconds?#3:i periodSeconds?#4:i successThreshold?#5:i failureThreshold?#6:i terminationGracePeriodSeconds?*#7:l',
  'core.ProbeHandler':
    'exec?*#1:core.ExecAction httpGet?*#2:core.HTTPGetAction tcpSocket?*#3:core.TCPSocketAction grpc?*#4:core.GRPCAction',
  'core.ProjectedVolumeSource': 'sources#1:[]core.VolumeProjection defaultMode?*#2:i',
  'core.QuobyteVolumeSource': 'registry#1:s volume#2:s readOnly?#3:b user?#4:s group?#5:s tenant?#6:s',
  'core.RBDPersistentVolumeSource':
    'monitors#1:[]s image#2:s fsType?#3:s pool?#4:s user?#5:s keyring?#6:s secretRef?*#7:core.SecretReference readOnly?#8:b',
  'core.RBDVolumeSource':
    'monitors#1:[]s image#2:s fsType?#3:s pool?#4:s user?#5:s keyring?#6:s secretRef?*#7:core.LocalObjectReference readOnly?#8:b',
  'core.ReplicationController':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.ReplicationControllerSpec status?#3:core.ReplicationControllerStatus',
  'core.ReplicationControllerCondition': 'type#1:s status#2:s lastTransitionTime?#3:time reason?#4:s message?#5:s',
  'core.ReplicationControllerSpec':
    'replicas?*#1:i minReadySeconds?#4:i selector?#2:{}s template?*#3:core.PodTemplateSpec',
  'core.ReplicationControllerStatus':
    'replicas#1:i fullyLabeledReplicas?#2:i readyReplicas?#4:i availableReplicas?#5:i observedGeneration?#3:l conditions?#6:[]core.ReplicationControllerCondition',
  'core.ResourceClaim': 'name#1:s request?#2:s',
  'core.ResourceFieldSelector': 'containerName?#1:s resource#2:s divisor?#3:quantity',
  'core.ResourceHealth': 'resourceID#1:s health?#2:s message?*#6:s',
  'core.ResourceQuota':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.ResourceQuotaSpec status?#3:core.ResourceQuotaStatus',
  'core.ResourceQuotaSpec': 'hard?#1:{}quantity scopes?#2:[]s scopeSelector?*#3:core.ScopeSelector',
  'core.ResourceQuotaStatus': 'hard?#1:{}quantity used?#2:{}quantity',
  'core.ResourceRequirements': 'limits?#1:{}quantity requests?#2:{}quantity claims?#3:[]core.ResourceClaim',
  'core.ResourceStatus': 'name#1:s resources?#2:[]core.ResourceHealth',
  'core.SELinuxOptions': 'user?#1:s role?#2:s type?#3:s level?#4:s',
  'core.ScaleIOPersistentVolumeSource':
    'gateway#1:s system#2:s secretRef*#3:core.SecretReference sslEnabled?#4:b protectionDomain?#5:s storagePool?#6:s storageMode?#7:s volumeName?#8:s fsType?#9:s readOnly?#10:b',
  'core.ScaleIOVolumeSource':
    'gateway#1:s system#2:s secretRef*#3:core.LocalObjectReference sslEnabled?#4:b protectionDomain?#5:s storagePool?#6:s storageMode?#7:s volumeName?#8:s fsType?#9:s readOnly?#10:b',
  'core.ScopeSelector': 'matchExpressions?#1:[]core.ScopedResourceSelectorRequirement',
  'core.ScopedResourceSelectorRequirement': 'scopeName#1:s operator#2:s values?#3:[]s',
  'core.SeccompProfile': 'type#1:s localhostProfile?*#2:s',
  'core.Secret':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta immutable?*#5:b data?#2:{}bytes stringData?#4:{}s type?#3:s',
  'core.SecretEnvSource': 'name?:s ~#1:core.LocalObjectReference optional?*#2:b',
  'core.SecretKeySelector': 'name?:s ~#1:core.LocalObjectReference key#2:s optional?*#3:b',
  'core.SecretProjection': 'name?:s ~#1:core.LocalObjectReference items?#2:[]core.KeyToPath optional?*#4:b',
  'core.SecretReference': 'name?#1:s namespace?#2:s',
  'core.SecretVolumeSource': 'secretName?#1:s items?#2:[]core.KeyToPath defaultMode?*#3:i optional?*#4:b',
  'core.SecurityContext':
    'capabilities?*#1:core.Capabilities privileged?*#2:b seLinuxOptions?*#3:core.SELinuxOptions windowsOptions?*#10:core.WindowsSecurityContextOptions runAsUser?*#4:l runAsGroup?*#8:l runAsNonRoot?*#5:b readOnlyRootFilesystem?*#6:b allowPrivilegeEscalation?*#7:b procMount?*#9:s seccompProfile?*#11:core.SeccompProfile appArmorProfile?*#12:core.AppArmorProfile',
  'core.Service':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:core.ServiceSpec status?#3:core.ServiceStatus',
  'core.ServiceAccount':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta secrets?#2:[]core.ObjectReference imagePullSecrets?#3:[]core.LocalObjectReference automountServiceAccountToken?*#4:b',
  'core.ServiceAccountTokenProjection': 'audience?#1:s expirationSeconds?*#2:l path#3:s',
  'core.ServicePort': 'name?#1:s protocol?#2:s appProtocol?*#6:s port#3:i targetPort?#4:intstr nodePort?#5:i',
  'core.ServiceSpec':
    'ports?#1:[]core.ServicePort selector?#2:{}s clusterIP?#3:s clusterIPs?#18:[]s type?#4:s externalIPs?#5:[]s sessionAffinity?#7:s loadBalancerIP?#8:s loadBalancerSourceRanges?#9:[]s externalName?#10:s externalTrafficPolicy?#11:s healthCheckNodePort?#12:i publishNotReadyAddresses?#13:b sessionAffinityConfig?*#14:core.SessionAffinityConfig ipFamilies?#19:[]s ipFamilyPolicy?*#17:s allocateLoadBalancerNodePorts?*#20:b loadBalancerClass?*#21:s internalTrafficPolicy?*#22:s trafficDistribution?*#23:s',
  'core.ServiceStatus': 'loadBalancer?#1:core.LoadBalancerStatus conditions?#2:[]meta.Condition',
  'core.SessionAffinityConfig': 'clientIP?*#1:core.ClientIPConfig',
  'core.SleepAction': 'seconds#1:l',
  'core.StorageOSPersistentVolumeSource':
    'volumeName?#1:s volumeNamespace?#2:s fsType?#3:s readOnly?#4:b secretRef?*#5:core.ObjectReference',
  'core.StorageOSVolumeSource':
    'volumeName?#1:s volumeNamespace?#2:s fsType?#3:s readOnly?#4:b secretRef?*#5:core.LocalObjectReference',
  'core.Sysctl': 'name#1:s value#2:s',
  'core.TCPSocketAction': 'port#1:intstr host?#2:s',
  'core.Taint': 'key#1:s value?#2:s effect#3:s timeAdded?*#4:time',
  'core.Toleration': 'key?#1:s operator?#2:s value?#3:s effect?#4:s tolerationSeconds?*#5:l',
  'core.TopologySpreadConstraint':
    'maxSkew#1:i topologyKey#2:s whenUnsatisfiable#3:s labelSelector?*#4:meta.LabelSelector minDomains?*#5:i nodeAffinityPolicy?*#6:s nodeTaintsPolicy?*#7:s matchLabelKeys?#8:[]s',
  'core.TypedLocalObjectReference': 'apiGroup*#1:s kind#2:s name#3:s',
  'core.TypedObjectReference': 'apiGroup*#1:s kind#2:s name#3:s namespace?*#4:s',
  'core.Volume':
    'name#1:s hostPath?*:core.HostPathVolumeSource emptyDir?*:core.EmptyDirVolumeSource gcePersistentDisk?*:core.GCEPersistentDiskVolumeSource awsElasticBlockStore?*:core.AWSElasticBlockStoreVolumeSource gitRepo?*:core.GitRepoVolumeSource secret?*:core.SecretVolumeSource nfs?*:core.NFSVolumeSource iscsi?*:core.ISCSIVolumeSource glusterfs?*:core.GlusterfsVolumeSource persistentVolumeClaim?*:core.PersistentVolumeClaimVolumeSource rbd?*:core.RBDVolumeSource flexVolume?*:core.FlexVolumeSource cinder?*:core.CinderVolumeSource cephfs?*:core.CephFSVolumeSource flocker?*:core.FlockerVolumeSource downwardAPI?*:core.DownwardAPIVolumeSource fc?*:core.FCVolumeSource azureFile?*:core.AzureFileVolumeSource configMap?*:core.ConfigMapVolumeSource vsphereVolume?*:core.VsphereVirtualDiskVolumeSource quobyte?*:core.QuobyteVolumeSource azureDisk?*:core.AzureDiskVolumeSource photonPersistentDisk?*:core.PhotonPersistentDiskVolumeSource projected?*:core.ProjectedVolumeSource portworxVolume?*:core.PortworxVolumeSource scaleIO?*:core.ScaleIOVolumeSource storageos?*:core.StorageOSVolumeSource csi?*:core.CSIVolumeSource ephemeral?*:core.EphemeralVolumeSource image?*:core.ImageVolumeSource ~#2:core.VolumeSource',
  'core.VolumeDevice': 'name#1:s devicePath#2:s',
  'core.VolumeMount':
    'name#1:s readOnly?#2:b recursiveReadOnly?*#7:s mountPath#3:s subPath?#4:s mountPropagation?*#5:s subPathExpr?#6:s',
  'core.VolumeMountStatus':
    'name#1:s mountPath#2:s readOnly?#3:b recursiveReadOnly?*#4:s volumeStatus?*#5:core.VolumeStatus',
  'core.VolumeNodeAffinity': 'required?*#1:core.NodeSelector',
  'core.VolumeProjection':
    'secret?*#1:core.SecretProjection downwardAPI?*#2:core.DownwardAPIProjection configMap?*#3:core.ConfigMapProjection serviceAccountToken?*#4:core.ServiceAccountTokenProjection clusterTrustBundle?*#5:core.ClusterTrustBundleProjection podCertificate?*#6:core.PodCertificateProjection',
  'core.VolumeResourceRequirements': 'limits?#1:{}quantity requests?#2:{}quantity',
  'core.VolumeSource':
    'hostPath?*#1:core.HostPathVolumeSource emptyDir?*#2:core.EmptyDirVolumeSource gcePersistentDisk?*#3:core.GCEPersistentDiskVolumeSource awsElasticBlockStore?*#4:core.AWSElasticBlockStoreVolumeSource gitRepo?*#5:core.GitRepoVolumeSource secret?*#6:core.SecretVolumeSource nfs?*#7:core.NFSVolumeSource iscsi?*#8:core.ISCSIVolumeSource glusterfs?*#9:core.GlusterfsVolumeSource persistentVolumeClaim?*#10:core.PersistentVolumeClaimVolumeSource rbd?*#11:core.RBDVolumeSource flexVolume?*#12:core.FlexVolumeSource cinder?*#13:core.CinderVolumeSource cephfs?*#14:core.CephFSVolumeSource flocker?*#15:core.FlockerVolumeSource downwardAPI?*#16:core.DownwardAPIVolumeSource fc?*#17:core.FCVolumeSource azureFile?*#18:core.AzureFileVolumeSource configMap?*#19:core.ConfigMapVolumeSource vsphereVolume?*#20:core.VsphereVirtualDiskVolumeSource quobyte?*#21:core.QuobyteVolumeSource azureDisk?*#22:core.AzureDiskVolumeSource photonPersistentDisk?*#23:core.PhotonPersistentDiskVolumeSource projected?*#26:core.ProjectedVolumeSource portworxVolume?*#24:core.PortworxVolumeSource scaleIO?*#25:core.ScaleIOVolumeSource storageos?*#27:core.StorageOSVolumeSource csi?*#28:core.CSIVolumeSource ephemeral?*#29:core.EphemeralVolumeSource image?*#30:core.ImageVolumeSource',
  'core.VolumeStatus': 'image?*#1:core.ImageVolumeStatus',
  'core.VsphereVirtualDiskVolumeSource': 'volumePath#1:s fsType?#2:s storagePolicyName?#3:s storagePolicyID?#4:s',
  'core.WeightedPodAffinityTerm': 'weight#1:i podAffinityTerm#2:core.PodAffinityTerm',
  'core.WindowsSecurityContextOptions':
    'gmsaCredentialSpecName?*#1:s gmsaCredentialSpec?*#2:s runAsUserName?*#3:s hostProcess?*#4:b',
  'events.Event':
    'kind?:s apiVersion?:s metadata#1:meta.ObjectMeta eventTime#2:micro series?*#3:events.EventSeries reportingController?#4:s reportingInstance?#5:s action?#6:s reason?#7:s regarding?#8:core.ObjectReference related?*#9:core.ObjectReference note?#10:s type?#11:s deprecatedSource?#12:core.EventSource deprecatedFirstTimestamp?#13:time deprecatedLastTimestamp?#14:time deprecatedCount?#15:i',
  'events.EventSeries': 'count#1:i lastObservedTime#2:micro',
  'meta.Condition': 'type#1:s status#2:s observedGeneration?#3:l lastTransitionTime#4:time reason#5:s message#6:s',
  'meta.DeleteOptions':
    'kind?:s apiVersion?:s gracePeriodSeconds?*#1:l preconditions?*#2:meta.Preconditions orphanDependents?*#3:b propagationPolicy?*#4:s dryRun?#5:[]s ignoreStoreReadErrorWithClusterBreakingPotential?*#6:b',
  'meta.FieldSelectorRequirement': 'key#1:s operator#2:s values?#3:[]s',
  'meta.LabelSelector': 'matchLabels?#1:{}s matchExpressions?#2:[]meta.LabelSelectorRequirement',
  'meta.LabelSelectorRequirement': 'key#1:s operator#2:s values?#3:[]s',
  'meta.ManagedFieldsEntry':
    'manager?#1:s operation?#2:s apiVersion?#3:s time?*#4:time fieldsType?#6:s fieldsV1?*#7:any subresource?#8:s',
  'meta.ObjectMeta':
    'name?#1:s generateName?#2:s namespace?#3:s selfLink?#4:s uid?#5:s resourceVersion?#6:s generation?#7:l creationTimestamp?0#8:time deletionTimestamp?*#9:time deletionGracePeriodSeconds?*#10:l labels?#11:{}s annotations?#12:{}s ownerReferences?#13:[]meta.OwnerReference finalizers?#14:[]s managedFields?#17:[]meta.ManagedFieldsEntry',
  'meta.OwnerReference': 'apiVersion#5:s kind#1:s name#3:s uid#4:s controller?*#6:b blockOwnerDeletion?*#7:b',
  'meta.Preconditions': 'uid?*#1:s resourceVersion?*#2:s',
  'networking.HTTPIngressPath': 'path?#1:s pathType*#3:s backend#2:networking.IngressBackend',
  'networking.HTTPIngressRuleValue': 'paths#1:[]networking.HTTPIngressPath',
  'networking.IPAddress': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:networking.IPAddressSpec',
  'networking.IPAddressSpec': 'parentRef?*#1:networking.ParentReference',
  'networking.IPBlock': 'cidr#1:s except?#2:[]s',
  'networking.Ingress':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:networking.IngressSpec status?#3:networking.IngressStatus',
  'networking.IngressBackend':
    'service?*#4:networking.IngressServiceBackend resource?*#3:core.TypedLocalObjectReference',
  'networking.IngressClass': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:networking.IngressClassSpec',
  'networking.IngressClassParametersReference': 'apiGroup?*#1:s kind#2:s name#3:s scope*#4:s namespace?*#5:s',
  'networking.IngressClassSpec': 'controller?#1:s parameters?*#2:networking.IngressClassParametersReference',
  'networking.IngressLoadBalancerIngress': 'ip?#1:s hostname?#2:s ports?#4:[]networking.IngressPortStatus',
  'networking.IngressLoadBalancerStatus': 'ingress?#1:[]networking.IngressLoadBalancerIngress',
  'networking.IngressPortStatus': 'port#1:i protocol#2:s error?*#3:s',
  'networking.IngressRule': 'host?#1:s http?*:networking.HTTPIngressRuleValue ~#2:networking.IngressRuleValue',
  'networking.IngressRuleValue': 'http?*#1:networking.HTTPIngressRuleValue',
  'networking.IngressServiceBackend': 'name#1:s port?#2:networking.ServiceBackendPort',
  'networking.IngressSpec':
    'ingressClassName?*#4:s defaultBackend?*#1:networking.IngressBackend tls?#2:[]networking.IngressTLS rules?#3:[]networking.IngressRule',
  'networking.IngressStatus': 'loadBalancer?#1:networking.IngressLoadBalancerStatus',
  'networking.IngressTLS': 'hosts?#1:[]s secretName?#2:s',
  'networking.NetworkPolicy': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:networking.NetworkPolicySpec',
  'networking.NetworkPolicyEgressRule': 'ports?#1:[]networking.NetworkPolicyPort to?#2:[]networking.NetworkPolicyPeer',
  'networking.NetworkPolicyIngressRule':
    'ports?#1:[]networking.NetworkPolicyPort from?#2:[]networking.NetworkPolicyPeer',
  'networking.NetworkPolicyPeer':
    'podSelector?*#1:meta.LabelSelector namespaceSelector?*#2:meta.LabelSelector ipBlock?*#3:networking.IPBlock',
  'networking.NetworkPolicyPort': 'protocol?*#1:s port?*#2:intstr endPort?*#3:i',
  'networking.NetworkPolicySpec':
    'podSelector#1:meta.LabelSelector ingress?#2:[]networking.NetworkPolicyIngressRule egress?#3:[]networking.NetworkPolicyEgressRule policyTypes?#4:[]s',
  'networking.ParentReference': 'group?#1:s resource?#2:s namespace?#3:s name?#4:s',
  'networking.ServiceBackendPort': 'name?#1:s number?#2:i',
  'networking.ServiceCIDR':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta spec?#2:networking.ServiceCIDRSpec status?#3:networking.ServiceCIDRStatus',
  'networking.ServiceCIDRSpec': 'cidrs?#1:[]s',
  'networking.ServiceCIDRStatus': 'conditions?#1:[]meta.Condition',
  'policy.Eviction': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta deleteOptions?*#2:meta.DeleteOptions',
  'rbac.AggregationRule': 'clusterRoleSelectors?#1:[]meta.LabelSelector',
  'rbac.ClusterRole':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta rules#2:[]rbac.PolicyRule aggregationRule?*#3:rbac.AggregationRule',
  'rbac.ClusterRoleBinding':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta subjects?#2:[]rbac.Subject roleRef#3:rbac.RoleRef',
  'rbac.PolicyRule': 'verbs#1:[]s apiGroups?#2:[]s resources?#3:[]s resourceNames?#4:[]s nonResourceURLs?#5:[]s',
  'rbac.Role': 'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta rules#2:[]rbac.PolicyRule',
  'rbac.RoleBinding':
    'kind?:s apiVersion?:s metadata?#1:meta.ObjectMeta subjects?#2:[]rbac.Subject roleRef#3:rbac.RoleRef',
  'rbac.RoleRef': 'apiGroup#1:s kind#2:s name#3:s',
  'rbac.Subject': 'kind#1:s apiGroup?#2:s name#3:s namespace?#4:s',
};
