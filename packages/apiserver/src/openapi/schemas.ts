/**
 * The schemas of kinds as clients see them in OpenAPI 3: of built-in kinds by the table of types, of custom ones by
 * their definitions. They are those of the real server, down to the texts.
 */
import { isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import type { JsonSchema } from '../contracts/schema.js';
import type { Descriptions } from '../schemas/descriptions.js';
import { type Field, type Scalar, type TypeRef, typeNamed, typeNameOf } from '../schemas/types.js';

/** A kind of which there is a schema. */
export interface Described {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
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

const PLAIN: Readonly<Partial<Record<Scalar, object>>> = {
  s: { type: 'string' },
  b: { type: 'boolean' },
  i: { type: 'integer', format: 'int32' },
  l: { type: 'integer', format: 'int64' },
  f: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** Items of lists and mappings are never absent, so they have defaults. */
const ZEROS: Readonly<Partial<Record<Scalar, unknown>>> = { s: '', b: false, i: 0, l: 0, f: 0 };

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

/** Scalars that have schemas of their own: what these are called, where their texts are, and what they are. */
const NAMED: Readonly<
  Partial<Record<Scalar, { readonly name: string; readonly text: string; readonly schema: object }>>
> = {
  time: { name: `${META}.Time`, text: 'meta.Time', schema: { type: 'string', format: 'date-time' } },
  micro: { name: `${META}.MicroTime`, text: 'meta.MicroTime', schema: { type: 'string', format: 'date-time' } },
  fields: { name: `${META}.FieldsV1`, text: 'meta.FieldsV1', schema: { type: 'object' } },
  quantity: named('io.k8s.apimachinery.pkg.api.resource.Quantity', {
    oneOf: [{ type: 'string' }, { type: 'number' }],
  }),
  intstr: named('io.k8s.apimachinery.pkg.util.intstr.IntOrString', {
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  }),
  raw: named('io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'object' }),
  json: { name: `${EXTENSIONS}.JSON`, text: 'apiextensions.JSON', schema: {} },
  propsOrBool: extension('JSONSchemaPropsOrBool'),
  propsOrArray: extension('JSONSchemaPropsOrArray'),
  propsOrStrings: extension('JSONSchemaPropsOrStringArray'),
};

function named(name: string, schema: object): { name: string; text: string; schema: object } {
  return { name, text: name, schema };
}

function extension(kind: string): { name: string; text: string; schema: object } {
  return { name: `${EXTENSIONS}.${kind}`, text: `apiextensions.${kind}`, schema: {} };
}

/** Packages of the table whose types are called otherwise than `io.k8s.api.<package>.<version>`. */
const PACKAGES: Readonly<Record<string, string>> = {
  meta: META,
  apiextensions: EXTENSIONS,
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
};

/** Types that every group has as its own. */
const SHARED: ReadonlySet<string> = new Set(['meta.DeleteOptions', 'meta.WatchEvent']);

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
const EMBEDDED = {
  apiVersion: `apiVersion defines the versioned schema of this representation of an object. More info: ${CONVENTIONS}#resources`,
  kind: `kind is a string value representing the type of this object. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
};

export function makeComponents(
  descriptions: Descriptions,
  document: { readonly group: string; readonly version: string },
): Components {
  const schemas = new Map<string, object>();
  const textOf = (type: string, field = ''): object => {
    const description = descriptions[type]?.[field];
    return description === undefined ? {} : { description };
  };

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
    const { fields, isAtomic, kind, unions } = typeNamed(name);
    const sorted = [...fields].sort((a, b) => (a.name < b.name ? -1 : 1));
    const required = fields.filter(({ isRequired }) => isRequired).map((field) => field.name);
    const kinds = SHARED.has(name) ? sharedKinds(name, document) : kind === undefined ? [] : [kind];
    return {
      ...textOf(name),
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      ...(fields.length > 0
        ? { properties: Object.fromEntries(sorted.map((field) => [field.name, fieldSchema(name, field)])) }
        : {}),
      ...(kinds.length > 0 ? { 'x-kubernetes-group-version-kind': kinds } : {}),
      ...(isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...(unions === undefined ? {} : { 'x-kubernetes-unions': unions }),
    };
  };
  const fieldSchema = (owner: string, field: Field): object => {
    const { type, values, listType, listKeys, mapType, mergeKey, patchStrategies } = field;
    const about = {
      ...textOf(owner, field.name),
      ...(field.default === undefined ? {} : { default: field.default }),
      ...(listKeys.length > 0 ? { 'x-kubernetes-list-map-keys': listKeys } : {}),
      ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
      ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
      ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
      ...(patchStrategies.length > 0 ? { 'x-kubernetes-patch-strategy': patchStrategies.join(',') } : {}),
    };
    return withNotes(schemaOf(type, values), about);
  };
  const schemaOf = (type: TypeRef, values: Field['values']): object => {
    if (type.is === 'list') return { type: 'array', items: itemSchema(type.of, values) };
    if (type.is === 'map') return { type: 'object', additionalProperties: itemSchema(type.of, values) };
    if (type.is === 'struct') return ofType(type.name);
    const own = NAMED[type.scalar];
    if (own !== undefined) return referTo(own.name, () => ({ ...textOf(own.text), ...own.schema }));
    return { ...PLAIN[type.scalar], ...(values === undefined ? {} : { enum: values }) };
  };
  const itemSchema = (type: TypeRef, values: Field['values']): object => {
    const zero = type.is === 'struct' ? {} : type.is === 'scalar' ? ZEROS[type.scalar] : undefined;
    return withNotes(schemaOf(type, values), zero === undefined ? {} : { default: zero });
  };

  const metadata = (): object => withNotes(ofType('meta.ObjectMeta'), textOf('core.ConfigMap', 'metadata'));
  const objectFields = (): Mapping => ({
    apiVersion: { ...PLAIN.s, ...textOf('core.ConfigMap', 'apiVersion') },
    kind: { ...PLAIN.s, ...textOf('core.ConfigMap', 'kind') },
    metadata: metadata(),
  });
  /** Whatever the definition says of them, type and metadata are as they are everywhere. */
  const customSchema = (schema: JsonSchema): Mapping => {
    const { properties, ...rest } = structuralSchema(schema);
    // Without a schema that would say so, there may be anything.
    if (schema.type === undefined && properties === undefined) {
      return { ...rest, type: 'object', properties: objectFields() };
    }
    return { ...rest, properties: { ...(isMapping(properties) ? properties : {}), ...objectFields() } };
  };
  /** Some things are left to the server in definitions; clients are told of them. */
  const structuralSchema = (schema: JsonSchema): Mapping => {
    const result: Mapping = { ...schema };
    if (schema['x-kubernetes-int-or-string'] === true) result.anyOf ??= [{ type: 'integer' }, { type: 'string' }];
    for (const key of ['items', 'additionalProperties']) {
      const inner = schema[key];
      if (isMapping(inner)) result[key] = structuralSchema(inner);
    }
    if (isMapping(schema.properties)) {
      const properties: Mapping = {};
      for (const [name, inner] of Object.entries(schema.properties)) {
        setOwn(properties, name, isMapping(inner) ? structuralSchema(inner) : inner);
      }
      result.properties = properties;
    }
    return schema['x-kubernetes-embedded-resource'] === true ? embeddedSchema(result) : result;
  };
  const embeddedSchema = (schema: Mapping): Mapping => {
    const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
    return {
      ...schema,
      required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
      properties: {
        ...(isMapping(schema.properties) ? schema.properties : {}),
        apiVersion: { ...PLAIN.s, description: EMBEDDED.apiVersion },
        kind: { ...PLAIN.s, description: EMBEDDED.kind },
        metadata: metadata(),
      },
    };
  };
  const ofKind = (one: Described): object => {
    // Logs, commands and proxies are of no kind: they answer with texts.
    if (one.kind === '' || one.type === '' || one.type === '.') return { ...PLAIN.s };
    if (one.type !== undefined) return ofType(one.type);
    return referTo(customNameOf(one), () => ({
      ...customSchema(one.schema ?? {}),
      'x-kubernetes-group-version-kind': [kindOf(one)],
    }));
  };
  const ofCustomList = (one: Described, listKind: string): object =>
    referTo(customNameOf({ ...one, kind: listKind }), () => ({
      description: `${listKind} is a list of ${one.kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        ...objectFields(),
        items: {
          description: `List of ${one.plural}. More info: ${CONVENTIONS}`,
          type: 'array',
          items: ofKind(one),
        },
        metadata: withNotes(ofType('meta.ListMeta'), textOf('core.PodList', 'metadata')),
      },
      'x-kubernetes-group-version-kind': [kindOf({ ...one, kind: listKind })],
    }));

  return {
    ofKind,
    ofList(one, listKind) {
      const type = typeNameOf(one.group, one.version, listKind);
      return type === undefined || one.type === undefined ? ofCustomList(one, listKind) : ofType(type);
    },
    ofType,
    all: () => Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** References can have no neighbours, unless they are wrapped. */
function withNotes(schema: object, notes: object): object {
  if (Object.keys(notes).length === 0) return schema;
  return '$ref' in schema ? { ...notes, allOf: [schema] } : { ...notes, ...schema };
}

function sharedKinds(name: string, { group, version }: { readonly group: string; readonly version: string }): object[] {
  const kind = name.slice(name.indexOf('.') + 1);
  const core = { group: '', version: 'v1', kind };
  return group === '' ? [core] : [core, { group, version, kind }];
}

/** How operations and schemas say of which kind they are. */
export function kindOf({ group, version, kind }: Pick<Described, 'group' | 'version' | 'kind'>): object {
  return { group, version, kind };
}

/** `io.k8s.api.core.v1.Pod` for `core.Pod`, `io.k8s.api.autoscaling.v2.MetricSpec` for `autoscaling.v2.MetricSpec`. */
function componentNameOf(type: string): string {
  const [, pack = '', version = 'v1', name = ''] = /^([^.]+)\.(?:(v\w+)\.)?(.+)$/.exec(type) ?? [];
  return `${PACKAGES[pack] ?? `io.k8s.api.${pack}.${version}`}.${name}`;
}

/** Custom ones are called by their groups read backwards. */
function customNameOf({ group, version, kind }: Described): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}
