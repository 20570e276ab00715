/** The same path for all requests, over HTTP and in the process. */

import { type AccessReviewContext, accessReviews, answerAccessReview } from '../access-reviews/access-reviews.js';
import type { ApiAnswer, ApiRequest, StreamLine } from '../contracts/request.js';
import { negotiate, type Wanted } from '../http/accept.js';
import { formatted } from '../http/answer-formats.js';
import { badAddress, pageNotFound, refusal } from '../http/answers.js';
import { represent } from '../http/representations.js';
import { badRequest, noSuchResource, StatusError } from '../http/status-errors.js';
import type { Served } from '../kinds/served.js';
import { makeOpenApi } from '../openapi/documents.js';
import { loadColumns, tableOf } from '../tables/tables.js';
import { pathSegment } from '../validation/names.js';
import { dispatch, methodNotAllowed } from '../verbs/dispatch.js';
import { represented } from '../watching/lines.js';
import type { Backend, Call } from './backend.js';
import type { Discovery } from './discovery.js';
import { answerAside } from './non-resource-urls.js';
import type { OpenIdDocuments } from './open-id.js';
import { parseResourcePath, type ResourcePath, segmentsOf } from './router.js';

export interface Pipeline {
  /** Never throws: refusals and mishaps are answers, too. */
  handle(request: ApiRequest): Promise<ApiAnswer>;
}

export interface PipelineParts {
  readonly discovery: Discovery;
  readonly openId: OpenIdDocuments;
  readonly reviewing: AccessReviewContext;
}

export function makePipeline(backend: Backend, { discovery, openId, reviewing }: PipelineParts): Pipeline {
  const documents = { discovery, openApi: makeOpenApi(backend.catalog, accessReviews) };
  return {
    async handle(request) {
      const warnings: string[] = /^bearer {2}/i.test(request.headers['authorization'] ?? '') ? [EXTRA_SPACE] : [];
      try {
        return withWarnings(await formatted(request, await route(request, warnings)), warnings);
      } catch (error) {
        return withWarnings(await formatted(request, refusal(error)), warnings);
      }
    },
  };

  async function route(request: ApiRequest, warnings: string[]): Promise<ApiAnswer> {
    const [path = '', search = ''] = splitOnce(request.url, '?');
    const segments = segmentsOf(path);
    const ofIdentity = segments === undefined ? undefined : openId.answer(request, segments);
    if (ofIdentity !== undefined) return ofIdentity;
    const resource = segments === undefined ? undefined : parseResourcePath(segments);
    // Schemas have representations of their own.
    const accept = segments?.[0] === 'openapi' ? undefined : request.headers.accept;
    const asked = resource && backend.catalog.find(resource.group, resource.version, resource.plural);
    const wanted = negotiate(accept, { isCollection: resource?.name === '', isCustom: asked?.isCustom === true });
    if (segments === undefined) return badAddress();
    if (segments[0] === 'apis' && segments[1] === '') return pageNotFound();
    if (resource === undefined) return await answerAside(request, segments, documents, wanted);
    const query = new URLSearchParams(search);
    if (asked === undefined) return await routeAccessReview(request, resource, warnings);
    const served = wanted.as === 'Table' && request.method === 'GET' ? tabledAs(asked) : asked;
    if (served.isCustom && !isInScope(served, resource, request.method)) return pageNotFound();
    checkAddress(resource, served);
    const isServed =
      resource.subresource === '' || served.subresources.some(({ name }) => name === resource.subresource);
    if (isServed && served.strategy.deprecation !== undefined) warnings.push(served.strategy.deprecation);
    const call: Call = { request, served, query, warnings, ...addressOf(resource) };
    const answer = await dispatch(backend, call);
    return shown(answer, wanted, call);
  }

  /** Tables of built-in kinds show what is stored, whatever the version in which they are asked for. */
  function tabledAs(served: Served): Served {
    if (served.isCustom || served.apiVersion === served.storageApiVersion) return served;
    const [group, version = ''] = served.storageApiVersion.split('/');
    return (group === served.group && backend.catalog.find(group, version, served.plural)) || served;
  }

  async function routeAccessReview(
    request: ApiRequest,
    resource: ResourcePath,
    warnings: string[],
  ): Promise<ApiAnswer> {
    const { group, version, plural, name, namespace } = resource;
    const one = accessReviews.find(
      (known) => known.group === group && known.version === version && known.plural === plural,
    );
    if (one === undefined || name !== '' || one.namespaced !== (namespace !== '')) {
      const isKnown = backend.catalog.isBuiltinGroup(group) || accessReviews.some((known) => known.group === group);
      return isKnown ? refusal(noSuchResource()) : pageNotFound();
    }
    if (request.method !== 'POST') throw methodNotAllowed();
    return await answerAccessReview(one, namespace, request, warnings, reviewing);
  }

  async function shown(answer: ApiAnswer, wanted: Wanted, call: Call): Promise<ApiAnswer> {
    if (wanted.as !== undefined) {
      const { served, query, subresource } = call;
      const table = wanted.as === 'Table' ? tableOf(served, subresource, await loadColumns()) : undefined;
      let isFurther = false;
      const show = (text: string): string => {
        const body = represent(text, wanted, { served, query, table, isFurther }, backend.clock.utc());
        isFurther = true;
        return body;
      };
      if (answer.stream !== undefined) return { ...answer, stream: shownLines(answer.stream, show) };
      return { ...answer, body: show(answer.body) };
    }
    return answer;
  }
}

