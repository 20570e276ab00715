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

describe('a scheduler with urgent jobs', () => {
  type Occasion = 'first' | 'deletion' | undefined;

  function urgent(limit: number) {
    const logger = recordingLogger();
    const clock = manualClock();
    const scheduler = boundedScheduler({ limit: () => limit, logger, clock, title: 'pods.v1' });
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    const spawn = (name: string, occasion?: Occasion): void =>
      scheduler.spawn({
        name,
        occasion,
        run: () =>
          new Promise((end) => {
            started.push(name);
            ends.set(name, end);
          }),
      });
    const spawnMany = (count: number, prefix: string, occasion?: Occasion): void => {
      for (let n = 0; n < count; n++) spawn(`${prefix}${n}`, occasion);
    };
    const end = async (name: string): Promise<void> => {
      ends.get(name)?.();
      await clock.settle();
    };
    return { scheduler, clock, logger, started, spawn, spawnMany, end };
  }

  it.each([20, 100, 333])('keeps places for them with the limit of %d, and never exceeds it', (limit) => {
    const { started, spawn, spawnMany } = urgent(limit);
    spawnMany(limit * 2, 'slow');
    const slow = started.length;
    expect(slow).toBeGreaterThanOrEqual(Math.floor(limit * 0.6));
    spawnMany(limit, 'new', 'first');
    expect(started.length).toBeGreaterThan(slow);
    expect(started.length).toBeLessThan(limit);
    spawn('gone', 'deletion');
    expect(started.at(-1)).toBe('gone');
    spawnMany(limit, 'gone too', 'deletion');
    expect(started).toHaveLength(limit);
  });

  it.each([1, 2, 4, 10, 19])('keeps none with the limit of %d', (limit) => {
    const { started, spawnMany } = urgent(limit);
    spawnMany(40, 'slow');
    expect(started).toHaveLength(limit);
  });

  it('starts them before the others, but by turns: nobody starves', async () => {
    const { started, spawnMany, end } = urgent(1);
    spawnMany(1, 'busy');
    spawnMany(3, 'other');
    spawnMany(3, 'new', 'first');
    spawnMany(3, 'gone', 'deletion');
    for (let n = 0; n < 9; n++) await end(started.at(-1) ?? '');
    expect(started).toEqual(['busy0', ...[0, 1, 2].flatMap((n) => [`gone${n}`, `new${n}`, `other${n}`])]);
  });

  it('tells of those who wait for long, how many they are, and what to do; rarely', async () => {
    const { clock, logger, spawnMany } = urgent(2);
    spawnMany(9, 'slow');
    await clock.advance(4.9);
    expect(logger.messages('warn')).toEqual([]);
    await clock.advance(0.2);
    expect(logger.messages('warn')).toEqual([expect.stringMatching(/^7 objects of pods\.v1 .*workerLimit is 2/)]);
    await clock.advance(590);
    expect(logger.messages('warn')).toHaveLength(1);
    await clock.advance(20);
    expect(logger.messages('warn')).toHaveLength(2);
  });

  it('says nothing if nobody waits for long', async () => {
    const { clock, logger, started, spawnMany, end } = urgent(1);
    spawnMany(50, 'quick');
    for (let n = 0; n < 50; n++) {
      await clock.advance(0.09);
      await end(started.at(-1) ?? '');
    }
    await clock.advance(100);
    expect(logger.messages('warn')).toEqual([]);
  });

  it('leaves nothing behind when closed', async () => {
    const { scheduler, clock, logger, spawnMany, started, end } = urgent(1);
    spawnMany(3, 'slow');
    const closing = scheduler.close();
    for (const name of started) await end(name);
    await closing;
    expect(clock.sleepers).toBe(0);
    await clock.advance(100);
    expect(logger.messages('warn')).toEqual([]);
  });
});
