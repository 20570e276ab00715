import { type ConnectionInfo, LoginError, PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it, vi } from 'vitest';
import { followed } from '../activities/operator-parts.js';
import { info, loginsUnderTest } from './logins-harness.js';

describe('The initial login', () => {
  it('happens at once, and fills the vault', async () => {
    const { registry, start, vault, log, health } = loginsUnderTest();
    registry.on.login({ id: 'a' }, () => info('a'));
    registry.on.login({ id: 'b' }, async () => ({ ...info('b'), priority: 1 }));
    registry.on.login({ id: 'nothing' }, () => undefined);
    expect(health.readiness().isReady).toBe(false);
    expect((await start()).state).toBe('pending');
    expect(await vault.current()).toMatchObject({ token: 'b' });
    expect(log()).toEqual(['Initial authentication has been initiated.', 'Initial authentication has finished.']);
    expect(health.readiness().isReady).toBe(true);
  });

  it('is not needed if there is something in the vault already', async () => {
    const { registry, start, vault, refuse, log } = loginsUnderTest();
    const login = vi.fn(() => info('new'));
    registry.on.login({ id: 'fn' }, login);
    vault.populate(new Map([['fn', info('old')]]));
    await start();
    expect(login).not.toHaveBeenCalled();
    await refuse();
    expect(log()[0]).toBe('Re-authentication has been initiated.');
    expect(await vault.current()).toMatchObject({ token: 'new' });
  });

  it('is retried for as long as the handlers want it, and others wait', async () => {
    const { registry, start, vault, clock, health } = loginsUnderTest();
    const login = vi
      .fn()
      .mockRejectedValueOnce(new Error('not now'))
      .mockRejectedValueOnce(new TemporaryError('not yet', { delay: 30 }))
      .mockResolvedValue(info('t'));
    registry.on.login({ id: 'fn' }, login);
    const running = await start();
    const asked = followed(vault.current());
    await clock.advance(89);
    expect(asked.state).toBe('pending');
    expect(health.readiness().isReady).toBe(false);
    await clock.advance(1);
    expect(asked).toMatchObject({ state: 'resolved', value: { token: 't' } });
    expect(running.state).toBe('pending');
  });

  it.each([
    ['fails for good', () => Promise.reject(new PermanentError('no such user')), /failed for good: no such user/],
    ['returns a text', () => 'https://one', /'fn' has returned a string/],
    ['returns a number', () => 0, /'fn' has returned a number/],
    ['returns no server', () => ({ token: 'secret' }), /'fn' has returned an object without a server/],
    ['returns an array', () => [info('secret')], /'fn' has returned an array/],
    ['returns a bad date', () => ({ server: 'x', expiration: '2020' }), /'fn' has returned an expiration/],
    ['returns a bad priority', () => ({ server: 'x', priority: 'high' }), /'fn' has returned a priority/],
    ['returns what has expired', () => ({ server: 'x', expiration: new Date(0) }), /expired already/],
    ['returns nothing', () => undefined, /none of the login handlers/],
    ['returns null', () => null, /none of the login handlers/],
  ])('ends the operator if a handler %s', async (_, fn, message) => {
    const { registry, start, vault, clock } = loginsUnderTest();
    registry.on.login({ id: 'fn' }, fn as never);
    const asked = followed(vault.current());
    const running = await start();
    expect(running.state).toBe('rejected');
    expect(running.error).toBeInstanceOf(LoginError);
    expect(running.error).toMatchObject({ message: expect.stringMatching(message) });
    expect((running.error as Error).message).not.toContain('secret');
    await clock.settle();
    expect(asked).toEqual({ state: 'rejected', error: running.error });
  });

  it('says that there were no credentials before it ends the operator', async () => {
    const { registry, start, logger } = loginsUnderTest();
    registry.on.login({ id: 'fn' }, () => undefined);
    await start();
    expect(logger.messages('warn')).toEqual([
      'Initial authentication has failed: no credentials were retrieved from the login handlers.',
    ]);
  });
});

