/**
 * Is it a list of this kind that the server has answered with?
 *
 * Whatever is not in a list counts as gone. So an answer of something else (`{}` of a proxy, a Status with HTTP 200,
 * a list of another kind) is an error, and never a list of nothing.
 */
import { KopfError } from '../errors.js';
import { isMapping } from '../values/json.js';
import type { AnyObject } from '../values/objects/body.js';
import { formatResource, type Resource } from '../values/resources/resource.js';

export interface KubeList {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly AnyObject[];
}

/** The answer as a list. Throws if it is none, or if it is of another kind. */
export function checkedList(answer: unknown, resource: Resource): KubeList {
  if (!isMapping(answer)) throw notAList(resource, inWords(answer));
  const { kind, apiVersion, metadata = {}, items } = answer;
  if (typeof kind !== 'string' || kind === 'Status') throw notAList(resource, described(answer));
  if (!isOfResource(kind, apiVersion, resource)) throw notAList(resource, described(answer));
  if (!isMapping(metadata)) throw notAList(resource, `${kind} with malformed metadata`);
  const { resourceVersion, continue: token } = metadata;
  if (!isOptionalText(resourceVersion) || !isOptionalText(token)) {
    throw notAList(resource, `${kind} with malformed metadata`);
  }
  // An empty list of a server in Go may be `null`. But where there is no such field at all, it is no list.
  if (items !== null && !Array.isArray(items)) throw notAList(resource, `${kind} without items`);
  return {
    kind,
    ...(typeof apiVersion === 'string' ? { apiVersion } : {}),
    metadata: {
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(token ? { continue: token } : {}),
    },
    items: items ?? [],
  };
}

/** Is it named as lists of this kind usually are? Definitions of custom resources may name their lists as they like. */
export function isUsualListKind(kind: string, resource: Resource): boolean {
  return kind === 'List' || resource.kind === undefined || kind === `${resource.kind}List`;
}

export function notAList(resource: Resource, instead: string): KopfError {
  return new KopfError(`The server has answered with ${instead} instead of a list of ${formatResource(resource)}.`, {
    code: 'KOPF_BAD_LIST',
  });
}

function isOfResource(kind: string, apiVersion: unknown, resource: Resource): boolean {
  if (apiVersion === undefined) return isUsualListKind(kind, resource);
  const { group, version } = resource;
  const own = group === '' ? version : `${group}/${version}`;
  return apiVersion === own || (kind === 'List' && apiVersion === 'v1');
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function described({ kind, apiVersion, message }: { readonly [field: string]: unknown }): string {
  if (typeof kind !== 'string') return 'an object without a kind';
  if (kind === 'Status') return typeof message === 'string' ? `a Status ("${message}")` : 'a Status';
  return typeof apiVersion === 'string' ? `${kind} of ${apiVersion}` : kind;
}

function inWords(answer: unknown): string {
  if (answer === undefined || answer === null || answer === '') return 'nothing';
  return Array.isArray(answer) ? 'an array' : `a ${typeof answer}`;
}
