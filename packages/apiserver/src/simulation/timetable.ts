/** What is to be looked at again, and when; there is one sleeper for all of it. */
import type { Clock, Seconds } from '@kopf-ts/core';

export class Timetable {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #due = new Map<string, Seconds>();
  readonly #stopping = new AbortController();
  #rescheduled = new AbortController();
  #wakeupAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Instead of what was planned for the key before. */
  plan(key: string, delay: Seconds | undefined): void {
    if (delay === undefined) {
      this.#due.delete(key);
      return;
    }
    const due = this.#clock.now() + Math.max(0, delay);
    this.#due.set(key, due);
    if (due < this.#wakeupAt) this.#sleepUntil(due);
  }

  stop(): void {
    this.#stopping.abort();
    this.#due.clear();
  }

  #sleepUntil(due: Seconds): void {
    this.#wakeupAt = due;
    this.#rescheduled.abort();
    const rescheduled = new AbortController();
    this.#rescheduled = rescheduled;
    const options = { wakeup: rescheduled.signal, signal: this.#stopping.signal };
    this.#clock.sleep(due - this.#clock.now(), options).then(
      () => {
        if (!rescheduled.signal.aborted) this.#ring();
      },
      () => {},
    );
  }

  #ring(): void {
    this.#wakeupAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [key, due] of [...this.#due]) {
      if (due <= now) {
        this.#due.delete(key);
        this.#onDue(key);
      } else next = Math.min(next, due);
    }
    if (next < Number.POSITIVE_INFINITY) this.#sleepUntil(next);
  }
}
