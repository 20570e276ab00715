import { describe, expect, it } from 'vitest';
import { manualClock, testClock } from '../src/index.js';

describe('the manual clock', () => {
  testClock(
    () => {
      const clock = manualClock();
      return { clock, pass: (seconds) => clock.advance(seconds) };
    },
    { describe, it },
  );

  it('begins in 2020, or when told', () => {
    expect(manualClock().utc().toISOString()).toBe('2020-01-01T00:00:00.000Z');
    expect(manualClock({ start: '2024-02-29T12:00:00+01:00' }).utc().toISOString()).toBe('2024-02-29T11:00:00.000Z');
    expect(
      manualClock({ start: new Date(0) })
        .utc()
        .toISOString(),
    ).toBe('1970-01-01T00:00:00.000Z');
  });

  it('refuses to begin when there is no such time', () => {
    expect(() => manualClock({ start: 'yesterday' })).toThrow(/not a date/);
  });

  it('stands still until told to move', async () => {
    const clock = manualClock();
    const before = [clock.now(), clock.utc()];
    await clock.settle();
    expect([clock.now(), clock.utc()]).toEqual(before);
  });

  it('moves both times by exactly as much as told', async () => {
    const clock = manualClock();
    await clock.advance(1.5);
    await clock.advance(0.25);
    expect(clock.now()).toBe(1.75);
    expect(clock.utc().toISOString()).toBe('2020-01-01T00:00:01.750Z');
  });

  it.each([1, 0.1, 0.3, 0.001])('goes through all sleeps of a loop within one move: each of %f s', async (delay) => {
    const clock = manualClock();
    const times: number[] = [];
    const loop = (async () => {
      for (let turn = 0; turn < 20; turn++) {
        await clock.sleep(delay);
        times.push(clock.now());
      }
    })();
    await clock.advance(5 * delay);
    expect(times).toHaveLength(5);
    await clock.advance(15 * delay);
    expect(times).toHaveLength(20);
    await loop;
  });

  it('shows to each sleeper the very time of its waking', async () => {
    const clock = manualClock();
    const seen: [string, number, number][] = [];
    const sleeps = [3, 1, 2].map(async (delay) => {
      await clock.sleep(delay);
      seen.push([`after ${delay}`, clock.now(), clock.utc().getUTCSeconds()]);
    });
    await clock.advance(10);
    await Promise.all(sleeps);
    expect(seen).toEqual([
      ['after 1', 1, 1],
      ['after 2', 2, 2],
      ['after 3', 3, 3],
    ]);
    expect(clock.now()).toBe(10);
  });

  it('wakes up those of the same moment in the order in which they fell asleep', async () => {
    const clock = manualClock();
    const order: string[] = [];
    const first = clock.sleep(2).then(() => order.push('first'));
    await clock.advance(1);
    const second = clock.sleep(1).then(() => order.push('second'));
    await clock.advance(1);
    expect(order).toEqual(['first', 'second']);
    await Promise.all([first, second]);
  });

  it('lets what was woken up finish its chains of promises and immediates before going on', async () => {
    const clock = manualClock();
    let finishedAt: number | undefined;
    const chain = (async () => {
      await clock.sleep(1);
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      for (let step = 0; step < 1000; step++) await Promise.resolve();
      finishedAt = clock.now();
    })();
    const other = clock.sleep(2);
    await clock.advance(5);
    expect(finishedAt).toBe(1);
    await Promise.all([chain, other]);
  });

  it('waits for the end of long yielding', async () => {
    const clock = manualClock();
    let turns = 0;
    const loop = (async () => {
      while (turns < 500) {
        await clock.sleep(0);
        turns++;
      }
    })();
    await clock.settle();
    expect(turns).toBe(500);
    await loop;
  });

  it('does not wait for ever for the end of endless yielding, but tells of it', async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const loop = (async () => {
      for (;;) await clock.sleep(0, { signal: stop.signal });
    })();
    await expect(clock.advance(1)).rejects.toThrow(expect.objectContaining({ code: 'KOPF_NEVER_QUIET' }));
    stop.abort(new Error('enough'));
    await expect(loop).rejects.toThrow('enough');
    await clock.advance(1);
    expect(clock.now()).toBe(1);
  });

  it('finds those who fall asleep just before the move', async () => {
    const clock = manualClock();
    let isDone = false;
    const late = (async () => {
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      await clock.sleep(1);
      isDone = true;
    })();
    await clock.advance(1);
    expect(isDone).toBe(true);
    await late;
  });

  it('tells how many sleep, and for how long there is nothing to happen', async () => {
    const clock = manualClock();
    const waking = new AbortController();
    expect([clock.sleepers, clock.nextWakeup]).toEqual([0, undefined]);
    const forever = clock.sleep(Number.POSITIVE_INFINITY, { wakeup: waking.signal });
    expect([clock.sleepers, clock.nextWakeup]).toEqual([1, undefined]);
    const sleeps = [clock.sleep(3), clock.sleep(2)];
    expect([clock.sleepers, clock.nextWakeup]).toEqual([3, 2]);
    await clock.advance(2.5);
    expect([clock.sleepers, clock.nextWakeup]).toEqual([2, 0.5]);
    await clock.advance(1);
    waking.abort();
    expect(await forever).toBe(Number.POSITIVE_INFINITY);
    await Promise.all(sleeps);
    expect([clock.sleepers, clock.nextWakeup]).toEqual([0, undefined]);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses to move by %f seconds', async (seconds) => {
    await expect(manualClock().advance(seconds)).rejects.toThrow(/cannot be advanced/);
  });

  it('refuses to be moved by two at once, but not one after another', async () => {
    const clock = manualClock();
    const move = clock.advance(1);
    await expect(clock.advance(1)).rejects.toThrow(/already/);
    await move;
    await clock.advance(1);
    expect(clock.now()).toBe(2);
  });

  it('rejects a sleep of zero, too, when aborted', async () => {
    const reason = new Error('enough');
    await expect(manualClock().sleep(0, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
