/**
 * Requests by HTTP/1.1 over pools of kept-alive connections: one at a time over each, as one piece of text.
 *
 * It speaks the dispatchers' language of undici, so that one of these can stand in its place, for proxies or by the
 * user's wish. Why it is neither undici nor Node's own HTTP is told in ADR 9: both cost more than all the rest.
 */
import { AsyncResource } from 'node:async_hooks';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, type SecureContext, type TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { type AnswerHead, type AnswerListener, AnswerParser } from './answer-parser.js';

export interface SocketDispatcherOptions {
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
type Headers = Readonly<Record<string, string | string[]>>;

export class SocketDispatcher {
  readonly #options: SocketDispatcherOptions;
  /** By their origins. */
  readonly #places = new Map<string, Place>();

  constructor(options: SocketDispatcherOptions) {
    this.#options = options;
  }

  dispatch({ origin, path, method, headers, body }: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const place = this.#placeOf(String(origin));
    // The parser of answers relies on it, too: those to other methods end otherwise.
    if (!METHODS.has(method)) throw new TypeError(`Requests cannot be sent by the method ${JSON.stringify(method)}.`);
    if (!PATH.test(path)) throw new TypeError('The path of the request has characters that must be escaped.');
    const begin = `${method} ${path} HTTP/1.1\r\nhost: ${place.name}\r\n${linesOf(headers as Headers)}`;
    place.send(new Sent(begin, method, body as string | null, handler));
    return true;
  }

