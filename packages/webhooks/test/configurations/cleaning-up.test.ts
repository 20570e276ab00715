import { apiError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { keeperUnderTest, NAME } from './keeping.js';

const URL = 'https://localhost:8443/base';

describe('cleaning up a configuration', () => {
  it('leaves the persistent webhooks there, with their rules', async () => {
    const keeper = await keeperUnderTest({
      declare: ({ on }) => {
        on.validate('kopfexamples', { id: 'gone' }, () => {});
        on.validate('kopfexamples', { id: 'stays', persistent: true }, () => {});
      },
    });
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.stop();
    expect(keeper.writes.at(-1)?.body).toEqual({
      webhooks: [
        expect.objectContaining({
          name: `stays.${NAME}`,
          rules: [expect.objectContaining({ resources: ['kopfexamples'] })],
        }),
      ],
    });
  });

  it('is not needed if all webhooks are persistent', async () => {
    const keeper = await keeperUnderTest({
      declare: ({ on }) => on.validate('kopfexamples', { id: 'stays', persistent: true }, () => {}),
    });
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.stop();
    expect(keeper.writes).toHaveLength(2);
    expect((await keeper.stored())?.webhooks).toHaveLength(1);
  });

  it('is not needed if the server has never been up', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.stop();
    expect(keeper.writes).toHaveLength(1);
  });

  it('happens also after a failure', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.announce({ url: 'https://host1/' });
    let isRefused = false;
    keeper.fault = ({ method }) => {
      if (method !== 'PATCH' || isRefused) return undefined;
      isRefused = true;
      return apiError({ status: 422 });
    };
    await keeper.announce({ url: 'https://host2/' });
    expect(keeper.error).toMatchObject({ status: 422 });
    expect(keeper.writes.at(-1)?.body).toEqual({ webhooks: [] });
    expect((await keeper.stored())?.webhooks ?? []).toEqual([]);
  });

  it('is not a failure if it is refused', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.announce({ url: URL });
    keeper.fault = () => apiError({ status: 500 });
    await keeper.stop();
    expect(keeper.error).toBeUndefined();
    expect(keeper.logger.messages('warn')).toEqual([
      expect.stringContaining('still has webhooks that no server answers'),
    ]);
  });

  it('does not take for ever', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.announce({ url: URL });
    const { client } = keeper.cluster;
    const request = client.request.bind(client);
    client.request = (given) =>
      given.method === 'PATCH'
        ? new Promise((_resolve, reject) => given.signal?.addEventListener('abort', () => reject(given.signal?.reason)))
        : request(given);
    const stopping = keeper.stop();
    await keeper.clock.advance(9);
    expect(keeper.isOver).toBe(false);
    await keeper.clock.advance(1);
    expect(keeper.isOver).toBe(true);
    await stopping;
    expect(keeper.error).toBeUndefined();
    client.request = request;
  });

  it('comes after what is under way', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    const order: string[] = [];
    const { client } = keeper.cluster;
    const request = client.request.bind(client);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    client.request = async (given) => {
      if (given.method === 'PATCH' && order.length === 0) {
        order.push('first');
        await held;
        expect(given.signal?.aborted).toBe(false);
      } else if (given.method === 'PATCH') order.push('second');
      return await request(given);
    };
    await keeper.announce({ url: URL });
    const stopping = keeper.stop();
    await keeper.clock.settle();
    expect(order).toEqual(['first']);
    release();
    await stopping;
    expect(order).toEqual(['first', 'second']);
    expect((await keeper.stored())?.webhooks ?? []).toEqual([]);
  });
});
