/** The default way to the cluster: HTTP/1.1, with credentials, limits and retries. */
import {
  ApiError,
  ApiForbiddenError,
  ApiTooManyRequestsError,
  type Clock,
  type ConnectionInfo,
  type Credentials,
  settings as defaultSettings,
  KopfError,
  type KubeClient,
  type KubeConnection,
  type KubeConnectRequest,
  type KubeRequest,
  type Logger,
  type Seconds,
  type Settings,
  type Tracing,
} from '@kopf-ts/core';
import { anySignal, type Facts, NO_FACTS, safeTracing, toError } from '@kopf-ts/core/engine';
import { credentialsKey } from './auth/authorization.js';
import { staticCredentials } from './auth/credentials.js';
import { maskUrl } from './auth/secret-masking.js';
import { dispatchers, forStrangers, MAX_CALLS, type Purpose, tlsOptions } from './connections/dispatchers.js';
import type { Environment } from './connections/proxies.js';
import { isAboutCredentials, KubeConnectionError } from './errors.js';
import { checkSuccess, jsonOf, type Refusal, refusalOf } from './http/answers.js';
import { exchange, type HttpCall, type StreamedAnswer, streamedExchange, type WholeAnswer } from './http/exchange.js';
import { fairSemaphore } from './http/fair-semaphore.js';
import { lossyIntegers } from './http/lossy-integers.js';
import { type Address, addressOf } from './http/request-address.js';
import { requestHeaders, withTracing } from './http/request-headers.js';
import { isEviction, objectNameOf, type RequestKind, requestKindOf, titleOfKind } from './http/request-kind.js';
import { type RetryPolicy, retrying } from './http/retrying.js';
import { gates } from './http/throttling.js';
import { JsonLines, plainLines } from './streams/json-lines.js';
import { LineStream } from './streams/line-stream.js';
import { defaultUserAgent } from './user-agent.js';

/**
 * What a client is made of: credentials or one fixed connection, a clock, a logger.
 *
 * ```ts
 * const options: kopf.client.KubeClientOptions = {
 *   connection: { server: 'http://127.0.0.1:8001' },
 *   clock: kopf.reactor.systemClock,
 *   logger,
 *   userAgent: 'my-operator/1.0',
 * };
 * ```
 */
export interface KubeClientOptions {
  /** Where the credentials come from, and where refused ones are returned to. */
  readonly credentials?: Credentials;
  /** A fixed connection, instead of `credentials`. */
  readonly connection?: ConnectionInfo;
  /** Read at every request, as they may change at any time. Default: those of `settings()`. */
  readonly settings?: Pick<Settings, 'networking' | 'watching'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The user agent. Default: `kopf-ts/<version>`. */
  readonly userAgent?: string;
  /** The environment with the proxies, if the connection or the settings trust it. Default: that of the process. */
  readonly env?: Environment;
  /** A random number from 0 to 1, which spreads requests that were held back together. Default: `Math.random`. */
  readonly random?: () => number;
  /** Receives how requests end. Default: none. */
  readonly facts?: Facts | undefined;
  /** Spans around requests and the opening of streams, and headers for the server. */
  readonly tracing?: Tracing | undefined;
}

/**
 * The client over HTTP. It keeps connections alive until it is closed.
 *
 * ```ts
 * await using client: kopf.client.HttpKubeClient = kopf.client.kubeClient({
 *   connection: await kopf.client.login(),
 *   clock: kopf.reactor.systemClock,
 *   logger,
 * });
 * await client.request({ method: 'GET', path: '/version' });
 * ```
 */
export interface HttpKubeClient extends KubeClient, AsyncDisposable {
  /** Breaks all requests and streams, and closes all connections. Nothing can be sent afterwards. */
  close(): Promise<void>;
}

/** New credentials are tried at once; but if these are refused repeatedly, slow down. */
const MAX_INSTANT_LOGINS = 3;

/**
 * A client of a cluster. Close it after use: it keeps connections alive.
 *
 * ```ts
 * const connection = await kopf.client.login();
 * await using client = kopf.client.kubeClient({ connection, clock: kopf.reactor.systemClock, logger });
 * const pods = await client.request<{ items: kopf.Body[] }>({ method: 'GET', path: '/api/v1/pods' });
 * ```
 */
