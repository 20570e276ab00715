/**
 * Executing handlers: one of them once, or all that are due. Whatever a handler does, it becomes an outcome here;
 * only its cancellation by others goes further.
 */
import { KopfError, toError } from '../errors.js';
import type { Cause } from '../intents/causes.js';
import { createChangeHandlers } from '../intents/handler-set.js';
import { type AnyHandler, titleOf } from '../intents/handlers.js';
import { fieldOf } from '../intents/kwargs.js';
import type { Clock, Seconds } from '../seams/clock.js';
import type { EventPoster } from '../seams/poster.js';
import type { ReportMalformed } from '../seams/storage.js';
import type { Settings } from '../settings.js';
import { isCancellation } from '../sync/abort.js';
import type { FieldPath } from '../values/fields.js';
import { type HandlerId, quoteId } from '../values/ids.js';
import { currentContext, runInContext, type Subhandling } from './context.js';
import { callWithin, isThenable } from './deadlines.js';
import { getDefaultLifecycle } from './defaults.js';
import type { HandlerState } from './handler-state.js';
import { causeFor, filterKwargs, invoke, kwargsOf } from './invocation.js';
import type { Ledger } from './ledger.js';
import { allAtOnce, asap, type LifeCycle, oneByOne } from './lifecycles.js';
import { type ExecutionMonitor, monitored } from './monitoring.js';
import { isEnabled } from './object-logger.js';
import type { Outcome, Outcomes } from './outcomes.js';
import type { State } from './progression.js';
import { isDelivered, whyNotStorable } from './results.js';
import { type ExecuteFn, executeSubhandlers } from './subexecution.js';
import { backoffOf, judgeError, roundedSeconds, timedOut, whySpent } from './verdicts.js';

/** After this time, it is told that a handler is still running; then after twice that time, and so on. */
const PATIENCE: Seconds = 60;

const NO_SUBHANDLERS: readonly HandlerId[] = [];
const WHOLE: FieldPath = [];

/** The same for all handlers that are executed together. */
interface ExecutionOptions {
  readonly cause: Cause;
  readonly settings: Settings;
  readonly clock: Clock;
  /** When it aborts, the handlers are not needed any more. */
  readonly signal?: AbortSignal | undefined;
  /** The signal is made for this execution alone: there is no need for another one for the call. */
  readonly signalIsOwn?: boolean | undefined;
  /** For sub-handlers, too. By default: the default one for changes; all at once for everything else. */
  readonly lifecycle?: LifeCycle | undefined;
  readonly poster?: EventPoster | undefined;
  readonly random?: (() => number) | undefined;
  /** Of traces on the object that cannot be understood, for those who load the progress of sub-handlers. */
  readonly malformed?: ReportMalformed | undefined;
  readonly monitor?: ExecutionMonitor | undefined;
  /** Where it is noted who has asked for what. */
  readonly ledger?: Ledger | undefined;
  /** Where in the essence the handlers look, if they are sub-handlers of those with fields. */
  readonly scope?: FieldPath | undefined;
}

export interface ExecuteAllOptions extends ExecutionOptions {
  readonly handlers: readonly AnyHandler[];
  readonly state: State;
}

export interface ExecuteOnceOptions extends ExecutionOptions {
  readonly handler: AnyHandler;
  readonly state: HandlerState;
}

/**
 * Calls those of the handlers that are due now and that the lifecycle picks, one after another.
 * Rejects only if the handlers are not needed any more, or if the lifecycle itself has failed.
 */
export async function executeAll(options: ExecuteAllOptions): Promise<Outcomes> {
  const { handlers, cause, state, random } = options;
  const lifecycle = options.lifecycle ?? (cause.kind === 'changing' ? getDefaultLifecycle() : allAtOnce);
  const due = inFairOrder(
    handlers.filter((handler) => state.get(handler.id)?.awakened),
    state,
  );
  const picked = isWhole(lifecycle, due)
    ? due
    : lifecycle(due, { ...filterKwargs(cause), ...(random && { random }), state });
  const outcomes = new Map<HandlerId, Outcome>();
  for (const handler of picked) {
    // What is done so far is worth storing, even if the rest is not needed any more.
    if (outcomes.size > 0 && options.signal?.aborted) break;
    const handlerState = state.get(handler.id);
    if (handlerState === undefined) throw strangeHandler(handler);
    const note = 'patch' in cause ? options.ledger?.watch(handler, cause.patch, handlerState.retries) : undefined;
    outcomes.set(handler.id, await executeOnce({ ...options, handler, state: handlerState, lifecycle }));
    note?.();
  }
  return outcomes;
}

