import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

afterEach(() => vi.unstubAllEnvs());

/** It may be taken until it is used, but hardly ever is. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it('starts when all is ready, logs in by itself, tells how it is doing, and tidies up', async () => {
  await using stage = await newStage({ isRealTime: true });
  vi.stubEnv('KUBECONFIG', await stage.kubeconfig());
  const liveness = `http://127.0.0.1:${await freePort()}/healthz`;
  const operator = await stage.run(handlers, { client: undefined, liveness });
  expect(operator.outcomes.of('warmUp').map(({ how }) => how)).toEqual(['retried', 'retried', 'succeeded']);

  await stage.createExample();
  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', 'kopf-example-1');
    expect(status).toEqual({ create: { connections: 1 } });
  });
  expect(operator.outcomes.of({ handler: 'logIn', how: 'succeeded' })).not.toHaveLength(0);
  const answer = await fetch(liveness);
  expect([answer.status, await answer.json()]).toEqual([200, { connections: 1, now: expect.stringMatching(/^20/) }]);

  await operator.stop();
  expect(operator.logs.messages('info').filter((message) => /^(The database|All connections)/.test(message))).toEqual([
    'The database is there.',
    'All connections are closed.',
  ]);
  expect(operator.exitCode).toBe(0);
});
