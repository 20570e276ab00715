/**
 * A duration; all durations of the framework are in seconds, as in Kubernetes and in Kopf.
 *
 * ```ts
 * const hour: kopf.Seconds = 60 * 60;
 * ```
 */
export type Seconds = number;

/**
 * The only source of time: no other module reads the wall clock or sets a timer.
 *
 * ```ts
 * const started = clock.now();
 * await clock.sleep(5, { signal });
 * logger.info(`Slept for ${clock.now() - started} s until ${clock.utc().toISOString()}.`);
 * ```
 */
export interface Clock {
  /** Monotonic, for durations and deadlines. */
  now(): Seconds;
  /** Wall-clock time in UTC, for persisted times. It moves together with `now()`. */
  utc(): Date;
  /**
   * Resolves with `undefined` after the full delay, or with the remaining seconds when `wakeup` is aborted first.
   * Rejects with the signal's reason when `signal` is aborted. A delay of zero or less only yields.
   */
  sleep(
    delay: Seconds,
    options?: { readonly wakeup?: AbortSignal; readonly signal?: AbortSignal },
  ): Promise<Seconds | undefined>;
  /**
   * Calls the function after the delay unless cancelled by the returned function. Optional: equivalent to sleeping, but
   * cheaper, which matters for a timer per request.
   */
  alarm?(delay: Seconds, fn: () => void): () => void;
}
