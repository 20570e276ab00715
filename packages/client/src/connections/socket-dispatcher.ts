/**
 * HTTP/1.1 over pools of keep-alive connections: one request at a time per connection, written in one go.
 *
 * It implements undici's dispatcher interface, so an undici dispatcher can replace it for proxies or at the user's
 * request. ADR 9 explains why it uses neither undici nor Node's own HTTP: each costs more than the rest of the client.
 */
import { AsyncResource } from 'node:async_hooks';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, type SecureContext, type TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { type AnswerHead, type AnswerListener, AnswerParser } from './answer-parser.js';

export interface SocketDispatcherOptions {
  /** The maximum per server; further requests wait for a free connection. */
  readonly connections: number;
  /** How long an unused connection stays open. */
  readonly idleMs: number;
  /** How long a connection is silent before the kernel sends a TCP keep-alive probe. */
  readonly keepAliveMs: number;
  /** Zero means no limit. */
  readonly connectMs: number;
  /** Applies to `https:` origins. */
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
type Headers = Readonly<Record<string, string | string[]>>;

export class SocketDispatcher {
  readonly #options: SocketDispatcherOptions;
  /** Keyed by origin. */
  readonly #pools = new Map<string, ConnectionPool>();

  constructor(options: SocketDispatcherOptions) {
    this.#options = options;
  }

  dispatch({ origin, path, method, headers, body }: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const pool = this.#poolOf(String(origin));
    // The response parser relies on this: responses to other methods are framed differently.
    if (!METHODS.has(method)) throw new TypeError(`The request method ${JSON.stringify(method)} is not valid.`);
    if (!PATH.test(path)) throw new TypeError('The request path contains characters that must be escaped.');
    const begin = `${method} ${path} HTTP/1.1\r\nhost: ${pool.hostHeader}\r\n${linesOf(headers as Headers)}`;
    pool.send(new Exchange(begin, method, body as string | null, handler));
    return true;
  }

  /** Lets requests in flight finish, then keeps no connections. */
  async close(): Promise<void> {
    for (const pool of this.#pools.values()) pool.close();
  }

  async destroy(): Promise<void> {
    for (const pool of this.#pools.values()) pool.destroy();
  }

  #poolOf(origin: string): ConnectionPool {
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const pool = new ConnectionPool(new URL(origin), this.#options);
    this.#pools.set(origin, pool);
    return pool;
  }
}

const METHODS = new Set<string>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const PATH = /^[\x21-\x7e\x80-\xff]+$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Similar requests share one headers object, so its text is built once. */
const textsOfHeaders = new WeakMap<Headers, string>();

function linesOf(headers: Headers): string {
  const known = textsOfHeaders.get(headers);
  if (known !== undefined) return known;
  let text = '';
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === 'string' ? [value] : value) {
      if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(one)) throw new TypeError(`Invalid value of header "${name}".`);
      text += `${name}: ${one}\r\n`;
    }
  }
  textsOfHeaders.set(headers, text);
  return text;
}

/** All connections to one origin, and the requests that wait for one. */
class ConnectionPool {
  readonly options: SocketDispatcherOptions;
  readonly host: string;
  readonly port: number;
  /** The value of the `host` header. */
  readonly hostHeader: string;
  readonly isSecure: boolean;
  /** The TLS session; resuming it saves the next connection a full handshake. */
  session: Buffer | undefined;
  readonly #all = new Set<Connection>();
  /** The most recently used connection comes last. */
  readonly #free: Connection[] = [];
  readonly #waiting: Exchange[] = [];
  #isClosing = false;

  constructor({ hostname, host, port, protocol }: URL, options: SocketDispatcherOptions) {
    this.options = options;
    this.isSecure = protocol === 'https:';
    // Only URLs put IPv6 addresses in brackets.
    this.host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.port = Number(port || (this.isSecure ? '443' : '80'));
    this.hostHeader = host;
  }

  send(exchange: Exchange): void {
    const free = this.#free.pop();
    if (free !== undefined) {
      if (!free.send(exchange)) this.release(free);
    } else if (this.#all.size < this.options.connections) this.#all.add(new Connection(this, exchange));
    else this.#waiting.push(exchange);
  }

  /** Called when a connection can serve another request. */
  release(connection: Connection): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      // A loop, not recursion: many waiting requests may have been aborted.
      if (connection.send(next)) return;
    }
    if (this.#isClosing) connection.destroy();
    else {
      this.#free.push(connection);
      connection.rest();
    }
  }

