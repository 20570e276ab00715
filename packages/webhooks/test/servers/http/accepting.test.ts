import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { expect, it } from 'vitest';
import { webhookServer } from '../../../src/index.js';
import { ask, served } from '../support.js';

const CHANNEL = 'http.server.request.start';

/** The server of Node that answers at this address. */
async function serverAt(url: string): Promise<Server> {
  let found: Server | undefined;
  const notice = (message: unknown): void => {
    found = (message as { server: Server }).server;
  };
  subscribe(CHANNEL, notice);
  await ask(`${url}/fn`);
  unsubscribe(CHANNEL, notice);
  if (found === undefined) throw new Error('Nobody has answered.');
  return found;
}

it('a connection that cannot be accepted is told of, and the server goes on', async () => {
  await using running = await served(webhookServer({ insecure: true, addr: '127.0.0.1' }));
  const server = await serverAt(running.url);
  for (const _ of [1, 2]) expect(server.emit('error', new Error('accept EMFILE'))).toBe(true);
  expect(running.logger.messages('error')).toEqual([
    'The webhook server has failed to accept a connection: "accept EMFILE".',
    'The webhook server has failed to accept a connection: "accept EMFILE".',
  ]);
  expect((await ask(`${running.url}/fn`)).status).toBe(200);
});