describe('Without login handlers', () => {
  const fallbacks = (...logins: (() => Promise<ConnectionInfo | undefined>)[]) => ({
    fallbackLogins: logins.map((login, index) => ({ id: `fallback${index}`, login: vi.fn(login) })),
  });

  it('the fallbacks are used, with what they may need', async () => {
    const { fallbackLogins } = fallbacks(async () => info('t'));
    const { start, vault, settings } = loginsUnderTest({ fallbackLogins });
    await start();
    expect(await vault.current()).toMatchObject({ token: 't' });
    expect(fallbackLogins[0]?.login).toHaveBeenCalledWith({
      settings,
      logger: expect.anything(),
      signal: expect.any(AbortSignal),
    });
  });

  it('errors of the fallbacks are logged and ignored, of whatever kind they are', async () => {
    const { fallbackLogins } = fallbacks(
      () => Promise.reject(new Error('unreadable')),
      () => Promise.reject(new TemporaryError('busy')),
      () => Promise.reject(new PermanentError('denied')),
      async () => info('t'),
    );
    const { start, vault, logger } = loginsUnderTest({ fallbackLogins });
    await start();
    expect(await vault.current()).toMatchObject({ token: 't' });
    expect(logger.messages('error')).toEqual([
      "Activity 'fallback0' failed with an exception and will ignore it: unreadable",
      "Activity 'fallback1' failed with an exception and will ignore it: busy",
      "Activity 'fallback2' failed with an exception and will ignore it: denied",
    ]);
  });

  it('only those fallbacks are said to succeed that have given anything', async () => {
    const { fallbackLogins } = fallbacks(
      async () => undefined,
      async () => info('t'),
      async () => undefined,
    );
    const { start, logger } = loginsUnderTest({ fallbackLogins });
    await start();
    expect(logger.lines.filter(({ message }) => message.includes('fallback'))).toEqual([
      expect.objectContaining({ level: 'debug', message: "Activity 'fallback0' has found nothing to log in with." }),
      { level: 'info', message: "Activity 'fallback1' succeeded.", fields: { activity: 'login' } },
      expect.objectContaining({ level: 'debug', message: "Activity 'fallback2' has found nothing to log in with." }),
    ]);
  });

  it('and with useless fallbacks, the operator ends, and says what to do', async () => {
    const error = new Error('unreadable');
    const { start } = loginsUnderTest(
      fallbacks(
        async () => undefined,
        () => Promise.reject(error),
      ),
    );
    expect((await start()).error).toMatchObject({
      name: 'LoginError',
      message: expect.stringMatching(/'fallback1' has failed: unreadable\. .*automount.*KUBECONFIG.*on\.login/),
      cause: error,
    });
  });

  it('and whatever the fallbacks say, its end is told as sentences', async () => {
    const { start } = loginsUnderTest(
      fallbacks(
        () => Promise.reject(new Error('There is no file.')),
        () => Promise.reject(new Error('denied')),
      ),
    );
    const { error } = await start();
    expect(error).toMatchObject({
      message: expect.stringContaining(
        "with. 'fallback0' has failed: There is no file. 'fallback1' has failed: denied. In a pod,",
      ),
    });
  });

  it('and without fallbacks, the operator ends, too', async () => {
    const { start } = loginsUnderTest();
    expect((await start()).error).toMatchObject({ name: 'LoginError' });
  });

  it('means just that: the fallbacks are not used if there is any', async () => {
    const { fallbackLogins } = fallbacks(async () => info('fallback'));
    const { start, vault, registry } = loginsUnderTest({ fallbackLogins });
    registry.on.login({ id: 'fn' }, () => info('own'));
    await start();
    expect(await vault.current()).toMatchObject({ token: 'own' });
    expect(fallbackLogins[0]?.login).not.toHaveBeenCalled();
  });
});
