/** Events of one object that wait for the handlers of events: every one of them in order, as long as they keep up. */
import type { Logger } from '@kopf-ts/core';
import type { WatchedEvent } from '@kopf-ts/core/engine';

export interface Backlog {
  readonly size: number;
  push(event: WatchedEvent): void;
  /** All of them, oldest first. */
  take(): readonly WatchedEvent[];
}

export interface BacklogOptions {
  readonly limit: () => number;
  readonly logger: Logger;
}

const NOTHING: readonly WatchedEvent[] = [];

/** The deletion is never dropped: it is the last event of all. */
export function backlog({ limit, logger }: BacklogOptions): Backlog {
  let waiting: WatchedEvent[] | undefined;
  let dropped = 0;
  return {
    get size() {
      return waiting?.length ?? 0;
    },
    push(event) {
      waiting ??= [];
      waiting.push(event);
      while (waiting.length > Math.max(1, limit())) {
        waiting.shift();
        dropped += 1;
      }
    },
    take() {
      if (waiting === undefined) return NOTHING;
      const taken = waiting;
      waiting = undefined;
      if (dropped > 0) {
        logger.warn(
          `${dropped} events of the object were dropped: its event handlers are slower than its changes. ` +
            'See settings.queueing.eventsLimit.',
        );
        dropped = 0;
      }
      return taken;
    },
  };
}
