/** Patches of objects, or of their subresources. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiAnswer } from '../../contracts/request.js';
import { parseWriteOptions, type WriteOptions } from '../../http/query-options.js';
import { mediaTypeOf, readPatch, unsupportedMediaType } from '../../http/request-bodies.js';
import { badRequest, invalid, StatusError } from '../../http/status-errors.js';
import { jsonPatch } from '../../patches/json.js';
import { mergePatch } from '../../patches/merge.js';
import { beyondMerging } from '../../patches/strategic.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';
import { invalidValue } from '../../text/field-causes.js';
import { goJson } from '../../text/go-text.js';
import { DecodingError } from '../../typed/decode.js';
import { jsonTypeOf } from '../../typed/scalars.js';
import { change } from './changing.js';
import { checkName, settleNamespace, typeProblem } from './requested-object.js';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

export async function patch(backend: Backend, call: Call): Promise<ApiAnswer> {
  const apply = await readApplicable(call);
  const options = parseWriteOptions(call.query, 'PatchOptions');
  const text = await change(backend, call, {
    build: (current) => {
      const object = decodePatched(backend, call, apply(current), options);
      checkName(call, object);
      settleNamespace(call, object);
      return object;
    },
    options,
  });
  return jsonAnswer(200, text);
}

/** How the patch of the request is applied to whatever it is applied to. Throws if that is not known. */
export async function readApplicable(call: Call): Promise<(target: object) => unknown> {
  const type = mediaTypeOf(call.request.headers['content-type']);
  const strategic = type === STRATEGIC ? strategicType(call) : undefined;
  if (type !== MERGE && type !== JSON_PATCH && strategic === undefined) throw unsupported(call);
  const data = await readPatch(call.request);
  if (type === JSON_PATCH) return (target) => jsonPatch(target, data);
  if (data === null) throw badRequest('Invalid JSON Patch');
  if (!isMapping(data)) {
    const problem = `json: cannot unmarshal ${jsonTypeOf(data)} into Go value of type map[string]interface {}`;
    throw badRequest(strategic === undefined ? `error decoding patch: ${problem}` : problem);
  }
  const beyond = strategic === undefined ? undefined : beyondMerging(data, strategic);
  if (beyond !== undefined) {
    const what = `${beyond}: this server supports no strategic merge patches with directives or of lists with merge keys`;
    throw new StatusError(415, 'UnsupportedMediaType', what, {});
  }
  return (target) => mergePatch(target, data);
}

/** Strategic patches are for built-in kinds: the type of what is patched, if it is the object itself. */
function strategicType({ served, subresource }: Call): string | undefined {
  const isOfObject =
    subresource === '' || served.subresources.some(({ name, kind }) => name === subresource && kind === served.kind);
  return isOfObject ? served.type : undefined;
}

/** Apply patches are not served yet, so they are not among what is told to be accepted. */
function unsupported(call: Call): StatusError {
  if (call.served.isCustom) return unsupportedMediaType(`${JSON_PATCH}, ${MERGE}`);
  return new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

function decodePatched(backend: Backend, call: Call, patched: unknown, options: WriteOptions): ServedObject {
  const { served } = call;
  const raw: Mapping = isMapping(patched) ? patched : {};
  const shown = (): string => (served.isCustom ? goJson(raw) : JSON.stringify(sorted(raw)));
  // Unknown fields are dropped in place; but when they are the problem, they are to be seen.
  const before = options.fieldValidation === 'Strict' ? shown() : undefined;
  try {
    const problem = served.isCustom ? undefined : typeProblem(backend, call, raw);
    if (problem !== undefined) throw new DecodingError(problem);
    const { object, unknownFields } = served.strategy.decode(raw);
    const told = unknownFields.map((path) => `unknown field "${path}"`);
    if (options.fieldValidation === 'Strict' && told.length > 0) {
      throw new DecodingError(`strict decoding error: ${told.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn') for (const text of told) call.warnings.push(text);
    return object;
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw invalid({ group: '', kind: '' }, '', [invalidValue('patch', before ?? shown(), error.message)]);
  }
}

/** As maps are printed there. */
function sorted(raw: Mapping): Mapping {
  return Object.fromEntries(Object.entries(raw).sort(([a], [b]) => (a < b ? -1 : 1)));
}
