/** The default way to the cluster: HTTP/1.1 by undici, with credentials, limits and retries. */
import {
  ApiTooManyRequestsError,
  type Clock,
  type ConnectionInfo,
  type Credentials,
  settings as defaultSettings,
  KopfError,
  type KubeClient,
  type KubeRequest,
  type Logger,
  type Seconds,
  type Settings,
} from '@kopf-ts/core';
import { anySignal } from '@kopf-ts/core/engine';
import { authorizationOf, credentialsKey, impersonationHeaders, isAuthorizedTwice } from './auth/authorization.js';
import { staticCredentials } from './auth/credentials.js';
import { maskUrl } from './auth/secret-masking.js';
import { isAboutCredentials } from './errors.js';
import { checkSuccess, isError, jsonOf, type Refusal, refusalOf } from './http/answers.js';
import { dispatchers, forStrangers, MAX_CALLS, type Purpose } from './http/dispatchers.js';
import { exchange, type HttpAnswer, type HttpCall } from './http/exchange.js';
import { fairSemaphore } from './http/fair-semaphore.js';
import { lossyIntegers } from './http/lossy-integers.js';
import type { Environment } from './http/proxies.js';
import { type Address, addressOf } from './http/request-address.js';
import { isEviction, type RequestKind, requestKindOf, titleOfKind } from './http/request-kind.js';
import { retrying } from './http/retrying.js';
import { gates } from './http/throttling.js';
import { JsonLines } from './streams/json-lines.js';
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
  /** Where the credentials come from, and where they are returned to when the server refuses them. */
  readonly credentials?: Credentials;
  /** Instead of `credentials`: always the same connection. */
  readonly connection?: ConnectionInfo;
  /** Read at every request, as they may change at any time. Default: as `settings()` has them. */
  readonly settings?: Pick<Settings, 'networking' | 'watching'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: `kopf-ts/<version>`. */
  readonly userAgent?: string;
  /** Where the proxies are looked for, if the connection or the settings trust it. Default: that of the process. */
  readonly env?: Environment;
  /** From 0 to 1. Spreads the requests that were held back together. Default: `Math.random`. */
  readonly random?: () => number;
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

/** New credentials are tried at once; but if these are refused, too, and again, it is time to slow down. */
const MAX_INSTANT_LOGINS = 3;

/** One request on its way, with all its attempts. */
interface Sending<T> {
  readonly request: KubeRequest;
  readonly kind: RequestKind;
  readonly purpose: Purpose;
  /** What is made of an answer that is not an error. */
  readonly receive: (answer: HttpAnswer, address: Address) => Promise<T>;
  /** For what comes before the exchange: credentials, pauses. */
  readonly waiting: AbortSignal;
  /** For the exchange itself, which may go on for longer. */
  readonly breaking: readonly (AbortSignal | undefined)[];
  /** Which credentials were tried in vain; `undefined` to try no others. */
  readonly refused: Set<string> | undefined;
  /** Where it was sent to the last time. */
  url?: string;
  isForeign?: boolean;
}

/**
 * A client of a cluster. Close it when it is not needed any more: it keeps connections alive.
 *
 * ```ts
 * const connection = await kopf.client.login();
 * await using client = kopf.client.kubeClient({ connection, clock: kopf.reactor.systemClock, logger });
 * const pods = await client.request<{ items: kopf.Body[] }>({ method: 'GET', path: '/api/v1/pods' });
 * ```
 */
export function kubeClient(options: KubeClientOptions): HttpKubeClient {
  return new UndiciKubeClient(options);
}

class UndiciKubeClient implements HttpKubeClient {
  readonly #credentials: Credentials;
  readonly #settings: Pick<Settings, 'networking' | 'watching'>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #userAgent: string;
  readonly #dispatchers;
  readonly #closing = new AbortController();
  readonly #turns = fairSemaphore(MAX_CALLS);
  readonly #gates;
  readonly #integers = lossyIntegers();
  #isWarnedOfTwoAuthorizations = false;

  constructor(options: KubeClientOptions) {
    this.#credentials = credentialsOf(options);
    this.#settings = options.settings ?? defaultSettings();
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#userAgent = options.userAgent ?? defaultUserAgent();
    this.#gates = gates(options.clock, options.random ?? Math.random);
    this.#dispatchers = dispatchers(options.env ?? process.env);
  }

