/**
 * The context of the running code: which handler, for which cause, with which settings.
 *
 * It is kept on `globalThis`, so that all copies of this package in one process share it: a handler may import
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

/** Sub-handlers declared and executed during one call of one handler. */
export interface Subhandling {
  readonly handlers: Handlers['changing'];
  readonly hasHandlers: boolean;
  /** Whether they were already executed explicitly; otherwise, they are executed after the call. */
  isExecuted: boolean;
  /** Executions started by the handler, awaited or not. */
  readonly executions: Promise<void>[];
  /** Collects the ids of sub-handlers: of this handler, and of all its parents. */
  readonly subrefs: readonly Set<HandlerId>[];
  /** Of the steps that were begun in this call. */
  readonly steps: Set<HandlerId>;
  /** The token for the keys of steps, once a step has begun. */
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
  /** The signal of the current call. */
  readonly signal?: AbortSignal | undefined;
  readonly random?: (() => number) | undefined;
  /** Reports malformed traces on the object. */
  readonly malformed?: ReportMalformed | undefined;
  readonly facts?: Facts | undefined;
  readonly tracing?: Tracing | undefined;
  /** Tracks asynchronous calls. */
  readonly calls?: CallsUnderWay | undefined;
  /** Only in change handlers. */
  readonly subhandling?: Subhandling | undefined;
  /** Stores progress before the call ends; absent where that is impossible. */
  readonly keeping?: Keeping | undefined;
  /** The current state of this handler and its parents. */
  recordsSoFar?(): ReadonlyMap<HandlerId, HandlerState>;
  /** Records which handler requested what; absent where that does not matter. */
  readonly ledger?: Ledger | undefined;
  /** The progress of the object's handlers. */
  readonly progress?: Progress | undefined;
  /** The fields of the essence that the handler looks at: its own field and those of its parents. */
  readonly scope?: FieldPath | undefined;
}

const STORAGE: unique symbol = Symbol.for('kopf-ts.context') as never;

function contextStorage(): AsyncLocalStorage<HandlerContext> {
  const holder = globalThis as { [STORAGE]?: AsyncLocalStorage<HandlerContext> };
  holder[STORAGE] ??= new AsyncLocalStorage();
  return holder[STORAGE];
}

/** Runs the function, and everything it starts, in the current context with these fields replaced. */
export function runInContext<R>(fields: HandlerContext, fn: () => R): R {
  const storage = contextStorage();
  const around = storage.getStore();
  return storage.run(around === undefined ? fields : { ...fieldsOf(around), ...fields }, fn);
}

const NO_RECORDS: ReadonlyMap<HandlerId, HandlerState> = new Map();

/** Not all of them are own properties: some are getters. */
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

/** Runs the function in exactly this context, independent of the surrounding one. */
export function runInOwnContext<A, R>(context: HandlerContext, fn: (arg: A) => R, arg: A): R {
  return contextStorage().run(context, fn, arg);
}

/** The current context, if any. */
export function currentContext(): HandlerContext | undefined {
  return contextStorage().getStore();
}

/** The context for a function that requires one, e.g. `sleep()`; throws a {@link ContextError} if there is none. */
export function requireContext(what: string): HandlerContext {
  const context = currentContext();
  if (context !== undefined) return context;
  throw new ContextError(
    `${what} is called outside of any handler. Call it from a handler, or from what a handler calls or awaits; ` +
      'in tests, run it inside of runInContext().',
  );
}
