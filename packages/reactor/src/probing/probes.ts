/** The liveness endpoint: what the probe handlers say, if all is well; and `/readyz` beside it. */
import {
  ApiError,
  type Clock,
  type HttpEndpoint,
  type HttpSite,
  type KubeClient,
  type PageAnswer,
  type Seconds,
  type Service,
} from '@kopf-ts/core';
import { childController, describeError } from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import type { Health } from './health.js';
import { failedProbes, type ProbeResults, probeResults } from './probe-results.js';

export interface ProbesParts extends OperatorParts {
  readonly memo: unknown;
  readonly health: Health;
  readonly httpEndpoint: HttpEndpoint;
  /** `http://[host][:port][/path]`; without a host: on all interfaces. */
  readonly liveness: string;
  /** Receives the actual address, for port 0, which means any free port. */
  readonly onListening?: Parameters<HttpEndpoint['serve']>[0]['onListening'];
}

const READINESS_PATH = '/readyz';
/** How long to wait for the server when it has to be known whether it is there. */
const ANSWER_LIMIT: Seconds = 3;

/** Throws if there can never be such an endpoint. */
export function healthReporter(parts: ProbesParts): Service {
  const { httpEndpoint, liveness: url } = parts;
  const place = { name: 'liveness', url };
  httpEndpoint.check(place);
  return { name: 'health reporter', run: (signal) => serve(parts, place, signal) };
}

async function serve(parts: ProbesParts, place: Pick<HttpSite, 'name' | 'url'>, signal: AbortSignal): Promise<void> {
  const { clock, health, httpEndpoint, onListening } = parts;
  // Not the same as the signal: answers that are being made at that moment may still be finished.
  const closing = new AbortController();
  const probes = probeResults(parts, closing.signal);
  const answers = (): Promise<boolean> => isAnswering(parts.client, clock, signal);
  const page = { answer: () => livenessAnswer({ health, probes, answers }) };
  const beside = { [READINESS_PATH]: { answer: () => readinessAnswer(health) } };
  try {
    await httpEndpoint.serve({ ...place, page, beside, onListening, signal });
  } finally {
    closing.abort(signal.reason);
  }
}

function asJson(status: number, json: string): PageAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: json };
}

function readinessAnswer(health: Health): PageAnswer {
  const { isReady, report } = health.readiness();
  return asJson(isReady ? 200 : 503, JSON.stringify(report));
}

interface LivenessSources {
  readonly health: Health;
  readonly probes: ProbeResults;
  readonly answers: () => Promise<boolean>;
}

/** The results of handlers matter only if the operator itself is healthy. */
async function livenessAnswer({ health, probes, answers }: LivenessSources): Promise<PageAnswer> {
  const { isAlive, report } = await health.liveness({ answers });
  if (!isAlive) return asJson(503, JSON.stringify(report));
  try {
    return asJson(200, await probes.collect());
  } catch (error) {
    return asJson(500, JSON.stringify({ error: describeError(error), probes: failedProbes(error) }));
  }
}

/** Whether the API server answers, even if it refuses the request. */
async function isAnswering(client: KubeClient, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const limit = childController(signal);
  const timeouts = { connect: ANSWER_LIMIT, headers: ANSWER_LIMIT, total: ANSWER_LIMIT };
  try {
    const asked = client.request({
      method: 'GET',
      path: '/version',
      retries: 'none',
      urgent: true,
      timeouts,
      signal: limit.signal,
    });
    // The client's own limits do not include waiting for credentials.
    const tooLong = clock.sleep(ANSWER_LIMIT, { signal: limit.signal });
    return await Promise.race([asked.then(() => true), tooLong.then(() => false)]);
  } catch (error) {
    return error instanceof ApiError && error.status < 500;
  } finally {
    limit.abort();
  }
}
