import type { Scheduler } from '@kopf-ts/core';
import { boundedScheduler } from '@kopf-ts/reactor';
import { describe, expect, it } from 'vitest';
import { recordingLogger, schedulerCases } from '../../src/index.js';
import { complaint, failures } from './failures.js';

type Job = Parameters<Scheduler['spawn']>[0];

const bounded = (limit?: number): Scheduler => boundedScheduler({ limit: () => limit, logger: recordingLogger() });

/** A scheduler with something wrong in it, made of a good one. */
function spoiled(spoil: (good: Scheduler) => Partial<Scheduler>, limit = 3): () => { scheduler: Scheduler } {
  return () => {
    const good = bounded(limit);
    const parts = spoil(good);
    const scheduler: Scheduler = {
      get size() {
        return parts.size ?? good.size;
      },
      failed: parts.failed ?? good.failed,
      spawn: (job) => (parts.spawn ?? good.spawn)(job),
      close: () => (parts.close ?? good.close)(),
    };
    return { scheduler };
  };
}

/** The same, with other jobs than asked for. */
const withJobs = (change: (job: Job, good: Scheduler) => Job) =>
  spoiled((good) => ({ spawn: (job) => good.spawn(change(job, good)) }));

const never = new Promise<never>(() => {});

const broken: [sin: string, caught: string, create: () => { scheduler: Scheduler }][] = [
  [
    'runs only so many',
    'runs every job once, however many there are',
    spoiled((good) => {
      let left = 100;
      return { spawn: (job) => void (left-- > 0 && good.spawn(job)) };
    }),
  ],
  [
    'runs jobs twice',
    'runs every job once, however many there are',
    spoiled((good) => ({
      spawn(job) {
        good.spawn(job);
        good.spawn(job);
      },
    })),
  ],
  [
    'aborts jobs that take long',
    'runs slow jobs, too, and to their end',
    withJobs((job) => ({ ...job, run: () => job.run(AbortSignal.abort()).catch(() => {}) })),
  ],
  [
    'counts all jobs there ever were',
    'counts unfinished jobs',
    spoiled((good) => {
      let size = 0;
      return {
        get size() {
          return size;
        },
        spawn(job) {
          size += 1;
          good.spawn(job);
        },
      };
    }),
  ],
  [
    'serves only those who are urgent',
    'runs jobs of all occasions, and lets none of them starve',
    spoiled((good) => {
      let isUrgent = false;
      return {
        spawn(job) {
          isUrgent ||= job.occasion !== undefined;
          if (!isUrgent || job.occasion !== undefined) good.spawn(job);
        },
      };
    }),
  ],
  ['counts nothing', 'counts unfinished jobs', spoiled(() => ({ size: 0 }))],
  [
    'ignores jobs that come while it starts others',
    'lets jobs spawn other jobs',
    spoiled((good) => {
      let isBusy = false;
      return {
        spawn(job) {
          if (isBusy) return;
          isBusy = true;
          good.spawn(job);
          isBusy = false;
        },
      };
    }),
  ],
  [
    'throws errors into the caller',
    'reports the first error of any job, and never throws to the caller',
    spoiled((good) => ({
      spawn(job) {
        const run = job.run(new AbortController().signal);
        good.spawn({ ...job, run: () => run });
      },
    })),
  ],
  [
    'tells the last error',
    'reports the first error of any job, and never throws to the caller',
    spoiled((good) => {
      const errors: unknown[] = [];
      const failed = { catch: (fn: (error: unknown) => unknown) => Promise.resolve(fn(errors.at(-1))) };
      const watch = (job: Job): Job => ({
        ...job,
        async run(signal) {
          await Promise.resolve()
            .then(() => job.run(signal))
            .catch((error: unknown) => errors.push(error));
        },
      });
      return { failed: failed as Promise<never>, spawn: (job) => good.spawn(watch(job)) };
    }),
  ],
  ['keeps errors to itself', 'reports later errors, too', spoiled(() => ({ failed: never }))],
  [
    'stops at the first error',
    'goes on with the other jobs after one has failed',
    spoiled((good) => {
      good.failed.catch(() => good.close());
      return {};
    }),
  ],
  [
    'does not tell the jobs to end',
    'on closing, aborts running jobs and waits for their end',
    withJobs((job) => ({ ...job, run: () => job.run(new AbortController().signal) })),
  ],
  [
    'does not wait for the jobs to end',
    'on closing, aborts running jobs and waits for their end',
    spoiled((good) => ({
      async close() {
        void good.close();
      },
    })),
  ],
  [
    'starts all that waits before it is closed',
    'on closing, drops waiting jobs',
    spoiled((good) => {
      const waiting = new Set<Job>();
      return {
        spawn(job) {
          waiting.add(job);
          const run = (signal: AbortSignal): Promise<void> => {
            waiting.delete(job);
            return job.run(signal);
          };
          good.spawn({ ...job, run });
        },
        async close() {
          const closing = good.close();
          await Promise.allSettled([...waiting].map((job) => job.run(AbortSignal.abort())));
          await closing;
        },
      };
    }),
  ],
  [
    'starts jobs after it was closed',
    'starts nothing after closing',
    spoiled((good) => {
      let isClosed = false;
      return {
        spawn: (job) => (isClosed ? void job.run(AbortSignal.abort()).catch(() => {}) : good.spawn(job)),
        close() {
          isClosed = true;
          return good.close();
        },
      };
    }),
  ],
  [
    'takes aborted jobs for failures',
    'does not report jobs that end because of closing as errors',
    spoiled((good) => {
      let reject = (_error: unknown): void => {};
      const failed = new Promise<never>((_resolve, onReject) => {
        reject = onReject;
      });
      failed.catch(() => {});
      return { failed, spawn: (job) => good.spawn({ ...job, run: (signal) => job.run(signal).catch(reject) }) };
    }),
  ],
  [
    'waits for the end only when closed for the first time',
    'can be closed several times, each time waiting for the end',
    spoiled((good) => {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) return;
          isClosed = true;
          await good.close();
        },
      };
    }),
  ],
];

const allCases = schedulerCases(() => ({ scheduler: bounded() })).map(({ name }) => name);

describe('the suite of schedulers', () => {
  it.each([undefined, 1, 3, 1000])('passes our own one with the limit of %s', async (limit) => {
    expect(await failures(schedulerCases(() => ({ scheduler: bounded(limit) })))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(schedulerCases(create))).toContain(caught);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('says what is wrong in words', async () => {
    const lazy = schedulerCases(spoiled(() => ({ spawn: () => {} })));
    expect(await complaint(lazy, 'runs every job once, however many there are')).toMatch(/^0 of 500 jobs were run\n/);
  });
});
