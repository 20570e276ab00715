/** The schemas of kinds as clients see them: of built-in kinds by the table of types, of custom ones by definitions. */
import { isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import type { JsonSchema } from '../contracts/schema.js';
import { type Scalar, type TypeRef, typeReader } from '../typed/fields.js';

/** A kind of which there is a schema. */
export interface Described {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Its name in the table of types, if it is built in. */
  readonly type?: string;
  /** As its definition has it, if it is custom. */
  readonly schema?: JsonSchema;
}

/** The schemas of one document: each with all that it refers to. */
export interface Components {
  /** A reference to the schema of the kind. */
  ofKind(kind: Described): object;
  /** A reference to the schema of lists of the kind. */
  ofList(kind: Described, listKind: string): object;
  /** A reference to a type of the table. */
  ofType(name: string): object;
  /** All that was referred to, by name. */
  all(): Readonly<Record<string, object>>;
}

const SCALARS: Readonly<Record<Scalar, object>> = {
  s: { type: 'string' },
  b: { type: 'boolean' },
  i: { type: 'integer', format: 'int32' },
  l: { type: 'integer', format: 'int64' },
  f: { type: 'number', format: 'double' },
  time: { type: 'string', format: 'date-time' },
  micro: { type: 'string', format: 'date-time' },
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  intstr: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  bytes: { type: 'string', format: 'byte' },
  any: {},
  propsOrBool: {},
  propsOrArray: {},
  propsOrStrings: {},
};

/** Packages of the table whose types are called otherwise than `io.k8s.api.<package>.v1`. */
const PACKAGES: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.meta.v1',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
};

const LIST_METADATA = {
  type: 'object',
  properties: {
    continue: { type: 'string' },
    remainingItemCount: { type: 'integer', format: 'int64' },
    resourceVersion: { type: 'string' },
    selfLink: { type: 'string' },
  },
};

export function makeComponents(): Components {
  const typeOf = typeReader();
  const schemas = new Map<string, object>();

  const referTo = (name: string, build: () => object): object => {
    if (!schemas.has(name)) {
      // Its place is taken first: types refer to themselves.
      schemas.set(name, {});
      schemas.set(name, build());
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const ofType = (name: string): object => referTo(componentNameOf(name), () => structSchema(name));
  const structSchema = (name: string): Mapping => {
    const { fields } = typeOf(name);
    const properties = Object.fromEntries(fields.map((field) => [field.name, schemaOf(field.type)]));
    // What is required is left to the server to say: the table knows only what is always written.
    return { type: 'object', ...(fields.length > 0 ? { properties } : {}) };
  };
  const schemaOf = (type: TypeRef): object => {
    if (type.is === 'list') return { type: 'array', items: schemaOf(type.of) };
    if (type.is === 'map') return { type: 'object', additionalProperties: schemaOf(type.of) };
    return type.is === 'struct' ? ofType(type.name) : SCALARS[type.scalar];
  };
  const customSchema = (schema: JsonSchema): Mapping => {
    const { properties, ...rest } = typedIntOrStrings(schema);
    return {
      ...rest,
      properties: {
        ...(isMapping(properties) ? properties : {}),
        // Whatever the definition says of them, they are as they are everywhere.
        apiVersion: SCALARS.s,
        kind: SCALARS.s,
        metadata: ofType('meta.ObjectMeta'),
      },
    };
  };
  const ofKind = (one: Described): object =>
    referTo(componentOf(one), () => ({
      ...(one.type === undefined ? customSchema(one.schema ?? {}) : structSchema(one.type)),
      'x-kubernetes-group-version-kind': [kindOf(one)],
    }));

  return {
    ofKind,
    ofList: (one, listKind) =>
      referTo(componentOf({ ...one, kind: listKind }), () => ({
        type: 'object',
        required: ['items'],
        properties: {
          apiVersion: SCALARS.s,
          items: { type: 'array', items: ofKind(one) },
          kind: SCALARS.s,
          metadata: referTo(componentNameOf('meta.ListMeta'), () => LIST_METADATA),
        },
        'x-kubernetes-group-version-kind': [kindOf({ ...one, kind: listKind })],
      })),
    ofType,
    all: () => Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** How operations and schemas say of which kind they are. */
export function kindOf({ group, version, kind }: Described): object {
  return { group, version, kind };
}

function componentNameOf(type: string): string {
  const [pack = '', name = ''] = type.split('.');
  return `${PACKAGES[pack] ?? `io.k8s.api.${pack}.v1`}.${name}`;
}

/** Custom ones are called by their groups read backwards. */
function componentOf({ group, version, kind, type }: Described): string {
  if (type !== undefined) return componentNameOf(`${type.split('.')[0]}.${kind}`);
  return [...group.split('.').reverse(), version, kind].join('.');
}

/** Such values have no type in definitions; for clients, they have two. */
function typedIntOrStrings(schema: JsonSchema): Mapping {
  const result: Mapping = { ...schema };
  if (schema['x-kubernetes-int-or-string'] === true) result.anyOf ??= [{ type: 'integer' }, { type: 'string' }];
  for (const key of ['items', 'additionalProperties']) {
    const inner = schema[key];
    if (isMapping(inner)) result[key] = typedIntOrStrings(inner);
  }
  if (isMapping(schema.properties)) {
    const properties: Mapping = {};
    for (const [name, inner] of Object.entries(schema.properties)) {
      setOwn(properties, name, isMapping(inner) ? typedIntOrStrings(inner) : inner);
    }
    result.properties = properties;
  }
  return result;
}
