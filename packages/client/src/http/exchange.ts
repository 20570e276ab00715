/** One HTTP request and its answer over an undici dispatcher: limited in time, abortable at any moment. */
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
  /** Asked when there is a connection to send it by; and if not, it is not sent. */
  readonly mayBegin: (() => boolean) | undefined;
  readonly clock: Clock;
  readonly connectLimit: Seconds | undefined;
  /** From the moment when the connection is there. */
  readonly headersLimit: Seconds | undefined;
  /** Of everything together. */
  readonly totalLimit: Seconds | undefined;
  /** What is spent of the total limit already. */
  readonly spent: Seconds;
  /** If a whole answer has more bytes than that, the connection is broken, and the exchange fails. */
  readonly maxBytes: number | undefined;
  /** Whichever aborts first, aborts the exchange. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Called if the connection was there, and then broke, or was silent for suspiciously long when the exchange ended. */
  readonly onConnectionLost: (dispatcher: HttpDispatcher) => void;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Breaks the connection, if the answer is not complete. */
  abandon(): void;
}

/** Complete when it is given; except for redirects, whose bodies are of no interest. */
export interface WholeAnswer extends HttpAnswer {
  text(): string;
}

/** Its body comes piece by piece. */
export interface StreamedAnswer extends HttpAnswer {
  /** The next piece that is there already. */
  take(): Buffer | undefined;
  /** Whether no more pieces come than those that are there. */
  readonly isOver: boolean;
  /** What it has failed with. */
  readonly failure: { readonly error: unknown } | undefined;
  /** Called when there is more to take, and when it is over. */
  onNews: () => void;
}

/** So much may be waiting to be taken before the sender is held back. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** Beyond that, nothing is told to a person; and an error is no reason to fill the memory. */
const MAX_ERROR_BYTES = 1024 * 1024;

/**
 * If nothing was heard for so long when we stop waiting, the connection may be half-open: the other side is gone without
 * a word. Servers and quiet streams may be that slow, too; but then it costs nothing but a few new connections.
 */
const SUSPICIOUS_SILENCE: Seconds = 5;

/** Clocks count in fractions that do not always add up. */
const TOLERANCE: Seconds = 1e-6;

/** Sends the request; resolves when the answer is complete, whatever its status is. */
export function exchange(call: HttpCall): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    new Exchange(call, false, resolve, reject).start();
  });
}

/** Sends the request; resolves when the answer begins, or, if it is an error, when it is complete. */
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

  /** Whether the pieces are taken as they come. */
  #isStreamed: boolean;
  #controller: Controller | undefined;
  #isPaused = false;
  /** Since there is a connection. */
  #lastHeardAt: Seconds | undefined;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;

  /** Of connecting, and then of waiting for the headers. */
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

  // What undici calls, in this order.

  onRequestStart(controller: Controller): void {
    const { clock, mayBegin, headersLimit } = this.#call;
    const now = clock.now();
    this.#controller = controller;
    this.#lastHeardAt = now;
    // It was aborted while connecting: until now, there was nothing to tell that to.
    if (this.isOver) controller.abort(new KubeConnectionError('The request was abandoned.'));
    // The process may have been asleep since this was permitted; and then the timers are not the first to wake up.
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

  // How it ends otherwise.

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

  /** What has come before the failure can still be taken. */
  #fail(error: unknown): void {
    if (this.isOver) return;
    const { dispatcher, origin, onConnectionLost } = this.#call;
    if (this.#lastHeardAt !== undefined) onConnectionLost(dispatcher);
    this.#end(new KubeConnectionError(`The connection to ${origin} failed: ${failureText(error)}`, { cause: error }));
  }

  /** By the signal with its reason, by a limit with an error, or by the reader without any. */
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

  /** Leaves no traces: neither timers, nor listeners of signals that live longer than this. */
  #settle(): void {
    this.isOver = true;
    this.#stopAlarm?.();
    for (const stop of this.#stopListening) stop();
  }

  /**
   * There is one alarm for all limits, and it is not moved when a limit is: it looks again when it goes off, which it
   * almost never does.
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
