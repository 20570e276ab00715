/** What a watch-stream is asked for, and what comes out of it. */
import type { Facts } from '../../observing/facts.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { Clock } from '../../seams/clock.js';
import type { Logger } from '../../seams/logger.js';
import type { Settings } from '../../settings.js';
import type { ToggleView } from '../../sync/named-toggle.js';
import type { WatchEvent } from '../../values/objects/body.js';
import type { ConnectionLimiter } from './connection-limiter.js';

/** An object that exists or has changed; `vanished` marks objects whose deletion was not seen, but only concluded. */
export interface WatchedEvent extends WatchEvent {
  readonly vanished?: true;
}

/**
 * What comes from a watch-stream: objects (`type` is `null` in a listing), and the marks:
 *
 * - `LISTED`: a listing is complete;
 * - `REWOUND`: the cluster was restored to an earlier state, so versions that were seen before mean nothing any more:
 *   what comes from now on is newer, though its versions may be lower. A listing follows.
 */
export type WatchSignal = WatchedEvent | { readonly type: 'LISTED' } | { readonly type: 'REWOUND' };

/** Takes the signals one by one. If it returns a promise, the stream waits for it. It must not throw. */
export type Emit = (signal: WatchSignal) => Awaitable<void>;

/** What is known of the server. Shared by all streams of a client, so that it has to be found out only once. */
export interface ServerCapabilities {
  /** Can a list come as a stream of events, without ever being in memory as a whole? Unknown if absent. */
  streamingLists?: boolean | undefined;
}

export interface WatchOptions {
  readonly settings: Pick<Settings, 'watching' | 'networking'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The only way to end the stream. */
  readonly signal: AbortSignal;
  /** While it is on, there are no requests; afterwards, the stream begins with a new listing. */
  readonly paused?: ToggleView | undefined;
  readonly capabilities?: ServerCapabilities | undefined;
  /** Shared by all streams of a process. Each stream has a limit of its own besides that. */
  readonly limiter?: ConnectionLimiter | undefined;
  readonly pageSize?: number | undefined;
  readonly random?: (() => number) | undefined;
  /** Where the stream tells its facts. */
  readonly facts?: Facts | undefined;
  /**
   * For callers that do something else while the stream is down: called with the reason, again when the reason changes,
   * and with `undefined` when the stream works again. Observers cannot serve for that, as they influence nothing.
   */
  readonly onTrouble?: ((error: Error | undefined) => void) | undefined;
  /** Failures that the caller reports in better words: the stream itself reports them at the debug level only. */
  readonly isReportedElsewhere?: ((error: Error) => boolean) | undefined;
}
