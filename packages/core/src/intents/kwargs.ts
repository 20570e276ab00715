/**
 * The keyword arguments of handlers and filters: one object to destructure, typed per kind of handler. The names are
 * Kopf's; each kind gets only those that make sense for it.
 */
import type { Api } from '../seams/api.js';
import type { KubeClient } from '../seams/client.js';
import type { Seconds } from '../seams/clock.js';
import type { Logger } from '../seams/logger.js';
import type { Index, Indices } from '../seams/memory/indexing.js';
import type { Settings } from '../settings.js';
import type { Diff } from '../values/diff.js';
import type { FieldPath, ValueAt } from '../values/fields.js';
import { type DeepReadonly, type Mapping, setOwn } from '../values/json.js';
import type { AnyObject, Body, ObjectMeta } from '../values/objects/body.js';
import { bodyViews } from '../values/objects/views.js';
import type { PatchOf } from '../values/patches/patch.js';
import type { Resource, ResourceToken, SpecOf, StatusOf } from '../values/resources/resource.js';
import type { SelectorSpec } from '../values/resources/selector.js';
import type { Operation, UserInfo } from '../values/review.js';
import type { Cause, ChildChange, HandlingReason, ReconcileReason, ResourceCause, WebhookCause } from './causes.js';
import type { Activity, AnyHandler } from './handlers.js';
import type { Progress } from './progress.js';

/**
 * The types that an operator adds: its memo, and the indices that are flattened into kwargs.
 *
 * ```ts
 * interface MyEnv extends kopf.Env {
 *   memo: { calls: number };
 *   indices: { podsByNode: kopf.Index<string, string> };
 * }
 * const registry = kopf.createRegistry<MyEnv>();
 * registry.on.event('pods', ({ memo, podsByNode, logger }) => {
 *   memo.calls += 1;
 *   logger.info(`Call ${memo.calls}; ${podsByNode.size} nodes are in use.`);
 * });
 * ```
 */
export interface Env {
  // biome-ignore lint/suspicious/noExplicitAny: an untyped memo is used freely, as in Kopf
  memo: any;
  indices: Readonly<Record<string, Index>>;
}
/**
 * The types of an operator that declares none: an untyped memo; indices are reached by their tokens.
 *
 * ```ts
 * const registry: kopf.Registry<kopf.DefaultEnv> = kopf.createRegistry();
 * registry.on.create('kopfexamples', ({ memo }) => {
 *   memo.greeted = true;
 * });
 * ```
 */
export interface DefaultEnv extends Env {
  // biome-ignore lint/complexity/noBannedTypes: no flattened indices are known to the compiler
  indices: {};
}

/**
 * The type of the objects: that of a resource token, or the given type itself.
 *
 * ```ts
 * const examples = kopf.resource<{ size: number }>({ plural: 'kopfexamples' });
 * type KopfExample = kopf.ObjectOf<typeof examples>;
 * const sizeOf = ({ spec }: KopfExample): number => spec.size;
 * ```
 */
export type ObjectOf<R> = R extends ResourceToken<infer T> ? T : R extends object ? R : AnyObject;

/**
 * The type of `namespace` for the objects of a resource token; for any other type, it is unknown.
 *
 * ```ts
 * const nodes = kopf.resource({ group: '', version: 'v1', plural: 'nodes', namespaced: false });
 * type Nowhere = kopf.NamespaceOf<typeof nodes>; // undefined
 * ```
 */
export type NamespaceOf<R> = R extends ResourceToken<infer _, infer N> ? N : AnyNamespace;
type AnyNamespace = string | undefined;

/** Includes the indices by name, for handlers and filters alike. */
type OperatorKwargs<E extends Env> = E['indices'] & {
  readonly logger: Logger;
  readonly memo: E['memo'];
  readonly indices: Indices;
  /** A client for the cluster, with the operator's own credentials. */
  readonly client: KubeClient;
};

/** The data of this very call; handlers get it, filters do not. */
interface CallKwargs<P> {
  /** As given in the options. */
  readonly param: P;
  /** The number of attempts before this one. */
  readonly retry: number;
  /** The time of the first attempt. */
  readonly started: Date;
  /** The time since the first attempt. */
  readonly runtime: Seconds;
  /** Aborted when the handler times out or is no longer needed: pass it to long-running operations. */
  readonly signal: AbortSignal;
  /**
   * Verbs over the cluster: `api('pods').get('web')`. They default to the namespace of the handled object, end with the
   * call, and use the operator's credentials. Their changes to an object that this operator handles count as its own
   * changes, like those of `patch`.
   */
  readonly api: Api;
}

