/** What a watch-stream is asked for, and what it is made of. */
import type { Awaitable } from '../seams/awaitable.js';
import type { KubeClient } from '../seams/client.js';
import type { Clock, Seconds } from '../seams/clock.js';
import type { Logger } from '../seams/logger.js';
import type { Settings } from '../settings.js';
import type { ToggleView } from '../sync/named-toggle.js';
import type { WatchEvent } from '../values/objects/body.js';
import { formatResource, type Resource, resourceUrl } from '../values/resources/resource.js';
import { type KnownObjects, knownObjects } from './known-objects.js';
import { type AttemptLimiter, attemptLimiter } from './limiter.js';
import { type MalformedObjects, malformedObjects } from './malformed.js';
import { type StreamHealth, type StreamState, streamHealth } from './stream-health.js';

/** An object that exists or has changed; `vanished` marks those whose deletion we have not seen, but only concluded. */
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

/** What is known of the server. Shared by all streams of a client, so that it has to be found out only once. */
export interface ServerCapabilities {
  /** Can a list come as a stream of events, without ever being in memory as a whole? Unknown if absent. */
  streamingLists?: boolean | undefined;
}

export interface WatchOptions {
  /** Of all namespaces unless given. */
  readonly namespace?: string | undefined;
  /** Only the objects with these fields: usually, `metadata.name=<name>` for one of them. */
  readonly fieldSelector?: string | undefined;
  readonly settings: Pick<Settings, 'watching' | 'networking'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The only way to end the stream. */
  readonly signal: AbortSignal;
  /** While it is on, there are no requests; afterwards, the stream begins with a new listing. */
  readonly paused?: ToggleView | undefined;
  /** What to remember of each object, for telling of those that vanish unseen. Default: `identity`. */
  readonly remember?: 'bodies' | 'identity' | undefined;
  readonly capabilities?: ServerCapabilities | undefined;
  /** Shared by all streams of a process. Each stream has a limit of its own besides that. */
  readonly limiter?: AttemptLimiter | undefined;
  readonly pageSize?: number | undefined;
  readonly random?: (() => number) | undefined;
  readonly onState?: ((state: StreamState) => void) | undefined;
  /** Failures that the caller tells of in better words: the stream itself tells of them only to those who debug. */
  readonly isToldElsewhere?: ((error: Error) => boolean) | undefined;
}

/** Whatever happens, no stream makes more attempts than this in the long run. */
const STREAM_LIMITS = { perSecond: 1, burst: 10 };

/** The stream as it lives through all its states. */
export interface Stream extends WatchOptions {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly title: string;
  readonly capabilities: ServerCapabilities;
  readonly random: () => number;
  readonly known: KnownObjects;
  readonly malformed: MalformedObjects;
  readonly health: StreamHealth;
  readonly pacer: AttemptLimiter;
  /** Not the same as of the server: it can have other servers behind it. */
  canStreamLists: boolean;
  /** The highest version that was seen. */
  newest: string | undefined;
  /** There was a trouble since the version of the server was last known: it may have been restored meanwhile. */
  isVersionDoubtful: boolean;
  /** How many times a line could not be decoded, since the last event that was understood. */
  undecodables: number;
  /** How this kind calls its lists, if not as all others do: by its own name with `List` at the end. */
  unusualListKind?: string;
  /** In a row, since the last time when the watching worked. */
  failures: number;
  refusals: number;
}

export type Doing = { readonly kind: 'listing' } | { readonly kind: 'watching'; readonly version: string | undefined };
export type State =
  | Doing
  | { readonly kind: 'backing off'; readonly delay: Seconds; readonly next: Doing }
  | { readonly kind: 'paused' };

/** Where the signals go, one by one. If it takes its time, it is waited for. */
export type Emit = (signal: WatchSignal) => Awaitable<void>;

export function newStream(client: KubeClient, resource: Resource, options: WatchOptions): Stream {
  const { namespace, clock, logger, onState, isToldElsewhere } = options;
  // A wrong address is a mistake of the caller, and would fail for ever: it is thrown here, before any retrying.
  resourceUrl(resource, { namespace });
  const title = `${formatResource(resource)} ${namespace === undefined ? 'cluster-wide' : `in namespace ${namespace}`}`;
  return {
    ...options,
    client,
    resource,
    title,
    capabilities: options.capabilities ?? {},
    random: options.random ?? Math.random,
    known: knownObjects(options.remember ?? 'identity'),
    malformed: malformedObjects(logger, title),
    health: streamHealth({ clock, logger, title, onState, isToldElsewhere }),
    pacer: attemptLimiter(clock, STREAM_LIMITS),
    canStreamLists: true,
    newest: undefined,
    isVersionDoubtful: false,
    undecodables: 0,
    failures: 0,
    refusals: 0,
  };
}

/** Waits until one more attempt may be made: by the limit of this stream, and by that of all of them. */
export async function waitForPermission({ pacer, limiter }: Stream, signal: AbortSignal): Promise<void> {
  await pacer.acquire(signal);
  await limiter?.acquire(signal);
}

/** Where a watching stands. */
export interface Progress {
  version: string | undefined;
  /** It is past the initial listing. */
  isListed: boolean;
  /** Something malformed has come for the first time: a listing must follow. */
  isDoubtful: boolean;
  /** It is not only asked for, but works. */
  isProven: boolean;
  /** Called when that is found out. */
  readonly onProven: () => void;
}

/** The watching works: all the past failures are forgotten. */
export function prove(stream: Stream, progress: Progress): void {
  // A listing that is never complete is not yet a success.
  if (progress.isProven || !progress.isListed) return;
  progress.isProven = true;
  stream.failures = 0;
  stream.refusals = 0;
  stream.health.succeed('watching');
  progress.onProven();
}
