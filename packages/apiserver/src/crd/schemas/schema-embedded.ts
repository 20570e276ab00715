/** Resources that are embedded in others are read as resources: their types are texts, and their metadata metadata. */
import { getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import { invalidValue } from '../../text/field-causes.js';
import { DecodingError } from '../../typed/decode.js';
import { type Structural, schemaOfOthers } from './structural.js';

/** Reads metadata, without what says nothing. Throws a `DecodingError`. */
export type MetadataReader = (metadata: unknown) => Mapping | null;

/** Throws a `DecodingError` for the first one that cannot be read. Changes the object in place. */
export function readEmbedded(
  value: unknown,
  schema: Structural | undefined,
  readMetadata: MetadataReader,
  path = '',
): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) readEmbedded(item, schema.items, readMetadata, `${path}[${index}]`);
    return;
  }
  if (!isMapping(value)) return;
  if (schema.isEmbeddedResource && path !== '') readIdentity(value, readMetadata, path);
  for (const key of Object.keys(value)) {
    const property = schema.properties.get(key);
    const inside = property === undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    readEmbedded(getOwn(value, key), property ?? schemaOfOthers(schema), readMetadata, inside);
  }
}

function readIdentity(resource: Mapping, readMetadata: MetadataReader, path: string): void {
  for (const key of ['apiVersion', 'kind']) {
    const value = getOwn(resource, key);
    if (value !== undefined && typeof value !== 'string') refuse(`${path}.${key}`, value, 'must be a string');
  }
  const metadata = getOwn(resource, 'metadata');
  if (metadata === undefined) return;
  try {
    setOwn(resource, 'metadata', readMetadata(metadata));
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    refuse(`${path}.metadata`, metadata, error.message);
  }
}

function refuse(field: string, value: unknown, problem: string): never {
  throw new DecodingError(`${field}: ${invalidValue(field, value, problem).message}`);
}
