import { type ConnectionInfo, LoginError, PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it, vi } from 'vitest';
import { followed } from '../activities/operator-parts.js';
import { info, loginsUnderTest } from './logins-harness.js';

describe('A login ahead of the expiration', () => {
  it('replaces the credentials before anybody has to wait', async () => {
    const { registry, start, vault, clock, inSeconds, logger, health } = loginsUnderTest();
    let count = 0;
    registry.on.login({ id: 'fn' }, () => ({ ...info(`t${count++}`), expiration: inSeconds(100) }));
    await start();
    logger.clear();
    for (const token of ['t0', 't1', 't2', 't3']) {
      expect(await vault.current()).toMatchObject({ token });
      await clock.advance(90);
      expect(health.readiness().isReady).toBe(true);
    }
    expect(logger.messages('info')).toEqual([]);
    expect(logger.messages('debug')).toContain('Re-authentication has been initiated.');
  });

  it('leaves the current ones in use while it goes on', async () => {
    const { registry, start, vault, clock, inSeconds } = loginsUnderTest();
    const login = vi
      .fn()
      .mockImplementationOnce(() => ({ ...info('old'), expiration: inSeconds(1000) }))
      .mockRejectedValueOnce(new TemporaryError('not now', { delay: 50 }))
      .mockImplementation(() => ({ ...info('new'), expiration: inSeconds(1000) }));
    registry.on.login({ id: 'fn' }, login);
    await start();
    await clock.advance(949);
    expect(login).toHaveBeenCalledTimes(2);
    expect(await vault.current()).toMatchObject({ token: 'old' });
    await clock.advance(1);
    expect(await vault.current()).toMatchObject({ token: 'new' });
  });

  it('is done a few times if it gives the same ones; and after their end, others wait', async () => {
    const { registry, start, vault, clock, inSeconds, health } = loginsUnderTest();
    const expiration = inSeconds(1000);
    const login = vi.fn(() => ({ ...info('t'), expiration }));
    registry.on.login({ id: 'fn' }, login);
    const running = await start();
    await clock.advance(999);
    expect(await vault.current()).toMatchObject({ token: 't' });
    await clock.advance(1);
    const asked = followed(vault.current());
    await clock.advance(60);
    expect(login.mock.calls.length).toBeLessThan(20);
    expect(asked.state).toBe('pending');
    expect(health.readiness().isReady).toBe(false);
    login.mockImplementation(() => ({ ...info('t'), expiration: inSeconds(1000) }));
    await clock.advance(30);
    expect(asked.state).toBe('resolved');
    expect(running.state).toBe('pending');
  });
});

