/** The body of a request: from text to an object, with the refusals that kube-apiserver would give. */
import { deepCopy, isMapping, type Mapping } from '@kopf-ts/core';
import type { Document, LineCounter } from 'yaml';
import type { ApiRequest } from '../contracts/request.js';
import { parseJson } from '../text/json-syntax.js';
import { jsonTypeOf } from '../typed/scalars.js';
import { badRequest, StatusError } from './status-errors.js';

const READABLE = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** `application/json; charset=utf-8` → `application/json`. */
export function mediaTypeOf(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

export function unsupportedMediaType(accepted: string): StatusError {
  return new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}

/** The data of a body that is no patch. An empty body is `undefined`. Throws a `SyntaxError` with the reason. */
export async function readData(request: ApiRequest): Promise<unknown> {
  const { body } = request;
  if (typeof body === 'object') return deepCopy(body);
  const type = mediaTypeOf(request.headers['content-type']);
  if (type !== '' && type !== 'application/json' && type !== 'application/yaml') throw unsupportedMediaType(READABLE);
  if (body === undefined || body === '') return undefined;
  if (type !== 'application/yaml') return parseJson(body);
  const { parse } = await import('yaml');
  try {
    // As there: where `yes` is a boolean, the last of equal keys counts, and so does the first of several documents.
    return parse(firstDocument(body), { maxAliasCount: 100, version: '1.1', uniqueKeys: false });
  } catch (error) {
    throw new SyntaxError(`yaml: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** A separator may stand at the beginning, too. */
function firstDocument(text: string): string {
  const [before = '', first = before] = text.split(/^---(?:[ \t].*)?$/m);
  return before.trim() === '' ? first : before;
}

/** The object to be created or to replace another one. */
export async function readObject(request: ApiRequest, kind: string): Promise<Mapping> {
  const unrecognized = (why: string): StatusError =>
    badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${why}`);
  let data: unknown;
  try {
    data = await readData(request);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized(`json parse error: ${error.message} (${excerpt(textOf(request))})`);
  }
  if (data === undefined) throw unrecognized('json parse error: unexpected end of JSON input (<empty>)');
  if (data === null) return {};
  if (!isMapping(data)) {
    const type = Array.isArray(data) ? 'array' : typeof data === 'boolean' ? 'bool' : typeof data;
    throw unrecognized(
      `json parse error: json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (${excerpt(textOf(request))})`,
    );
  }
  refuseUntyped(request, data, kind);
  return data;
}

/** Whatever else an object is, its version and its kind are texts. */
export function refuseUntyped(request: ApiRequest, data: Mapping, kind: string): void {
  for (const field of ['apiVersion', 'kind']) {
    const value = data[field] ?? '';
    if (typeof value === 'string') continue;
    const why = `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${field} of type string`;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why} (${excerpt(textOf(request))})`,
    );
  }
}

export function textOf(request: ApiRequest): string {
  return typeof request.body === 'string' ? request.body : JSON.stringify(request.body ?? '');
}

/** A glimpse of what came: text if it looks like an object, otherwise bytes. */
export function excerpt(text: string): string {
  if (text === '') return '<empty>';
  if (/^[ \t\r\n]*\{/.test(text)) return text.length > 30 ? `${text.slice(0, 30)} ...` : text;
  const bytes = Buffer.from(text, 'utf8');
  const shown = bytes.subarray(0, 30).toString('hex');
  return bytes.length > 30 ? `${shown} ...` : shown;
}

export interface AppliedBody {
  readonly data: Mapping;
  /** Keys that are given twice, and where. */
  readonly duplicates: readonly string[];
}

/** The configuration to be applied: YAML, of which JSON is a part; with what is wrong with its keys. */
export async function readApplied(request: ApiRequest): Promise<AppliedBody> {
  const { body } = request;
  if (typeof body === 'object') return { data: deepCopy(body) as Mapping, duplicates: [] };
  const { data, duplicates } = await parseApplied(body ?? '');
  if (data === null || data === undefined) return { data: {}, duplicates };
  if (!isMapping(data)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeOf(data)} into Go value of type map[string]interface {}`,
    );
  }
  return { data, duplicates };
}

async function parseApplied(text: string): Promise<{ readonly data: unknown; readonly duplicates: readonly string[] }> {
  const { parseDocument, LineCounter } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { version: '1.1', uniqueKeys: false, lineCounter });
  const [error] = document.errors;
  if (error !== undefined) {
    const reason = yamlProblem(error.message.split('\n')[0]?.replace(/ at line .*$/, '') ?? '');
    throw badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${reason}`);
  }
  return { data: document.toJS({ maxAliasCount: 100 }), duplicates: await repeatedKeys(document, lineCounter) };
}

/** In the words of the other parser, where it has some for the same. */
function yamlProblem(reason: string): string {
  const end = /^Flow (?:map|sequence) .*must end with a ([\]}])/.exec(reason)?.[1];
  return end === undefined ? reason : `did not find expected ',' or '${end}'`;
}

async function repeatedKeys(document: Document, lineCounter: LineCounter): Promise<readonly string[]> {
  const { isScalar, visit } = await import('yaml');
  const found: string[] = [];
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line } = lineCounter.linePos(key.range?.[0] ?? 0);
          found.push(`line ${line}: key ${JSON.stringify(key.value)} already set in map`);
        }
        seen.add(key.value);
      }
    },
  });
  return found;
}

/** The patch as data: a merge patch must be a mapping, the others are checked when they are applied. */
export async function readPatch(request: ApiRequest, prefix = 'error decoding patch: '): Promise<unknown> {
  const { body } = request;
  if (typeof body === 'object') return deepCopy(body);
  try {
    return parseJson(body ?? '');
  } catch (error) {
    throw badRequest(`${prefix}${(error as Error).message}`);
  }
}
