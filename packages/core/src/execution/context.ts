/**
 * What is going on around the code being run: which handler, for which cause, with which settings.
 *
 * It is kept on `globalThis`, so that all copies of this package in one process see the same: a handler may import
 * `kopf-ts` from another place than the operator does. It follows the code through promises and timers.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ContextError } from '../errors.js';
import type { Cause } from '../intents/causes.js';
import type { Handlers } from '../intents/handler-set.js';
import type { AnyHandler } from '../intents/handlers.js';
import type { Progress } from '../intents/progress.js';
import type { Facts } from '../observing/facts.js';
import type { Clock } from '../seams/clock.js';
import type { Tracing } from '../seams/inspection/tracing.js';
import type { ReportMalformed } from '../seams/memory/storage.js';
import type { EventPoster } from '../seams/poster.js';
import type { Settings } from '../settings.js';
import type { FieldPath } from '../values/fields.js';
import type { HandlerId } from '../values/ids.js';
import type { CallsUnderWay } from './execute.js';
import type { Ledger } from './ledger.js';
import type { LifeCycle } from './lifecycles.js';
import type { HandlerState } from './progress/handler-state.js';
import type { Keeping } from './steps/keeping.js';

/** Sub-handlers of one call of one handler, as they are declared and executed in the course of that call. */
export interface Subhandling {
  readonly handlers: Handlers['changing'];
  readonly hasHandlers: boolean;
  /** Whether those declared are already executed: explicitly, as they are otherwise executed after the call. */
  isExecuted: boolean;
  /** Executions begun by the handler, whether it waits for them or not. */
  readonly executions: Promise<void>[];
  /** Where the ids of sub-handlers go: of this handler, and of all handlers above it. */
  readonly subrefs: readonly Set<HandlerId>[];
  /** Of the steps that were begun in this call. */
  readonly steps: Set<HandlerId>;
  /** If steps were begun: what makes their keys. */
  token: string | undefined;
  /** The same, while it is being stored. */
  beginning: Promise<string> | undefined;
}

export interface HandlerContext {
  readonly handler?: AnyHandler | undefined;
  /** With `old`, `new` and `diff` as the handler sees them, i.e. of its field if it has one. */
  readonly cause?: Cause | undefined;
  readonly settings?: Settings | undefined;
  readonly poster?: EventPoster | undefined;
  readonly lifecycle?: LifeCycle | undefined;
  readonly clock?: Clock | undefined;
  /** Of the current call. */
  readonly signal?: AbortSignal | undefined;
  readonly random?: (() => number) | undefined;
  /** Of traces on the object that cannot be understood. */
  readonly malformed?: ReportMalformed | undefined;
  readonly facts?: Facts | undefined;
  readonly tracing?: Tracing | undefined;
  /** Where the calls are kept that take their time. */
  readonly calls?: CallsUnderWay | undefined;
  /** Only in change handlers. */
  readonly subhandling?: Subhandling | undefined;
  /** For what must be stored before the call ends; absent where nobody can do that. */
  readonly keeping?: Keeping | undefined;
  /** Of this handler and of those above it, as of now. */
  recordsSoFar?(): ReadonlyMap<HandlerId, HandlerState>;
  /** Where it is noted who has asked for what; absent where nobody wants to know. */
  readonly ledger?: Ledger | undefined;
  /** How far the handlers of the object have come. */
  readonly progress?: Progress | undefined;
  /** Where in the essence the handler looks: by its own field and those of all handlers above it. */
  readonly scope?: FieldPath | undefined;
}

const STORAGE: unique symbol = Symbol.for('kopf-ts.context') as never;

function contextStorage(): AsyncLocalStorage<HandlerContext> {
  const holder = globalThis as { [STORAGE]?: AsyncLocalStorage<HandlerContext> };
  holder[STORAGE] ??= new AsyncLocalStorage();
  return holder[STORAGE];
}

/** Runs the function, and all that it starts, in the current context with these fields replaced. */
export function runInContext<R>(fields: HandlerContext, fn: () => R): R {
  const storage = contextStorage();
  const around = storage.getStore();
  return storage.run(around === undefined ? fields : { ...fieldsOf(around), ...fields }, fn);
}

const NO_RECORDS: ReadonlyMap<HandlerId, HandlerState> = new Map();

/** Not all of them are properties of their own: some are made only when somebody asks. */
function fieldsOf(context: HandlerContext): HandlerContext {
  const { handler, cause, settings, poster, lifecycle, clock, signal, random, malformed } = context;
  const { facts, tracing, calls, subhandling, ledger, scope, keeping } = context;
  return {
    handler,
    cause,
    settings,
    poster,
    lifecycle,
    clock,
    signal,
    random,
    malformed,
    facts,
    tracing,
    calls,
    subhandling,
    ledger,
    scope,
    keeping,
    ...(context.recordsSoFar && { recordsSoFar: () => context.recordsSoFar?.() ?? NO_RECORDS }),
  };
}

/** Runs the function in this context, and nothing else: whatever is going on around has nothing to do with it. */
export function runInOwnContext<A, R>(context: HandlerContext, fn: (arg: A) => R, arg: A): R {
  return contextStorage().run(context, fn, arg);
}

/** What is going on around, if anything. */
export function currentContext(): HandlerContext | undefined {
  return contextStorage().getStore();
}

/** The context for a function that makes no sense without one, e.g. `sleep()`; a {@link ContextError} if there is none. */
export function requireContext(what: string): HandlerContext {
  const context = currentContext();
  if (context !== undefined) return context;
  throw new ContextError(
    `${what} is called outside of any handler. Call it from a handler, or from what a handler calls or awaits; ` +
      'in tests, run it inside of runInContext().',
  );
}
