/**
 * The states of a watch stream, and the transitions when a connection ends. Pure: it decides, and the stream acts.
 *
 * The machine has no final state. Whatever happens to the connection or to the server, the stream continues from the
 * last known version, or lists again, or does one of the two after a while.
 */
import { ApiError, ApiForbiddenError, ApiTooManyRequestsError, describeError, KopfError } from '../../errors.js';
import type { Seconds } from '../../seams/clock.js';
import { backoffDelay } from '../backoff.js';
import type { Interruption } from './connection.js';
import { isUndecodable } from './objects/malformed.js';

/** The purpose of a connection. */
export type Doing = { readonly kind: 'listing' } | { readonly kind: 'watching'; readonly version: string | undefined };

export type WatchState =
  | Doing
  | { readonly kind: 'backing off'; readonly delay: Seconds; readonly next: Doing }
  | { readonly kind: 'paused' };

export const LISTING: Doing = { kind: 'listing' };
export const PAUSED: WatchState = { kind: 'paused' };

/** How a connection has ended. */
export type Ending =
  /** All pages of the list have arrived. It is doubtful if it contained a newly malformed object. */
  | { readonly kind: 'listed'; readonly version: string | undefined; readonly isDoubtful: boolean }
  /** The server has ended the stream regularly, as it does after the requested time. */
  | { readonly kind: 'closed' }
  /** We have ended it. */
  | { readonly kind: 'interrupted'; readonly why: Interruption }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The progress of a connection. */
export interface Reach {
  /** The default continuation. */
  readonly doing: Doing;
  /** The list was requested as a stream, and its end has not arrived. */
  readonly isListStreamed: boolean;
  /** The connection has worked. */
  readonly isProven: boolean;
}

/** The failures so far. */
export interface Troubles {
  /** Consecutive failures since the watch last worked. */
  readonly failures: number;
  readonly refusals: number;
  /** How many times a line could not be decoded since the last valid event. */
  readonly undecodables: number;
}

export const NO_TROUBLES: Troubles = { failures: 0, refusals: 0, undecodables: 0 };

/** The settings that matter here. */
export interface Pace {
  readonly reconnectBackoff: Seconds;
  readonly lineTimeout: Seconds;
  readonly random: () => number;
}

export interface Step {
  readonly state: WatchState;
  readonly troubles: Troubles;
  readonly news?: News;
}

/** What the ending reveals about the stream or the server. */
export type News =
  /** The stream was silent for too long. */
  | { readonly kind: 'silent' }
  /** The connection was cut, which servers and intermediaries do all the time. */
  | { readonly kind: 'cut'; readonly error: unknown }
  /** The cluster was restored to an earlier state. */
  | { readonly kind: 'rewound' }
  /** A line cannot be decoded, repeatedly. */
  | { readonly kind: 'undecodable'; readonly what: string }
  /** The list cannot be streamed: not by this server at all, or not for this kind. */
  | { readonly kind: 'not streamed'; readonly isOfServer: boolean }
  | {
      readonly kind: 'failed';
      readonly what: Doing['kind'];
      readonly error: unknown;
      readonly delay: Seconds;
      /** Whether the stream counts as down because of it. */
      readonly isDown: boolean;
      readonly isExpired: boolean;
      /** Whether the version of the server may have changed unnoticed. */
      readonly isVersionDoubtful: boolean;
    };

/** The longest pause between connections: a server that is back should be noticed soon, however long it was away. */
const MAX_BACKOFF: Seconds = 10;
/** The same, if the server ends the streams regularly, but too soon. */
const MAX_PAUSE_OF_SHORT_STREAMS: Seconds = 1;
/** The number of consecutive odd endings that are no coincidence. */
const SUSPICIOUS_IN_ROW = 3;
/** How many times a refusal to watch is attributed to something other than the version. */
const REFUSALS_UNTIL_LISTING = 3;
/** The pause between listings that do not help against undecodable lines: soon enough, but no burden. */
const UNDECODABLES_UNTIL_LISTING = 16;
/** A short pause: what is malformed for a moment may be mended by then. */
const RELISTING: WatchState = { kind: 'backing off', delay: 1, next: LISTING };

/** The next step after a connection has ended. */
export function afterConnection(ending: Ending, reach: Reach, troubles: Troubles, pace: Pace): Step {
  switch (ending.kind) {
    case 'listed': {
      const watching: Doing = { kind: 'watching', version: ending.version };
      return { state: ending.isDoubtful ? RELISTING : watching, troubles };
    }
    case 'closed':
      return afterClosing(reach, troubles, pace);
    case 'interrupted':
      return afterInterruption(ending.why, reach, troubles, pace);
    case 'failed':
      return afterFailure(ending.error, reach, troubles, pace);
  }
}

function afterClosing({ doing, isListStreamed, isProven }: Reach, troubles: Troubles, pace: Pace): Step {
  if (isListStreamed) return notStreamed(troubles, { isOfServer: true });
  if (isProven) return { state: doing, troubles };
  const failures = troubles.failures + 1;
  const delay = backoff(failures, pace, MAX_PAUSE_OF_SHORT_STREAMS);
  const step: Step = { state: { kind: 'backing off', delay, next: doing }, troubles: { ...troubles, failures } };
  if (failures < SUSPICIOUS_IN_ROW) return step;
  const error = new KopfError('The server keeps closing it right after it opens.', { code: 'KOPF_SHORT_STREAM' });
  return { ...step, news: oddEnding(error, delay) };
}

