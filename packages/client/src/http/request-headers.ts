/** The headers of each request: authorisation and formats. */
import type { ConnectionInfo, KubeRequest, Logger } from '@kopf-ts/core';
import { authorizationOf, impersonationHeaders, isAuthorizedTwice } from '../auth/authorization.js';

type Headers = Readonly<Record<string, string | string[]>>;
type RequestHeaders = (request: KubeRequest, info: ConnectionInfo, isForeign: boolean) => Headers;

const JSON_TYPE = 'application/json';

/** Returns shared, read-only headers for similar requests: there are few variants. */
export function requestHeaders(userAgent: string, logger: Logger): RequestHeaders {
  const known = new WeakMap<ConnectionInfo, Map<string, Headers>>();
  let isWarned = false;

  const knownFor = (info: ConnectionInfo): Map<string, Headers> => {
    if (isAuthorizedTwice(info) && !isWarned) {
      isWarned = true;
      logger.warn('Both a token and a username with a password are given; using the token.');
    }
    const made = new Map<string, Headers>();
    known.set(info, made);
    return made;
  };

  const newHeaders = (info: ConnectionInfo, accept: string, contentType: string, isForeign: boolean): Headers => {
    // Our credentials must not be sent to any other address.
    const authorization = isForeign ? undefined : authorizationOf(info);
    return {
      accept,
      'user-agent': userAgent,
      ...(contentType === '' ? {} : { 'content-type': contentType }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(isForeign ? {} : impersonationHeaders(info)),
    };
  };

  return ({ accept = JSON_TYPE, body, contentType = JSON_TYPE }, info, isForeign) => {
    const ofInfo = known.get(info) ?? knownFor(info);
    const type = body === undefined ? '' : contentType;
    const key = accept === JSON_TYPE && !isForeign ? type : `${type} ${accept} ${isForeign}`;
    const found = ofInfo.get(key);
    if (found !== undefined) return found;
    const made = newHeaders(info, accept, type, isForeign);
    ofInfo.set(key, made);
    return made;
  };
}

/** Valid HTTP header values; anything else would fail the request. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that control the connection and the content. */
const NOT_FOR_TRACING = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Adds the headers of a tracing, which must not replace or break any. */
export function withTracing(headers: Headers, added: Readonly<Record<string, string>>): Headers {
  const additions = Object.entries(added);
  if (additions.length === 0) return headers;
  const all: Record<string, string | string[]> = {};
  for (const [title, value] of additions) {
    const name = title.toLowerCase();
    if (NAME.test(name) && VALUE.test(value) && !NOT_FOR_TRACING.has(name)) all[name] = value;
  }
  return Object.assign(all, headers);
}
