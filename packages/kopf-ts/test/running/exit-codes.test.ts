import { ActivityError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { fakeHost, running } from './fake-host.js';

describe('the exit code', () => {
  it('is 0 if the operator was stopped from inside', async () => {
    const controller = new AbortController();
    const { host, code, reasons } = running({ signal: controller.signal });
    controller.abort('enough');
    expect(await code).toBe(0);
    expect(host.exitCode).toBe(0);
    expect(reasons).toEqual(['enough']);
  });

  it.each([
    ['an error', new Error('boo'), 'boo'],
    ['a failed startup', new ActivityError('One or more handlers failed.', { outcomes: new Map() }), 'One or more'],
    ['anything thrown', 'boo', 'boo'],
  ])('is 1 if the operator has failed with %s', async (_title, error, text) => {
    const { host, logger, end, code } = running();
    end(error);
    expect(await code).toBe(1);
    expect(host.exitCode).toBe(1);
    expect(host.exits).toEqual([]);
    expect(logger.messages('error')).toEqual([expect.stringContaining(`The operator failed: ${text}`)]);
  });

  it('is 1 if the operator has failed in the course of stopping', async () => {
    const { host, end, code } = running({ isObedient: false });
    host.send('SIGTERM');
    end(new Error('cleanup'));
    expect(await code).toBe(1);
  });
});

describe('a process with an operator', () => {
  it.each([
    ['is stopped', undefined],
    ['has failed', new Error('boo')],
  ])('lives until the operator %s, even if there is nothing to do', async (_title, error) => {
    const { host, end, code } = running();
    expect(host.holders).toBe(1);
    end(error);
    await code;
    expect(host.holders).toBe(0);
  });
});

describe('a process after its operator', () => {
  it('is given some time to end by itself, and is then ended with the same code', async () => {
    const { host, logger, end, code } = running({ host: fakeHost({ pending: ['TCPServerWrap'] }) });
    end(new Error('boo'));
    await code;
    expect(host.exits).toEqual([]);
    expect(host.planned).toMatchObject([{ delay: 2 }]);
    host.planned[0]?.callback();
    expect(host.exits).toEqual([1]);
    expect(logger.find('forcing it to exit')?.message).toContain('Still pending: TCPServerWrap.');
  });

  it('has no forced end ahead when it was quick', async () => {
    const { host, clock, code } = running();
    host.send('SIGTERM');
    await code;
    await clock.advance(1000);
    expect(host.exits).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });
});
