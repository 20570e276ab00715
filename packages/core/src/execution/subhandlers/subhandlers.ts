/**
 * Handlers that make handlers: for a variable number of things to do, each with its own retries and its own record.
 * They are declared while their parent runs, and are executed after it, or when it says so.
 */
import { ContextError, RegistrationError } from '../../errors.js';
import type { ChangingCause } from '../../intents/causes.js';
import { createChangeHandlers, type Handlers } from '../../intents/handler-set.js';
import { type ChangeHandler, type HandlerFn, titleOf } from '../../intents/handlers.js';
import type { Change, ChangeFilterKwargs, ChangeKwargs, DefaultEnv, ObjectOf } from '../../intents/kwargs.js';
import {
  CHANGE_FILTERS,
  type ChangeFilterOptions,
  EXECUTION,
  type ExecutionOptions,
  executionFrom,
  FILTERS,
  type FilterOptions,
  filtersFrom,
  IDENTITY,
  type IdentityOptions,
  mistake,
  type RawOptions,
  refuseUnknown,
} from '../../intents/registration/options.js';
import type { Awaitable } from '../../seams/awaitable.js';
import { functionName, handlerIdOf, quoteId } from '../../values/ids.js';
import { isMapping } from '../../values/json.js';
import type { AnyObject } from '../../values/objects/body.js';
import { currentContext, type HandlerContext, type Subhandling } from '../context.js';
import { executeInContext } from '../execute.js';
import type { LifeCycle } from '../lifecycles.js';
import { addSubhandler, executeSubhandlers } from './execute-subhandlers.js';

/**
 * The function of a sub-handler: it gets the same as any change handler.
 *
 * ```ts
 * const createVolume: kopf.SubhandlerFn = ({ name, logger }) => logger.info(`A volume for ${name}`);
 * ```
 */
export type SubhandlerFn<R = AnyObject, P = undefined> = (kwargs: Change<R, P>) => Awaitable<unknown>;

type FilterKwargs<R> = ChangeFilterKwargs<ObjectOf<R>, DefaultEnv>;

/**
 * What a sub-handler can be given: the same as a change handler.
 *
 * ```ts
 * const options: kopf.SubhandlerOptions = { id: 'volume', retries: 3, labels: { tier: 'gold' } };
 * ```
 */
export interface SubhandlerOptions<R = AnyObject, P = undefined>
  extends IdentityOptions<P>,
    ExecutionOptions,
    FilterOptions<ObjectOf<R>, string, FilterKwargs<R>>,
    ChangeFilterOptions<ObjectOf<R>, string, FilterKwargs<R>> {}

/**
 * What `register()` takes: the same, but for the filters by fields.
 *
 * ```ts
 * const options: kopf.RegisterOptions = { id: 'volume', retries: 3 };
 * ```
 */
export type RegisterOptions<R = AnyObject, P = undefined> = Omit<
  SubhandlerOptions<R, P>,
  'field' | 'value' | 'old' | 'new'
>;

type Declare<R, P> = <F extends SubhandlerFn<R, P>>(fn: F) => F;

/**
 * Declares a sub-handler of the handler that is running now. Its id is `<parent>/<id>`.
 *
 * ```ts
 * kopf.on.create('kopfexamples', () => {
 *   kopf.subhandler('replica-1', async ({ logger }) => logger.info('One'));
 *   kopf.subhandler('replica-2', { retries: 3 }, async ({ logger }) => logger.info('Two'));
 *   kopf.subhandler(function replica3({ logger }) {
 *     logger.info('Three');
 *   });
 *   kopf.subhandler({ id: 'replica-4' })(async ({ logger }) => logger.info('Four'));
 * });
 * ```
 *
 * Two sub-handlers of one parent cannot have the same id: it is an error of the parent, treated as any other error
 * in it, i.e. retried with the parent's backoff unless the parent says otherwise.
 */
export function subhandler<R = AnyObject, P = undefined>(fn: SubhandlerFn<R, P>): SubhandlerFn<R, P>;
export function subhandler<R = AnyObject, P = undefined>(id: string, fn: SubhandlerFn<R, P>): SubhandlerFn<R, P>;
export function subhandler<R = AnyObject, P = undefined>(
  options: SubhandlerOptions<R, P>,
  fn: SubhandlerFn<R, P>,
): SubhandlerFn<R, P>;
export function subhandler<R = AnyObject, P = undefined>(
  id: string,
  options: SubhandlerOptions<R, P>,
  fn: SubhandlerFn<R, P>,
): SubhandlerFn<R, P>;
export function subhandler<R = AnyObject, P = undefined>(id?: string, options?: SubhandlerOptions<R, P>): Declare<R, P>;
export function subhandler<R = AnyObject, P = undefined>(options: SubhandlerOptions<R, P>): Declare<R, P>;
export function subhandler(...args: readonly unknown[]): unknown {
  const rest = [...args];
  const fn = typeof rest.at(-1) === 'function' ? (rest.pop() as HandlerFn) : undefined;
  const id = typeof rest[0] === 'string' ? { id: rest.shift() } : {};
  const options = rest.shift() ?? {};
  if (rest.length > 0 || !isMapping(options)) {
    throw new RegistrationError(
      'subhandler() takes an id, options, and a function, in this order; each can be left out.',
    );
  }
  const declare = (declared: HandlerFn): HandlerFn => {
    declareSubhandler(declared, { ...options, ...id });
    return declared;
  };
  return fn === undefined ? declare : declare(fn);
}

