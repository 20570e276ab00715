/** Keyword by keyword: what may not be used at all, and which combinations make no sense. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  readonly isInsideMeta: boolean;
  /** Why defaults may not be set here. */
  readonly noDefaults: string | undefined;
}

/** Checks the schema and everything inside of it. */
export function checkKeywords(schema: Mapping, path: string): readonly Cause[] {
  return check(schema, { path, isRoot: true, isInsideMeta: false, noDefaults: undefined });
}

function check(schema: unknown, place: Place): readonly Cause[] {
  if (!isMapping(schema)) return [];
  return [...checkSupport(schema, place), ...checkInside(schema, place), ...checkExtensions(schema, place.path)];
}

function checkSupport(schema: Mapping, { path, isInsideMeta, noDefaults }: Place): readonly Cause[] {
  const causes: Cause[] = [];
  const type = getOwn(schema, 'type') ?? '';
  if (type !== '' && !TYPES.includes(type as string)) causes.push(notSupported(`${path}.type`, type, TYPES));
  if (noDefaults !== undefined && getOwn(schema, 'default') !== undefined) {
    causes.push(forbiddenField(`${path}.default`, `must not be set ${noDefaults}`));
  }
  for (const keyword of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']) {
    if (getOwn(schema, keyword) !== undefined) {
      causes.push(forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`));
    }
  }
  if (type === 'null') {
    causes.push(forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(getOwn(schema, 'items'))) {
    causes.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (isInsideMeta && getOwn(schema, 'x-kubernetes-embedded-resource') === true) {
    causes.push(forbiddenField(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  if (getOwn(schema, 'uniqueItems') === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbiddenField(`${path}.uniqueItems`, why));
  }
  return causes;
}

function checkInside(schema: Mapping, place: Place): readonly Cause[] {
  const { path, isRoot, isInsideMeta } = place;
  const causes: Cause[] = [];
  const inner = (step: string): Place => ({ ...place, path: `${path}.${step}`, isRoot: false });
  const properties = getOwn(schema, 'properties');
  const listed = isMapping(properties) ? Object.keys(properties) : [];
  const additional = getOwn(schema, 'additionalProperties');
  if (additional !== undefined && additional !== null) {
    if (listed.length > 0 && additional !== true) {
      const why = 'additionalProperties and properties are mutual exclusive';
      causes.push(forbiddenField(`${path}.additionalProperties`, why));
    }
    const noDefaults = isInsideMeta ? 'inside additionalProperties applying to object metadata' : place.noDefaults;
    causes.push(...check(additional, { ...inner('additionalProperties'), noDefaults }));
  }
  for (const key of listed) {
    const isMeta = (isRoot || getOwn(schema, 'x-kubernetes-embedded-resource') === true) && META_FIELDS.has(key);
    const child: Place = {
      ...inner(`properties[${key}]`),
      isInsideMeta: isInsideMeta || isMeta,
      noDefaults: isMeta && isRoot ? `in top-level ${key}` : place.noDefaults,
    };
    causes.push(...check(getOwn(properties as Mapping, key), child));
  }
  causes.push(...check(getOwn(schema, 'not'), inner('not')));
  for (const combination of ['allOf', 'oneOf', 'anyOf']) {
    const nested = getOwn(schema, combination);
    if (!Array.isArray(nested)) continue;
    for (const [index, item] of nested.entries()) causes.push(...check(item, inner(`${combination}[${index}]`)));
  }
  const items = getOwn(schema, 'items');
  if (Array.isArray(items))
    for (const [index, item] of items.entries()) causes.push(...check(item, inner(`items[${index}]`)));
  else causes.push(...check(items, inner('items')));
  return causes;
}

function checkExtensions(schema: Mapping, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (getOwn(schema, 'x-kubernetes-preserve-unknown-fields') === false) {
    causes.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  const mapType = getOwn(schema, 'x-kubernetes-map-type');
  if (mapType !== undefined) {
    causes.push(...mustBeOfType(schema, 'object', path, 'must be object if x-kubernetes-map-type is specified'));
    if (mapType !== 'atomic' && mapType !== 'granular') {
      causes.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
    }
  }
  const listType = getOwn(schema, 'x-kubernetes-list-type');
  const items = getOwn(schema, 'items');
  if (listType !== undefined) {
    const why = 'must be array if x-kubernetes-list-type is specified';
    causes.push(...mustBeOfType(schema, 'array', path, why));
    if (listType === 'set' && isMapping(items)) causes.push(...checkSetItems(items, path));
    if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
      causes.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']));
    }
  }
  const mapKeys = getOwn(schema, 'x-kubernetes-list-map-keys');
  const keys = Array.isArray(mapKeys) ? mapKeys.map(String) : [];
  if (keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const place = `${path}.x-kubernetes-list-type`;
    causes.push(listType === undefined ? required(place, why) : invalidValue(place, listType, why));
  }
  if (listType === 'map') causes.push(...checkMapItems(items, keys, path));
  if ((listType === 'map' || listType === 'set') && isMapping(items)) {
    if (getOwn(items, 'nullable') === true) {
      causes.push(
        forbiddenField(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
      );
    }
    if (listType === 'map') causes.push(...checkKeysArePresent(items, keys, path));
  }
  return [...causes, ...checkRules(schema, path)];
}

function mustBeOfType(schema: Mapping, type: string, path: string, why: string): readonly Cause[] {
  const actual = getOwn(schema, 'type') ?? '';
  if (actual === type) return [];
  return [actual === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, actual, why)];
}

function checkSetItems(items: Mapping, path: string): readonly Cause[] {
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = getOwn(items, 'x-kubernetes-list-type');
  if (getOwn(items, 'type') === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-list-type`, listType, why)];
  }
  if (getOwn(items, 'type') === 'object' && getOwn(items, 'x-kubernetes-map-type') !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-map-type`, listType, why)];
  }
  return [];
}

function checkMapItems(items: unknown, keys: readonly string[], path: string): readonly Cause[] {
  const causes: Cause[] = [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) causes.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (!isMapping(items)) {
    return [...causes, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  }
  const type = getOwn(items, 'type') ?? '';
  if (type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    return [...causes, invalidValue(`${path}.items.type`, type, why)];
  }
  keys.forEach((key, index) => {
    const property = propertyOf(items, key);
    const keyType = property === undefined ? undefined : getOwn(property, 'type');
    if (property === undefined)
      causes.push(invalidValue(keysPath, keys, 'entries must all be names of item properties'));
    if (keyType === 'array' || keyType === 'object') {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      causes.push(invalidValue(`${path}.items.properties[${key}].type`, type, why));
    }
    if (keys.indexOf(key) < index) causes.push(invalidValue(keysPath, keys, 'must not contain duplicate entries'));
  });
  return causes;
}

function propertyOf(schema: Mapping, key: string): Mapping | undefined {
  const properties = getOwn(schema, 'properties');
  const property = isMapping(properties) ? getOwn(properties, key) : undefined;
  return isMapping(property) ? property : undefined;
}

function checkKeysArePresent(items: Mapping, keys: readonly string[], path: string): readonly Cause[] {
  const listed = getOwn(items, 'required');
  return keys.flatMap((key) => {
    const property = propertyOf(items, key);
    if (property === undefined) return [];
    const place = `${path}.items.properties[${key}]`;
    const isPresent = (Array.isArray(listed) && listed.includes(key)) || getOwn(property, 'default') !== undefined;
    const because = 'this property is in x-kubernetes-list-map-keys, so it';
    return [
      ...(isPresent ? [] : [required(`${place}.default`, `${because} must have a default or be a required property`)]),
      ...(getOwn(property, 'nullable') === true
        ? [forbiddenField(`${place}.nullable`, `${because} cannot be nullable`)]
        : []),
    ];
  });
}

/** Rules are not evaluated; but an empty one is noticed. */
function checkRules(schema: Mapping, path: string): readonly Cause[] {
  const rules = getOwn(schema, 'x-kubernetes-validations');
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown, index) => {
    const expression = isMapping(rule) ? getOwn(rule, 'rule') : undefined;
    if (typeof expression === 'string' && expression.trim() !== '') return [];
    return [required(`${path}.x-kubernetes-validations[${index}].rule`, 'rule is not specified')];
  });
}