/**
 * Those who are called again for newer changes come after all others, and the one who has waited for the longest time is
 * the first of them: otherwise, an object that is changed all the time would keep one handler busy, and starve the rest.
 */
function inFairOrder(due: readonly AnyHandler[], state: State): readonly AnyHandler[] {
  const since = ({ id }: AnyHandler): number => state.get(id)?.reopenedAt?.getTime() ?? 0;
  return due.some((handler) => since(handler) > 0) ? due.toSorted((a, b) => since(a) - since(b)) : due;
}

/** Whether nothing is to be picked; then there is no need to make up the kwargs for picking, in each event. */
function isWhole(lifecycle: LifeCycle, due: readonly AnyHandler[]): boolean {
  return lifecycle === allAtOnce || (due.length === 1 && (lifecycle === asap || lifecycle === oneByOne));
}

function strangeHandler({ id }: AnyHandler): KopfError {
  return new KopfError(`The lifecycle has picked the handler ${quoteId(id)}, which was not offered to it.`, {
    code: 'KOPF_LIFECYCLE',
  });
}

/**
 * Calls the handler once, unless it is out of its time or attempts, and tells what became of it.
 * Rejects only if `signal` has aborted, and the handler has ended because of that.
 */
export async function executeOnce(options: ExecuteOnceOptions): Promise<Outcome> {
  const { handler, cause, state, settings, random, signal } = options;
  const { logger } = cause;
  const subrefs = new Set<HandlerId>();
  signal?.throwIfAborted();
  if (isEnabled(logger, 'debug')) logger.debug(`${titleOf(handler)} is invoked.`);
  try {
    const spent = whySpent({ handler, runtime: state.runtime, retries: state.retries });
    if (spent !== undefined) throw spent;
    const result = storable(await call(options, subrefs), options);
    if (isEnabled(logger, 'info')) logger.info(`${titleOf(handler)} succeeded.`);
    return judged(options, { final: true, result, subrefs: subrefs.size > 0 ? [...subrefs].sort() : NO_SUBHANDLERS });
  } catch (thrown) {
    if (isCancellation(thrown, signal)) {
      logger.warn(`${titleOf(handler)} is cancelled. Will escalate.`);
      throw thrown;
    }
    const backoff = backoffOf(handler.backoff ?? settings.execution.defaultBackoff, state.retries, random);
    const error = toError(thrown);
    const verdict = judgeError(error, { handler, runtime: state.runtime, retries: state.retries, backoff });
    logger[verdict.level](verdict.text, verdict.isTraced ? { error } : undefined);
    return judged(options, { ...verdict.outcome, subrefs: [...subrefs].sort() });
  }
}

function judged({ monitor, handler, cause, state }: ExecuteOnceOptions, outcome: Outcome): Outcome {
  monitor?.judged?.({ handler, cause }, outcome, state.retries);
  return outcome;
}

function call(options: ExecuteOnceOptions, subrefs: Set<HandlerId>): Promise<unknown> {
  const { handler, cause, state, clock, signal, signalIsOwn } = options;
  const { logger } = cause;
  const timeLeft = handler.timeout === undefined ? undefined : handler.timeout - state.runtime;
  return callWithin(
    {
      clock,
      timeLeft,
      signal,
      signalIsOwn,
      timeout: (cause) => timedOut(handler, state.runtime, cause),
      onLateEnd: (error) => {
        const what = error === undefined ? 'ended' : 'failed';
        const text = `${titleOf(handler)} has ${what} after it had timed out. Whatever it returned or threw is ignored.`;
        logger.warn(text, error && { error });
      },
      // Daemons are made to run for long.
      patience: handler.kind === 'daemon' ? undefined : PATIENCE,
      onStillRunning: (runtime) =>
        logger.warn(`${titleOf(handler)} is still running for ${roundedSeconds(runtime)} s.`),
    },
    (callSignal) => callWithSubhandlers({ ...options, signal: callSignal }, subrefs),
  );
}

