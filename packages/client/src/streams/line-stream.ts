import type { KubeRequest } from '@kopf-ts/core';
import type { StreamedAnswer } from '../http/exchange.js';
import type { JsonLine, JsonLines } from './json-lines.js';

type Result<T> = IteratorResult<T, undefined>;

/** Somebody who waits for a line. */
interface Reader<T> {
  resolve(result: Result<T>): void;
  reject(error: unknown): void;
}

const NO_MORE = { done: true, value: undefined } as const;

export interface LineStreamOptions {
  /** Opens the stream, once; it breaks when any of the two signals aborts, that of the caller or that of `leaving`. */
  readonly open: () => Promise<StreamedAnswer>;
  /** Aborted by the stream itself, when nobody wants it any more. */
  readonly leaving: AbortController;
  readonly lines: JsonLines;
  /** Of the caller. When it aborts, that is an error for the reader. */
  readonly signal: AbortSignal | undefined;
  readonly onProgress: KubeRequest['onProgress'] | undefined;
  /** Called once, if it was opened at all; with the error that it has ended with, if any. */
  readonly onOver: (error: unknown) => void;
}

/**
 * The lines of an answer, as they come. Nothing is sent before the first one is asked for.
 *
 * It is an iterator by hand, and not a generator, for two reasons: a line costs one promise, and not three; and leaving
 * the loop breaks the connection also while the next line is being waited for.
 */
export class LineStream<T> implements AsyncIterator<T, undefined> {
  readonly #options: LineStreamOptions;
  readonly #lines: JsonLines;
  #isAsked = false;
  #answer: StreamedAnswer | undefined;
  #isOver = false;
  /** Several lines asked for at once come in order. */
  readonly #readers: Reader<T>[] = [];

  constructor(options: LineStreamOptions) {
    this.#options = options;
    this.#lines = options.lines;
  }

  next(): Promise<Result<T>> {
    if (this.#readers.length === 0) {
      try {
        const line = this.#take();
        if (line !== undefined) return Promise.resolve({ done: false, value: line.value as T });
        if (this.#isOver) return Promise.resolve(NO_MORE);
      } catch (error) {
        return Promise.reject(error);
      }
    }
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
      if (!this.#isAsked) void this.#ask();
    });
  }

  async return(): Promise<Result<T>> {
    this.#finish(undefined);
    this.#serve();
    return NO_MORE;
  }

  /** The next line, if it is there. Throws if there is none because of a failure, and then it is over. */
  #take(): JsonLine | undefined {
    if (this.#isOver) return undefined;
    try {
      this.#options.signal?.throwIfAborted();
      for (;;) {
        const line = this.#lines.take();
        if (line !== undefined) return line;
        const chunk = this.#answer?.take();
        if (chunk === undefined) break;
        this.#options.onProgress?.({ bytes: chunk.length });
        this.#lines.feed(chunk);
      }
      if (!this.#answer?.isOver) return undefined;
      if (this.#answer.failure !== undefined) throw this.#answer.failure.error;
      // What remains may be a line without an end.
      const last = this.#lines.end();
      this.#end(undefined);
      return last;
    } catch (error) {
      this.#finish(error);
      throw error;
    }
  }

  async #ask(): Promise<void> {
    this.#isAsked = true;
    try {
      this.#answer = await this.#options.open();
    } catch (error) {
      const isLeft = this.#isOver;
      this.#end(error);
      if (!isLeft) this.#readers.shift()?.reject(error);
      this.#serve();
      return;
    }
    if (this.#isOver) {
      this.#answer.abandon();
    } else {
      this.#options.onProgress?.({ bytes: 0 });
      this.#answer.onNews = () => this.#serve();
    }
    this.#serve();
  }

  /** Gives lines to waiting readers, as long as there are both. */
  #serve(): void {
    for (let [reader] = this.#readers; reader !== undefined; [reader] = this.#readers) {
      try {
        const line = this.#take();
        if (line === undefined && !this.#isOver) return;
        this.#readers.shift();
        reader.resolve(line === undefined ? NO_MORE : { done: false, value: line.value as T });
      } catch (error) {
        this.#readers.shift();
        reader.reject(error);
      }
    }
  }

  /** Nobody wants it any more, or can use it. */
  #finish(error: unknown): void {
    if (this.#isOver) return;
    // What is left is no news.
    if (this.#answer !== undefined) this.#answer.onNews = () => {};
    this.#end(error);
    this.#options.leaving.abort();
    this.#answer?.abandon();
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onOver(error);
  }
}
