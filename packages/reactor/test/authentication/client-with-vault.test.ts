import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { kubeClient } from '@kopf-ts/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually, followed } from '../activities/operator-parts.js';
import { loginsUnderTest } from './logins-harness.js';

async function clusterUnderTest(isPermitted: (token: string) => boolean) {
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    tokens.push(token);
    response.writeHead(isPermitted(token) ? 200 : 401, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const operator = loginsUnderTest();
  const { vault: credentials, clock, logger, settings } = operator;
  const client = kubeClient({ credentials, clock, logger, settings, random: () => 0 });
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return { ...operator, client, tokens, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('A client with the vault', () => {
  it('goes on with the same token when the server has refused it only for a while', async () => {
    let isBroken = true;
    const { url, client, registry, start, clock, tokens, health } = await clusterUnderTest(() => !isBroken);
    registry.on.login({ id: 'fn' }, () => ({ server: url, token: 'static' }));
    await start();
    const asked = followed(client.request({ method: 'GET', path: '/version' }));
    for (let second = 0; second < 8; second++) {
      await eventually(() => clock.sleepers > 0);
      await clock.advance(1);
    }
    expect(tokens.length).toBeGreaterThan(1);
    expect(asked.state).toBe('pending');
    expect(health.readiness().isReady).toBe(false);
    isBroken = false;
    for (let second = 0; second < 60 && asked.state === 'pending'; second++) {
      await eventually(() => clock.sleepers > 0 || asked.state !== 'pending');
      await clock.advance(1);
    }
    expect(asked).toMatchObject({ state: 'resolved', value: {} });
    expect(new Set(tokens)).toEqual(new Set(['static']));
    expect(tokens.length).toBeLessThan(10);
    await clock.advance(10);
    expect(health.readiness().isReady).toBe(true);
  });

  it('takes the next token when the server has refused the current one', async () => {
    const { url, client, registry, start, clock, tokens } = await clusterUnderTest((token) => token === 'second');
    const given = ['first', 'second'];
    registry.on.login({ id: 'fn' }, () => ({ server: url, token: given.shift() ?? 'none' }));
    await start();
    await clock.advance(1000);
    const asked = followed(client.request({ method: 'GET', path: '/version' }));
    await eventually(() => asked.state !== 'pending');
    expect(asked).toMatchObject({ state: 'resolved', value: {} });
    expect(tokens).toEqual(['first', 'second']);
    expect(clock.now()).toBe(1000);
  });
});
