/** The health of a watch stream: for the logs, which report each change once, and for the observers. */
import { ApiError, describeError, toError } from '../../errors.js';
import type { Facts } from '../../observing/facts.js';
import type { Clock, Seconds } from '../../seams/clock.js';
import type { Logger } from '../../seams/logger.js';
import type { WatchTarget } from '../../values/resources/watch-target.js';
import { isUndecodable } from './objects/malformed.js';

export interface StreamHealthOptions {
  readonly target: WatchTarget;
  /** The target in logs. */
  readonly title: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly facts: Facts;
  readonly onTrouble?: ((error: Error | undefined) => void) | undefined;
  readonly isReportedElsewhere?: ((error: Error) => boolean) | undefined;
}

interface Downtime {
  readonly since: Seconds;
  what: 'listing' | 'watching';
  kind: string;
}

type Phase = 'listing' | 'watching' | 'down' | 'paused';

export class StreamHealth {
  readonly #options: StreamHealthOptions;
  #phase: Phase | undefined;
  #downtime: Downtime | undefined;
  #lastEventAt: Seconds | undefined;
  #lastGoodAt: Seconds | undefined;

  constructor(options: StreamHealthOptions) {
    this.#options = options;
  }

  /** The stream starts this phase. If it is down, it stays down until that succeeds. */
  enter(phase: 'listing' | 'watching' | 'paused'): void {
    const { clock, onTrouble } = this.#options;
    if (phase === 'paused' && this.#downtime !== undefined) {
      this.#downtime = undefined;
      onTrouble?.(undefined);
    }
    if (this.#downtime === undefined && this.#phase !== phase) this.#tell(phase, clock.now());
  }

  /** Something was received. */
  touch(at: Seconds): void {
    this.#lastEventAt = at;
    this.#lastGoodAt = at;
  }

  /** A part of a line was received: too little to know what it is, but enough to show that the stream works. */
  progress(at: Seconds): void {
    this.#lastGoodAt = at;
  }

  /** The attempt failed. */
  fail(what: 'listing' | 'watching', thrown: unknown): void {
    const { clock, logger, title, signal, onTrouble, isReportedElsewhere } = this.#options;
    const error = toError(thrown);
    const kind = kindOf(error);
    const isNews = this.#downtime?.kind !== kind;
    this.#downtime ??= { since: clock.now(), what, kind };
    this.#downtime.kind = kind;
    // After a failed watch, only a working watch proves that all is well.
    if (what === 'watching') this.#downtime.what = what;
    const message = `The watch-stream for ${title} is down: ${describeError(error)}`;
    if (!isNews) {
      logger.debug(message);
      return;
    }
    const { since } = this.#downtime;
    const sinceWhen = new Date(clock.utc().getTime() - (clock.now() - since) * 1000).toISOString();
    logger[isReportedElsewhere?.(error) ? 'debug' : 'warn'](message, { since: sinceWhen });
    // The message tells what is wrong, which is outside of this code; the stack is for developers.
    logger.debug(`The watch-stream for ${title} has failed at:`, { error });
    onTrouble?.(error);
    // If the caller gives the stream up because of it, no stream is down.
    if (!signal.aborted) this.#tell('down', since, error);
  }

  /** It works now. A successful listing says nothing about a failed watch; a working watch proves both. */
  succeed(what: 'listing' | 'watching'): void {
    const { clock, logger, title, onTrouble } = this.#options;
    this.#lastGoodAt = clock.now();
    const downtime = this.#downtime;
    if (downtime === undefined || (what === 'listing' && downtime.what === 'watching')) return;
    const seconds = Math.round((clock.now() - downtime.since) * 10) / 10;
    this.#downtime = undefined;
    logger.info(`The watch-stream for ${title} works again, after ${seconds} seconds of downtime.`);
    onTrouble?.(undefined);
    this.#tell(what, clock.now());
  }

  #tell(phase: Phase, since: Seconds, error?: Error): void {
    const { facts, target } = this.#options;
    this.#phase = phase;
    if (!facts.wants['stream.phase']) return;
    const lastEventAt = (): Seconds | undefined => this.#lastEventAt;
    const lastGoodAt = (): Seconds | undefined => this.#lastGoodAt;
    facts.tell({
      kind: 'stream.phase',
      stream: target,
      phase,
      since,
      error,
      get lastEventAt() {
        return lastEventAt();
      },
      get lastGoodAt() {
        return lastGoodAt();
      },
    });
  }
}

/**
 * Errors of the same kind are the same news, even if their texts differ in numbers and names. Clients have other errors
 * for a line that is no JSON than for a whole answer; but it is the same trouble, between us and the server.
 */
function kindOf(error: Error): string {
  if (isUndecodable(error)) return 'undecodable';
  return error instanceof ApiError ? `HTTP ${error.status}` : error.name;
}
