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
  const begunAt = clock.utc().getTime();
  const base = clock.now();
  const at = (monotonic: Seconds): Date => new Date(Math.round(begunAt + (monotonic - base) * 1000));
  return {
    now: () => at(clock.now()),
    at,
    monotonic: (moment) => base + (moment.getTime() - begunAt) / 1000,
  };
}

export function secondsBetween(from: Date, to: Date): Seconds {
  return (to.getTime() - from.getTime()) / 1000;
}

export function after(moment: Date, delay: Seconds): Date {
  return new Date(Math.round(moment.getTime() + delay * 1000));
}