export function kubeClient(options: KubeClientOptions): HttpKubeClient {
  return new PooledKubeClient(options);
}

/** One request with all its tries. */
class Sending {
  readonly request: KubeRequest;
  readonly kind: RequestKind;
  readonly purpose: Purpose;
  /** The first of these to abort ends it. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** The server of the latest try. */
  address: Address | undefined;
  /** The credentials that were refused. */
  refused: Set<string> | undefined;
  /** The number of tries sent. */
  tries = 0;
  /** Time in queues before sending. */
  waited: Seconds = 0;
  /** The status of the latest response. */
  code: number | undefined;
  #waiting: ReturnType<typeof anySignal> | undefined;

  constructor(request: KubeRequest, purpose: Purpose, signals: readonly (AbortSignal | undefined)[]) {
    this.request = request;
    this.kind = requestKindOf(request, purpose === 'stream');
    this.purpose = purpose;
    this.signals = signals;
  }

  /** For logs. */
  get title(): string {
    const { request, address } = this;
    const url = address === undefined ? maskUrl(request.path) : `${address.origin}${address.path}`;
    return `${request.method} ${url}`;
  }

  /** All signals in one, for everything before the exchange. Created on demand: few requests wait for anything. */
  get waiting(): AbortSignal {
    this.#waiting ??= anySignal(...this.signals);
    return this.#waiting.signal;
  }

  throwIfAborted(): void {
    for (const signal of this.signals) signal?.throwIfAborted();
  }

  /** Must be called at the end: the signals may live for longer. */
  dispose(): void {
    this.#waiting?.dispose();
  }
}

class PooledKubeClient implements HttpKubeClient {
  readonly #credentials: Credentials;
  readonly #settings: Pick<Settings, 'networking' | 'watching'>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #headers;
  readonly #dispatchers;
  readonly #closing = new AbortController();
  readonly #turns = fairSemaphore(MAX_CALLS);
  readonly #gates;
  readonly #integers = lossyIntegers();
  readonly #facts: Facts;
  readonly #tracing: Tracing | undefined;

  constructor(options: KubeClientOptions) {
    this.#credentials = credentialsOf(options);
    this.#settings = options.settings ?? defaultSettings();
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#headers = requestHeaders(options.userAgent ?? defaultUserAgent(), options.logger);
    this.#gates = gates(options.clock, options.random ?? Math.random);
    this.#dispatchers = dispatchers(options.env ?? process.env);
    this.#facts = options.facts ?? NO_FACTS;
    this.#tracing = options.tracing && safeTracing({ tracing: options.tracing, logger: options.logger });
  }

