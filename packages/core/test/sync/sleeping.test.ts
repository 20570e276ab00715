import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/sync/sleeping.js';

describe('sleeping', () => {
  it.each([
    [[123, 456], 123],
    [[456, undefined, 123, null], 123],
    [123, 123],
  ])('for %j takes %s seconds', async (delays, expected) => {
    const clock = manualClock();
    let woken: unknown = 'asleep';
    void sleep(clock, delays).then((left) => {
      woken = left;
    });
    await clock.advance(expected - 0.001);
    expect(woken).toBe('asleep');
    await clock.advance(0.001);
    expect(woken).toBe(undefined);
  });

  it.each([[[]], [[undefined, null]], [undefined], [null], [0], [-10], [[123, 0]], [[123, -456]]])(
    'for %j is no sleep',
    async (delays) => {
      await expect(sleep(manualClock(), delays)).resolves.toBe(undefined);
    },
  );

  it('tells how much is left if woken up', async () => {
    const clock = manualClock();
    const wakeup = new AbortController();
    const sleeping = sleep(clock, [10, 20], { wakeup: wakeup.signal });
    await clock.advance(7);
    wakeup.abort();
    await expect(sleeping).resolves.toBe(3);
  });

  it('fails if aborted, before or in the middle', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, 10, { signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(sleeping).rejects.toThrow('stop');
    await expect(sleep(clock, undefined, { signal: controller.signal })).rejects.toThrow('stop');
  });
});
