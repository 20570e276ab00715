import { setTimeout as passing } from 'node:timers/promises';
import { testClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/running/clock.js';

// The one place where the time is real: there is no other way to see that the real clock goes. The order of things is
// not affected by a slow machine; and the durations are not expected to be exact.
testClock(
  () => ({ clock: systemClock, pass: (seconds) => passing(seconds * 1000) }),
  { describe, it },
  {
    unit: 0.02,
    tolerance: 1,
  },
);

describe('the system clock', () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  it.each(['wakeup', 'signal'] as const)('keeps no timer after a sleep that is ended early by its %s', async (by) => {
    const before = timers();
    const controller = new AbortController();
    const sleep = systemClock.sleep(1000, { [by]: controller.signal }).catch(() => 'aborted');
    await Promise.resolve();
    expect(timers()).toBe(before + 1);
    controller.abort();
    // At once, not when somebody notices.
    expect(timers()).toBe(before);
    await sleep;
  });

  it('keeps the process alive while somebody sleeps', async () => {
    const before = timers();
    const controller = new AbortController();
    const sleeps = [1000, 10_000_000].map((delay) => systemClock.sleep(delay, { wakeup: controller.signal }));
    await Promise.resolve();
    expect(timers()).toBe(before + 2);
    controller.abort();
    await Promise.all(sleeps);
  });

  it('does not take what is not a number for a time to sleep', async () => {
    expect(await systemClock.sleep(Number.NaN)).toBeUndefined();
  });

  it('rejects a zero sleep that is aborted while it yields', async () => {
    const controller = new AbortController();
    const sleep = systemClock.sleep(0, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
  });
});
