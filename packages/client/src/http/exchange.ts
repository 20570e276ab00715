/** One HTTP request and its answer over an undici dispatcher: limited in time, abortable at any moment. */
import { type Clock, KopfError, type Seconds } from '@kopf-ts/core';
import { alarm, onAbort } from '@kopf-ts/core/engine';
import type { Dispatcher } from 'undici';
import { failureText, KubeConnectionError, KubeTimeoutError, tooLarge } from '../errors.js';

export interface HttpCall {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  /** Asked when there is a connection to send it by; and if not, it is not sent. */
  readonly mayBegin?: () => boolean;
}

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly connectLimit: Seconds | undefined;
  /** From the moment when the connection is there. */
  readonly headersLimit: Seconds | undefined;
  /** Of everything together. */
  readonly totalLimit: Seconds | undefined;
  /** What is spent of the total limit already. Default: nothing. */
  readonly spent?: Seconds;
  /** Whichever aborts first, aborts the exchange. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Called if the connection was there, and then broke, or was silent for suspiciously long when the exchange ended. */
  readonly onConnectionLost?: () => void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The next piece of the body, or `undefined` at its end. Not to be called again before it has resolved. */
  read(): Promise<Buffer | undefined>;
  /**
   * The whole body, when it is complete. Instead of reading it piece by piece, which costs promises for each.
   * If it has more bytes than that, the connection is broken, and the reading fails.
   */
  readAll(maxBytes?: number): Promise<Buffer>;
  /** Breaks the connection, if the answer is not complete. What is being read, ends as if the body did. */
  abandon(): void;
}

/** So much may be waiting to be read before the sender is held back. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/**
 * If nothing was heard for so long when we stop waiting, the connection may be half-open: the other side is gone without
 * a word. Servers and quiet streams may be that slow, too; but then it costs nothing but a few new connections.
 */
const SUSPICIOUS_SILENCE: Seconds = 5;

/** Sends the request; resolves when the headers of the answer come, whatever its status is. */
export function exchange(call: HttpCall, options: ExchangeOptions): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    new Exchange(call, options, resolve, reject).start();
  });
}

type Controller = Dispatcher.DispatchController;
type Waiting = { resolve(chunk: Buffer | undefined): void; reject(error: unknown): void };

