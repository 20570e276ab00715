/** Moments that can be compared between processes: milliseconds of the system's monotonic clock. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The same moment by the wall clock, as others write it into their logs. To half a millisecond. */
export function wallClockOf(moment: number): number {
  return Date.now() + 0.5 - (now() - moment);
}
