/** One turn of one object's worker. */
interface Job {
  readonly name: string;
  /**
   * The reason for urgency: `deletion`, if we hold an object that is being deleted; `first`, if the object has never
   * been processed. A scheduler may prefer these, or ignore the difference; but all jobs get their turns.
   */
  readonly occasion?: 'first' | 'deletion' | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Runs the per-object workers. Replace it to prioritise, to limit, or to count them.
 *
 * ```ts
 * const counted = (inner: kopf.Scheduler): kopf.Scheduler => ({
 *   get size() {
 *     return inner.size;
 *   },
 *   failed: inner.failed,
 *   spawn(job) {
 *     logger.debug(`${job.name} is one of ${inner.size}.`);
 *     inner.spawn(job);
 *   },
 *   close: () => inner.close(),
 * });
 * ```
 */
export interface Scheduler {
  readonly size: number;
  /** Starts now or later, never twice; errors go to `failed`, not to the caller. */
  spawn(job: Job): void;
  /** Rejects with the first error of any job. */
  readonly failed: Promise<never>;
  /** Aborts what runs, forgets what waits. */
  close(): Promise<void>;
}
