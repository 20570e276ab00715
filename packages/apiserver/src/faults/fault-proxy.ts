/**
 * A small proxy in front of a real API server, with the same faults as the embedded server has.
 * It understands just enough of HTTP to tell watches from other requests; everything else is passed as it is.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '@kopf-ts/core';
import type { RequestFault, ServerControl } from '../contracts/faults.js';
import type { StreamLine } from '../contracts/request.js';
import { systemClock } from '../system-clock.js';
import { Faults } from './fault-plan.js';
import { readTarget, type Target } from './fault-proxy-target.js';
import { type FaultyRequest, isWatch, renderAnswer } from './fault-rules.js';

/**
 * What is behind the proxy, and how the proxy is reached.
 *
 * ```ts
 * import type { FaultProxyOptions } from 'kopf-ts/testing';
 * const options: FaultProxyOptions = { target: 'http://127.0.0.1:8001', clock };
 * ```
 */
export interface FaultProxyOptions {
  /** The URL of the real server, its kubeconfig (the text of it), or the details. */
  readonly target: string | Target;
  /** Speak HTTPS with these PEMs; plain HTTP otherwise. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly clock?: Clock;
}

/**
 * A proxy that adds faults to any server.
 *
 * ```ts
 * import { type FaultProxy, faultProxy } from 'kopf-ts/testing';
 * const proxy: FaultProxy = await faultProxy({ target: 'http://127.0.0.1:8001' });
 * proxy.faults.add({ match: { watch: true }, stream: { freeze: true } });
 * await proxy.stop();
 * ```
 */
export interface FaultProxy {
  /** Where clients should go instead of the real server. Loopback only. */
  readonly url: string;
  readonly faults: Faults;
  stop(): Promise<void>;
}

/**
 * Starts a proxy in front of an API server.
 *
 * ```ts
 * import { faultProxy } from 'kopf-ts/testing';
 * const proxy = await faultProxy({ target: 'http://127.0.0.1:8001' });
 * proxy.faults.add({ answer: { status: 500 }, times: 2 });
 * await fetch(`${proxy.url}/version`);
 * await proxy.stop();
 * ```
 */
export async function faultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const target = await readTarget(options.target);
  const clock = options.clock ?? systemClock();
  const sockets = new Set<Socket>();
  const versionsToForget = new Set<string>();
  let [port, isRefusing, hasForgotten] = [0, false, false];

  const control: ServerControl = {
    async restart({ downFor = 0 } = {}) {
      await close(server, sockets);
      if (downFor > 0) await clock.sleep(downFor);
      await listen(server, port);
    },
    dropConnections: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    // A real server cannot be asked for it; but for its clients it is the same if their next watches fail once.
    compact: () => {
      hasForgotten = true;
      versionsToForget.clear();
    },
    refuseConnections: (refuse) => {
      isRefusing = refuse;
    },
  };
  const faults = new Faults(clock, control);

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = describeRequest(incoming);
    const fault = (await faults.beforeRequest(request)) ?? forget(request);
    // Nobody waits for the answer any more; and nobody would ever close a watch that is opened now.
    if (outgoing.destroyed) return;
    if (fault === undefined) forward(target, faults, request, incoming, outgoing);
    else if (fault.kind === 'reset') incoming.socket.resetAndDestroy();
    else {
      incoming.resume();
      const { status, headers, body } = fault.answer;
      outgoing.writeHead(status, headers as Record<string, string>).end(body);
    }
  };
  const forget = ({ url }: FaultyRequest): RequestFault | undefined => {
    const [path = '', query = ''] = url.split('?', 2);
    const version = new URLSearchParams(query).get('resourceVersion') ?? '';
    if (!hasForgotten || !isWatch(query) || version === '' || version === '0' || versionsToForget.has(path)) {
      return undefined;
    }
    versionsToForget.add(path);
    return { kind: 'answer', answer: renderAnswer({ status: 410 }) };
  };
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    handle(incoming, outgoing).catch(() => incoming.socket.resetAndDestroy());
  };
  const server: Server = options.tls === undefined ? createServer(onRequest) : createTlsServer(options.tls, onRequest);
  server.requestTimeout = 0;
  server.on('connection', (socket: Socket) => {
    if (isRefusing) {
      socket.resetAndDestroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  await listen(server, 0);
  port = (server.address() as AddressInfo).port;
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    faults,
    async stop() {
      faults.clear();
      await close(server, sockets);
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.resetAndDestroy();
  });
}

function describeRequest(incoming: IncomingMessage): FaultyRequest {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = [value].flat().join(', ');
  return { method: incoming.method ?? 'GET', url: incoming.url ?? '/', headers };
}

function forward(
  target: Target,
  faults: Faults,
  request: FaultyRequest,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const base = new URL(target.url);
  const headers = { ...incoming.headers, host: base.host };
  if (headers.authorization === undefined && target.token !== undefined) {
    headers.authorization = `Bearer ${target.token}`;
  }
  const open = base.protocol === 'https:' ? httpsRequest : httpRequest;
  const { ca, cert, key, insecure } = target;
  const upstream = open(new URL(request.url, base), {
    method: request.method,
    headers,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(insecure === true ? { rejectUnauthorized: false } : {}),
  });
  upstream.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    const [, query = ''] = request.url.split('?', 2);
    if (answer.statusCode === 200 && isWatch(query)) relay(faults, request, answer, outgoing).catch(giveUp);
    else answer.pipe(outgoing);
    answer.on('error', giveUp);
  });
  const giveUp = (): void => {
    incoming.socket.resetAndDestroy();
  };
  upstream.on('error', giveUp);
  outgoing.on('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

/** Passes a watch line by line, as far as the faults let them. */
async function relay(
  faults: Faults,
  request: FaultyRequest,
  answer: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.flushHeaders();
  const fault = faults.onStream(request, {
    end: () => {
      outgoing.end();
      answer.destroy();
    },
    reset: () => {
      outgoing.socket?.resetAndDestroy();
      answer.destroy();
    },
    write: (text) => {
      outgoing.write(text);
    },
  });
  try {
    outgoing.once('close', () => fault.closed());
    for await (const line of linesOf(answer)) {
      if (outgoing.destroyed || outgoing.writableEnded) return;
      if ((await fault.pass(line)) === 'send' && !outgoing.writableEnded && !outgoing.destroyed) {
        if (!outgoing.write(line.text)) await drained(outgoing);
      }
    }
    outgoing.end();
  } finally {
    fault.closed();
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<StreamLine> {
  let rest = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield { type: typeOf(line), text: `${line}\n` };
  }
  if (rest !== '') yield { type: typeOf(rest), text: rest };
}

function typeOf(line: string): StreamLine['type'] {
  const match = /^\s*\{\s*"type"\s*:\s*"(ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)"/.exec(line);
  return (match?.[1] ?? 'ERROR') as StreamLine['type'];
}
