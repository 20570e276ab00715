/**
 * The executor of handlers: of changes, events, indices, daemons, timers, activities, reviews. Whatever a handler does
 * becomes an outcome here; only cancellation by others propagates.
 *
 * It is synchronous as long as the handler is: indices and reviews are called so often that needless awaiting would
 * cost more than the calls.
 */
import { KopfError, toError } from '../errors.js';
import type { Cause } from '../intents/causes.js';
import type { AnyHandler } from '../intents/handlers.js';
import type { Facts } from '../observing/facts.js';
import { observedHandler } from '../observing/observed.js';
import type { Awaitable } from '../seams/awaitable.js';
import type { Clock, Seconds } from '../seams/clock.js';
import type { Tracing } from '../seams/inspection/tracing.js';
import type { ReportMalformed } from '../seams/memory/storage.js';
import type { EventPoster } from '../seams/poster.js';
import type { Settings } from '../settings.js';
import { isCancellation } from '../sync/abort.js';
import { isThenable } from '../sync/awaiting.js';
import type { FieldPath } from '../values/fields.js';
import { type HandlerId, quoteId } from '../values/ids.js';
import { Call } from './call.js';
import { type AttemptState, filterKwargs } from './call-kwargs.js';
import { type HandlerContext, runInOwnContext } from './context.js';
import { overseerOf, untilDeadline } from './deadlines.js';
import { getDefaultLifecycle } from './defaults.js';
import { backoffOf, judgeError, whySpent } from './error-decisions.js';
import type { Ledger } from './ledger.js';
import { allAtOnce, asap, type LifeCycle, oneByOne } from './lifecycles.js';
import { isEnabled } from './logging/object-logger.js';
import type { Outcome, Outcomes } from './outcomes.js';
import type { HandlerState } from './progress/handler-state.js';
import { isDelivered, whyNotStorable } from './progress/results.js';
import type { State } from './progress/state.js';
import type { Keeping } from './steps/keeping.js';
import { type ExecuteFn, executeSubhandlers } from './subhandlers/execute-subhandlers.js';

/** Tracks the asynchronous calls. */
export interface CallsUnderWay {
  begin(handler: AnyHandler): void;
  end(handler: AnyHandler): void;
}

/** An asynchronous call in progress. */
export interface CancellableCall {
  /** Aborts its signal: the call fails with that, and the failure propagates. */
  cancel(reason: Error): void;
}

/** The common options of handlers that are executed together. */
export interface Execution {
  readonly cause: Cause;
  readonly settings: Settings;
  readonly clock: Clock;
  /**
   * Aborted when the handlers are no longer needed. A function is called for it only when a handler turns out to be
   * asynchronous.
   */
  readonly signal?: AbortSignal | (() => AbortSignal) | undefined;
  /**
   * Gets the call when a handler turns out to be asynchronous: to cancel it if needed, without a signal for each call.
   */
  readonly onWaiting?: ((call: CancellableCall) => void) | undefined;
  /** The limit of this very call. Unlike the `timeout` of a handler, it does not affect further attempts. */
  readonly timeLeft?: Seconds | undefined;
  /** Applies to sub-handlers, too. Default: the default lifecycle for changes; all at once for everything else. */
  readonly lifecycle?: LifeCycle | undefined;
  readonly poster?: EventPoster | undefined;
  readonly random?: (() => number) | undefined;
  /** Reports malformed traces on the object when the progress of sub-handlers is loaded. */
  readonly malformed?: ReportMalformed | undefined;
  readonly facts?: Facts | undefined;
  /** A safe one. */
  readonly tracing?: Tracing | undefined;
  /** Tracks asynchronous calls. */
  readonly calls?: CallsUnderWay | undefined;
  /** Records which handler requested what. */
  readonly ledger?: Ledger | undefined;
  /** For sub-handlers of handlers with fields: the fields of the essence they look at. */
  readonly scope?: FieldPath | undefined;
  /** The stored progress of these handlers; absent if it is not stored. */
  readonly state?: State | undefined;
  /** Stores progress before a call ends. */
  readonly keeping?: Keeping | undefined;
  /** For sub-handlers: the call of the parent. */
  readonly above?: Pick<HandlerContext, 'progress' | 'recordsSoFar'> | undefined;
  /** For sub-handlers: where the parents collect the ids of all handlers below. */
  readonly subrefs?: readonly Set<HandlerId>[] | undefined;
}

