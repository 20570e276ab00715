/** Turns connection info into dispatchers: TLS, proxies, pools of keep-alive connections. */
import { createHash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type ConnectionInfo, LoginError, type Seconds } from '@kopf-ts/core';
import type { Dispatcher } from 'undici';
import { pemOf } from '../auth/pem.js';
import { type Environment, proxyOf } from './proxies.js';
import { SocketDispatcher } from './socket-dispatcher.js';

/**
 * Streams occupy a connection for long; calls take one from the keep-alive pool. Urgent calls have connections of their
 * own, so that they do not wait for those of ordinary calls.
 */
export type Purpose = 'call' | 'urgent' | 'stream';

/**
 * The maximum of concurrent ordinary calls; the others wait for their turn. API servers serve about as many at once to
 * one client. Streams and urgent calls are not counted.
 */
export const MAX_CALLS = 32;

/**
 * Shorter than the limits of load balancers and API servers: reconnecting is better than writing into a closed
 * connection.
 */
const IDLE_CONNECTION_MS = 30_000;
/** The interval of TCP keep-alive probes, which detect half-open connections. */
const TCP_KEEPALIVE_MS = 30_000;
/** Logins in use at the same time, e.g. before and after a rotation of certificates: only a few. */
const MAX_DISPATCHERS = 24;

/**
 * The options of Node's TLS for one connection.
 *
 * ```ts
 * const { ca, rejectUnauthorized }: kopf.client.TlsOptions = kopf.client.tlsOptions(await kopf.client.login());
 * ```
 */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/**
 * Node's TLS options for this connection. A given CA replaces those of the system.
 *
 * ```ts
 * import { connect } from 'node:tls';
 * const info = await kopf.client.login();
 * connect({ host: new URL(info.server).hostname, port: 6443, ...kopf.client.tlsOptions(info) });
 * ```
 */
export function tlsOptions(info: ConnectionInfo): TlsOptions {
  if ((info.cert === undefined) !== (info.key === undefined)) {
    const [given, missing] = info.cert === undefined ? ['private key', 'certificate'] : ['certificate', 'private key'];
    throw new LoginError(`There is a client ${given} without its ${missing}: give both or neither.`);
  }
  if (info.insecure && info.ca !== undefined) {
    throw new LoginError(
      'A CA certificate is given, but the server is not verified ("insecure"). Keep only one of them: for safety, ' +
        'remove "insecure" (in a kubeconfig: insecure-skip-tls-verify); otherwise, remove the CA.',
      { code: 'KOPF_INSECURE_WITH_CA' },
    );
  }
  return {
    ...(info.ca === undefined ? {} : { ca: pemOf(info.ca, 'CA certificate') }),
    ...(info.cert === undefined ? {} : { cert: pemOf(info.cert, 'client certificate') }),
    ...(info.key === undefined ? {} : { key: pemOf(info.key, 'private key') }),
    ...(info.serverName === undefined ? {} : { servername: info.serverName }),
    ...(info.insecure ? { rejectUnauthorized: false } : {}),
  };
}

const strangers = new WeakMap<ConnectionInfo, ConnectionInfo>();

/**
 * The variant for other addresses than the connection's own server: without our credentials, and without its server
 * name. The same object for the same connection, since dispatchers are cached by it.
 */
export function forStrangers(info: ConnectionInfo): ConnectionInfo {
  const known = strangers.get(info);
  if (known !== undefined) return known;
  const { cert: _cert, key: _key, serverName: _serverName, ...rest } = info;
  strangers.set(info, rest);
  return rest;
}

/** The dispatchers of one connection. */
export type HttpDispatcher = Pick<Dispatcher, 'dispatch'>;

interface OwnDispatcher extends HttpDispatcher {
  close(): Promise<void>;
  destroy(): Promise<void>;
}

export interface Dispatchers {
  /**
   * Connections that differ only in tokens and the like share one: these are sent with each request. With `trustEnv`,
   * the proxies of the environment are used if the connection does not specify any.
   */
  for(info: ConnectionInfo, purpose: Purpose, connectLimit: Seconds | undefined, trustEnv: boolean): HttpDispatcher;
  /** The proxy that there is between, if there is one. */
  proxyOf(info: ConnectionInfo, trustEnv: boolean): string | undefined;
  /**
   * Retires the idle connections of this one and of others to the same server: one of them was found dead, and the
   * others are likely dead, too. Requests in flight are finished.
   */
  retire(dispatcher: HttpDispatcher): void;
  /** Breaks all connections. Dispatchers provided by the user are left alone. */
  destroy(): Promise<void>;
}

interface Pooled {
  readonly dispatcher: OwnDispatcher;
  readonly key: string;
  /** The key shared by all dispatchers to the same server as the same user, for whatever purpose. */
  readonly route: string;
}

/** The last used one for the purpose, and its parameters. */
interface Recent {
  readonly pooled: Pooled;
  readonly info: ConnectionInfo;
  readonly connectLimit: Seconds | undefined;
  readonly trustEnv: boolean;
}

