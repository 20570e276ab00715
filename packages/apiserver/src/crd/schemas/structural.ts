/** A structural schema in the shape that pruning, defaulting and checking walk over: parsed once, with types. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';

/**
 * One node. It is used for nested value validations (`allOf` and the like) as well, though there
 * the structural fields are not expected.
 */
export interface Structural {
  readonly type: string;
  readonly nullable: boolean;
  readonly format: string;
  readonly title: string;
  readonly description: string;
  /** `undefined` if there is none; a default of `null` counts as none, too. */
  readonly default: unknown;
  readonly properties: ReadonlyMap<string, Structural>;
  /** `undefined` if not specified; `open` is for `true`, `closed` for `false`. */
  readonly additionalProperties: Structural | 'open' | 'closed' | undefined;
  readonly items: Structural | undefined;
  readonly preservesUnknownFields: boolean;
  readonly isEmbeddedResource: boolean;
  readonly isIntOrString: boolean;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly hasRules: boolean;

  readonly enum: readonly unknown[];
  readonly required: readonly string[];
  readonly pattern: string;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly allOf: readonly Structural[];
  readonly anyOf: readonly Structural[];
  readonly oneOf: readonly Structural[];
  readonly not: Structural | undefined;
}

/** Reads a schema as written in a definition. What is of a wrong type is taken as absent. */
export function parseStructural(schema: unknown): Structural {
  const source: Mapping = isMapping(schema) ? schema : {};
  const properties = new Map<string, Structural>();
  const listed = getOwn(source, 'properties');
  if (isMapping(listed)) {
    for (const key of Object.keys(listed)) properties.set(key, parseStructural(getOwn(listed, key)));
  }
  return {
    type: text(source, 'type'),
    nullable: flag(source, 'nullable'),
    format: text(source, 'format'),
    title: text(source, 'title'),
    description: text(source, 'description'),
    default: getOwn(source, 'default') ?? undefined,
    properties,
    additionalProperties: parseAdditional(getOwn(source, 'additionalProperties')),
    items: nested(source, 'items'),
    preservesUnknownFields: flag(source, 'x-kubernetes-preserve-unknown-fields'),
    isEmbeddedResource: flag(source, 'x-kubernetes-embedded-resource'),
    isIntOrString: flag(source, 'x-kubernetes-int-or-string'),
    listType: text(source, 'x-kubernetes-list-type') || undefined,
    listMapKeys: texts(source, 'x-kubernetes-list-map-keys'),
    mapType: text(source, 'x-kubernetes-map-type') || undefined,
    hasRules: list(source, 'x-kubernetes-validations').length > 0,
    enum: list(source, 'enum'),
    required: texts(source, 'required'),
    pattern: text(source, 'pattern'),
    minimum: count(source, 'minimum'),
    maximum: count(source, 'maximum'),
    exclusiveMinimum: flag(source, 'exclusiveMinimum'),
    exclusiveMaximum: flag(source, 'exclusiveMaximum'),
    multipleOf: count(source, 'multipleOf'),
    minLength: count(source, 'minLength'),
    maxLength: count(source, 'maxLength'),
    minItems: count(source, 'minItems'),
    maxItems: count(source, 'maxItems'),
    uniqueItems: flag(source, 'uniqueItems'),
    minProperties: count(source, 'minProperties'),
    maxProperties: count(source, 'maxProperties'),
    allOf: list(source, 'allOf').map(parseStructural),
    anyOf: list(source, 'anyOf').map(parseStructural),
    oneOf: list(source, 'oneOf').map(parseStructural),
    not: nested(source, 'not'),
  };
}

/** Is anything in the structural part of the schema true for the predicate? It does not enter allOf/anyOf/oneOf/not. */
export function someNode(node: Structural, predicate: (node: Structural) => boolean): boolean {
  if (predicate(node)) return true;
  for (const property of node.properties.values()) if (someNode(property, predicate)) return true;
  if (node.items !== undefined && someNode(node.items, predicate)) return true;
  return typeof node.additionalProperties === 'object' && someNode(node.additionalProperties, predicate);
}

/** The schema of values that are not listed by name; `undefined` also if anything goes. */
export function schemaOfOthers(node: Structural): Structural | undefined {
  return typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
}

function parseAdditional(value: unknown): Structural['additionalProperties'] {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value ? 'open' : 'closed';
  return parseStructural(value);
}

function nested(source: Mapping, key: string): Structural | undefined {
  const value = getOwn(source, key);
  return isMapping(value) ? parseStructural(value) : undefined;
}

function text(source: Mapping, key: string): string {
  const value = getOwn(source, key);
  return typeof value === 'string' ? value : '';
}

function flag(source: Mapping, key: string): boolean {
  return getOwn(source, key) === true;
}

function count(source: Mapping, key: string): number | undefined {
  const value = getOwn(source, key);
  return typeof value === 'number' ? value : undefined;
}

function list(source: Mapping, key: string): readonly unknown[] {
  const value = getOwn(source, key);
  return Array.isArray(value) ? value : [];
}

function texts(source: Mapping, key: string): readonly string[] {
  return list(source, key).filter((item): item is string => typeof item === 'string');
}