/**
 * Calls the handler once, unless its time or attempts are used up, and returns the outcome: synchronously if the
 * function is. Fails only if the signal has aborted, and the handler has ended because of that.
 */
export function execute(
  handler: AnyHandler,
  attempt: AttemptState,
  execution: Execution,
  /** The handlers called together with it, and before it. */
  outcomes?: Outcomes,
): Awaitable<Outcome> {
  if (typeof execution.signal === 'object') execution.signal.throwIfAborted();
  const call = new Call(handler, attempt, execution, outcomes);
  const { logger } = execution.cause;
  if (isEnabled(logger, 'debug')) logger.debug(`${call.title} is invoked.`);
  try {
    const spent = whySpent({ handler, runtime: attempt.runtime, retries: attempt.retries });
    if (spent !== undefined) throw spent;
    if (execution.timeLeft !== undefined && execution.timeLeft <= 0) throw call.timeout();
    const returned = execution.tracing === undefined ? call.invoke() : traced(call, execution.tracing);
    const isOver = !isThenable(returned) && !call.subhandling?.isPending;
    return isOver ? succeeded(call, returned) : waitFor(returned, call);
  } catch (thrown) {
    if (call.subhandling?.hasBegun) return waitFor(Promise.reject(toError(thrown)), call);
    return failed(call, thrown, typeof execution.signal === 'object' ? execution.signal : undefined);
  }
}

/** The function is asynchronous, or has declared sub-handlers. It takes one promise if there are none. */
function waitFor(returned: unknown, call: Call): Promise<Outcome> {
  const { execution } = call;
  const { calls, clock } = execution;
  const signal = call.followOthers();
  const overseer = overseerOf(clock);
  calls?.begin(call.handler);
  execution.onWaiting?.(call);
  overseer.begin(call);
  const end = (): void => {
    overseer.end(call);
    calls?.end(call.handler);
    call.dispose();
  };
  const fail = (thrown: unknown): Outcome => {
    try {
      return failed(call, thrown, call.isCancelled ? call.signal : signal);
    } finally {
      end();
    }
  };
  const succeed = (result: unknown): Outcome => {
    let outcome: Outcome;
    if (isInterrupted(call, signal)) {
      end();
      throw signal?.reason;
    }
    try {
      outcome = succeeded(call, result);
    } catch (thrown) {
      return fail(thrown);
    }
    end();
    return outcome;
  };
  const isLimited = call.timeLeft !== Number.POSITIVE_INFINITY;
  if (isLimited) return untilDeadline(withSubhandlers(returned, call), call).then(succeed, fail);
  if (!isThenable(returned)) return finishSubhandlers(call).then(() => succeed(returned), fail);
  return Promise.resolve(returned).then(
    (result: unknown) => {
      call.tellSettled();
      if (!call.subhandling?.isPending) return succeed(result);
      return finishSubhandlers(call).then(() => succeed(result), fail);
    },
    (thrown: unknown) => {
      call.tellSettled();
      return call.subhandling?.hasBegun ? whatIsBegun(call).then(() => fail(thrown)) : fail(thrown);
    },
  );
}

/** The same in one promise, which the caller may abandon. */
async function withSubhandlers(returned: unknown, call: Call): Promise<unknown> {
  let result = returned;
  if (isThenable(returned)) {
    try {
      result = await returned;
    } catch (thrown) {
      if (call.subhandling?.hasBegun) await whatIsBegun(call);
      throw thrown;
    } finally {
      call.tellSettled();
    }
  }
  if (call.subhandling?.isPending) await finishSubhandlers(call);
  return result;
}

/** Waits for the executions that a failed handler has started: otherwise, its retry would do them twice. */
async function whatIsBegun({ subhandling }: Call): Promise<void> {
  await Promise.allSettled(subhandling?.executions ?? []);
}

