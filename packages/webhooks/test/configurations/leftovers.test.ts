import { apiError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type KeeperUnderTest, keeperUnderTest, NAME } from './keeping.js';

const URL = 'https://localhost:8443/base';
const MARK = { 'app.kubernetes.io/managed-by': 'kopf-ts' };

const left = (...ids: readonly string[]) =>
  ids.map((id) => ({
    name: `${id}.${NAME}`,
    sideEffects: 'None',
    clientConfig: { url: `https://nowhere/${id}` },
    admissionReviewVersions: ['v1'],
  }));
const namesIn = async (keeper: KeeperUnderTest): Promise<string[]> =>
  ((await keeper.stored())?.webhooks ?? []).map(({ name }) => name.replace(`.${NAME}`, ''));

async function keeperAfterKill(labels: Record<string, string> = MARK): Promise<KeeperUnderTest> {
  const keeper = await keeperUnderTest({
    declare: ({ on }) => {
      on.validate('kopfexamples', { id: 'id' }, () => {});
      on.validate('kopfexamples', { id: 'stays', persistent: true }, () => {});
    },
  });
  await keeper.put({ metadata: { name: NAME, labels }, webhooks: left('id', 'stays', 'unknown') });
  return keeper;
}

describe('what is left by an operator that was killed', () => {
  it('is told of, once', async () => {
    const keeper = await keeperAfterKill();
    await keeper.start();
    await keeper.edit({ metadata: { annotations: { any: 'thing' } } });
    expect(keeper.logger.messages('info')).toEqual([expect.stringContaining(`'id.${NAME}', 'stays.${NAME}'`)]);
  });

  it('is replaced at once when the server is up', async () => {
    const keeper = await keeperAfterKill();
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.clock.advance(60);
    expect(await namesIn(keeper)).toEqual(['id', 'stays']);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });

  it('is removed if the server does not come up for long, except for what is persistent', async () => {
    const keeper = await keeperAfterKill();
    await keeper.start();
    await keeper.clock.advance(9);
    expect(await namesIn(keeper)).toEqual(['id', 'stays', 'unknown']);
    await keeper.clock.advance(1);
    expect(await namesIn(keeper)).toEqual(['stays']);
    expect(keeper.logger.messages('warn')).toEqual([expect.stringContaining('may point to a dead server')]);
    await keeper.announce({ url: URL });
    expect(await namesIn(keeper)).toEqual(['id', 'stays']);
  });

  it('is restored by the replica that it is of, if that is alive', async () => {
    const alive = await keeperUnderTest();
    await alive.start();
    await alive.announce({ url: URL });
    const slow = await keeperUnderTest({ beside: alive });
    await slow.start();
    await alive.clock.advance(60);
    expect(slow.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    expect(await namesIn(slow)).toEqual(['id']);
    expect(alive.logger.messages('warn')).toEqual([]);
  });

  it('is left alone if it is not ours', async () => {
    const keeper = await keeperAfterKill({});
    await keeper.start();
    await keeper.clock.advance(60);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST']);
    expect(keeper.logger.messages('info')).toEqual([]);
  });

  it('is left alone if we may not watch it: a living replica would not notice', async () => {
    const keeper = await keeperAfterKill();
    keeper.fault = ({ method }) => (method === 'GET' ? apiError({ status: 403 }) : undefined);
    await keeper.start();
    await keeper.clock.advance(60);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST']);
  });

  it('is left alone if somebody else is at work there', async () => {
    const keeper = await keeperAfterKill();
    await keeper.start();
    keeper.fault = ({ method }) => (method === 'PATCH' ? apiError({ status: 409 }) : undefined);
    await keeper.clock.advance(60);
    expect(keeper.isOver).toBe(false);
    expect(await namesIn(keeper)).toEqual(['id', 'stays', 'unknown']);
    expect(keeper.writes.at(-1)?.body).toMatchObject({ metadata: { resourceVersion: expect.any(String) } });
  });

  it('is not there if the configuration is new', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.edit({ webhooks: left('id') });
    await keeper.clock.advance(60);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST']);
  });
});
