/** One HTTP request and its response over an undici dispatcher: with time limits, abortable at any moment. */
import { type Clock, KopfError, type Seconds } from '@kopf-ts/core';
import { alarm, onAbort } from '@kopf-ts/core/engine';
import type { Dispatcher } from 'undici';
import type { HttpDispatcher } from '../connections/dispatchers.js';
import { failureText, KubeConnectionError, KubeTimeoutError, tooLarge } from '../errors.js';

export interface HttpCall {
  readonly dispatcher: HttpDispatcher;
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | null;
  /** Checked when a connection is available; if it returns false, nothing is sent. */
  readonly mayBegin: (() => boolean) | undefined;
  readonly clock: Clock;
  readonly connectLimit: Seconds | undefined;
  /** Counted from the moment the connection is available. */
  readonly headersLimit: Seconds | undefined;
  /** The limit of everything together. */
  readonly totalLimit: Seconds | undefined;
  /** The part of the total limit that is already used up. */
  readonly spent: Seconds;
  /** The maximum size of a whole response; beyond that, the connection is broken, and the exchange fails. */
  readonly maxBytes: number | undefined;
  /** The exchange is aborted by the first of these. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Called if the connection broke, or was silent for suspiciously long when the exchange ended. */
  readonly onConnectionLost: (dispatcher: HttpDispatcher) => void;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Breaks the connection if the response is not complete. */
  abandon(): void;
}

/** A complete response; except for redirects, whose bodies do not matter. */
export interface WholeAnswer extends HttpAnswer {
  text(): string;
}

/** A response whose body arrives in chunks. */
export interface StreamedAnswer extends HttpAnswer {
  /** The next chunk, if one has arrived. */
  take(): Buffer | undefined;
  /** Whether no more chunks will arrive. */
  readonly isOver: boolean;
  /** The error of the exchange, if it has failed. */
  readonly failure: { readonly error: unknown } | undefined;
  /** Called when there is more to take, and at the end. */
  onNews: () => void;
}

/** The buffer size beyond which the sender is held back. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** The maximum size of error bodies: people read no more, and an error is no reason to fill the memory. */
const MAX_ERROR_BYTES = 1024 * 1024;

/**
 * After so much silence, a connection that we stop using may be half-open: the other side is gone without notice.
 * Servers and quiet streams may be that slow, too; but then the check costs only a few new connections.
 */
const SUSPICIOUS_SILENCE: Seconds = 5;

/** Tolerance for rounding errors of clocks. */
const TOLERANCE: Seconds = 1e-6;

/** Sends the request; resolves when the response is complete, whatever its status. */
export function exchange(call: HttpCall): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    new Exchange(call, false, resolve, reject).start();
  });
}

/** Sends the request; resolves when the response begins, or, for an error, when it is complete. */
export function streamedExchange(call: HttpCall): Promise<WholeAnswer & StreamedAnswer> {
  return new Promise((resolve, reject) => {
    new Exchange(call, true, resolve, reject).start();
  });
}

type Controller = Dispatcher.DispatchController;

class Exchange implements Dispatcher.DispatchHandler, WholeAnswer, StreamedAnswer {
  readonly #call: HttpCall;
  readonly #resolve: (answer: Exchange) => void;
  readonly #reject: (error: unknown) => void;

  status = 0;
  headers: HttpAnswer['headers'] = {};
  isOver = false;
  failure: { readonly error: unknown } | undefined;
  onNews: () => void = () => {};

  /** Whether chunks are consumed as they come. */
  #isStreamed: boolean;
  #controller: Controller | undefined;
  #isPaused = false;
  /** Set once there is a connection. */
  #lastHeardAt: Seconds | undefined;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;

  /** The limit of connecting, and then of waiting for the headers. */
  #phaseEndsAt: Seconds = Number.POSITIVE_INFINITY;
  #endsAt: Seconds = Number.POSITIVE_INFINITY;
  #alarmAt: Seconds = Number.POSITIVE_INFINITY;
  #stopAlarm: (() => void) | undefined;
  readonly #stopListening: (() => void)[] = [];

