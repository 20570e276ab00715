/** Events of one object that wait for the event handlers: all of them in order, as long as the handlers keep up. */
import type { Logger, Settings } from '@kopf-ts/core';
import type { WatchedEvent } from '@kopf-ts/core/engine';

export const NO_EVENTS: readonly WatchedEvent[] = [];

/** The deletion is never dropped: it is the last event of all. */
export class Backlog {
  readonly #settings: Pick<Settings['queueing'], 'eventsLimit'>;
  readonly #logger: Logger;
  #waiting: WatchedEvent[] | undefined;
  #dropped = 0;

  constructor(settings: Pick<Settings['queueing'], 'eventsLimit'>, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
  }

  get size(): number {
    return this.#waiting?.length ?? 0;
  }

  push(event: WatchedEvent): void {
    if (this.#waiting === undefined) {
      this.#waiting = [event];
      return;
    }
    this.#waiting.push(event);
    while (this.#waiting.length > Math.max(1, this.#settings.eventsLimit)) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
  }

  /** All of them, oldest first. */
  take(): readonly WatchedEvent[] {
    if (this.#waiting === undefined) return NO_EVENTS;
    const taken = this.#waiting;
    this.#waiting = undefined;
    if (this.#dropped > 0) {
      this.#logger.warn(
        `${this.#dropped} events of the object were dropped: its event handlers are slower than its changes. ` +
          'See settings.queueing.eventsLimit.',
      );
      this.#dropped = 0;
    }
    return taken;
  }
}
