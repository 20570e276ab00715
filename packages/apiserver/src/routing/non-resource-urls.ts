/** Everything that is not about objects: discovery, the version, health, and the schemas for clients. */
import { createHash } from 'node:crypto';
import type { ApiAnswer, ApiRequest } from '../contracts/request.js';
import type { Wanted } from '../http/accept.js';
import { pageNotFound } from '../http/answers.js';
import { noSuchResource } from '../http/status-errors.js';
import { addressOf, type OpenApi } from '../openapi/documents.js';
import { OPENAPI_PROTOBUF } from '../openapi/version-two-protobuf.js';
import { methodNotAllowed } from '../verbs/dispatch.js';
import { jsonAnswer } from './backend.js';
import type { Discovery } from './discovery.js';

/** The version that is behaved like. */
const VERSION = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.4+kopf-ts',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: '',
};

/** What can be asked of the health, each of them also alone. There is nothing that could fail. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  healthz: ['ping', 'log', 'etcd'],
  livez: ['ping', 'log', 'etcd'],
  readyz: ['ping', 'log', 'etcd', 'informer-sync', 'shutdown'],
};

const PATHS: readonly string[] = [
  '/.well-known/openid-configuration',
  ...Object.entries(CHECKS).flatMap(([name, checks]) => [`/${name}`, ...checks.map((check) => `/${name}/${check}`)]),
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/version',
];

export interface Documents {
  readonly discovery: Discovery;
  readonly openApi: OpenApi;
}

export async function answerAside(
  request: ApiRequest,
  segments: readonly string[],
  { discovery, openApi }: Documents,
  wanted: Wanted,
): Promise<ApiAnswer> {
  if (Object.hasOwn(CHECKS, segments[0] ?? '')) return healthOf(request);
  if (segments[0] === 'openapi' && segments[1] === 'v3') return await openApiOf(request, segments.slice(2), openApi);
  if (segments[0] === 'openapi' && segments[1] === 'v2' && segments.length === 2)
    return await oldOpenApiOf(request, openApi);
  const forPeople = documentForPeople(segments, discovery);
  if (forPeople !== undefined) return indented(request, forPeople, segments.length === 0);
  const document = documentOf(segments, discovery, wanted);
  if (document === undefined) return pageNotFound();
  refuseMethod(request, !isServedWhole(segments, discovery));
  const answer = jsonAnswer(200, JSON.stringify(document));
  if (wanted.as !== 'APIGroupDiscoveryList' || segments.length > 1) return answer;
  const type = `application/json;g=apidiscovery.k8s.io;v=${wanted.version};as=APIGroupDiscoveryList`;
  const etag = `"${createHash('sha512').update(answer.body).digest('hex').toUpperCase()}"`;
  const headers = { 'content-type': type, vary: 'Accept', 'cache-control': 'public', etag };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: '' };
  return { ...answer, headers };
}

/** These are the same for everyone, and easy to read. */
function documentForPeople([first, second]: readonly string[], discovery: Discovery): object | undefined {
  if (first === 'version' && second === undefined) return VERSION;
  return first === undefined ? { paths: [...discovery.paths(), ...PATHS].sort() } : undefined;
}

/** As there: documents of built-in kinds have no heads, those that are made of all kinds do. */
function isServedWhole([first, second, third]: readonly string[], discovery: Discovery): boolean {
  return first === 'api' || (second !== undefined && third !== undefined && discovery.isBuiltin(second));
}

function refuseMethod({ method }: ApiRequest, hasHead: boolean): void {
  if (method !== 'GET' && !(hasHead && method === 'HEAD')) throw methodNotAllowed();
}

function indented(request: ApiRequest, document: object, hasHead: boolean): ApiAnswer {
  refuseMethod(request, hasHead);
  return { ...jsonAnswer(200, ''), body: JSON.stringify(document, undefined, 2), isLine: false };
}

