import { apiError } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { KEX, keeperUnderTest, NAME, PATHS } from './keeping.js';

const OTHERS = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'others', kind: 'Other' });
const MARK = { 'app.kubernetes.io/managed-by': 'kopf-ts' };
const URL = 'https://localhost:8443/base';

describe('a keeper of a configuration that is not managed', () => {
  it('requests nothing, and holds up nobody', async () => {
    const keeper = await keeperUnderTest({ managed: undefined });
    await keeper.start();
    await keeper.announce({ url: URL });
    expect(keeper.requests).toEqual([]);
    expect(keeper.applied).toEqual([`validating ${URL}`]);
    expect(keeper.isOver).toBe(false);
    await keeper.stop();
    expect([keeper.isOver, keeper.error]).toEqual([true, undefined]);
    expect(keeper.requests).toEqual([]);
  });
});

describe('creating a configuration', () => {
  it.each(['validating', 'mutating'] as const)('is done once, even if there are no handlers: %s', async (reason) => {
    const keeper = await keeperUnderTest({ reason, declare: () => {} });
    await keeper.start();
    expect(keeper.writes).toEqual([
      { method: 'POST', path: PATHS[reason], body: { metadata: { name: NAME, labels: MARK } } },
    ]);
    expect(await keeper.stored()).toMatchObject({ metadata: { name: NAME } });
  });

  it('is done without our mark where all must be as in Kopf', async () => {
    const keeper = await keeperUnderTest({ settings: { persistence: { compat: 'kopf' } } });
    await keeper.start();
    expect(keeper.writes).toEqual([{ method: 'POST', path: PATHS.validating, body: { metadata: { name: NAME } } }]);
  });

  it('is not needed if it is there', async () => {
    const keeper = await keeperUnderTest();
    await keeper.put({ metadata: { name: NAME } });
    await keeper.start();
    await keeper.announce({ url: URL });
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    expect(await keeper.stored()).toMatchObject({
      metadata: { labels: MARK },
      webhooks: [{ name: `id.${NAME}`, clientConfig: { url: `${URL}/id` } }],
    });
  });

  it.each([401, 403, 422, 500])('fails at once if it is refused: %d', async (status) => {
    const keeper = await keeperUnderTest();
    keeper.fault = () => apiError({ status });
    await keeper.start();
    expect(keeper.error).toMatchObject({ status });
    expect(keeper.writes).toHaveLength(1);
  });

  it('does not hold up the exit', async () => {
    const keeper = await keeperUnderTest();
    const { client } = keeper.cluster;
    const request = client.request.bind(client);
    client.request = (given) =>
      new Promise((_resolve, reject) => given.signal?.addEventListener('abort', () => reject(given.signal?.reason)));
    await keeper.start();
    expect(keeper.isOver).toBe(false);
    await keeper.stop();
    expect([keeper.isOver, keeper.error]).toEqual([true, undefined]);
    client.request = request;
  });

  it('tells what is lacking if it is not permitted', async () => {
    const keeper = await keeperUnderTest();
    keeper.fault = () => apiError({ status: 403 });
    await keeper.start();
    expect(keeper.logger.messages('error')).toEqual([
      expect.stringContaining(`no permission to create the validating webhook configuration '${NAME}'`),
    ]);
  });

  it('is not even tried if the names of the webhooks would not be accepted', async () => {
    const keeper = await keeperUnderTest({ managed: 'lone' });
    await keeper.start();
    expect(keeper.error).toMatchObject({ message: expect.stringContaining('settings.admission.managed') });
    expect(keeper.requests).toEqual([]);
  });
});

