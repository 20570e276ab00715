import { describe, expect, it } from 'vitest';
import { fakeOperator } from './fake-operator.js';

describe('running an operator', () => {
  it('does not wait until it is ready, but lets the test do so', async () => {
    const fake = fakeOperator();
    const runner = await fake.run();
    let isReady = false;
    const ready = runner.ready.then(() => {
      isReady = true;
    });
    await fake.clock.settle();
    expect([isReady, runner.exitCode, runner.exception]).toEqual([false, undefined, undefined]);
    fake.becomeReady();
    await ready;
    expect(isReady).toBe(true);
  });

  it('stops it when told to, and tells that it went well', async () => {
    const fake = fakeOperator({ stopTime: 3 });
    const runner = await fake.run();
    await runner.stop();
    expect([runner.exitCode, runner.exception]).toEqual([0, undefined]);
    await expect(runner.done).resolves.toBeUndefined();
  });

  it('stops it at the end of the scope', async () => {
    const fake = fakeOperator();
    {
      await using _runner = await fake.run();
      expect(fake.stops).toBe(0);
    }
    expect(fake.stops).toBe(1);
  });

  it('moves a manual clock while stopping, and not further than needed', async () => {
    const fake = fakeOperator({ stopTime: 3 });
    const runner = await fake.run();
    await runner.stop();
    expect(fake.clock.now()).toBe(3);
  });

  it('complains of an operator that does not stop in time', async () => {
    const fake = fakeOperator({ stopTime: Number.POSITIVE_INFINITY });
    const runner = await fake.run({ timeout: 5.2 });
    await expect(runner.stop()).rejects.toThrow("The operator didn't stop in 5.2 seconds.");
    expect(fake.clock.now()).toBeCloseTo(5.2);
    expect(runner.exitCode).toBeUndefined();
  });

  it('complains of that by clocks that move by themselves, too', async () => {
    const fake = fakeOperator({ stopTime: Number.POSITIVE_INFINITY });
    const { now, utc, sleep } = fake.clock;
    const runner = await fake.run({ timeout: 5, clock: { now, utc, sleep } });
    const stopping = runner.stop();
    stopping.catch(() => {});
    await fake.clock.advance(4.9);
    expect(await Promise.race([stopping, Promise.resolve('waiting')])).toBe('waiting');
    await fake.clock.advance(0.1);
    await expect(stopping).rejects.toThrow("The operator didn't stop in 5 seconds.");
  });

  it('waits for as long as it takes, if no time is given', async () => {
    const fake = fakeOperator({ stopTime: 1000 });
    const { now, utc, sleep } = fake.clock;
    const runner = await fake.run({ clock: { now, utc, sleep } });
    const stopping = runner.stop();
    await fake.clock.advance(1000);
    await stopping;
    expect(runner.exitCode).toBe(0);
  });

  it('fails at once if the operator cannot be started', async () => {
    const startError = new Error('bad options');
    await expect(fakeOperator({ startError }).run()).rejects.toBe(startError);
  });
});

describe('an operator that fails', () => {
  const error = new Error('boo');

  it('fails the test when it is stopped, and not twice', async () => {
    const fake = fakeOperator();
    const runner = await fake.run();
    fake.fail(error);
    await expect(runner.stop()).rejects.toBe(error);
    await expect(runner[Symbol.asyncDispose]()).resolves.toBeUndefined();
    expect([runner.exitCode, runner.exception]).toEqual([1, error]);
  });

  it('fails the test when it fails in stopping', async () => {
    const runner = await fakeOperator({ stopError: error }).run();
    await expect(runner[Symbol.asyncDispose]()).rejects.toBe(error);
  });

  it('does not fail the test if that is not wanted', async () => {
    const fake = fakeOperator();
    const runner = await fake.run({ reraise: false });
    fake.fail(error);
    await runner.stop();
    expect([runner.exitCode, runner.exception]).toEqual([1, error]);
  });

  it.each(['ready', 'done'] as const)('does not fail a test that has already got the error as "%s"', async (which) => {
    const fake = fakeOperator();
    const runner = await fake.run();
    fake.fail(error);
    await expect(runner[which]).rejects.toBe(error);
    await expect(runner.stop()).resolves.toBeUndefined();
  });

  it('is told together with the error of the test itself', async () => {
    const own = new Error('of the test');
    const scope = async () => {
      const fake = fakeOperator();
      await using _runner = await fake.run();
      fake.fail(error);
      throw own;
    };
    await expect(scope()).rejects.toMatchObject({ error, suppressed: own });
  });

  it('makes no unhandled rejections of what the test does not look at', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listener);
    const fake = fakeOperator();
    const runner = await fake.run({ reraise: false });
    void [runner.ready, runner.done];
    fake.fail(error);
    await runner.stop();
    await fake.clock.settle();
    process.off('unhandledRejection', listener);
    expect(unhandled).toEqual([]);
  });
});