  request<T = unknown>(request: KubeRequest): Promise<T> {
    const signals = [request.signal, this.#closing.signal];
    const sending = new Sending(request, request.urgent ? 'urgent' : 'call', signals);
    const sent = this.#tracing === undefined ? this.#send(sending) : this.#traced(sending, () => this.#send(sending));
    if (this.#facts.wants['request.ended']) {
      const tell = this.#teller(sending);
      sent.then(() => tell(undefined), tell);
    }
    return sent as Promise<T>;
  }

  stream<T = unknown>(request: KubeRequest): AsyncIterable<T> {
    return { [Symbol.asyncIterator]: () => this.#lineStream<T>(request) };
  }

  text(request: KubeRequest): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => this.#lineStream<string>(request, plainLines) };
  }

  async connect({ path, protocols, signal }: KubeConnectRequest): Promise<KubeConnection> {
    const signals = [signal, this.#closing.signal];
    const sending = new Sending({ method: 'GET', path, signal }, 'call', signals);
    try {
      for (let instantLogins = 0; ; instantLogins++) {
        sending.throwIfAborted();
        const info = this.#credentials.known?.() ?? (await this.#credentials.current(sending.waiting));
        try {
          return await this.#open(sending, info, protocols);
        } catch (error) {
          await this.#changeCredentials(sending, info, error, instantLogins);
        }
      }
    } finally {
      sending.dispose();
    }
  }

  async #open(sending: Sending, info: ConnectionInfo, protocols: readonly string[]): Promise<KubeConnection> {
    const { networking } = this.#settings;
    const { origin, path, isForeign } = addressOf(info, sending.request.path);
    sending.address = { origin, path, isForeign };
    if (info.dispatcher !== undefined) {
      throw new KopfError(`Commands in containers cannot go through a custom dispatcher: ${sending.title}`, {
        code: 'KOPF_CONNECT_BY_PROXY',
      });
    }
    const { openWebSocket } = await import('./connections/web-socket.js');
    return await openWebSocket({
      url: `${origin.replace(/^http/, 'ws')}${path}`,
      protocols,
      headers: this.#headersOf(sending.request, info, isForeign),
      tls: isForeign ? {} : tlsOptions(info),
      proxy: this.#dispatchers.proxyOf(info, networking.trustEnv),
      timeoutMs: networking.headersTimeout === undefined ? undefined : networking.headersTimeout * 1000,
      signals: sending.signals,
      refusalOf: (answer) => {
        if (answer.status >= 400) return refusalOf(answer, this.#clock, networking.maxRetryAfter).error;
        const message = `${origin} answered with HTTP ${answer.status} to a request for messages, which no API server does.`;
        return new KubeConnectionError(message, { code: 'KOPF_BAD_ANSWER' });
      },
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new KopfError('The client is closed.', { code: 'KOPF_CLIENT_CLOSED' }));
    await this.#dispatchers.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(sending: Sending): Promise<unknown> {
    try {
      return await this.#attempt(sending);
    } catch (error) {
      if (sending.request.retries === 'none') throw error;
      return await this.#retry(sending, error);
    } finally {
      sending.dispose();
    }
  }

  #lineStream<T>(request: KubeRequest, newLines = this.#jsonLines): LineStream<T> {
    const leaving = new AbortController();
    const sending = new Sending(request, 'stream', [request.signal, this.#closing.signal, leaving.signal]);
    let onOver: ((error: unknown) => void) | undefined;
    const open = async (): Promise<StreamedAnswer> => {
      if (this.#facts.wants['request.ended']) onOver = this.#teller(sending);
      try {
        return (await this.#attempt(sending)) as StreamedAnswer;
      } finally {
        sending.dispose();
      }
    };
    return new LineStream<T>({
      open: this.#tracing === undefined ? open : () => this.#traced(sending, open),
      leaving,
      lines: newLines(this.#settings.watching.maxLineSize),
      signal: request.signal,
      onProgress: request.onProgress,
      onOver: (error) => onOver?.(error),
    });
  }

  readonly #jsonLines = (maxBytes: number | undefined): JsonLines => new JsonLines(maxBytes, this.#integers.parse);

  #traced<R>({ request: { method, path } }: Sending, send: () => R): R {
    return (this.#tracing as Tracing).around({ kind: 'request', method, path: maskUrl(path) }, send);
  }

  /** Returns a function to be called with the result of the request that begins now: an error or none. */
  #teller(sending: Sending): (error: unknown) => void {
    const since = this.#clock.now();
    return (error) => {
      const { request, kind, code, tries, waited } = sending;
      this.#facts.tell({
        kind: 'request.ended',
        method: request.method,
        ...kind,
        path: maskUrl(request.path),
        code,
        error: error === undefined ? undefined : toError(error),
        tries,
        duration: this.#clock.now() - since,
        waited,
      });
    };
  }

  #tellOfRetry({ request, kind, tries }: Sending, error: unknown, delay: Seconds): void {
    if (!this.#facts.wants['request.retried']) return;
    this.#facts.tell({
      kind: 'request.retried',
      method: request.method,
      ...kind,
      ...objectNameOf(request.path),
      path: maskUrl(request.path),
      code: error instanceof ApiError ? error.status : undefined,
      error: toError(error),
      tries,
      delay,
    });
  }

  #retry(sending: Sending, failure: unknown): Promise<unknown> {
    const isForCaller = (error: unknown): boolean =>
      (isEviction(sending.kind) && error instanceof ApiTooManyRequestsError) ||
      (sending.request.retries === 'unless-forbidden' && error instanceof ApiForbiddenError);
    const policy: RetryPolicy = {
      settings: this.#settings.networking,
      clock: this.#clock,
      logger: this.#logger,
      signal: sending.waiting,
      isForCaller,
      onRetry: (error, delay) => this.#tellOfRetry(sending, error, delay),
    };
    return retrying(
      failure,
      policy,
      () => sending.title,
      () => this.#attempt(sending),
    );
  }

  /**
   * Retries with other credentials at once if the current ones are refused; with the same ones only after a pause.
   * Returns the object of the response, or the response itself for streams.
   *
   * All requests go through this: it awaits only promises.
   */
  async #attempt(sending: Sending): Promise<unknown> {
    const { request, purpose } = sending;
    for (let instantLogins = 0; ; instantLogins++) {
      sending.throwIfAborted();
      const info = this.#credentials.known?.() ?? (await this.#credentials.current(sending.waiting));
      let hasTurn = false;
      try {
        sending.address = addressOf(info, request.path);
        const limits = this.#limitsOf(request, purpose);
        hasTurn = this.#mayGo(sending);
        let spent = 0;
        if (!hasTurn) {
          const since = this.#clock.now();
          spent = await this.#enter(sending, limits.totalLimit);
          sending.waited += this.#clock.now() - since;
          hasTurn = true;
        }
        const call = this.#callOf(sending, info, limits, spent);
        sending.tries += 1;
        if (purpose !== 'stream') return this.#objectOf(sending, await exchange(call));
        const answer = await streamedExchange(call);
        this.#check(sending, answer);
        return answer;
      } catch (error) {
        await this.#changeCredentials(sending, info, error, instantLogins);
      } finally {
        if (hasTurn && purpose === 'call') this.#turns.release(sending.kind.resource);
      }
    }
  }