/** No generator, as it could not be left while it waits. */
function shownLines(lines: AsyncIterable<StreamLine>, show: (text: string) => string): AsyncIterable<StreamLine> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = lines[Symbol.asyncIterator]();
      return {
        async next() {
          const result = await iterator.next();
          return result.done === true ? result : { done: false, value: represented(result.value, show) };
        },
        return: () => iterator.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      };
    },
  };
}

/** Custom objects of namespaces are in namespaces, and others are not; all namespaces are only looked at. */
function isInScope(served: Served, { name, namespace }: ResourcePath, method: string): boolean {
  if (!served.namespaced) return namespace === '';
  return namespace !== '' || (name === '' && method === 'GET');
}

/** Neither climbing up nor anything else that is no name. */
function checkAddress({ name, namespace, plural, subresource }: ResourcePath, served: Served): void {
  if (subresource !== '' && !served.subresources.some((one) => one.name === subresource)) return;
  const [problem] = pathSegment(name, false);
  if (problem !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
  if (namespace === '.' || namespace === '..') {
    throw new StatusError(500, '', `invalid key: ${JSON.stringify(`/${plural}/${namespace}`)}`);
  }
}

function addressOf({
  namespace,
  name,
  subresource,
  isWatchPath,
}: ResourcePath): Omit<Call, 'request' | 'served' | 'query' | 'warnings'> {
  return { namespace, name, subresource, isWatchPath };
}

const EXTRA_SPACE = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/** More characters of warnings than that are cut, each to its beginning; and then there are no more of them. */
const MOST_OF_WARNINGS = 4096;
const MOST_OF_CUT_WARNING = 256;

/** The same warning once, and not without end: clients show them to people, and proxies limit the headers. */
function withWarnings(answer: ApiAnswer, all: readonly string[]): ApiAnswer {
  if (all.length === 0) return answer;
  // What cannot be told in a header is not told.
  const warnings = all.filter((text) => !/\p{Cc}/u.test(text));
  if (warnings.length === 0) return answer;
  const warning = fittingWarnings([...new Set(warnings)]).map((text) => `299 - ${quoted(text)}`);
  return { ...answer, headers: { ...answer.headers, warning } };
}

function fittingWarnings(warnings: readonly string[]): readonly string[] {
  let total = 0;
  for (const text of warnings) {
    total += [...text].length;
    if (total > MOST_OF_WARNINGS) break;
  }
  if (total <= MOST_OF_WARNINGS) return warnings;
  const fitting: string[] = [];
  let used = 0;
  for (const text of warnings) {
    if (used >= MOST_OF_WARNINGS) break;
    const cut = [...text].slice(0, MOST_OF_CUT_WARNING);
    used += cut.length;
    fitting.push(cut.join(''));
  }
  return fitting;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + separator.length)];
}
