/** Definitions of custom resources as objects: what the server fills in for them, and why it would refuse one. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../contracts/objects.js';
import { maybeMapping } from '../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, notSupported, required } from '../text/field-causes.js';
import { dns1035Label, dnsSubdomain } from '../validation/names.js';
import { validateConversion } from './definition-conversion.js';
import { type Hoisted, hoist, showSchema, showVersions } from './definition-internal.js';
import { checkSchema } from './schemas/schema-check.js';
import { validateSelectable } from './selectable-fields.js';

/** Fills in what may be omitted, in place. */
export function defaultDefinition(definition: ServedObject): void {
  const spec = mapping(definition, 'spec');
  const names = mapping(spec, 'names');
  const kind = text(names, 'kind');
  if (text(names, 'singular') === '' && kind !== '') names['singular'] = kind.toLowerCase();
  if (text(names, 'listKind') === '' && kind !== '') names['listKind'] = `${kind}List`;
  if (isMapping(getOwn(spec, 'names')) === false && Object.keys(names).length > 0) spec['names'] = names;
  if (!isMapping(getOwn(spec, 'conversion'))) spec['conversion'] = { strategy: 'None' };
  const status = mapping(definition, 'status');
  const stored = getOwn(status, 'storedVersions');
  if (!Array.isArray(stored) || stored.length === 0) {
    const storage = versionsOf(spec).find((version) => getOwn(version, 'storage') === true);
    if (storage !== undefined) status['storedVersions'] = [text(storage, 'name')];
  }
  if (Object.keys(status).length > 0) definition['status'] = status;
}