  async request<T = unknown>(request: KubeRequest): Promise<T> {
    const { signal, dispose } = anySignal(request.signal, this.#closing.signal);
    const kind = requestKindOf(request);
    const sending: Sending<T> = {
      request,
      kind,
      purpose: request.urgent ? 'urgent' : 'call',
      receive: async (answer, { origin, isForeign }) => {
        const mayBeEmpty = isForeign || !mustAnswerObject(request, kind);
        const { maxAnswerSize: maxBytes } = this.#settings.networking;
        return (await jsonOf(answer, { origin, mayBeEmpty, maxBytes, parse: this.#integers.parse })) as T;
      },
      waiting: signal,
      breaking: [signal],
      refused: new Set(),
    };
    const attempt = (): Promise<T> => this.#sendAuthorized(sending);
    try {
      if (request.retries === 'none') return await attempt();
      const { networking: settings } = this.#settings;
      const title = (): string => `${request.method} ${sending.url ?? maskUrl(request.path)}`;
      const isForCaller = (error: unknown): boolean => isEviction(kind) && error instanceof ApiTooManyRequestsError;
      const policy = { settings, clock: this.#clock, logger: this.#logger, signal, isForCaller };
      return await retrying(title, policy, attempt);
    } finally {
      dispose();
    }
  }

  stream<T = unknown>(request: KubeRequest): AsyncIterable<T> {
    const open = async (leaving: AbortSignal): Promise<HttpAnswer> => {
      const breaking = [request.signal, this.#closing.signal, leaving];
      const { signal, dispose } = anySignal(...breaking);
      try {
        return await this.#sendAuthorized({
          request,
          kind: requestKindOf(request, true),
          purpose: 'stream',
          receive: async (answer) => answer,
          waiting: signal,
          breaking,
          refused: undefined,
        });
      } finally {
        dispose();
      }
    };
    const lines = (): JsonLines => new JsonLines(this.#settings.watching.maxLineSize, this.#integers.parse);
    return { [Symbol.asyncIterator]: () => new LineStream<T>(open, request, lines()) };
  }

  async close(): Promise<void> {
    this.#closing.abort(new KopfError('The client is closed.', { code: 'KOPF_CLIENT_CLOSED' }));
    await this.#dispatchers.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** With other credentials at once, if those at hand are refused; with the same ones only after a pause, by retrying. */
  async #sendAuthorized<T>(sending: Sending<T>): Promise<T> {
    const { request, waiting, refused } = sending;
    for (let instantLogins = 0; ; instantLogins++) {
      waiting.throwIfAborted();
      const info = await this.#credentials.current(waiting);
      try {
        return await this.#send(sending, info);
      } catch (error) {
        // What strangers think of us says nothing about the credentials: they do not get any.
        if (sending.isForeign || !(error instanceof Error) || !isAboutCredentials(error)) throw error;
        await this.#credentials.invalidate(info, error);
        if (refused === undefined || request.retries === 'none' || instantLogins >= MAX_INSTANT_LOGINS) throw error;
        refused.add(credentialsKey(info));
        const next = await this.#credentials.current(waiting);
        if (refused.has(credentialsKey(next))) throw error;
        this.#logger.debug(
          `The server refused the credentials or certificates; trying others: ${request.method} ${sending.url}`,
        );
      }
    }
  }

  async #send<T>(sending: Sending<T>, info: ConnectionInfo): Promise<T> {
    const { request, purpose, waiting, breaking } = sending;
    const address = addressOf(info, request.path);
    const { origin, path, isForeign } = address;
    sending.url = `${origin}${path}`;
    sending.isForeign = isForeign;
    const limits = this.#limitsOf(request, purpose);
    const { spent, leave } = await this.#enter(sending, origin, limits.totalLimit);
    try {
      waiting.throwIfAborted();
      const { trustEnv, maxRetryAfter } = this.#settings.networking;
      const call: HttpCall = {
        dispatcher: this.#dispatchers.for(isForeign ? forStrangers(info) : info, purpose, {
          connectLimit: limits.connectLimit,
          trustEnv,
        }),
        origin,
        path,
        method: request.method,
        headers: this.#headersOf(request, info, isForeign),
        ...(request.body === undefined ? {} : { body: this.#textOf(request) }),
        ...(request.mayBegin === undefined ? {} : { mayBegin: request.mayBegin }),
      };
      const onConnectionLost = (): void => this.#dispatchers.retire(call.dispatcher);
      const answer = await exchange(call, {
        clock: this.#clock,
        signals: breaking,
        ...limits,
        spent,
        onConnectionLost,
      });
      if (isError(answer)) {
        const refusal = await refusalOf(answer, { clock: this.#clock, maxRetryAfter });
        this.#holdBack(sending, origin, refusal);
        throw refusal.error;
      }
      checkSuccess(answer, origin);
      return await sending.receive(answer, address);
    } finally {
      leave();
    }
  }

  /** Waits until the request may go; tells how much of its time was spent on that, and what to call when it is over. */
  async #enter<T>(
    { request, kind, purpose, waiting: signal }: Sending<T>,
    origin: string,
    limit: Seconds | undefined,
  ): Promise<{ readonly spent: Seconds; readonly leave: () => void }> {
    if (request.urgent) return { spent: 0, leave: () => {} };
    const gate = gateOf(origin, kind);
    const { resource } = kind;
    let spent = 0;
    for (;;) {
      // Not the other way round: those who are held back by the server would take the turns of those who are not.
      if (this.#gates.isClosed(gate)) {
        spent += await this.#gates.pass(gate, { limit: limit === undefined ? undefined : limit - spent, signal });
      }
      if (purpose !== 'call') return { spent, leave: () => {} };
      const turn = this.#turns.take(resource, signal);
      if (turn !== undefined) await turn;
      if (!this.#gates.isClosed(gate)) return { spent, leave: () => this.#turns.release(resource) };
      this.#turns.release(resource);
    }
  }

  #headersOf(request: KubeRequest, info: ConnectionInfo, isForeign: boolean): Record<string, string | string[]> {
    // Whoever is at another address, has no business with our credentials.
    const authorization = isForeign ? undefined : authorizationOf(info);
    if (isAuthorizedTwice(info) && !this.#isWarnedOfTwoAuthorizations) {
      this.#isWarnedOfTwoAuthorizations = true;
      this.#logger.warn('Both a token and a username with a password are given; using the token.');
    }
    return {
      accept: request.accept ?? 'application/json',
      'user-agent': this.#userAgent,
      ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(isForeign ? {} : impersonationHeaders(info)),
    };
  }

  /** Objects are JSON, which is also YAML; a text of YAML goes as it is. */
  #textOf({ body, contentType }: KubeRequest): string {
    if (typeof body === 'string' && contentType === 'application/apply-patch+yaml') return body;
    return this.#integers.stringify(body);
  }

  #limitsOf({ timeouts = {} }: KubeRequest, purpose: Purpose) {
    const { networking, watching } = this.#settings;
    const headersLimit: Seconds | undefined = timeouts.headers ?? networking.headersTimeout;
    if (purpose !== 'stream') {
      return {
        connectLimit: timeouts.connect ?? networking.connectTimeout,
        headersLimit,
        totalLimit: timeouts.total ?? networking.requestTimeout,
      };
    }
    return {
      connectLimit:
        timeouts.connect ?? watching.connectTimeout ?? networking.connectTimeout ?? networking.requestTimeout,
      headersLimit,
      totalLimit: timeouts.total ?? watching.clientTimeout,
    };
  }

  /** Until the end of the pause that the server has asked for, all requests of this kind wait. */
  #holdBack<T>({ request, kind }: Sending<T>, origin: string, { error, askedPause }: Refusal): void {
    const { retryAfter } = error;
    if (!(error instanceof ApiTooManyRequestsError) || !retryAfter || !askedPause) return;
    if (request.urgent || isEviction(kind)) return;
    const wasOpen = this.#gates.close(gateOf(origin, kind), retryAfter);
    const limit = retryAfter < askedPause ? `, which asked for ${askedPause}s (see networking.maxRetryAfter)` : '';
    const words = error.message.startsWith('HTTP ') ? '' : `: ${error.message}`;
    // Many are refused at once; one line tells it all.
    this.#logger[wasOpen ? 'warn' : 'debug'](
      `Requests to "${titleOfKind(kind)}" wait for ${retryAfter}s by HTTP 429 from ${origin}${limit}${words}`,
    );
  }
}

/** The name of the gate is a part of error messages. */
function gateOf(origin: string, kind: RequestKind): string {
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
