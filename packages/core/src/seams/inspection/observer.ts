import type { FieldPath } from '../../values/fields.js';
import type { HandlerId } from '../../values/ids.js';
import type { Resource } from '../../values/resources/resource.js';
import type { WatchTarget } from '../../values/resources/watch-target.js';
import type { Seconds } from '../clock.js';
import type { Logger } from '../logger.js';
import type { PauseReason } from '../peering.js';

/**
 * The object that a fact is about.
 *
 * ```ts
 * const title = ({ kind, namespace, name }: kopf.ObservedObject): string => `${kind} ${namespace ?? '-'}/${name}`;
 * ```
 */
export interface ObservedObject {
  readonly resource: Resource;
  /** As stated by the object itself, or else by its resource. */
  readonly kind: string | undefined;
  /** `undefined` for cluster-scoped objects. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly uid: string | undefined;
}

/**
 * The handler that a fact is about.
 *
 * ```ts
 * const title = ({ kind, id }: kopf.ObservedHandler): string => `${kind} '${id}'`;
 * ```
 */
export interface ObservedHandler {
  /** Sub-handlers have the ids of their parents before their own: `parent/child`. */
  readonly id: HandlerId;
  readonly kind: 'activity' | 'index' | 'watch' | 'change' | 'daemon' | 'timer' | 'reconcile' | 'child' | 'webhook';
}

/**
 * The stream that a fact is about, identified by its target. All facts of one stream share one object, even after the
 * stream is restarted; two streams of the same target have different objects.
 *
 * ```ts
 * const title = ({ resource, namespace }: kopf.ObservedStream): string =>
 *   `${resource.plural} in ${namespace ?? 'all namespaces'}`;
 * ```
 */
export type ObservedStream = WatchTarget;

/**
 * The common part of all facts.
 *
 * ```ts
 * const prefix = ({ operator, at }: kopf.FactOrigin): string => `${operator} at ${at.toFixed(3)}`;
 * ```
 */
export interface FactOrigin {
  /** The identity of the operator that reports it. */
  readonly operator: string;
  /** The operator's monotonic time: for durations, not for calendars. */
  readonly at: Seconds;
}

/** The phases of streams, and what they deliver. */
type StreamFact =
  /** The server has started to stream the changes since that version. */
  | { readonly kind: 'stream.opened'; readonly stream: ObservedStream; readonly version: string | undefined }
  /** A listing is complete: the first one, or one because the stream could not be continued. */
  | {
      readonly kind: 'stream.listed';
      readonly stream: ObservedStream;
      readonly count: number;
      readonly isFirst: boolean;
      readonly duration: Seconds;
    }
  | {
      readonly kind: 'stream.event';
      readonly stream: ObservedStream;
      /** `null` for objects of a listing. */
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | null;
      readonly object: ObservedObject;
      readonly version: string | undefined;
    }
  | { readonly kind: 'stream.bookmark'; readonly stream: ObservedStream; readonly version: string | undefined }
  /** The stream has been silent for so long that it is presumed dead. */
  | { readonly kind: 'stream.lagging'; readonly stream: ObservedStream; readonly silence: Seconds }
  /** The stream or the listing has failed; the next attempt follows after the delay. */
  | {
      readonly kind: 'stream.failed';
      readonly stream: ObservedStream;
      readonly error: Error;
      readonly failures: number;
      readonly delay: Seconds;
    }
  /**
   * The phase has changed; readiness depends on it. A stream is `down` until it works again, and `crashed` after an
   * internal error of the operator until it is restarted; nothing follows after `ended`.
   */
  | {
      readonly kind: 'stream.phase';
      readonly stream: ObservedStream;
      readonly phase: 'starting' | 'listing' | 'watching' | 'down' | 'crashed' | 'paused' | 'ended';
      /** When the phase started, in monotonic time. */
      readonly since: Seconds;
      /** When the stream last delivered anything. A live value: up to date whenever it is read. */
      readonly lastEventAt: Seconds | undefined;
      /** When the stream was last known to work, even if there was nothing to deliver. Live as well. */
      readonly lastGoodAt: Seconds | undefined;
      /** Why it is down or crashed. */
      readonly error: Error | undefined;
    };

/** What happens to objects, and how it is handled. */
type ObjectFact =
  /** What happened to the object, as far as its change handlers are concerned. */
  | {
      readonly kind: 'object.cause';
      readonly object: ObservedObject;
      readonly reason: 'create' | 'update' | 'delete' | 'resume' | 'noop' | 'free' | 'gone';
      /** How the object differs from its last handled state. */
      readonly paths: readonly FieldPath[];
      readonly version: string | undefined;
    }
  /** It is idle, waits for later, waits for its turn, or is being handled: reported when that changes. */
  | {
      readonly kind: 'object.phase';
      readonly object: ObservedObject;
      readonly phase: 'idle' | 'waiting' | 'queued' | 'running';
      readonly before: 'idle' | 'waiting' | 'queued' | 'running';
    }
  /** Nothing is done until then unless something happens earlier. */
  | {
      readonly kind: 'object.waiting';
      readonly object: ObservedObject;
      readonly until: Seconds;
      /** For the next attempts of handlers; after an error of the framework; or for our own patch to come back. */
      readonly why: 'delay' | 'throttling' | 'consistency';
    }
  /** It no longer waits. */
  | {
      readonly kind: 'object.woken';
      readonly object: ObservedObject;
      /**
       * The time has come; the object was changed; an awaited task has ended; `control.retry()` was called; or there is
       * nothing left to wait for, as the operator stops or pauses.
       */
      readonly why: 'time' | 'event' | 'recall' | 'retry' | 'discarded';
    }
  /** The handling has failed; it is retried after the pause. */
  | {
      readonly kind: 'object.failed';
      readonly object: ObservedObject;
      readonly error: Error;
      readonly pause: Seconds | undefined;
    }
  /** The object does not exist any more. Its last event may still be handled. */
  | { readonly kind: 'object.gone'; readonly object: ObservedObject }
  /** Unfinished handling for another reason is abandoned in favour of the present one. */
  | {
      readonly kind: 'object.superseded';
      readonly object: ObservedObject;
      readonly reason: string;
      /** The present reason. */
      readonly by: string;
      /** The number of unfinished handlers. */
      readonly unfinished: number;
    }
  /** Its handlers are suspended until it is resumed: by {@link Control}, or by an annotation, which may expire. */
  | {
      readonly kind: 'object.paused';
      readonly object: ObservedObject;
      readonly by: 'control' | 'annotation';
      readonly isPaused: boolean;
      /** In monotonic time; absent if the pause lasts until resumed. */
      readonly until: Seconds | undefined;
    }
  /** Handlers change the same fields again and again: they are suspended for a while. */
  | {
      readonly kind: 'breaker.tripped';
      readonly object: ObservedObject;
      /** As in the logs: `spec.size`. */
      readonly fields: readonly string[];
      readonly handlers: readonly HandlerId[];
      readonly pause: Seconds;
    };

/**
 * Why a handler was not chosen: the first filter that did not match.
 *
 * ```ts
 * const why = ({ filter, path, wanted, found }: kopf.Rejection): string =>
 *   `${filter} ${path?.join('.') ?? ''}: wanted ${String(wanted)}, found ${String(found)}`;
 * ```
 */
export interface Rejection {
  /**
   * The option of the handler by its name; but for these: `change` if its field has not changed, `finished` if the
   * handler is already done with the object, `delayed` if it waits for its next attempt, `selection` if the object is not
   * among those that are served of its kind, `webhook` if the request is for another handler by its address, `failed` if
   * one of its filters has thrown.
   */
  readonly filter:
    | 'resource'
    | 'selection'
    | 'reason'
    | 'deleted'
    | 'webhook'
    | 'operation'
    | 'subresource'
    | 'labels'
    | 'annotations'
    | 'field'
    | 'value'
    | 'change'
    | 'old'
    | 'new'
    | 'when'
    | 'finished'
    | 'delayed'
    | 'failed';
  /** The label, the annotation, or the field of the object. */
  readonly path?: FieldPath | undefined;
  /** The filter itself: a value, `PRESENT` or `ABSENT`, or a callback. */
  readonly wanted?: unknown;
  /** The actual value, unmasked: be careful where you show it. */
  readonly found?: unknown;
}

/** Which handlers are chosen, and the outcomes of their calls. */
type HandlerFact =
  | {
      readonly kind: 'handler.considered';
      readonly object: ObservedObject;
      readonly handler: ObservedHandler;
      /** Absent if it is chosen. */
      readonly rejection: Rejection | undefined;
    }
  /** The function is about to be called. */
  | {
      readonly kind: 'call.began';
      /** The same in all facts of one call; unique within the operator. */
      readonly call: number;
      readonly handler: ObservedHandler;
      /** Absent for activities. */
      readonly object: ObservedObject | undefined;
      readonly retry: number;
      /** The logger of the object, for observers that have something to log about it. */
      readonly logger: Logger;
    }
  /** The function has returned, maybe only a promise, or has thrown. Nothing else could run since it began. */
  | { readonly kind: 'call.returned'; readonly call: number }
  /** The call is over, including the promise, if any. Sub-handlers may go on after that. */
  | { readonly kind: 'call.settled'; readonly call: number }
  /**
   * The outcome of the handler, including its sub-handlers. It comes last, and also for handlers that were not called
   * because they were out of time or attempts.
   */
  | {
      readonly kind: 'call.ended';
      readonly call: number;
      readonly handler: ObservedHandler;
      readonly object: ObservedObject | undefined;
      /** Why it was called: the reason of the change, the activity, the type of the event or of the review. */
      readonly reason: string | undefined;
      readonly outcome: 'succeeded' | 'failed' | 'retried';
      readonly result: unknown;
      readonly error: Error | undefined;
      readonly retry: number;
      readonly duration: Seconds;
      /** The delay before the next attempt, if any. */
      readonly delay: Seconds | undefined;
    };

/** Writes to the objects. */
type PatchFact =
  | {
      readonly kind: 'patch.sent';
      readonly object: ObservedObject;
      /** In the order of sending. */
      readonly requests: readonly SentRequest[];
      /** The resulting version. */
      readonly version: string | undefined;
      readonly duration: Seconds;
    }
  | {
      readonly kind: 'patch.failed';
      readonly object: ObservedObject;
      /** The requests that succeeded before that. */
      readonly requests: readonly SentRequest[];
      readonly error: Error;
      readonly duration: Seconds;
    }
  /** A requested change that is never sent. */
  | {
      readonly kind: 'patch.dropped';
      readonly object: ObservedObject;
      /** A field, a function, or a handler: `status.size`, `the function 'fn'`. */
      readonly what: string;
      /** In words. */
      readonly why: string;
    }
  /** A patch has failed for what concerns the whole kind: permissions, webhooks, the server; told each time. */
  | { readonly kind: 'writes.failed'; readonly resource: Resource; readonly error: Error }
  /** After such failures, the first patch of that kind has been accepted. */
  | { readonly kind: 'writes.recovered'; readonly resource: Resource };

/**
 * One request of a patch.
 *
 * ```ts
 * const shown = ({ address, content, version }: kopf.SentRequest): string =>
 *   `${address}: ${JSON.stringify(content)} → ${version}`;
 * ```
 */
export interface SentRequest {
  readonly address: 'object' | 'status';
  readonly type: 'merge' | 'json';
  /** The merge-patch, or the operations. */
  readonly content: unknown;
  /** The resulting version. */
  readonly version: string | undefined;
}

/** Daemons and timers of the objects. */
type DaemonFact =
  | { readonly kind: 'daemon.started'; readonly object: ObservedObject; readonly handler: ObservedHandler }
  | {
      readonly kind: 'daemon.stopping';
      readonly object: ObservedObject;
      readonly handler: ObservedHandler;
      /** One of the reasons that the daemon sees in `stopped.reason`. */
      readonly why: string;
    }
  | {
      readonly kind: 'daemon.stopped';
      readonly object: ObservedObject;
      readonly handler: ObservedHandler;
      /** It has ended on its own, and is not started again. */
      readonly isOver: boolean;
    }
  /** The delay before the next tick of a timer, or the next attempt of a daemon. */
  | {
      readonly kind: 'daemon.waiting';
      readonly object: ObservedObject;
      readonly handler: ObservedHandler;
      readonly delay: Seconds;
    };

/** The operator and its surroundings. */
type OperatorFact =
  | {
      readonly kind: 'review.answered';
      readonly uid: string;
      readonly operation: string;
      readonly object: ObservedObject | undefined;
      readonly allowed: boolean;
      readonly code: number | undefined;
      readonly handlers: readonly HandlerId[];
      readonly duration: Seconds;
    }
  /** A review that could not be answered: malformed, or for an unknown resource or handler. */
  | { readonly kind: 'review.refused'; readonly error: Error; readonly duration: Seconds }
  /** A request to the webhook server that did not become a review: too large, one of too many, or not a review. */
  | {
      readonly kind: 'webhook.refused';
      /** The HTTP status of the response; absent if the connection was closed without any. */
      readonly code: number | undefined;
      /** In words. */
      readonly why: string;
      /** The address of the caller, if it is known. */
      readonly from: string | undefined;
    }
  /** The webhook server now uses a certificate that is valid until then. */
  | { readonly kind: 'webhook.certified'; readonly until: Date }
  /** The peers have agreed which operator works on a namespace or on the cluster: this one or another one. */
  | {
      readonly kind: 'peering.ruled';
      readonly namespace: string | null;
      readonly isPaused: boolean;
      /** Why it is paused, if the peering provides a reason. */
      readonly why: PauseReason | undefined;
    }
  /** The operator does not serve that namespace any more: what was agreed there is void. */
  | { readonly kind: 'peering.left'; readonly namespace: string | null }
  /** Handlers are called from now on; or they wait until the objects of these kinds are indexed. */
  | { readonly kind: 'indexing.ready'; readonly isReady: boolean; readonly missing: readonly string[] }
  | {
      readonly kind: 'login.ended';
      readonly outcome: 'succeeded' | 'failed';
      readonly error: Error | undefined;
      readonly duration: Seconds;
    }
  /** What the operator serves from now on. */
  | {
      readonly kind: 'discovery.revised';
      readonly resources: readonly Resource[];
      readonly namespaces: readonly (string | null)[];
    }
  | { readonly kind: 'discovery.failed'; readonly error: Error; readonly failures: number }
  /**
   * A try of a request has failed, and the request is sent again after the delay. Until it has ended, nobody else is
   * told. Of streams, see `stream.failed`.
   */
  | {
      readonly kind: 'request.retried';
      readonly method: string;
      /** As in `request.ended`. */
      readonly verb: string;
      readonly resource: string;
      readonly subresource: string | undefined;
      /** Of the object, if the address has them. */
      readonly namespace: string | undefined;
      readonly name: string | undefined;
      readonly path: string;
      /** The status of the response to this try; absent if there was none. */
      readonly code: number | undefined;
      readonly error: Error;
      /** The number of times it was sent so far. */
      readonly tries: number;
      readonly delay: Seconds;
    }
  /**
   * One request of the client, including all its tries. A stream is reported when it is over: its duration is that of
   * the whole stream, and its error, if any, is what ended it.
   */
  | {
      readonly kind: 'request.ended';
      readonly method: string;
      /**
       * The RBAC verb: get, list, watch, create, update, patch, delete, deletecollection; otherwise, the HTTP method.
       */
      readonly verb: string;
      /** As kubectl names it: `pods`, `kopfexamples.kopf.dev`; for other addresses, the beginning of the path. */
      readonly resource: string;
      /** Such as `status`. */
      readonly subresource: string | undefined;
      readonly path: string;
      /** The status of the last response; absent if there was none. */
      readonly code: number | undefined;
      readonly error: Error | undefined;
      /** The number of times it was sent. */
      readonly tries: number;
      readonly duration: Seconds;
      /** The part of the duration spent waiting: for its turn, and for pauses that the server has imposed. */
      readonly waited: Seconds;
    }
  /** An error that no code awaits. */
  | {
      readonly kind: 'error.stray';
      readonly error: Error;
      /** From a promise, or from a timer or a callback. */
      readonly origin: 'rejection' | 'exception';
      /** Absent if the handler is unknown. */
      readonly handler: ObservedHandler | undefined;
      readonly object: ObservedObject | undefined;
    };

/** A fact before it is reported: without its origin. */
export type UntoldFact = StreamFact | ObjectFact | HandlerFact | PatchFact | DaemonFact | OperatorFact;

/**
 * Something that happened in the operator. Narrow it down by its `kind`:
 *
 * ```ts
 * const print = (fact: kopf.Fact): void => {
 *   if (fact.kind === 'call.ended') console.log(fact.handler.id, fact.outcome, fact.duration);
 * };
 * ```
 */
export type Fact = UntoldFact & FactOrigin;

/**
 * The name of a kind of facts, as in {@link Observer.wants}.
 *
 * ```ts
 * const kinds: kopf.FactKind[] = ['call.began', 'call.ended'];
 * ```
 */
export type FactKind = Fact['kind'];

/**
 * The facts of that kind.
 *
 * ```ts
 * const isSlow = (fact: kopf.FactOf<'call.ended'>): boolean => fact.duration > 10;
 * ```
 */
export type FactOf<K extends FactKind> = Extract<UntoldFact, { readonly kind: K }> & FactOrigin;

/**
 * Receives what happens in an operator: for metrics, journals, consoles, tests.
 *
 * *Guarantees.* Facts come one by one, in order, and in full: none is skipped or sampled. They are frozen. An observer
 * cannot change what the operator does, neither by results nor by errors.
 *
 * *Errors.* The first error of an observer is logged; it keeps getting facts.
 *
 * *Cost.* A fact without subscribers is never made. `observe` is called synchronously, in the middle of the work: it
 * must be quick, and defer slow things.
 *
 * ```ts
 * const slow: kopf.Observer = {
 *   wants: ['call.ended'],
 *   observe(fact) {
 *     if (fact.kind === 'call.ended' && fact.duration > 10) console.warn(`${fact.handler.id}: ${fact.duration} s`);
 *   },
 * };
 * await kopf.run({ observers: [slow] });
 * ```
 *
 * *Guarantees.* Facts come one by one, in the order of what they tell of, and in full: none is skipped or sampled. They
 * are frozen. Nothing that an observer does changes what the operator does: not its result, not its errors.
 *
 * *Errors.* An observer that throws is reported in the log once; it goes on getting facts.
 *
 * *Cost.* A fact that nobody wants is never made. `observe` is called synchronously, in the midst of the work: it must
 * be quick, and do slow things later.
 */
export interface Observer {
  /** The kinds of facts to receive. Read once, when the operator starts. */
  readonly wants: readonly FactKind[] | 'all';
  observe(fact: Fact): void;
}
