/** Invariants beyond JSON schemas: unique keys of lists, and the identity of embedded resources. */
import { getOwn, isMapping, type Mapping, type ObjectMeta } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { duplicate, invalidValue, required } from '../../text/field-causes.js';
import { goJson } from '../../text/go-text.js';
import { validateMetadata } from '../../validation/metadata.js';
import { pathSegment } from '../../validation/names.js';
import { type Structural, schemaOfOthers } from './structural.js';

const childOf = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** Lists of types `set` and `map` must have no two same items, or no two items with the same keys. */
export function validateLists(value: unknown, schema: Structural | undefined, path = ''): readonly Cause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const inside = value.flatMap((item, index) => validateLists(item, schema.items, `${path}[${index}]`));
    return [...validateList(value, schema, path), ...inside];
  }
  if (!isMapping(value)) return [];
  const others = schemaOfOthers(schema);
  return Object.keys(value).flatMap((key) => {
    const item = getOwn(value, key);
    const property = schema.properties.get(key);
    const asOther = others === undefined ? [] : validateLists(item, others, `${path}[${key}]`);
    return [...asOther, ...(property === undefined ? [] : validateLists(item, property, childOf(path, key)))];
  });
}

function validateList(value: readonly unknown[], schema: Structural, path: string): readonly Cause[] {
  if (schema.listType === 'set') {
    return repeated(value).map((index) => duplicate(`${path}[${index}]`, value[index]));
  }
  if (schema.listType !== 'map') return [];
  const alien = value.findIndex((item) => item !== null && !isMapping(item));
  if (alien >= 0) {
    return [invalidValue(`${path}[${alien}]`, value[alien], 'must be an object for an array of list-type map')];
  }
  const keys = value.map((item) => (isMapping(item) ? keysOf(item, schema.listMapKeys) : {}));
  return repeated(keys).map((index) => duplicate(`${path}[${index}]`, keys[index]));
}

function keysOf(item: Mapping, names: readonly string[]): Mapping {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, getOwn(item, name)]),
  );
}

/** Where a value appears for the second time; further repetitions are not told. */
function repeated(values: readonly unknown[]): readonly number[] {
  const indices: number[] = [];
  // By texts, with keys in order: comparing each with each would take for ever in long lists.
  const counts = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const text = goJson(value);
    const before = counts.get(text) ?? 0;
    if (before === 1) indices.push(index);
    counts.set(text, before + 1);
  }
  return indices;
}

/** Wherever a resource is embedded, it must say what it is. */
export function validateEmbedded(value: unknown, schema: Structural | undefined, path = ''): readonly Cause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => validateEmbedded(item, schema.items, `${path}[${index}]`));
  }
  if (!isMapping(value)) return [];
  const own = schema.isEmbeddedResource && path !== '' ? validateIdentity(value, path) : [];
  const inside = Object.keys(value).flatMap((key) => {
    const property = schema.properties.get(key);
    if (property !== undefined) return validateEmbedded(getOwn(value, key), property, childOf(path, key));
    return validateEmbedded(getOwn(value, key), schemaOfOthers(schema), `${path}[${key}]`);
  });
  return [...own, ...inside];
}

const DNS_LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
  "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?')";

function validateIdentity(resource: Mapping, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  for (const key of ['apiVersion', 'kind']) {
    const field = `${path}.${key}`;
    const value = getOwn(resource, key);
    if (value === undefined) causes.push(required(field));
    else if (typeof value !== 'string') causes.push(invalidValue(field, value, 'must be a string'));
    else if (value === '') causes.push(invalidValue(field, value, 'must not be empty'));
    else if (key === 'apiVersion' && value.split('/').length > 2) {
      causes.push(invalidValue(field, value, `unexpected GroupVersion string: ${value}`));
    } else if (key === 'kind' && !/^[a-z]([-a-z0-9]*[a-z0-9])?$/i.test(value)) {
      causes.push(invalidValue(field, value, `may have mixed case, but should otherwise match: ${DNS_LABEL}`));
    }
  }
  const metadata = getOwn(resource, 'metadata');
  if (!isMapping(metadata)) return causes;
  // It may have no name, but no wrong one.
  const { name = '', namespace = '' } = metadata as ObjectMeta;
  const named = { ...metadata, name: name === '' ? 'unnamed' : name };
  const ofMetadata = validateMetadata(named, namespace !== '', pathSegment);
  return [...causes, ...ofMetadata.map((cause) => ({ ...cause, field: `${path}.${cause.field}` }))];
}
