/** The body of a request: from text to an object, with the refusals that kube-apiserver would give. */
import { deepCopy, isMapping, type Mapping } from '@kopf-ts/core';
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
    // As there: where `yes` is a boolean.
    return parse(body, { maxAliasCount: 100, version: '1.1' });
  } catch (error) {
    throw new SyntaxError(`yaml: ${(error as Error).message.split('\n')[0]}`);
  }
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
  for (const field of ['apiVersion', 'kind']) {
    const value = data[field] ?? '';
    if (typeof value === 'string') continue;
    throw unrecognized(
      `json parse error: json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${field} of type string (${excerpt(textOf(request))})`,
    );
  }
  return data;
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

/** The patch as data: a merge patch must be a mapping, the others are checked when they are applied. */
export async function readPatch(request: ApiRequest): Promise<unknown> {
  const { body } = request;
  if (typeof body === 'object') return deepCopy(body);
  try {
    return parseJson(body ?? '');
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}