/** By the very path: here a slash at the end does matter. */
function healthOf({ url }: ApiRequest): ApiAnswer {
  const [path = '', search = ''] = url.split('?');
  const [, name = '', ...rest] = path.split('/');
  const checks = CHECKS[name] ?? [];
  const check = rest.join('/');
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  if (rest.length > 0) return checks.includes(check) ? { status: 200, headers, body: 'ok' } : pageNotFound();
  const verbose = [...checks.map((one) => `[+]${one} ok`), `${name} check passed`, ''].join('\n');
  const body = new URLSearchParams(search).has('verbose') ? verbose : 'ok';
  return { status: 200, headers: { ...headers, 'x-content-type-options': 'nosniff' }, body };
}

/** With the right hash in the address, the document never changes; with a wrong one, there is a better address. */
async function openApiOf(request: ApiRequest, segments: readonly string[], openApi: OpenApi): Promise<ApiAnswer> {
  const { url, headers } = request;
  refuseMethod(request, true);
  if (segments.length === 0) {
    const type = 'text/plain; charset=utf-8';
    return { status: 200, headers: { 'content-type': type }, body: JSON.stringify(openApi.index()) };
  }
  const name = segments.join('/');
  const document = openApi.document(name);
  if (document === undefined) return { status: 404, headers: {}, body: '' };
  const hash = new URLSearchParams(url.split('?')[1] ?? '').get('hash') ?? '';
  const etag = `"${document.hash}"`;
  const common = { 'content-type': 'application/json', etag, vary: 'Accept' };
  if (hash !== '' && hash !== document.hash) {
    return { status: 301, headers: { ...common, location: addressOf(name, document) }, body: '' };
  }
  if (headers['if-none-match'] === etag) return { status: 304, headers: common, body: '' };
  const caching = hash === '' ? {} : { 'cache-control': 'public, immutable' };
  return { status: 200, headers: { ...common, ...caching }, body: (await document.content()).text };
}

/** In JSON, or in protobuf for those who prefer it. */
async function oldOpenApiOf(request: ApiRequest, openApi: OpenApi): Promise<ApiAnswer> {
  const { headers } = request;
  refuseMethod(request, true);
  const document = openApi.versionTwo();
  const etag = `"${document.hash}"`;
  const isProtobuf = (headers.accept ?? '').includes(OPENAPI_PROTOBUF);
  const type = isProtobuf ? OPENAPI_PROTOBUF.replace('@', '.') : 'application/json';
  const caching = request.method === 'HEAD' ? {} : { 'cache-control': 'public' };
  const common = { 'content-type': type, etag, vary: 'Accept', ...caching };
  if (headers['if-none-match'] === etag) return { status: 304, headers: common, body: '' };
  if (isProtobuf) return { status: 200, headers: common, body: '', bytes: await document.protobuf() };
  return { status: 200, headers: common, body: (await document.content()).text };
}

function documentOf(segments: readonly string[], discovery: Discovery, wanted: Wanted): object | undefined {
  const [first = '', second, third] = segments;
  if (segments.length === 1 && (first === 'api' || first === 'apis')) {
    if (wanted.as === 'APIGroupDiscoveryList') {
      return discovery.aggregated(first === 'api', `apidiscovery.k8s.io/${wanted.version}`);
    }
    return first === 'api' ? discovery.coreVersions() : discovery.groups();
  }
  if (first === 'api' && segments.length === 2) return orRefuse(discovery.resources('', second as string));
  if (first === 'apis' && segments.length === 2) return discovery.group(second as string);
  if (first === 'apis' && segments.length === 3) {
    // Where groups have names, the core has none.
    if (second === '') return undefined;
    const document = discovery.resources(second as string, third as string);
    return discovery.isBuiltin(second as string) ? orRefuse(document) : document;
  }
  return undefined;
}

function orRefuse(document: object | undefined): object {
  if (document === undefined) throw noSuchResource();
  return document;
}