function afterInterruption(why: Interruption, reach: Reach, troubles: Troubles, pace: Pace): Step {
  switch (why) {
    case 'paused':
      return { state: PAUSED, troubles };
    case 'rewound':
      return { state: LISTING, troubles, news: { kind: 'rewound' } };
    case 'doubtful':
      return { state: LISTING, troubles };
    case 'endless':
      return notStreamed(troubles, { isOfServer: false });
    case 'inactive':
      // Silence instead of the list means that the server cannot stream it.
      if (reach.isListStreamed) return notStreamed(troubles, { isOfServer: true });
      return { state: reach.doing, troubles, news: { kind: 'silent' } };
    case 'overdue':
      if (reach.isListStreamed) return notStreamed(troubles, { isOfServer: false });
      return afterOverdueLine(troubles, pace);
  }
}

/** The line would come again if watching continued from the same version. A listing bypasses it. */
function afterOverdueLine(troubles: Troubles, pace: Pace): Step {
  const failures = troubles.failures + 1;
  const delay = backoff(failures, pace, MAX_BACKOFF);
  const message = `An event did not arrive completely within ${pace.lineTimeout} seconds (see settings.watching.lineTimeout).`;
  return {
    state: { kind: 'backing off', delay, next: LISTING },
    troubles: { ...troubles, failures },
    news: oddEnding(new KopfError(message, { code: 'KOPF_SLOW_LINE' }), delay),
  };
}

function afterFailure(error: unknown, reach: Reach, before: Troubles, pace: Pace): Step {
  const { doing, isListStreamed, isProven } = reach;
  if (isListStreamed && isUnsupported(error)) {
    // Missing permissions and broken lists concern only this kind: they say nothing about the server.
    return notStreamed(before, { isOfServer: isAboutUnknownOptions(error) });
  }
  let troubles = before;
  if (isUndecodable(error) && doing.kind === 'watching') {
    troubles = { ...before, undecodables: before.undecodables + 1 };
    if (isListingNeeded(troubles.undecodables)) {
      const what = `an event that cannot be decoded (${describeError(error)})`;
      return { state: LISTING, troubles, news: { kind: 'undecodable', what } };
    }
  }
  const { kind, retryAfter } = judgeFailure(error);
  if (kind === 'broken' && isProven) return { state: doing, troubles, news: { kind: 'cut', error } };

  const failures = troubles.failures + 1;
  const refusals = troubles.refusals + (kind === 'refused' && doing.kind === 'watching' ? 1 : 0);
  const mustList = kind === 'expired' || refusals >= REFUSALS_UNTIL_LISTING;
  const delay = Math.max(backoff(failures, pace, MAX_BACKOFF), retryAfter * (1 + pace.random() / 10));
  return {
    state: { kind: 'backing off', delay, next: mustList ? LISTING : doing },
    troubles: { ...troubles, failures, refusals: mustList ? 0 : refusals },
    news: {
      kind: 'failed',
      what: doing.kind,
      error,
      delay,
      isDown: kind !== 'expired' || failures >= SUSPICIOUS_IN_ROW,
      isExpired: kind === 'expired',
      isVersionDoubtful: true,
    },
  };
}

function notStreamed(troubles: Troubles, { isOfServer }: { readonly isOfServer: boolean }): Step {
  return { state: LISTING, troubles, news: { kind: 'not streamed', isOfServer } };
}

function oddEnding(error: Error, delay: Seconds): News {
  return { kind: 'failed', what: 'watching', error, delay, isDown: true, isExpired: false, isVersionDoubtful: false };
}

function backoff(failures: number, { reconnectBackoff: base, random }: Pace, cap: Seconds): Seconds {
  return backoffDelay(failures, { base, cap: Math.max(base, cap), random });
}

/**
 * A connection can be cut in the middle of a line, so it is retried once. If the same line comes again, retrying is
 * useless, and whatever follows it would never be reached: a listing bypasses it. If it comes even after that, it is
 * probably not an event, but something between us and the server; so further listings become rare.
 */
function isListingNeeded(undecodables: number): boolean {
  if (undecodables % UNDECODABLES_UNTIL_LISTING === 0) return true;
  return undecodables > 1 && Number.isInteger(Math.log2(undecodables));
}

/**
 * A refused request for a streamed list means that the server does not support it. If only watching is forbidden,
 * listing may still be permitted.
 */
function isUnsupported(error: unknown): boolean {
  return isAboutUnknownOptions(error) || error instanceof ApiForbiddenError || isUndecodable(error);
}

/** The server does not know streamed lists: it refuses the request for one as invalid. */
function isAboutUnknownOptions(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

/**
 * - `expired`: the server does not remember the version that we have; list anew.
 * - `refused`: the server says no. Maybe it says so because of the version; so list anew if it goes on like this.
 * - `busy`: the server asks to come later.
 * - `broken`: the connection or what comes through it is broken; the version is still good.
 */
type FailureKind = 'expired' | 'refused' | 'busy' | 'broken';

const EXPIRED_REASONS: ReadonlySet<string> = new Set(['Expired', 'Gone']);

function judgeFailure(error: unknown): { readonly kind: FailureKind; readonly retryAfter: Seconds } {
  if (!(error instanceof ApiError)) return { kind: 'broken', retryAfter: 0 };
  const retryAfter = error.retryAfter ?? 0;
  if (error.status === 410 || EXPIRED_REASONS.has(error.reason ?? '')) return { kind: 'expired', retryAfter };
  if (error instanceof ApiTooManyRequestsError) return { kind: 'busy', retryAfter };
  return { kind: 'refused', retryAfter };
}
