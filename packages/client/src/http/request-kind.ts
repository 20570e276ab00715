/** Classifies a request by its method and path: by that kind, requests take turns and wait for throttled servers. */
import type { KubeRequest } from '@kopf-ts/core';

export interface RequestKind {
  /**
   * As in Kubernetes: get, list, watch, create, update, patch, delete, deletecollection; otherwise, the HTTP method.
   */
  readonly verb: string;
  /** As kubectl names it: `pods`, `kopfexamples.kopf.dev`; for other addresses, the beginning of the path. */
  readonly resource: string;
  /** Such as `status` or `eviction`. */
  readonly subresource: string | undefined;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i;
const WATCHING = /[?&]watch=(?:true|1)(?:&|$)/;
const VERBS = { POST: 'create', PUT: 'update', PATCH: 'patch' } as const;
/** Namespaces are the only kind whose subresources look like the kinds inside of a namespace. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

export function requestKindOf({ method, path }: Pick<KubeRequest, 'method' | 'path'>, isStream = false): RequestKind {
  const parts = partsOf(path);
  const isOfGroup = parts[0] === 'apis';
  const at = indexOfKind(parts);
  const plural = parts[at];
  if (plural === undefined) {
    // Of what is none of these, nobody knows in which part the names begin.
    const known = isOfGroup || parts[0] === 'api' ? 3 : 1;
    return { verb: method.toLowerCase(), resource: `/${parts.slice(0, known).join('/')}`, subresource: undefined };
  }
  return {
    verb: verbOf(method, isStream || (method === 'GET' && WATCHING.test(path)), parts[at + 1] !== undefined),
    resource: isOfGroup ? `${plural}.${parts[1]}` : plural,
    subresource: parts[at + 2],
  };
}

/** Which object the address is of, if it is of one. */
export function objectNameOf(path: string): {
  readonly namespace: string | undefined;
  readonly name: string | undefined;
} {
  const parts = partsOf(path);
  const at = indexOfKind(parts);
  const isInside = at >= 2 && parts[at - 2] === 'namespaces' && isInsideOfNamespace(parts, at - 2);
  return { namespace: isInside ? decoded(parts[at - 1]) : undefined, name: decoded(parts[at + 1]) };
}

/** For people, and for keys: `patch kopfexamples.kopf.dev/status`. */
export function titleOfKind({ verb, resource, subresource }: RequestKind): string {
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

/**
 * An eviction that a PodDisruptionBudget does not permit is answered with HTTP 429. It says nothing about the load of
 * the server, and only the caller knows whether to wait, to evict another pod, or to give up.
 */
export function isEviction({ resource, subresource }: RequestKind): boolean {
  return resource === 'pods' && subresource === 'eviction';
}

function partsOf(path: string): readonly string[] {
  const pathname = path.startsWith('/') ? path : path.replace(ORIGIN, '');
  const end = pathname.search(/[?#]/);
  return (end < 0 ? pathname : pathname.slice(0, end)).split('/').filter((part) => part !== '');
}

/** As large as the number of the parts or larger, if there is none. */
function indexOfKind(parts: readonly string[]): number {
  const at = parts[0] === 'apis' ? 3 : parts[0] === 'api' ? 2 : parts.length;
  return parts[at] === 'namespaces' && isInsideOfNamespace(parts, at) ? at + 2 : at;
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part && decodeURIComponent(part);
  } catch {
    return part;
  }
}

function isInsideOfNamespace(parts: readonly string[], at: number): boolean {
  const inside = parts[at + 2];
  if (inside === undefined) return false;
  const isOfNamespace = parts.length === at + 3 && OF_NAMESPACES.has(inside);
  return !isOfNamespace;
}

function verbOf(method: KubeRequest['method'], isWatching: boolean, isNamed: boolean): string {
  if (method === 'GET') {
    if (isWatching) return 'watch';
    return isNamed ? 'get' : 'list';
  }
  if (method === 'DELETE') return isNamed ? 'delete' : 'deletecollection';
  return VERBS[method];
}
