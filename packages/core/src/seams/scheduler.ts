/** Runs the per-object workers. Replace it to prioritise, to limit, or to count them. */
export interface Scheduler {
  readonly size: number;
  /** Starts now or later, never twice; errors go to `failed`, not to the caller. */
  spawn(job: { name: string; run: (signal: AbortSignal) => Promise<void> }): void;
  /** Rejects with the first error of any job. */
  readonly failed: Promise<never>;
  /** Aborts what runs, forgets what waits. */
  close(): Promise<void>;
}
