import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebhookError } from '@kopf-ts/core';
import { untilAborted } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { type WebhookServerUnderTest, webhookServerCases } from '../../../src/index.js';
import { type Habits, tinyWebhookServer } from '../../helpers/tiny-webhook-server.js';
import { complaint, failures } from '../failures.js';

/** The servers that do not close by themselves are closed after the case. */
const world =
  (habits: Habits = {}) =>
  (): WebhookServerUnderTest => {
    const opened: Server[] = [];
    const cleanUp = (): void => {
      for (const server of opened) {
        server.close();
        server.closeAllConnections();
      }
    };
    return { server: tinyWebhookServer(habits, opened), cleanUp };
  };

/** Long enough for those who are right, short enough for those who never answer. */
const QUICK = { promptness: 0.25 };
const allCases = webhookServerCases(world()).map(({ name }) => name);

/** One review after another. */
function oneByOne(): NonNullable<Habits['queue']> {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const previous = last;
    let leave = (): void => {};
    last = new Promise<void>((resolve) => {
      leave = resolve;
    });
    await previous;
    return leave;
  };
}

const broken: [sin: string, caught: string, create: () => WebhookServerUnderTest][] = [
  ['announces nonsense', 'reports its address', world({ url: () => 'somewhere' })],
  [
    'changes the answer',
    'passes the review and the response unchanged',
    world({ answer: (answer) => ({ ...(answer as object), response: { allowed: true } }) }),
  ],
  ['does not say that it is JSON', 'passes the review and the response unchanged', world({ type: 'text/html' })],
  [
    'reads other characters than were sent',
    'passes the review and the response unchanged',
    world({
      read: async (request) => {
        let text = '';
        for await (const chunk of request) text += (chunk as Buffer).toString('latin1');
        return text;
      },
    }),
  ],
  ['takes the id as it is encoded', 'reports which handler a request is for', world({ idOf: (path) => path.slice(1) })],
  [
    'takes the root for a handler without a name',
    'reports no handler if the request names none',
    world({ idOf: (path) => decodeURIComponent(path.slice(1)) }),
  ],
  ['forgets the headers', 'passes the headers', world({ headersOf: () => ({}) })],
  ['forgets the time', 'reports the timeout of the API server', world({ timeoutOf: () => undefined })],
  ['reviews one after another', 'reviews several requests at once', () => world({ queue: oneByOne() })()],
  [
    'has a small limit',
    'passes large reviews',
    world({
      read: async (request) => {
        let text = '';
        for await (const chunk of request) text += chunk;
        if (text.length > 1_000_000) throw new Error('Too large.');
        return text;
      },
    }),
  ],
  [
    'takes everything for a review',
    'refuses anything but JSON without a review',
    world({
      parse: (text) => {
        try {
          return JSON.parse(text);
        } catch {
          return {};
        }
      },
    }),
  ],
  [
    'serves all methods',
    'refuses methods other than POST without a review',
    world({ methods: ['POST', 'PUT', 'GET'] }),
  ],
  ['knows one failure only', 'refuses an unknown resource or handler with 404', world({ statusOf: () => 500 })],
  ['knows one failure only', 'refuses ambiguous resources with 409', world({ statusOf: () => 500 })],
  ['knows one failure only', 'refuses incomplete reviews with 400', world({ statusOf: () => 500 })],
  [
    'allows what it could not review',
    'refuses what the review fails at with 500',
    world({
      statusOf: (error) => (error instanceof WebhookError ? 400 : 200),
      textOf: () => '{"response":{"allowed":true}}',
    }),
  ],
  ['tells the message to everybody', 'keeps inner errors to itself', world({ textOf: (error) => String(error) })],
  [
    'tells the stack to everybody',
    'keeps inner errors to itself',
    world({ textOf: (error) => String((error as Error).stack).replaceAll('a-secret-of-ours', '') }),
  ],
  [
    'does not survive a failure',
    'goes on after bad requests and failed reviews',
    world({ onFailure: (server) => void server.close() }),
  ],
  [
    'ends after a while',
    'stays until it is aborted',
    world({ wait: async ({ clock, signal }) => void (await clock.sleep(100, { signal }).catch(() => {})) }),
  ],
  [
    'takes the abort for an error',
    'ends in time and without an error when aborted',
    world({ after: ({ signal }) => signal.throwIfAborted() }),
  ],
  [
    'does not hear that it is to end',
    'ends in time and without an error when aborted',
    world({ wait: () => new Promise(() => {}) }),
  ],
  [
    'leaves connections open',
    'closes all its sockets at the end, including idle keep-alive ones',
    world({ close: async (server) => void server.close() }),
  ],
  [
    'leaves the door open',
    'closes all its sockets at the end, including idle keep-alive ones',
    world({ close: async () => {} }),
  ],
  ['closes only when asked', 'closes even if the next address is never requested', world({ closesOnAbort: false })],
  ['closes only when aborted', 'closes even if the loop is left without aborting', world({ closesOnLeaving: false })],
  [
    'cuts off those who wait',
    'answers requests in progress before it ends',
    world({
      close: async (server: Server, sockets: ReadonlySet<Socket>) => {
        server.close();
        for (const socket of sockets) socket.destroy();
      },
    }),
  ],
  ['starts first and asks later', 'does nothing if already aborted', world({ startsAborted: true })],
  [
    'can be used only once',
    'can be used again after it has ended',
    () => {
      const target = world()();
      let uses = 0;
      return {
        ...target,
        server: {
          async *serve(at) {
            uses += 1;
            if (uses === 1) yield* target.server.serve(at);
          },
        },
      };
    },
  ],
  [
    'sleeps on after it has ended',
    'leaves no timers and no listeners behind',
    world({ before: ({ clock }) => void clock.sleep(100_000) }),
  ],
  [
    'listens on after it has ended',
    'leaves no timers and no listeners behind',
    world({ after: ({ signal }) => signal.addEventListener('abort', () => {}) }),
  ],
];

describe('the suite of webhook servers', () => {
  it('passes a good one', async () => {
    expect(await failures(webhookServerCases(world()))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    const cases = webhookServerCases(create, QUICK).filter(({ name }) => name === caught);
    expect(await failures(cases)).toEqual([caught]);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('reaches services and tunnels as it is told', async () => {
    const { server, ...rest } = world()();
    let port: string | undefined;
    const cases = webhookServerCases(() => ({
      ...rest,
      server: {
        async *serve(at) {
          for await (const { url = '' } of server.serve(at)) {
            port = new URL(url).port;
            yield { service: { namespace: 'ns', name: 'svc' } };
          }
        },
      },
      reach: () => ({ url: `http://127.0.0.1:${port}` }),
    }));
    expect(await failures(cases)).toEqual([]);
  });

  it('cleans up after each case', async () => {
    let cleanUps = 0;
    const cases = webhookServerCases(() => ({ ...world()(), cleanUp: () => cleanUps++ }));
    await failures(cases);
    expect(cleanUps).toBe(cases.length);
  });

  it('says what is wrong in words', async () => {
    const silent = world({ wait: ({ signal }) => untilAborted(signal), read: () => new Promise(() => {}) });
    const cases = webhookServerCases(silent, { promptness: 0.1 });
    expect(await complaint(cases, 'passes the headers')).toBe('there is no answer, not within 0.1 seconds');
  });
});
