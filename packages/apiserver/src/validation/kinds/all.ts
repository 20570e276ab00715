/** Validation of the built-in kinds: the rules that people run into, in the words of kube-apiserver. */
import { validateWebhooks } from '../../admission/configuration.js';
import { definitionNameRule, validateDefinition, validateDefinitionUpdate } from '../../crd/definition.js';
import { autoscalerRules } from '../other-kinds/autoscaler-rules.js';
import { budgetRules } from '../other-kinds/budget-rules.js';
import { classRules } from '../other-kinds/class-rules.js';
import { jobRules } from '../other-kinds/job-rules.js';
import { networkPolicyRules } from '../other-kinds/network-policy-rules.js';
import { nodeRules } from '../other-kinds/node-rules.js';
import { quotaRules } from '../other-kinds/quota-rules.js';
import { sliceRules } from '../other-kinds/slice-rules.js';
import { storageRules } from '../other-kinds/storage-rules.js';
import { accessRules } from './access.js';
import { configRules } from './config.js';
import { eventRules } from './events.js';
import { ingressRules } from './ingresses.js';
import { namespaceRules } from './namespaces.js';
import { podRules } from './pods.js';
import type { KindRules } from './rules.js';
import { serviceRules } from './services.js';
import { volumeRules } from './volumes.js';
import { workloadRules } from './workloads.js';

const extensionRules: Readonly<Record<string, KindRules>> = {
  'apiextensions.CustomResourceDefinition': {
    nameRule: definitionNameRule,
    validate: validateDefinition,
    validateUpdate: validateDefinitionUpdate,
  },
  'admissionregistration.MutatingWebhookConfiguration': { validate: validateWebhooks },
  'admissionregistration.ValidatingWebhookConfiguration': { validate: validateWebhooks },
};

/** By the name in the table of types. */
export const builtinRules: ReadonlyMap<string, KindRules> = new Map(
  Object.entries({
    ...accessRules,
    ...autoscalerRules,
    ...budgetRules,
    ...classRules,
    ...configRules,
    ...extensionRules,
    ...eventRules,
    ...ingressRules,
    ...jobRules,
    ...namespaceRules,
    ...networkPolicyRules,
    ...nodeRules,
    ...podRules,
    ...quotaRules,
    ...serviceRules,
    ...sliceRules,
    ...storageRules,
    ...volumeRules,
    ...workloadRules,
  }),
);
