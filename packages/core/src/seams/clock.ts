/**
 * A duration; all durations of the framework are in seconds, as in Kubernetes and in Kopf.
 *
 * ```ts
 * const hour: kopf.Seconds = 60 * 60;
 * ```
 */
export type Seconds = number;

/**
 * All the time there is: no other module reads the wall clock or sets a timer.
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
  /** Wall-clock UTC, for what is persisted. Moves together with `now()`. */
  utc(): Date;
  /**
   * Resolves with `undefined` when slept in full, or with the seconds left unslept when `wakeup` fires first.
   * Rejects with the signal's reason when `signal` fires. A delay of zero or less does not sleep, but yields.
   */
  sleep(
    delay: Seconds,
    options?: { readonly wakeup?: AbortSignal; readonly signal?: AbortSignal },
  ): Promise<Seconds | undefined>;
  /**
   * Calls the function after the delay, unless cancelled before by what is returned. Optional: it is the same as
   * sleeping, but costs less, and there is one for each request.
   */
  alarm?(delay: Seconds, fn: () => void): () => void;
}
