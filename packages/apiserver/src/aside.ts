/** Everything that is not about objects: discovery, the version, health, and the schemas for clients. */
import type { Wanted } from './accept.js';
import { pageNotFound } from './answers.js';
import { jsonAnswer } from './backend.js';
import type { ApiAnswer, ApiRequest } from './contracts/pipeline.js';
import type { Discovery } from './discovery.js';
import { noSuchResource } from './status.js';
import { methodNotAllowed } from './verbs/dispatch.js';

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

const HEALTH = new Set(['healthz', 'livez', 'readyz']);

export function answerAside(
  request: ApiRequest,
  segments: readonly string[],
  discovery: Discovery,
  wanted: Wanted,
): ApiAnswer {
  const document = documentOf(segments, discovery, wanted);
  if (document === undefined) return pageNotFound();
  if (typeof document === 'string') {
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
      body: document,
    };
  }
  if (request.method !== 'GET') throw methodNotAllowed();
  const answer = jsonAnswer(200, JSON.stringify(document));
  if (wanted.as !== 'APIGroupDiscoveryList' || segments.length > 1) return answer;
  const type = `application/json;g=apidiscovery.k8s.io;v=${wanted.version};as=APIGroupDiscoveryList`;
  return { ...answer, headers: { ...answer.headers, 'content-type': type, vary: 'Accept' } };
}

function documentOf(segments: readonly string[], discovery: Discovery, wanted: Wanted): object | string | undefined {
  const [first = '', second, third] = segments;
  if (segments.length === 0)
    return { paths: ['/api', '/api/v1', '/apis', '/healthz', '/livez', '/readyz', '/version'] };
  if (HEALTH.has(first)) return 'ok';
  if (segments.length === 1 && (first === 'api' || first === 'apis')) {
    if (wanted.as === 'APIGroupDiscoveryList') {
      return discovery.aggregated(first === 'api', `apidiscovery.k8s.io/${wanted.version}`);
    }
    return first === 'api' ? discovery.coreVersions() : discovery.groups();
  }
  if (first === 'api' && segments.length === 2) return orRefuse(discovery.resources('', second as string));
  if (first === 'apis' && segments.length === 2) return discovery.group(second as string);
  if (first === 'apis' && segments.length === 3) {
    if (discovery.group(second as string) === undefined) return undefined;
    return orRefuse(discovery.resources(second as string, third as string));
  }
  if (first === 'version' && segments.length === 1) return VERSION;
  if (first === 'openapi' && second === 'v3' && segments.length === 2) return { paths: {} };
  if (first === 'openapi' && second === 'v2' && segments.length === 2) {
    return { swagger: '2.0', info: { title: 'Kubernetes', version: VERSION.gitVersion }, paths: {}, definitions: {} };
  }
  return undefined;
}

function orRefuse(document: object | undefined): object {
  if (document === undefined) throw noSuchResource();
  return document;
}
