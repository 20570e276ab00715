/**
 * Why handlers are called: one shape per family of handlers, discriminated by `kind`, and the pure functions that
 * derive them from events. Beyond this point, no code sees raw watch events: only the cause of `on.event` carries one
 * to the user.
 */
import type { ApiFor } from '../seams/api.js';
import type { KubeClient } from '../seams/client.js';
import type { Logger } from '../seams/logger.js';
import type { Indices } from '../seams/memory/indexing.js';
import type { Settings } from '../settings.js';
import type { Diff } from '../values/diff.js';
import type { HandlerId } from '../values/ids.js';
import type { AnyObject, Body, WatchEvent } from '../values/objects/body.js';
import type { Comparison } from '../values/objects/comparison.js';
import { isDeletionBlocked, isDeletionOngoing } from '../values/objects/finalizers.js';
import type { LiveBody } from '../values/objects/views.js';
import type { Patch } from '../values/patches/patch.js';
import type { Resource } from '../values/resources/resource.js';
import type { Operation, UserInfo } from '../values/review.js';
import type { Activity } from './handlers.js';
import type { ChildrenLookup, Relation } from './relations.js';

interface OfOperator {
  readonly logger: Logger;
  readonly memo: unknown;
  readonly indices?: Indices | undefined;
  readonly client?: KubeClient | undefined;
  /** Makes the verbs of a call if its handler asks for them. */
  readonly apiFor?: ApiFor | undefined;
}

interface OfObject extends OfOperator {
  readonly resource: Resource;
  readonly body: Body;
  readonly patch: Patch;
  /** Absent if the operator declares no relations. */
  readonly children?: ChildrenLookup | undefined;
  /** The object is not among the served objects of its kind: it is only followed until our work on it is done. */
  readonly isOutside?: boolean | undefined;
}

/** The operator starts, stops, logs in, or is probed. */
export interface ActivityCause extends OfOperator {
  readonly kind: 'activity';
  readonly activity: Activity;
  readonly settings: Settings;
}

export interface IndexingCause extends OfObject {
  readonly kind: 'indexing';
}

export interface WatchingCause extends OfObject {
  readonly kind: 'watching';
  readonly event: WatchEvent<AnyObject>;
}

export interface SpawningCause extends OfObject {
  readonly kind: 'spawning';
  /** Whether the essence has changed, which restarts the idle time of timers. */
  readonly reset: boolean;
}

/** The first four call the handlers; the last three only explain in the logs why nothing is called. */
export type ChangingReason = 'create' | 'update' | 'delete' | 'resume' | 'noop' | 'free' | 'gone';

/**
 * The reasons for which handlers are called.
 *
 * ```ts
 * const verbs: Record<kopf.HandlingReason, string> = { create: '+', update: '~', delete: '-', resume: '=' };
 * kopf.on.create('kopfexamples', ({ reason, logger }) => logger.info(verbs[reason]));
 * ```
 */
export type HandlingReason = Extract<ChangingReason, 'create' | 'update' | 'delete' | 'resume'>;

export interface ChangingCause extends OfObject {
  readonly kind: 'changing';
  readonly reason: ChangingReason;
  /** The object existed before the operator started, and has not been fully handled since. */
  readonly initial: boolean;
  /** The same, or the object is new to us: it was created while there was no operator. */
  readonly isListed?: boolean | undefined;
  /** Between the essences; for a handler with a `field`, reduced to that field when it is called. */
  readonly diff: Diff;
  readonly old: unknown;
  readonly new: unknown;
}

export interface DaemonCause extends OfObject {
  readonly kind: 'daemon';
  /** The daemon's live view of the object: always its newest state, of which `body` is one moment. */
  readonly live: LiveBody;
  readonly stopped: AbortSignal;
}