export function dispatchers(env: Environment): Dispatchers {
  // In the order of use, least recently used first; except for the recent ones, which are in use anyway.
  const pooled = new Map<string, Pooled>();
  const recent = new Map<Purpose, Recent>();
  // Certificates are long: their digests are computed once per login, as the keys are looked up for each request.
  const keys = new WeakMap<ConnectionInfo, string>();

  const tlsKeyOf = (info: ConnectionInfo): string => {
    const known = keys.get(info);
    if (known !== undefined) return known;
    const key = createHash('sha256')
      .update(JSON.stringify(tlsOptions(info)))
      .digest('base64');
    keys.set(info, key);
    return key;
  };

  /** Lets running requests and streams finish; then closes the connections. */
  const forget = (key: string): void => {
    const outdated = pooled.get(key)?.dispatcher;
    pooled.delete(key);
    for (const [purpose, last] of recent) if (last.pooled.dispatcher === outdated) recent.delete(purpose);
    void outdated?.close().catch(() => {});
  };

  return {
    for(info, purpose, connectLimit, trustEnv) {
      if (info.dispatcher !== undefined) return info.dispatcher as HttpDispatcher;
      const last = recent.get(purpose);
      if (last?.info === info && last.connectLimit === connectLimit && last.trustEnv === trustEnv) {
        return last.pooled.dispatcher;
      }
      const connectMs = connectLimit === undefined ? 0 : Math.ceil(connectLimit * 1000);
      const proxy = proxyOf({ ...info, trustEnv: info.trustEnv ?? trustEnv }, env);
      const route = [proxy, tlsKeyOf(info)].join(' ');
      const key = [purpose, connectMs, route].join(' ');
      const found = pooled.get(key) ?? {
        dispatcher: newDispatcher(info, purpose, connectMs, proxy),
        key,
        route,
      };
      recent.set(purpose, { pooled: found, info, connectLimit, trustEnv });
      for (const { pooled: used } of recent.values()) {
        pooled.delete(used.key);
        pooled.set(used.key, used);
      }
      for (const outdatedKey of pooled.keys()) {
        if (pooled.size <= MAX_DISPATCHERS) break;
        forget(outdatedKey);
      }
      return found.dispatcher;
    },

    proxyOf: (info, trustEnv) => proxyOf({ ...info, trustEnv: info.trustEnv ?? trustEnv }, env),

    retire(dispatcher) {
      const dead = [...pooled.values()].find((one) => one.dispatcher === dispatcher);
      if (dead === undefined) return;
      for (const [key, { route }] of [...pooled]) if (route === dead.route) forget(key);
    },

    async destroy() {
      const all = [...pooled.values()];
      pooled.clear();
      recent.clear();
      await Promise.all(all.map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function newDispatcher(
  info: ConnectionInfo,
  purpose: Purpose,
  connectMs: number,
  proxy: string | undefined,
): OwnDispatcher {
  const identity = tlsOptions(info);
  const secureContext = info.server.startsWith('https:') ? secureContextOf(identity) : undefined;
  if (proxy === undefined) {
    const { servername, rejectUnauthorized } = identity;
    return new SocketDispatcher({
      // A connection is released slightly later than its response completes: without a limit, a new one would be opened
      // then.
      connections: purpose === 'call' ? MAX_CALLS : Number.POSITIVE_INFINITY,
      idleMs: IDLE_CONNECTION_MS,
      keepAliveMs: TCP_KEEPALIVE_MS,
      connectMs,
      tls:
        secureContext === undefined
          ? identity
          : {
              secureContext,
              ...(servername === undefined ? {} : { servername }),
              ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
            },
    });
  }
  const pool = {
    connections: purpose === 'call' ? MAX_CALLS : null,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    // Ignores the server's Keep-Alive header: it cannot speak for proxies in between.
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    // Our own clock enforces the limits of each request; the library's would only interfere.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const socket = { timeout: connectMs, keepAlive: true, keepAliveInitialDelay: TCP_KEEPALIVE_MS };
  const tls = { ...socket, ...identity, ...(secureContext === undefined ? {} : { secureContext }) };
  return lazily(async () => {
    // Only undici supports all sorts of proxies.
    const { Pool, ProxyAgent } = await import('undici');
    return new ProxyAgent({
      ...pool,
      uri: proxy,
      requestTls: tls,
      // With any TLS options, the library would speak TLS to a SOCKS proxy.
      ...(proxy.startsWith('socks5:') ? {} : { proxyTls: socket }),
      // Plain HTTP is proxied as plain HTTP: few proxies permit tunnels to ports other than that of HTTPS.
      proxyTunnel: false,
      // A proxy that accepts the connection and stays silent is as bad as one that does not accept it.
      clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: connectMs }),
    });
  });
}

/** Shared by all connections: parsing the certificates takes longer than the rest of connecting. */
function secureContextOf(identity: TlsOptions): SecureContext | undefined {
  try {
    return createSecureContext(identity);
  } catch {
    // Errors in them are reported when connecting.
    return undefined;
  }
}

/** A dispatcher that is still being loaded; requests wait for it. */
function lazily(load: () => Promise<Dispatcher>): OwnDispatcher {
  const loading = load();
  loading.catch(() => {});
  return {
    dispatch(options, handler) {
      loading
        .then((dispatcher) => dispatcher.dispatch(options, handler))
        .catch((error: Error) => handler.onResponseError?.(NOT_CONNECTED, error));
      return true;
    },
    close: async () => (await loading).close(),
    destroy: async () => (await loading).destroy(),
  };
}

/** There is nothing to hold back or break yet. */
const NOT_CONNECTED: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};
