/** What a request is about, told by its method and path: by that, requests take turns and wait for throttled servers. */
import type { KubeRequest } from '@kopf-ts/core';

export interface RequestKind {
  /** As in Kubernetes: get, list, watch, create, update, patch, delete, deletecollection; else the method. */
  readonly verb: string;
  /** As kubectl names it: `pods`, `kopfexamples.kopf.dev`; for other addresses, the beginning of the path. */
  readonly resource: string;
  /** Such as `status` or `eviction`. */
  readonly subresource: string | undefined;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i;
const WATCHING = /[?&]watch=(?:true|1)(?:&|$)/;
const VERBS = { POST: 'create', PUT: 'update', PATCH: 'patch' } as const;
/** Namespaces are the only kind whose own subresources look like what is inside of a namespace. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

export function requestKindOf({ method, path }: Pick<KubeRequest, 'method' | 'path'>, isStream = false): RequestKind {
  const [pathname = ''] = path.replace(ORIGIN, '').split(/[?#]/, 1);
  const parts = pathname.split('/').filter((part) => part !== '');
  const { group, rest } = apiOf(parts);
  const [plural, name, subresource] = withoutNamespace(rest);
  if (plural === undefined) {
    return { verb: method.toLowerCase(), resource: `/${parts.slice(0, 3).join('/')}`, subresource: undefined };
  }
  return {
    verb: verbOf(method, isStream || WATCHING.test(path), name !== undefined),
    resource: group === '' ? plural : `${plural}.${group}`,
    subresource,
  };
}

/** For people, and for keys: `patch kopfexamples.kopf.dev/status`. */
export function titleOfKind({ verb, resource, subresource }: RequestKind): string {
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

/**
 * An eviction that a PodDisruptionBudget does not permit is answered with HTTP 429. It says nothing about the server,
 * and only the caller knows whether to wait, to evict another pod, or to give up.
 */
export function isEviction({ resource, subresource }: RequestKind): boolean {
  return resource === 'pods' && subresource === 'eviction';
}

function apiOf(parts: readonly string[]): { readonly group: string; readonly rest: readonly string[] } {
  if (parts[0] === 'api') return { group: '', rest: parts.slice(2) };
  if (parts[0] === 'apis') return { group: parts[1] ?? '', rest: parts.slice(3) };
  return { group: '', rest: [] };
}

function withoutNamespace(rest: readonly string[]): readonly string[] {
  const isInNamespace = rest[0] === 'namespaces' && rest[2] !== undefined;
  const isOfNamespace = rest.length === 3 && OF_NAMESPACES.has(rest[2] ?? '');
  return isInNamespace && !isOfNamespace ? rest.slice(2) : rest;
}

function verbOf(method: KubeRequest['method'], isWatching: boolean, isNamed: boolean): string {
  if (method === 'GET') {
    if (isWatching) return 'watch';
    return isNamed ? 'get' : 'list';
  }
  if (method === 'DELETE') return isNamed ? 'delete' : 'deletecollection';
  return VERBS[method];
}