/**
 * The children of the handled object, from memory, for kinds that are declared as children by `kopf.owns`, `on.child`,
 * or `on.reconcile`. All of them are known before the first handler is called, including what this operator wrote by
 * its verbs. The order is arbitrary.
 *
 * ```ts
 * kopf.owns('kopfexamples', 'pods');
 * kopf.timer('kopfexamples', { interval: 60 }, ({ children, patch }) => {
 *   const pods: kopf.Children = children;
 *   patch.status.pods = pods('pods').length;
 * });
 * ```
 */
export interface Children {
  <T extends object>(kind: ResourceToken<T, AnyNamespace>): readonly Body<T>[];
  (kind: Exclude<SelectorSpec, ResourceToken>): readonly Body[];
}

interface RelatedKwargs {
  /** Returns the object's children of a kind: `children('pods')`. */
  readonly children: Children;
}

type ObjectKwargs<T extends object, N extends AnyNamespace> = ObjectOnlyKwargs<T> & NamespaceKwargs<N>;

/** Cluster-scoped objects have no namespace, so it cannot be destructured by mistake. */
type NamespaceKwargs<N extends AnyNamespace> = [N] extends [undefined]
  ? unknown
  : {
      /** `undefined` for cluster-scoped objects. */
      readonly namespace: N;
    };

interface ObjectOnlyKwargs<T extends object> {
  readonly resource: Resource;
  readonly body: Body<T>;
  readonly spec: DeepReadonly<SpecOf<T>>;
  readonly meta: DeepReadonly<ObjectMeta>;
  readonly status: DeepReadonly<StatusOf<T>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly uid: string;
  readonly name: string;
  /** The changes to make in the object after the call: a merge-patch to fill in, and `fns` for everything else. */
  readonly patch: PatchOf<T>;
}

/** With a literal field: the value of that field; without: the essence, i.e. the user's part of the object. */
type OldOrNew<T extends object, F extends string> = [F] extends [never]
  ? DeepReadonly<Mapping & Partial<Pick<T, Extract<keyof T, 'spec'>>>>
  : DeepReadonly<ValueAt<T, F>>;

interface ChangeOnlyKwargs<T extends object, F extends string> {
  readonly reason: HandlingReason;
  /**
   * Whether the object existed when the operator started, and has not been fully handled since: it may have been
   * created, changed, or left alone while there was no operator.
   */
  readonly initial: boolean;
  readonly diff: Diff;
  readonly old: OldOrNew<T, F> | undefined;
  readonly new: OldOrNew<T, F> | undefined;
}

interface AdmissionOnlyKwargs<T extends object> {
  readonly dryrun: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly sslpeer: Readonly<Record<string, unknown>>;
  readonly userinfo: UserInfo;
  /** Shown to the requester. */
  readonly warnings: string[];
  readonly operation: Operation;
  readonly subresource: string | undefined;
  readonly old: Body<T> | undefined;
  readonly new: Body<T> | undefined;
  readonly diff: Diff;
}

interface UnnamedYet {
  /** Absent while an object with a generated name is being created. */
  readonly uid: string | undefined;
  readonly name: string | undefined;
}

/** The kwargs of filters: all but the data of the call. */
export type WatchFilterKwargs<
  T extends object,
  E extends Env,
  N extends AnyNamespace = AnyNamespace,
> = OperatorKwargs<E> & ObjectKwargs<T, N> & EventOnlyKwargs<T>;
export type ChangeFilterKwargs<
  T extends object,
  E extends Env,
  N extends AnyNamespace = AnyNamespace,
> = OperatorKwargs<E> & ObjectKwargs<T, N> & ChangeOnlyKwargs<T, never>;
export type ObjectFilterKwargs<
  T extends object,
  E extends Env,
  N extends AnyNamespace = AnyNamespace,
> = OperatorKwargs<E> & ObjectKwargs<T, N>;
export type AdmissionFilterKwargs<
  T extends object,
  E extends Env,
  N extends AnyNamespace = AnyNamespace,