  constructor(
    call: HttpCall,
    isStreamed: boolean,
    resolve: (answer: Exchange) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call;
    this.#isStreamed = isStreamed;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    const { dispatcher, origin, path, method, headers, body, clock, signals, connectLimit, totalLimit } = this.#call;
    for (const signal of signals) {
      if (signal === undefined) continue;
      this.#stopListening.push(onAbort(signal, this.#onAbort));
      if (this.isOver) return;
    }
    const now = clock.now();
    if (totalLimit !== undefined) this.#endsAt = now + Math.max(0, totalLimit - this.#call.spent);
    if (connectLimit !== undefined) this.#phaseEndsAt = now + connectLimit;
    this.#watchTheClock(now);
    try {
      dispatcher.dispatch({ origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  // The callbacks of undici, in this order.

  onRequestStart(controller: Controller): void {
    const { clock, mayBegin, headersLimit } = this.#call;
    const now = clock.now();
    this.#controller = controller;
    this.#lastHeardAt = now;
    // It was aborted while connecting: until now, there was no controller to abort.
    if (this.isOver) controller.abort(new KubeConnectionError('The request was abandoned.'));
    // The process may have been suspended since this was permitted; then timers do not necessarily fire first.
    else if (mayBegin?.() === false) this.#break(forbidden());
    else {
      this.#phaseEndsAt = headersLimit === undefined ? Number.POSITIVE_INFINITY : now + headersLimit;
      this.#watchTheClock(now);
    }
  }

  onResponseStart(_controller: Controller, status: number, headers: HttpAnswer['headers']): void {
    const isInformational = status < 200;
    this.#lastHeardAt = this.#call.clock.now();
    if (isInformational || this.isOver) return;
    this.#phaseEndsAt = Number.POSITIVE_INFINITY;
    this.status = status;
    this.headers = headers;
    const isError = status >= 400;
    const isRedirect = status > 206 && !isError;
    if (isError) this.#isStreamed = false;
    if (isRedirect || this.#isStreamed) this.#resolve(this);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.isOver) return;
    this.#lastHeardAt = this.#call.clock.now();
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (!this.#isStreamed) {
      this.#limitSize();
      return;
    }
    this.onNews();
    if (this.#bufferedBytes >= MAX_BUFFERED_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      controller.pause();
    }
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.#settle();
    if (this.#isStreamed) this.onNews();
    else this.#resolve(this);
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#fail(error);
  }

  // The reader's side.

  text(): string {
    const [first] = this.#chunks;
    if (first === undefined) return '';
    const all = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#bufferedBytes);
    return all.toString('utf8');
  }

  take(): Buffer | undefined {
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return undefined;
    this.#bufferedBytes -= chunk.length;
    if (this.#isPaused && this.#bufferedBytes === 0) {
      this.#isPaused = false;
      this.#controller?.resume();
    }
    return chunk;
  }

  abandon(): void {
    this.#break(undefined);
  }

  // Other endings.

  readonly #onAbort = (reason: unknown): void => this.#break(reason);

  #limitSize(): void {
    const { origin, maxBytes = Number.POSITIVE_INFINITY } = this.#call;
    if (this.status < 400) {
      if (this.#bufferedBytes > maxBytes) {
        this.#break(tooLarge(`The answer from ${origin}`, maxBytes, 'networking.maxAnswerSize'));
      }
    } else if (this.#bufferedBytes > MAX_ERROR_BYTES) {
      // The beginning is enough.
      this.#settle();
      this.#resolve(this);
      this.#controller?.abort(new KubeConnectionError('The request was abandoned.'));
    }
  }

  /** The data before the failure can still be consumed. */
  #fail(error: unknown): void {
    if (this.isOver) return;
    const { dispatcher, origin, onConnectionLost } = this.#call;
    if (this.#lastHeardAt !== undefined) onConnectionLost(dispatcher);
    this.#end(new KubeConnectionError(`The connection to ${origin} failed: ${failureText(error)}`, { cause: error }));
  }

  /** Ended by the signal with its reason, by a limit with an error, or by the reader without any. */
  #break(reason: unknown): void {
    if (this.isOver) return;
    const { dispatcher, clock, onConnectionLost } = this.#call;
    const silence = this.#lastHeardAt === undefined ? 0 : clock.now() - this.#lastHeardAt;
    const isTooSilent = silence >= SUSPICIOUS_SILENCE || (reason instanceof KubeTimeoutError && silence > 0);
    if (isTooSilent) onConnectionLost(dispatcher);
    this.#chunks = [];
    this.#end(reason);
    this.#controller?.abort(new KubeConnectionError('The request was abandoned.'));
  }

  #end(error: unknown): void {
    this.#settle();
    if (error !== undefined) this.failure = { error };
    this.#reject(error);
    this.onNews();
  }

  /** Cleans up timers and listeners of signals that outlive the exchange. */
  #settle(): void {
    this.isOver = true;
    this.#stopAlarm?.();
    for (const stop of this.#stopListening) stop();
  }

  /**
   * One alarm serves all limits, and is not moved with them: it checks again when it fires, which it almost never does.
   */
  #watchTheClock(now: Seconds): void {
    const at = Math.min(this.#phaseEndsAt, this.#endsAt);
    if (this.#alarmAt <= at) return;
    this.#stopAlarm?.();
    this.#alarmAt = at;
    this.#stopAlarm = alarm(this.#call.clock, at - now, this.#onAlarm);
  }

  readonly #onAlarm = (): void => {
    const { clock, origin, connectLimit, headersLimit, totalLimit } = this.#call;
    const now = clock.now();
    const isOver = (endsAt: Seconds): boolean => now >= endsAt - TOLERANCE;
    this.#alarmAt = Number.POSITIVE_INFINITY;
    this.#stopAlarm = undefined;
    if (isOver(this.#endsAt)) {
      this.#break(new KubeTimeoutError(`The answer from ${origin} was not complete within ${totalLimit}s.`));
    } else if (!isOver(this.#phaseEndsAt)) {
      this.#watchTheClock(now);
    } else if (this.#controller === undefined) {
      this.#break(new KubeTimeoutError(`There was no connection to ${origin} within ${connectLimit}s.`));
    } else {
      this.#break(new KubeTimeoutError(`There was no answer from ${origin} within ${headersLimit}s.`));
    }
  };
}

function forbidden(): KopfError {
  return new KopfError('The request is no longer permitted.', { code: 'KOPF_REQUEST_FORBIDDEN' });
}
