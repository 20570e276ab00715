import { apiError, type ObjectMeta } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { lastManagerOf, repairs } from '../../src/configurations/repairs.js';
import { KEX, type KeeperUnderTest, keeperUnderTest, NAME } from './keeping.js';

const URL = 'https://localhost:8443/base';
const addressIn = async (keeper: KeeperUnderTest): Promise<unknown> => {
  const webhooks = ((await keeper.stored())?.webhooks ?? []) as { clientConfig?: { url?: string } }[];
  return webhooks.map(({ clientConfig }) => clientConfig?.url);
};

async function runningKeeper(): Promise<KeeperUnderTest> {
  const keeper = await keeperUnderTest();
  await keeper.start();
  await keeper.announce({ url: URL });
  keeper.logger.clear();
  keeper.requests.length = 0;
  return keeper;
}

describe('a configuration that others have changed', () => {
  it('is restored at once if it was edited', async () => {
    const keeper = await runningKeeper();
    await keeper.edit({ webhooks: [] });
    expect(await addressIn(keeper)).toEqual([`${URL}/id`]);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['PATCH']);
    expect(keeper.logger.messages('info')).toEqual([expect.stringContaining('was changed by others')]);
    expect(keeper.logger.messages('warn')).toEqual([]);
  });

  it('is restored if only a default was edited', async () => {
    const keeper = await runningKeeper();
    const [webhook] = (await keeper.stored())?.webhooks ?? [];
    await keeper.edit({ webhooks: [{ ...webhook, namespaceSelector: { matchLabels: { never: 'ever' } } }] });
    expect((await keeper.stored())?.webhooks).toEqual([webhook]);
  });

  it('is created again if it was deleted', async () => {
    const keeper = await runningKeeper();
    await keeper.remove();
    expect(await addressIn(keeper)).toEqual([`${URL}/id`]);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    expect(await keeper.stored()).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'kopf-ts' } },
    });
    expect(keeper.logger.messages('info')).toEqual([expect.stringContaining('was deleted by others')]);
  });

  it('is marked again', async () => {
    const keeper = await runningKeeper();
    await keeper.edit({ metadata: { labels: null } });
    expect(await keeper.stored()).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'kopf-ts' } },
    });
  });

  it('is left alone if the change is none of our business', async () => {
    const keeper = await runningKeeper();
    await keeper.edit({ metadata: { labels: { other: 'label' }, annotations: { some: 'thing' } } });
    expect(keeper.writes).toEqual([]);
  });

  it('is left alone if the API server itself keeps it otherwise than it was sent', async () => {
    const requirement = { key: 'a', operator: 'In' as const, values: ['b'], unknown: 'field' };
    const selector = { matchExpressions: [requirement] };
    const keeper = await keeperUnderTest({
      declare: ({ on }) => on.validate('kopfexamples', { id: 'id', objectSelector: selector }, () => {}),
    });
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.edit({ metadata: { annotations: { some: 'thing' } } });
    await keeper.revise([]);
    await keeper.revise([KEX]);
    const kept = { key: 'a', operator: 'In', values: ['b'] };
    expect((await keeper.stored())?.webhooks).toMatchObject([{ objectSelector: { matchExpressions: [kept] } }]);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH']);
    keeper.requests.length = 0;
    await keeper.edit({ metadata: { annotations: { some: 'other' } } });
    await keeper.clock.advance(600);
    expect(keeper.writes).toEqual([]);
  });

  it('is not restored before the server is up', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.remove();
    expect(await keeper.stored()).toBeUndefined();
    await keeper.announce({ url: URL });
    expect(await addressIn(keeper)).toEqual([`${URL}/id`]);
  });

  it('is not restored after the end', async () => {
    const keeper = await runningKeeper();
    await keeper.remove();
    await keeper.stop();
    keeper.requests.length = 0;
    await keeper.remove();
    await keeper.clock.advance(60);
    expect(keeper.requests).toEqual([]);
  });

  it('is not restored where all must be as in Kopf', async () => {
    const keeper = await keeperUnderTest({ settings: { persistence: { compat: 'kopf' } } });
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.remove();
    await keeper.revise([KEX]);
    expect(await keeper.stored()).toBeUndefined();
    expect(keeper.logger.messages('debug')).toContainEqual(expect.stringContaining('does not exist anymore'));
    expect(keeper.isOver).toBe(false);
  });

  it('is restored by the other replica when one of them exits', async () => {
    const first = await runningKeeper();
    const second = await keeperUnderTest({ beside: first });
    await second.start();
    await second.announce({ url: URL });
    await first.stop();
    expect(await addressIn(second)).toEqual([`${URL}/id`]);
  });
});

