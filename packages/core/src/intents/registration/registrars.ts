/**
 * The shapes of `on.create`, `daemon`, `index` and the others, as the compiler sees them.
 *
 * Each takes `(selector, options?, handler)` and registers at once; without the handler, it is a decorator for
 * class methods, or a function to call with the handler later. What the handler gets is inferred from the selector
 * (a resource token carries the type of its objects), from `field` and from `param`.
 */
import type { Awaitable } from '../../seams/awaitable.js';
import type { Seconds } from '../../seams/clock.js';
import type { ConnectionInfo } from '../../seams/credentials.js';
import type { IndexRef } from '../../seams/memory/indexing.js';
import type { AnyObject } from '../../values/objects/body.js';
import type { ResourceToken } from '../../values/resources/resource.js';
import type { SelectorSpec } from '../../values/resources/selector.js';
import type {
  ActivityKwargs,
  AdmissionFilterKwargs,
  AdmissionKwargs,
  ChangeFilterKwargs,
  ChangeKwargs,
  ChildKwargs,
  DaemonKwargs,
  Env,
  IndexingKwargs,
  ObjectFilterKwargs,
  ReconcileKwargs,
  WatchFilterKwargs,
  WatchKwargs,
} from '../kwargs.js';
import type {
  AdmissionOnlyOptions,
  ChangeFilterOptions,
  DaemonOnlyOptions,
  DeleteOnlyOptions,
  EventExecutionOptions,
  ExecutionOptions,
  FilterOptions,
  IdentityOptions,
  ReconcileOnlyOptions,
  RelatingOptions,
  ResumeOnlyOptions,
  TimerOnlyOptions,
} from './options.js';

/**
 * Any selector without the type of the objects. It has its own overloads: while the type is yet to be
 * inferred, the compiler tells nothing of the kwargs to the combinators of filters, as in `when: not(({ name }) => …)`.
 */
type Untyped = Exclude<SelectorSpec, ResourceToken>;
/** Any selector; a token also carries the type of the objects. */
type Selecting<T extends object, N extends Place> = ResourceToken<T, N> | Untyped;
/** The type of `namespace`; a token carries it as well. */
type Place = string | undefined;

/** The kwargs of each registrar's handlers. */
interface KwargsOf<T extends object, F extends string, P, E extends Env, N extends Place> {
  create: ChangeKwargs<T, P, E, F, N>;
  update: ChangeKwargs<T, P, E, F, N>;
  delete: ChangeKwargs<T, P, E, F, N>;
  resume: ChangeKwargs<T, P, E, F, N>;
  field: ChangeKwargs<T, P, E, F, N>;
  event: WatchKwargs<T, P, E, N>;
  validate: AdmissionKwargs<T, P, E, N>;
  mutate: AdmissionKwargs<T, P, E, N>;
  daemon: DaemonKwargs<T, P, E, N>;
  timer: DaemonKwargs<T, P, E, N>;
  index: IndexingKwargs<T, P, E, N>;
  reconcile: ReconcileKwargs<T, P, E, N>;
}

type ChangeOptions<T extends object, F extends string, P, E extends Env, N extends Place> = IdentityOptions<P> &
  ExecutionOptions &
  FilterOptions<T, F, ChangeFilterKwargs<T, E, N>>;
type UpdateOptions<T extends object, F extends string, P, E extends Env, N extends Place> = ChangeOptions<
  T,
  F,
  P,
  E,
  N
> &
  ChangeFilterOptions<T, F, ChangeFilterKwargs<T, E, N>>;
type BackgroundOptions<T extends object, F extends string, P, E extends Env, N extends Place> = IdentityOptions<P> &
  ExecutionOptions &
  FilterOptions<T, F, ObjectFilterKwargs<T, E, N>>;
type AdmissionOptions<T extends object, F extends string, P, E extends Env, N extends Place> = IdentityOptions<P> &
  FilterOptions<T, F, AdmissionFilterKwargs<T, E, N>> &
  AdmissionOnlyOptions;

