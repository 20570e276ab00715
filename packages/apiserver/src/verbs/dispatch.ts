/** From a method and a path to the verb that does it. */

import type { ApiAnswer } from '../contracts/request.js';
import { noSuchResource, notFound, StatusError } from '../http/status-errors.js';
import type { Backend, Call } from '../routing/backend.js';
import { remove } from './delete/delete.js';
import { removeCollection } from './delete/delete-collection.js';
import { get } from './read/get.js';
import { list } from './read/list.js';
import { watch } from './read/watch.js';
import { create } from './write/create.js';
import { patch } from './write/patch.js';
import { bindPod, evictPod } from './write/pod-subresources.js';
import { getScale, patchScale, updateScale } from './write/scale.js';
import { update } from './write/update.js';

type Verb = (backend: Backend, call: Call) => ApiAnswer | Promise<ApiAnswer>;

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

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
  const { served, request, namespace, name, subresource } = call;
  const { method } = request;
  const isEverywhere = served.namespaced && namespace === '';
  if (!served.namespaced && namespace !== '') throw noSuchResource();
  if (name === '' && subresource === '') {
    const isAllowed = method !== 'DELETE' || served.verbs.includes('deletecollection');
    const verb = isAllowed && (!isEverywhere || method === 'GET') ? COLLECTION[method] : undefined;
    if (verb === undefined) throw methodNotAllowed();
    return verb;
  }
  if (isEverywhere) throw noSuchResource();
  if (call.isWatchPath) return watch;
  return subresource === '' ? allowed(OBJECT[method]) : subresourceVerb(call);
}

function subresourceVerb(call: Call): Verb {
  const { served, subresource, request, name } = call;
  const declared = served.subresources.find((one) => one.name === subresource);
  if (declared === undefined) throw served.isCustom ? notFound(served, name) : noSuchResource();
  if (!declared.verbs.includes(VERB_NAMES[request.method] ?? '')) throw methodNotAllowed();
  if (subresource === 'scale') return allowed(SCALE[request.method]);
  if (subresource === 'binding') return bindPod;
  if (subresource === 'eviction') return evictPod;
  if (subresource === 'token') throw methodNotAllowed();
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