> = OperatorKwargs<E> &
  Omit<ObjectOnlyKwargs<T>, keyof UnnamedYet> &
  NamespaceKwargs<N> &
  UnnamedYet &
  AdmissionOnlyKwargs<T>;

interface EventOnlyKwargs<T extends object> {
  readonly event: { readonly type: EventType; readonly object: Body<T> };
  readonly type: EventType;
}
type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | null;

// The registrars infer the type of the objects from these, which take it as it is. Their namesakes below take a token
// as well, for handlers that are written apart; inferring through that choice would find the token, not the object.
export type ChangeKwargs<
  T extends object,
  P,
  E extends Env,
  F extends string,
  N extends AnyNamespace = AnyNamespace,
> = CallKwargs<P> &
  OperatorKwargs<E> &
  ObjectKwargs<T, N> &
  RelatedKwargs &
  ChangeOnlyKwargs<T, F> & {
    /** The progress of the object's handlers with this change, by handler id, as of now. */
    readonly progress: Progress;
  };
export type WatchKwargs<T extends object, P, E extends Env, N extends AnyNamespace = AnyNamespace> = CallKwargs<P> &
  RelatedKwargs &
  WatchFilterKwargs<T, E, N>;
export type IndexingKwargs<T extends object, P, E extends Env, N extends AnyNamespace = AnyNamespace> = CallKwargs<P> &
  ObjectFilterKwargs<T, E, N>;
export type DaemonKwargs<T extends object, P, E extends Env, N extends AnyNamespace = AnyNamespace> = IndexingKwargs<
  T,
  P,
  E,
  N
> &
  RelatedKwargs & {
    /**
     * Aborted as soon as the daemon must exit; its reason tells why. `signal` is aborted only when the grace period is
     * over.
     */
    readonly stopped: AbortSignal;
  };
export type ReconcileKwargs<T extends object, P, E extends Env, N extends AnyNamespace = AnyNamespace> = CallKwargs<P> &
  ObjectFilterKwargs<T, E, N> &
  RelatedKwargs & {
    /** All the reasons since the last call. */
    readonly reasons: ReadonlySet<ReconcileReason>;
  };
export type ChildKwargs<
  T extends object,
  C extends object,
  P,
  E extends Env,
  N extends AnyNamespace = AnyNamespace,
> = CallKwargs<P> &
  ObjectFilterKwargs<T, E, N> & {
    /** The object itself: the same as `body`. */
    readonly parent: Body<T>;
    /** The latest changed child. Unknown if it changed while there was no operator. */
    readonly child: Body<C> | undefined;
    /** All children that changed since the last call; empty if they changed while there was no operator. */
    readonly changes: readonly ChildChange<C>[];
    /** Whether the changes were made while there was no operator. */
    readonly initial: boolean;
    /** All children of that kind or of another one: `children()`, `children('pods')`. */
    readonly children: Children & (() => readonly Body<C>[]);
  };
export type AdmissionKwargs<T extends object, P, E extends Env, N extends AnyNamespace = AnyNamespace> = CallKwargs<P> &
  AdmissionFilterKwargs<T, E, N>;

/**
 * For `on.create`, `on.update`, `on.delete`, `on.resume`, `on.field`, and sub-handlers.
 *
 * ```ts
 * export async function greet({ name, reason, logger }: kopf.Change): Promise<void> {
 *   logger.info(`${name}: ${reason}`);
 * }
 * kopf.on.create('kopfexamples', greet);
 * kopf.on.update('kopfexamples', greet);
 * ```
 */
export type Change<R = AnyObject, P = undefined, E extends Env = DefaultEnv, F extends string = never> = ChangeKwargs<
  ObjectOf<R>,
  P,
  E,
  F,
  NamespaceOf<R>
>;

/**
 * For `on.event`.
 *
 * ```ts
 * export function trace({ type, name, logger }: kopf.Watch): void {
 *   logger.info(`${type ?? 'listed'}: ${name}`);
 * }
 * kopf.on.event('pods', trace);
 * ```
 */
export type Watch<R = AnyObject, P = undefined, E extends Env = DefaultEnv> = WatchKwargs<
  ObjectOf<R>,
  P,
  E,
  NamespaceOf<R>
>;

/**
 * For `index`.
 *
 * ```ts
 * export function byIp({ body, name }: kopf.Indexing): Record<string, string> {
 *   return { [String(body.status?.podIP)]: String(name) };
 * }
 * kopf.index('pods', byIp);
 * ```
 */
