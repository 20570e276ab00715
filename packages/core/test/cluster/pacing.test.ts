import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { backoffDelay } from '../../src/cluster/backoff.js';
import { connectionLimiter } from '../../src/cluster/watch/connection-limiter.js';

describe('a backoff', () => {
  it('doubles with each failure, up to the cap', () => {
    const delays = [1, 2, 3, 4, 5, 6, 1000].map((failures) =>
      backoffDelay(failures, { base: 0.5, cap: 10, random: () => 1 }),
    );
    expect(delays).toEqual([0.5, 1, 2, 4, 8, 10, 10]);
  });

  it('is a random part of that, but not less than a half', () => {
    expect(backoffDelay(3, { base: 1, cap: 10, random: () => 0 })).toBe(2);
    expect(backoffDelay(3, { base: 1, cap: 10, random: () => 0.5 })).toBe(3);
  });

  it('is none if there is none at first', () => {
    expect(backoffDelay(1000, { base: 0, cap: 10, random: () => 1 })).toBe(0);
  });
});

describe('a limiter of connections', () => {
  async function timesOf(count: number, perSecond: number, burst: number): Promise<number[]> {
    const clock = manualClock();
    const limiter = connectionLimiter(clock, { perSecond, burst });
    const times: number[] = [];
    for (let index = 0; index < count; index++) void limiter.acquire().then(() => times.push(clock.now()));
    await clock.advance(100);
    return times;
  }

  it('lets a burst through at once, and the others one by one', async () => {
    expect(await timesOf(6, 2, 3)).toEqual([0, 0, 0, 0.5, 1, 1.5]);
  });

  it('lets a burst through again only after a period of quiet', async () => {
    const clock = manualClock();
    const limiter = connectionLimiter(clock, { perSecond: 1, burst: 2 });
    await limiter.acquire();
    await limiter.acquire();
    await clock.advance(1);
    const times: number[] = [];
    for (let index = 0; index < 3; index++) void limiter.acquire().then(() => times.push(clock.now()));
    await clock.advance(10);
    expect(times).toEqual([1, 2, 3]);
  });

  it('does not count those who have given up', async () => {
    const clock = manualClock();
    const limiter = connectionLimiter(clock, { perSecond: 1, burst: 1 });
    await limiter.acquire();
    const controller = new AbortController();
    const abandoned = limiter.acquire(controller.signal);
    controller.abort(new Error('stop'));
    await expect(abandoned).rejects.toThrow('stop');
    await expect(limiter.acquire(controller.signal)).rejects.toThrow('stop');
    let acquiredAt: number | undefined;
    void limiter.acquire().then(() => {
      acquiredAt = clock.now();
    });
    await clock.advance(10);
    expect(acquiredAt).toBe(1);
  });
});
