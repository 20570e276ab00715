/** A server at work, and its callers: for the conformance suite of webhook servers. */
import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type {
  AdmissionRequest,
  AdmissionResponse,
  Awaitable,
  ConnectionInfo,
  KubeClient,
  ReviewFn,
  ReviewHints,
  Seconds,
  WebhookClientConfig,
  WebhookServer,
} from '@kopf-ts/core';
import { type ManualClock, manualClock } from '../../manual-clock.js';
import { recordingLogger } from '../../recording-logger.js';

/**
 * A server or a tunnel, and how to call it.
 *
 * ```ts
 * import type { WebhookServerUnderTest } from 'kopf-ts/testing';
 * const subject: WebhookServerUnderTest = {
 *   server: kopf.webhooks.webhookServer({ addr: '127.0.0.1', host: 'operator.example.com' }),
 *   reach: ({ url }) => ({ url: `https://127.0.0.1:${new URL(url ?? '').port}`, servername: 'operator.example.com' }),
 * };
 * ```
 */
export interface WebhookServerUnderTest {
  readonly server: WebhookServer;
  /** Default: one that stands still. */
  readonly clock?: ManualClock;
  /** Default: one that fails with every request. */
  readonly client?: KubeClient;
  /** Default: there is none. */
  readonly connection?: () => Promise<ConnectionInfo>;
  /** How to reach what is announced, if not directly: for services, tunnels, and names that only clusters know. */
  readonly reach?: (config: WebhookClientConfig) => Awaitable<Destination>;
  /** Called after each case. */
  readonly cleanUp?: () => Awaitable<unknown>;
}

/**
 * How quick a server is.
 *
 * ```ts
 * import type { WebhookServerExpectations } from 'kopf-ts/testing';
 * const slow: WebhookServerExpectations = { promptness: 60 };
 * ```
 */
export interface WebhookServerExpectations {
  /** How long anything may take, in real seconds. Default: 10. */
  readonly promptness?: Seconds;
}

/**
 * Where to connect to, and whose certificate to expect there.
 *
 * ```ts
 * import type { WebhookDestination } from 'kopf-ts/testing';
 * const destination: WebhookDestination = { url: 'https://127.0.0.1:9443/', servername: 'webhooks.operators.svc' };
 * ```
 */
export interface Destination {
  readonly url: string;
  readonly servername?: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** For callers that are connected when a server ends. */
const CLOSING_TIME: Seconds = 5;

export class ServedWorld {
  readonly target: WebhookServerUnderTest;
  readonly clock: ManualClock;
  readonly calls: { readonly review: AdmissionRequest; readonly hints: ReviewHints }[] = [];
  review: ReviewFn;
  readonly #promptness: Seconds;
  #aborting = new AbortController();
  #configs: AsyncIterator<WebhookClientConfig> | undefined;
  /** The question for the next address, once asked. */
  #asked: Promise<IteratorResult<WebhookClientConfig>> | undefined;
  #config: WebhookClientConfig = {};

  constructor(
    target: WebhookServerUnderTest,
    { promptness = 10 }: WebhookServerExpectations,
    answer: AdmissionResponse,
  ) {
    this.target = target;
    // TLS looks at the real time: certificates that are made by the clock have to be valid now.
    this.clock = target.clock ?? manualClock({ start: new Date() });
    this.#promptness = promptness;
    this.review = () => Promise.resolve(answer);
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  abort(): void {
    this.#aborting.abort(new Error('The operator stops.'));
  }

  /** Forgets the life that is over. */
  renew(): void {
    this.#aborting = new AbortController();
    this.#configs = undefined;
    this.#asked = undefined;
  }

  /** The first address; the second one is asked for at once, unless we are busy. */
  async start({ isBusy = false } = {}): Promise<WebhookClientConfig> {
    const config = await this.next();
    assert.ok(config !== undefined, 'it has ended without saying where it can be reached');
    this.#config = config;
    if (!isBusy) void this.#ask();
    return config;
  }

  async next(): Promise<WebhookClientConfig | undefined> {
    const { done, value } = await this.within(this.#ask(), 'it does not say where it can be reached');
    this.#asked = undefined;
    return done ? undefined : value;
  }

  #ask(): Promise<IteratorResult<WebhookClientConfig>> {
    this.#configs ??= this.#serve()[Symbol.asyncIterator]();
    this.#asked ??= this.#configs.next();
    // Failures are noticed where it is awaited.
    this.#asked.catch(() => {});
    return this.#asked;
  }

  #serve(): AsyncIterable<WebhookClientConfig> {
    return this.target.server.serve({
      review: (review, hints = {}) => {
        this.calls.push({ review, hints });
        return this.review(review, hints);
      },
      signal: this.signal,
      logger: recordingLogger(),
      clock: this.clock,
      client: this.target.client ?? NO_CLIENT,
      connection: this.target.connection ?? (() => Promise.reject(new Error('There is no cluster.'))),
    });
  }