/** Executes the declared sub-handlers, unless the function did so itself. */
async function finishSubhandlers(call: Call): Promise<void> {
  const { subhandling, cause } = call;
  if (subhandling === undefined || cause.kind !== 'changing') return;
  // The handler may have started these without awaiting them; but it is not done until they are.
  if (subhandling.executions.length > 0) await Promise.all(subhandling.executions);
  if (subhandling.isExecuted || !subhandling.hasHandlers) return;
  subhandling.isExecuted = true;
  const { handlers } = subhandling;
  const options = { context: call, subhandling, cause, handlers, execute: executeInContext };
  await runInOwnContext(call, executeSubhandlers, options);
}

/**
 * When the operator stops, a handler may return early with its work undone, which looks like success. Stored as such,
 * the work would be lost. So the next operator calls it again, unless it has never accessed the signal. Only change
 * handlers store anything.
 */
function isInterrupted(call: Call, signal: AbortSignal | undefined): boolean {
  if (call.handler.kind !== 'change' || !signal?.aborted || !call.hasShownSignal) return false;
  call.cause.logger.warn(
    `${call.title} ended after its signal was aborted. It counts as interrupted and will be called again.`,
  );
  return true;
}

function succeeded(call: Call, returned: unknown): Outcome {
  const { logger } = call.cause;
  const result = storable(returned, call);
  if (isEnabled(logger, 'info')) logger.info(`${call.title} succeeded.`);
  return call.end({ final: true, result, subrefs: call.subrefs, ...tokenOf(call) });
}

function failed(call: Call, thrown: unknown, signal: AbortSignal | undefined): Outcome {
  const { handler, attempt, execution } = call;
  const { logger } = execution.cause;
  if (isCancellation(thrown, signal)) {
    logger.warn(`${call.title} is cancelled. Will escalate.`);
    throw thrown;
  }
  const { retries, runtime } = attempt;
  const backoff = backoffOf(handler.backoff ?? execution.settings.execution.defaultBackoff, retries, execution.random);
  const error = toError(thrown);
  const { body } = 'body' in execution.cause ? execution.cause : {};
  const decision = judgeError(error, { handler, runtime, retries, backoff, body });
  logger[decision.level](decision.text, decision.isTraced ? { error } : undefined);
  return call.end({ ...decision.outcome, subrefs: call.subrefs, ...tokenOf(call) });
}

/** Few handlers have steps: the outcomes of others should not grow for that. */
function tokenOf({ subhandling }: Call): { readonly token?: string } {
  return subhandling?.token === undefined ? NO_TOKEN : { token: subhandling.token };
}

const NO_TOKEN = {};

/** Sub-handlers are called during the call of their parent. */
function traced(call: Call, tracing: Tracing): unknown {
  const { object, attempt } = call;
  const handler = observedHandler(call.handler);
  return tracing.around({ kind: 'call', handler, object, retry: attempt.retries }, () => {
    const returned = call.invoke();
    return isThenable(returned) || call.subhandling?.isPending ? withSubhandlers(returned, call) : returned;
  });
}

/**
 * The handler has done its work, and must not repeat it just because its result cannot be stored: such a result is
 * dropped, and a warning is logged.
 */
function storable(result: unknown, call: Call): unknown {
  if (result === undefined) return undefined;
  const { handler, cause } = call;
  const problem = isDelivered(handler) ? whyNotStorable(result) : undefined;
  if (problem === undefined) return result;
  cause.logger.error(
    `${call.title} has returned a value that cannot be stored in${nameOf(cause)}: ${problem}. It is dropped.`,
  );
  return undefined;
}

function nameOf(cause: Cause): string {
  if (cause.kind === 'activity') return '';
  const { namespace, name } = cause.body.metadata ?? {};
  const kind = cause.body.kind ?? cause.resource.kind ?? cause.resource.plural;
  return ` ${kind} ${[namespace, name].filter(Boolean).join('/')}`;
}

export interface ExecuteAllOptions extends Execution {
  readonly handlers: readonly AnyHandler[];
  readonly state: State;
}

/**
 * Calls those due handlers that the lifecycle picks, one after another. Returns synchronously if all of them do. Fails
 * only if the handlers are no longer needed, or if the lifecycle itself has failed.
 */
