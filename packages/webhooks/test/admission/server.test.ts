import type { WebhookServer } from '@kopf-ts/core';
import { recordingObserver } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { reviewOf } from '../reviewing/reviewed.js';
import { fakeServer, NAME, SERVER, served } from './serving.js';

describe('without a server,', () => {
  it('admission handlers are a mistake', async () => {
    const { endings } = await served({ server: undefined });
    expect(endings.get(SERVER)).toMatchObject({
      code: 'KOPF_NO_ADMISSION_SERVER',
      message: expect.stringMatching(/no admission server\/tunnel.*settings\.admission\.server/),
    });
  });

  it('and without handlers, there is just nothing to do', async () => {
    const { endings, stop } = await served({ server: undefined, declare: () => {} });
    expect([...endings]).toEqual([]);
    await stop();
    expect(endings.get(SERVER)).toBeUndefined();
    expect(endings.size).toBe(3);
  });
});

describe('the server', () => {
  it('is started when it is known which kinds there are', async () => {
    const server = fakeServer();
    const { scan } = await served({ server, isReady: false });
    expect(server.story).toEqual([]);
    await scan();
    expect(server.story).toEqual(['entered', 'asked']);
  });

  it('is started also if there are no handlers', async () => {
    const server = fakeServer();
    await served({ server, declare: () => {} });
    expect(server.story).toEqual(['entered', 'asked']);
  });

  it('is not asked by anybody if nothing is managed, which is told once', async () => {
    const { logger } = await served({ server: fakeServer() });
    expect(logger.messages('warn')).toEqual([
      expect.stringMatching(
        /settings\.admission\.managed is not set: no API server calls them unless you maintain .*'auto/,
      ),
    ]);
  });

  it.each([
    ['if it is managed', { managed: NAME }],
    ['if there are no handlers', { declare: () => {} }],
  ])('is not warned about %s', async (_title, options) => {
    const { logger } = await served({ server: fakeServer(), ...options });
    expect(logger.messages('warn')).toEqual([]);
  });

  it('is given all that it may need', async () => {
    const server = fakeServer();
    const info = { server: 'https://cluster' };
    const { clock, client, logger } = await served({ server, connection: () => Promise.resolve(info) });
    expect(server.at).toMatchObject({ clock, client, logger });
    expect(await server.at?.connection()).toBe(info);
    expect(server.at?.signal.aborted).toBe(false);
  });

  it('tells the observers what it refuses', async () => {
    const server = fakeServer();
    const observer = recordingObserver();
    await served({ server, observers: [observer] });
    const refusal = { code: 503, why: 'Too many.', from: '10.0.0.1' };
    server.at?.refused?.(refusal);
    expect(observer.of('webhook.refused')).toEqual([
      { kind: 'webhook.refused', operator: 'me', at: expect.any(Number), ...refusal },
    ]);
  });

  it('tells the observers until when its certificate is valid', async () => {
    const server = fakeServer();
    const observer = recordingObserver();
    await served({ server, observers: [observer] });
    const until = new Date(0);
    server.at?.certified?.(until);
    expect(observer.of('webhook.certified')).toMatchObject([{ kind: 'webhook.certified', until }]);
  });

  it('is told that nobody knows the connection, if the client was given ready', async () => {
    const server = fakeServer();
    await served({ server });
    await expect(server.at?.connection()).rejects.toThrow(/address of the cluster is unknown.*ready-made client/);
  });

  it('reviews by the handlers of the operator', async () => {
    const server = fakeServer();
    await served({
      server,
      declare: ({ on }) =>
        on.validate('kopfexamples', function fn() {
          throw new Error('No!');
        }),
    });
    expect(await server.at?.review(reviewOf())).toMatchObject({ response: { allowed: false } });
  });

  it('is entered once, and exited once, when told to end', async () => {
    const server = fakeServer();
    const { stop, endings } = await served({ server });
    server.announce({ url: 'https://one' });
    await stop();
    expect(server.story.filter((step) => step !== 'asked')).toEqual(['entered', 'exited']);
    expect(endings.get(SERVER)).toBeUndefined();
    expect(endings.size).toBe(3);
  });

  it('that ends by itself ends the service, and so the operator', async () => {
    const server = fakeServer();
    const { settle, endings } = await served({ server });
    server.announce({ url: 'https://one' });
    server.end();
    await settle();
    expect([...endings]).toEqual([[SERVER, undefined]]);
  });

  it('that fails fails the service, and is exited', async () => {
    const server = fakeServer();
    const { settle, endings } = await served({ server });
    const error = new Error('The tunnel has collapsed.');
    server.fail(error);
    await settle();
    expect([...endings]).toEqual([[SERVER, error]]);
    expect(server.story.at(-1)).toBe('exited');
  });

  it('of the simplest kind ends in time, whenever it is told to', async () => {
    // It looks at the signal only after it was asked for the next address, which is not to be once it is over.
    const server: WebhookServer = {
      async *serve({ signal }) {
        yield { url: 'https://one' };
        await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
      },
    };
    const atOnce = await served({ server, isReady: false });
    const scanning = atOnce.scan();
    await atOnce.stop();
    await scanning;
    const later = await served({ server, managed: NAME });
    await later.stop();
    await later.clock.advance(2);
    for (const { endings } of [atOnce, later]) expect([...endings.keys()]).toContain(SERVER);
  });

  it('lets the handlers that still run know that it has ended', async () => {
    const server = fakeServer();
    let signal: AbortSignal | undefined;
    const { stop } = await served({
      server,
      declare: ({ on }) =>
        on.validate('kopfexamples', function fn(kwargs) {
          signal = kwargs.signal;
          return new Promise(() => {});
        }),
    });
    void server.at?.review(reviewOf()).catch(() => {});
    expect(signal?.aborted).toBe(false);
    await stop();
    expect(signal?.aborted).toBe(true);
  });
});
