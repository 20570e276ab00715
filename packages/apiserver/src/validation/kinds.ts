/** Validation of the built-in kinds: the rules that people run into, in the words of kube-apiserver. */
import { validateWebhooks } from '../admission/configuration.js';
import type { Cause, ServedObject } from '../contracts/objects.js';
import { definitionNameRule, validateDefinition, validateDefinitionUpdate } from '../crd/definition.js';
import type { NameRule } from './names.js';

export interface KindRules {
  /** For kinds whose names depend on what else is in the object. */
  nameRule?(object: ServedObject): NameRule;
  validate?(object: ServedObject): readonly Cause[];
  validateUpdate?(object: ServedObject, old: ServedObject): readonly Cause[];
}

/** By the name in the table of types. */
export const builtinRules: ReadonlyMap<string, KindRules> = new Map<string, KindRules>(
  Object.entries({
    'admissionregistration.MutatingWebhookConfiguration': { validate: validateWebhooks },
    'admissionregistration.ValidatingWebhookConfiguration': { validate: validateWebhooks },
    'apiextensions.CustomResourceDefinition': {
      nameRule: definitionNameRule,
      validate: validateDefinition,
      validateUpdate: validateDefinitionUpdate,
    },
  }),
);
