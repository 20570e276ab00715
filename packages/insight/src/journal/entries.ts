/** What the journal keeps: plain data, as it is also sent to whoever asks. */
import type { HandlerId, ObservedHandler, Seconds } from '@kopf-ts/core';

/**
 * What a handler has said to a change: it was chosen, or which filter has said no.
 *
 * ```ts
 * const isChosen = ({ rejection }: kopf.insight.Verdict): boolean => rejection === undefined;
 * ```
 */
export interface Verdict {
  readonly handler: HandlerId;
  readonly kind: ObservedHandler['kind'];
  readonly at: Seconds;
  /** What was told later has a larger one, also if it was in the same moment. */
  readonly order: number;
  readonly rejection?: KeptRejection | undefined;
}

/**
 * A rejection without the values themselves: they are kept as short texts, and those of Secrets not at all.
 *
 * ```ts
 * const isByLabel = ({ filter }: kopf.insight.KeptRejection): boolean => filter === 'labels';
 * ```
 */
export interface KeptRejection {
  readonly filter: string;
  /** `spec.size`; of labels and annotations, their keys. */
  readonly path?: string | undefined;
  /** In JSON; or `present`, `absent`, `the function 'isGold'`. */
  readonly wanted?: string | undefined;
  /** In JSON; `undefined` if there was nothing. */
  readonly found?: string | undefined;
  /** The values were there, but are not for everybody's eyes. */
  readonly isHidden?: true | undefined;
}

/** What is told of an error. */
interface KeptError {
  readonly message: string;
  /** Of the answer of the cluster, if it was one. */
  readonly status?: number | undefined;
  /** There is no room for it in the object. */
  readonly isTooLarge?: true | undefined;
}

interface Dated {
  /** By the monotonic clock of the operator. */
  readonly at: Seconds;
}

/**
 * One thing that has happened to an object.
 *
 * ```ts
 * const isFailure = (entry: kopf.insight.JournalEntry): boolean => entry.kind === 'call' && entry.outcome === 'failed';
 * ```
 */
export type JournalEntry = Dated &
  (
    | {
        readonly kind: 'cause';
        readonly reason: string;
        /** Where it differs from what was handled last. */
        readonly paths: readonly string[];
        readonly version: string | undefined;
        /** Of the change handlers. */
        readonly verdicts: readonly Verdict[];
        /** How often the same was found again, and when for the last time. */
        readonly repeats: number;
        readonly lastAt: Seconds;
      }
    | {
        readonly kind: 'call';
        /** As in {@link Verdict}. */
        readonly order: number;
        readonly handler: HandlerId;
        readonly type: ObservedHandler['kind'];
        readonly reason: string | undefined;
        readonly outcome: 'succeeded' | 'failed' | 'retried';
        readonly retry: number;
        readonly duration: Seconds;
        readonly delay: Seconds | undefined;
        readonly error: KeptError | undefined;
      }
    | {
        readonly kind: 'patch';
        readonly paths: readonly string[];
        readonly version: string | undefined;
        /** Absent if it went through. */
        readonly error: KeptError | undefined;
      }
    | { readonly kind: 'dropped'; readonly what: string; readonly why: string }
    | { readonly kind: 'failed'; readonly error: KeptError; readonly pause: Seconds | undefined }
    | {
        readonly kind: 'breaker';
        readonly fields: readonly string[];
        readonly handlers: readonly HandlerId[];
        readonly pause: Seconds;
      }
    | { readonly kind: 'superseded'; readonly reason: string; readonly by: string; readonly unfinished: number }
    | {
        readonly kind: 'paused';
        readonly by: 'control' | 'annotation';
        readonly isPaused: boolean;
        readonly until: Seconds | undefined;
      }
    | {
        readonly kind: 'daemon';
        readonly handler: HandlerId;
        readonly type: ObservedHandler['kind'];
        readonly what: 'started' | 'stopping' | 'stopped' | 'over';
        readonly why: string | undefined;
      }
    | {
        readonly kind: 'review';
        readonly operation: string;
        readonly allowed: boolean;
        readonly code: number | undefined;
        readonly handlers: readonly HandlerId[];
      }
    | { readonly kind: 'gone' }
  );

/**
 * A request that was to change an object has failed, and is sent again.
 *
 * ```ts
 * const isForbidden = ({ error }: kopf.insight.RetriedWrite): boolean => error.status === 403;
 * ```
 */
export interface RetriedWrite extends Dated {
  /** When it is sent again. */
  readonly until: Seconds;
  readonly error: KeptError;
}

/**
 * What is known of one object.
 *
 * ```ts
 * const isQuiet = ({ entries, waiting }: kopf.insight.ObjectJournal): boolean =>
 *   entries.length > 0 && waiting === undefined;
 * ```
 */
export interface ObjectJournal {
  /** As kubectl names it: `kopfexamples.kopf.dev`. */
  readonly resource: string;
  readonly kind: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly uid: string | undefined;
  /** The oldest first. */
  readonly entries: readonly JournalEntry[];
  /** How many older ones were given up for these. */
  readonly lost: number;
  /** The latest ones of handlers that are not for changes. */
  readonly verdicts: readonly Verdict[];
  readonly lastEvent:
    | { readonly at: Seconds; readonly type: string | null; readonly version: string | undefined }
    | undefined;
  readonly waiting: { readonly until: Seconds; readonly why: 'delay' | 'throttling' | 'consistency' } | undefined;
  /** The latest one, until the object was written to. */
  readonly retriedWrite?: RetriedWrite | undefined;
}

/**
 * What is known of one stream.
 *
 * ```ts
 * const isHealthy = ({ phase }: kopf.insight.KnownStream): boolean => phase === 'watching';
 * ```
 */
export interface KnownStream {
  readonly resource: string;
  readonly namespace: string | null;
  /** Only such objects are asked for: `tier=gold`. */
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly phase: string;
  readonly since: Seconds;
  readonly error: string | undefined;
  readonly status: number | undefined;
}

/**
 * What is known of the operator as a whole.
 *
 * ```ts
 * const isAtWork = ({ pauses, indexing }: kopf.insight.OperatorJournal): boolean =>
 *   pauses.length === 0 && indexing.isReady;
 * ```
 */
export interface OperatorJournal {
  /** Its identity. */
  readonly operator: string | undefined;
  /** The moment of the answer: by the monotonic clock, and by that of the world. */
  readonly now: Seconds;
  readonly utc: string;
  /** Kinds, as kubectl names them; `undefined` until the cluster was looked at. */
  readonly resources: readonly string[] | undefined;
  /** `null` is the whole cluster. */
  readonly namespaces: readonly (string | null)[] | undefined;
  /** Where it is paused, and by what. */
  readonly pauses: readonly {
    readonly namespace: string | null;
    readonly kind: 'peer' | 'leader' | 'absent' | undefined;
    readonly by: string | undefined;
  }[];
  readonly indexing: { readonly isReady: boolean; readonly missing: readonly string[] };
  readonly streams: readonly KnownStream[];
}
