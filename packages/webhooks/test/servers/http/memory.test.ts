import { Agent } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { webhookServer } from '../../../src/index.js';
import { ask, served } from '../support.js';

const MEBIBYTE = 1024 * 1024;

async function buffersNow(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 5; turn++) {
    await nextTurn();
    collect();
  }
  return process.memoryUsage().arrayBuffers;
}

it('nothing of the requests is kept with the connections that wait for the next ones', async () => {
  await using server = await served(webhookServer({ insecure: true, addr: '127.0.0.1', bodyLimit: 9 * MEBIBYTE }));
  const agent = new Agent({ keepAlive: true });
  const body = JSON.stringify({ request: 'x'.repeat(8 * MEBIBYTE) });
  const before = await buffersNow();
  await Promise.all([1, 2, 3, 4].map(() => ask(`${server.url}/fn`, { agent, body })));
  server.calls.length = 0;
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(4);
  expect((await buffersNow()) - before).toBeLessThan(8 * MEBIBYTE);
  agent.destroy();
});
