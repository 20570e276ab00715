/** The description of the whole API in OpenAPI 2, made of those in OpenAPI 3: some clients still ask for it. */
import { isMapping, type Mapping, setOwn } from '@kopf-ts/core';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Mapping[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Mapping }>> };
  readonly responses: Readonly<Record<string, Mapping>>;
}

/** What is common to all documents of OpenAPI 3 here. */
export interface VersionThree {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, Mapping>>;
  readonly components: { readonly schemas: Readonly<Record<string, Mapping>> };
}

const PRODUCED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

export function versionTwo(documents: readonly VersionThree[]): Mapping {
  const paths: Mapping = {};
  const definitions: Mapping = {};
  for (const { paths: all, components } of documents) {
    for (const [path, item] of Object.entries(all)) paths[path] = pathItem(item);
    for (const [name, schema] of Object.entries(components.schemas)) {
      definitions[name] = withKinds(oldSchema(schema), definitions[name]);
    }
  }
  const bearer = { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' };
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: sorted(paths),
    definitions: sorted(definitions),
    securityDefinitions: { BearerToken: bearer },
    security: [{ BearerToken: [] }],
  };
}

const KINDS = 'x-kubernetes-group-version-kind';

/** What each group has for its own is of the kinds of all groups here. */
function withKinds(schema: Mapping, known: unknown): Mapping {
  if (!isMapping(known) || !Array.isArray(known[KINDS]) || !Array.isArray(schema[KINDS])) return schema;
  const kinds = [...(known[KINDS] as Mapping[]), ...(schema[KINDS] as Mapping[])];
  const unique = new Map(kinds.map((one) => [JSON.stringify([one.group, one.version, one.kind]), one]));
  return { ...schema, [KINDS]: [...unique.values()] };
}

function pathItem({ parameters, ...operations }: Mapping): Mapping {
  const entries = Object.entries(operations).map(([method, one]) => [method, operation(one as Operation)]);
  return {
    ...Object.fromEntries(entries),
    ...(Array.isArray(parameters) ? { parameters: parameters.map(parameter) } : {}),
  };
}

function operation({ requestBody, parameters = [], responses, ...rest }: Operation): Mapping {
  const content = Object.entries(requestBody?.content ?? {});
  const schema = content[0]?.[1].schema;
  const isPatch = rest.operationId.startsWith('patch');
  const body = { name: 'body', in: 'body', required: true, schema: schema === undefined ? {} : oldSchema(schema) };
  return {
    ...rest,
    consumes: isPatch ? content.map(([type]) => type) : ['*/*'],
    produces: PRODUCED,
    schemes: ['https'],
    parameters: [...(requestBody === undefined ? [] : [body]), ...parameters.map(parameter)],
    responses: Object.fromEntries(Object.entries(responses).map(([code, one]) => [code, response(one)])),
  };
}

function parameter(one: unknown): Mapping {
  const { schema, ...rest } = one as Mapping;
  return { ...rest, ...(isMapping(schema) ? schema : {}) };
}

function response({ description, content }: Mapping): Mapping {
  const json = isMapping(content) ? content['application/json'] : undefined;
  return { description, ...(isMapping(json) && isMapping(json.schema) ? { schema: oldSchema(json.schema) } : {}) };
}

/** What could not be said then is left out: alternatives, defaults, nulls. */
function oldSchema(schema: Mapping): Mapping {
  const { allOf, oneOf, anyOf: _any, not: _not, default: _default, nullable, ...rest } = schema;
  const result: Mapping = rest;
  const wrapped = Array.isArray(allOf) && isMapping(allOf[0]) ? allOf[0].$ref : undefined;
  if (typeof wrapped === 'string') result.$ref = wrapped;
  if (typeof result.$ref === 'string') result.$ref = result.$ref.replace('#/components/schemas/', '#/definitions/');
  if (Array.isArray(oneOf) && result.type === undefined) result.type = 'string';
  if (nullable === true) delete result.type;
  if (result['x-kubernetes-preserve-unknown-fields'] === true) {
    for (const key of ['type', 'properties', 'required']) delete result[key];
  }
  for (const key of ['items', 'additionalProperties']) {
    const inner = result[key];
    if (isMapping(inner)) result[key] = oldSchema(inner);
  }
  if (isMapping(result.properties)) {
    const properties: Mapping = {};
    for (const [name, inner] of Object.entries(result.properties)) {
      setOwn(properties, name, isMapping(inner) ? oldSchema(inner) : inner);
    }
    result.properties = properties;
  }
  return result;
}

function sorted(entries: Mapping): Mapping {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
}