export function executeAll(options: ExecuteAllOptions): Awaitable<Outcomes> {
  const due = picked(options.handlers, options.state, options);
  const outcomes = new Map<HandlerId, Outcome>();
  for (const [index, handler] of due.entries()) {
    if (index > 0 && isAborted(options)) break;
    const note = noteFor(handler, options);
    const outcome = execute(handler, stateOf(handler, options), options, outcomes);
    if (outcome instanceof Promise) return executeRest(due, index, { outcome, note }, outcomes, options);
    outcomes.set(handler.id, outcome);
    note?.();
  }
  return outcomes;
}

interface Begun {
  readonly outcome: PromiseLike<Outcome>;
  readonly note: (() => void) | undefined;
}

async function executeRest(
  due: readonly AnyHandler[],
  index: number,
  begun: Begun,
  outcomes: Map<HandlerId, Outcome>,
  options: ExecuteAllOptions,
): Promise<Outcomes> {
  try {
    outcomes.set((due[index] as AnyHandler).id, await begun.outcome);
    begun.note?.();
    for (const handler of due.slice(index + 1)) {
      if (isAborted(options)) break;
      const note = noteFor(handler, options);
      outcomes.set(handler.id, await execute(handler, stateOf(handler, options), options, outcomes));
      note?.();
    }
    return outcomes;
  } catch (error) {
    if (outcomes.size > 0 && isAborted(options)) return outcomes;
    throw error;
  }
}

/** The work so far is worth storing, even if the rest is no longer needed. */
function isAborted({ signal }: ExecuteAllOptions): boolean {
  return typeof signal === 'object' && signal.aborted;
}

/** Returns a function to be called after the handler: it records what the handler requested. */
function noteFor(handler: AnyHandler, { cause, ledger, state }: ExecuteAllOptions): (() => void) | undefined {
  if (ledger === undefined || !('patch' in cause)) return undefined;
  return ledger.watch(handler, cause.patch, state.get(handler.id)?.retries ?? 0);
}

function stateOf(handler: AnyHandler, { state }: ExecuteAllOptions): HandlerState {
  const found = state.get(handler.id);
  if (found !== undefined) return found;
  throw new KopfError(`The lifecycle picked the handler ${quoteId(handler.id)}, which was not among its choices.`, {
    code: 'KOPF_LIFECYCLE',
  });
}

function picked(handlers: readonly AnyHandler[], state: State, execution: Execution): readonly AnyHandler[] {
  const { cause, random } = execution;
  const lifecycle = execution.lifecycle ?? (cause.kind === 'changing' ? getDefaultLifecycle() : allAtOnce);
  const due = inFairOrder(
    handlers.filter((handler) => state.get(handler.id)?.awakened),
    state,
  );
  // If there is nothing to pick, the kwargs for picking need not be made, in each event.
  const isWhole = lifecycle === allAtOnce || (due.length === 1 && (lifecycle === asap || lifecycle === oneByOne));
  return isWhole ? due : lifecycle(due, { ...filterKwargs(cause), ...(random && { random }), state });
}

/**
 * Handlers that are called again for newer changes come after all others, the longest waiting one first: otherwise, an
 * object that changes all the time would keep one handler busy, and starve the rest.
 */
function inFairOrder(due: readonly AnyHandler[], state: State): readonly AnyHandler[] {
  const since = ({ id }: AnyHandler): number => state.get(id)?.reopenedAt?.getTime() ?? 0;
  return due.some((handler) => since(handler) > 0) ? due.toSorted((a, b) => since(a) - since(b)) : due;
}

/** Executes sub-handlers with the options of their parent. */
export const executeInContext: ExecuteFn = ({ context, subrefs, ...options }) =>
  executeAll({ ...executionIn(context), ...options, subrefs });

/** The options of a parent, for executions during its call. */
export function executionIn(context: HandlerContext): Omit<Execution, 'cause'> {
  const { settings, clock, signal, poster, random, malformed, facts, tracing, calls, ledger, scope, keeping } = context;
  if (settings === undefined || clock === undefined)
    throw new KopfError('Sub-handlers need the context of their parent.');
  return {
    settings,
    clock,
    signal,
    poster,
    random,
    malformed,
    facts,
    tracing,
    calls,
    ledger,
    scope,
    keeping,
    above: context,
  };
}