describe('After a refusal', () => {
  it('new credentials are used at once', async () => {
    const { registry, start, vault, refuse, log, clock } = loginsUnderTest();
    let count = 0;
    registry.on.login({ id: 'fn' }, () => info(`t${count++}`));
    await start();
    await clock.advance(1000);
    await refuse();
    expect(await vault.current()).toMatchObject({ token: 't1' });
    expect(log().slice(2)).toEqual(['Re-authentication has been initiated.', 'Re-authentication has finished.']);
  });

  it('the same credentials are used again after a pause, which grows while they are refused', async () => {
    const { registry, start, vault, refuse, clock, logger } = loginsUnderTest();
    registry.on.login({ id: 'fn' }, () => info('constant'));
    const running = await start();
    await clock.advance(1000);
    for (const pause of [1, 2, 5, 10, 30, 30]) {
      await refuse();
      const asked = followed(vault.current());
      await clock.advance(pause - 0.1);
      expect(asked.state).toBe('pending');
      await clock.advance(0.1);
      expect(asked).toMatchObject({ state: 'resolved', value: { token: 'constant' } });
    }
    expect(running.state).toBe('pending');
    expect(logger.messages('warn')).toHaveLength(1);
  });

  it('the pauses begin anew when the credentials have served for long', async () => {
    const { registry, start, vault, refuse, clock } = loginsUnderTest();
    registry.on.login({ id: 'fn' }, () => info('constant'));
    await start();
    for (let round = 0; round < 3; round++) {
      await refuse();
      await clock.advance(30);
    }
    await clock.advance(1000);
    await refuse();
    const asked = followed(vault.current());
    await clock.advance(1);
    expect(asked.state).toBe('resolved');
  });

  it('credentials that are always new and always refused are not asked for in a rush', async () => {
    const { registry, start, refuse, clock, vault } = loginsUnderTest();
    let count = 0;
    registry.on.login({ id: 'fn' }, () => info(`t${count++}`));
    await start();
    const refusing = followed(
      (async () => {
        for (;;) await refuse();
      })(),
    );
    await clock.advance(300);
    expect(count).toBeGreaterThan(8);
    expect(count).toBeLessThan(20);
    vault.close();
    await clock.settle();
    expect(refusing.state).toBe('rejected');
  });

  it('nothing at all is a reason to try again, with pauses that grow', async () => {
    const { registry, start, vault, refuse, clock, logger } = loginsUnderTest();
    const login = vi.fn(() => info('t') as ConnectionInfo | undefined);
    registry.on.login({ id: 'fn' }, login);
    const running = await start();
    await clock.advance(1000);
    login.mockReturnValue(undefined);
    await refuse();
    await clock.advance(100);
    // At the 0th, 1st, 3rd, 8th, 18th, 48th, 78th second.
    expect(login).toHaveBeenCalledTimes(1 + 7);
    expect(logger.messages('warn')[0]).toBe(
      'Re-authentication has failed: no credentials were retrieved from the login handlers.',
    );
    const asked = followed(vault.current());
    login.mockReturnValue(info('another'));
    await clock.advance(30);
    expect(asked.state).toBe('resolved');
    expect(running.state).toBe('pending');
  });

  it('a handler that fails for good ends the operator', async () => {
    const { registry, start, vault, refuse, clock } = loginsUnderTest();
    const login = vi.fn().mockReturnValueOnce(info('t')).mockRejectedValue(new PermanentError('revoked'));
    registry.on.login({ id: 'fn' }, login);
    const running = await start();
    await clock.advance(1000);
    await refuse();
    expect(running.error).toBeInstanceOf(LoginError);
    await expect(vault.current()).rejects.toThrow('revoked');
  });

  it('those which are refused are used again only if there are no others', async () => {
    const { registry, start, vault, refuse, clock } = loginsUnderTest();
    const second = vi.fn((): ConnectionInfo | undefined => undefined);
    registry.on.login({ id: 'first' }, () => ({ ...info('first'), priority: 10 }));
    registry.on.login({ id: 'second' }, second);
    await start();
    await clock.advance(1000);
    second.mockReturnValue(info('second'));
    await refuse();
    expect(await vault.current()).toMatchObject({ token: 'second' });
  });

  it('the operator is not ready, and in the end also not alive, until the credentials work again', async () => {
    const { registry, start, refuse, clock, health, vault } = loginsUnderTest();
    registry.on.login({ id: 'fn' }, () => info('constant'));
    await start();
    await clock.advance(1000);
    const isAlive = async () => (await health.liveness({ answers: async () => true })).isAlive;
    for (const _ of [1, 2, 3]) {
      await refuse();
      expect(health.readiness().isReady).toBe(false);
      expect(await isAlive()).toBe(true);
      await clock.advance(15);
    }
    await clock.advance(15);
    expect(health.readiness().isReady).toBe(true);
    for (let round = 0; round < 10; round++) {
      await refuse();
      await clock.advance(30);
    }
    await refuse();
    expect(await isAlive()).toBe(false);
    await clock.advance(45);
    expect(await vault.current()).toMatchObject({ token: 'constant' });
    expect(health.readiness().isReady).toBe(true);
    expect(await isAlive()).toBe(true);
  });
});

describe('The credentials retriever', () => {
  it('is not there if the client has credentials of its own', () => {
    expect(loginsUnderTest({ vault: undefined }).services).toEqual([]);
  });

  it('ends without errors when it is not needed any more, whatever it does', async () => {
    const { registry, start, controller, clock } = loginsUnderTest();
    registry.on.login({ id: 'fn' }, ({ signal }) => clock.sleep(1000, { signal }).then(() => info('t')));
    const running = await start();
    controller.abort(new Error('the end'));
    await clock.settle();
    expect(running).toMatchObject({ state: 'resolved' });
    expect(clock.sleepers).toBe(0);
  });
});
