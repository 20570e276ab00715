import type { KubeClient } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { eventually, manualClock } from '../../src/index.js';
import { fakeOperator } from './fake-operator.js';

describe('waiting for what must come true', () => {
  it('moves a manual clock, and gives what there is as soon as it is there', async () => {
    const clock = manualClock();
    const result = await eventually(
      () => {
        if (clock.now() < 3) throw new Error('not yet');
        return clock.now();
      },
      { clock },
    );
    expect(result).toBe(3);
  });

  it('does not move anything if it is true already', async () => {
    const clock = manualClock();
    expect(await eventually(() => 'true', { clock })).toBe('true');
    expect(clock.now()).toBe(0);
  });

  it('throws the last complaint when the time is over', async () => {
    const clock = manualClock();
    const never = () => Promise.reject(new Error(`not at ${clock.now()}`));
    await expect(eventually(never, { clock, timeout: 2.5 })).rejects.toThrow('not at 2.5');
    await expect(eventually(never, { clock })).rejects.toThrow('not at 32.5');
  });

  it('sleeps by clocks that move by themselves', async () => {
    const { now, utc, sleep, advance } = manualClock();
    let looks = 0;
    const waiting = eventually(
      () => {
        looks += 1;
        if (looks < 4) throw new Error('not yet');
      },
      { clock: { now, utc, sleep } },
    );
    await advance(0.1);
    expect(looks).toBe(2);
    await advance(0.2);
    await waiting;
    expect(looks).toBe(4);
  });

  it('lets the cluster settle before each look', async () => {
    const clock = manualClock();
    let settled = 0;
    const cluster = {
      client: {} as KubeClient,
      clock,
      settled: async () => {
        settled += 1;
      },
    };
    const runner = await fakeOperator().run({ cluster });
    await runner.settled();
    const once = settled;
    expect(once).toBeGreaterThan(0);
    await runner.eventually(() => expect(clock.now()).toBe(1));
    expect(settled).toBe(3 * once);
  });
});