  async hasEnded(): Promise<boolean> {
    const pending = Symbol('pending');
    const settled = await Promise.race([this.#ask(), this.clock.settle().then(() => pending)]);
    return settled !== pending;
  }

  /** Aborts it and waits for its end. Connections may be given some time by the clock. */
  async end(): Promise<void> {
    this.abort();
    for (;;) {
      const asked = this.#ask();
      await this.clock.advance(CLOSING_TIME);
      const { done } = await this.within(asked, 'it does not end');
      if (done) return;
      this.#asked = undefined;
    }
  }

  async leave(): Promise<void> {
    await this.within(Promise.resolve(this.#configs?.return?.()), 'it does not end');
  }

  /** From now on, reviews wait until released. */
  blockReviews(): { readonly arrived: Promise<void>; release(): void } {
    const answer = this.review;
    let release = (): void => {};
    let arrive = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    this.review = async (...args) => {
      arrive();
      await released;
      return answer(...args);
    };
    return { arrived, release };
  }

  async #destination(): Promise<Destination> {
    if (this.target.reach !== undefined) return this.target.reach(this.#config);
    if (this.#config.url === undefined)
      throw new Error('Say how the service is reached: { reach: (config) => ({ url }) }.');
    return { url: this.#config.url };
  }

  async post(
    path: string,
    body: unknown,
    { method = 'POST', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const { url, servername } = await this.#destination();
    const { caBundle } = this.#config;
    const isSecure = url.startsWith('https:');
    const incoming = new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, agent: false as const, headers: { 'content-type': 'application/json', ...headers } };
      const trust = {
        ...(caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64') }),
        ...(servername === undefined ? {} : { servername }),
      };
      const address = `${url.replace(/\/+$/, '')}${path}`;
      const outgoing = isSecure ? httpsRequest(address, { ...options, ...trust }) : httpRequest(address, options);
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
      outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    return await this.within(incoming.then(readAnswer), 'there is no answer');
  }

  /** A connection on which nothing is sent. */
  async connect(): Promise<{ readonly closed: Promise<void> }> {
    const { hostname, port, protocol } = new URL((await this.#destination()).url);
    const socket = connect(Number(port || (protocol === 'https:' ? 443 : 80)), hostname.replace(/^\[|\]$/g, ''));
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const opened = new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.resume();
    await this.within(opened, 'it does not accept connections');
    return { closed };
  }

  async isReachable(): Promise<boolean> {
    try {
      const { closed } = await this.connect();
      // A server that accepts connections only to close them is not there for anybody.
      const isClosed = await Promise.race([closed.then(() => true), new Promise((r) => setTimeout(r, 100, false))]);
      return !isClosed;
    } catch {
      return false;
    }
  }

  async untilUnreachable(): Promise<void> {
    const poll = async (): Promise<void> => {
      while (await this.isReachable()) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await this.within(poll(), 'it still accepts connections');
  }

  /** Sockets take real time. */
  async within<T>(promise: Promise<T>, complaint: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const message = `${complaint}, not within ${this.#promptness} seconds`;
      const error = new assert.AssertionError({ message });
      timer = setTimeout(() => reject(error), this.#promptness * 1000);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async cleanUp(): Promise<void> {
    this.abort();
    if (this.#configs !== undefined) await this.end().catch(() => {});
    await this.target.cleanUp?.();
  }
}

async function readAnswer(incoming: IncomingMessage): Promise<Answer> {
  let text = '';
  incoming.setEncoding('utf8');
  for await (const chunk of incoming) text += chunk;
  return { status: incoming.statusCode ?? 0, type: incoming.headers['content-type'] ?? '', text };
}

const NO_CLIENT: KubeClient = {
  request: () => Promise.reject(new Error('There is no cluster.')),
  // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
  async *stream() {
    throw new Error('There is no cluster.');
  },
};
