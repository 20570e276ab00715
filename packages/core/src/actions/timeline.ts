/** Wall-clock time that never jumps: read once, then moved by the monotonic clock alone. */
import type { Clock, Seconds } from '../seams/clock.js';

export interface Timeline {
  /** In whole milliseconds, as it is persisted. */
  now(): Date;
}

/** Begins now. Everything decided on one timeline is coherent, whatever happens to the system's time meanwhile. */
export function timelineOf(clock: Clock): Timeline {
  const begunAt = clock.utc().getTime();
  const base = clock.now();
  return { now: () => new Date(Math.round(begunAt + (clock.now() - base) * 1000)) };
}

export function secondsBetween(from: Date, to: Date): Seconds {
  return (to.getTime() - from.getTime()) / 1000;
}

export function after(moment: Date, delay: Seconds): Date {
  return new Date(Math.round(moment.getTime() + delay * 1000));
}
