/**
 * Executing a handler that is probably synchronous, and is called so often that waiting would cost more than the call:
 * whatever can be decided at once is decided at once.
 */
import { toError } from '../errors.js';
import type { Cause } from '../intents/causes.js';
import { type AnyHandler, titleOf } from '../intents/handlers.js';
import { causeKwargs, type Kwargs } from '../intents/kwargs.js';
import type { Awaitable } from '../seams/awaitable.js';
import type { Clock, Seconds } from '../seams/clock.js';
import type { EventPoster } from '../seams/poster.js';
import type { Settings } from '../settings.js';
import { onAbort } from '../sync/abort.js';
import { runInOwnContext } from './context.js';
import { callWithin, isThenable } from './deadlines.js';
import type { AttemptState } from './invocation.js';
import { type ExecutionMonitor, monitored } from './monitoring.js';
import type { Outcome } from './outcomes.js';
import { backoffOf, judgeError, roundedSeconds, timedOut, whySpent } from './verdicts.js';

/** After this time, it is told that a handler is still running; then after twice that time, and so on. */
const PATIENCE: Seconds = 60;

const NO_SUBHANDLERS: readonly never[] = [];

export interface ExecutePromptlyOptions {
  /** Of those kinds that have no sub-handlers. */
  readonly handler: AnyHandler;
  readonly cause: Cause;
  readonly attempt: AttemptState;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly poster?: EventPoster | undefined;
  readonly random?: (() => number) | undefined;
  readonly monitor?: ExecutionMonitor | undefined;
  /**
   * How long this very call may take, where nobody can wait longer. Unlike the `timeout` of a handler, it tells nothing
   * of whether there is time for other attempts.
   */
  readonly timeLeft?: Seconds | undefined;
  /** Asked for the signal only if the handler turns out to be asynchronous: making signals is dear. */
  readonly cancellation?: (() => AbortSignal) | undefined;
}

/**
 * The same as `executeOnce`, but the outcome of a synchronous function is there when this returns.
 * Rejects only if cancelled; whatever the function does after that, is of no interest.
 */
export function executePromptly(options: ExecutePromptlyOptions): Awaitable<Outcome> {
  const { handler, cause, attempt, settings, clock, poster, random, monitor, timeLeft } = options;
  const { logger } = cause;
  const own = new LazySignal();
  if (logger.isEnabled?.('debug') ?? true) logger.debug(`${titleOf(handler)} is invoked.`);
  try {
    const { timeout, retries } = handler;
    const isLimited = timeout !== undefined || retries !== undefined;
    const spent = isLimited ? whySpent({ handler, runtime: attempt.runtime, retries: attempt.retries }) : undefined;
    if (spent !== undefined) throw spent;
    if (timeLeft !== undefined && timeLeft <= 0) throw timedOut(handler, attempt.runtime);
    const kwargs = promptKwargs(options, own);
    const context = { handler, cause, settings, clock, poster, random, monitor };
    const call = (): unknown => runInOwnContext(context, () => handler.fn(kwargs) as unknown);
    const returned = monitor === undefined ? call() : monitored({ handler, cause }, monitor, call);
    return isThenable(returned) ? waitFor(returned, own, options) : succeeded(options, returned);
  } catch (thrown) {
    return failed(options, thrown);
  }
}

function succeeded(options: ExecutePromptlyOptions, result: unknown): Outcome {
  const { handler, cause } = options;
  if (cause.logger.isEnabled?.('info') ?? true) cause.logger.info(`${titleOf(handler)} succeeded.`);
  return judged(options, { final: true, result, subrefs: NO_SUBHANDLERS });
}

function failed(options: ExecutePromptlyOptions, thrown: unknown): Outcome {
  const { handler, attempt, settings, random } = options;
  const { runtime, retries } = attempt;
  const error = toError(thrown);
  const backoff = backoffOf(handler.backoff ?? settings.execution.defaultBackoff, retries, random);
  const verdict = judgeError(error, { handler, runtime, retries, backoff });
  options.cause.logger[verdict.level](verdict.text, verdict.isTraced ? { error } : undefined);
  return judged(options, { ...verdict.outcome, subrefs: NO_SUBHANDLERS });
}

function judged({ monitor, handler, cause, attempt }: ExecutePromptlyOptions, outcome: Outcome): Outcome {
  monitor?.judged?.({ handler, cause }, outcome, attempt.retries);
  return outcome;
}

async function waitFor(
  returned: PromiseLike<unknown>,
  own: LazySignal,
  options: ExecutePromptlyOptions,
): Promise<Outcome> {
  const { handler, cause, attempt, clock } = options;
  const { logger } = cause;
  const title = titleOf(handler);
  const cancellation = options.cancellation?.();
  const deadline = {
    clock,
    timeLeft: timeLeftOf(options),
    signal: cancellation,
    timeout: (options?: ErrorOptions) => timedOut(handler, attempt.runtime, options),
    onLateEnd: (error: Error | undefined) => {
      const what = error === undefined ? 'ended' : 'failed';
      const text = `${title} has ${what} after it had timed out. Whatever it returned or threw is ignored.`;
      logger.warn(text, error && { error });
    },
    patience: PATIENCE,
    onStillRunning: (runtime: Seconds) => logger.warn(`${title} is still running for ${roundedSeconds(runtime)} s.`),
  };
  try {
    const result = await callWithin(deadline, (signal) => {
      onAbort(signal, (reason) => own.abort(reason));
      return returned;
    });
    return succeeded(options, result);
  } catch (thrown) {
    if (cancellation?.aborted) throw thrown;
    return failed(options, thrown);
  }
}

function timeLeftOf({ handler, attempt, timeLeft }: ExecutePromptlyOptions): Seconds | undefined {
  const { timeout = Number.POSITIVE_INFINITY } = handler;
  return Math.min(timeLeft ?? Number.POSITIVE_INFINITY, timeout - attempt.runtime);
}

/** A signal that costs nothing unless somebody looks at it. */
class LazySignal {
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}

const LAZY: unique symbol = Symbol('kopf-ts.lazy-signal');

/** One for all kwargs: with a getter of its own in each of them, the engine would take them for dictionaries. */
const SIGNAL: PropertyDescriptor & ThisType<{ readonly [LAZY]: LazySignal }> = {
  get() {
    return this[LAZY].signal;
  },
  enumerable: true,
  configurable: true,
};

/**
 * The kwargs of a call, with a signal that comes to be when it is asked for. Names of indices win over all others;
 * and the cause has nothing that could collide with the names below.
 */
function promptKwargs({ cause, handler, attempt }: ExecutePromptlyOptions, signal: LazySignal): Kwargs {
  const kwargs: Kwargs & { [LAZY]?: LazySignal } = causeKwargs(cause);
  if (!Object.hasOwn(kwargs, 'param')) kwargs['param'] = handler.param;
  if (!Object.hasOwn(kwargs, 'retry')) kwargs['retry'] = attempt.retries;
  if (!Object.hasOwn(kwargs, 'started')) kwargs['started'] = attempt.started;
  if (!Object.hasOwn(kwargs, 'runtime')) kwargs['runtime'] = attempt.runtime;
  if (!Object.hasOwn(kwargs, 'signal')) {
    kwargs[LAZY] = signal;
    Object.defineProperty(kwargs, 'signal', SIGNAL);
  }
  return kwargs;
}