/**
 * Declares a sub-handler of the handler that is running now, with the function first.
 *
 * ```ts
 * kopf.on.create('kopfexamples', ({ spec }) => {
 *   for (const disk of spec.disks) kopf.register(({ logger }) => logger.info(`Disk ${disk}`), { id: disk });
 * });
 * ```
 */
export function register<R = AnyObject, P = undefined>(
  fn: SubhandlerFn<R, P>,
  options: RegisterOptions<R, P> = {},
): SubhandlerFn<R, P> {
  const raw = options as RawOptions;
  refuseUnknown('register()', raw, [...IDENTITY, ...EXECUTION, 'labels', 'annotations', 'when']);
  declareSubhandler(fn, raw);
  return fn;
}

function declareSubhandler(fn: HandlerFn, options: RawOptions): void {
  const { parent, subhandling } = currentParent('subhandler()');
  const title = `subhandler() of ${titleOf(parent)}`;
  if (typeof fn !== 'function') throw mistake(title, 'a sub-handler must be a function');
  refuseUnknown(title, options, [...IDENTITY, ...EXECUTION, ...FILTERS, ...CHANGE_FILTERS]);
  const filters = filtersFrom(title, options);
  const canHaveChanges = parent.reason === 'update' || (parent.reason === undefined && !parent.initial);
  if ((filters.old !== undefined || filters.new !== undefined) && !canHaveChanges) {
    throw mistake(title, 'Filters old/new can only be used in update handlers; use value instead');
  }
  const handler: ChangeHandler = {
    ...newSubhandler(parent, fn, options['id'] as string | undefined),
    param: options['param'],
    ...executionFrom(title, options),
    ...filters,
  };
  addSubhandler(subhandling.handlers, handler, parent);
}

function newSubhandler(parent: ChangeHandler, fn: HandlerFn, id: string | undefined): ChangeHandler {
  if (id === undefined && functionName(fn) === undefined) {
    throw mistake(`subhandler() of ${titleOf(parent)}`, 'a sub-handler without a name needs an id; give it one');
  }
  return {
    kind: 'change',
    id: handlerIdOf({ id, fn, prefix: parent.id, fallback: 'subhandler' }),
    fn,
    param: undefined,
    ...(parent.fieldNeedsChange === undefined ? {} : { fieldNeedsChange: parent.fieldNeedsChange }),
  };
}

/**
 * Functions by their ids, or with ids of their own names.
 *
 * ```ts
 * const fns: kopf.SubhandlerFns = { volume: ({ logger }) => logger.info('A volume'), pod: async () => undefined };
 * kopf.on.create('kopfexamples', () => kopf.execute(fns));
 * ```
 */
export type SubhandlerFns<R = AnyObject> = FnsFor<ObjectOf<R>>;

/**
 * The type of the objects is inferred from what the functions take. As a method, since those written for a kind know
 * whether it has namespaces, which cannot be inferred.
 */
type FnFor<T extends object> = {
  fn(kwargs: ChangeKwargs<T, undefined, DefaultEnv, never>): Awaitable<unknown>;
}['fn'];
type FnsFor<T extends object> = Iterable<FnFor<T>> | Readonly<Record<string, FnFor<T>>>;

/**
 * Which sub-handlers are executed, and how.
 *
 * ```ts
 * const options: kopf.ExecuteOptions = { fns: { volume: ({ logger }) => logger.info('Done.') }, lifecycle: kopf.asap };
 * ```
 */
export interface ExecuteOptions<T extends object = AnyObject> {
  /** Functions by their ids, or a list of functions that have names. */
  readonly fns?: FnsFor<T> | undefined;
  /** Handlers that are already made, with their full ids. */
  readonly handlers?: Iterable<ChangeHandler> | undefined;
  /** Change handlers of a whole registry. */
  readonly registry?: { readonly handlers: Pick<Handlers, 'changing'> } | undefined;
  /**
   * Which of those that are due now are called in this round, and in which order; instead of the parent's lifecycle. The
   * rest is called in the next rounds: after each round, the progress is stored and the parent is called again.
   *
   * Whoever waits for another attempt is not due, and holds nobody up: with `oneByOne`, the second one is called while
   * the first one waits. Where one must not begin before another has ended, execute them one after another:
   *
   * ```ts
   * kopf.on.create('kopfexamples', async () => {
   *   await kopf.execute({ fns: { volume: async () => undefined } });
   *   await kopf.execute({ fns: { pod: async () => undefined } }); // reached only when the volume is done
   * });
   * ```
   */
  readonly lifecycle?: LifeCycle | undefined;
  /** Instead of the parent's. */
  readonly cause?: ChangingCause | undefined;
}