describe('a fight over a configuration', () => {
  it('is slowed down more and more, with one warning', async () => {
    const keeper = await runningKeeper();
    const stolen = { webhooks: [] };
    for (let second = 0; second < 600; second++) {
      if ((await keeper.stored())?.webhooks?.length) await keeper.edit(stolen);
      await keeper.clock.advance(1);
    }
    // At 0, 1, 3, 7, 15, 31, 63, 127, 255, 511 seconds.
    expect(keeper.writes).toHaveLength(10);
    expect(keeper.logger.messages('warn')).toEqual([expect.stringContaining('keeps being changed')]);
  });

  it('does not hold up our own changes', async () => {
    const keeper = await runningKeeper();
    for (let round = 0; round < 5; round++) await keeper.edit({ webhooks: [] });
    expect(await addressIn(keeper)).toEqual([]);
    await keeper.announce({ url: 'https://moved/' });
    expect(await addressIn(keeper)).toEqual(['https://moved/id']);
  });

  it('is won in the end', async () => {
    const keeper = await runningKeeper();
    for (let round = 0; round < 5; round++) await keeper.edit({ webhooks: [] });
    await keeper.clock.advance(60);
    expect(await addressIn(keeper)).toEqual([`${URL}/id`]);
  });

  it('does not happen between replicas of different versions of authorities', async () => {
    const bundle = (...names: string[]) =>
      Buffer.from(
        names.map((name) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`).join(''),
      ).toString('base64');
    const first = await runningKeeper();
    const second = await keeperUnderTest({ beside: first });
    await second.start();
    await first.announce({ url: URL, caBundle: bundle('OLD') });
    await second.announce({ url: URL, caBundle: bundle('OLD') });
    await first.announce({ url: URL, caBundle: bundle('OLD', 'NEW') });
    first.requests.length = 0;
    second.requests.length = 0;
    await first.clock.advance(600);
    expect([...first.writes, ...second.writes]).toEqual([]);
    expect((await first.stored())?.webhooks).toMatchObject([{ clientConfig: { caBundle: bundle('OLD', 'NEW') } }]);
    await second.announce({ url: URL, caBundle: bundle('OLD', 'NEW') });
    expect([...first.writes, ...second.writes]).toEqual([]);
    await first.announce({ url: URL, caBundle: bundle('NEW') });
    await second.announce({ url: URL, caBundle: bundle('NEW') });
    expect((await first.stored())?.webhooks).toMatchObject([{ clientConfig: { caBundle: bundle('NEW') } }]);
  });
});

describe('pauses between repairs', () => {
  it('begin anew after a time of peace', () => {
    const fights = repairs(() => 1);
    expect([fights.pause(0), fights.count(0), fights.pause(0)]).toEqual([0, false, 1]);
    expect([fights.count(1), fights.pause(1)]).toEqual([false, 2]);
    expect([fights.count(3), fights.pause(3)]).toEqual([true, 4]);
    expect([fights.count(7), fights.pause(10)]).toEqual([false, 5]);
    expect([fights.pause(700), fights.count(700), fights.pause(700)]).toEqual([0, false, 1]);
    expect([fights.count(701), fights.count(703)]).toEqual([false, true]);
  });

  it('are never longer than some minutes', () => {
    const fights = repairs(() => 1);
    let now = 0;
    for (let round = 0; round < 20; round++) {
      fights.count(now);
      now += fights.pause(now);
    }
    expect(fights.count(now)).toBe(false);
    expect(fights.pause(now)).toBe(300);
  });
});

describe('who has changed a configuration', () => {
  const entry = (manager: string, time: string, fieldsV1: object) => ({ manager, time, fieldsV1 });

  it('is the last one who has changed the webhooks', () => {
    const managedFields = [
      entry('kopf-ts', '2020-01-01T00:00:00Z', { 'f:webhooks': {} }),
      entry('kubectl-edit', '2020-01-02T00:00:00Z', { 'f:webhooks': {} }),
      entry('labeller', '2020-01-03T00:00:00Z', { 'f:metadata': {} }),
    ];
    expect(lastManagerOf({ metadata: { managedFields } as ObjectMeta })).toBe('kubectl-edit');
  });

  it('is not known if it is not told', () => {
    expect(lastManagerOf({})).toBeUndefined();
    expect(lastManagerOf({ metadata: { managedFields: 'nonsense' } as unknown as ObjectMeta })).toBeUndefined();
  });
});

describe('a configuration that we may not watch', () => {
  const forbidWatching = (keeper: KeeperUnderTest): void => {
    keeper.fault = ({ method }) => (method === 'GET' ? apiError({ status: 403 }) : undefined);
  };

  it('is kept all the same, and it is told once', async () => {
    const keeper = await keeperUnderTest();
    forbidWatching(keeper);
    await keeper.start();
    await keeper.announce({ url: 'https://host1/' });
    await keeper.announce({ url: 'https://host1/' });
    await keeper.announce({ url: 'https://host2/' });
    await keeper.clock.advance(3600);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH']);
    expect(keeper.logger.messages('warn')).toEqual([expect.stringContaining('not permitted to list and watch')]);
    expect(keeper.requests.filter(({ method }) => method === 'GET').length).toBeLessThan(20);
  });

  it('is created again at our next change', async () => {
    const keeper = await keeperUnderTest();
    forbidWatching(keeper);
    await keeper.start();
    await keeper.announce({ url: 'https://host1/' });
    await keeper.remove();
    expect(await keeper.stored()).toBeUndefined();
    await keeper.announce({ url: 'https://host2/' });
    expect(await addressIn(keeper)).toEqual(['https://host2/id']);
  });

  it('is watched when that gets permitted', async () => {
    const keeper = await keeperUnderTest();
    forbidWatching(keeper);
    await keeper.start();
    await keeper.announce({ url: URL });
    keeper.fault = undefined;
    await keeper.clock.advance(600);
    await keeper.remove();
    expect(await addressIn(keeper)).toEqual([`${URL}/id`]);
  });

  it('asks only for the one object', async () => {
    const keeper = await runningKeeper();
    await keeper.stop();
    const watched = (await keeperUnderTest()).requests;
    expect(watched).toEqual([]);
    const other = await keeperUnderTest();
    await other.start();
    const gets = other.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
    expect(gets.length).toBeGreaterThan(0);
    for (const path of gets) expect(path).toContain(`fieldSelector=metadata.name%3D${NAME}`);
  });
});
