import { type ConnectionInfo, LoginError } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { reloadingCredentials, staticCredentials } from '../../../src/index.js';
import { inTime } from '../../helpers/scripted.js';

const cause = new Error('401');
const START = Date.parse('2020-01-01T00:00:00Z');
const expiringIn = (seconds: number): { expiration: Date } => ({ expiration: new Date(START + seconds * 1000) });

function harness(load: (count: number, now: number) => Partial<ConnectionInfo> | Error | undefined) {
  const clock = manualClock();
  const logger = recordingLogger();
  const loads: number[] = [];
  const credentials = reloadingCredentials(
    async () => {
      loads.push(clock.now());
      const result = load(loads.length, clock.now());
      if (result instanceof Error) throw result;
      return result === undefined ? undefined : { server: 'https://host', ...result };
    },
    { clock, logger },
  );
  const token = async () => (await inTime(clock, credentials.current())).token;
  const refuse = async () => {
    const info = await inTime(clock, credentials.current());
    await credentials.invalidate(info, cause);
    return info;
  };
  return { clock, credentials, loads, token, refuse, logger };
}

describe('static credentials', () => {
  it('are always the same, refused or not', async () => {
    const info = { server: 'https://host', token: 'x' };
    const credentials = staticCredentials(info);
    expect(await credentials.current()).toBe(info);
    await credentials.invalidate(info, cause);
    expect(await credentials.current()).toBe(info);
  });
});

describe('reloading credentials', () => {
  it('are loaded when needed first, and once for all who need them', async () => {
    const { credentials, loads } = harness(() => ({ token: 'a' }));
    expect(loads).toEqual([]);
    const all = await Promise.all([credentials.current(), credentials.current(), credentials.current()]);
    expect(new Set(all).size).toBe(1);
    expect(loads).toEqual([0]);
  });

  it('are kept for ever, if they do not expire', async () => {
    const { clock, token, loads } = harness(() => ({ token: 'a' }));
    await token();
    await clock.advance(1_000_000);
    await token();
    expect(loads).toEqual([0]);
  });

  it('are refreshed ahead of the expiration, while the current ones are in use', async () => {
    let release = (): void => {};
    const clock = manualClock();
    let count = 0;
    const credentials = reloadingCredentials(
      async () => {
        count++;
        if (count === 2) await new Promise<void>((resolve) => (release = resolve));
        return { server: 'https://host', token: `t${count}`, ...expiringIn(100 * count) };
      },
      { clock },
    );
    expect((await credentials.current()).token).toBe('t1');
    await clock.advance(89);
    expect((await credentials.current()).token).toBe('t1');
    expect(count).toBe(1);
    await clock.advance(1);
    expect((await credentials.current()).token).toBe('t1');
    expect(count).toBe(2);
    release();
    await clock.settle();
    expect((await credentials.current()).token).toBe('t2');
  });

  it('are refreshed not more than 5 minutes ahead', async () => {
    const { clock, token, loads } = harness((count) => ({ token: `t${count}`, ...expiringIn(100_000 * count) }));
    await token();
    await clock.advance(99_699);
    await token();
    expect(loads).toHaveLength(1);
    await clock.advance(1);
    await token();
    expect(loads).toHaveLength(2);
  });

  it('stay in use to the end, if the refresh fails, with a warning', async () => {
    const { clock, token, loads, logger } = harness((count) =>
      count === 1 ? { token: 'a', ...expiringIn(100) } : new Error('the provider is down'),
    );
    await token();
    await clock.advance(95);
    expect(await token()).toBe('a');
    await clock.settle();
    expect(loads).toHaveLength(2);
    expect(logger.messages('warn')).toHaveLength(1);
    expect(await token()).toBe('a');
    await clock.advance(5);
    await expect(token()).rejects.toThrow('the provider is down');
  });

  it('are not given in the moment of the expiration anymore', async () => {
    const { clock, token } = harness((count) => ({ token: `t${count}`, ...expiringIn(10 * count) }));
    expect(await token()).toBe('t1');
    await clock.advance(10);
    expect(await token()).toBe('t2');
  });

  it.each([0, -1])('are an error, if they come expired (%i s)', async (seconds) => {
    const { token } = harness(() => ({ token: 'a', ...expiringIn(seconds) }));
    await expect(token()).rejects.toThrow(/expired at 20.*local clock/);
  });

  it('are an error, if there are none', async () => {
    const { token } = harness(() => undefined);
    await expect(token()).rejects.toBeInstanceOf(LoginError);
  });

  it('are loaded again at once, when they are refused for the first time', async () => {
    const { refuse, token, loads } = harness((count) => ({ token: `t${count}` }));
    await refuse();
    expect(await token()).toBe('t2');
    expect(loads).toEqual([0, 0]);
  });

  it('that are refused again and again are loaded with growing pauses, and are given meanwhile', async () => {
    const { clock, refuse, loads } = harness(() => ({ token: 'same' }));
    for (let second = 0; second < 200; second++) {
      expect((await refuse()).token).toBe('same');
      await clock.advance(1);
    }
    expect(loads.slice(0, 9)).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 124]);
  });

  it('that are refused are not refused for ever', async () => {
    const { clock, refuse, token } = harness(() => ({ token: 'same' }));
    await refuse();
    await refuse();
    await clock.advance(2);
    expect(await token()).toBe('same');
  });

  it('are loaded at once again after a long time without trouble', async () => {
    const { clock, refuse, token, loads } = harness((count) => ({ token: `t${count}` }));
    for (let turn = 0; turn < 5; turn++) {
      await refuse();
      await clock.advance(20);
    }
    await token();
    await clock.advance(1000);
    loads.length = 0;
    await refuse();
    await token();
    await refuse();
    await clock.advance(1);
    await token();
    expect(loads).toEqual([clock.now() - 1, clock.now()]);
  });

  it('are loaded once for all who were refused with them', async () => {
    const { credentials, refuse, token, loads } = harness((count) => ({ token: `t${count}` }));
    const info = await refuse();
    expect(await token()).toBe('t2');
    await credentials.invalidate(info, cause);
    expect(await token()).toBe('t2');
    expect(loads).toHaveLength(2);
  });

  it('that fail to load are tried again after a pause, by those who need them', async () => {
    const { clock, token, loads } = harness((count) => (count < 4 ? new Error('not yet') : { token: 'a' }));
    await expect(token()).rejects.toThrow('not yet');
    await expect(token()).rejects.toThrow('not yet');
    await expect(token()).rejects.toThrow('not yet');
    expect(await token()).toBe('a');
    expect(loads).toEqual([0, 0, 1, 3]);
    expect(clock.sleepers).toBe(0);
  });

  it('do not keep those who gave up waiting', async () => {
    const { credentials, clock } = harness((count) => new Error(`not yet ${count}`));
    await expect(credentials.current()).rejects.toThrow('not yet 1');
    await expect(credentials.current()).rejects.toThrow('not yet 2');
    const aborting = new AbortController();
    const waiting = credentials.current(aborting.signal);
    await clock.settle();
    aborting.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(clock.sleepers).toBe(0);
  });
});
