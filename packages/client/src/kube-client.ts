/** The default way to the cluster: HTTP/1.1 by undici, with credentials, limits and retries. */
import {
  ApiTooManyRequestsError,
  ApiUnauthorizedError,
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
import { addressOf } from './addresses.js';
import { errorOf, isError, jsonOf } from './answers.js';
import { authorizationOf, credentialsKey, impersonationHeaders, isAuthorizedTwice } from './authorization.js';
import { staticCredentials } from './credentials.js';
import { dispatchers, MAX_CALLS, type Purpose } from './dispatchers.js';
import { exchange, type HttpAnswer, type HttpCall } from './exchange.js';
import { LineStream } from './line-stream.js';
import type { Environment } from './proxies.js';
import { type Gate, gate } from './retry-after.js';
import { retrying } from './retrying.js';
import { turns } from './turns.js';
import { defaultUserAgent } from './user-agent.js';

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

export interface HttpKubeClient extends KubeClient, AsyncDisposable {
  /** Breaks all requests and streams, and closes all connections. Nothing can be sent afterwards. */
  close(): Promise<void>;
}

/** New credentials are tried at once; but if these are refused, too, and again, it is time to slow down. */
const MAX_INSTANT_LOGINS = 3;

/** One request on its way, with all its attempts. */
interface Sending {
  readonly request: KubeRequest;
  readonly purpose: Purpose;
  /** For what comes before the exchange: credentials, pauses. */
  readonly waiting: AbortSignal;
  /** For the exchange itself, which may go on for longer. */
  readonly breaking: readonly (AbortSignal | undefined)[];
  /** Which credentials were tried in vain; `undefined` to try no others. */
  readonly refused: Set<string> | undefined;
  /** Where it was sent to the last time. */
  url?: string;
}

/** A client of a cluster. To be closed when not needed anymore: it keeps connections alive. */
export function kubeClient(options: KubeClientOptions): HttpKubeClient {
  return new UndiciKubeClient(options);
}

class UndiciKubeClient implements HttpKubeClient {
  readonly #credentials: Credentials;
  readonly #settings: Pick<Settings, 'networking' | 'watching'>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #userAgent: string;
  readonly #random: () => number;
  readonly #dispatchers;
  readonly #closing = new AbortController();
  readonly #turns = turns(MAX_CALLS);
  /** By servers: what one of them says, is of no concern to others. */
  readonly #gates = new Map<string, Gate>();
  #isWarnedOfTwoAuthorizations = false;

  constructor(options: KubeClientOptions) {
    this.#credentials = credentialsOf(options);
    this.#settings = options.settings ?? defaultSettings();
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#userAgent = options.userAgent ?? defaultUserAgent();
    this.#random = options.random ?? Math.random;
    this.#dispatchers = dispatchers(options.env ?? process.env);
  }

  async request<T = unknown>(request: KubeRequest): Promise<T> {
    const { signal, dispose } = anySignal(request.signal, this.#closing.signal);
    const sending: Sending = { request, purpose: 'call', waiting: signal, breaking: [signal], refused: new Set() };
    const attempt = async (): Promise<T> => {
      const isTurn = this.#turns.take(signal);
      if (isTurn !== undefined) await isTurn;
      try {
        return (await jsonOf(await this.#sendAuthorized(sending))) as T;
      } finally {
        this.#turns.release();
      }
    };
    try {
      if (request.retries === 'none') return await attempt();
      const { networking: settings } = this.#settings;
      const title = (): string => `${request.method} ${sending.url ?? request.path}`;
      return await retrying(title, { settings, clock: this.#clock, logger: this.#logger, signal }, attempt);
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
          purpose: 'stream',
          waiting: signal,
          breaking,
          refused: undefined,
        });
      } finally {
        dispose();
      }
    };
    return { [Symbol.asyncIterator]: () => new LineStream<T>(open, request) };
  }

  async close(): Promise<void> {
    this.#closing.abort(new KopfError('The client is closed.', { code: 'KOPF_CLIENT_CLOSED' }));
    await this.#dispatchers.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** With other credentials at once, if those at hand are refused; with the same ones only after a pause, by retrying. */
  async #sendAuthorized(sending: Sending): Promise<HttpAnswer> {
    const { request, waiting, refused } = sending;
    for (let instantLogins = 0; ; instantLogins++) {
      waiting.throwIfAborted();
      const info = await this.#credentials.current(waiting);
      try {
        return await this.#send(sending, info);
      } catch (error) {
        if (!(error instanceof ApiUnauthorizedError)) throw error;
        await this.#credentials.invalidate(info, error);
        if (refused === undefined || request.retries === 'none' || instantLogins >= MAX_INSTANT_LOGINS) throw error;
        refused.add(credentialsKey(info));
        const next = await this.#credentials.current(waiting);
        if (refused.has(credentialsKey(next))) throw error;
        this.#logger.debug(`The credentials were refused; trying others: ${request.method} ${sending.url}`);
      }
    }
  }

  async #send(sending: Sending, info: ConnectionInfo): Promise<HttpAnswer> {
    const { request, purpose, waiting, breaking } = sending;
    const { origin, path, isForeign } = addressOf(info, request.path);
    sending.url = `${origin}${path}`;
    const gateway = this.#gateOf(origin);
    if (gateway.isClosed) await gateway.pass(waiting);
    waiting.throwIfAborted();
    const limits = this.#limitsOf(request, purpose);
    const { trustEnv } = this.#settings.networking;
    const call: HttpCall = {
      dispatcher: this.#dispatchers.for(info, purpose, { connectLimit: limits.connectLimit, trustEnv }),
      origin,
      path,
      method: request.method,
      headers: this.#headersOf(request, info, isForeign),
      ...(request.body === undefined ? {} : { body: textOf(request) }),
      ...(request.mayBegin === undefined ? {} : { mayBegin: request.mayBegin }),
    };
    const answer = await exchange(call, { clock: this.#clock, signals: breaking, ...limits });
    if (!isError(answer)) return answer;
    const error = await errorOf(answer, this.#clock);
    if (error instanceof ApiTooManyRequestsError && error.retryAfter) this.#holdBack(gateway, origin, error.retryAfter);
    throw error;
  }

  #headersOf(request: KubeRequest, info: ConnectionInfo, isForeign: boolean): Record<string, string | string[]> {
    // Whoever is at another address, has no business with our credentials.
    const authorization = isForeign ? undefined : authorizationOf(info);
    if (isAuthorizedTwice(info) && !this.#isWarnedOfTwoAuthorizations) {
      this.#isWarnedOfTwoAuthorizations = true;
      this.#logger.warn('There are both a token and a username with a password to log in with; the token is used.');
    }
    return {
      accept: request.accept ?? 'application/json',
      'user-agent': this.#userAgent,
      ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(isForeign ? {} : impersonationHeaders(info)),
    };
  }

  #limitsOf({ timeouts = {} }: KubeRequest, purpose: Purpose) {
    const { networking, watching } = this.#settings;
    const headersLimit: Seconds | undefined = timeouts.headers ?? networking.headersTimeout;
    if (purpose === 'call') {
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

  #gateOf(origin: string): Gate {
    const known = this.#gates.get(origin);
    if (known !== undefined) return known;
    const added = gate(this.#clock, this.#random);
    this.#gates.set(origin, added);
    return added;
  }

  #holdBack(gateway: Gate, origin: string, seconds: Seconds): void {
    this.#logger.debug(`${origin} asks for a pause of ${seconds}s; all requests to it are held back.`);
    gateway.closeFor(seconds);
  }
}

/** Objects are JSON, which is also YAML; a text of YAML goes as it is. */
function textOf({ body, contentType }: KubeRequest): string {
  return typeof body === 'string' && contentType === 'application/apply-patch+yaml' ? body : JSON.stringify(body);
}

function credentialsOf({ credentials, connection }: KubeClientOptions): Credentials {
  if (credentials !== undefined && connection === undefined) return credentials;
  if (connection !== undefined && credentials === undefined) return staticCredentials(connection);
  throw new KopfError('A client needs either `credentials` or a `connection`, and not both.', {
    code: 'KOPF_BAD_CLIENT_OPTIONS',
  });
}