/** The options of each registrar. */
interface OptionsOf<T extends object, F extends string, P, E extends Env, N extends Place> {
  create: ChangeOptions<T, F, P, E, N>;
  update: UpdateOptions<T, F, P, E, N>;
  delete: ChangeOptions<T, F, P, E, N> & DeleteOnlyOptions;
  resume: ChangeOptions<T, F, P, E, N> & ResumeOnlyOptions;
  field: UpdateOptions<T, F, P, E, N> & { readonly field: NonNullable<unknown> };
  event: IdentityOptions<P> & EventExecutionOptions & FilterOptions<T, F, WatchFilterKwargs<T, E, N>>;
  validate: AdmissionOptions<T, F, P, E, N>;
  mutate: AdmissionOptions<T, F, P, E, N>;
  daemon: BackgroundOptions<T, F, P, E, N> & DaemonOnlyOptions<ObjectFilterKwargs<T, E, N>>;
  timer: BackgroundOptions<T, F, P, E, N> & TimerOnlyOptions<ObjectFilterKwargs<T, E, N>>;
  index: BackgroundOptions<T, F, P, E, N>;
  reconcile: BackgroundOptions<T, F, P, E, N> & ReconcileOnlyOptions<ReconcileKwargs<T, NoInfer<P>, E, N>>;
}

/**
 * For class methods; or for functions: `on.create('kopfexamples')(fn)`.
 *
 * ```ts
 * class Volumes {
 *   @kopf.on.create('kopfexamples')
 *   async provision({ name, logger }: kopf.Change): Promise<void> {
 *     logger.info(`Provisioning ${name}.`);
 *   }
 * }
 * new Volumes();
 * ```
 */
export type HandlerDecorator<K, R = unknown> = <Fn extends (this: never, kwargs: K) => Awaitable<R>>(
  fn: Fn,
  context?: ClassMethodDecoratorContext,
) => Fn;

/**
 * A handler as returned by the registrars: the same function that they were given.
 *
 * ```ts
 * const greet: kopf.Registered<kopf.Change> = ({ name, logger }) => logger.info(`Hello, ${name}!`);
 * kopf.on.create('kopfexamples', greet);
 * ```
 */
export type Registered<K, R = unknown> = (kwargs: K) => Awaitable<R>;

/**
 * Declares a handler of a kind of resource: `on.create`, `on.event`, `daemon`, and the like. It takes a selector,
 * options if there are any, and the function; without the function, it makes a decorator.
 *
 * ```ts
 * kopf.on.update('kopfexamples', { labels: { tier: 'gold' }, retries: 5 }, async ({ spec, patch }) => {
 *   patch.status.size = spec.size;
 * });
 * ```
 */
export interface ResourceRegistrar<Name extends keyof OptionsOf<object, never, never, Env, Place>, E extends Env> {
  <const F extends string = never, P = undefined>(
    selector: Untyped,
    options: OptionsOf<AnyObject, F, P, E, Place>[Name],
    handler: (kwargs: KwargsOf<AnyObject, NoInfer<F>, NoInfer<P>, E, Place>[Name]) => Awaitable<unknown>,
  ): Registered<KwargsOf<AnyObject, F, P, E, Place>[Name]>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, N extends Place = Place>(
    selector: Selecting<T, N>,
    options: OptionsOf<T, F, P, E, N>[Name],
    handler: (kwargs: KwargsOf<T, NoInfer<F>, NoInfer<P>, E, N>[Name]) => Awaitable<unknown>,
  ): Registered<KwargsOf<T, F, P, E, N>[Name]>;
  <T extends object = AnyObject, N extends Place = Place>(
    selector: Selecting<T, N>,
    handler: (kwargs: KwargsOf<T, never, undefined, E, N>[Name]) => Awaitable<unknown>,
  ): Registered<KwargsOf<T, never, undefined, E, N>[Name]>;
  <const F extends string = never, P = undefined>(
    selector: Untyped,
    options?: OptionsOf<AnyObject, F, P, E, Place>[Name],
  ): HandlerDecorator<KwargsOf<AnyObject, F, P, E, Place>[Name]>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, N extends Place = Place>(
    selector: Selecting<T, N>,
    options?: OptionsOf<T, F, P, E, N>[Name],
  ): HandlerDecorator<KwargsOf<T, F, P, E, N>[Name]>;
}

/**
 * The result of a reconciling handler: when to call it again if nothing happens before. `0` seconds means at once.
 *
 * ```ts
 * kopf.on.reconcile('kopfexamples', async ({ name }): Promise<kopf.Requeue> => {
 *   const answer = await fetch(`https://example.com/volumes/${name}`);
 *   return answer.ok ? {} : { requeueAfter: 10 };
 * });
 * ```
 */
