import { ApiError, type KubeClient, type KubeRequest } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type ClientUnderTest, clientCases } from '../../src/index.js';
import { tinyClient } from '../helpers/tiny-client.js';
import { TinyCluster } from '../helpers/tiny-cluster.js';
import { complaint, failures } from './failures.js';

function good(): ClientUnderTest {
  const client = tinyClient(new TinyCluster());
  return { client, connections: () => client.streams };
}

/** A client with something wrong in it, made of a good one. */
function spoiled(spoil: (client: KubeClient) => Partial<KubeClient>): () => ClientUnderTest {
  return () => {
    const client = tinyClient(new TinyCluster());
    const { request, stream } = client;
    return { client: { request, stream, ...spoil(client) }, connections: () => client.streams };
  };
}

/** A client that sends other requests than it is asked for. */
function mangling(mangle: (request: KubeRequest) => KubeRequest): () => ClientUnderTest {
  return spoiled((client) => ({
    request: (request) => client.request(mangle(request)),
    stream: (request) => client.stream(mangle(request)),
  }));
}

/** A client that gives other answers than it has got. */
function altering(alter: (text: string) => string): () => ClientUnderTest {
  const altered = <T>(value: unknown): T => JSON.parse(alter(JSON.stringify(value))) as T;
  return spoiled((client) => ({
    request: async (request) => altered(await client.request(request)),
    async *stream<T>(request: KubeRequest) {
      for await (const item of client.stream(request)) yield altered<T>(item);
    },
  }));
}

/** A client that throws other errors than it has got. */
function misreporting(replace: (error: unknown) => unknown): () => ClientUnderTest {
  return spoiled((client) => ({
    request: (request) =>
      client.request<never>(request).catch((error: unknown) => {
        throw replace(error);
      }),
    async *stream<T>(request: KubeRequest) {
      try {
        yield* client.stream<T>(request);
      } catch (error) {
        throw replace(error);
      }
    },
  }));
}

const without = <K extends keyof KubeRequest>(key: K) =>
  mangling((request) => {
    const { [key]: _, ...rest } = request;
    return rest as KubeRequest;
  });

const blind = (status: number) =>
  misreporting((error) => (error instanceof ApiError && error.status === status ? new Error('failed') : error));

