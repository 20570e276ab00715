/** From the body of a request to an object of the kind, in the version of the request. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { WriteOptions } from '../../http/query-options.js';
import { excerpt, mediaTypeOf, readObject, textOf } from '../../http/request-bodies.js';
import { badRequest } from '../../http/status-errors.js';
import type { Backend, Call } from '../../routing/backend.js';
import { duplicateFields, numbersIn } from '../../text/json-syntax.js';
import { DecodingError } from '../../typed/decode.js';

/** The object that a client wants to be there. */
export async function readRequested(backend: Backend, call: Call, options: WriteOptions): Promise<ServedObject> {
  const raw = await readObject(call.request, call.served.kind);
  checkType(backend, call, raw);
  const { body, headers } = call.request;
  const isJson = typeof body === 'string' && mediaTypeOf(headers['content-type']) !== 'application/yaml';
  const duplicates = isJson ? duplicateFields(body, raw) : [];
  return decodeRaw(call, raw, duplicates, options);
}

/** What was read, as an object of the kind; unknown fields are refused or told of. */
function decodeRaw(call: Call, raw: Mapping, duplicates: readonly string[], options: WriteOptions): ServedObject {
  const { served } = call;
  const title = `${served.kind} in version "${served.version}" cannot be handled as a ${served.kind}`;
  try {
    if (served.isCustom) refuseEndless(call);
    const { object, unknownFields } = served.strategy.decode(raw);
    const told = [
      ...duplicates.map((path) => `duplicate field "${path}"`),
      ...unknownFields.map((path) => `unknown field "${path}"`),
    ];
    if (options.fieldValidation === 'Strict' && told.length > 0) {
      throw badRequest(`${title}: strict decoding error: ${told.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn') for (const text of told) call.warnings.push(text);
    return object;
  } catch (error) {
    if (error instanceof DecodingError) throw badRequest(`${title}: ${error.message}`);
    throw error;
  }
}

/** Numbers that are too big for any type would become none. */
function refuseEndless(call: Call): void {
  const { body } = call.request;
  if (typeof body !== 'string' || !/[eE]\+?\d{3}/.test(body)) return;
  const endless = numbersIn(body).find((number) => !Number.isFinite(Number(number)));
  if (endless !== undefined) {
    throw new DecodingError(`json: cannot unmarshal number ${endless} into Go value of type float64`);
  }
}

/** Built-in kinds need not say what they are, but must not say that they are something else. */
export function checkType(backend: Backend, call: Call, raw: Mapping): void {
  const { served } = call;
  if (served.isCustom) {
    checkCustomType(call, raw);
    return;
  }
  const problem = typeProblem(backend, call, raw);
  if (problem === undefined) return;
  const { apiVersion, kind } = typeOf(call, raw);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${served.kind}: ${problem}`);
}

function typeOf({ served }: Call, raw: Mapping): { readonly apiVersion: string; readonly kind: string } {
  return {
    apiVersion: typeof raw.apiVersion === 'string' && raw.apiVersion !== '' ? raw.apiVersion : served.apiVersion,
    kind: typeof raw.kind === 'string' && raw.kind !== '' ? raw.kind : served.kind,
  };
}

/** Kinds that are no resources. */
const OF_EVERY_VERSION: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
]);
const OF_THE_CORE: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'List',
  'Status',
]);

/** What is wrong with the kind that an object says to be of, if it is not that of the request. */
export function typeProblem({ catalog }: Backend, call: Call, raw: Mapping): string | undefined {
  const { served } = call;
  const { apiVersion, kind } = typeOf(call, raw);
  if (apiVersion === served.apiVersion && kind === served.kind) return undefined;
  const slash = apiVersion.indexOf('/');
  const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)];
  const isOfList = kind.endsWith('List') && isBuiltin(catalog.findKind(group, version, kind.slice(0, -4)));
  const isGeneral =
    (OF_EVERY_VERSION.has(kind) && isServedGroup(catalog, group)) || (apiVersion === 'v1' && OF_THE_CORE.has(kind));
  if (!isOfList && !isGeneral && !isBuiltin(catalog.findKind(group, version, kind))) {
    return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  }
  const own = served.group === '' ? 'core' : served.group.split('.')[0];
  return `converting (${version}.${kind}) to (${own}.${served.kind}): unknown conversion`;
}

const isBuiltin = (served: { readonly isCustom: boolean } | undefined): boolean => served?.isCustom === false;
const isServedGroup = (catalog: Backend['catalog'], group: string): boolean =>
  group === '' || catalog.isBuiltinGroup(group);

function checkCustomType(call: Call, raw: Mapping): void {
  const { served, request } = call;
  const missing = raw.kind === undefined || raw.kind === '' ? 'Kind' : undefined;
  const text = textOf(request);
  const unrecognized = `the object provided is unrecognized (must be of type ${served.kind})`;
  if (missing !== undefined) {
    throw badRequest(`${unrecognized}: Object '${missing}' is missing in '${text}' (${excerpt(text)})`);
  }
  if (raw.apiVersion !== served.apiVersion) {
    throw badRequest(
      `the API version in the data (${String(raw.apiVersion ?? '')}) does not match the expected API version (${served.apiVersion})`,
    );
  }
}

/** The namespace of the object is that of the request, unless it contradicts. */
export function settleNamespace(call: Call, object: ServedObject): void {
  const { served, namespace } = call;
  const given = object.metadata.namespace ?? '';
  if (!served.namespaced) delete object.metadata.namespace;
  else if (given === '') object.metadata.namespace = namespace;
  else if (given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** The name of the object must be that of the request. */
export function checkName(call: Call, object: ServedObject): void {
  const given = object.metadata.name ?? '';
  if (given === '') {
    throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
  }
  if (given !== call.name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${call.name})`);
  }
}
