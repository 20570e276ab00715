import type { WebhookServer } from '@kopf-ts/core';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebhookServerOptions, webhookServer } from '../../../src/index.js';
import { ANSWER, ask, dial, localMaterial, REVIEW, type Served, served } from '../support.js';

type Told = Parameters<NonNullable<Parameters<WebhookServer['serve']>[0]['refused']>>[0];

const LOCAL = '127.0.0.1';
const told: Told[] = [];
afterEach(() => void told.splice(0));

const start = (options: WebhookServerOptions = {}): Promise<Served> =>
  served(webhookServer({ insecure: true, addr: LOCAL, ...options }), { refused: (refusal) => void told.push(refusal) });

describe('of requests that are refused without a review, it is told', () => {
  it.each<[string, number, Parameters<typeof ask>[1]]>([
    ['too large', 413, { body: JSON.stringify({ ...REVIEW, padding: 'x'.repeat(2000) }) }],
    ['no JSON', 400, { body: '{' }],
    ['of another type', 415, { headers: { 'content-type': 'text/plain' } }],
    ['of another method', 405, { method: 'PUT' }],
  ])('those %s: with %i, why, and from where', async (_title, code, question) => {
    await using server = await start({ bodyLimit: 1000 });
    // The rest of a request that is too large is not read: its sender may see that before the answer.
    await ask(`${server.url}/fn`, question).catch(() => {});
    expect(told).toEqual([{ code, why: expect.any(String), from: LOCAL }]);
    expect(server.calls).toEqual([]);
  });

  it('those for which there is no memory left', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const options = { insecure: true, addr: LOCAL, bodyLimit: 10_000, bodyBudget: 300_000 } as const;
    await using server = await served(webhookServer(options), {
      // Who is refused makes room for nobody: the others are answered only after that.
      refused(refusal) {
        told.push(refusal);
        release();
      },
      review: () => released.then(() => ANSWER),
    });
    const body = JSON.stringify({ ...REVIEW, padding: 'x'.repeat(9000) });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(`${server.url}/fn`, { body })));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(told).toEqual(refused.map(() => ({ code: 503, why: expect.any(String), from: LOCAL })));
  });

  it('what is no HTTP', async () => {
    await using server = await start();
    const { socket, received } = await dial(server.url);
    socket.write('HELLO\r\n\r\n');
    expect(await received).toContain('400');
    expect(told).toEqual([{ code: 400, why: expect.any(String), from: LOCAL }]);
  });

  it('but not those that the review refuses: it tells of them itself', async () => {
    const review = (): Promise<never> => Promise.reject(new Error('boo'));
    await using server = await served(webhookServer({ insecure: true, addr: LOCAL }), {
      review,
      refused: (refusal) => void told.push(refusal),
    });
    expect((await ask(`${server.url}/fn`)).status).toBe(500);
    expect(told).toEqual([]);
  });
});

describe('connections beyond the limit', () => {
  it.each([true, false])(
    'are closed at once, told of, and accepted again when others have gone; insecure: %s',
    async (insecure) => {
      const certificates = {
        materials: async function* () {
          yield await localMaterial();
        },
      };
      await using server = await start({ maxConnections: 2, insecure, ...(insecure ? {} : { certificates }) });
      const question = insecure ? {} : { tls: { ca: server.ca } };
      const [one, two] = [await dial(server.url), await dial(server.url)];
      for (const _ of [1, 2, 3]) {
        const refused = await dial(server.url);
        expect(await refused.received).toBe('');
      }
      expect(told).toEqual(
        [1, 2, 3].map(() => ({ code: undefined, why: 'There are 2 connections already.', from: LOCAL })),
      );
      expect(server.logger.messages('warn')).toEqual([
        `A connection to the webhook server is refused: from ${LOCAL}: There are 2 connections already.`,
      ]);
      for (const { socket, received } of [one, two]) {
        socket.destroy();
        await received;
      }
      // The server hears of it a moment later.
      let status = 0;
      while (status !== 200)
        status = await ask(`${server.url}/fn`, question).then(
          (answer) => answer.status,
          () => 0,
        );
      expect(server.calls).toHaveLength(1);
    },
  );
});
