/** From the body of a request to an object of the kind, in the version of the request. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { readMetadata } from '../../crd/custom-resources.js';
import type { WriteOptions } from '../../http/query-options.js';
import { excerpt, mediaTypeOf, readObject, refuseUntyped, textOf } from '../../http/request-bodies.js';
import { badRequest, type StatusError } from '../../http/status-errors.js';
import type { Served } from '../../kinds/served.js';
import type { Backend, Call } from '../../routing/backend.js';
import { duplicateFields, firstOccurrences, numbersIn } from '../../text/json-syntax.js';
import { DecodingError } from '../../typed/decode.js';
import { keepReset } from './field-managers.js';

/** The object that a client wants to be there. */
export async function readRequested(backend: Backend, call: Call, options: WriteOptions): Promise<ServedObject> {
  const raw = await readObject(call.request, call.served.kind);
  const json = jsonOf(call);
  const duplicates = json === undefined ? [] : duplicateFields(json, raw);
  if (!call.served.isCustom) {
    // As there: it is read as what it says to be, and only then compared with what it should be.
    const other = otherVersion(backend, call, raw);
    if (other !== undefined) decodeRaw({ ...call, served: other }, raw, duplicates, options);
    checkType(backend, call, raw);
  }
  // What is overwritten further on is read as well: it must be of the right type.
  if (duplicates.length > 0 && !call.served.isCustom) {
    const first = firstOccurrences(json as string) as Mapping;
    refuseUntyped(call.request, first, call.served.kind);
    decodeRaw({ ...call, warnings: [] }, first, [], { ...options, fieldValidation: 'Ignore' });
  }
  return call.served.isCustom
    ? decodeCustom(backend, call, raw, duplicates, options)
    : decodeRaw(call, raw, duplicates, options);
}

/** What was read, as an object of the kind; unknown fields are refused or told of. */
function decodeRaw(call: Call, raw: Mapping, duplicates: readonly string[], options: WriteOptions): ServedObject {
  const { kind, version, strategy } = call.served;
  return read({ ...call, title: titleOf(kind, version), decode: strategy.decode }, raw, duplicates, options);
}

interface Reading extends Call {
  readonly title: string;
  decode(raw: Mapping): { readonly object: Mapping; readonly unknownFields: readonly string[] };
}

function read(call: Reading, raw: Mapping, duplicates: readonly string[], options: WriteOptions): ServedObject {
  const { title } = call;
  try {
    if (call.served.isCustom) refuseEndless(call);
    const { object: decoded, unknownFields } = call.decode(raw);
    const object = decoded as ServedObject;
    const told = [
      ...duplicates.map((path) => `duplicate field "${path}"`),
      ...unknownFields.map((path) => `unknown field "${path}"`),
    ];
    if (options.fieldValidation === 'Strict' && told.length > 0) {
      throw badRequest(`${title}: strict decoding error: ${told.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn') for (const text of told) call.warnings.push(text);
    keepReset(call, raw, object);
    return object;
  } catch (error) {
    if (error instanceof DecodingError) throw badRequest(`${title}: ${error.message}`);
    throw error;
  }
}

/** The text as it was sent, if it is JSON: in YAML, what looks like a number may be the beginning of a word. */
function jsonOf({ request: { body, headers } }: Call): string | undefined {
  return typeof body === 'string' && mediaTypeOf(headers['content-type']) !== 'application/yaml' ? body : undefined;
}

/** Numbers that are too big for any type would become none. */
function refuseEndless(call: Call): void {
  const json = jsonOf(call);
  if (json === undefined || !/[eE]\+?\d{3}/.test(json)) return;
  const endless = numbersIn(json).find((number) => !Number.isFinite(Number(number)));
  if (endless !== undefined) {
    throw new DecodingError(`json: cannot unmarshal number ${endless} into Go value of type float64`);
  }
}

/** Built-in kinds need not say what they are, but must not say that they are something else. */
export function checkType(backend: Backend, call: Call, raw: Mapping): void {
  const { served } = call;
  const problem = typeProblem(backend, call, raw);
  if (problem === undefined) return;
  const { apiVersion, kind } = typeOf(call, raw);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  if (version.includes('/')) {
    const why = `unexpected GroupVersion string: ${apiVersion} (${excerpt(textOf(call.request))})`;
    throw badRequest(`the object provided is unrecognized (must be of type ${served.kind}): ${why}`);
  }
  if (otherVersion(backend, call, raw) !== undefined) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
    );
  }
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${served.kind}: ${problem}`);
}

/** Another version in which the same objects are served, if that is what the object is of. */
function otherVersion({ catalog }: Backend, call: Call, raw: Mapping): Served | undefined {
  const { served } = call;
  const { apiVersion, kind } = typeOf(call, raw);
  if (apiVersion === served.apiVersion || kind !== served.kind) return undefined;
  const other = catalog.findKind(served.group, apiVersion.slice(apiVersion.indexOf('/') + 1), kind);
  return other?.collection === served.collection && other.apiVersion === apiVersion ? other : undefined;
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

const titleOf = (kind: string, version: string): string =>
  `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;

/** Custom objects are read as what they say to be, and only then compared with what they should be. */
function decodeCustom(
  backend: Backend,
  call: Call,
  raw: Mapping,
  duplicates: readonly string[],
  options: WriteOptions,
): ServedObject {
  const { served, request } = call;
  const { apiVersion = '', kind = '' } = raw as { apiVersion?: string | null; kind?: string | null };
  const text = textOf(request);
  const unrecognized = (why: string): StatusError =>
    badRequest(`the object provided is unrecognized (must be of type ${served.kind}): ${why} (${excerpt(text)})`);
  if (kind === '' || kind === null) {
    const why = `Object 'Kind' is missing in '${text}'`;
    // As there: whoever does not want to be told of unknown fields is read by another reader.
    if (options.fieldValidation === 'Ignore') throw badRequest(`${titleOf(served.kind, served.version)}: ${why}`);
    throw unrecognized(why);
  }
  if (apiVersion === null) {
    const why = '.apiVersion accessor error: <nil> is of the type <nil>, expected string';
    throw badRequest(`${titleOf(kind, '')}: ${why}`);
  }
  const [group, version, ...more] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  if (more.length > 0) throw unrecognized(`unexpected GroupVersion string: ${apiVersion}`);
  const decode = decoderOf(backend, call, apiVersion, kind === served.kind && group === served.group);
  const object = read({ ...call, title: titleOf(kind, version ?? ''), decode }, raw, duplicates, options);
  if (apiVersion !== served.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
    );
  }
  return object;
}

/** By the schema of the version that the object says to be of; without one, nothing is known but its metadata. */
function decoderOf(
  { catalog, decode }: Backend,
  { served }: Call,
  apiVersion: string,
  isOfKind: boolean,
): Reading['decode'] {
  if (isOfKind) {
    const known = catalog.versionsOf(served.collection).find((one) => one.apiVersion === apiVersion);
    if (known !== undefined) return known.strategy.decode;
  }
  return (raw) => {
    const { object: metadata, unknownFields } = readMetadata(decode, raw.metadata);
    const others = isOfKind ? Object.keys(raw).filter((key) => !TYPED.has(key)) : [];
    return {
      object: { ...raw, metadata },
      unknownFields: [...unknownFields.map((path) => `metadata.${path}`), ...others].sort(),
    };
  };
}

const TYPED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

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
