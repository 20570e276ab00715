/** Message connections over WebSockets: for commands in containers. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { KubeConnection } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';
import { failureText, KubeConnectionError, KubeTimeoutError } from '../errors.js';
import type { WholeAnswer } from '../http/exchange.js';
import type { TlsOptions } from './dispatchers.js';
import { openTunnel } from './tunnel.js';

/** The used part of the library, which is loaded on demand. */
type WebSocket = import('ws').WebSocket;

export interface OpenOptions {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: TlsOptions;
  /** Through which the server is reached. */
  readonly proxy: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly signals: readonly (AbortSignal | undefined)[];
  /** The server's response if it refuses. */
  readonly refusalOf: (answer: WholeAnswer) => Error;
}

/** The library has no backpressure: above that, senders wait, and so does the server. */
const MAX_WAITING_BYTES = 256 * 1024;
const MAX_REFUSAL_BYTES = 1024 * 1024;

/** Resolves when the server has agreed. The signals last for its whole life. */
export async function openWebSocket(options: OpenOptions): Promise<KubeConnection> {
  const { url, protocols, headers, tls, proxy, timeoutMs, signals, refusalOf } = options;
  for (const signal of signals) signal?.throwIfAborted();
  // Loaded on demand: few operators need it.
  const { WebSocket } = await import('ws');
  const through = proxy === undefined ? undefined : await openTunnel({ proxy, url: new URL(url), timeoutMs, signals });
  const socket = new WebSocket(url, [...protocols], {
    headers: headers as Record<string, string>,
    ...tls,
    ...(through === undefined ? {} : { createConnection: through as () => Duplex }),
    perMessageDeflate: false,
    followRedirects: false,
    ...(timeoutMs === undefined ? {} : { handshakeTimeout: timeoutMs }),
  });
  const connection = new SocketConnection(socket, signals);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_request, answer) => {
      void refused(answer, refusalOf).then((error) => {
        reject(error);
        connection.close();
      });
    });
    connection.onFailure = (error) => {
      const isLate = /handshake has timed out/.test(error.message);
      reject(isLate ? new KubeTimeoutError(`${new URL(url).origin} did not answer in time.`) : error);
    };
  });
  connection.onFailure = undefined;
  return connection;
}

async function refused(answer: IncomingMessage, refusalOf: OpenOptions['refusalOf']): Promise<Error> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer) {
      size += (chunk as Buffer).length;
      if (size > MAX_REFUSAL_BYTES) break;
      chunks.push(chunk as Buffer);
    }
  } catch {
    // The data so far is enough.
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return refusalOf({
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: () => text,
    abandon: () => void answer.destroy(),
  });
}

interface Reader {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: unknown): void;
}

const NO_MORE = { done: true, value: undefined } as const;

class SocketConnection implements KubeConnection, AsyncIterator<Uint8Array, undefined> {
  readonly #socket: WebSocket;
  readonly #messages: Uint8Array[] = [];
  #waitingBytes = 0;
  readonly #readers: Reader[] = [];
  #end: { readonly error?: Error } | undefined;
  readonly #unfollow: (() => void)[];
  onFailure: ((error: Error) => void) | undefined;

  constructor(socket: WebSocket, signals: readonly (AbortSignal | undefined)[]) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.on('error', (error) => this.#finish({ error: broken(error) }));
    socket.on('close', (code, reason) => {
      const why = reason.length > 0 ? `: ${reason.toString()}` : '';
      const isOrderly = code === 1000 || code === 1005;
      this.#finish(isOrderly ? {} : { error: broken(new Error(`it was closed with code ${code}${why}`)) });
    });
    this.#unfollow = signals.map((signal) =>
      signal === undefined
        ? () => {}
        : onAbort(signal, (reason) => {
            this.#finish({ error: reason as Error });
            socket.terminate();
          }),
    );
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const message = this.#messages.shift();
    if (message !== undefined) {
      this.#waitingBytes -= message.length;
      if (this.#socket.isPaused && this.#waitingBytes < MAX_WAITING_BYTES / 2) this.#socket.resume();
      return Promise.resolve({ done: false, value: message });
    }
    if (this.#end === undefined) return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    return this.#end.error === undefined ? Promise.resolve(NO_MORE) : Promise.reject(this.#end.error);
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.close();
    return Promise.resolve(NO_MORE);
  }

  send(message: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) {
        reject(this.#end.error ?? broken(new Error('it is closed')));
        return;
      }
      // It calls back when the message is written out: then the next one may be sent.
      this.#socket.send(message, { binary: true }, (error) => (error ? reject(broken(error)) : resolve()));
    });
  }

  close(): void {
    this.#finish({});
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close(1000);
    else this.#socket.terminate();
  }

  #receive(data: Buffer): void {
    if (this.#end !== undefined) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: data });
      return;
    }
    this.#messages.push(data);
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#socket.pause();
  }

  #finish(end: { readonly error?: Error }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const unfollow of this.#unfollow) unfollow();
    if (end.error !== undefined) this.onFailure?.(end.error);
    for (const reader of this.#readers.splice(0)) {
      if (end.error === undefined) reader.resolve(NO_MORE);
      else reader.reject(end.error);
    }
  }
}

function broken(error: Error): Error {
  return new KubeConnectionError(`The connection is broken: ${failureText(error)}`, { cause: error });
}
