import assert from 'node:assert/strict';
import type { Awaitable, Scheduler } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';
import { type ConformanceCase, declareCases, type TestRunner } from './cases.js';

/**
 * A scheduler, and how to let it do what it can.
 *
 * ```ts
 * import type { SchedulerUnderTest } from 'kopf-ts/testing';
 * const subject: SchedulerUnderTest = { scheduler: kopf.reactor.boundedScheduler({ limit: () => 2, logger }) };
 * ```
 */
export interface SchedulerUnderTest {
  readonly scheduler: Scheduler;
  /** Waits until it has started all that it is going to start. Default: some turns of the event loop. */
  settle?(): Promise<void>;
}

type Create = () => Awaitable<SchedulerUnderTest>;

/** More than any scheduler would run at once, if it has limits. */
const MANY = 500;

/**
 * What every scheduler must hold. How many jobs run at once, and in which order, is up to it.
 *
 * ```ts
 * import { schedulerCases } from 'kopf-ts/testing';
 * const create = () => ({ scheduler: kopf.reactor.boundedScheduler({ limit: () => 2, logger }) });
 * for (const { name, run } of schedulerCases(create)) it(name, run);
 * ```
 */
export function schedulerCases(create: Create): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (scheduler: Scheduler, settle: () => Promise<void>) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const { scheduler, settle = someTurns } = await create();
      await run(scheduler, settle);
    };
    cases.push({ name, run: runAnew });
  };

  add('runs every job once, however many there are', async (scheduler, settle) => {
    const runs = new Map<number, number>();
    for (let n = 0; n < MANY; n++) {
      const run = async (): Promise<void> => void runs.set(n, (runs.get(n) ?? 0) + 1);
      scheduler.spawn({ name: `job ${n}`, run });
    }
    await settle();
    assert.equal(runs.size, MANY, `${runs.size} of ${MANY} jobs were run`);
    assert.deepEqual([...new Set(runs.values())], [1], 'some jobs were run several times');
    await close(scheduler, settle);
  });

  add('runs jobs of all occasions, and lets none of them starve', async (scheduler, settle) => {
    const occasions = ['deletion', 'first', undefined] as const;
    const runs = new Map<string, number>();
    for (let n = 0; n < MANY; n++) {
      const occasion = occasions[n % occasions.length];
      const run = async (): Promise<void> => void runs.set(`${occasion}`, (runs.get(`${occasion}`) ?? 0) + 1);
      scheduler.spawn({ name: `job ${n}`, occasion, run });
    }
    await settle();
    const total = [...runs.values()].reduce((sum, count) => sum + count, 0);
    assert.equal(total, MANY, `${total} of ${MANY} jobs were run: ${JSON.stringify([...runs])}`);
    await close(scheduler, settle);
  });

  add('runs slow jobs, too, and to their end', async (scheduler, settle) => {
    const jobs = [hangingJob('a'), hangingJob('b')];
    const others: string[] = [];
    for (const job of jobs) scheduler.spawn(job);
    await settle();
    for (const job of jobs) job.end();
    scheduler.spawn({ name: 'c', run: async () => void others.push('c') });
    await settle();
    assert.deepEqual(
      jobs.map(({ starts }) => starts),
      [1, 1],
    );
    assert.deepEqual(others, ['c']);
    assert.ok(!jobs.some(({ isAborted }) => isAborted), 'a job is aborted, though the scheduler is not closed');
    await close(scheduler, settle);
  });

  add('counts unfinished jobs', async (scheduler, settle) => {
    assert.equal(scheduler.size, 0);
    const jobs = Array.from({ length: 3 }, (_, n) => hangingJob(`job ${n}`));
    for (const job of jobs) scheduler.spawn(job);
    await settle();
    assert.equal(scheduler.size, 3);
    for (const job of jobs) job.end();
    await settle();
    assert.equal(scheduler.size, 0);
    await close(scheduler, settle);
  });

  add('lets jobs spawn other jobs', async (scheduler, settle) => {
    const order: string[] = [];
    const run = async (): Promise<void> => {
      order.push('parent');
      scheduler.spawn({ name: 'child', run: async () => void order.push('child') });
    };
    scheduler.spawn({ name: 'parent', run });
    await settle();
    assert.deepEqual(order, ['parent', 'child']);
    await close(scheduler, settle);
  });

  add('reports the first error of any job, and never throws to the caller', async (scheduler, settle) => {
    const [first, second] = [new Error('first'), new Error('second')];
    const throwAtOnce = (): Promise<void> => {
      throw first;
    };
    assert.doesNotThrow(() => scheduler.spawn({ name: 'a', run: throwAtOnce }));
    await settle();
    scheduler.spawn({ name: 'b', run: () => Promise.reject(second) });
    await settle();
    assert.equal(await told(scheduler), first);
    await close(scheduler, settle);
  });

  add('reports later errors, too', async (scheduler, settle) => {
    const error = new Error('later');
    const failing = hangingJob('a');
    scheduler.spawn(failing);
    await settle();
    assert.equal(await told(scheduler), NOTHING);
    failing.fail(error);
    await settle();
    assert.equal(await told(scheduler), error);
    await close(scheduler, settle);
  });

  add('goes on with the other jobs after one has failed', async (scheduler, settle) => {
    const [failing, other] = [hangingJob('a'), hangingJob('b')];
    scheduler.spawn(failing);
    scheduler.spawn(other);
    await settle();
    failing.fail(new Error('boo'));
    await settle();
    await told(scheduler);
    const next = hangingJob('c');
    scheduler.spawn(next);
    await settle();
    other.end();
    await settle();
    assert.equal(other.isAborted, false, 'the other job is aborted');
    assert.equal(next.starts, 1, 'the next job is not run');
    next.end();
    await close(scheduler, settle);
  });

  add('on closing, aborts running jobs and waits for their end', async (scheduler, settle) => {
    const job = hangingJob('a', { isStubborn: true });
    scheduler.spawn(job);
    await settle();
    assert.equal(job.isAborted, false);
    let isClosed = false;
    const closing = scheduler.close().then(() => {
      isClosed = true;
    });
    await settle();
    assert.equal(job.isAborted, true, 'the job is not told to end');
    assert.equal(isClosed, false, 'it is closed, and the job still runs');
    job.end();
    await settle();
    assert.equal(isClosed, true, 'it is not closed, though no job runs any more');
    await closing;
    assert.equal(scheduler.size, 0);
  });

  add('on closing, drops waiting jobs', async (scheduler, settle) => {
    const jobs = Array.from({ length: MANY }, (_, n) => hangingJob(`job ${n}`));
    for (const job of jobs) scheduler.spawn(job);
    await settle();
    const started = jobs.filter(({ starts }) => starts > 0).length;
    await close(scheduler, settle);
    await settle();
    const later = jobs.filter(({ starts }) => starts > 0).length - started;
    assert.equal(later, 0, `${later} jobs were started after it was closed`);
  });

  add('starts nothing after closing', async (scheduler, settle) => {
    await close(scheduler, settle);
    const job = hangingJob('a');
    assert.doesNotThrow(() => scheduler.spawn(job));
    await settle();
    assert.equal(job.starts, 0);
    assert.equal(scheduler.size, 0);
  });

  add('does not report jobs that end because of closing as errors', async (scheduler, settle) => {
    scheduler.spawn(hangingJob('a'));
    await settle();
    await close(scheduler, settle);
    assert.equal(await told(scheduler), NOTHING);
  });

  add('can be closed several times, each time waiting for the end', async (scheduler, settle) => {
    const job = hangingJob('a', { isStubborn: true });
    scheduler.spawn(job);
    await settle();
    const closed: number[] = [];
    const closings = [1, 2].map((n) => scheduler.close().then(() => closed.push(n)));
    await settle();
    assert.deepEqual(closed, [], 'it is closed, and the job still runs');
    job.end();
    await settle();
    assert.equal(closed.length, 2, 'it is not closed, though no job runs any more');
    await Promise.all(closings);
    await close(scheduler, settle);
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { testScheduler } from 'kopf-ts/testing';
 * testScheduler(() => ({ scheduler: kopf.reactor.boundedScheduler({ limit: () => 2, logger }) }), { describe, it });
 * ```
 */
export function testScheduler(create: Create, runner?: TestRunner): void {
  declareCases('a scheduler', schedulerCases(create), runner);
}

interface HangingJob {
  readonly name: string;
  readonly starts: number;
  readonly isAborted: boolean;
  run(signal: AbortSignal): Promise<void>;
  end(): void;
  fail(error: Error): void;
}

/** A job that runs until told to end; also by its signal, if it is not a stubborn one. */
function hangingJob(name: string, { isStubborn = false } = {}): HangingJob {
  let resolve = (): void => {};
  let reject = (_error: unknown): void => {};
  const ending = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  const job = {
    name,
    starts: 0,
    isAborted: false,
    async run(signal: AbortSignal): Promise<void> {
      job.starts += 1;
      const forgetSignal = onAbort(signal, (reason) => {
        job.isAborted = true;
        if (!isStubborn) reject(reason);
      });
      await ending.finally(forgetSignal);
    },
    end: () => resolve(),
    fail: (error: Error) => reject(error),
  };
  ending.catch(() => {});
  return job;
}

/** A scheduler that is never closed must not make the tests hang. */
async function close(scheduler: Scheduler, settle: () => Promise<void>): Promise<void> {
  let isClosed = false;
  const closing = scheduler.close().then(() => {
    isClosed = true;
  });
  await settle();
  assert.ok(isClosed, 'it is not closed, though its jobs end when they are told to');
  await closing;
}

const NOTHING = 'nothing';

/** What the scheduler tells of errors so far. */
function told({ failed }: Scheduler): Promise<unknown> {
  const error = failed.catch((error: unknown) => error);
  return Promise.race([error, someTurns().then(() => NOTHING)]);
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 16; turn++) await new Promise((resolve) => void setImmediate(resolve));
}
