/**
 * Declared handlers: a union of nine kinds, discriminated by `kind`, so that a `switch` over it is checked for
 * completeness, and no kind carries the options of another.
 */
import type { Awaitable } from '../seams/awaitable.js';
import type { Seconds } from '../seams/clock.js';
import type { FieldPath } from '../values/fields.js';
import { type HandlerId, quoteId } from '../values/ids.js';
import type { Selector } from '../values/resources/selector.js';
import type { Operation } from '../values/review.js';
import type { MetaFilter, ValueFilter } from './filters.js';
import type { LabelSelector, MatchCondition } from './registration/options.js';
import type { Relation } from './relations.js';

/**
 * The meaning of an arbitrary error: ignore it, retry later, or fail the handler for this change.
 *
 * ```ts
 * kopf.on.delete('kopfexamples', { errors: 'ignored' }, () => fetch('https://example.com/goodbye'));
 * ```
 */
export type ErrorsMode = 'ignored' | 'temporary' | 'permanent';

/**
 * The pause before the next attempt: fixed, or growing by `factor` (2) from `min` to `max`, spread by `jitter` (0…1).
 *
 * ```ts
 * const backoff: kopf.Backoff = { min: 1, max: 300, jitter: 0.1 };
 * kopf.on.create('kopfexamples', { backoff }, () => fetch('https://example.com/volumes', { method: 'POST' }));
 * ```
 */
export type Backoff =
  | Seconds
  | { readonly min: Seconds; readonly max: Seconds; readonly factor?: number; readonly jitter?: number };

// biome-ignore lint/suspicious/noExplicitAny: kwargs differ by kind; the registrars type them for the user
export type HandlerFn = (kwargs: any) => Awaitable<unknown>;
// biome-ignore lint/suspicious/noExplicitAny: as above
export type WhenFn = (kwargs: any) => boolean;
// biome-ignore lint/suspicious/noExplicitAny: as above
type InitialDelay = Seconds | ((kwargs: any) => Seconds);

interface Handler {
  readonly id: HandlerId;
  readonly fn: HandlerFn;
  readonly param: unknown;
  readonly errors?: ErrorsMode;
  /** Counted from the first attempt, across all attempts. */
  readonly timeout?: Seconds;
  /** The maximum number of attempts. */
  readonly retries?: number;
  readonly backoff?: Backoff;
}

interface OfResource extends Handler {
  /** Unset for sub-handlers: they handle the same object as their parent. */
  readonly selector?: Selector;
  readonly labels?: MetaFilter;
  readonly annotations?: MetaFilter;
  readonly when?: WhenFn;
  readonly field?: FieldPath;
  readonly value?: ValueFilter<unknown>;
}

export type Activity = 'startup' | 'cleanup' | 'login' | 'probe';

export interface ActivityHandler extends Handler {
  readonly kind: 'activity';
  readonly activity: Activity;
  /** Used only if there are no other handlers of that activity. */
  readonly fallback?: boolean;
}

export interface IndexHandler extends OfResource {
  readonly kind: 'index';
}

export interface WatchHandler extends OfResource {
  readonly kind: 'watch';
}

export interface ChangeHandler extends OfResource {
  readonly kind: 'change';
  /** Without a reason, the handler is called for all of them, as for fields and resuming. */
  readonly reason?: 'create' | 'update' | 'delete' | 'resume';
  /** Only for objects that existed before the operator started. */
  readonly initial?: boolean;
  /** Also for objects that are being deleted. */
  readonly deleted?: boolean;
  readonly requiresFinalizer?: boolean;
  readonly fieldNeedsChange?: boolean;
  readonly old?: ValueFilter<unknown>;
  readonly new?: ValueFilter<unknown>;
}

export interface DaemonHandler extends OfResource {
  readonly kind: 'daemon';
  readonly initialDelay?: InitialDelay;
  readonly cancellationBackoff?: Seconds;
  readonly cancellationTimeout?: Seconds;
  readonly cancellationPolling?: Seconds;
}

export interface TimerHandler extends OfResource {
  readonly kind: 'timer';
  readonly initialDelay?: InitialDelay;
  readonly interval?: Seconds;
  readonly idle?: Seconds;
  readonly sharp?: boolean;
  /** A cron expression, instead of the interval. */
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly missed?: 'skip' | 'once';
}

export interface WebhookHandler extends OfResource {
  readonly kind: 'webhook';
  readonly reason: 'validating' | 'mutating';
  readonly operations?: readonly Operation[];
  readonly subresource?: string;
  readonly persistent?: boolean;
  readonly sideEffects?: boolean;
  readonly ignoreFailures?: boolean;
  readonly timeoutSeconds?: Seconds;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
}

/** Reconciles the present state of the object and its children, regardless of events. */
export interface ReconcileHandler extends OfResource {
  readonly kind: 'reconcile';
  readonly owns: readonly Relation[];
  readonly watches: readonly Relation[];
  /** Called when the object is being deleted, before it is gone. A handler with its own id. */
  readonly cleanup?: ReconcileHandler;
}

/** Called for the parent when its children of one kind have changed. */
export interface ChildHandler extends OfResource {
  readonly kind: 'child';
  readonly relation: Relation;
  /** Only changes of these fields of the children count. */
  readonly fields?: readonly FieldPath[];
}

export type SpawningHandler = DaemonHandler | TimerHandler;
/** For objects that own other objects. */
export type RelatedHandler = ReconcileHandler | ChildHandler;
export type ResourceHandler =
  | IndexHandler
  | WatchHandler
  | ChangeHandler
  | SpawningHandler
  | RelatedHandler
  | WebhookHandler;
export type AnyHandler = ActivityHandler | ResourceHandler;

/** The default error mode of each kind of handler. */
export const DEFAULT_ERRORS: Readonly<Record<AnyHandler['kind'], ErrorsMode>> = {
  activity: 'temporary',
  index: 'ignored',
  watch: 'ignored',
  change: 'temporary',
  daemon: 'temporary',
  timer: 'temporary',
  reconcile: 'temporary',
  child: 'temporary',
  webhook: 'permanent',
};

const TITLES: Readonly<Record<AnyHandler['kind'], string>> = {
  activity: 'Activity',
  index: 'Indexer',
  watch: 'Handler',
  change: 'Handler',
  daemon: 'Daemon',
  timer: 'Timer',
  reconcile: 'Handler',
  child: 'Handler',
  webhook: 'Webhook',
};

/** How a handler is named in log lines: `Handler 'create_fn/spec.size'`. */
export function titleOf(handler: Pick<AnyHandler, 'kind' | 'id'>): string {
  return `${TITLES[handler.kind]} ${quoteId(handler.id)}`;
}

/** The relations that the handler needs. */
export function relationsOf(handler: AnyHandler): readonly Relation[] {
  if (handler.kind === 'child') return [handler.relation];
  return handler.kind === 'reconcile' ? [...handler.owns, ...handler.watches] : NO_RELATIONS;
}

const NO_RELATIONS: readonly Relation[] = [];