export type Indexing<R = AnyObject, P = undefined, E extends Env = DefaultEnv> = IndexingKwargs<
  ObjectOf<R>,
  P,
  E,
  NamespaceOf<R>
>;

/**
 * For `daemon` and `timer`: the views of the object are live and show its newest state.
 *
 * ```ts
 * export async function watchOver({ stopped, name, logger }: kopf.Daemon): Promise<void> {
 *   while (!stopped.aborted) {
 *     logger.info(`${name} is still there.`);
 *     await kopf.sleep(60);
 *   }
 * }
 * kopf.daemon('kopfexamples', watchOver);
 * ```
 */
export type Daemon<R = AnyObject, P = undefined, E extends Env = DefaultEnv> = DaemonKwargs<
  ObjectOf<R>,
  P,
  E,
  NamespaceOf<R>
>;

/**
 * For `on.reconcile`.
 *
 * ```ts
 * export async function reconcile({ children, spec, api, body }: kopf.Reconcile): Promise<void> {
 *   const missing = Number(spec.replicas) - children('pods').length;
 *   for (let n = 0; n < missing; n++) await api('pods').create({ metadata: { generateName: 'worker-' } }, { owner: body });
 * }
 * kopf.on.reconcile('kopfexamples', { owns: ['pods'] }, reconcile);
 * ```
 */
export type Reconcile<R = AnyObject, P = undefined, E extends Env = DefaultEnv> = ReconcileKwargs<
  ObjectOf<R>,
  P,
  E,
  NamespaceOf<R>
>;

/**
 * For `on.child`.
 *
 * ```ts
 * export function count({ children, patch }: kopf.ChildOf): void {
 *   patch.status.pods = children().length;
 * }
 * kopf.on.child('kopfexamples', 'pods', count);
 * ```
 */
export type ChildOf<R = AnyObject, C = AnyObject, P = undefined, E extends Env = DefaultEnv> = ChildKwargs<
  ObjectOf<R>,
  ObjectOf<C>,
  P,
  E,
  NamespaceOf<R>
>;

/**
 * For `on.validate` and `on.mutate`.
 *
 * ```ts
 * export function requireSize({ spec, warnings }: kopf.Admission): void {
 *   if (spec.size === undefined) throw new kopf.AdmissionError('The size is missing.', { code: 400 });
 *   if (spec.size > 100) warnings.push('That much is expensive.');
 * }
 * kopf.on.validate('kopfexamples', requireSize);
 * ```
 */
export type Admission<R = AnyObject, P = undefined, E extends Env = DefaultEnv> = AdmissionKwargs<
  ObjectOf<R>,
  P,
  E,
  NamespaceOf<R>
>;

/**
 * For `on.startup`, `on.cleanup`, `on.login`, `on.probe`.
 *
 * ```ts
 * export function tune({ settings, logger }: kopf.ActivityKwargs): void {
 *   settings.queueing.workerLimit = 20;
 *   logger.info('Twenty objects at once.');
 * }
 * kopf.on.startup(tune);
 * ```
 */
export type ActivityKwargs<P = undefined, E extends Env = DefaultEnv> = CallKwargs<P> &
  OperatorKwargs<E> & { readonly activity: Activity; readonly settings: Settings };

/** Kwargs under construction. */
export type Kwargs = Record<string, unknown>;

/**
 * The kwargs that a cause provides to its handlers and filters: everything but the data of the call. Indices come last,
 * so that an index replaces a kwarg of the same name: then a kwarg that is added in a later version cannot break an
 * operator that already has such an index.
 */
export function causeKwargs(cause: Cause): Kwargs {
  const kwargs = ownKwargs(cause);
  for (const [name, index] of cause.indices ?? []) setOwn(kwargs, name, index);
  if (cause.kind === 'webhook') addComparison(kwargs, cause);
  return kwargs;
}

const REVIEWED: unique symbol = Symbol('kopf-ts.reviewed');
type OfReview = ThisType<{ readonly [REVIEWED]: WebhookCause }>;

// One for all kwargs: with getters of their own in each of them, the engine would take them for dictionaries.
const OLD: PropertyDescriptor & OfReview = {
  get() {
    return this[REVIEWED].old;
  },
  enumerable: true,
  configurable: true,
};
const DIFF: PropertyDescriptor & OfReview = {
  get() {
    return this[REVIEWED].diff;
  },
  enumerable: true,
  configurable: true,
};

