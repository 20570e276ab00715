/**
 * The types of fields as server-side apply sees them: which values are one, and how parts of the others are told apart.
 *
 * ```ts
 * const type = fieldTypeOf(served); // of a Deployment
 * fieldAt(type, 'spec', 'template', 'spec', 'containers'); // { is: 'list', relation: 'map', keys: ['name'], … }
 * ```
 *
 * A type is asked for its fields one by one, and reads itself when asked: schemas refer to themselves.
 */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { JsonSchema } from '../contracts/schema.js';
import { type Field, type Scalar, type TypeRef, typeNamed } from './types.js';

export type FieldType = ScalarType | MapFieldType | ListFieldType | FreeType;

/** Always one value. */
export interface ScalarType {
  readonly is: 'scalar';
  /** What it may be; whether a number is an integer does not matter here. */
  readonly of: 'string' | 'number' | 'boolean' | 'any';
}

/** A structure, or a mapping of anything to values of one type. */
export interface MapFieldType {
  readonly is: 'map';
  /** `atomic` is one value, whatever is in it. */
  readonly relation: 'granular' | 'atomic';
  /** `undefined` if it can have no such field. */
  field(name: string): FieldType | undefined;
  /** Does the schema name this very field? Otherwise it is one of any names. */
  declares(name: string): boolean;
}

export interface ListFieldType {
  readonly is: 'list';
  /** `atomic` is one value; items of a `set` are told apart by themselves, and those of a `map` by some of their fields. */
  readonly relation: 'atomic' | 'set' | 'map';
  /** Of a `map`, in the order of the schema. */
  readonly keys: readonly string[];
  /** What a key is where an item does not have it. */
  readonly keyDefaults: Readonly<Record<string, unknown>>;
  readonly of: FieldType;
}

/**
 * Without a schema: whatever is there. Its mappings are granular and its lists are atomic (all of it is free again),
 * unless it is atomic as a whole.
 */
export interface FreeType {
  readonly is: 'free';
  readonly isAtomic: boolean;
}

const STRING: ScalarType = { is: 'scalar', of: 'string' };
const NUMBER: ScalarType = { is: 'scalar', of: 'number' };
const ANY_SCALAR: ScalarType = { is: 'scalar', of: 'any' };
const BOOLEAN: ScalarType = { is: 'scalar', of: 'boolean' };
const FREE: FreeType = { is: 'free', isAtomic: false };
const FREE_ATOMIC: FreeType = { is: 'free', isAtomic: true };
const PLAIN_FORMATS: ReadonlySet<string> = new Set(['', 'byte']);
const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind']);

interface Typed {
  /** Its name in the table of types, of built-in kinds. */
  readonly type?: string;
  /** As the definition has it, of custom resources. */
  readonly schema?: JsonSchema;
}

/** Of whole objects: of a built-in kind by the table, of a custom one by its definition. */
export function fieldTypeOf({ type, schema }: Typed): MapFieldType {
  return type === undefined ? customObjectType(schema ?? {}) : builtinType(type);
}

/** The type further down; a number or a name stands for any item of a list. */
export function fieldAt(type: FieldType | undefined, ...path: readonly (string | number)[]): FieldType | undefined {
  return path.reduce<FieldType | undefined>((at, step) => {
    if (at === undefined || at.is === 'scalar') return undefined;
    if (at.is === 'free') return at;
    return at.is === 'list' ? at.of : at.field(String(step));
  }, type);
}

const builtin = new Map<string, MapFieldType>();

function builtinType(name: string): MapFieldType {
  const existing = builtin.get(name);
  if (existing !== undefined) return existing;
  const { byName, isAtomic } = typeNamed(name);
  const declares = (key: string): boolean => byName.has(key);
  const type = mapType(isAtomic ? 'atomic' : 'granular', declares, (key) => {
    const field = byName.get(key);
    return field === undefined ? undefined : builtinField(field);
  });
  builtin.set(name, type);
  return type;
}

function builtinField(field: Field): FieldType {
  const type = builtinRef(field.type, field);
  if (field.mapType === undefined || type.is !== 'map' || field.mapType === type.relation) return type;
  return { ...type, relation: field.mapType };
}

