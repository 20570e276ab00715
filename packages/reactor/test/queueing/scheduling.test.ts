import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { boundedScheduler } from '../../src/queueing/scheduler.js';

interface Job {
  readonly name: string;
  readonly signal: AbortSignal;
  end(): void;
  fail(error: unknown): void;
}

/** A scheduler of jobs that are ended by hand, and the list of those started. */
function scheduling(limit?: number) {
  const logger = recordingLogger();
  const clock = manualClock();
  const limits = { limit };
  const scheduler = boundedScheduler({ limit: () => limits.limit, logger });
  const started: Job[] = [];
  const spawn = (name: string): void =>
    scheduler.spawn({
      name,
      run: (signal) =>
        new Promise((end, fail) => {
          started.push({ name, signal, end, fail });
        }),
    });
  const names = (): string[] => started.map((job) => job.name);
  const job = (name: string): Job => {
    const found = started.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${name} is not started`);
    return found;
  };
  return { scheduler, started, spawn, names, job, limits, logger, settle: () => clock.settle() };
}

describe('a scheduler of workers', () => {
  it('starts jobs at once while there is room', () => {
    const { spawn, names, scheduler } = scheduling(2);
    spawn('one');
    spawn('two');
    spawn('three');
    expect(names()).toEqual(['one', 'two']);
    expect(scheduler.size).toBe(3);
  });

  it('starts all of them if there is no limit', () => {
    const { spawn, started } = scheduling(undefined);
    for (let i = 0; i < 1000; i++) spawn(`job ${i}`);
    expect(started).toHaveLength(1000);
  });

  it('starts those who wait in the order of their coming, each once', async () => {
    const { spawn, names, job, settle, scheduler } = scheduling(1);
    for (const name of ['one', 'two', 'three']) spawn(name);
    job('one').end();
    await settle();
    expect(names()).toEqual(['one', 'two']);
    job('two').end();
    await settle();
    job('three').end();
    await settle();
    expect(names()).toEqual(['one', 'two', 'three']);
    expect(scheduler.size).toBe(0);
  });

  it('lets nobody overtake: whoever comes again is behind those who wait', async () => {
    const { spawn, names, job, settle } = scheduling(1);
    spawn('busy');
    spawn('patient');
    job('busy').end();
    spawn('busy again');
    await settle();
    job('patient').end();
    await settle();
    expect(names()).toEqual(['busy', 'patient', 'busy again']);
  });

  it('reads the limit at each start', async () => {
    const { spawn, names, job, limits, settle } = scheduling(1);
    for (const name of ['one', 'two', 'three', 'four']) spawn(name);
    limits.limit = 3;
    job('one').end();
    await settle();
    expect(names()).toEqual(['one', 'two', 'three', 'four']);
    limits.limit = 1;
    spawn('five');
    job('two').end();
    job('three').end();
    await settle();
    expect(names()).toHaveLength(4);
    job('four').end();
    await settle();
    expect(names()).toHaveLength(5);
  });

  it.each([0, -1, Number.NaN])('runs at least one at a time, even with the limit of %d', (limit) => {
    const { spawn, names } = scheduling(limit);
    spawn('one');
    spawn('two');
    expect(names()).toEqual(['one']);
  });

  it('starts jobs that are spawned by jobs, however deep, in the order of their coming', () => {
    const scheduler = boundedScheduler({ limit: () => undefined, logger: recordingLogger() });
    const order: number[] = [];
    const spawn = (n: number): void =>
      scheduler.spawn({
        name: `job ${n}`,
        run: async () => {
          if (n < 50_000) spawn(n + 1);
          order.push(n);
        },
      });
    spawn(0);
    expect(order).toHaveLength(50_001);
    expect(order[1]).toBe(1);
    expect(order.at(-1)).toBe(50_000);
  });

  it('takes tens of thousands of waiting jobs', async () => {
    const clock = manualClock();
    const scheduler = boundedScheduler({ limit: () => 10, logger: recordingLogger() });
    let [done, now, most] = [0, 0, 0];
    for (let i = 0; i < 30_000; i++) {
      scheduler.spawn({
        name: `job ${i}`,
        run: async () => {
          most = Math.max(most, ++now);
          await Promise.resolve();
          now -= 1;
          done += 1;
        },
      });
    }
    await clock.settle();
    expect([done, most, scheduler.size]).toEqual([30_000, 10, 0]);
  });

  describe('when a job fails', () => {
    it('rejects with the first error, and logs the others', async () => {
      const { spawn, job, scheduler, logger, settle } = scheduling(5);
      for (const name of ['one', 'two', 'three']) spawn(name);
      job('one').fail(new Error('first'));
      await settle();
      expect(logger.lines).toEqual([]);
      job('two').fail(new Error('second'));
      await settle();
      await expect(scheduler.failed).rejects.toThrow('first');
      expect(logger.messages('error')).toEqual(['two has failed: second']);
    });

    it('goes on with the others', async () => {
      const { spawn, job, names, scheduler, settle } = scheduling(1);
      spawn('one');
      spawn('two');
      job('one').fail(new Error('boo'));
      await settle();
      expect(names()).toEqual(['one', 'two']);
      expect(scheduler.size).toBe(1);
    });

    it('is no unhandled rejection if nobody looks', async () => {
      const unhandled: unknown[] = [];
      const listener = (error: unknown): void => void unhandled.push(error);
      process.on('unhandledRejection', listener);
      const { spawn, job, settle } = scheduling(1);
      spawn('one');
      job('one').fail(new Error('boo'));
      await settle();
      process.off('unhandledRejection', listener);
      expect(unhandled).toEqual([]);
    });

    it('takes errors thrown without a promise for the same', async () => {
      const { scheduler, spawn, names } = scheduling(1);
      scheduler.spawn({
        name: 'hasty',
        run: () => {
          throw new Error('boo');
        },
      });
      await expect(scheduler.failed).rejects.toThrow('boo');
      spawn('next');
      expect(names()).toEqual(['next']);
    });
  });

  describe('when closed', () => {
    it('aborts what runs, and forgets what waits', async () => {
      const { spawn, names, job, scheduler, settle } = scheduling(2);
      for (const name of ['one', 'two', 'three']) spawn(name);
      let isClosed = false;
      const closed = scheduler.close().then(() => {
        isClosed = true;
      });
      expect(job('one').signal.aborted).toBe(true);
      expect(scheduler.size).toBe(2);
      job('one').end();
      await settle();
      expect(isClosed).toBe(false);
      job('two').end();
      await closed;
      expect(names()).toEqual(['one', 'two']);
    });

    it('is closed at once if nothing runs, and can be closed again', async () => {
      const { scheduler } = scheduling(1);
      await scheduler.close();
      await scheduler.close();
      expect(scheduler.size).toBe(0);
    });

    it('starts nothing any more', async () => {
      const { spawn, started, scheduler } = scheduling(1);
      await scheduler.close();
      spawn('late');
      expect(started).toEqual([]);
      expect(scheduler.size).toBe(0);
    });

    it('does not take obedience for failures, but tells of real ones', async () => {
      const { spawn, job, scheduler, logger } = scheduling(2);
      spawn('obedient');
      spawn('unlucky');
      const closed = scheduler.close();
      job('obedient').fail(job('obedient').signal.reason);
      job('unlucky').fail(new Error('boo'));
      await closed;
      expect(logger.messages()).toEqual(['unlucky has failed: boo']);
      await expect(scheduler.failed).rejects.toThrow('boo');
    });
  });
});
