/** A client for tests: it logs the requests, and answers with what it was told to. */
import type { KubeClient, KubeRequest } from '../../src/seams/client.js';
import { onAbort } from '../../src/sync/abort.js';
import { queue } from './queue.js';

/** A value to answer with, an error to throw, or a function that makes either of them. */
export type Answer = unknown | Error | ((request: KubeRequest) => unknown);

/** A stream under control of a test. */
interface ScriptedStream {
  /** Absent until requested. */
  readonly request: KubeRequest | undefined;
  /** Closed by the reader, or aborted. */
  readonly isClosed: boolean;
  push(...lines: unknown[]): void;
  /** The server ends it in good order. */
  end(): void;
  /** The connection is cut. */
  fail(error: unknown): void;
}

export interface ScriptedClient extends KubeClient {
  /** All requests so far, streams included. */
  readonly requests: readonly KubeRequest[];
  /** The same in short: `GET /api`. */
  readonly log: readonly string[];
  /** The answers to the next requests, in order. */
  answer(...answers: Answer[]): void;
  /** The answer to all requests that have none of their own. Default: none ever comes. */
  answerAll(answer: Answer): void;
  /** Prepares the next stream; streams that are not prepared are silent. */
  prepareStream(...lines: unknown[]): ScriptedStream;
  /** Prepares a stream that fails at once. */
  refuseStream(error: unknown): ScriptedStream;
}

export interface ScriptedClientOptions {
  /** Whether streams and requests end when aborted. Bad clients do not. Default: true. */
  readonly obeysSignals?: boolean;
}

const END = Symbol('end');

export function scriptedClient({ obeysSignals = true }: ScriptedClientOptions = {}): ScriptedClient {
  const requests: KubeRequest[] = [];
  const answers: Answer[] = [];
  const streams: MutableStream[] = [];
  let fallback: { answer: Answer } | undefined;

  return {
    requests,
    get log() {
      return requests.map(({ method, path }) => `${method} ${path}`);
    },
    answer: (...more) => {
      answers.push(...more);
    },
    answerAll: (answer) => {
      fallback = { answer };
    },
    prepareStream: (...lines) => {
      const stream = newStream();
      stream.push(...lines);
      streams.push(stream);
      return stream;
    },
    refuseStream: (error) => {
      const stream = newStream();
      stream.fail(error);
      streams.push(stream);
      return stream;
    },
    async request<T>(request: KubeRequest): Promise<T> {
      requests.push(request);
      request.signal?.throwIfAborted();
      if (answers.length === 0 && fallback === undefined) return await never(obeysSignals ? request.signal : undefined);
      const answer = answers.length > 0 ? answers.shift() : fallback?.answer;
      const result: unknown = typeof answer === 'function' ? await answer(request) : answer;
      if (result instanceof Error) throw result;
      return result as T;
    },
    async *stream<T>(request: KubeRequest): AsyncGenerator<T, void, void> {
      requests.push(request);
      const stream = streams.shift() ?? newStream();
      stream.request = request;
      try {
        for (;;) {
          const line = await stream.lines.shift(obeysSignals ? request.signal : undefined);
          if (line === END || line === undefined) return;
          if (line instanceof Thrown) throw line.error;
          yield line as T;
        }
      } finally {
        stream.isClosed = true;
      }
    },
  };
}

class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

interface MutableStream extends ScriptedStream {
  request: KubeRequest | undefined;
  isClosed: boolean;
  readonly lines: ReturnType<typeof queue<NonNullable<unknown>>>;
}

function newStream(): MutableStream {
  const lines = queue<NonNullable<unknown>>();
  return {
    request: undefined,
    isClosed: false,
    lines,
    push: (...items) => {
      for (const item of items) lines.push(item as NonNullable<unknown>);
    },
    end: () => {
      lines.push(END);
    },
    fail: (error) => {
      lines.push(new Thrown(error));
    },
  };
}

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal !== undefined) onAbort(signal, reject);
  });
}