/** The cause makes these on demand: few handlers need them, and the requester waits meanwhile. */
function addComparison(kwargs: Kwargs & { [REVIEWED]?: WebhookCause }, cause: WebhookCause): void {
  kwargs[REVIEWED] = cause;
  if (!Object.hasOwn(kwargs, 'old')) Object.defineProperty(kwargs, 'old', OLD);
  if (!Object.hasOwn(kwargs, 'diff')) Object.defineProperty(kwargs, 'diff', DIFF);
}

function ownKwargs(cause: Cause): Kwargs {
  const { logger, memo, indices, client } = cause;
  switch (cause.kind) {
    case 'activity':
      return { logger, memo, indices, client, activity: cause.activity, settings: cause.settings };
    case 'watching':
      return Object.assign(objectKwargs(cause), { event: cause.event, type: cause.event.type });
    case 'changing': {
      const { reason, diff, old, initial } = cause;
      return Object.assign(objectKwargs(cause), {
        reason,
        initial: cause.isListed ?? initial,
        diff,
        old,
        new: cause.new,
      });
    }
    case 'webhook': {
      const { dryrun, headers, sslpeer, userinfo, warnings, operation, subresource } = cause;
      const review = { dryrun, headers, sslpeer, userinfo, warnings, operation, subresource, new: cause.new };
      return Object.assign(objectKwargs(cause), review);
    }
    case 'related': {
      const { reasons, changes, initial, body } = cause;
      if (changes === undefined) return Object.assign(objectKwargs(cause), { reasons });
      const child = changes.at(-1)?.child;
      return Object.assign(objectKwargs(cause), { parent: body, child, changes, initial: initial ?? false });
    }
    case 'indexing':
    case 'spawning':
    case 'daemon':
      return objectKwargs(cause);
  }
}

/** Spelled out rather than spread: this runs for each handler in each event, and spreading is slow. */
function objectKwargs(cause: ResourceCause): Kwargs {
  const { logger, memo, indices, client, resource, patch } = cause;
  const isLive = cause.kind === 'daemon';
  // The identity never changes; everything else follows the object if it is to be live.
  const views = bodyViews(isLive ? cause.live.newest : cause.body);
  const { spec, meta, status, labels, annotations } = isLive ? cause.live : views;
  const body = isLive ? cause.live.body : cause.body;
  const { uid, name, namespace } = views;
  return {
    logger,
    memo,
    indices,
    client,
    resource,
    patch,
    body,
    spec,
    meta,
    status,
    labels,
    annotations,
    uid,
    name,
    namespace,
  };
}

const OF_CALL = ['param', 'retry', 'started', 'runtime', 'signal'];
const OF_OPERATOR = ['logger', 'memo', 'indices', 'client', 'api'];
const OF_OBJECT = [
  ...['resource', 'patch', 'body', 'spec', 'meta', 'status'],
  ...['labels', 'annotations', 'uid', 'name', 'namespace'],
];
const COMPARED = ['old', 'new', 'diff'];
const OF_REVIEW = ['dryrun', 'headers', 'sslpeer', 'userinfo', 'warnings', 'operation', 'subresource'];

const NAMES: Readonly<Record<AnyHandler['kind'], readonly string[]>> = {
  activity: [...OF_CALL, ...OF_OPERATOR, 'activity', 'settings'],
  index: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT],
  watch: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT, 'children', 'event', 'type'],
  change: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT, ...COMPARED, 'children', 'reason', 'progress', 'initial'],
  daemon: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT, 'children', 'stopped'],
  timer: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT, 'children', 'stopped'],
  reconcile: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT, 'children', 'reasons'],
  child: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT, 'children', 'parent', 'child', 'changes', 'initial'],
  webhook: [...OF_CALL, ...OF_OPERATOR, ...OF_OBJECT, ...COMPARED, ...OF_REVIEW],
};

/** The kwargs that handlers of this kind get, besides the indices. */
export function kwargNames(kind: AnyHandler['kind']): readonly string[] {
  return NAMES[kind];
}

/** The path of a handler's field, if it has any. */
export function fieldOf(handler: { readonly field?: FieldPath }): FieldPath | undefined {
  return handler.field !== undefined && handler.field.length > 0 ? handler.field : undefined;
}