/** Calls the function, and then the sub-handlers that it has declared, unless it has executed them by itself. */
function callWithSubhandlers(options: ExecuteOnceOptions & { signal: AbortSignal }, subrefs: Set<HandlerId>): unknown {
  const { handler, state, settings, clock, signal, lifecycle, poster, random, malformed, monitor, ledger } = options;
  const cause = causeFor(options.cause, handler);
  const subhandling = handler.kind === 'change' && cause.kind === 'changing' ? newSubhandling(subrefs) : undefined;
  const ofParent = { settings, poster, lifecycle, clock, signal, random, malformed, monitor, ledger };
  const context = { ...ofParent, handler, cause, subhandling, scope: scopeOf(options) };
  const kwargs = kwargsOf({ cause: options.cause, handler, state, signal });
  const returned = monitored({ handler, cause }, monitor, () => invoke(context, handler, kwargs));
  if (subhandling === undefined) return returned;

  const isAlone = !subhandling.hasHandlers && subhandling.executions.length === 0;
  if (isAlone && !isThenable(returned)) return returned;
  return (async () => {
    const result = await returned;
    // The handler may have begun these without waiting for them; but it is not done until they are.
    if (subhandling.executions.length > 0) await Promise.all(subhandling.executions);
    if (cause.kind === 'changing' && !subhandling.isExecuted && subhandling.hasHandlers) {
      subhandling.isExecuted = true;
      const { handlers } = subhandling;
      const options = { context, subhandling, cause, handlers, execute: executeInContext };
      await runInContext(context, () => executeSubhandlers(options));
    }
    return result;
  })();
}

function scopeOf({ handler, scope = WHOLE }: ExecuteOnceOptions): FieldPath {
  const field = handler.kind === 'change' ? fieldOf(handler) : undefined;
  return field === undefined ? scope : [...scope, ...field];
}

/** The ids go to all handlers above, too: each of them has to purge the records when it is done. */
function newSubhandling(subrefs: Set<HandlerId>): Subhandling {
  const above = currentContext()?.subhandling?.subrefs ?? [];
  // Few handlers have sub-handlers.
  let handlers: Subhandling['handlers'] | undefined;
  return {
    get handlers() {
      handlers ??= createChangeHandlers();
      return handlers;
    },
    get hasHandlers() {
      return handlers !== undefined && handlers.size > 0;
    },
    isExecuted: false,
    executions: [],
    subrefs: [...above, subrefs],
  };
}

/** Executes sub-handlers with all that their parent is executed with. */
export const executeInContext: ExecuteFn = ({ context, ...options }) => {
  const { settings, clock, signal, poster, random, malformed, monitor, ledger, scope } = context;
  if (settings === undefined || clock === undefined)
    throw new KopfError('Sub-handlers need the context of their parent.');
  return executeAll({ ...options, settings, clock, signal, poster, random, malformed, monitor, ledger, scope });
};

/**
 * The handler has done its work, and must not repeat it for the sake of a result that cannot be stored: such a result
 * is dropped, and the author of the handler is told.
 */
function storable(result: unknown, { handler, cause }: ExecuteOnceOptions): unknown {
  const problem = isDelivered(handler) ? whyNotStorable(result) : undefined;
  if (problem === undefined) return result;
  cause.logger.error(
    `${titleOf(handler)} has returned what cannot be stored in${nameOf(cause)}: ${problem}. It is dropped.`,
  );
  return undefined;
}

function nameOf(cause: Cause): string {
  if (cause.kind === 'activity') return '';
  const { namespace, name } = cause.body.metadata ?? {};
  const kind = cause.body.kind ?? cause.resource.kind ?? cause.resource.plural;
  return ` ${kind} ${[namespace, name].filter(Boolean).join('/')}`;
}
