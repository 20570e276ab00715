/** Patches of objects, or of their subresources. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiAnswer } from '../../contracts/request.js';
import { parseWriteOptions, type WriteOptions } from '../../http/query-options.js';
import { mediaTypeOf, readPatch, unsupportedMediaType } from '../../http/request-bodies.js';
import { badRequest, invalid, notFound, StatusError } from '../../http/status-errors.js';
import { jsonPatch } from '../../patches/json.js';
import { mergePatch } from '../../patches/merge.js';
import { strategicPatch } from '../../patches/strategic.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';
import { typeNameOf } from '../../schemas/types.js';
import { invalidValue } from '../../text/field-causes.js';
import { goJson, goPlain } from '../../text/go-text.js';
import { duplicateFields, parseJson } from '../../text/json-syntax.js';
import { DecodingError } from '../../typed/decode.js';
import { restoringProblem } from '../../typed/restoring.js';
import { jsonTypeOf } from '../../typed/scalars.js';
import { apply } from './apply.js';
import { change } from './changing.js';
import { keepReset } from './field-managers.js';
import { checkName, settleNamespace, typeProblem } from './requested-object.js';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

const APPLY = 'application/apply-patch+yaml';

/** Is it an application, rather than a patch? */
export const isApplication = ({ request }: Call): boolean => mediaTypeOf(request.headers['content-type']) === APPLY;

export async function patch(backend: Backend, call: Call): Promise<ApiAnswer> {
  if (isApplication(call)) return await apply(backend, call);
  refuseUnknownType(call);
  const options = parseWriteOptions(call.query, 'PatchOptions');
  const applied = await readApplicable(backend, call);
  const text = await change(backend, call, {
    build: (current) => {
      const patched = applied(current);
      refuseUntyped(call, patched.result, options);
      const object = decodePatched(backend, call, patched, options);
      checkName(call, object);
      settleNamespace(call, object);
      return object;
    },
    options,
  });
  return jsonAnswer(200, text);
}

/** What a patch makes of an object, and how it is quoted when that is refused. */
export interface Patched {
  readonly result: unknown;
  readonly quoted?: string;
}

function refuseUnknownType(call: Call): { readonly type: string; readonly strategic: string | undefined } {
  const type = mediaTypeOf(call.request.headers['content-type']);
  const strategic = type === STRATEGIC ? strategicType(call) : undefined;
  if (type !== MERGE && type !== JSON_PATCH && strategic === undefined) throw unsupported(call);
  return { type, strategic };
}

/** How the patch of the request is applied to whatever it is applied to. Throws if that is not known. */
export async function readApplicable(backend: Backend, call: Call): Promise<(target: object) => Patched> {
  const { type, strategic } = refuseUnknownType(call);
  // Nobody reads what is for nothing.
  if (backend.store.get(call.served.collection, call.namespace, call.name) === undefined) {
    throw notFound(call.served, call.name);
  }
  const data = await readPatch(call.request, strategic === undefined ? 'error decoding patch: ' : '');
  if (type === JSON_PATCH) return (target) => ({ result: jsonPatch(target, data) });
  if (data === null && strategic === undefined) throw badRequest('Invalid JSON Patch');
  if (!isMapping(data ?? {})) {
    // Whoever does not want to know of unknown fields has it merged without a look at it.
    if (strategic === undefined && call.query.get('fieldValidation') === 'Ignore') throw unmergeable(data);
    const problem = `json: cannot unmarshal ${jsonTypeOf(data)} into Go value of type map[string]interface {}`;
    throw badRequest(strategic === undefined ? `error decoding patch: ${problem}` : problem);
  }
  const changes = (data ?? {}) as Mapping;
  if (strategic === undefined) return (target) => ({ result: mergePatch(target, changes) });
  return (target) => {
    const { merged, patch: rest } = strategicPatch(target, changes, strategic);
    const quoted = goPlain(rest);
    const problem = restoringProblem(merged, strategic);
    if (problem !== undefined) throw unreadable(quoted, problem);
    return { result: ofSameKind(merged, target), quoted };
  };
}

/** What it is said to be does not matter, as long as it is said: it is what it was. */
function ofSameKind(merged: unknown, target: object): unknown {
  if (!isMapping(merged)) return merged;
  const isSaid = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const { apiVersion, kind } = target as Mapping;
  return {
    ...merged,
    ...(isSaid(merged.apiVersion) && apiVersion !== undefined ? { apiVersion } : {}),
    ...(isSaid(merged.kind) && kind !== undefined ? { kind } : {}),
  };
}

/** What is no mapping replaces all there is; but only a list is taken for one there. */
function unmergeable(data: unknown): StatusError {
  if (!Array.isArray(data)) return badRequest('Invalid JSON Patch');
  const type =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const why = `json: cannot unmarshal array into Go value of type ${type}`;
  return unreadable(JSON.stringify(data), `couldn't get version/kind; json parse error: ${why}`);
}

