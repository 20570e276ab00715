/** What is wrong with a schema itself: whether it is structural, and whether it says only what the server understands. */
import { deepCopy, deepEqual, isMapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { forbiddenField, invalidValue, required } from '../../text/field-causes.js';
import { checkKeywords } from './schema-check-keywords.js';
import { validateEmbedded } from './schema-lists.js';
import { compilePattern } from './schema-patterns.js';
import { pruneObject, pruneValue } from './schema-prune.js';
import { validateValue } from './schema-validate.js';
import { parseStructural, type Structural } from './structural.js';

type Level = 'root' | 'item' | 'field';

/** All problems of a schema that stands at `path`. */
export function checkSchema(schema: unknown, path: string): readonly Cause[] {
  const root = parseStructural(schema);
  const structural = [...checkNode(root, 'root', path), ...checkCompleteness(root, root, path, path)];
  const sorted = structural.sort((a, b) => compare(`${a.field}: ${a.message}`, `${b.field}: ${b.message}`));
  const problems = sorted.length > 0 ? sorted : checkDefaults(root, path);
  return [...problems, ...checkKeywords(isMapping(schema) ? schema : {}, path)];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function checkNode(node: Structural, level: Level, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (node.type === 'array' && node.items === undefined) causes.push(required(`${path}.items`, 'must be specified'));
  if (node.items !== undefined) causes.push(...checkNode(node.items, 'item', `${path}.items`));
  for (const [key, property] of node.properties) {
    causes.push(...checkNode(property, 'field', `${path}.properties[${key}]`));
  }
  if (node.additionalProperties !== undefined) {
    const place = `${path}.additionalProperties`;
    if (level === 'root') causes.push(forbiddenField(place, 'must not be used at the root'));
    if (typeof node.additionalProperties === 'object') {
      causes.push(...checkNode(node.additionalProperties, 'field', place));
    }
  }
  if (node.isIntOrString && node.preservesUnknownFields) {
    const place = `${path}.x-kubernetes-preserve-unknown-fields`;
    causes.push(invalidValue(place, true, 'must be false if x-kubernetes-int-or-string is true'));
  }
  if (node.isIntOrString && node.isEmbeddedResource) {
    const place = `${path}.x-kubernetes-embedded-resource`;
    causes.push(invalidValue(place, true, 'must be false if x-kubernetes-int-or-string is true'));
  }
  causes.push(...checkValueRules(node, path, isIntOrStringPair(node.anyOf), isIntOrStringPair(node.allOf[0]?.anyOf)));
  causes.push(...checkTypes(node, level, path), ...checkIdentity(node, level, path));
  return causes;
}

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function checkTypes(node: Structural, level: Level, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  const place = `${path}.type`;
  if (node.isEmbeddedResource && node.type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    causes.push(node.type === '' ? required(place, why) : invalidValue(place, node.type, why));
  } else if (node.type === '' && !node.isIntOrString && !node.preservesUnknownFields) {
    causes.push(required(place, MISSING_TYPE[level]));
  }
  if (node.isEmbeddedResource && node.additionalProperties !== undefined) {
    const why = 'must not be used if x-kubernetes-embedded-resource is set';
    causes.push(forbiddenField(`${path}.additionalProperties`, why));
  }
  if (level === 'root' && node.type !== '' && node.type !== 'object') {
    causes.push(invalidValue(place, node.type, 'must be object at the root'));
  }
  return causes;
}

/** The fields which every resource has are implied: hardly anything may be said about them. */
function checkIdentity(node: Structural, level: Level, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  const isResource = level === 'root' || node.isEmbeddedResource;
  for (const key of ['kind', 'apiVersion']) {
    const property = node.properties.get(key);
    if (isResource && property !== undefined && property.type !== 'string') {
      causes.push(invalidValue(`${path}.properties[${key}].type`, property.type, 'must be string'));
    }
  }
  const metadata = node.properties.get('metadata');
  if (metadata !== undefined) {
    const place = `${path}.properties[metadata]`;
    if (isResource && metadata.type !== 'object') {
      causes.push(invalidValue(`${place}.type`, metadata.type, 'must be object'));
    }
    if (level === 'root' && !saysOnlyNames(metadata)) {
      const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      causes.push(forbiddenField(place, why));
    }
  }
  if (node.isEmbeddedResource && !node.preservesUnknownFields && node.properties.size === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    causes.push(required(`${path}.properties`, why));
  }
  return causes;
}

function saysOnlyNames(metadata: Structural): boolean {
  const keys = [...metadata.properties.keys()];
  const onlyNames = keys.every((key) => key === 'name' || key === 'generateName');
  const rest = { ...metadata, type: '', default: undefined, properties: new Map(), description: '' };
  return onlyNames && metadata.description === '' && deepEqual(plain(rest), plain(parseStructural({})));
}

const plain = (node: Structural): unknown => ({ ...node, properties: [...node.properties.keys()] });

function isIntOrStringPair(alternatives: readonly Structural[] | undefined): boolean {
  if (alternatives?.length !== 2) return false;
  return ['integer', 'string'].every((type, index) => {
    const alternative = alternatives[index];
    return alternative !== undefined && deepEqual(plain(alternative), plain(parseStructural({ type })));
  });
}

function checkValueRules(node: Structural, path: string, skipsAnyOf: boolean, skipsFirst: boolean): readonly Cause[] {
  const causes: Cause[] = [];
  if (!skipsAnyOf) {
    for (const [index, nested] of node.anyOf.entries()) causes.push(...checkNested(nested, `${path}.anyOf[${index}]`));
  }
  node.allOf.forEach((nested, index) => {
    causes.push(...checkNested(nested, `${path}.allOf[${index}]`, skipsFirst && index === 0));
  });
  for (const [index, nested] of node.oneOf.entries()) causes.push(...checkNested(nested, `${path}.oneOf[${index}]`));
  if (node.not !== undefined) causes.push(...checkNested(node.not, `${path}.not`));
  const pattern = node.pattern === '' ? undefined : compilePattern(node.pattern);
  if (pattern !== undefined && 'problem' in pattern) {
    const why = `must be a valid regular expression, but isn't: error parsing regexp: ${pattern.problem}`;
    causes.push(invalidValue(`${path}.pattern`, node.pattern, why));
  }
  return causes;
}

/** Only value validations are allowed inside allOf/anyOf/oneOf/not; the structure is specified outside of them. */
function checkNested(node: Structural, path: string, skipsAnyOf = false): readonly Cause[] {
  const causes: Cause[] = [...checkValueRules(node, path, skipsAnyOf, false)];
  if (node.items !== undefined) causes.push(...checkNested(node.items, `${path}.items`));
  for (const [key, property] of node.properties) causes.push(...checkNested(property, `${path}.properties[${key}]`));
  const forbid = (isSet: boolean, keyword: string, why: string): void => {
    if (isSet) causes.push(forbiddenField(`${path}.${keyword}`, `must be ${why} to be structural`));
  };
  forbid(node.type !== '', 'type', 'empty');
  forbid(node.additionalProperties !== undefined, 'additionalProperties', 'undefined');
  forbid(node.default !== undefined, 'default', 'undefined');
  forbid(node.title !== '', 'title', 'empty');
  forbid(node.description !== '', 'description', 'empty');
  forbid(node.nullable, 'nullable', 'false');
  forbid(node.preservesUnknownFields, 'x-kubernetes-preserve-unknown-fields', 'false');
  forbid(node.isEmbeddedResource, 'x-kubernetes-embedded-resource', 'false');
  forbid(node.isIntOrString, 'x-kubernetes-int-or-string', 'false');
  forbid(node.listMapKeys.length > 0, 'x-kubernetes-list-map-keys', 'empty');
  forbid(node.listType !== undefined, 'x-kubernetes-list-type', 'undefined');
  forbid(node.mapType !== undefined, 'x-kubernetes-map-type', 'undefined');
  forbid(node.hasRules, 'x-kubernetes-validations', 'empty');
  if (node.properties.has('metadata')) {
    causes.push(forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  return causes;
}

/** Whatever is validated inside allOf/anyOf/oneOf/not must be specified outside of it. */
function checkCompleteness(
  nested: Structural,
  node: Structural | undefined,
  path: string,
  nestedPath: string,
): readonly Cause[] {
  if (node === undefined) return [required(path, `because it is defined in ${nestedPath}`)];
  const enter = (inner: Structural, place: string): readonly Cause[] => [
    ...checkCompleteness(inner, node, path, place),
    ...checkCompletenessOfChildren(inner, node, path, place),
  ];
  return [
    ...(nested.not === undefined ? [] : enter(nested.not, `${nestedPath}.not`)),
    ...nested.allOf.flatMap((inner, index) => enter(inner, `${nestedPath}.allOf[${index}]`)),
    ...nested.anyOf.flatMap((inner, index) => enter(inner, `${nestedPath}.anyOf[${index}]`)),
    ...nested.oneOf.flatMap((inner, index) => enter(inner, `${nestedPath}.oneOf[${index}]`)),
  ];
}

function checkCompletenessOfChildren(
  nested: Structural,
  node: Structural,
  path: string,
  nestedPath: string,
): readonly Cause[] {
  const enter = (inner: Structural, outer: Structural | undefined, step: string): readonly Cause[] => {
    const [place, innerPlace] = [`${path}.${step}`, `${nestedPath}.${step}`];
    if (outer === undefined) return [required(place, `because it is defined in ${innerPlace}`)];
    return [
      ...checkCompleteness(inner, outer, place, innerPlace),
      ...checkCompletenessOfChildren(inner, outer, place, innerPlace),
    ];
  };
  return [
    ...(nested.items === undefined ? [] : enter(nested.items, node.items, 'items')),
    ...[...nested.properties].flatMap(([key, inner]) => enter(inner, node.properties.get(key), `properties[${key}]`)),
  ];
}

/** Defaults must be acceptable as values, and nothing of them may be lost in pruning. */
function checkDefaults(node: Structural, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (node.default !== undefined) {
    const place = `${path}.default`;
    const pruned = deepCopy(node.default);
    if (node.isEmbeddedResource && isMapping(pruned)) pruneObject(pruned, node);
    else pruneValue(pruned, node);
    if (!deepEqual(pruned, node.default)) {
      causes.push(invalidValue(place, node.default, 'must not have unknown fields'));
    }
    const embedded = validateEmbedded(node.default, node, place);
    causes.push(...(embedded.length > 0 ? embedded : validateValue(node.default, node, place)));
  }
  if (node.items !== undefined) causes.push(...checkDefaults(node.items, `${path}.items`));
  for (const [key, property] of node.properties) {
    causes.push(...checkDefaults(property, `${path}.properties[${key}]`));
  }
  return causes;
}
