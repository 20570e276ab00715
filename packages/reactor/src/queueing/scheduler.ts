/** Who of the workers runs now, and who waits for its turn. */
import { KopfError, type Logger, type Scheduler } from '@kopf-ts/core';
import { describeError, isCancellation, toError } from '@kopf-ts/core/engine';

type Job = Parameters<Scheduler['spawn']>[0];

export interface BoundedSchedulerOptions {
  /** How many jobs run at once; `undefined` for all. Asked at each start, so it may change at any time. */
  readonly limit: () => number | undefined;
  readonly logger: Logger;
}

interface Waiting {
  readonly job: Job;
  next: Waiting | undefined;
}

/**
 * A scheduler that runs a limited number of jobs at once, in the order of their coming: whoever has got its turn and
 * comes again is behind all the others. `size` is of those running and waiting together.
 */
export function boundedScheduler({ limit, logger }: BoundedSchedulerOptions): Scheduler {
  // All jobs share one signal, and the queue is a chain: there are thousands of jobs, and most are very short.
  const closing = new AbortController();
  const { signal } = closing;
  let first: Waiting | undefined;
  let last: Waiting | undefined;
  let waiting = 0;
  let running = 0;
  let isStarting = false;
  let hasFailed = false;
  let closed: Promise<void> | undefined;
  let onIdle = (): void => {};

  let reject: (error: unknown) => void;
  const failed = new Promise<never>((_resolve, rejectFailed) => {
    reject = rejectFailed;
  });
  // Whoever wants to know, looks there; but nobody has to.
  failed.catch(() => {});

  const fail = (job: Job, error: unknown): void => {
    if (isCancellation(error, signal)) return;
    // Of the first error, those will tell who wait for it; there is nobody for the others.
    if (hasFailed || signal.aborted) {
      logger.error(`${job.name} has failed: ${describeError(error)}`, { error: toError(error) });
    }
    hasFailed = true;
    reject(error);
  };

  const end = (): void => {
    running -= 1;
    startAll();
    if (running === 0) onIdle();
  };

  const start = (job: Job): void => {
    running += 1;
    let run: Promise<void>;
    try {
      run = job.run(signal);
    } catch (error) {
      run = Promise.reject(error);
    }
    run.then(end, (error: unknown) => {
      fail(job, error);
      end();
    });
  };

  const startAll = (): void => {
    // A job may spawn others as soon as it is called: they are taken by the loop that has called it.
    if (isStarting) return;
    isStarting = true;
    while (first !== undefined && running < atLeastOne(limit())) {
      const { job, next } = first;
      first = next;
      if (next === undefined) last = undefined;
      waiting -= 1;
      start(job);
    }
    isStarting = false;
  };

  return {
    get size() {
      return running + waiting;
    },
    failed,
    spawn(job) {
      if (signal.aborted) return;
      const newcomer: Waiting = { job, next: undefined };
      if (last === undefined) first = newcomer;
      else last.next = newcomer;
      last = newcomer;
      waiting += 1;
      startAll();
    },
    close() {
      closed ??= new Promise((resolve) => {
        onIdle = resolve;
        first = undefined;
        last = undefined;
        waiting = 0;
        closing.abort(new KopfError('The workers are being stopped.', { code: 'KOPF_STOPPED' }));
        if (running === 0) resolve();
      });
      return closed;
    },
  };
}

/** A limit of nothing would be a silent standstill. */
function atLeastOne(limit: number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  return limit >= 1 ? limit : 1;
}
