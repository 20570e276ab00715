/** Removing what a schema does not specify, and filling in what it has defaults for. Objects are changed in place. */
import { deepCopy, getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import { type Structural, schemaOfOthers } from './structural.js';

const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Of an embedded `metadata`, only these are kept. */
const OBJECT_META_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]);

/** Returns the paths of what was removed, sorted. The root is treated as a resource, with its metadata untouched. */
export function pruneObject(object: Mapping, schema: Structural): readonly string[] {
  const removed: string[] = [];
  prune(object, { ...schema, isEmbeddedResource: true }, '', removed);
  return removed.sort();
}

/** The same for a value inside of an object. */
export function pruneValue(value: unknown, schema: Structural): void {
  prune(value, schema, '', []);
}

function prune(value: unknown, schema: Structural | undefined, path: string, removed: string[]): void {
  if (Array.isArray(value)) {
    const entersItems = schema === undefined || !schema.preservesUnknownFields;
    if (entersItems)
      for (const [index, item] of value.entries()) prune(item, schema?.items, `${path}[${index}]`, removed);
    else for (const [index, item] of value.entries()) pruneKept(item, schema.items, `${path}[${index}]`, removed);
    return;
  }
  if (!isMapping(value)) return;
  if (schema?.preservesUnknownFields) {
    pruneKept(value, schema, path, removed);
    return;
  }
  for (const key of Object.keys(value)) {
    if (schema?.isEmbeddedResource && META_FIELDS.has(key)) {
      if (key === 'metadata' && path !== '') pruneObjectMeta(getOwn(value, key), `${path}.metadata`, removed);
      continue;
    }
    const child = path === '' ? key : `${path}.${key}`;
    const property = schema?.properties.get(key);
    if (property !== undefined) prune(getOwn(value, key), property, child, removed);
    else if (schema?.additionalProperties !== undefined)
      prune(getOwn(value, key), schemaOfOthers(schema), child, removed);
    else {
      removed.push(child);
      delete value[key];
    }
  }
}

/** Where unknown fields are preserved, the known ones are pruned nevertheless. */
function pruneKept(value: unknown, schema: Structural | undefined, path: string, removed: string[]): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) pruneKept(item, schema.items, `${path}[${index}]`, removed);
    return;
  }
  if (!isMapping(value)) return;
  for (const key of Object.keys(value)) {
    if (schema.isEmbeddedResource && META_FIELDS.has(key)) {
      if (key === 'metadata' && path !== '') pruneObjectMeta(getOwn(value, key), `${path}.metadata`, removed);
      continue;
    }
    const child = path === '' ? key : `${path}.${key}`;
    const property = schema.properties.get(key);
    if (property !== undefined) prune(getOwn(value, key), property, child, removed);
    else if (schema.additionalProperties !== undefined)
      prune(getOwn(value, key), schemaOfOthers(schema), child, removed);
  }
}

function pruneObjectMeta(meta: unknown, path: string, removed: string[]): void {
  if (!isMapping(meta)) return;
  for (const key of Object.keys(meta)) {
    if (OBJECT_META_FIELDS.has(key)) continue;
    removed.push(`${path}.${key}`);
    delete meta[key];
  }
}

/** Drops the nulls that are neither allowed nor replaced by defaults. */
export function dropForeignNulls(value: unknown, schema: Structural | undefined): void {
  // What is not specified stays as it is, however deep it is.
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) dropForeignNulls(item, schema.items);
  } else if (isMapping(value)) {
    for (const key of Object.keys(value)) {
      const child = schema.properties.get(key) ?? schemaOfOthers(schema);
      const item = getOwn(value, key);
      if (item === null && child !== undefined && !child.nullable && child.default === undefined) delete value[key];
      else dropForeignNulls(item, child);
    }
  }
}

const isReplaceableNull = (value: unknown, schema: Structural | undefined): schema is Structural =>
  value === null && schema !== undefined && !schema.nullable;

const defaultOf = (schema: Structural): unknown => deepCopy(schema.default) ?? null;

/** Puts the defaults in, also in place of nulls that are not allowed. */
export function fillIn(value: unknown, schema: Structural | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      if (isReplaceableNull(item, schema.items)) value[index] = defaultOf(schema.items);
      fillIn(value[index], schema.items);
    });
  } else if (isMapping(value)) {
    for (const [key, property] of schema.properties) {
      if (property.default === undefined) continue;
      if (!Object.hasOwn(value, key) || isReplaceableNull(getOwn(value, key), property)) {
        setOwn(value, key, defaultOf(property));
      }
    }
    for (const key of Object.keys(value)) {
      const property = schema.properties.get(key);
      const others = schemaOfOthers(schema);
      if (property !== undefined) fillIn(getOwn(value, key), property);
      else if (others !== undefined) {
        if (isReplaceableNull(getOwn(value, key), others)) setOwn(value, key, defaultOf(others));
        fillIn(getOwn(value, key), others);
      }
    }
  }
}