export interface Requeue {
  readonly requeueAfter?: Seconds | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a function without a `return` wants nothing
type Reconciled = Awaitable<Requeue | null | undefined | void>;

/**
 * Declares a handler that makes the world match the object. It is called with the present object, whatever has happened to
 * it or to its children: once for all events together, and one call at a time per object.
 *
 * ```ts
 * kopf.on.reconcile('kopfexamples', { owns: ['configmaps'] }, async ({ name, spec, body, api, children }) => {
 *   if (children('configmaps').length > 0) return;
 *   await api('configmaps').create({ metadata: { name }, data: { size: String(spec.size) } }, { owner: body });
 * });
 * ```
 */
export interface ReconcileRegistrar<E extends Env> {
  <const F extends string = never, P = undefined>(
    selector: Untyped,
    options: OptionsOf<AnyObject, F, P, E, Place>['reconcile'],
    handler: (kwargs: KwargsOf<AnyObject, NoInfer<F>, NoInfer<P>, E, Place>['reconcile']) => Reconciled,
  ): Registered<KwargsOf<AnyObject, F, P, E, Place>['reconcile']>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, N extends Place = Place>(
    selector: Selecting<T, N>,
    options: OptionsOf<T, F, P, E, N>['reconcile'],
    handler: (kwargs: KwargsOf<T, NoInfer<F>, NoInfer<P>, E, N>['reconcile']) => Reconciled,
  ): Registered<KwargsOf<T, F, P, E, N>['reconcile']>;
  <T extends object = AnyObject, N extends Place = Place>(
    selector: Selecting<T, N>,
    handler: (kwargs: KwargsOf<T, never, undefined, E, N>['reconcile']) => Reconciled,
  ): Registered<KwargsOf<T, never, undefined, E, N>['reconcile']>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, N extends Place = Place>(
    selector: Selecting<T, N>,
    options?: OptionsOf<T, F, P, E, N>['reconcile'],
  ): HandlerDecorator<KwargsOf<T, F, P, E, N>['reconcile'], Awaited<Reconciled>>;
}

/**
 * `on.field` has no form without options: the field is mandatory.
 *
 * ```ts
 * kopf.on.field('kopfexamples', { field: 'spec.size' }, ({ old, new: size, logger }) => {
 *   logger.info(`Resizing from ${old} to ${size}.`);
 * });
 * ```
 */
export interface FieldRegistrar<E extends Env> {
  <const F extends string = never, P = undefined>(
    selector: Untyped,
    options: OptionsOf<AnyObject, F, P, E, Place>['field'],
    handler: (kwargs: KwargsOf<AnyObject, NoInfer<F>, NoInfer<P>, E, Place>['field']) => Awaitable<unknown>,
  ): Registered<KwargsOf<AnyObject, F, P, E, Place>['field']>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, N extends Place = Place>(
    selector: Selecting<T, N>,
    options: OptionsOf<T, F, P, E, N>['field'],
    handler: (kwargs: KwargsOf<T, NoInfer<F>, NoInfer<P>, E, N>['field']) => Awaitable<unknown>,
  ): Registered<KwargsOf<T, F, P, E, N>['field']>;
  <const F extends string = never, P = undefined>(
    selector: Untyped,
    options: OptionsOf<AnyObject, F, P, E, Place>['field'],
  ): HandlerDecorator<KwargsOf<AnyObject, F, P, E, Place>['field']>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, N extends Place = Place>(
    selector: Selecting<T, N>,
    options: OptionsOf<T, F, P, E, N>['field'],
  ): HandlerDecorator<KwargsOf<T, F, P, E, N>['field']>;
}

type ChildOptions<
  T extends object,
  F extends string,
  P,
  E extends Env,
  N extends Place,
  C extends object,
> = BackgroundOptions<T, F, P, E, N> &
  RelatingOptions<C> & {
    /** Only changes of these fields of children count: `['status.phase']`. Default: all changes. */
    readonly fields?: readonly (string | readonly string[])[] | undefined;
  };

/**
 * `on.child` takes two kinds: that of the parents, whose handler it is, and that of their children.
 *
 * ```ts
 * kopf.on.child('kopfexamples', 'pods', { fields: ['status.phase'] }, ({ child, children, patch }) => {
 *   patch.status.pods = children().length;
 *   patch.status.latest = child?.metadata?.name;
 * });
 * ```
 */
export interface ChildRegistrar<E extends Env> {
  <
    T extends object = AnyObject,
    C extends object = AnyObject,
    const F extends string = never,
    P = undefined,
    N extends Place = Place,
  >(
    parent: Selecting<T, N>,
    child: ChildSelecting<C>,
    options: ChildOptions<T, F, P, E, N, C>,
    handler: (kwargs: ChildKwargs<T, C, NoInfer<P>, E, N>) => Awaitable<void>,
  ): Registered<ChildKwargs<T, C, P, E, N>, void>;
  <T extends object = AnyObject, C extends object = AnyObject, N extends Place = Place>(
    parent: Selecting<T, N>,
    child: ChildSelecting<C>,
    handler: (kwargs: ChildKwargs<T, C, undefined, E, N>) => Awaitable<void>,
  ): Registered<ChildKwargs<T, C, undefined, E, N>, void>;
  <
    T extends object = AnyObject,
    C extends object = AnyObject,
    const F extends string = never,
    P = undefined,
    N extends Place = Place,
  >(
    parent: Selecting<T, N>,
    child: ChildSelecting<C>,
    options?: ChildOptions<T, F, P, E, N, C>,
  ): HandlerDecorator<ChildKwargs<T, C, P, E, N>, void>;
}

/** Without functions: the handler would be mistaken for one. */
type ChildSelecting<C extends object> = ResourceToken<C, Place> | Exclude<Untyped, (...args: never[]) => unknown>;

/**
 * Declares that objects of one kind belong to objects of another kind, so that handlers of the latter get them from
 * `children()`. It calls no handlers.
 *
 * ```ts
 * kopf.owns('kopfexamples', 'pods');
 * kopf.owns('kopfexamples', 'secrets', { by: { label: 'example.com/of' } });
 * kopf.on.update('kopfexamples', ({ children, logger }) => {
 *   logger.info(`${children('pods').length} pods, ${children('secrets').length} secrets`);
 * });
 * ```
 */
export type OwnsRegistrar = <C extends object = AnyObject>(
  parent: SelectorSpec,
  child: ChildSelecting<C>,
  options?: RelatingOptions<C>,
) => void;

type Present<R> = Exclude<Awaited<R>, null | undefined>;
type IsMapping<R> = R extends readonly unknown[] | ReadonlySet<unknown> | Date | ((...args: never[]) => unknown)
  ? false
  : R extends object
    ? true
    : false;

/**
 * The keys of an index, inferred from the result of its function; results other than mappings are stored under `null`.
 *
 * ```ts
 * type Key = kopf.IndexKey<{ [ip: string]: kopf.Body }>; // string
 * ```
 */
export type IndexKey<R> =
  Present<R> extends infer V
    ? V extends ReadonlyMap<infer K, unknown>
      ? K
      : IsMapping<V> extends true
        ? string
        : null
    : never;

/**
 * The values of an index, inferred from the result of its function.
 *
 * ```ts
 * type Value = kopf.IndexValue<{ [ip: string]: kopf.Body }>; // kopf.Body
 * ```
 */
export type IndexValue<R> =
  Present<R> extends infer V
    ? V extends ReadonlyMap<unknown, infer Value>
      ? Value
      : IsMapping<V> extends true
        ? V[keyof V]
        : V
    : never;

/**
 * Returns a token that finds the index among `indices` with its types.
 *
 * ```ts
 * const podsByNode = kopf.index('pods', ({ body, name }) => ({ [String(body.spec.nodeName)]: name }));
 * kopf.on.event('nodes', ({ name, indices, logger }) => {
 *   logger.info(`${indices.get(podsByNode).get(name ?? '')?.size ?? 0} pods run here.`);
 * });
 * ```
 */
export interface IndexRegistrar<E extends Env> {
  <const F extends string = never, P = undefined, R = unknown>(
    selector: Untyped,
    options: OptionsOf<AnyObject, F, P, E, Place>['index'],
    handler: (kwargs: KwargsOf<AnyObject, NoInfer<F>, NoInfer<P>, E, Place>['index']) => R,
  ): IndexRef<IndexKey<R>, IndexValue<R>>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, R = unknown, N extends Place = Place>(
    selector: Selecting<T, N>,
    options: OptionsOf<T, F, P, E, N>['index'],
    handler: (kwargs: KwargsOf<T, NoInfer<F>, NoInfer<P>, E, N>['index']) => R,
  ): IndexRef<IndexKey<R>, IndexValue<R>>;
  <T extends object = AnyObject, R = unknown, N extends Place = Place>(
    selector: Selecting<T, N>,
    handler: (kwargs: KwargsOf<T, never, undefined, E, N>['index']) => R,
  ): IndexRef<IndexKey<R>, IndexValue<R>>;
  <const F extends string = never, P = undefined>(
    selector: Untyped,
    options?: OptionsOf<AnyObject, F, P, E, Place>['index'],
  ): HandlerDecorator<KwargsOf<AnyObject, F, P, E, Place>['index']>;
  <T extends object = AnyObject, const F extends string = never, P = undefined, N extends Place = Place>(
    selector: Selecting<T, N>,
    options?: OptionsOf<T, F, P, E, N>['index'],
  ): HandlerDecorator<KwargsOf<T, F, P, E, N>['index']>;
}

/**
 * Declares a handler of the operator itself: `on.startup`, `on.cleanup`, `on.login`, `on.probe`.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.posting.level = 'warn';
 * });
 * kopf.on.probe({ id: 'now' }, () => new Date().toISOString());
 * ```
 */
export interface ActivityRegistrar<E extends Env, R = unknown> {
  <P = undefined>(
    options: IdentityOptions<P> & ExecutionOptions,
    handler: (kwargs: ActivityKwargs<NoInfer<P>, E>) => Awaitable<R>,
  ): Registered<ActivityKwargs<P, E>, R>;
  (handler: (kwargs: ActivityKwargs<undefined, E>) => Awaitable<R>): Registered<ActivityKwargs<undefined, E>, R>;
  <P = undefined>(options?: IdentityOptions<P> & ExecutionOptions): HandlerDecorator<ActivityKwargs<P, E>, R>;
}

/**
 * A login handler may have nothing to offer; then the other login handlers are called.
 *
 * ```ts
 * kopf.on.login((): kopf.LoginResult => {
 *   const token = process.env.CLUSTER_TOKEN;
 *   return token === undefined ? undefined : { server: 'https://cluster.example.com:6443', token };
 * });
 * ```
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a `return` has nothing to offer, too
export type LoginResult = ConnectionInfo | null | undefined | void;

/**
 * The registrars of handlers for resources and for the operator itself.
 *
 * ```ts
 * const { on }: { on: kopf.On<kopf.DefaultEnv> } = kopf.createRegistry();
 * on.resume('kopfexamples', ({ logger }) => logger.info('Back again.'));
 * ```
 */
export interface On<E extends Env> {
  readonly child: ChildRegistrar<E>;
  readonly reconcile: ReconcileRegistrar<E>;
  readonly startup: ActivityRegistrar<E>;
  readonly cleanup: ActivityRegistrar<E>;
  readonly login: ActivityRegistrar<E, LoginResult>;
  readonly probe: ActivityRegistrar<E>;
  readonly event: ResourceRegistrar<'event', E>;
  readonly create: ResourceRegistrar<'create', E>;
  readonly update: ResourceRegistrar<'update', E>;
  readonly delete: ResourceRegistrar<'delete', E>;
  readonly resume: ResourceRegistrar<'resume', E>;
  readonly field: FieldRegistrar<E>;
  readonly validate: ResourceRegistrar<'validate', E>;
  readonly mutate: ResourceRegistrar<'mutate', E>;
  readonly daemon: ResourceRegistrar<'daemon', E>;
  readonly timer: ResourceRegistrar<'timer', E>;
  readonly index: IndexRegistrar<E>;
}

/**
 * All the ways to declare handlers in one registry.
 *
 * ```ts
 * // Declares the same handlers in whichever registry it is given.
 * function declareAll({ on, timer }: kopf.Registrars<kopf.DefaultEnv>): void {
 *   on.create('kopfexamples', ({ logger }) => logger.info('Created.'));
 *   timer('kopfexamples', { interval: 60 }, ({ logger }) => logger.info('Still here.'));
 * }
 * declareAll(kopf.createRegistry());
 * ```
 */
export interface Registrars<E extends Env> {
  readonly on: On<E>;
  readonly owns: OwnsRegistrar;
  readonly daemon: ResourceRegistrar<'daemon', E>;
  readonly timer: ResourceRegistrar<'timer', E>;
  readonly index: IndexRegistrar<E>;
}
