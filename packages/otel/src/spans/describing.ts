/**
 * What spans say of the work. The names are few and never change, so that they can be counted and compared; whatever there
 * are many of is in the attributes. Where OpenTelemetry has conventions for these, they are kept.
 */
import { ApiError, type ObservedObject, type TracedWork } from '@kopf-ts/core';
import type { OtelAttributes } from '../api/otel-api.js';

/** As in `@opentelemetry/api`. */
const [INTERNAL, SERVER, CLIENT] = [0, 1, 2] as const;

interface Description {
  readonly name: string;
  readonly kind: number;
  readonly attributes: OtelAttributes;
}

export function describe(work: TracedWork): Description {
  switch (work.kind) {
    case 'cycle':
      return { name: 'kopf.cycle', kind: INTERNAL, attributes: ofObject(work.object) };
    case 'call': {
      const { handler, object, retry } = work;
      const attributes = object === undefined ? {} : ofObject(object);
      attributes['kopf.handler.id'] = handler.id;
      attributes['kopf.handler.kind'] = handler.kind;
      attributes['kopf.handler.retry'] = retry;
      return { name: 'kopf.handler', kind: INTERNAL, attributes };
    }
    case 'request':
      return { name: 'kopf.request', kind: CLIENT, attributes: ofRequest(work.method, work.path) };
    case 'review': {
      const attributes = { 'kopf.review.uid': work.uid, 'kopf.review.operation': work.operation };
      return { name: 'kopf.review', kind: SERVER, attributes };
    }
  }
}

function ofObject({ resource, kind, namespace, name, uid }: ObservedObject): OtelAttributes {
  const { group, version, plural } = resource;
  const attributes: OtelAttributes = {
    'kopf.object.resource': plural,
    'kopf.object.api_version': group === '' ? version : `${group}/${version}`,
  };
  if (kind !== undefined) attributes['kopf.object.kind'] = kind;
  if (namespace !== undefined) attributes['k8s.namespace.name'] = namespace;
  if (name !== undefined) attributes['kopf.object.name'] = name;
  if (uid !== undefined) attributes['kopf.object.uid'] = uid;
  return attributes;
}

function ofRequest(method: string, path: string): OtelAttributes {
  const query = path.indexOf('?');
  const attributes: OtelAttributes = { 'http.request.method': method };
  attributes['url.path'] = query < 0 ? path : path.slice(0, query);
  if (query >= 0) attributes['url.query'] = path.slice(query + 1);
  return attributes;
}

/** Why it has failed, in the words of the conventions. */
export function ofFailure(error: Error, work: TracedWork): OtelAttributes {
  if (!(error instanceof ApiError)) return { 'error.type': error.name };
  const attributes: OtelAttributes = { 'error.type': work.kind === 'request' ? String(error.status) : error.name };
  if (work.kind === 'request') attributes['http.response.status_code'] = error.status;
  return attributes;
}
