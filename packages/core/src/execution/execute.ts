/**
 * The executor of handlers: of changes, events, indices, daemons, timers, activities, reviews. Whatever a handler does,
 * it becomes an outcome here; only its cancellation by others goes further.
 *
 * It is synchronous as long as the handler is: indices and reviews are called so often that waiting for nothing would
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

/** Which handlers are being waited for. */
export interface CallsUnderWay {
  begin(handler: AnyHandler): void;
  end(handler: AnyHandler): void;
}

/** A call that is being waited for. */
export interface CancellableCall {
  /** Aborts its signal: the call fails by that, and the failure goes further. */
  cancel(reason: Error): void;
}

/** The same for all handlers that are executed together. */
export interface Execution {
  readonly cause: Cause;
  readonly settings: Settings;
  readonly clock: Clock;
  /**
   * When it aborts, the handlers are not needed any more. A function is asked for it only when a handler turns out to
   * be asynchronous.
   */
  readonly signal?: AbortSignal | (() => AbortSignal) | undefined;
  /**
   * Gets the call when a handler turns out to be asynchronous: to cancel it, if ever needed, without a signal for each
   * call.
   */
  readonly onWaiting?: ((call: CancellableCall) => void) | undefined;
  /**
   * How long this very call may take, where nobody can wait longer. Unlike the `timeout` of a handler, it tells nothing
   * of whether there is time for other attempts.
   */
  readonly timeLeft?: Seconds | undefined;
  /** For sub-handlers, too. By default: the default one for changes; all at once for everything else. */
  readonly lifecycle?: LifeCycle | undefined;
  readonly poster?: EventPoster | undefined;
  readonly random?: (() => number) | undefined;
  /** Reports traces on the object that cannot be understood, when the progress of sub-handlers is loaded. */
  readonly malformed?: ReportMalformed | undefined;
  readonly facts?: Facts | undefined;
  /** A safe one. */
  readonly tracing?: Tracing | undefined;
  /** Where the calls are kept that take their time. */
  readonly calls?: CallsUnderWay | undefined;
  /** Where it is noted who has asked for what. */
  readonly ledger?: Ledger | undefined;
  /** Where in the essence the handlers look, if they are sub-handlers of those with fields. */
  readonly scope?: FieldPath | undefined;
  /** Where the progress of these handlers is; absent if it is not stored. */
  readonly state?: State | undefined;
  /** For what must be stored before a call ends. */
  readonly keeping?: Keeping | undefined;
  /** If they are sub-handlers: the call of the handler above them. */
  readonly above?: Pick<HandlerContext, 'progress' | 'recordsSoFar'> | undefined;
  /** If they are sub-handlers: where the handlers above them collect the ids of all handlers below. */
  readonly subrefs?: readonly Set<HandlerId>[] | undefined;
}

/**
 * Calls the handler once, unless it is out of its time or attempts, and tells what became of it: at once, if the
 * function is synchronous. Fails only if the signal has aborted, and the handler has ended because of that.
 */
export function execute(
  handler: AnyHandler,
  attempt: AttemptState,
  execution: Execution,
  /** Of those called together with it, and before it. */
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

/** The function goes on by itself, or has left sub-handlers to be executed. It takes one promise, if there are none. */
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

/** The same in one promise, which the caller may stop waiting for. */
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

/** A handler that has failed is not called again before that which it has begun is over: or it would be done twice. */
async function whatIsBegun({ subhandling }: Call): Promise<void> {
  await Promise.allSettled(subhandling?.executions ?? []);
}

/** Sub-handlers that the function has declared, unless it has executed them by itself. */
async function finishSubhandlers(call: Call): Promise<void> {
  const { subhandling, cause } = call;
  if (subhandling === undefined || cause.kind !== 'changing') return;
  // The handler may have begun these without waiting for them; but it is not done until they are.
  if (subhandling.executions.length > 0) await Promise.all(subhandling.executions);
  if (subhandling.isExecuted || !subhandling.hasHandlers) return;
  subhandling.isExecuted = true;
  const { handlers } = subhandling;
  const options = { context: call, subhandling, cause, handlers, execute: executeInContext };
  await runInOwnContext(call, executeSubhandlers, options);
}

/**
 * When the operator stops, a handler may return since it was told to, with its work undone: nobody can tell that from success.
 * If it was stored as one, the work would be lost. So it is called again by the next operator; unless it has never asked for
 * the signal. Only handlers of changes have something stored.
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

/** Few handlers have steps: the outcomes of others are not to be larger for that. */
function tokenOf({ subhandling }: Call): { readonly token?: string } {
  return subhandling?.token === undefined ? NO_TOKEN : { token: subhandling.token };
}

const NO_TOKEN = {};

/** Sub-handlers are called in the course of the call of their parent. */
function traced(call: Call, tracing: Tracing): unknown {
  const { object, attempt } = call;
  const handler = observedHandler(call.handler);
  return tracing.around({ kind: 'call', handler, object, retry: attempt.retries }, () => {
    const returned = call.invoke();
    return isThenable(returned) || call.subhandling?.isPending ? withSubhandlers(returned, call) : returned;
  });
}

/**
 * The handler has done its work, and must not repeat it for the sake of a result that cannot be stored: such a result
 * is dropped, and the author of the handler is told.
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
 * Calls those of the handlers that are due now and that the lifecycle picks, one after another. Answers at once, if all
 * of them do. Fails only if the handlers are not needed any more, or if the lifecycle itself has failed.
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

/** What is done so far is worth storing, even if the rest is not needed any more. */
function isAborted({ signal }: ExecuteAllOptions): boolean {
  return typeof signal === 'object' && signal.aborted;
}

/** To be called after the handler: notes what it has asked for. */
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
 * Handlers that are called again for newer changes come after all others, and the one that has waited longest is the
 * first of them: otherwise, an object that is changed all the time would keep one handler busy, and starve the rest.
 */
function inFairOrder(due: readonly AnyHandler[], state: State): readonly AnyHandler[] {
  const since = ({ id }: AnyHandler): number => state.get(id)?.reopenedAt?.getTime() ?? 0;
  return due.some((handler) => since(handler) > 0) ? due.toSorted((a, b) => since(a) - since(b)) : due;
}

/** Executes sub-handlers with all that their parent is executed with. */
export const executeInContext: ExecuteFn = ({ context, subrefs, ...options }) =>
  executeAll({ ...executionIn(context), ...options, subrefs });

/** All that a parent is executed with, for what is executed in its course. */
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
