import type { KubeRequest } from '@kopf-ts/core';
import type { HttpAnswer } from '../http/exchange.js';
import type { JsonLines } from './json-lines.js';

/**
 * The lines of an answer, as they come. Nothing is sent before the first one is asked for.
 *
 * It is an iterator by hand, and not a generator, for two reasons: a line that is there already costs one promise,
 * and not three; and leaving the loop breaks the connection also while the next line is being waited for.
 */
export class LineStream<T> implements AsyncIterator<T, undefined> {
  readonly #open: (leaving: AbortSignal) => Promise<HttpAnswer>;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: KubeRequest['onProgress'];
  readonly #leaving = new AbortController();
  readonly #lines: JsonLines;
  #answer: HttpAnswer | undefined;
  #isOver = false;
  /** Those who ask for several lines at once get them in order. */
  #queue: Promise<void> | undefined;

  /**
   * The function opens the stream, once; and breaks it when any of the two signals aborts: that of the caller, which
   * is an error for whoever reads, or its argument, which is not.
   */
  constructor(
    open: (leaving: AbortSignal) => Promise<HttpAnswer>,
    { signal, onProgress }: Pick<KubeRequest, 'signal' | 'onProgress'>,
    lines: JsonLines,
  ) {
    this.#open = open;
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.#lines = lines;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#queue !== undefined) return this.#enqueue(this.#queue.then(() => this.#fetch()));
    if (this.#isOver || this.#signal?.aborted) return this.#enqueue(this.#fetch());
    try {
      const line = this.#lines.take();
      if (line !== undefined) return Promise.resolve({ done: false, value: line.value as T });
    } catch (error) {
      this.#finish();
      return Promise.reject(error);
    }
    return this.#enqueue(this.#fetch());
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#finish();
    return { done: true, value: undefined };
  }

  #enqueue(result: Promise<IteratorResult<T, undefined>>): Promise<IteratorResult<T, undefined>> {
    const leave = (): void => {
      if (this.#queue === settled) this.#queue = undefined;
    };
    const settled: Promise<void> = result.then(leave, leave);
    this.#queue = settled;
    return result;
  }

  async #fetch(): Promise<IteratorResult<T, undefined>> {
    try {
      while (!this.#isOver) {
        this.#signal?.throwIfAborted();
        const line = this.#lines.take() ?? (await this.#receive());
        if (line !== undefined) return { done: false, value: line.value as T };
      }
    } catch (error) {
      const isLeft = this.#isOver;
      this.#finish();
      if (!isLeft) throw error;
    }
    return { done: true, value: undefined };
  }

  /** Takes in some more bytes. At the end, what remains may be the last line. */
  async #receive(): Promise<{ readonly value: unknown } | undefined> {
    if (this.#answer === undefined) {
      this.#answer = await this.#open(this.#leaving.signal);
      this.#onProgress?.({ bytes: 0 });
    }
    const chunk = await this.#answer.read();
    if (chunk !== undefined) {
      this.#onProgress?.({ bytes: chunk.length });
      this.#lines.feed(chunk);
      return undefined;
    }
    const last = this.#isOver ? undefined : this.#lines.end();
    this.#isOver = true;
    return last;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leaving.abort();
    this.#answer?.abandon();
  }
}
