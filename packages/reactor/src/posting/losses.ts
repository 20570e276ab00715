/** Losses of events, as they are told in the logs: none of them is silent, and all of them together are not loud. */
import type { Clock, Logger, Seconds } from '@kopf-ts/core';

export interface LossReport {
  /** So many are dropped, as there is no room. */
  dropped(count: number): void;
  /** So many different ones are posted as one. */
  merged(count: number): void;
  /** When there will be something to report; `undefined` if there is nothing. */
  readonly nextAt: Seconds | undefined;
  report(options?: { readonly isLast?: boolean }): void;
}

/** Tells of losses: of the first one at once, and then only from time to time, as there may be very many of them. */
export function lossReport(clock: Clock, logger: Logger, interval: Seconds): LossReport {
  let dropped = 0;
  let merged = 0;
  let reportAt = Number.NEGATIVE_INFINITY;

  const report = ({ isLast = false } = {}): void => {
    if (dropped + merged === 0 || (!isLast && clock.now() < reportAt)) return;
    if (merged > 0)
      logger.warn(`Too many events about the same objects: ${countedEvents(merged)} posted as summaries.`);
    if (dropped > 0) logger.warn(`Too many events at once: ${countedEvents(dropped)} dropped, the oldest first.`);
    dropped = 0;
    merged = 0;
    reportAt = clock.now() + interval;
  };

  return {
    dropped(count) {
      dropped += count;
      if (count > 0) report();
    },
    merged(count) {
      merged += count;
    },
    get nextAt() {
      return dropped + merged > 0 ? reportAt : undefined;
    },
    report,
  };
}

export function countedEvents(count: number): string {
  return count === 1 ? '1 event is' : `${count} events are`;
}
