/** How a watch-stream is doing: for the logs, where it is told once per change, and for the probes. */
import { ApiError, describeError, toError } from '../errors.js';
import type { Clock, Seconds } from '../seams/clock.js';
import type { Logger } from '../seams/logger.js';
import { isUndecodable } from './malformed.js';

export interface StreamState {
  readonly state: 'listing' | 'watching' | 'down' | 'paused';
  /** When it has come into this state; by the monotonic clock. */
  readonly since: Seconds;
  /** When anything at all was last received; always up to date, also in an older state. */
  readonly lastEventAt: Seconds | undefined;
  /**
   * When it was last known to work: something was received, or the server has agreed to watch, be there anything to
   * tell or not. Up to date as well. This one moves on also for a stream of what never changes.
   */
  readonly lastGoodAt?: Seconds | undefined;
  /** Why it is down. */
  readonly error: Error | undefined;
}

export interface StreamHealth {
  /** The stream tries to do this. If it is down, it stays down until it succeeds. */
  enter(state: 'listing' | 'watching' | 'paused'): void;
  /** Something was received. */
  touch(): void;
  /** A part of something was received: too little to tell what it is, but enough to see that it works. */
  progress(): void;
  /** It did not work. */
  fail(what: 'listing' | 'watching', error: unknown): void;
  /** It works now. A listing tells nothing of a failed watching; a watching tells of both. */
  succeed(what: 'listing' | 'watching'): void;
}

export interface StreamHealthOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How to name the stream in logs. */
  readonly title: string;
  readonly onState?: ((state: StreamState) => void) | undefined;
  /** Failures that somebody else tells of in better words: here, only those who debug see them. */
  readonly isToldElsewhere?: ((error: Error) => boolean) | undefined;
}

interface Downtime {
  readonly since: Seconds;
  what: 'listing' | 'watching';
  kind: string;
}

export function streamHealth({ clock, logger, title, onState, isToldElsewhere }: StreamHealthOptions): StreamHealth {
  let lastEventAt: Seconds | undefined;
  let lastGoodAt: Seconds | undefined;
  let current: StreamState['state'] | undefined;
  let downtime: Downtime | undefined;

  const report = (state: StreamState['state'], since: Seconds, error?: Error): void => {
    current = state;
    onState?.({
      state,
      since,
      error,
      get lastEventAt() {
        return lastEventAt;
      },
      get lastGoodAt() {
        return lastGoodAt;
      },
    });
  };

  return {
    enter(state) {
      if (state === 'paused') downtime = undefined;
      if (downtime === undefined && current !== state) report(state, clock.now());
    },
    touch() {
      lastEventAt = clock.now();
      lastGoodAt = lastEventAt;
    },
    progress() {
      lastGoodAt = clock.now();
    },
    fail(what, thrown) {
      const error = toError(thrown);
      const kind = kindOf(error);
      const isNews = downtime?.kind !== kind;
      if (downtime === undefined) downtime = { since: clock.now(), what, kind };
      // Once the watching has failed, it takes a working watching to believe that all is well.
      else downtime.kind = kind;
      if (what === 'watching') downtime.what = what;
      const message = `The watch-stream for ${title} is down: ${describeError(error)}`;
      if (!isNews) {
        logger.debug(message);
        return;
      }
      const since = new Date(clock.utc().getTime() - (clock.now() - downtime.since) * 1000).toISOString();
      logger[isToldElsewhere?.(error) ? 'debug' : 'warn'](message, { since });
      // What is wrong is elsewhere, and is told by the message; where in the code that was noticed is for developers.
      logger.debug(`The watch-stream for ${title} has failed at:`, { error });
      report('down', downtime.since, error);
    },
    succeed(what) {
      lastGoodAt = clock.now();
      if (downtime === undefined || (what === 'listing' && downtime.what === 'watching')) return;
      const seconds = Math.round((clock.now() - downtime.since) * 10) / 10;
      downtime = undefined;
      logger.info(`The watch-stream for ${title} works again, after ${seconds} seconds of being down.`);
      report(what, clock.now());
    },
  };
}

/**
 * Errors of the same kind are the same news, even if their texts differ in numbers and names. Clients have other errors
 * for a line that is no JSON than for a whole answer; but whoever is between us and the server, it is the same trouble.
 */
function kindOf(error: Error): string {
  if (isUndecodable(error)) return 'undecodable';
  return error instanceof ApiError ? `HTTP ${error.status}` : error.name;
}