/** The rule for `metadata.name`; to be used in place of the rules for other kinds. */
export function definitionNameRule(definition: ServedObject): (name: string, isPrefix: boolean) => readonly string[] {
  const spec = mapping(definition, 'spec');
  const expected = `${text(mapping(spec, 'names'), 'plural')}.${text(spec, 'group')}`;
  return (name, isPrefix) => [
    ...dnsSubdomain(name, isPrefix),
    ...(name === expected ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
}

/** All problems of a definition but those of its metadata. */
export function validateDefinition(definition: ServedObject): readonly Cause[] {
  const spec = mapping(definition, 'spec');
  const hoisted = hoist(versionsOf(spec));
  return [
    ...validateGroupAndScope(spec),
    ...validateVersions(hoisted, getOwn(spec, 'versions')),
    ...validateSpecNames(mapping(spec, 'names')),
    ...validateHoistedParts(hoisted),
    ...validateConversion(getOwn(spec, 'conversion')),
    ...validateNames(mapping(mapping(definition, 'status'), 'acceptedNames'), 'status.acceptedNames'),
    ...validateStoredVersions(definition, hoisted),
    ...validateApproval(definition),
    ...(getOwn(spec, 'preserveUnknownFields') === true
      ? [
          invalidValue(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ];
}

function validateGroupAndScope(spec: Mapping): readonly Cause[] {
  const causes: Cause[] = [];
  const group = text(spec, 'group');
  const problems = dnsSubdomain(group, false);
  if (group === '') causes.push(required('spec.group'));
  else if (problems.length > 0) causes.push(invalidValue('spec.group', group, problems.join(',')));
  else if (!group.includes('.')) {
    causes.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  }
  const scope = text(spec, 'scope');
  if (scope === '') causes.push(required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    causes.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  const versions = versionsOf(spec);
  versions.forEach((version, index) => {
    if (!isMapping(schemaOf(version))) causes.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
  });
  return causes;
}

function validateVersions(hoisted: Hoisted, given: unknown): readonly Cause[] {
  const { versions } = hoisted;
  const causes: Cause[] = [];
  versions.forEach((version, index) => {
    const path = `spec.versions[${index}]`;
    const name = text(version, 'name');
    const problems = dns1035Label(name, false);
    if (problems.length > 0) causes.push(invalidValue(`${path}.name`, name, problems.join(',')));
    causes.push(...validateDeprecation(version, path));
    if (!hoisted.schema) causes.push(...validateSchema(version, `${path}.schema`, hasStatus(version)));
    if (!hoisted.subresources) causes.push(...validateSubresources(version, `${path}.subresources`));
    if (!hoisted.additionalPrinterColumns) causes.push(...validateColumns(version, `${path}.additionalPrinterColumns`));
    if (!hoisted.selectableFields) {
      causes.push(...validateSelectable(version, schemaIn(version), `${path}.selectableFields`));
    }
  });
  const complain = (why: string): void => {
    causes.push({
      ...invalidValue('spec.versions', '', ''),
      message: `Invalid value: ${showVersions(hoisted, given)}: ${why}`,
    });
  };
  const names = versions.map((version) => text(version, 'name'));
  if (new Set(names).size < names.length) complain('must contain unique version names');
  const storages = versions.filter((version) => getOwn(version, 'storage') === true).length;
  if (storages !== 1) complain('must have exactly one version marked as storage version');
  const [first] = names;
  const problems = first === undefined || first === '' ? [] : dns1035Label(first, false);
  if (problems.length > 0) causes.push(invalidValue('spec.version', first, problems.join(',')));
  return causes;
}

/** What all versions have in common is complained about once, where it stands inside of the server. */
function validateHoistedParts(hoisted: Hoisted): readonly Cause[] {
  const [first] = hoisted.versions;
  if (first === undefined) return [];
  return [
    ...(hoisted.schema ? validateSchema(first, 'spec.validation', hoisted.versions.some(hasStatus)) : []),
    ...(hoisted.subresources ? validateSubresources(first, 'spec.subresources') : []),
    ...(hoisted.additionalPrinterColumns ? validateColumns(first, 'spec.additionalPrinterColumns') : []),
    ...(hoisted.selectableFields ? validateSelectable(first, schemaIn(first), 'spec.selectableFields') : []),
  ];
}

const schemaIn = (version: Mapping): unknown => maybeMapping(version, 'schema')?.openAPIV3Schema;

const ALLOWED_AT_ROOT: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
};

function validateSchema(version: Mapping, path: string, hasStatusSubresource: boolean): readonly Cause[] {
  const schema = schemaOf(version);
  if (!isMapping(schema)) return [];
  const place = `${path}.openAPIV3Schema`;
  const causes: Cause[] = [];
  if (hasStatusSubresource) {
    const alien = Object.keys(schema).find((key) => !Object.hasOwn(ALLOWED_AT_ROOT, key));
    const type = text(schema, 'type');
    if (type !== '' && type !== 'object') {
      const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      causes.push(invalidValue(`${place}.type`, type, why));
    } else if (alien !== undefined) {
      const allowed = Object.values(ALLOWED_AT_ROOT).join(' ');
      const why = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
      causes.push({ ...invalidValue(place, '', ''), message: `Invalid value: ${showSchema(schema)}: ${why}` });
    }
  }
  if (getOwn(schema, 'nullable') === true) {
    causes.push(forbiddenField(`${place}.nullable`, 'nullable cannot be true at the root'));
  }
  return [...causes, ...checkSchema(schema, place)];
}

function validateDeprecation(version: Mapping, path: string): readonly Cause[] {
  const warning = getOwn(version, 'deprecationWarning');
  if (typeof warning !== 'string') return [];
  const place = `${path}.deprecationWarning`;
  if (getOwn(version, 'deprecated') !== true) {
    return [invalidValue(place, warning, 'can only be set for deprecated versions')];
  }
  return [
    ...(warning.length > 256 ? [invalidValue(place, warning, 'must be <= 256 characters long')] : []),
    ...(warning === '' ? [invalidValue(place, warning, 'must not be an empty string')] : []),
  ];
}

function validateSubresources(version: Mapping, path: string): readonly Cause[] {
  const scale = getOwn(mapping(version, 'subresources'), 'scale');
  if (!isMapping(scale)) return [];
  const check = (key: string, roots: readonly string[], hint: string, isOptional = false): readonly Cause[] => {
    const value = text(scale, key);
    const place = `${path}.scale.${key}`;
    if (value === '') return isOptional ? [] : [required(place)];
    if (!value.startsWith('.')) return [invalidValue(place, value, 'must be a simple json path starting with .')];
    if (!roots.some((root) => value.startsWith(root))) return [invalidValue(place, value, hint)];
    return [];
  };
  return [
    ...check('specReplicasPath', ['.spec.'], 'should be a json path under .spec'),
    ...check('statusReplicasPath', ['.status.'], 'should be a json path under .status'),
    ...check('labelSelectorPath', ['.spec.', '.status.'], 'should be a json path under either .spec or .status', true),
  ];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function validateColumns(version: Mapping, path: string): readonly Cause[] {
  const columns = getOwn(version, 'additionalPrinterColumns');
  if (!Array.isArray(columns)) return [];
  return columns.filter(isMapping).flatMap((column, index) => {
    const place = `${path}[${index}]`;
    const [type, format, jsonPath] = [text(column, 'type'), text(column, 'format'), text(column, 'jsonPath')];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    return [
      ...(text(column, 'name') === '' ? [required(`${place}.name`)] : []),
      ...(type === '' ? [required(`${place}.type`, types)] : []),
      ...(type !== '' && !COLUMN_TYPES.includes(type) ? [invalidValue(`${place}.type`, type, types)] : []),
      ...(format !== '' && !COLUMN_FORMATS.includes(format)
        ? [invalidValue(`${place}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`)]
        : []),
      ...(jsonPath === '' ? [required(`${place}.JSONPath`)] : []),
      ...(jsonPath !== '' && !jsonPath.startsWith('.')
        ? [invalidValue(`${place}.JSONPath`, jsonPath, 'must be a simple json path starting with .')]
        : []),
    ];
  });
}

function validateSpecNames(names: Mapping): readonly Cause[] {
  const missing = ['plural', 'singular', 'kind', 'listKind'].filter((key) => text(names, key) === '');
  return [...missing.map((key) => required(`spec.names.${key}`)), ...validateNames(names, 'spec.names')];
}

function validateNames(names: Mapping, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  for (const key of ['plural', 'singular', 'kind', 'listKind']) {
    const value = text(names, key);
    const mayBeMixed = key === 'kind' || key === 'listKind';
    const problems = value === '' ? [] : dns1035Label(mayBeMixed ? value.toLowerCase() : value, false);
    const prefix = mayBeMixed ? 'may have mixed case, but should otherwise match: ' : '';
    if (problems.length > 0) causes.push(invalidValue(`${path}.${key}`, value, prefix + problems.join(',')));
  }
  const checkList = (key: string): void => {
    const values = getOwn(names, key);
    if (!Array.isArray(values)) return;
    values.forEach((value, index) => {
      const problems = dns1035Label(String(value), false);
      if (problems.length > 0) causes.push(invalidValue(`${path}.${key}[${index}]`, value, problems.join(',')));
    });
  };
  checkList('shortNames');
  const kind = text(names, 'kind');
  if (kind !== '' && kind === text(names, 'listKind')) {
    causes.push(invalidValue(`${path}.listKind`, kind, 'kind and listKind may not be the same'));
  }
  checkList('categories');
  return causes;
}

/** What may not be changed in a definition; beside `validateDefinition`. */
export function validateDefinitionUpdate(definition: ServedObject, old: ServedObject): readonly Cause[] {
  const isEstablished = conditionsOf(old).some(
    (condition) => getOwn(condition, 'type') === 'Established' && getOwn(condition, 'status') === 'True',
  );
  const [spec, oldSpec] = [mapping(definition, 'spec'), mapping(old, 'spec')];
  const [names, oldNames] = [mapping(spec, 'names'), mapping(oldSpec, 'names')];
  const compare = (field: string, value: string, oldValue: string): readonly Cause[] =>
    value === oldValue ? [] : [invalidValue(field, value, 'field is immutable')];
  return [
    ...(isEstablished ? compare('spec.scope', text(spec, 'scope'), text(oldSpec, 'scope')) : []),
    ...(isEstablished ? compare('spec.names.kind', text(names, 'kind'), text(oldNames, 'kind')) : []),
    ...compare('spec.group', text(spec, 'group'), text(oldSpec, 'group')),
    ...compare('spec.names.plural', text(names, 'plural'), text(oldNames, 'plural')),
  ];
}

function validateStoredVersions(definition: ServedObject, { versions }: Hoisted): readonly Cause[] {
  const listed = getOwn(mapping(definition, 'status'), 'storedVersions');
  const stored = Array.isArray(listed) ? listed.map(String) : [];
  const field = 'status.storedVersions';
  if (stored.length === 0) {
    // An absent list is shown as Go shows it.
    return [invalidValue(field, Array.isArray(listed) ? [] : null, 'must have at least one stored version')];
  }
  const names = versions.map((version) => text(version, 'name'));
  return [
    ...versions
      .filter((version) => getOwn(version, 'storage') === true && !stored.includes(text(version, 'name')))
      .map((version) => invalidValue(field, stored, `must have the storage version ${text(version, 'name')}`)),
    ...stored.flatMap((name, index) => {
      if (names.includes(name)) return [];
      const why =
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions ` +
        `until a storage migration ensures no data remains persisted in ${name} and removes ${name} ` +
        'from status.storedVersions';
      return [invalidValue(`${field}[${index}]`, name, why)];
    }),
  ];
}

const APPROVAL = 'api-approved.kubernetes.io';

/** Groups of the community itself are not for everyone. */
function validateApproval(definition: ServedObject): readonly Cause[] {
  const group = text(mapping(definition, 'spec'), 'group');
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const annotation = text(mapping(mapping(definition, 'metadata'), 'annotations'), APPROVAL);
  const field = `metadata.annotations[${APPROVAL}]`;
  if (annotation === '') {
    return [
      required(
        field,
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    ];
  }
  if (annotation.startsWith('unapproved') || /^https?:\/\/[^/]+\/.+/.test(annotation)) return [];
  const why =
    `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting ` +
    'with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111';
  return [invalidValue(field, annotation, why)];
}

const hasStatus = (version: Mapping): boolean =>
  getOwn(mapping(version, 'subresources'), 'status') !== undefined &&
  getOwn(mapping(version, 'subresources'), 'status') !== null;

const schemaOf = (version: Mapping): unknown => getOwn(mapping(version, 'schema'), 'openAPIV3Schema');

function versionsOf(spec: Mapping): readonly Mapping[] {
  const versions = getOwn(spec, 'versions');
  return Array.isArray(versions) ? versions.filter(isMapping) : [];
}

function conditionsOf(definition: ServedObject): readonly Mapping[] {
  const conditions = getOwn(mapping(definition, 'status'), 'conditions');
  return Array.isArray(conditions) ? conditions.filter(isMapping) : [];
}

function mapping(source: object, key: string): Mapping {
  const value = getOwn(source, key);
  return isMapping(value) ? value : {};
}

function text(source: object, key: string): string {
  const value = getOwn(source, key);
  return typeof value === 'string' ? value : '';
}
