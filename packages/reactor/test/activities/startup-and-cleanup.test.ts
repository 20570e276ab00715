import { ActivityError, PermanentError } from '@kopf-ts/core';
import { describe, expect, it, vi } from 'vitest';
import { activities } from '../../src/activities/activities.js';
import { vault as makeVault } from '../../src/authentication/vault.js';
import { health } from '../../src/probing/health.js';
import { followed, partsUnderTest } from './operator-parts.js';

function underTest() {
  const parts = partsUnderTest();
  const { clock, logger, settings } = parts;
  const vault = makeVault({ clock, logger });
  const life = activities({ ...parts, memo: {}, vault, health: health({ clock, settings }) });
  return { ...parts, ...life, vault };
}

const NEVER = new AbortController().signal;

describe.each(['startup', 'cleanup'] as const)('The %s', (activity) => {
  it('is over when all handlers have succeeded', async () => {
    const operator = underTest();
    const fn = vi.fn();
    operator.registry.on[activity]({ id: 'fn' }, fn);
    await operator[activity](NEVER);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('fails if any of the handlers does', async () => {
    const operator = underTest();
    operator.registry.on[activity]({ id: 'fn' }, () => Promise.reject(new PermanentError('boo!')));
    await expect(operator[activity](NEVER)).rejects.toThrow(ActivityError);
  });

  it('does not log in by itself', async () => {
    const operator = underTest();
    const login = vi.fn();
    operator.registry.on.login({ id: 'login' }, login);
    operator.registry.on[activity]({ id: 'fn' }, () => void operator.clock.sleep(10));
    await operator[activity](NEVER);
    expect(login).not.toHaveBeenCalled();
  });

  it('logs in when a handler needs the cluster, as nobody else does at that time', async () => {
    const operator = underTest();
    operator.registry.on.login({ id: 'login' }, () => ({ server: 'https://one' }));
    operator.registry.on[activity]({ id: 'fn' }, async ({ memo }) => {
      Object.assign(memo, await operator.vault.current());
    });
    const outcome = followed(operator[activity](NEVER));
    await operator.clock.settle();
    expect(outcome.state).toBe('resolved');
    expect(operator.vault.want).toBe(undefined);
    expect(operator.clock.sleepers).toBe(0);
  });

  it('fails if that login does, instead of waiting for ever', async () => {
    const operator = underTest();
    operator.registry.on.login({ id: 'login' }, () => Promise.reject(new PermanentError('no such user')));
    const aborted = vi.fn();
    operator.registry.on[activity]({ id: 'fn' }, async ({ signal }) => {
      signal.addEventListener('abort', aborted);
      await operator.vault.current();
    });
    await expect(operator[activity](NEVER)).rejects.toThrow(/no such user/);
    expect(aborted).toHaveBeenCalledTimes(1);
  });

  it('waits for the handlers to end when aborted', async () => {
    const { clock, registry, ...operator } = underTest();
    const controller = new AbortController();
    const reason = new Error('the operator stops');
    registry.on[activity]({ id: 'fn' }, async ({ signal }) => {
      await clock.sleep(100, { signal }).catch(() => {});
      await clock.sleep(5);
      signal.throwIfAborted();
    });
    const outcome = followed(operator[activity](controller.signal));
    await clock.advance(10);
    controller.abort(reason);
    await clock.advance(4);
    expect(outcome.state).toBe('pending');
    await clock.advance(1);
    expect(outcome).toMatchObject({ state: 'rejected', error: reason });
  });

  it('leaves the signals of its handlers alone when it is over', async () => {
    const operator = underTest();
    let kept: AbortSignal | undefined;
    operator.registry.on[activity]({ id: 'fn' }, ({ signal }) => {
      kept = signal;
    });
    await operator[activity](NEVER);
    await operator.clock.settle();
    expect(kept?.aborted).toBe(false);
  });
});
