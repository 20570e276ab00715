/** Which webhooks are called for which requests. */
import type { AdmissionAttributes } from '../contracts/admission.js';
import type { Catalog, ResourceInfo } from '../contracts/resource.js';
import type { Hook, HookRule } from './hooks.js';

/** The labels of a namespace by its name. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

const EXEMPT_GROUP = 'admissionregistration.k8s.io';
const EXEMPT_KINDS: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Nobody may lock themselves out: the configurations are never sent to the webhooks. */
export function isExempt({ resource }: AdmissionAttributes): boolean {
  return resource.group === EXEMPT_GROUP && EXEMPT_KINDS.has(resource.kind);
}

/** Requests for a namespace itself are in that namespace, as far as webhooks can see. */
export function namespaceOf({ resource, namespace, name }: AdmissionAttributes): string {
  return isNamespaces(resource) ? name : namespace;
}

/** The resource in whose version the webhook wants to see the object; `undefined` if it is not to be called. */
export function matchHook(
  hook: Hook,
  attributes: AdmissionAttributes,
  catalog: Catalog,
  labelsOfNamespace: NamespaceLabels,
): ResourceInfo | undefined {
  if (!isNamespaceSelected(hook, attributes, labelsOfNamespace)) return undefined;
  if (!isObjectSelected(hook, attributes)) return undefined;
  const { resource } = attributes;
  if (hook.rules.some((rule) => isRuleMatching(rule, attributes, resource))) return resource;
  if (!hook.matchesEquivalents) return undefined;
  const equivalents = catalog.versionsOf(resource.collection).filter((other) => other !== resource);
  for (const rule of hook.rules) {
    const found = equivalents.find((other) => isRuleMatching(rule, attributes, other));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isNamespaceSelected(hook: Hook, attributes: AdmissionAttributes, labelsOf: NamespaceLabels): boolean {
  if (hook.namespaceSelector === undefined) return true;
  const { resource, subresource, operation, object } = attributes;
  const namespace = namespaceOf(attributes);
  if (namespace === '' && !isNamespaces(resource)) return true;
  const isWrittenNow = isNamespaces(resource) && subresource === '' && operation !== 'DELETE';
  return hook.namespaceSelector(isWrittenNow ? object?.metadata.labels : labelsOf(namespace));
}

function isObjectSelected({ objectSelector }: Hook, { object, oldObject }: AdmissionAttributes): boolean {
  if (objectSelector === undefined) return true;
  return [object, oldObject].some((one) => one !== undefined && objectSelector(one.metadata.labels));
}

function isRuleMatching(rule: HookRule, attributes: AdmissionAttributes, resource: ResourceInfo): boolean {
  return (
    isInScope(rule.scope, attributes) &&
    includes(rule.operations, attributes.operation) &&
    includes(rule.groups, resource.group) &&
    includes(rule.versions, resource.version) &&
    rule.resources.some((pattern) => isResource(pattern, resource.plural, attributes.subresource))
  );
}

function isInScope(scope: string, attributes: AdmissionAttributes): boolean {
  if (scope === '*') return true;
  const isNamespaced = !isNamespaces(attributes.resource) && attributes.namespace !== '';
  return scope === 'Namespaced' ? isNamespaced : scope === 'Cluster' && !isNamespaced;
}

const includes = (allowed: readonly string[], value: string): boolean =>
  allowed.includes('*') || allowed.includes(value);

function isResource(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const wantedPlural = slash < 0 ? pattern : pattern.slice(0, slash);
  const wantedSubresource = slash < 0 ? '' : pattern.slice(slash + 1);
  return (
    (wantedPlural === '*' || wantedPlural === plural) &&
    (wantedSubresource === '*' || wantedSubresource === subresource)
  );
}

const isNamespaces = ({ group, plural }: ResourceInfo): boolean => group === '' && plural === 'namespaces';