describe('keeping a configuration', () => {
  it('begins when the server is up', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    expect(keeper.writes).toHaveLength(1);
    await keeper.announce({ url: URL });
    expect(keeper.writes[1]).toEqual({
      method: 'PATCH',
      path: `${PATHS.validating}/${NAME}`,
      body: { webhooks: [expect.objectContaining({ name: `id.${NAME}`, clientConfig: { url: `${URL}/id` } })] },
    });
    expect(keeper.requests.find(({ method }) => method === 'PATCH')?.contentType).toBe('application/merge-patch+json');
    expect(keeper.logger.messages('info')).toEqual([`Reconfiguring the validating webhook ${NAME}.`]);
    expect(keeper.applied).toContain(`validating ${URL}`);
  });

  it('follows the server, and cleans up in the end', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.announce({ url: 'https://host1/p1' });
    await keeper.announce({ url: 'https://host2/p2' });
    await keeper.stop();
    expect(keeper.writes.slice(1).map(({ body }) => body)).toEqual([
      { webhooks: [expect.objectContaining({ clientConfig: { url: 'https://host1/p1/id' } })] },
      { webhooks: [expect.objectContaining({ clientConfig: { url: 'https://host2/p2/id' } })] },
      { webhooks: [] },
    ]);
    expect(keeper.isOver).toBe(true);
    expect(keeper.error).toBeUndefined();
  });

  it('follows the kinds as they come and go', async () => {
    const keeper = await keeperUnderTest({
      kinds: [KEX],
      declare: ({ on }) =>
        on.validate(
          ({ group }) => group === 'kopf.dev',
          { id: 'id' },
          () => {},
        ),
    });
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.revise([KEX, OTHERS]);
    await keeper.revise([OTHERS]);
    const rules = keeper.writes
      .slice(1)
      .map(({ body }) => (body as { webhooks: { rules: unknown }[] }).webhooks[0]?.rules);
    expect(rules).toMatchObject([
      [{ resources: ['kopfexamples'] }],
      [{ resources: ['kopfexamples'] }, { resources: ['others'] }],
      [{ resources: ['others'] }],
    ]);
  });

  it('does nothing if nothing differs', async () => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.announce({ url: URL });
    await keeper.revise([KEX, OTHERS]);
    await keeper.clock.advance(3600);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });

  it('does nothing if all is there from the beginning', async () => {
    const first = await keeperUnderTest();
    await first.start();
    await first.announce({ url: URL });
    const second = await keeperUnderTest({ beside: first });
    await second.start();
    await second.announce({ url: URL });
    await first.clock.advance(60);
    expect(second.applied).toContain(`validating ${URL}`);
    expect(second.writes.map(({ method }) => method)).toEqual(['POST']);
    expect(first.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });

  it('sends everything on each occasion where all must be as in Kopf', async () => {
    const keeper = await keeperUnderTest({ settings: { persistence: { compat: 'kopf' } } });
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.announce({ url: URL });
    await keeper.revise([KEX, OTHERS]);
    expect(keeper.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH']);
    expect(keeper.writes[1]?.body).toEqual({ webhooks: [expect.anything()] });
    await keeper.stop();
    expect(keeper.writes).toHaveLength(5);
    expect(keeper.requests.filter(({ method }) => method === 'GET')).toEqual([]);
  });

  it.each([403, 422])('fails if the configuration is refused: %d', async (status) => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    keeper.fault = ({ method }) => (method === 'PATCH' ? apiError({ status }) : undefined);
    await keeper.announce({ url: URL });
    expect(keeper.error).toMatchObject({ status });
    expect(keeper.applied).toEqual([]);
  });

  it.each([500, 503, 429])('goes on trying while the API server is in trouble: %d', async (status) => {
    const keeper = await keeperUnderTest();
    await keeper.start();
    keeper.fault = ({ method }) => (method === 'PATCH' ? apiError({ status }) : undefined);
    await keeper.announce({ url: URL });
    expect(keeper.isOver).toBe(false);
    await keeper.clock.advance(100);
    expect(keeper.writes.length).toBeGreaterThan(5);
    expect(keeper.writes.length).toBeLessThan(10);
    expect(keeper.logger.messages('warn')).toEqual([expect.stringContaining('is not up to date')]);
    expect(keeper.applied).toEqual([]);
    keeper.fault = undefined;
    await keeper.clock.advance(30);
    expect(keeper.applied).toContain(`validating ${URL}`);
    expect((await keeper.stored())?.webhooks).toHaveLength(1);
  });

  it('warns of handlers that will never be called, once', async () => {
    const plural = 'validatingwebhookconfigurations';
    const kind = makeResource({ group: 'admissionregistration.k8s.io', version: 'v1', plural });
    const keeper = await keeperUnderTest({
      kinds: [kind],
      declare: ({ on }) => on.validate(plural, { id: 'vain' }, () => {}),
    });
    await keeper.start();
    await keeper.announce({ url: URL });
    await keeper.revise([kind, KEX]);
    expect(keeper.logger.messages('warn')).toEqual([expect.stringContaining("'vain' will never be called")]);
  });
});
