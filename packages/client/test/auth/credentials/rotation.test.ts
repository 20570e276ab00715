import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { kubeClient, loginWithServiceAccount, reloadingCredentials } from '../../../src/index.js';
import { jwt, temporaryFolder } from '../../helpers/folders.js';
import { loopbackServer, until } from '../../helpers/servers.js';

const get = { method: 'GET', path: '/' } as const;

/** A pod with a token in a file, and a server that accepts only one token at a time. */
async function pod() {
  const folder = temporaryFolder();
  const clock = manualClock();
  const accepted = { token: '' };
  const seen: string[] = [];
  const server = await loopbackServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    seen.push(token);
    response.writeHead(token === accepted.token ? 200 : 401).end('{}');
  });
  let logins = 0;
  const load = async () => {
    const info = await loginWithServiceAccount({ dir: folder.path, env: {}, clock });
    logins++;
    return info === undefined ? undefined : { ...info, server: server.url };
  };
  const client = kubeClient({
    credentials: reloadingCredentials(load, { clock }),
    clock,
    logger: recordingLogger(),
    settings: settings({
      networking: { connectTimeout: undefined, headersTimeout: undefined, requestTimeout: undefined },
    }),
  });
  return {
    accepted,
    clock,
    seen,
    get logins() {
      return logins;
    },
    mount: (token: string) => void folder.write('token', token),
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const token = (exp: string, name: string): string => jwt({ exp: Date.parse(exp) / 1000, name });

it('a token that is replaced in its file is taken before the old one expires, without a single refusal', async () => {
  await using h = await pod();
  const first = token('2020-01-01T01:00:00Z', 'first');
  const second = token('2020-01-01T02:00:00Z', 'second');
  h.mount(first);
  h.accepted.token = first;
  await h.client.request(get);
  h.mount(second);
  await h.clock.advance(56 * 60);
  // The first one after the time of the refreshing is still with the old token, and begins the refreshing.
  await h.client.request(get);
  await until(() => h.logins === 2, 'the second login');
  h.accepted.token = second;
  await h.client.request(get);
  expect(h.seen).toEqual([first, first, second]);
});

it('a token that is refused before its time is read again', async () => {
  await using h = await pod();
  h.mount('first');
  h.accepted.token = 'first';
  await h.client.request(get);
  h.mount('second');
  h.accepted.token = 'second';
  await h.client.request(get);
  expect(h.seen).toEqual(['first', 'first', 'second']);
});

it('a token that is refused by mistake is used again, when the server has come to its senses', async () => {
  await using h = await pod();
  h.mount('same');
  h.accepted.token = 'another';
  const request = h.client.request(get);
  const outcome = request.then(() => 'done');
  while (h.seen.length < 3) {
    await h.clock.settle();
    await h.clock.advance(1);
  }
  h.accepted.token = 'same';
  while (h.clock.nextWakeup !== undefined) await h.clock.advance(1);
  await expect(outcome).resolves.toBe('done');
  expect(new Set(h.seen)).toEqual(new Set(['same']));
});