const EXECUTE = ['fns', 'handlers', 'registry', 'lifecycle', 'cause'];

/**
 * Executes the sub-handlers now: those declared so far, or those given. With what is declared, it works once per call
 * of the parent; and if it is not called at all, that is done after the parent.
 *
 * They are called in rounds: those due that the lifecycle picks, one after another; by default (`asap`), one in a round, the
 * least tried first. See `lifecycle` in the options for what that means.
 *
 * If some of them are left for later, it throws, and the parent is called again when they are due: what stands after
 * it is reached only when all of them are done. A parent that does not wait for it is called again all the same.
 *
 * ```ts
 * kopf.on.create('kopfexamples', async ({ logger }) => {
 *   await kopf.execute({ volume: ({ logger }) => logger.info('Creating the volume.') });
 *   logger.info('The volume is there.');
 * });
 * ```
 */
export function execute<T extends object = AnyObject>(options?: ExecuteOptions<T>): Promise<void>;
export function execute<T extends object = AnyObject>(fns: FnsFor<T>): Promise<void>;
export function execute(options: ExecuteOptions | SubhandlerFns = {}): Promise<void> {
  // Not an async function: the promise that is watched must be the very one that is returned.
  const execution = executeNow(isExecuteOptions(options) ? options : { fns: options });
  currentContext()?.subhandling?.executions.push(execution);
  // It is looked at after the parent ends, but it may fail earlier, with nobody waiting for it.
  execution.catch(() => {});
  return execution;
}

async function executeNow(options: ExecuteOptions): Promise<void> {
  const { fns, handlers, registry, lifecycle } = options;
  if ([fns, handlers, registry].filter((source) => source !== undefined).length > 1) {
    throw new RegistrationError('Only one of fns, handlers, registry can be passed to execute().');
  }
  const { parent, subhandling, context, cause } = currentParent('execute()', options.cause);
  const isOfDeclared = fns === undefined && handlers === undefined && registry === undefined;
  if (isOfDeclared && subhandling.isExecuted) return;
  if (isOfDeclared) subhandling.isExecuted = true;

  const executed = isOfDeclared
    ? subhandling.handlers
    : (registry?.handlers.changing ?? setOf(handlers ?? handlersOf(fns ?? [], parent), parent));
  await executeSubhandlers({ context, subhandling, cause, handlers: executed, lifecycle, execute: executeInContext });
}

function isExecuteOptions(options: ExecuteOptions | SubhandlerFns): options is ExecuteOptions {
  if (Symbol.iterator in options) return false;
  // Functions by ids may have any ids, also these; but options are not functions, except for lifecycles.
  const keys = Object.keys(options);
  return (
    keys.every((key) => EXECUTE.includes(key)) && keys.every((key) => key === 'lifecycle' || !isFunction(options, key))
  );
}

function isFunction(source: object, key: string): boolean {
  return typeof (source as Record<string, unknown>)[key] === 'function';
}

function handlersOf(fns: SubhandlerFns, parent: ChangeHandler): ChangeHandler[] {
  if (Symbol.iterator in fns) return [...fns].map((fn) => newSubhandler(parent, fn, undefined));
  return Object.entries(fns).map(([id, fn]) => newSubhandler(parent, fn, id));
}

function setOf(handlers: Iterable<ChangeHandler>, parent: ChangeHandler): Handlers['changing'] {
  const set = createChangeHandlers();
  for (const handler of handlers) addSubhandler(set, handler, parent);
  return set;
}

interface CurrentParent {
  readonly parent: ChangeHandler;
  readonly cause: ChangingCause;
  readonly subhandling: Subhandling;
  readonly context: HandlerContext;
}

function currentParent(what: string, givenCause?: ChangingCause): CurrentParent {
  const context = currentContext();
  if (context?.handler === undefined) {
    throw new ContextError(
      `${what} is called outside of any handler: there is no parent for sub-handlers. Call it from one.`,
    );
  }
  const { handler: parent, subhandling } = context;
  const cause = givenCause ?? context.cause;
  if (parent.kind === 'change' && cause?.kind === 'changing' && subhandling === undefined) {
    throw new RegistrationError(
      `${what} in the step ${quoteId(parent.id)}: steps cannot have sub-handlers. Execute them outside of the step.`,
      { code: 'KOPF_NO_SUBHANDLERS' },
    );
  }
  if (parent.kind !== 'change' || cause?.kind !== 'changing' || subhandling === undefined) {
    throw new RegistrationError(
      `${what} in ${titleOf(parent)}: Sub-handlers are only supported for resource-changing handlers. ` +
        'Others have no stored progress, so there is nothing to gain over a plain call of the function.',
      { code: 'KOPF_NO_SUBHANDLERS' },
    );
  }
  return { parent, cause, subhandling, context };
}