  /** Throws the error unless there are other credentials that may help. */
  async #changeCredentials(
    sending: Sending,
    info: ConnectionInfo,
    error: unknown,
    instantLogins: number,
  ): Promise<void> {
    const { request, purpose, address } = sending;
    // Refusals by other servers say nothing about our credentials: they never get any.
    if (address?.isForeign || !(error instanceof Error) || !isAboutCredentials(error)) throw error;
    await this.#credentials.invalidate(info, error);
    if (purpose === 'stream' || request.retries === 'none' || instantLogins >= MAX_INSTANT_LOGINS) throw error;
    sending.refused ??= new Set();
    sending.refused.add(credentialsKey(info));
    const next = await this.#credentials.current(sending.waiting);
    if (sending.refused.has(credentialsKey(next))) throw error;
    this.#logger.debug(`The server refused the credentials or certificates; trying others: ${sending.title}`);
  }

  #callOf(sending: Sending, info: ConnectionInfo, limits: Limits, spent: Seconds): HttpCall {
    const { request, purpose, address, signals } = sending;
    const { origin, path, isForeign } = address as Address;
    const { trustEnv, maxAnswerSize } = this.#settings.networking;
    const visited = isForeign ? forStrangers(info) : info;
    return {
      dispatcher: this.#dispatchers.for(visited, purpose, limits.connectLimit, trustEnv),
      origin,
      path,
      method: request.method,
      headers: this.#headersOf(request, info, isForeign),
      body: request.body === undefined ? null : this.#textOf(request),
      mayBegin: request.mayBegin,
      clock: this.#clock,
      connectLimit: limits.connectLimit,
      headersLimit: limits.headersLimit,
      totalLimit: limits.totalLimit,
      spent,
      maxBytes: maxAnswerSize,
      signals,
      onConnectionLost: this.#onConnectionLost,
    };
  }

  #headersOf(request: KubeRequest, info: ConnectionInfo, isForeign: boolean): HttpCall['headers'] {
    const headers = this.#headers(request, info, isForeign);
    return this.#tracing === undefined || isForeign ? headers : withTracing(headers, this.#tracing.headers());
  }

  readonly #onConnectionLost = (dispatcher: HttpCall['dispatcher']): void => this.#dispatchers.retire(dispatcher);

  #objectOf(sending: Sending, answer: WholeAnswer): unknown {
    this.#check(sending, answer);
    const { request, kind } = sending;
    const { origin, isForeign } = sending.address as Address;
    const mayBeEmpty = isForeign || !mustAnswerObject(request, kind);
    return jsonOf(answer, origin, mayBeEmpty, this.#integers.parse);
  }

  /** Throws the error for the response, if it is not a success. */
  #check(sending: Sending, answer: WholeAnswer): void {
    const { origin } = sending.address as Address;
    sending.code = answer.status;
    if (answer.status >= 400) {
      const refusal = refusalOf(answer, this.#clock, this.#settings.networking.maxRetryAfter);
      this.#holdBack(sending, origin, refusal);
      throw refusal.error;
    }
    checkSuccess(answer, origin);
  }

  /** Whether it may go at once; if so, its turn is taken. */
  #mayGo({ kind, purpose, address }: Sending): boolean {
    if (purpose === 'urgent') return true;
    if (!this.#gates.areOpen && this.#gates.isClosed(gateOf(address?.origin, kind))) return false;
    return purpose !== 'call' || this.#turns.tryTake(kind.resource);
  }

  /** Waits until the request may go, and takes its turn; returns how much of its time was spent on pauses. */
  async #enter(sending: Sending, limit: Seconds | undefined): Promise<Seconds> {
    const { kind, purpose, waiting: signal, address } = sending;
    const gate = gateOf(address?.origin, kind);
    const { resource } = kind;
    let spent = 0;
    for (;;) {
      // Not the other way round: requests that the server holds back would take the turns of the others.
      if (this.#gates.isClosed(gate)) {
        spent += await this.#gates.pass(gate, { limit: limit === undefined ? undefined : limit - spent, signal });
      }
      if (purpose !== 'call') return spent;
      const turn = this.#turns.take(resource, signal);
      if (turn !== undefined) await turn;
      if (signal.aborted || this.#gates.isClosed(gate)) {
        this.#turns.release(resource);
        signal.throwIfAborted();
      } else return spent;
    }
  }

  /** Objects are JSON, which is also YAML; a text of YAML goes as it is. */
  #textOf({ body, contentType }: KubeRequest): string {
    if (typeof body === 'string' && contentType === 'application/apply-patch+yaml') return body;
    return this.#integers.stringify(body);
  }

  #limitsOf({ timeouts }: KubeRequest, purpose: Purpose): Limits {
    const { networking, watching } = this.#settings;
    const headersLimit = timeouts?.headers ?? networking.headersTimeout;
    const connectLimit = timeouts?.connect;
    if (purpose !== 'stream') {
      return {
        connectLimit: connectLimit ?? networking.connectTimeout,
        headersLimit,
        totalLimit: timeouts?.total ?? networking.requestTimeout,
      };
    }
    return {
      connectLimit: connectLimit ?? watching.connectTimeout ?? networking.connectTimeout ?? networking.requestTimeout,
      headersLimit,
      totalLimit: timeouts?.total ?? watching.clientTimeout,
    };
  }

  /** Until the end of the pause that the server has asked for, all requests of this kind wait. */
  #holdBack({ kind, purpose }: Sending, origin: string, { error, askedPause }: Refusal): void {
    const { retryAfter } = error;
    if (!(error instanceof ApiTooManyRequestsError) || !retryAfter || !askedPause) return;
    if (purpose === 'urgent' || isEviction(kind)) return;
    const wasOpen = this.#gates.close(gateOf(origin, kind), retryAfter);
    const limit = retryAfter < askedPause ? `, which asked for ${askedPause}s (see networking.maxRetryAfter)` : '';
    const words = error.message.startsWith('HTTP ') ? '' : `: ${error.message}`;
    // Many are refused at once; one line tells it all.
    this.#logger[wasOpen ? 'warn' : 'debug'](
      `Requests to "${titleOfKind(kind)}" wait for ${retryAfter}s after HTTP 429 from ${origin}${limit}${words}`,
    );
  }
}

interface Limits {
  readonly connectLimit: Seconds | undefined;
  readonly headersLimit: Seconds | undefined;
  readonly totalLimit: Seconds | undefined;
}

/** The name of the gate is a part of error messages. */
function gateOf(origin: string | undefined, kind: RequestKind): string {
  return `"${titleOfKind(kind)}" at ${origin}`;
}

/** Deletions may be answered with nothing. Behind the proxies of pods and services is not Kubernetes, but anything. */
function mustAnswerObject({ method }: KubeRequest, { subresource }: RequestKind): boolean {
  return method !== 'DELETE' && subresource !== 'proxy';
}

function credentialsOf({ credentials, connection }: KubeClientOptions): Credentials {
  if (credentials !== undefined && connection === undefined) return credentials;
  if (connection !== undefined && credentials === undefined) return staticCredentials(connection);
  throw new KopfError('A client needs either `credentials` or a `connection`, and not both.', {
    code: 'KOPF_BAD_CLIENT_OPTIONS',
  });
}