const broken: [sin: string, caught: string, create: () => ClientUnderTest][] = [
  ['loses the content', "returns the server's response", altering((text) => text.replace('"a":"b"', '"a":"c"'))],
  [
    'takes bytes for characters',
    'keeps every character in both directions',
    altering((text) => Buffer.from(text, 'utf8').toString('latin1')),
  ],
  [
    'forgets the query',
    'sends the query as it is',
    mangling((r) => ({ ...r, path: r.path.replace(/\?(?!watch).*/, '') })),
  ],
  ['tells no type of the content', 'sends the content type', without('contentType')],
  ['wants always the same form', 'sends the requested form of the response', without('accept')],
  [
    'deletes without options',
    'deletes, with options and without',
    mangling((request) => (request.method === 'DELETE' ? { method: 'DELETE', path: request.path } : request)),
  ],
  ['cuts what is long', 'sends and receives large objects', altering((text) => text.replaceAll(/(ü€){100000,}/g, '…'))],
  ['cuts long lists', 'receives large lists', altering((text) => text.replaceAll(/x{200000,}/g, 'x'))],
  [
    'mixes up what is on the way at once',
    'sends many requests concurrently',
    spoiled((client) => {
      let last: Promise<unknown> | undefined;
      return {
        request: (request) => {
          const current = last ?? client.request(request);
          last = current;
          void current.finally(() => (last = undefined)).catch(() => {});
          return current as Promise<never>;
        },
      };
    }),
  ],
  ['does not tell what is not found', 'throws what the server says: not found', blind(404)],
  [
    'hides the words of the server',
    'throws what the server says: not found',
    misreporting((error) => (error instanceof ApiError ? Object.assign(error, { message: 'HTTP 404' }) : error)),
  ],
  [
    'swallows errors',
    'throws what the server says: already exists',
    spoiled((client) => ({ request: (request) => client.request<never>(request).catch(() => ({}) as never) })),
  ],
  [
    'forgets the reasons',
    'throws what the server says: already exists',
    misreporting((error) => (error instanceof ApiError ? Object.assign(error, { reason: undefined }) : error)),
  ],
  ['takes conflicts for something else', 'throws what the server says: conflict', blind(409)],
  [
    'forgets the details',
    'throws what the server says: invalid',
    misreporting((error) => (error instanceof ApiError ? Object.assign(error, { details: undefined }) : error)),
  ],
  ['knows only some statuses', 'throws what the server says: any other refusal', blind(415)],
  [
    'fails on texts',
    'throws for responses that are only texts, too',
    misreporting((error) =>
      error instanceof ApiError && typeof error.payload === 'string' ? new SyntaxError('not JSON') : error,
    ),
  ],
  [
    'streams backwards',
    'streams the events in order',
    spoiled((client) => ({
      async *stream<T>(request: KubeRequest) {
        let held: { item: T } | undefined;
        for await (const item of client.stream<T>(request)) {
          yield item;
          if (held !== undefined) yield held.item;
          held = { item };
        }
      },
    })),
  ],
  [
    'holds back the last event',
    'streams each event as soon as it arrives',
    spoiled((client) => ({
      async *stream<T>(request: KubeRequest) {
        let held: { item: T } | undefined;
        for await (const item of client.stream<T>(request)) {
          if (held !== undefined) yield held.item;
          held = { item };
        }
      },
    })),
  ],
  [
    'drops long lines',
    'streams events of any size, whole',
    spoiled((client) => ({
      async *stream<T>(request: KubeRequest) {
        for await (const item of client.stream<T>(request)) if (JSON.stringify(item).length < 100_000) yield item;
      },
    })),
  ],
  [
    'takes the end of a stream for an error',
    'ends the stream when the server does',
    spoiled((client) => ({
      async *stream<T>(request: KubeRequest) {
        yield* client.stream<T>(request);
        throw new Error('The server has closed the connection.');
      },
    })),
  ],
  [
    'gives nothing where the server refuses to stream',
    'throws what the server says when it refuses to stream',
    spoiled((client) => ({
      async *stream<T>(request: KubeRequest) {
        try {
          yield* client.stream<T>(request);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
        }
      },
    })),
  ],
  [
    'gives the refusal as an event',
    'throws what the server says when it does not understand what to stream',
    spoiled((client) => ({
      async *stream<T>(request: KubeRequest) {
        try {
          yield* client.stream<T>(request);
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 400) throw error;
          yield { type: 'ERROR', object: error.payload } as T;
        }
      },
    })),
  ],
  [
    'has one stream for all',
    'has many concurrent, independent streams',
    spoiled((client) => {
      const everyone = new AbortController();
      return {
        async *stream<T>(request: KubeRequest) {
          request.signal?.addEventListener('abort', () => everyone.abort(request.signal?.reason), { once: true });
          yield* client.stream<T>({ ...request, signal: everyone.signal });
        },
      };
    }),
  ],
  [
    'looks at signals only afterwards',
    'sends nothing if already aborted',
    spoiled((client) => ({
      request: async <T>({ signal, ...request }: KubeRequest) => {
        const result = await client.request<T>(request);
        signal?.throwIfAborted();
        return result;
      },
    })),
  ],
  ['does not know of signals', 'rejects with the reason if a request is aborted', without('signal')],
  [
    'has reasons of its own',
    'rejects with the reason if a stream is aborted while it opens',
    misreporting((error) => (error instanceof ApiError ? error : new DOMException('Aborted', 'AbortError'))),
  ],
  ['cannot be aborted', 'rejects with the reason if a stream is aborted while an event is awaited', without('signal')],
  [
    'takes aborts for the end',
    'rejects with the reason if a stream is aborted while an event is awaited',
    spoiled((client) => ({
      async *stream<T>(request: KubeRequest) {
        try {
          yield* client.stream<T>(request);
        } catch (error) {
          if (error instanceof ApiError) throw error;
        }
      },
    })),
  ],
  [
    'gives what it has already read, aborted or not',
    'yields no more events after the stream is aborted',
    spoiled((client) => ({
      async *stream<T>({ signal, ...request }: KubeRequest) {
        signal?.throwIfAborted();
        yield* client.stream<T>(request);
      },
    })),
  ],
  [
    'never stops listening to signals',
    'leaves nothing behind: no listeners, no connections of streams',
    mangling((request) => {
      request.signal?.addEventListener('abort', () => {});
      return request;
    }),
  ],
  [
    'leaves connections open',
    'leaves nothing behind: no listeners, no connections of streams',
    spoiled((client) => ({
      stream<T>({ signal, ...request }: KubeRequest) {
        const iterator = client.stream<T>(request)[Symbol.asyncIterator]();
        const aborted = (): Promise<never> => Promise.reject(signal?.reason);
        let isOver = false;
        return {
          [Symbol.asyncIterator]: () => ({
            async next(): Promise<IteratorResult<T>> {
              if (isOver) return { done: true, value: undefined };
              if (signal?.aborted) return aborted();
              const next = iterator.next();
              return await new Promise((resolve, reject) => {
                const listener = (): void => {
                  isOver = true;
                  reject(signal?.reason);
                };
                signal?.addEventListener('abort', listener, { once: true });
                next.then(resolve, reject).finally(() => signal?.removeEventListener('abort', listener));
              });
            },
            async return(): Promise<IteratorResult<T>> {
              isOver = true;
              return { done: true, value: undefined };
            },
          }),
        };
      },
    })),
  ],
  [
    'spoils characters of texts',
    'yields texts line by line with every character, if it supports that',
    spoiled((client) => ({
      async *text(request: KubeRequest) {
        for await (const line of client.text?.(request) ?? []) yield line.replaceAll('ü', '?');
      },
    })),
  ],
  [
    'takes refusals for texts',
    'throws what the server says when it refuses a text, if it can',
    spoiled(() => ({
      async *text() {
        yield 'not found';
      },
    })),
  ],
  [
    'connects to nobody',
    'throws what the server says when it refuses to connect, if it can',
    spoiled(() => ({
      connect: () => Promise.reject(new Error('Unexpected server response: 404')),
    })),
  ],
];

const deadline = 0.5;
const allCases = clientCases(good).map(({ name }) => name);

describe('the suite of clients', () => {
  it('passes a good one', async () => {
    expect(await failures(clientCases(good))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    const suspicious = clientCases(create, { deadline }).filter(({ name }) => name === caught);
    expect(await failures(suspicious)).toEqual([caught]);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('says what is wrong in words', async () => {
    const cases = clientCases(without('signal'), { deadline });
    const requests = 'rejects with the reason if a request is aborted';
    expect(await complaint(cases, requests)).toMatch(/^It should have failed, but gave /);
    const streams = 'rejects with the reason if a stream is aborted while an event is awaited';
    expect(await complaint(cases, streams)).toBe('It has not come to an end within 0.5 seconds.');
  });
});
