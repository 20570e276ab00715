import { describe, expect, it } from 'vitest';
import { inTime, scripted } from '../helpers/scripted.js';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const tooMany = { status: 429, headers: { 'retry-after': '10' } };

describe('after HTTP 429 with Retry-After', () => {
  it('all requests to that server wait, not only the refused one', async () => {
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [5] });
    const first = client.request(get);
    await clock.settle();
    const others = [client.request(get), client.request({ ...get, retries: 'none' })];
    const stream = client.stream(get)[Symbol.asyncIterator]().next();
    await clock.advance(9.999);
    expect(sent).toHaveLength(1);
    await clock.advance(0.001);
    expect(sent).toHaveLength(5);
    await Promise.all([first, ...others, stream]);
  });

  it('requests wait also where the refused one has given up', async () => {
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const later = client.request(get);
    await clock.advance(9);
    expect(sent).toHaveLength(1);
    await inTime(clock, later);
    expect(sent).toHaveLength(2);
    expect(clock.now()).toBe(10);
  });

  it('requests go not all in the same instant afterwards', async () => {
    const places = [0, 0.5, 0.9];
    const { client, clock, sent } = scripted(
      [tooMany, {}],
      { errorBackoffs: [] },
      { random: () => places.shift() ?? 0 },
    );
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const waiting = [client.request(get), client.request(get), client.request(get)];
    await clock.advance(10);
    expect(sent).toHaveLength(2);
    await clock.advance(0.5);
    expect(sent).toHaveLength(3);
    await clock.advance(0.5);
    expect(sent).toHaveLength(4);
    await Promise.all(waiting);
  });

  it('a longer pause is not shortened by a later answer', async () => {
    const brief = { status: 429, headers: { 'retry-after': '2' } };
    const { client, clock, sent } = scripted([tooMany, brief, {}], { errorBackoffs: [] });
    const both = Promise.allSettled([client.request(get), client.request(get)]);
    await clock.settle();
    await both;
    expect(sent).toHaveLength(2);
    const later = client.request(get);
    await clock.advance(9);
    expect(sent).toHaveLength(2);
    await inTime(clock, later);
  });

  it('a waiting request can be aborted', async () => {
    const aborting = new AbortController();
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    const waiting = client.request({ ...get, signal: aborting.signal });
    await clock.settle();
    aborting.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
    expect(clock.sleepers).toBe(0);
  });

  it('other servers are asked as before', async () => {
    const { client, clock, sent } = scripted([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
    await inTime(clock, client.request({ ...get, path: 'https://other.example/x' }));
    expect(sent).toHaveLength(2);
    expect(clock.now()).toBe(0);
  });
});

it('HTTP 429 without Retry-After holds nobody back', async () => {
  const { client, clock, sent } = scripted([{ status: 429 }, {}], { errorBackoffs: [] });
  await expect(client.request(get)).rejects.toMatchObject({ status: 429 });
  await client.request(get);
  expect(sent).toHaveLength(2);
  expect(clock.now()).toBe(0);
});
