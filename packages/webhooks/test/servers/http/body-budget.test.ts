import type { Socket } from 'node:net';
import type { ReviewFn } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type WebhookServerOptions, webhookServer } from '../../../src/index.js';
import { bodyBudget, defaultBodyBudget } from '../../../src/servers/http/body-budget.js';
import { ANSWER, ask, dial, REVIEW, served } from '../support.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const plain = (options: WebhookServerOptions = {}) => webhookServer({ insecure: true, addr: '127.0.0.1', ...options });
const review = (size: number): string => JSON.stringify({ ...REVIEW, padding: 'x'.repeat(size) });

/** Reviews that are answered when told so. */
function held(): { readonly review: ReviewFn; release(): void; readonly waiting: () => number } {
  const waiting: (() => void)[] = [];
  return {
    review: () => new Promise((resolve) => waiting.push(() => resolve(ANSWER))),
    release: () => {
      for (const each of waiting.splice(0)) each();
    },
    waiting: () => waiting.length,
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a budget', () => {
  it('is for all accounts together, and gets back what they have taken', () => {
    const budget = bodyBudget(100);
    const [one, two] = [budget.open(), budget.open()];
    one.take(60);
    expect(() => two.take(50)).toThrow(expect.objectContaining({ status: 503, headers: { 'retry-after': '1' } }));
    two.take(40);
    expect(budget.used).toBe(100);
    expect(() => one.require(1)).toThrow(expect.objectContaining({ status: 503 }));
    one.close();
    one.close();
    expect(budget.used).toBe(40);
    two.take(60);
    two.close();
    expect(budget.used).toBe(0);
  });

  it('refuses for good what would never fit', () => {
    expect(() => bodyBudget(100).open().take(101)).toThrow(expect.objectContaining({ status: 413 }));
  });

  it('is a part of the heap, and enough for the largest request', () => {
    expect(defaultBodyBudget(MIB)).toBeGreaterThan(16 * MIB);
    expect(defaultBodyBudget(10_000_000 * MIB)).toBeGreaterThan(10_000_000 * MIB);
  });
});

describe('requests', () => {
  it('may have 7 MiB by default, and not more', async () => {
    await using server = await served(plain());
    expect((await ask(`${server.url}/fn`, { body: review(6.9 * MIB) })).status).toBe(200);
    const outcome = await ask(`${server.url}/fn`, { body: review(7 * MIB) }).catch(({ code }) => ({ status: code }));
    expect([413, 'ECONNRESET', 'EPIPE']).toContain(outcome.status);
    expect(server.logger.messages('warn').join()).toContain('larger than 7340032 bytes');
  });

  it('are refused while others take the memory, told when to come again, and accepted after that', async () => {
    const holding = held();
    await using server = await served(plain({ bodyLimit: 100 * KIB, bodyBudget: 1000 * KIB }), {
      review: holding.review,
    });
    const first = ask(`${server.url}/fn`, { body: review(90 * KIB) });
    const second = ask(`${server.url}/fn`, { body: review(90 * KIB) });
    await until(() => holding.waiting() === 2);
    const refused = await ask(`${server.url}/fn`, { body: review(90 * KIB) });
    expect(refused).toMatchObject({ status: 503, text: '503: Too many requests at once. Try again later.' });
    expect(refused.headers['retry-after']).toBe('1');
    // There is still room for the small ones.
    const small = ask(`${server.url}/fn`);
    await until(() => holding.waiting() === 3);
    holding.release();
    expect((await Promise.all([first, second, small])).map(({ status }) => status)).toEqual([200, 200, 200]);
    const third = ask(`${server.url}/fn`, { body: review(90 * KIB) });
    await until(() => holding.waiting() === 1);
    holding.release();
    expect((await third).status).toBe(200);
  });

  it('are refused by their headers alone, before anything else of them comes', async () => {
    const holding = held();
    await using server = await served(plain({ bodyLimit: 100 * KIB, bodyBudget: 450 * KIB }), {
      review: holding.review,
    });
    const first = ask(`${server.url}/fn`, { body: review(95 * KIB) });
    await until(() => holding.waiting() === 1);
    const { socket, received } = await dial(server.url);
    socket.write(head(99 * KIB));
    expect(await received).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1/s);
    holding.release();
    expect((await first).status).toBe(200);
  });

  it('take nothing by their headers: those who only announce large bodies keep nobody out', async () => {
    await using server = await served(plain({ bodyLimit: 100 * KIB, bodyBudget: 450 * KIB }));
    const sockets: Socket[] = [];
    for (let count = 0; count < 20; count++) {
      const { socket } = await dial(server.url);
      socket.write(head(99 * KIB));
      sockets.push(socket);
    }
    expect((await ask(`${server.url}/fn`, { body: review(90 * KIB) })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('give back what they have taken when they are broken off, refused, or fail', async () => {
    const failing = () => Promise.reject(new Error('It fails.'));
    await using server = await served(plain({ bodyLimit: 100 * KIB, bodyBudget: 450 * KIB }), { review: failing });
    for (let count = 0; count < 20; count++) {
      const { socket, received } = await dial(server.url);
      socket.write(`${head(99 * KIB)}${'x'.repeat(80 * KIB)}`);
      await until(() => socket.writableLength === 0);
      socket.destroy();
      await received;
      expect((await ask(`${server.url}/fn`, { body: 'x'.repeat(90 * KIB) })).status).toBe(400);
      expect((await ask(`${server.url}/fn`, { body: review(90 * KIB) })).status).toBe(500);
    }
  });

  it.each([
    [
      'nested deeper than any API server reads',
      `${'{"a":'.repeat(10_001)}1${'}'.repeat(10_001)}`,
      400,
      /nested too deep/,
    ],
    ['made of more parts than there is memory for', `[${'{},'.repeat(300_000)}{}]`, 413, /memory budget/],
  ])('are refused unread if they are %s', async (_title, body, status, text) => {
    await using server = await served(plain({ bodyLimit: MIB, bodyBudget: 10 * MIB }));
    const answer = await ask(`${server.url}/fn`, { body });
    expect(answer).toMatchObject({ status, text: expect.stringMatching(text) });
    expect(server.calls).toEqual([]);
  });
});

function head(length: number): string {
  return `POST /fn HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
}
