/** A queue of keys and someone who works on them, one after another. */
import { ApiConflictError, ApiNotFoundError, type Clock } from '@kopf-ts/core';
import type { RunningController } from '../contracts/controller.js';

const FIRST_DELAY = 0.1;
const LONGEST_DELAY = 60;

/** What is enqueued while it is being worked on is worked on again. Failures are tried again, later and later. */
export class Worker implements RunningController {
  readonly #clock: Clock;
  readonly #work: (key: string) => Promise<void>;
  readonly #queue = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(clock: Clock, work: (key: string) => Promise<void>) {
    this.#clock = clock;
    this.#work = work;
  }

  /** Is there nothing to do now? What failed and waits for its time does not count: nobody can hurry it. */
  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Remembers how to stop what fills the queue: it is stopped together with the work. */
  fedBy(stopFeeding: () => void): this {
    this.#stopping.signal.addEventListener('abort', stopFeeding);
    return this;
  }

  enqueue(key: string): void {
    if (this.#stopping.signal.aborted) return;
    this.#queue.add(key);
    // Not at once: the caller is in the midst of the change that it reports.
    this.#running ??= Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined;
      });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#queue.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const key of this.#queue) {
      this.#queue.delete(key);
      try {
        await this.#work(key);
        this.#failures.delete(key);
      } catch (error) {
        this.#retryLater(key, error);
      }
    }
  }

  #retryLater(key: string, error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    // It has changed or gone in the meantime; that is reported as well, and costs nothing to look at.
    if (error instanceof ApiNotFoundError) return;
    if (error instanceof ApiConflictError) {
      this.#queue.add(key);
      return;
    }
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** failures);
    this.#clock.sleep(delay, { signal: this.#stopping.signal }).then(
      () => this.enqueue(key),
      () => {},
    );
  }
}
