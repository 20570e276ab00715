/** From a method and a path to the verb that does it. */

import type { ApiAnswer } from '../contracts/request.js';
import { badRequest, noSuchResource, notFound, StatusError } from '../http/status-errors.js';
import type { Served } from '../kinds/served.js';
import type { Backend, Call } from '../routing/backend.js';
import { remove } from './delete/delete.js';
import { removeCollection } from './delete/delete-collection.js';
import { get } from './read/get.js';
import { list } from './read/list.js';
import { connect, readLog } from './read/running-containers.js';
import { watch } from './read/watch.js';
import { create } from './write/create.js';
import { patch } from './write/patch.js';
import { bindPod, evictPod } from './write/subresources/pod-subresources.js';
import { getScale, patchScale, updateScale } from './write/subresources/scale.js';
import { requestToken } from './write/subresources/token-request.js';
import { update } from './write/update.js';

type Verb = (backend: Backend, call: Call) => ApiAnswer | Promise<ApiAnswer>;

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

/** Clients get the headers of a GET; the listener leaves out the body. */
const methodOf = ({ request, served }: Call): string =>
  request.method === 'HEAD' && served.isCustom ? 'GET' : request.method;

const COLLECTION: Readonly<Record<string, Verb>> = { GET: listOrWatch, POST: create, DELETE: removeCollection };
const OBJECT: Readonly<Record<string, Verb>> = { GET: get, PUT: update, PATCH: patch, DELETE: remove };
const SUBRESOURCE: Readonly<Record<string, Verb>> = { GET: get, PUT: update, PATCH: patch };
const SCALE: Readonly<Record<string, Verb>> = { GET: getScale, PUT: updateScale, PATCH: patchScale };
const VERB_NAMES: Readonly<Record<string, string>> = { GET: 'get', PUT: 'update', PATCH: 'patch', POST: 'create' };

/** Throws if there is no such path or no such method on it. */
export function dispatch(backend: Backend, call: Call): ApiAnswer | Promise<ApiAnswer> {
  return verbOf(call)(backend, call);
}

function verbOf(call: Call): Verb {
  const { served, namespace, name, subresource } = call;
  const method = methodOf(call);
  const isEverywhere = served.namespaced && namespace === '';
  if (!served.namespaced && namespace !== '') throw noSuchResource();
  if (name === '' && subresource === '') {
    const isAllowed = method !== 'DELETE' || served.verbs.includes('deletecollection');
    const verb = isAllowed && (!isEverywhere || method === 'GET') ? COLLECTION[method] : undefined;
    if (verb === undefined) throw served.isCustom ? nameless(method, served) : methodNotAllowed();
    return verb;
  }
  if (isEverywhere) throw noSuchResource();
  if (call.isWatchPath) return watch;
  if (subresource !== '') return subresourceVerb(call);
  // As there: what is created is created, whatever the address says.
  if (served.isCustom && method === 'POST') return (backend, of) => create(backend, { ...of, name: '' });
  return allowed(OBJECT[method]);
}

/** Custom objects have no table of methods: their handlers miss what they need. */
function nameless(method: string, served: Served): StatusError {
  return method === 'PUT' || method === 'PATCH'
    ? badRequest('name must be provided')
    : methodNotSupported(method, served);
}

function methodNotSupported(method: string, served: Served): StatusError {
  const verb = VERB_NAMES[method] ?? method.toLowerCase();
  const { group, plural } = served;
  const message = `${verb} is not supported on resources of kind "${plural}.${group}"`;
  return new StatusError(405, 'MethodNotAllowed', message, { group, kind: plural });
}

function subresourceVerb(call: Call): Verb {
  const { served, subresource, request, name } = call;
  const declared = served.subresources.find((one) => one.name === subresource);
  // What leads through a proxy does not get here, unless it is written in a strange way.
  if (declared?.name === 'proxy') throw noSuchResource();
  if (declared === undefined) throw served.isCustom ? notFound(served, name) : noSuchResource();
  if (!declared.verbs.includes(VERB_NAMES[request.method] ?? '')) {
    throw served.isCustom ? methodNotSupported(request.method, served) : methodNotAllowed();
  }
  if (subresource === 'scale') return allowed(SCALE[request.method]);
  if (subresource === 'log') return readLog;
  if (['attach', 'exec', 'portforward'].includes(subresource)) return connect;
  if (subresource === 'binding') return bindPod;
  if (subresource === 'eviction') return evictPod;
  if (subresource === 'token') return requestToken;
  return allowed(SUBRESOURCE[request.method]);
}

function allowed(verb: Verb | undefined): Verb {
  if (verb === undefined) throw methodNotAllowed();
  return verb;
}

function listOrWatch(backend: Backend, call: Call): ApiAnswer {
  const flag = call.query.get('watch');
  const isWatch = call.isWatchPath || (flag !== null && flag !== '0' && flag.toLowerCase() !== 'false');
  return isWatch ? watch(backend, call) : list(backend, call);
}
