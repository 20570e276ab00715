/** Which workers run now, and which wait for their turn. */
import { type Clock, KopfError, type Logger, type Scheduler, type Seconds } from '@kopf-ts/core';
import { alarm, describeError, isCancellation, toError } from '@kopf-ts/core/engine';
import { type Job, JobQueue } from './job-queue.js';

/**
 * The limit, and how to report long waits.
 *
 * ```ts
 * const options: kopf.reactor.BoundedSchedulerOptions = { limit: () => 10, logger, clock, title: 'pods.v1' };
 * ```
 */
export interface BoundedSchedulerOptions {
  /** The maximum number of running jobs; `undefined` for no limit. Read at each start, so it may change at any time. */
  readonly limit: () => number | undefined;
  readonly logger: Logger;
  /** Without it, long waits are not reported. */
  readonly clock?: Clock | undefined;
  /** The owner of the workers, for logs: `pods.v1`. */
  readonly title?: string | undefined;
}

/** How long a job may wait before a warning that the limit is too low. */
const TOLD_AFTER: Seconds = 5;
/** How often to repeat the warning. */
const TOLD_EVERY: Seconds = 600;

/** From the least urgent to the most. */
const LEVELS = [undefined, 'first', 'deletion'] as const;
const MOST_URGENT = LEVELS.length - 1;

/**
 * A scheduler that runs a limited number of jobs at once in the order of arrival: a job that comes again after its turn
 * goes to the end. `size` counts running and waiting jobs.
 *
 * Deletions and first looks at objects have lines of their own. The lines take turns, so nobody starves; and a few
 * places are kept free for each of the urgent ones, so that they need not wait until slow handlers end.
 *
 * ```ts
 * await kopf.run({ scheduler: () => kopf.reactor.boundedScheduler({ limit: () => 10, logger }) });
 * ```
 */
export function boundedScheduler({ limit, logger, clock, title }: BoundedSchedulerOptions): Scheduler {
  // All jobs share one signal: there are thousands of jobs, and most are very short.
  const closing = new AbortController();
  const { signal } = closing;
  const queues = LEVELS.map(() => new JobQueue());
  /** The number of running jobs by level. */
  const running = LEVELS.map(() => 0);
  let allRunning = 0;
  let allWaiting = 0;
  /** The level that had the last turn. */
  let lastTurn = 0;
  let forgetAlarm: (() => void) | undefined;
  let isStarting = false;
  let hasFailed = false;
  let closed: Promise<void> | undefined;
  let onIdle = (): void => {};

  let reject: (error: unknown) => void;
  const failed = new Promise<never>((_resolve, rejectFailed) => {
    reject = rejectFailed;
  });
  // The caller may look there, but does not have to.
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

  /** Less urgent jobs leave some places to more urgent ones. */
  const hasPlace = (level: number): boolean => {
    const places = atLeastOne(limit());
    if (places === Number.POSITIVE_INFINITY) return true;
    const reserved = Math.floor(places * RESERVED_SHARE);
    let upToLevel = 0;
    for (let each = 0; each <= MOST_URGENT; each++) {
      upToLevel += running[each] ?? 0;
      if (each >= level && upToLevel >= places - (MOST_URGENT - each) * reserved) return false;
    }
    return true;
  };

  /** The level whose turn it is: in a circle, past those where nobody waits or may begin. */
  const nextLevel = (): number | undefined => {
    for (let step = 1; step <= LEVELS.length; step++) {
      const level = (lastTurn + LEVELS.length - (step % LEVELS.length)) % LEVELS.length;
      if ((queues[level]?.size ?? 0) > 0 && hasPlace(level)) return level;
    }
    return undefined;
  };

  /** Watches the waiting jobs as long as there are any. */
  const lookAfter = (delay: Seconds): void => {
    if (clock === undefined || forgetAlarm !== undefined) return;
    forgetAlarm = alarm(clock, delay, () => {
      forgetAlarm = undefined;
      const oldest = Math.min(...queues.map((queue) => queue.oldest ?? Number.POSITIVE_INFINITY));
      if (oldest === Number.POSITIVE_INFINITY) return;
      const waited = clock.now() - oldest;
      if (waited < TOLD_AFTER) return lookAfter(TOLD_AFTER - waited);
      logger.warn(
        `${allWaiting} objects${title === undefined ? '' : ` of ${title}`} wait for their turn, up to ` +
          `${Math.round(waited)} seconds so far: ${allRunning} others are being handled, and ` +
          `settings.queueing.workerLimit is ${limit()}. Raise it, or let the handlers take less time.`,
      );
      lookAfter(TOLD_EVERY);
    });
  };

  const end = (level: number): void => {
    running[level] = (running[level] ?? 0) - 1;
    allRunning -= 1;
    if (allWaiting > 0) startAll();
    if (allRunning === 0) onIdle();
  };

  const start = (job: Job, level: number): void => {
    lastTurn = level;
    running[level] = (running[level] ?? 0) + 1;
    allRunning += 1;
    let run: Promise<void>;
    try {
      run = job.run(signal);
    } catch (error) {
      run = Promise.reject(error);
    }
    run.then(
      () => end(level),
      (error: unknown) => {
        fail(job, error);
        end(level);
      },
    );
  };

  const startAll = (): void => {
    // A job may spawn others as soon as it is called: they are taken by the loop that has called it.
    if (isStarting) return;
    isStarting = true;
    for (let level = nextLevel(); level !== undefined; level = nextLevel()) {
      const job = queues[level]?.take();
      allWaiting -= 1;
      if (job !== undefined) start(job, level);
    }
    isStarting = false;
    if (allWaiting > 0) lookAfter(TOLD_AFTER);
  };

  return {
    get size() {
      return allRunning + allWaiting;
    },
    failed,
    spawn(job) {
      if (signal.aborted) return;
      const level = LEVELS.indexOf(job.occasion);
      // Usually, there is a free place, and no other job waits for it.
      if (!isStarting && allWaiting === 0 && hasPlace(level)) {
        isStarting = true;
        start(job, level);
        isStarting = false;
      } else {
        queues[level]?.put(job, clock?.now() ?? 0);
        allWaiting += 1;
      }
      if (allWaiting > 0) startAll();
    },
    close() {
      closed ??= new Promise((resolve) => {
        onIdle = resolve;
        forgetAlarm?.();
        for (const queue of queues) queue.clear();
        allWaiting = 0;
        closing.abort(new KopfError('The workers are being stopped.', { code: 'KOPF_STOPPED' }));
        if (allRunning === 0) resolve();
      });
      return closed;
    },
  };
}

/** How many places are kept for each of the urgent levels. Where there are few, all are for all. */
const RESERVED_SHARE = 1 / 20;

/** A limit of nothing would be a silent standstill. */
function atLeastOne(limit: number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  return limit >= 1 ? limit : 1;
}