/** Strategic patches are for built-in kinds: the type of what is patched. */
function strategicType({ served, subresource }: Call): string | undefined {
  if (served.type === undefined || subresource === '') return served.type;
  const about = served.subresources.find(({ name }) => name === subresource);
  if (about === undefined || about.kind === served.kind) return served.type;
  return typeNameOf(about.group ?? served.group, about.version ?? served.version, about.kind);
}

function unsupported(call: Call): StatusError {
  if (call.served.isCustom) return unsupportedMediaType(`${JSON_PATCH}, ${MERGE}, ${APPLY}`);
  return new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

function decodePatched(backend: Backend, call: Call, patched: Patched, options: WriteOptions): ServedObject {
  const { served } = call;
  const raw: Mapping = isMapping(patched.result) ? patched.result : {};
  const shown = (): string => patched.quoted ?? (served.isCustom ? goJson(raw) : JSON.stringify(sorted(raw)));
  // Unknown fields are dropped in place; but when they are the problem, they are to be seen.
  const before = options.fieldValidation === 'Strict' ? shown() : undefined;
  try {
    const problem = served.isCustom ? missingKind(raw) : typeProblem(backend, call, raw);
    if (problem !== undefined) throw new DecodingError(problem);
    const { object, unknownFields } = served.strategy.decode(raw);
    const told = [...fieldsOfPatch(call), ...[...unknownFields].sort().map((path) => `unknown field "${path}"`)];
    if (options.fieldValidation === 'Strict' && told.length > 0) {
      throw new DecodingError(`strict decoding error: ${told.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn') for (const text of told) call.warnings.push(text);
    keepReset(call, raw, object);
    return object;
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw unreadable(before ?? shown(), error.message);
  }
}

/** What says nothing of its version is no object of any kind: it has no name either. */
function refuseUntyped(call: Call, result: unknown, { fieldValidation }: WriteOptions): void {
  if (!isMapping(result)) return;
  const { apiVersion = '', kind = '' } = result;
  for (const value of [apiVersion, kind]) {
    if (value === null || typeof value === 'string') continue;
    throw unreadable(
      call.served.isCustom ? goJson(result) : JSON.stringify(sorted(result)),
      `couldn't get version/kind; json parse error: ${wrongTypeOf(result)}`,
    );
  }
  if (call.served.isCustom || (apiVersion !== '' && apiVersion !== null)) return;
  // What is merged by a strategic patch is read otherwise, and loses what it does not know without a word.
  if (mediaTypeOf(call.request.headers['content-type']) !== STRATEGIC) {
    const others = Object.keys(sorted(result)).filter((key) => key !== 'apiVersion' && key !== 'kind');
    const told = others.map((key) => `unknown field "${key}"`);
    if (fieldValidation === 'Warn') call.warnings.push(...told);
    if (fieldValidation === 'Strict' && told.length > 0) {
      throw unreadable(JSON.stringify(sorted(result)), `strict decoding error: ${told.join(', ')}`);
    }
  }
  throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
}

function wrongTypeOf({ apiVersion = '', kind = '' }: Mapping): string {
  const field = typeof apiVersion === 'string' || apiVersion === null ? 'kind' : 'apiVersion';
  const value = field === 'kind' ? kind : apiVersion;
  return `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${field} of type string`;
}

function missingKind(raw: Mapping): string | undefined {
  return (raw.kind ?? '') === '' ? `Object 'Kind' is missing in '${goJson(raw)}'` : undefined;
}

const OPERATION_FIELDS: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

/** What the patch itself says twice, or says without a meaning. */
function fieldsOfPatch({ request: { body } }: Call): readonly string[] {
  const data: unknown = typeof body === 'string' ? parseJson(body) : body;
  const duplicates = typeof body === 'string' ? duplicateFields(body, data) : [];
  if (!Array.isArray(data)) return duplicates.map((path) => `duplicate field "${path}"`);
  const unknown = data.flatMap((operation, index) =>
    Object.keys((operation ?? {}) as object)
      .filter((key) => !OPERATION_FIELDS.has(key))
      .map((key) => `[${index}].${key}`),
  );
  return [
    ...duplicates.map((path) => `json patch duplicate field "${path}"`),
    ...unknown.map((path) => `json patch unknown field "${path}"`),
  ];
}

/** The patch can be applied, but nothing comes of it. */
export function unreadable(quoted: string, problem: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', quoted, problem)]);
}

/** As maps are printed there. */
function sorted(raw: Mapping): Mapping {
  return Object.fromEntries(Object.entries(raw).sort(([a], [b]) => (a < b ? -1 : 1)));
}
