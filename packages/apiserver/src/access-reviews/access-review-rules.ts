/** Why access reviews are refused: they ask nothing, too much, or something other than their kind is about. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause } from '../contracts/objects.js';
import type { ManagerEntry } from '../fields/managers.js';
import { badRequest, invalid } from '../http/status-errors.js';
import { invalidValue, required } from '../text/field-causes.js';
import { goJson } from '../text/go-text.js';

/** Throws if the question cannot be answered. `question` is decoded, and in the namespace of the request. */
export function checkAccessReview({ group, kind }: { group: string; kind: string }, question: Mapping): void {
  const spec = isMapping(question.spec) ? question.spec : {};
  if (kind === 'TokenReview' && (spec.token ?? '') === '') {
    throw badRequest('token is required for TokenReview in authentication');
  }
  if (kind === 'SelfSubjectRulesReview' && (spec.namespace ?? '') === '') {
    throw badRequest('no namespace on request');
  }
  if (!kind.endsWith('AccessReview')) return;
  const metadata = isMapping(question.metadata) ? question.metadata : {};
  const causes = validateAccessReview(kind, spec, metadata);
  // The kind is not told: the real server has forgotten it by then.
  if (causes.length > 0) throw invalid({ group, kind: '' }, '', causes);
}

function validateAccessReview(kind: string, spec: Mapping, metadata: Mapping): readonly Cause[] {
  const isLocal = kind === 'LocalSubjectAccessReview';
  const { managedFields: _managers, ...own } = metadata;
  const { namespace, ...others } = own;
  const { resourceAttributes, nonResourceAttributes } = spec;
  const causes: Cause[] = [];
  if (isMapping(resourceAttributes) && isMapping(nonResourceAttributes)) {
    const why = 'cannot be specified in combination with resourceAttributes';
    causes.push(invalidValue('spec.nonResourceAttributes', goFields(nonResourceAttributes), why));
  }
  if (!isMapping(resourceAttributes) && !isMapping(nonResourceAttributes)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    causes.push(invalidValue('spec.resourceAttributes', null, why));
  }
  const isAboutNobody = (spec.user ?? '') === '' && !(Array.isArray(spec.groups) && spec.groups.length > 0);
  if (kind !== 'SelfSubjectAccessReview' && isAboutNobody) {
    causes.push(invalidValue('spec.user', '', 'at least one of user or group must be specified'));
  }
  if (isMapping(resourceAttributes)) causes.push(...validateSelectors(resourceAttributes));
  if (Object.keys(isLocal ? others : own).length > 0) {
    causes.push(invalidMetadata(metadata, isLocal ? 'must be empty except for namespace' : 'must be empty'));
  }
  if (isLocal && isMapping(resourceAttributes) && (resourceAttributes.namespace ?? '') !== namespace) {
    const given = resourceAttributes.namespace ?? '';
    causes.push(invalidValue('spec.resourceAttributes.namespace', given, 'must match metadata.namespace'));
  }
  if (isLocal && isMapping(nonResourceAttributes)) {
    const why = 'disallowed on this kind of request';
    causes.push(invalidValue('spec.nonResourceAttributes', goFields(nonResourceAttributes), why));
  }
  return causes;
}

function validateSelectors(attributes: Mapping): readonly Cause[] {
  return ['fieldSelector', 'labelSelector'].flatMap((key) => {
    const selector = attributes[key];
    if (!isMapping(selector)) return [];
    const path = `spec.resourceAttributes.${key}`;
    const isRaw = (selector.rawSelector ?? '') !== '';
    const hasRequirements = Array.isArray(selector.requirements) && selector.requirements.length > 0;
    if (isRaw && hasRequirements) {
      const why = 'may not specified at the same time as requirements';
      return [invalidValue(`${path}.rawSelector`, selector.rawSelector, why)];
    }
    if (isRaw || hasRequirements) return [];
    return [required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`)];
  });
}

/** The fields as they are called inside of the real server. */
function goFields({ path = '', verb = '' }: Mapping): Mapping {
  return { Path: path, Verb: verb };
}

/** Shown in the order of its fields, unlike what is sorted elsewhere. */
function invalidMetadata(metadata: Mapping, why: string): Cause {
  const textOf = (key: string, value: unknown): string =>
    key === 'managedFields' ? textOfManagers(value) : goJson(value);
  const shown = Object.entries(metadata).map(([key, value]) => `${JSON.stringify(key)}:${textOf(key, value)}`);
  return { ...invalidValue('metadata', '', ''), message: `Invalid value: {${shown.join(',')}}: ${why}` };
}

/** Entries are written field by field, but what they have of the fields of objects is sorted. */
function textOfManagers(value: unknown): string {
  return JSON.stringify(
    (value as readonly ManagerEntry[]).map((entry) => ({ ...entry, fieldsV1: JSON.parse(goJson(entry.fieldsV1)) })),
  );
}
