/** Wall-clock time that never jumps: read once, then moved by the monotonic clock alone. */
import type { Clock, Seconds } from '../../seams/clock.js';

export interface Timeline {
  /** In whole milliseconds, as it is persisted. */
  now(): Date;
  /** The moment of a reading of the monotonic clock. */
  at(monotonic: Seconds): Date;
  /** What the monotonic clock shows at the moment. */
  monotonic(moment: Date): Seconds;
}

/** Begins now. Everything decided on one timeline is coherent, whatever happens to the system's time meanwhile. */
export function timelineOf(clock: Clock): Timeline {
  return new ClockedTimeline(clock);
}

/** A class, since each daemon that runs holds one. */
class ClockedTimeline implements Timeline {
  readonly #clock: Clock;
  readonly #begunAt: number;
  readonly #base: Seconds;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begunAt = clock.utc().getTime();
    this.#base = clock.now();
  }

  now(): Date {
    return this.at(this.#clock.now());
  }

  at(monotonic: Seconds): Date {
    return new Date(Math.round(this.#begunAt + (monotonic - this.#base) * 1000));
  }

  monotonic(moment: Date): Seconds {
    return this.#base + (moment.getTime() - this.#begunAt) / 1000;
  }
}

export function secondsBetween(from: Date, to: Date): Seconds {
  return (to.getTime() - from.getTime()) / 1000;
}

export function after(moment: Date, delay: Seconds): Date {
  return new Date(Math.round(moment.getTime() + delay * 1000));
}
