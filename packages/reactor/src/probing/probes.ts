/** The liveness endpoint: what the probe handlers say, if all is well; and `/readyz` beside it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, type Clock, type KubeClient, type Seconds, type Service } from '@kopf-ts/core';
import { abortable, aborted, childController, describeError } from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import { type Endpoint, endpointError, parseEndpoint } from './endpoint.js';
import type { Health } from './health.js';
import { failedProbes, type ProbeResults, probeResults } from './probe-results.js';

export interface ProbesParts extends OperatorParts {
  readonly memo: unknown;
  readonly health: Health;
  /** `http://[host][:port][/path]`; without a host: on all interfaces. */
  readonly liveness: string;
  /** Told where it really listens: of interest if the port is 0, and any free one is taken. */
  readonly onListening?: ((address: AddressInfo) => void) | undefined;
}

const READINESS_PATH = '/readyz';
/** How long to wait for the server when it has to be known whether it is there. */
const ANSWER_LIMIT: Seconds = 3;
/** How long requests at the very end may wait for their answers. */
const CLOSING_LIMIT: Seconds = 1;

/** Throws if there can never be such an endpoint. */
export function healthReporter(parts: ProbesParts): Service {
  const endpoint = parseEndpoint(parts.liveness);
  return { name: 'health reporter', run: (signal) => serve(parts, endpoint, signal) };
}

async function serve(parts: ProbesParts, endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  const { logger, clock, health, onListening } = parts;
  // Not the same as the signal: answers that are being made at that moment may still be finished.
  const closing = new AbortController();
  const probes = probeResults(parts, closing.signal);
  const answers = (): Promise<boolean> => isAnswering(parts.client, clock, signal);
  const routes = new Map<string, () => Promise<Answer>>([
    [READINESS_PATH, async () => readinessAnswer(health)],
    [endpoint.path, () => livenessAnswer({ health, probes, answers })],
  ]);
  const server = createServer((request, response) => {
    void respond(request, response, routes).catch((error: unknown) => {
      logger.error(`The health status cannot be served: ${describeError(error)}`, { error });
      response.destroy();
    });
  });
  const failed = new Promise<never>((_resolve, reject) => {
    server.on('error', (error) => reject(whyNotListening(endpoint, error)));
  });
  try {
    await abortable(Promise.race([listening(server, endpoint), failed]), signal);
    const address = server.address() as AddressInfo;
    logger.debug(`Serving health status at ${endpoint.url}, port ${address.port}.`);
    onListening?.(address);
    await Promise.race([aborted(signal), failed]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await close(server, clock);
    closing.abort(signal.reason);
  }
}

function listening(server: Server, { host, port }: Endpoint): Promise<void> {
  return new Promise((resolve) => server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve));
}

function whyNotListening({ url }: Endpoint, error: NodeJS.ErrnoException): Error {
  const why = error.code === 'EADDRINUSE' ? 'the port is in use; give it another one' : describeError(error);
  return endpointError(`The liveness endpoint ${url} cannot be served: ${why}.`, { cause: error });
}

/** No new connections; the open ones have a little time, and are then closed. */
async function close(server: Server, clock: Clock): Promise<void> {
  if (!server.listening) {
    // It can still be on its way to that.
    server.once('listening', () => server.close());
    return;
  }
  const patience = new AbortController();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const showOut = async (): Promise<void> => {
    await clock.sleep(CLOSING_LIMIT, { wakeup: patience.signal });
    server.closeAllConnections();
  };
  const shownOut = showOut();
  await closed;
  patience.abort();
  await shownOut;
}

interface Answer {
  readonly status: number;
  readonly json: string;
}

function readinessAnswer(health: Health): Answer {
  const { isReady, report } = health.readiness();
  return { status: isReady ? 200 : 503, json: JSON.stringify(report) };
}

interface LivenessSources {
  readonly health: Health;
  readonly probes: ProbeResults;
  readonly answers: () => Promise<boolean>;
}

/** What the handlers say is of interest only if the operator itself is well. */
async function livenessAnswer({ health, probes, answers }: LivenessSources): Promise<Answer> {
  const { isAlive, report } = await health.liveness({ answers });
  if (!isAlive) return { status: 503, json: JSON.stringify(report) };
  try {
    return { status: 200, json: await probes.collect() };
  } catch (error) {
    return { status: 500, json: JSON.stringify({ error: describeError(error), probes: failedProbes(error) }) };
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  routes: ReadonlyMap<string, () => Promise<Answer>>,
): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const answer = routes.get(path);
  if (answer === undefined) return send(response, { status: 404, json: '{"error":"not found"}' });
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return send(response, { status: 405, json: '{"error":"method not allowed"}' });
  }
  send(response, await answer());
}

function send(response: ServerResponse, { status, json }: Answer): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(json),
    'cache-control': 'no-store',
    // Requests are rare; and connections that are kept are only in the way at the end.
    connection: 'close',
  };
  response.writeHead(status, headers).end(json);
}

/** Whether the API server is there for us, even if it says no. */
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
    // The client's own limits do not count the waiting for credentials.
    const tooLong = clock.sleep(ANSWER_LIMIT, { signal: limit.signal });
    return await Promise.race([asked.then(() => true), tooLong.then(() => false)]);
  } catch (error) {
    return error instanceof ApiError && error.status < 500;
  } finally {
    limit.abort();
  }
}