/**
 * Why a reconciling handler is called: this operator sees the object for the first time, the object has changed, what
 * it owns or watches has changed, a call was requested, the last call failed, or the object is being deleted.
 *
 * ```ts
 * kopf.on.reconcile('kopfexamples', { owns: ['pods'] }, ({ reasons, logger }) => {
 *   const isAboutPods: kopf.ReconcileReason = 'owned';
 *   if (reasons.has(isAboutPods)) logger.info('Some of the pods have changed.');
 * });
 * ```
 */
export type ReconcileReason = 'first' | 'changed' | 'owned' | 'watched' | 'requeued' | 'retried' | 'deleted';

/**
 * What happened to a child; for a deleted child, its last known state.
 *
 * ```ts
 * const isLoss = ({ type }: kopf.ChildChange): boolean => type === 'gone';
 * ```
 */
export interface ChildChange<T extends object = AnyObject> {
  readonly type: 'created' | 'changed' | 'gone';
  readonly child: Body<T>;
}

/** The object or its children differ from what the handlers last saw. */
export interface RelatedCause extends OfObject {
  readonly kind: 'related';
  readonly reasons: ReadonlySet<ReconcileReason>;
  /** For handlers of children: the parent, and what happened to its children as far as it is known. */
  readonly relation?: Relation | undefined;
  readonly changes?: readonly ChildChange[] | undefined;
  /** The changes were made while there was no operator. */
  readonly initial?: boolean | undefined;
}

export interface WebhookCause extends OfObject {
  readonly kind: 'webhook';
  /** They narrow down the candidates, where the server knows them from the URL. */
  readonly reason: 'validating' | 'mutating' | undefined;
  readonly webhook: HandlerId | undefined;
  readonly operation: Operation | (string & {}) | undefined;
  readonly subresource: string | undefined;
  readonly dryrun: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly sslpeer: Readonly<Record<string, unknown>>;
  readonly userinfo: UserInfo;
  readonly warnings: string[];
  readonly old: Body | undefined;
  readonly new: Body | undefined;
  readonly diff: Diff;
}

export type ResourceCause =
  | IndexingCause
  | WatchingCause
  | SpawningCause
  | ChangingCause
  | DaemonCause
  | RelatedCause
  | WebhookCause;
export type Cause = ActivityCause | ResourceCause;

/** The nouns of the log lines: `Creation is in progress`. */
export const REASON_TITLES: Readonly<Record<HandlingReason, string>> = {
  create: 'creation',
  update: 'updating',
  delete: 'deletion',
  resume: 'resuming',
};

export function isHandlingReason(reason: ChangingReason): reason is HandlingReason {
  return Object.hasOwn(REASON_TITLES, reason);
}

/** The meaning of a change for the handlers of an object. */
export interface ChangeFacts {
  readonly event: { readonly type: string | null };
  readonly body: Body;
  /** Our finalizer. */
  readonly finalizer: string;
  /** With the last handled state. */
  readonly comparison: Pick<Comparison, 'wasHandled' | 'diff'>;
  readonly initial: boolean;
}

/**
 * Decides why the handlers are called, if at all. The first match wins.
 *
 * A creation is never initial: an object that was never handled is new to us, no matter when it was created.
 */
export function detectChange(facts: ChangeFacts): Pick<ChangingCause, 'reason' | 'initial'> {
  const { event, body, finalizer, initial } = facts;
  const { wasHandled, diff } = facts.comparison;

  // The last event of all: it may still list our finalizer, but there is nothing left to hold.
  if (event.type === 'DELETED') return { reason: 'gone', initial };

  // Deleted, and we do not hold it (any more): our part is done, others may still have theirs to do.
  if (isDeletionOngoing(body)) return { reason: isDeletionBlocked(body, finalizer) ? 'delete' : 'free', initial };

  if (!wasHandled) return { reason: 'create', initial: false };

  // It has not changed since it was handled, but this operator process has not seen it yet.
  if (diff.length === 0 && initial) return { reason: 'resume', initial };

  if (diff.length === 0) return { reason: 'noop', initial };

  return { reason: 'update', initial };
}