  /** Called when a connection is closed. */
  forget(connection: Connection): void {
    this.#all.delete(connection);
    const index = this.#free.indexOf(connection);
    if (index >= 0) this.#free.splice(index, 1);
    const next = this.#waiting.shift();
    if (next === undefined) return;
    try {
      this.send(next);
    } catch (error) {
      next.fail(error as Error);
    }
  }

  close(): void {
    this.#isClosing = true;
    for (const connection of [...this.#free]) connection.destroy();
  }

  destroy(): void {
    const reason = new Error('The connections are closed.');
    for (const exchange of this.#waiting.splice(0)) exchange.abort(reason);
    for (const connection of [...this.#all]) connection.destroy(reason);
  }
}

/** One request in flight, until its response is complete. */
class Exchange implements Dispatcher.DispatchController {
  readonly handler: Handler;
  readonly #begin: string;
  readonly #method: string;
  readonly #body: string | null;
  /** The connection that carries the request. */
  connection: Connection | undefined;
  isOver = false;
  aborted = false;
  paused = false;
  reason: Error | null = null;

  constructor(begin: string, method: string, body: string | null, handler: Handler) {
    this.#begin = begin;
    this.#method = method;
    this.#body = body;
    this.handler = handler;
  }

  get head(): string {
    const hasLength = this.#body !== null || (this.#method !== 'GET' && this.#method !== 'DELETE');
    return `${this.#begin}${hasLength ? `content-length: ${Buffer.byteLength(this.#body ?? '')}\r\n` : ''}\r\n`;
  }

  get body(): string {
    return this.#body ?? '';
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    this.aborted = true;
    this.reason = reason;
    this.fail(reason);
    this.connection?.abandon(this);
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.handler.onResponseError?.(this, error);
  }

  pause(): void {
    this.paused = true;
    // Once it is over, the connection belongs to another exchange.
    if (!this.isOver) this.connection?.pause();
  }

  resume(): void {
    this.paused = false;
    if (!this.isOver) this.connection?.resume();
  }
}

/** Connections outlive the handler whose request opened them, so they must not run in its async context. */
const outside = new AsyncResource('kopf-ts.connections');

class Connection implements AnswerListener {
  readonly #pool: ConnectionPool;
  readonly #socket: Socket;
  readonly #parser = new AnswerParser(this);
  /** The exchange that owns the connection until its response ends. */
  #exchange: Exchange | undefined;
  #isClosed = false;
  #isReusable = true;
  #idleMs: number;
  #connecting: NodeJS.Timeout | undefined;
  #error: Error | undefined;

  constructor(pool: ConnectionPool, first: Exchange) {
    this.#pool = pool;
    this.#exchange = first;
    const { idleMs, keepAliveMs, connectMs } = pool.options;
    this.#idleMs = idleMs;
    this.#socket = outside.runInAsyncScope(() => {
      const socket = pool.isSecure ? this.#connectSecurely() : connect({ host: pool.host, port: pool.port });
      socket.setNoDelay(true);
      socket.setKeepAlive(true, keepAliveMs);
      // Counts from the last activity on the socket.
      socket.setTimeout(idleMs);
      socket.on('timeout', this.#onSilence);
      socket.once(pool.isSecure ? 'secureConnect' : 'connect', this.#onReady);
      socket.on('data', this.#onRead);
      socket.once('end', this.#onEnd);
      socket.on('error', this.#onError);
      socket.once('close', this.#onClose);
      return socket;
    });
    if (connectMs > 0) {
      const limit = (): void => {
        this.#socket.destroy(new Error(`No connection within ${connectMs / 1000} seconds.`));
      };
      this.#connecting = setTimeout(limit, connectMs);
    }
  }

  #connectSecurely(): TLSSocket {
    const { host, port, session, options } = this.#pool;
    const servername = options.tls.servername ?? (isIP(host) ? '' : host);
    const ALPNProtocols = ['http/1.1'];
    const socket = connectSecurely({
      ...options.tls,
      host,
      port,
      servername,
      ALPNProtocols,
      ...(session && { session }),
    });
    return socket.on('session', (next) => {
      this.#pool.session = next;
    });
  }

  /** Returns false if the exchange was already over, so that the connection is still free. */
  send(exchange: Exchange): boolean {
    this.#exchange = exchange;
    this.#socket.ref();
    exchange.connection = this;
    this.#isReusable = true;
    exchange.handler.onRequestStart?.(exchange, undefined);
    // The handler may have aborted the request: it is no longer wanted or no longer permitted.
    if (exchange.isOver) {
      this.#exchange = undefined;
      return this.#isClosed;
    }
    this.#parser.begin();
    const { head, body } = exchange;
    if (!BEYOND_ASCII.test(head)) {
      this.#socket.write(head + body);
    } else {
      this.#socket.write(head, 'latin1');
      this.#socket.write(body);
    }
    return true;
  }

  /** An idle connection does not keep the process alive. */
  rest(): void {
    this.#socket.unref();
  }

  /** Drops an aborted request. The connection survives if nothing of the request was sent yet. */
  abandon(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = undefined;
    if (!this.#parser.isIdle) this.destroy();
  }

  destroy(reason?: Error): void {
    const exchange = this.#exchange;
    this.#close();
    this.#socket.destroy();
    if (reason !== undefined) exchange?.abort(reason);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  // Callbacks of the parser.

  onHead({ status, phrase, headers, isReusable }: AnswerHead): void {
    this.#isReusable = isReusable;
    this.#keepFor(headers['keep-alive']);
    const exchange = this.#exchange;
    exchange?.handler.onResponseStart?.(exchange, status, headers, phrase);
  }

  onData(chunk: Buffer): void {
    const exchange = this.#exchange;
    exchange?.handler.onResponseData?.(exchange, chunk);
  }

  onEnd(isFollowed: boolean): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    exchange.isOver = true;
    if (exchange.paused) this.#socket.resume();
    // A server may respond before it has read the whole request, and then never read the rest.
    const isWritten = this.#socket.writableLength === 0;
    if (this.#isReusable && isWritten && !isFollowed && !this.#isClosed) this.#pool.release(this);
    else this.destroy();
    exchange.handler.onResponseEnd?.(exchange, {});
  }

  /** Honours the server's `keep-alive: timeout`, minus a margin: the server closes slightly before we notice. */
  #keepFor(header: string | undefined): void {
    const [, seconds] = /\btimeout=(\d{1,6})/.exec(header ?? '') ?? [];
    if (seconds === undefined) return;
    const idleMs = Math.min(this.#pool.options.idleMs, Number(seconds) * 1000 - MARGIN_MS);
    if (idleMs <= 0) this.#isReusable = false;
    else if (idleMs !== this.#idleMs) this.#socket.setTimeout(idleMs);
    this.#idleMs = idleMs;
  }

  // Callbacks of the socket.

  readonly #onReady = (): void => {
    clearTimeout(this.#connecting);
    if (this.#isClosed || (this.#exchange !== undefined && this.send(this.#exchange))) return;
    this.#pool.release(this);
  };

  readonly #onRead = (chunk: Buffer): void => {
    if (this.#isClosed) return;
    try {
      this.#parser.feed(chunk);
    } catch (error) {
      this.#socket.destroy(error as Error);
      this.#fail(error as Error);
    }
  };

  readonly #onEnd = (): void => {
    if (this.#isClosed) return;
    try {
      this.#parser.end();
    } catch (error) {
      this.#fail(error as Error);
    }
    // If the first request was not even sent, `close` reports the reason.
    if (this.#exchange === undefined) this.destroy();
  };

  readonly #onSilence = (): void => {
    if (this.#exchange === undefined) this.destroy();
  };

  readonly #onError = (error: Error): void => {
    this.#error = error;
    this.#pool.session = undefined;
  };

  readonly #onClose = (): void => this.#fail(this.#error ?? new Error('socket hang up'));

  #fail(error: Error): void {
    const exchange = this.#exchange;
    this.#close();
    exchange?.fail(error);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = undefined;
    clearTimeout(this.#connecting);
    this.#pool.forget(this);
  }
}

const BEYOND_ASCII = /[^\t\r\n -~]/;
const MARGIN_MS = 1000;