class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: HttpCall;
  readonly #options: ExchangeOptions;
  readonly #onAnswer: (answer: HttpAnswer) => void;
  readonly #onFailure: (error: unknown) => void;

  #controller: Controller | undefined;
  /** Since there is a connection. */
  #lastHeardAt: Seconds | undefined;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #reader: Waiting | undefined;
  /** Does not hold the sender back: all of it is wanted, up to the limit. */
  #readerOfAll: Waiting | undefined;
  #maxBytes = Number.POSITIVE_INFINITY;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  #stopPhaseTimer = (): void => {};
  #stopTotalTimer = (): void => {};
  #stopListening: (() => void)[] = [];

  constructor(
    call: HttpCall,
    options: ExchangeOptions,
    onAnswer: (answer: HttpAnswer) => void,
    onFailure: (error: unknown) => void,
  ) {
    this.#call = call;
    this.#options = options;
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
  }

  start(): void {
    const { signals, connectLimit, totalLimit, spent } = this.#options;
    for (const signal of signals) {
      if (signal !== undefined && !this.#isOver)
        this.#stopListening.push(onAbort(signal, (reason) => this.#break(reason)));
    }
    if (this.#isOver) return;
    const { dispatcher, origin, path, method, headers, body } = this.#call;
    this.#stopTotalTimer = this.#timer(totalLimit, `The answer from ${origin} was not complete`, spent);
    this.#stopPhaseTimer = this.#timer(connectLimit, `There was no connection to ${origin}`);
    try {
      dispatcher.dispatch(
        { origin, path, method, headers, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 },
        this,
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  // What undici calls, in this order.

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#lastHeardAt = this.#options.clock.now();
    this.#stopPhaseTimer();
    // It was aborted while connecting: until now, there was nothing to tell that to.
    if (this.#isOver) controller.abort(new KubeConnectionError('The request was abandoned.'));
    // The process may have been asleep since this was permitted; and then the timers are not the first to wake up.
    else if (this.#call.mayBegin?.() === false) this.#break(forbidden());
    else
      this.#stopPhaseTimer = this.#timer(this.#options.headersLimit, `There was no answer from ${this.#call.origin}`);
  }

  onResponseStart(_controller: Controller, status: number, headers: HttpAnswer['headers']): void {
    const isInformational = status < 200;
    this.#lastHeardAt = this.#options.clock.now();
    if (isInformational || this.#isOver) return;
    this.#stopPhaseTimer();
    this.#onAnswer({
      status,
      headers,
      read: () => this.#read(),
      readAll: (maxBytes) => this.#readAll(maxBytes),
      abandon: () => this.#break(undefined),
    });
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#lastHeardAt = this.#options.clock.now();
    if (this.#reader !== undefined) {
      const { resolve } = this.#reader;
      this.#reader = undefined;
      resolve(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#readerOfAll !== undefined) this.#checkSize();
    else if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#settle();
    this.#reader?.resolve(undefined);
    this.#readerOfAll?.resolve(undefined);
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#fail(error);
  }

  // The reader's side.

  #read(): Promise<Buffer | undefined> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#bufferedBytes -= chunk.length;
      if (this.#bufferedBytes === 0) this.#controller?.resume();
      return Promise.resolve(chunk);
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (this.#isOver) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  async #readAll(maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
    this.#maxBytes = maxBytes;
    if (!this.#isOver) {
      await new Promise((resolve, reject) => {
        this.#readerOfAll = { resolve, reject };
        this.#controller?.resume();
      });
    }
    this.#checkSize();
    if (this.#failure !== undefined) throw this.#failure.error;
    const [first, ...others] = this.#chunks.splice(0);
    return first !== undefined && others.length === 0 ? first : Buffer.concat(first ? [first, ...others] : []);
  }

  #checkSize(): void {
    if (this.#bufferedBytes <= this.#maxBytes) return;
    const error = tooLarge(`The answer from ${this.#call.origin}`, this.#maxBytes, 'networking.maxAnswerSize');
    if (this.#isOver) this.#failure ??= { error };
    else this.#break(error);
  }

  // How it ends otherwise.

  /** What has come before the failure is still to be read. */
  #fail(error: unknown): void {
    if (!this.#isOver && this.#lastHeardAt !== undefined) this.#options.onConnectionLost?.();
    const text = `The connection to ${this.#call.origin} failed: ${failureText(error)}`;
    this.#end(new KubeConnectionError(text, { cause: error }));
  }

  /** By the signal with its reason, by a limit with an error, or by the reader without any. */
  #break(reason: unknown): void {
    if (this.#isOver) return;
    const silence = this.#lastHeardAt === undefined ? 0 : this.#options.clock.now() - this.#lastHeardAt;
    const isTooSilent = silence >= SUSPICIOUS_SILENCE || (reason instanceof KubeTimeoutError && silence > 0);
    if (isTooSilent) this.#options.onConnectionLost?.();
    this.#chunks = [];
    this.#end(reason);
    this.#controller?.abort(new KubeConnectionError('The request was abandoned.'));
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#settle();
    if (error !== undefined) this.#failure = { error };
    this.#onFailure(error);
    for (const reader of [this.#reader, this.#readerOfAll]) {
      if (error === undefined) reader?.resolve(undefined);
      else reader?.reject(error);
    }
  }

  /** Leaves no traces: neither timers, nor listeners of signals that live longer than this. */
  #settle(): void {
    this.#isOver = true;
    this.#stopPhaseTimer();
    this.#stopTotalTimer();
    for (const stop of this.#stopListening.splice(0)) stop();
  }

  #timer(limit: Seconds | undefined, text: string, spent: Seconds = 0): () => void {
    if (limit === undefined) return () => {};
    const expire = (): void => this.#break(new KubeTimeoutError(`${text} within ${limit}s.`));
    return alarm(this.#options.clock, Math.max(0, limit - spent), expire);
  }
}

function forbidden(): KopfError {
  return new KopfError('The request is no longer permitted.', { code: 'KOPF_REQUEST_FORBIDDEN' });
}