  /** Finishes what is on its way, and keeps no connection after that. */
  async close(): Promise<void> {
    for (const place of this.#places.values()) place.close();
  }

  async destroy(): Promise<void> {
    for (const place of this.#places.values()) place.destroy();
  }

  #placeOf(origin: string): Place {
    const known = this.#places.get(origin);
    if (known !== undefined) return known;
    const place = new Place(new URL(origin), this.#options);
    this.#places.set(origin, place);
    return place;
  }
}

const METHODS = new Set<string>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const PATH = /^[\x21-\x7e\x80-\xff]+$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers are the same objects for all requests that are alike. */
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

/** One server, and all connections to it. */
class Place {
  readonly options: SocketDispatcherOptions;
  readonly host: string;
  readonly port: number;
  /** As the server is addressed in headers. */
  readonly name: string;
  readonly isSecure: boolean;
  /** Of TLS: so the next connection need not begin with the certificates. */
  session: Buffer | undefined;
  readonly #all = new Set<Connection>();
  /** The one that was used last is the last one. */
  readonly #free: Connection[] = [];
  readonly #waiting: Sent[] = [];
  #isClosing = false;

  constructor({ hostname, host, port, protocol }: URL, options: SocketDispatcherOptions) {
    this.options = options;
    this.isSecure = protocol === 'https:';
    // An address of IPv6 stands in brackets in URLs, and nowhere else.
    this.host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.port = Number(port || (this.isSecure ? '443' : '80'));
    this.name = host;
  }

  send(sent: Sent): void {
    const free = this.#free.pop();
    if (free !== undefined) {
      if (!free.send(sent)) this.release(free);
    } else if (this.#all.size < this.options.connections) this.#all.add(new Connection(this, sent));
    else this.#waiting.push(sent);
  }

  /** The connection can be used again. */
  release(connection: Connection): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      // Many of them may be not wanted any more: one by one, and not one within another.
      if (connection.send(next)) return;
    }
    if (this.#isClosing) connection.destroy();
    else {
      this.#free.push(connection);
      connection.rest();
    }
  }

  /** The connection can not be used any more. */
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
    for (const sent of this.#waiting.splice(0)) sent.abort(reason);
    for (const connection of [...this.#all]) connection.destroy(reason);
  }
}

/** One request on its way, until its answer is complete. */
class Sent implements Dispatcher.DispatchController {
  readonly handler: Handler;
  readonly #begin: string;
  readonly #method: string;
  readonly #body: string | null;
  /** That it was sent by. */
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
    // After that, the connection belongs to somebody else.
    if (!this.isOver) this.connection?.pause();
  }

  resume(): void {
    this.paused = false;
    if (!this.isOver) this.connection?.resume();
  }
}

/** Connections live longer than the handler whose request has opened them: they do not belong to it. */
const outside = new AsyncResource('kopf-ts.connections');

class Connection implements AnswerListener {
  readonly #place: Place;
  readonly #socket: Socket;
  readonly #parser = new AnswerParser(this);
  /** It has the connection for itself until it is answered. */
  #sent: Sent | undefined;
  #isClosed = false;
  #isReusable = true;
  #idleMs: number;
  #connecting: NodeJS.Timeout | undefined;
  #error: Error | undefined;

  constructor(place: Place, first: Sent) {
    this.#place = place;
    this.#sent = first;
    const { idleMs, keepAliveMs, connectMs } = place.options;
    this.#idleMs = idleMs;
    this.#socket = outside.runInAsyncScope(() => {
      const socket = place.isSecure ? this.#connectSecurely() : connect({ host: place.host, port: place.port });
      socket.setNoDelay(true);
      socket.setKeepAlive(true, keepAliveMs);
      // Counted from the last sign of life, whenever that was.
      socket.setTimeout(idleMs);
      socket.on('timeout', this.#onSilence);
      socket.once(place.isSecure ? 'secureConnect' : 'connect', this.#onReady);
      socket.on('data', this.#onRead);
      socket.once('end', this.#onEnd);
      socket.on('error', this.#onError);
      socket.once('close', this.#onClose);
      return socket;
    });
    if (connectMs > 0) {
      const limit = (): void => {
        this.#socket.destroy(new Error(`There is no connection after ${connectMs / 1000} seconds.`));
      };
      this.#connecting = setTimeout(limit, connectMs);
    }
  }

  #connectSecurely(): TLSSocket {
    const { host, port, session, options } = this.#place;
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
      this.#place.session = next;
    });
  }

  /** Whether the connection is in use now, or closed. If not, the request is over, and somebody else can have it. */
  send(sent: Sent): boolean {
    this.#sent = sent;
    this.#socket.ref();
    sent.connection = this;
    this.#isReusable = true;
    sent.handler.onRequestStart?.(sent, undefined);
    // It may have turned out to be no longer wanted, or permitted.
    if (sent.isOver) {
      this.#sent = undefined;
      return this.#isClosed;
    }
    this.#parser.begin();
    const { head, body } = sent;
    if (!BEYOND_ASCII.test(head)) {
      this.#socket.write(head + body);
    } else {
      this.#socket.write(head, 'latin1');
      this.#socket.write(body);
    }
    return true;
  }

  /** There is nothing to be done until the next request; the process need not stay for that. */
  rest(): void {
    this.#socket.unref();
  }

  /** The request is not wanted any more. If it is not sent yet, nothing is lost. */
  abandon(sent: Sent): void {
    if (this.#sent !== sent) return;
    this.#sent = undefined;
    if (!this.#parser.isIdle) this.destroy();
  }

  destroy(reason?: Error): void {
    const sent = this.#sent;
    this.#close();
    this.#socket.destroy();
    if (reason !== undefined) sent?.abort(reason);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  // What has come.

  onHead({ status, phrase, headers, isReusable }: AnswerHead): void {
    this.#isReusable = isReusable;
    this.#keepFor(headers['keep-alive']);
    const sent = this.#sent;
    sent?.handler.onResponseStart?.(sent, status, headers, phrase);
  }

  onData(chunk: Buffer): void {
    const sent = this.#sent;
    sent?.handler.onResponseData?.(sent, chunk);
  }

  onEnd(isFollowed: boolean): void {
    const sent = this.#sent;
    if (sent === undefined) return;
    this.#sent = undefined;
    sent.isOver = true;
    if (sent.paused) this.#socket.resume();
    // The server may answer before it has read all of the request; and then, it may never read the rest.
    const isWritten = this.#socket.writableLength === 0;
    if (this.#isReusable && isWritten && !isFollowed && !this.#isClosed) this.#place.release(this);
    else this.destroy();
    sent.handler.onResponseEnd?.(sent, {});
  }

  /** Servers may say for how long they keep connections. They close them a moment before that is over for us. */
  #keepFor(header: string | undefined): void {
    const [, seconds] = /\btimeout=(\d{1,6})/.exec(header ?? '') ?? [];
    if (seconds === undefined) return;
    const idleMs = Math.min(this.#place.options.idleMs, Number(seconds) * 1000 - MARGIN_MS);
    if (idleMs <= 0) this.#isReusable = false;
    else if (idleMs !== this.#idleMs) this.#socket.setTimeout(idleMs);
    this.#idleMs = idleMs;
  }

  // What the socket tells.

  readonly #onReady = (): void => {
    clearTimeout(this.#connecting);
    if (this.#isClosed || (this.#sent !== undefined && this.send(this.#sent))) return;
    this.#place.release(this);
  };

  readonly #onRead = (chunk: Buffer): void => {
    // What comes after the end is of no interest.
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
    // If it was not even ready for the first request, it is told later why.
    if (this.#sent === undefined) this.destroy();
  };

  readonly #onSilence = (): void => {
    if (this.#sent === undefined) this.destroy();
  };

  readonly #onError = (error: Error): void => {
    this.#error = error;
    this.#place.session = undefined;
  };

  readonly #onClose = (): void => this.#fail(this.#error ?? new Error('socket hang up'));

  #fail(error: Error): void {
    const sent = this.#sent;
    this.#close();
    sent?.fail(error);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sent = undefined;
    clearTimeout(this.#connecting);
    this.#place.forget(this);
  }
}

const BEYOND_ASCII = /[^\t\r\n -~]/;
const MARGIN_MS = 1000;
