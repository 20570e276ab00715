import { apiError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { reviewOf } from '../reviewing/reviewed.js';
import { fakeServer, NAME, SERVER, served } from './serving.js';

const asked = (story: readonly string[]) => story.filter((step) => step === 'asked').length;

describe('the address of the server', () => {
  it('goes into the configurations, each next one instead of the previous', async () => {
    const server = fakeServer();
    const { settle, clock, address } = await served({ server, managed: NAME });
    server.announce({ url: 'https://one' });
    await settle();
    expect(await address()).toBe('https://one/fn');
    server.announce({ url: 'https://two' });
    await clock.advance(1);
    await settle();
    expect(await address()).toBe('https://two/fn');
  });

  it('is nobody’s business, if the configurations are not managed', async () => {
    const server = fakeServer();
    const { settle, requests } = await served({ server });
    server.announce({ url: 'https://one' });
    server.announce({ url: 'https://two' });
    await settle();
    expect(asked(server.story)).toBe(3);
    expect(requests).toEqual([]);
  });

  it.each([undefined, NAME])('makes the operator ready; managed: %s', async (managed) => {
    const server = fakeServer();
    const place = await served({ server, ...(managed && { managed }) });
    expect(place.isServed).toBe(false);
    server.announce({ url: 'https://one' });
    await place.settle();
    expect(place.isServed).toBe(true);
  });

  it('is followed by the next one only when the cluster knows it, and the API servers had time to notice', async () => {
    const server = fakeServer();
    const place = await served({ server, managed: NAME });
    const isPatch = (method: string) => method === 'PATCH' || method === 'PUT';
    place.fault = ({ method, path }) =>
      isPatch(method) && path.includes('mutating') ? apiError({ status: 503 }) : undefined;
    place.registry.on.mutate('kopfexamples', { id: 'm' }, () => {});
    server.announce({ url: 'https://one' });
    server.announce({ url: 'https://two' });
    await place.clock.advance(100);
    await place.settle();
    expect([asked(server.story), place.isServed]).toEqual([1, false]);
    expect(await place.address()).toBe('https://one/fn');

    place.fault = undefined;
    await place.clock.advance(100);
    await place.settle();
    expect(place.isServed).toBe(true);
    expect(await place.address()).toBe('https://two/fn');
  });

  it('is followed by the next one not sooner than in a second', async () => {
    const server = fakeServer();
    const { settle, clock } = await served({ server, managed: NAME });
    server.announce({ url: 'https://one' });
    await settle();
    await clock.advance(0.9);
    expect(asked(server.story)).toBe(1);
    await clock.advance(0.1);
    expect(asked(server.story)).toBe(2);
  });
});

describe('on exit, the server works on', () => {
  it('until the configurations are withdrawn, and the API servers had time to notice', async () => {
    const server = fakeServer();
    const { settle, stop, clock, address, endings } = await served({ server, managed: NAME });
    server.announce({ url: 'https://one' });
    await settle();
    await clock.advance(5);
    await stop();
    expect(await address()).toBeUndefined();
    expect(server.at?.signal.aborted).toBe(false);
    expect(await server.at?.review(reviewOf())).toMatchObject({ response: { allowed: true } });
    await clock.advance(1);
    expect(server.at?.signal.aborted).toBe(true);
    expect([...endings.values()]).toEqual([undefined, undefined, undefined]);
    expect(endings.size).toBe(3);
    expect(server.story.at(-1)).toBe('exited');
  });

  it.each([
    [25, 12, 13],
    [10, 5, 6],
    [2, 1, 1.2],
  ])('not for too long: with %s s to exit, longer than %s s, but not than %s s', async (exitTimeout, still, over) => {
    const server = fakeServer();
    const place = await served({ server, managed: NAME, exitTimeout });
    server.announce({ url: 'https://one' });
    await place.settle();
    // The cluster does not answer any more.
    place.fault = () => new Promise(() => {});
    await place.stop();
    await place.clock.advance(still);
    expect(place.endings.has(SERVER)).toBe(false);
    await place.clock.advance(over - still);
    expect(place.endings.has(SERVER)).toBe(true);
  });

  it('not at all, if nothing was announced or managed', async () => {
    for (const managed of [undefined, NAME]) {
      const server = fakeServer();
      const { stop, endings } = await served({ server, ...(managed && { managed }) });
      await stop();
      expect(endings.has(SERVER)).toBe(true);
    }
  });
});
