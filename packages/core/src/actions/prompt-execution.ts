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
  readonly random?: (() => number) | undefined;
  readonly monitor?: ExecutionMonitor | undefined;
  /** How the handler is named in the logs, if that is known already. */
  readonly title?: string | undefined;
  /** Asked for the signal only if the handler turns out to be asynchronous: making signals is dear. */
  readonly cancellation?: (() => AbortSignal) | undefined;
}

/**
 * The same as `executeOnce`, but the outcome of a synchronous function is there when this returns.
 * Rejects only if cancelled; whatever the function does after that, is of no interest.
 */
export function executePromptly(options: ExecutePromptlyOptions): Awaitable<Outcome> {
  const { handler, cause, attempt, settings, clock, random, monitor } = options;
  const { logger } = cause;
  const title = options.title ?? titleOf(handler);
  const own = lazySignal();
  const succeeded = (result: unknown): Outcome => {
    if (logger.isEnabled?.('info') ?? true) logger.info(`${title} succeeded.`);
    return { final: true, result, subrefs: NO_SUBHANDLERS };
  };
  const failed = (thrown: unknown): Outcome => {
    const error = toError(thrown);
    const backoff = backoffOf(handler.backoff ?? settings.execution.defaultBackoff, attempt.retries, random);
    const verdict = judgeError(error, { handler, runtime: attempt.runtime, retries: attempt.retries, backoff });
    logger[verdict.level](verdict.text, verdict.isTraced ? { error } : undefined);
    return { ...verdict.outcome, subrefs: NO_SUBHANDLERS };
  };
  const finish = async (returned: PromiseLike<unknown>): Promise<Outcome> => {
    const cancellation = options.cancellation?.();
    try {
      return succeeded(await waitFor(returned, own.abort, { ...options, title, signal: cancellation }));
    } catch (thrown) {
      if (cancellation?.aborted) throw thrown;
      return failed(thrown);
    }
  };

  if (logger.isEnabled?.('debug') ?? true) logger.debug(`${title} is invoked.`);
  try {
    const spent = whySpent({ handler, runtime: attempt.runtime, retries: attempt.retries });
    if (spent !== undefined) throw spent;
    const kwargs = promptKwargs(options, own.get);
    const context = {
      ...{ handler, cause, settings, clock, random, monitor },
      get signal() {
        return own.get();
      },
    };
    const returned = monitored({ handler, cause }, monitor, () =>
      runInOwnContext(context, () => handler.fn(kwargs) as unknown),
    );
    return isThenable(returned) ? finish(returned) : succeeded(returned);
  } catch (thrown) {
    return failed(thrown);
  }
}

function waitFor(
  returned: PromiseLike<unknown>,
  abort: (reason: unknown) => void,
  options: ExecutePromptlyOptions & { readonly title: string; readonly signal: AbortSignal | undefined },
): Promise<unknown> {
  const { handler, cause, attempt, clock, title, signal } = options;
  const { logger } = cause;
  const deadline = {
    clock,
    timeLeft: handler.timeout === undefined ? undefined : handler.timeout - attempt.runtime,
    signal,
    timeout: (options?: ErrorOptions) => timedOut(handler, attempt.runtime, options),
    onLateEnd: (error: Error | undefined) => {
      const what = error === undefined ? 'ended' : 'failed';
      const text = `${title} has ${what} after it had timed out. Whatever it returned or threw is ignored.`;
      logger.warn(text, error && { error });
    },
    patience: PATIENCE,
    onStillRunning: (runtime: Seconds) => logger.warn(`${title} is still running for ${roundedSeconds(runtime)} s.`),
  };
  return callWithin(deadline, (signalOfCall) => {
    onAbort(signalOfCall, abort);
    return returned;
  });
}

/**
 * The kwargs of a call, with a signal that comes to be when it is asked for. Names of indices win over all others;
 * and the cause has nothing that could collide with the names below.
 */
function promptKwargs({ cause, handler, attempt }: ExecutePromptlyOptions, signal: () => AbortSignal): Kwargs {
  const kwargs = causeKwargs(cause);
  if (!Object.hasOwn(kwargs, 'param')) kwargs['param'] = handler.param;
  if (!Object.hasOwn(kwargs, 'retry')) kwargs['retry'] = attempt.retries;
  if (!Object.hasOwn(kwargs, 'started')) kwargs['started'] = attempt.started;
  if (!Object.hasOwn(kwargs, 'runtime')) kwargs['runtime'] = attempt.runtime;
  if (!Object.hasOwn(kwargs, 'signal')) {
    Object.defineProperty(kwargs, 'signal', { get: signal, enumerable: true, configurable: true });
  }
  return kwargs;
}

/** A signal that costs nothing unless somebody looks at it. */
function lazySignal(): { readonly get: () => AbortSignal; readonly abort: (reason: unknown) => void } {
  let controller: AbortController | undefined;
  const existing = (): AbortController => {
    controller ??= new AbortController();
    return controller;
  };
  return { get: () => existing().signal, abort: (reason) => existing().abort(reason) };
}
