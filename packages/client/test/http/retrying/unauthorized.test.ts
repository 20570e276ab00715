import { ApiUnauthorizedError, type ConnectionInfo, type Credentials, LoginError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { scripted, scriptedServer } from '../../helpers/scripted.js';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const REFUSAL = { status: 401, body: { kind: 'Status', message: 'Unauthorized', reason: 'Unauthorized', code: 401 } };

/** Gives the tokens in order: the next one after each refusal; the last one repeats. */
function rotating(server: { dispatcher: unknown }, ...tokens: string[]) {
  const refused: { token: string | undefined; cause: Error }[] = [];
  let current: ConnectionInfo | undefined;
  const credentials: Credentials = {
    async current() {
      const token = tokens[Math.min(refused.length, tokens.length - 1)] as string;
      if (current?.token !== token)
        current = { server: 'https://cluster.example', token, dispatcher: server.dispatcher };
      return current;
    },
    invalidate(info, cause) {
      refused.push({ token: info.token, cause });
    },
  };
  return { credentials, refused };
}

/** Lets in only those with the token. */
function serverFor(token: string) {
  return scriptedServer(({ headers }) =>
    headers['authorization'] === `Bearer ${token}` ? { body: { ok: true } } : REFUSAL,
  );
}

describe('HTTP 401', () => {
  it('returns the credentials, takes others, and goes on at once', async () => {
    const server = serverFor('new');
    const { credentials, refused } = rotating(server, 'old', 'new');
    const { request, sleeps, logger } = scripted([{}], {}, { credentials });
    await expect(request(get)).resolves.toEqual({ ok: true });
    expect(refused).toHaveLength(1);
    expect(refused[0]?.token).toBe('old');
    expect(refused[0]?.cause).toBeInstanceOf(ApiUnauthorizedError);
    expect(sleeps).toEqual([]);
    expect(logger.messages('error')).toEqual([]);
  });

  it('tries several others, as long as there are new ones', async () => {
    const server = serverFor('d');
    const { request, sleeps } = scripted([{}], {}, { credentials: rotating(server, 'a', 'b', 'c', 'd').credentials });
    await expect(request(get)).resolves.toEqual({ ok: true });
    expect(sleeps).toEqual([]);
    expect(server.sent).toHaveLength(4);
  });

  it('with the same credentials again is retried with pauses, for it may be the mistake of the server', async () => {
    const { request, sleeps, sent } = scripted([REFUSAL, REFUSAL, { body: { ok: true } }], {
      errorBackoffs: [1, 2, 3],
    });
    await expect(request(get)).resolves.toEqual({ ok: true });
    expect(sleeps).toEqual([1, 2]);
    expect(sent).toHaveLength(3);
  });

  it('is given to the caller in the end, and the next request tries again', async () => {
    const { request, sent } = scripted([REFUSAL, REFUSAL, { body: { ok: true } }], { errorBackoffs: [1] });
    await expect(request(get)).rejects.toBeInstanceOf(ApiUnauthorizedError);
    expect(sent).toHaveLength(2);
    await expect(request(get)).resolves.toEqual({ ok: true });
  });

  it('for ever new credentials does not turn into a storm', async () => {
    const server = serverFor('none');
    const tokens = Array.from({ length: 100 }, (_, number) => `t${number}`);
    const { request, sleeps } = scripted([{}], { errorBackoffs: [1, 1] }, rotating(server, ...tokens));
    await expect(request(get)).rejects.toBeInstanceOf(ApiUnauthorizedError);
    expect(sleeps).toEqual([1, 1]);
    expect(server.sent).toHaveLength(12);
  });

  it('without retries is given at once, and the credentials are returned all the same', async () => {
    const server = serverFor('new');
    const { credentials, refused } = rotating(server, 'old', 'new');
    const { request } = scripted([{}], {}, { credentials });
    await expect(request({ ...get, retries: 'none' })).rejects.toBeInstanceOf(ApiUnauthorizedError);
    expect(refused).toHaveLength(1);
    await expect(request({ ...get, retries: 'none' })).resolves.toEqual({ ok: true });
  });

  it('at the opening of a stream is given at once, and the next stream has other credentials', async () => {
    const server = serverFor('new');
    const { credentials, refused } = rotating(server, 'old', 'new');
    const { client } = scripted([{}], {}, { credentials });
    const open = () => client.stream(get)[Symbol.asyncIterator]().next();
    await expect(open()).rejects.toBeInstanceOf(ApiUnauthorizedError);
    expect(refused).toHaveLength(1);
    await expect(open()).resolves.toEqual({ done: false, value: { ok: true } });
  });

  it('ends with the failure of the login, if there is nothing to log in with anymore', async () => {
    const server = serverFor('none');
    let cause: Error | undefined;
    const credentials: Credentials = {
      async current() {
        if (cause !== undefined) throw new LoginError('Ran out of valid credentials.', { cause });
        return { server: 'https://cluster.example', token: 'x', dispatcher: server.dispatcher };
      },
      invalidate(_info, error) {
        cause = error;
      },
    };
    const { request } = scripted([{}], {}, { credentials });
    const error = await request(get).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LoginError);
    expect((error as Error).cause).toBeInstanceOf(ApiUnauthorizedError);
  });
});