function builtinRef(ref: TypeRef, { listType = 'atomic', listKeys }: Pick<Field, 'listType' | 'listKeys'>): FieldType {
  switch (ref.is) {
    case 'struct':
      return builtinType(ref.name);
    case 'scalar':
      return SCALARS[ref.scalar] ?? FREE_ATOMIC;
    case 'map': {
      const of = builtinRef(ref.of, NO_LIST);
      return { is: 'map', relation: 'granular', field: () => of, declares: () => false };
    }
    case 'list': {
      const fields = ref.of.is === 'struct' ? typeNamed(ref.of.name).byName : new Map<string, Field>();
      const defaults = listKeys.map((key) => [key, fields.get(key)?.default] as const);
      return {
        is: 'list',
        relation: listType,
        keys: listKeys,
        keyDefaults: Object.fromEntries(defaults.filter(([, value]) => value !== undefined)),
        of: builtinRef(ref.of, NO_LIST),
      };
    }
  }
}

/** Others can be of several types, and are always one value. */
const SCALARS: Readonly<Partial<Record<Scalar, ScalarType>>> = {
  s: STRING,
  b: BOOLEAN,
  i: NUMBER,
  l: NUMBER,
  f: NUMBER,
  time: STRING,
  micro: STRING,
  bytes: STRING,
};

const NO_LIST = { listType: undefined, listKeys: [] };

/** Whatever the definition says of them, type and metadata are as they are everywhere. */
function customObjectType(schema: JsonSchema): MapFieldType {
  const type = structuralType(schema);
  const own = type.is === 'map' ? type : undefined;
  const declares = (name: string): boolean => objectField(name) !== undefined || own?.declares(name) === true;
  return mapType('granular', declares, (name) => objectField(name) ?? (own === undefined ? FREE : own.field(name)));
}

function objectField(name: string): FieldType | undefined {
  if (TYPE_FIELDS.has(name)) return STRING;
  return name === 'metadata' ? builtinType('meta.ObjectMeta') : undefined;
}

function structuralType(schema: unknown): FieldType {
  if (!isMapping(schema)) return FREE;
  if (schema['x-kubernetes-int-or-string'] === true) return FREE_ATOMIC;
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.type === 'array') return structuralList(schema);
  if (schema.type !== 'object') return scalarOf(schema) ?? (keepsUnknown ? FREE : FREE_ATOMIC);

  const properties = isMapping(schema.properties) ? schema.properties : {};
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const others = othersOf(schema, properties, keepsUnknown);
  const declares = (name: string): boolean =>
    Object.hasOwn(properties, name) || (isEmbedded && objectField(name) !== undefined);
  return mapType(schema['x-kubernetes-map-type'] === 'atomic' ? 'atomic' : 'granular', declares, (name) => {
    const embedded = isEmbedded ? objectField(name) : undefined;
    if (embedded !== undefined) return embedded;
    return Object.hasOwn(properties, name) ? structuralType(properties[name]) : others();
  });
}

function scalarOf({ type, format = '' }: Mapping): ScalarType | undefined {
  // As there: texts of a format may be something else in other languages.
  if (type === 'string') return PLAIN_FORMATS.has(String(format)) ? STRING : ANY_SCALAR;
  if (type === 'boolean') return BOOLEAN;
  return type === 'integer' || type === 'number' ? NUMBER : undefined;
}

function othersOf(schema: Mapping, properties: Mapping, keepsUnknown: boolean): () => FieldType | undefined {
  const { additionalProperties } = schema;
  if (isMapping(additionalProperties)) return () => structuralType(additionalProperties);
  // Where nothing is said of what is in it, anything can be.
  const isOpen = additionalProperties === undefined && Object.keys(properties).length === 0;
  return () => (keepsUnknown || additionalProperties === true || isOpen ? FREE : undefined);
}

function structuralList(schema: Mapping): ListFieldType {
  const keys = schema['x-kubernetes-list-map-keys'];
  const listType = schema['x-kubernetes-list-type'];
  const items = isMapping(schema.items) ? schema.items : {};
  const fields = isMapping(items.properties) ? items.properties : {};
  const listKeys = Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  const defaults = listKeys.map((key) => {
    const field = fields[key];
    return [key, isMapping(field) ? field.default : undefined] as const;
  });
  return {
    is: 'list',
    relation: listType === 'set' || listType === 'map' ? listType : 'atomic',
    keys: listKeys,
    keyDefaults: Object.fromEntries(defaults.filter(([, value]) => value !== undefined)),
    of: structuralType(items),
  };
}

/** Fields are read once, when they are first asked for. */
function mapType(
  relation: MapFieldType['relation'],
  declares: (name: string) => boolean,
  read: (name: string) => FieldType | undefined,
): MapFieldType {
  const fields = new Map<string, FieldType | undefined>();
  return {
    is: 'map',
    relation,
    declares,
    field(name) {
      if (!fields.has(name)) {
        const type = read(name);
        // What can be named anything is not remembered by its names.
        if (type === undefined || type === FREE) return type;
        fields.set(name, type);
      }
      return fields.get(name);
    },
  };
}
