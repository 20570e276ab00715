/** What a request wants, as far as its method and its address tell. */
import type { Access } from '../contracts/authorization.js';
import { segmentsOf } from '../routing/router.js';

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Whether the address leads anywhere does not matter yet. */
export function requestedAccess(method: string, url: string): Access {
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const segments = (segmentsOf(path) ?? []).filter((segment) => segment !== '');
  const isCore = segments[0] === 'api';
  const skipped = isCore ? 2 : 3;
  if ((!isCore && segments[0] !== 'apis') || segments.length <= skipped) {
    return { kind: 'path', verb: method.toLowerCase(), path };
  }
  const group = isCore ? '' : (segments[1] as string);
  let rest = segments.slice(skipped);
  const isWatchPath = rest[0] === 'watch' && rest.length > 1;
  if (isWatchPath) rest = rest.slice(1);
  let namespace = '';
  if (rest[0] === 'namespaces' && rest.length > 1) {
    // A namespace is in itself.
    namespace = rest[1] as string;
    if (rest.length > 2 && rest[2] !== 'status' && rest[2] !== 'finalize') rest = rest.slice(2);
  }
  const [resource = '', name = '', subresource = ''] = rest;
  const access = { kind: 'resource', group, resource, subresource, namespace, name } as const;
  if (isWatchPath) return { ...access, verb: 'watch' };
  const verb = VERBS[method] ?? '';
  if (name !== '') return { ...access, verb };
  if (verb === 'delete') return { ...access, verb: 'deletecollection' };
  if (verb !== 'get') return { ...access, verb };
  const query = new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1));
  return { ...access, verb: isWatch(query) ? 'watch' : 'list', name: selectedName(query) };
}

function isWatch(query: URLSearchParams): boolean {
  const flag = query.get('watch');
  return flag !== null && flag !== '0' && flag.toLowerCase() !== 'false';
}

/** A list of one object by its name is allowed by a rule for that name. */
function selectedName(query: URLSearchParams): string {
  return /(?:^|,)metadata\.name==?([^,=!\\/%]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}
