/** Lists: selected, paged, and of the past if so asked. */

import type { ApiAnswer } from '../../contracts/request.js';
import type { Revision } from '../../contracts/store.js';
import { itemTextOf } from '../../http/object-encoding.js';
import { type ListOptions, parseListOptions, parseVersion } from '../../http/query-options.js';
import { badRequest, expired, type StatusError } from '../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';
import { parseFieldSelector } from '../../selectors/field-selectors.js';
import { parseLabelSelector } from '../../selectors/label-selectors.js';
import { keyOf } from '../../store/sorted-collection.js';
import { parseJson } from '../../text/json-syntax.js';
import { tooLarge } from './get.js';

export interface Page {
  readonly revisions: readonly Revision[];
  readonly version: number;
  readonly continueToken: string;
  /** Known only where nothing is selected. */
  readonly remaining: number | undefined;
}

export function list(backend: Backend, call: Call): ApiAnswer {
  const page = listPage(backend, call, parseListOptions(call.query, false));
  return jsonAnswer(200, pageText(call, page));
}

/** The page as it is sent. */
export function pageText(call: Call, page: Page): string {
  const { served } = call;
  const { continueToken, remaining } = page;
  const metadata = {
    // Lists of custom resources always say whether there is more.
    ...(served.isCustom || continueToken !== '' ? { continue: continueToken } : {}),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    resourceVersion: String(page.version),
  };
  const head = `{"kind":${JSON.stringify(served.listKind)},"apiVersion":${JSON.stringify(served.apiVersion)}`;
  const items = page.revisions.map((revision) => itemTextOf(served, revision));
  return `${head},"metadata":${JSON.stringify(metadata)},"items":[${items.join(',')}]}`;
}

/** The revisions that the request asks for. */
export function listPage(backend: Backend, call: Call, options: ListOptions): Page {
  const selects = selectorOf(call, options);
  const start = startOf(backend, call, options);
  const all = revisionsAt(backend, call, start, options);
  const after = start.key === undefined ? all : all.filter((one) => pageKey(call, one) >= (start.key as string));
  const isSelecting = selects !== undefined;
  const matching = isSelecting ? after.filter(selects) : after;
  const limit = isAnyVersion(options) ? 0 : options.limit;
  const revisions = limit > 0 ? matching.slice(0, limit) : matching;
  const last = revisions.at(-1);
  // There may be nothing else that is selected; but that is found out with the next page only.
  const isPaged = limit > 0 && revisions.length === limit && last !== after.at(-1);
  return {
    revisions,
    version: start.version,
    continueToken: isPaged && last !== undefined ? encodeToken(start.version, `/${pageKey(call, last)}\0`) : '',
    remaining: isPaged && !isSelecting ? matching.length - revisions.length : undefined,
  };
}

/** Whatever is at hand is good enough; then all of it is given, whatever the limit. */
function isAnyVersion({ resourceVersion, resourceVersionMatch }: ListOptions): boolean {
  return resourceVersion === '0' && resourceVersionMatch !== 'Exact';
}

/** `undefined` if everything is wanted. */
export function selectorOf(
  call: Call,
  options: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>,
): ((revision: Revision) => boolean) | undefined {
  const labels = parseLabelSelector(options.labelSelector);
  const fields = parseFieldSelector(options.fieldSelector, call.served.strategy);
  // A list with a name in the path is a list of that one object.
  const { name } = call;
  if (labels === undefined && fields === undefined && name === '') return undefined;
  return (revision) =>
    (name === '' || revision.name === name) &&
    (labels === undefined || labels(revision.labels)) &&
    (fields === undefined || fields.matches(revision));
}

/** The name within what is listed: pages follow it. */
function pageKey(call: Call, revision: Revision): string {
  return call.namespace === '' ? keyOf(revision.namespace, revision.name) : revision.name;
}

interface Start {
  readonly version: number;
  /** The first key of the page. */
  readonly key: string | undefined;
  /** Not the latest state, but that of the version. */
  readonly isPast: boolean;
}

function startOf(backend: Backend, call: Call, options: ListOptions): Start {
  const current = backend.store.version;
  let version: number;
  try {
    version = parseVersion(options.resourceVersion);
  } catch (error) {
    throw badRequest(`invalid resource version: ${(error as Error).message}`);
  }
  if (options.continueToken !== '') {
    if (version > 0) throw badRequest('specifying resource version is not allowed when using continue');
    return continued(backend, call, options.continueToken);
  }
  if (version > current) throw tooLarge(version, current);
  // Pages of a version mean that very version, unless told otherwise.
  const isExact =
    options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0);
  if (version > 0 && isExact) return { version, key: undefined, isPast: true };
  return { version: current, key: undefined, isPast: false };
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

function encodeToken(version: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv: version, start })).toString('base64url');
}

function continued(backend: Backend, call: Call, token: string): Start {
  const wrong = (why: string): StatusError => badRequest(`invalid continue token: continue key is not valid${why}`);
  let data: { v?: unknown; rv?: unknown; start?: unknown };
  const garbage = firstGarbage(token);
  if (garbage !== undefined) throw wrong(`: illegal base64 data at input byte ${garbage}`);
  try {
    data = (parseJson(Buffer.from(token, 'base64url').toString('utf8')) ?? {}) as typeof data;
  } catch (error) {
    throw wrong(`: ${(error as Error).message}`);
  }
  const { v, rv, start } = data;
  if (v !== TOKEN_VERSION) throw wrong(`: server does not recognize this encoded version ${String(v ?? '')}`);
  if (typeof rv !== 'number' || rv === 0) {
    throw wrong(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw wrong(': encoded start key empty (version meta.k8s.io/v1)');
  if (start.includes('..') || start.includes('//')) throw wrong(`: ${start}`);
  const key = start.replace(/^\//, '');
  if (rv < 0) return { version: backend.store.version, key, isPast: false };
  if (rv < backend.store.compactedVersion) throw tooOldToContinue(encodeToken(-1, key));
  if (rv > backend.store.version) throw tooLarge(rv, backend.store.version);
  void call;
  return { version: rv, key, isPast: true };
}

/** Where a text stops being base64 as in URLs, without padding; `undefined` if it does not. */
function firstGarbage(token: string): number | undefined {
  const wrong = token.search(/[^\w-]/);
  if (wrong >= 0) return wrong;
  return token.length % 4 === 1 ? token.length - 1 : undefined;
}

/** The rest can still be had, but not from the same moment. */
function tooOldToContinue(token: string): StatusError {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  error.status.metadata.continue = token;
  return error;
}

function revisionsAt(backend: Backend, call: Call, start: Start, options: ListOptions): readonly Revision[] {
  const { store } = backend;
  const { served } = call;
  const namespace = served.namespaced && call.namespace !== '' ? call.namespace : undefined;
  if (!start.isPast) {
    const name = parseFieldSelector(options.fieldSelector, served.strategy)?.name;
    if (name === undefined || (served.namespaced && namespace === undefined)) {
      return store.list(served.collection, namespace);
    }
    const found = store.get(served.collection, namespace ?? '', name);
    return found === undefined ? [] : [found];
  }
  if (start.version < store.compactedVersion) throw expired('The resourceVersion for the provided list is too old.');
  return store.listAt(served.collection, namespace, start.version);
}
