/**
 * Requests by Node's own HTTP, over pools of kept-alive connections.
 *
 * It speaks the dispatchers' language of undici, so that one of these can stand in its place, for proxies or by the
 * user's wish; but undici itself takes 10 MB of memory before the first request, and 20 MB after some thousands.
 */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestByHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestByHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';

export interface NodeDispatcherOptions {
  /** So many at most to one server; the other requests wait for them. */
  readonly connections: number;
  /** Unused for so long, a connection is closed. */
  readonly idleMs: number;
  /** After so long of silence, the kernel asks the other side whether it is there. */
  readonly keepAliveMs: number;
  /** Zero is no limit. */
  readonly connectMs: number;
  /** For `https:` addresses. */
  readonly tls: {
    readonly secureContext?: SecureContext;
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
}

type Handler = Dispatcher.DispatchHandler;

interface Place {
  readonly host: string;
  readonly port: string;
  /** As the server is addressed in headers. */
  readonly name: string;
  readonly isSecure: boolean;
}

/** All connections of one agent have the same secrets: these need not be in their names, which are made for each request. */
class SecureAgent extends HttpsAgent {
  override getName({ host, port }: { host?: string | null; port?: string | number | null } = {}): string {
    return `${host}:${port}`;
  }
}

export class NodeDispatcher {
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;
  readonly #connectMs: number;
  readonly #places = new Map<string, Place>();
  /** Of which the answers are not complete. */
  readonly #sent = new Set<Sent>();

  constructor({ connections, idleMs, keepAliveMs, connectMs, tls }: NodeDispatcherOptions) {
    const pool = {
      keepAlive: true,
      keepAliveMsecs: keepAliveMs,
      keepAliveInitialDelay: keepAliveMs,
      noDelay: true,
      maxSockets: connections,
      timeout: idleMs,
    };
    this.#http = new HttpAgent(pool);
    this.#https = new SecureAgent({ ...pool, ...tls });
    this.#connectMs = connectMs;
  }

  dispatch({ origin, path, method, headers, body }: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const { host, port, name, isSecure } = this.#placeOf(String(origin));
    const lines = ['host', name];
    for (const [title, value] of Object.entries(headers as Record<string, string | string[]>)) {
      for (const one of typeof value === 'string' ? [value] : value) lines.push(title, one);
    }
    // Node leaves it out for some methods that seldom have a body.
    if (typeof body === 'string') lines.push('content-length', String(Buffer.byteLength(body)));
    const options = { host, port, path, method, headers: lines, agent: isSecure ? this.#https : this.#http };
    const request = isSecure ? requestByHttps(options) : requestByHttp(options);
    new Sent(request, body as string | null, handler, this.#connectMs, this.#sent);
    return true;
  }

  /** Finishes what is on its way, and keeps no connection after that. */
  async close(): Promise<void> {
    for (const agent of [this.#http, this.#https]) {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
  }

  async destroy(): Promise<void> {
    for (const sent of this.#sent) sent.abort(new Error('The connections are closed.'));
    this.#http.destroy();
    this.#https.destroy();
  }

  #placeOf(origin: string): Place {
    const known = this.#places.get(origin);
    if (known !== undefined) return known;
    const { hostname, host: name, port, protocol } = new URL(origin);
    const isSecure = protocol === 'https:';
    // An address of IPv6 stands in brackets in URLs, and nowhere else.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const place = { host, port: port || (isSecure ? '443' : '80'), name, isSecure };
    this.#places.set(origin, place);
    return place;
  }
}

/** One request on its way, until its answer is complete. */
class Sent implements Dispatcher.DispatchController {
  readonly #request: ClientRequest;
  readonly #body: string | null;
  readonly #handler: Handler;
  readonly #all: Set<Sent>;
  #answer: IncomingMessage | undefined;
  #isOver = false;
  aborted = false;
  paused = false;
  reason: Error | null = null;

  constructor(request: ClientRequest, body: string | null, handler: Handler, connectMs: number, all: Set<Sent>) {
    this.#request = request;
    this.#body = body;
    this.#handler = handler;
    this.#all = all;
    all.add(this);
    request.once('socket', (socket) => this.#onSocket(socket, connectMs));
    request.once('response', (answer) => this.#onAnswer(answer));
    request.on('error', this.#onError);
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.aborted = true;
    this.reason = reason;
    // Without the reason: if the answer is complete meanwhile, there is nobody who would take it as an error.
    this.#request.destroy();
    this.#onError(reason);
  }

  pause(): void {
    this.paused = true;
    this.#answer?.pause();
  }

  resume(): void {
    this.paused = false;
    this.#answer?.resume();
  }

  /** Nothing is written before there is a connection: until then, it may turn out to be no longer wanted. */
  #onSocket(socket: Socket, connectMs: number): void {
    const isReady = !socket.connecting && !(socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting;
    if (isReady) {
      this.#begin();
      return;
    }
    const stopLimit = connectMs === 0 ? () => {} : destroyAfter(connectMs, this.#request);
    socket.once('close', stopLimit);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      stopLimit();
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#isOver) return;
    this.#handler.onRequestStart?.(this, undefined);
    if (!this.#isOver) this.#request.end(this.#body ?? undefined);
  }

  #onAnswer(answer: IncomingMessage): void {
    const handler = this.#handler;
    this.#answer = answer;
    answer.on('error', this.#onError);
    answer.on('data', (chunk: Buffer) => handler.onResponseData?.(this, chunk));
    answer.once('end', () => {
      this.#finish();
      handler.onResponseEnd?.(this, {});
    });
    handler.onResponseStart?.(this, answer.statusCode ?? 0, answer.headers, answer.statusMessage);
  }

  readonly #onError = (error: Error): void => {
    if (this.#isOver) return;
    this.#finish();
    this.#handler.onResponseError?.(this, error);
  };

  #finish(): void {
    this.#isOver = true;
    this.#all.delete(this);
  }
}

/** Unless stopped before. */
function destroyAfter(ms: number, request: ClientRequest): () => void {
  const timer = setTimeout(() => request.destroy(new Error(`There is no connection after ${ms / 1000} seconds.`)), ms);
  return () => clearTimeout(timer);
}
