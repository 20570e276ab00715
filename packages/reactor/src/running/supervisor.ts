/**
 * The life of an operator: the startup, the services, an end to all of them as soon as one ends, and the cleanup.
 * It always ends: a task that does not obey in time is named and left alone.
 */
import {
  ActivityError,
  type Awaitable,
  type Clock,
  isMapping,
  KopfError,
  type Logger,
  type Seconds,
  type Service,
  type Settings,
} from '@kopf-ts/core';
import { describeError, isTold, markTold, onAbort, quoteId, stackOf, toError } from '@kopf-ts/core/engine';
import { begin, type Ending, outwait, type Task } from './supervised-tasks.js';

/**
 * What the operator consists of.
 *
 * ```ts
 * const rest: kopf.Service = { name: 'rest', run: async (signal) => void (await clock.sleep(60, { signal })) };
 * const plan: kopf.reactor.Plan = {
 *   startup: async () => logger.info('Up.'),
 *   underlying: [],
 *   services: [rest],
 *   cleanup: async () => logger.info('Down.'),
 * };
 * ```
 */
export interface Plan {
  /**
   * For the whole life, from before the startup until after the cleanup: e.g. listeners for errors. They must
   * need nothing of the others.
   */
  readonly lifelong?: readonly Service[] | undefined;
  /** Goes before all else. If it fails, the operator ends with that error, and without the cleanup. */
  startup(signal: AbortSignal): Promise<void>;
  /** Live longer than the others: e.g. credentials. Stopped after `services`, before `cleanup`. */
  readonly underlying: readonly Service[];
  readonly services: readonly Service[];
  /** Goes after all else, also after failures, but only if the startup has succeeded. */
  cleanup(signal: AbortSignal): Promise<void>;
  /** Resolves when the operator has begun to do its work; `ready` of the operator waits for it after the startup. */
  working?(signal: AbortSignal): Promise<void>;
  /** Called at the very end, whatever happened: close sockets, clients, etc. */
  dispose?(): Awaitable<void>;
}

/**
 * A running operator.
 *
 * ```ts
 * const operator: kopf.Operator = kopf.operator();
 * operator.done.catch((error) => console.error(error));
 * await operator.ready;
 * await operator.stop();
 * ```
 */
export interface Operator extends AsyncDisposable {
  /** Resolved when the startup handlers have succeeded and the work has begun; rejected if it ends before that. */
  readonly ready: Promise<void>;
  /** Settled when the operator has ended: resolved if it was stopped, rejected with the first error if it has failed. */
  readonly done: Promise<void>;
  /** Stops the operator, if it is not stopping already. Settles as `done` does. */
  stop(reason?: unknown): Promise<void>;
}

/**
 * What supervising needs of an operator.
 *
 * ```ts
 * const options: kopf.reactor.SuperviseOptions = { logger, settings, clock, signal: AbortSignal.timeout(60_000) };
 * ```
 */
export interface SuperviseOptions {
  readonly logger: Logger;
  readonly settings: Settings;
  readonly clock: Clock;
  /** Stops the operator, as `stop()` does. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * When each step of the stopping must be over, as parts of the whole time for it. Unused time goes to the next steps;
 * but however slow the services are, something is left for the cleanup.
 */
const SHARES = { services: 0.7, underlying: 0.75, cleanup: 0.9, cancelledCleanup: 0.95, disposal: 1 } as const;

/** When the operator began to stop, and how long it may take. */
interface Stopping {
  readonly since: Seconds;
  readonly timeout: Seconds;
}

/**
 * Starts the operator, and brings it to its end in order, whatever happens. It begins when the caller is done.
 *
 * ```ts
 * const operator = kopf.reactor.supervise(
 *   { startup: async () => {}, underlying: [], services: [], cleanup: async () => logger.info('Farewell.') },
 *   { logger, settings: kopf.settings(), clock: kopf.reactor.systemClock },
 * );
 * await operator.ready;
 * ```
 */
export function supervise(plan: Plan, options: SuperviseOptions): Operator {
  const { settings, clock, logger } = options;
  const ready = deferred();
  const stopFlag = deferred();
  let stopping: Stopping | undefined;
  let failure: { readonly error: unknown } | undefined;

  const beginStopping = (whyNotReady: unknown): void => {
    if (stopping !== undefined) return;
    // Handlers may change the settings while the operator runs, so this is the moment to look at them.
    const timeout = settings.process.ultimateExitingTimeout ?? Number.POSITIVE_INFINITY;
    stopping = { since: clock.now(), timeout: Math.max(0, timeout) };
    ready.reject(whyNotReady);
    stopFlag.resolve();
  };

  /** Once, wherever it comes from and wherever it goes. */
  const tell = (what: string, thrown: unknown): void => {
    const error = toError(thrown);
    if (isTold(error)) logger.debug(`${what}: ${describeError(error)}`);
    else logger.error(`${what}: ${describeFatal(error)}`, stackOf(error));
    markTold(error);
  };

  const fail = (error: unknown): void => {
    failure ??= { error };
    beginStopping(error);
  };

  const stopBy = (reason: unknown): void => {
    if (stopping !== undefined) return;
    logger.info(`${announcement(reason)} Operator is stopping.`);
    beginStopping(new KopfError('The operator was stopped before it was ready.', { code: 'KOPF_STOPPED' }));
  };

  const deadlineOf = (step: keyof typeof SHARES): Seconds =>
    stopping === undefined ? Number.POSITIVE_INFINITY : stopping.since + stopping.timeout * SHARES[step];

  const wait = (tasks: readonly Task[], step: keyof typeof SHARES): Promise<readonly string[]> =>
    outwait(tasks, { deadline: deadlineOf(step), clock, logger });

  /** Several services with one end. */
  const group = (services: readonly Service[]) => {
    const controller = new AbortController();
    const tasks: Task[] = [];
    return {
      signal: controller.signal,
      start() {
        for (const service of services) {
          const { name } = service;
          const run = (signal: AbortSignal): Promise<void> => service.run(signal);
          tasks.push(begin(name, run, controller.signal, (ending) => watchEnding(name, ending, controller.signal)));
        }
      },
      async stop(step: keyof typeof SHARES) {
        controller.abort(new DOMException('The operator is stopping.', 'AbortError'));
        const left = await wait(tasks, step);
        if (left.length === 0) return;
        const text = `Some services have not ended in time, and are abandoned: ${left.join(', ')}.`;
        logger.warn(text);
        fail(new KopfError(text, { code: 'KOPF_NOT_ENDED' }));
      },
    };
  };

  const watchEnding = (name: string, ending: Ending, signal: AbortSignal): void => {
    const title = capitalised(name);
    if (ending.how === 'failed') {
      tell(`${title} has failed`, ending.error);
      fail(ending.error);
    } else if (signal.aborted) {
      logger.debug(`${title} is cancelled.`);
    } else {
      logger.warn(`${title} has finished unexpectedly.`);
      beginStopping(new KopfError(`${title} has finished before the operator was ready.`, { code: 'KOPF_STOPPED' }));
    }
  };

  /** Whether it has succeeded. Cut short when the operator is stopped meanwhile. */
  const startup = async (): Promise<boolean> => {
    if (stopping !== undefined) return false;
    const controller = new AbortController();
    const task = begin('startup activity', (signal) => plan.startup(signal), controller.signal);
    await Promise.race([task.ended, stopFlag.promise]);
    if (task.ending === undefined) {
      controller.abort(new DOMException('The operator is stopping.', 'AbortError'));
      await wait([task], 'services');
    }
    // Read anew: it changes while it is waited for.
    const { ending } = task as Task;
    if (ending?.how === 'finished') return true;
    if (ending?.how === 'failed') {
      tell('Startup activity has failed', ending.error);
      fail(ending.error);
    } else {
      logger.warn('Startup activity is only partially executed due to cancellation.');
    }
    return false;
  };

  const cleanup = async (): Promise<void> => {
    if (clock.now() >= deadlineOf('cleanup')) {
      return logger.warn('Cleanup activity is not executed at all due to cancellation.');
    }
    const controller = new AbortController();
    const task = begin('cleanup activity', (signal) => plan.cleanup(signal), controller.signal);
    const left = await wait([task], 'cleanup');
    if (left.length > 0) {
      controller.abort(new DOMException('There is no more time for the cleanup.', 'AbortError'));
      await wait([task], 'cancelledCleanup');
    }
    const { ending } = task;
    if (ending === undefined || ending.how === 'cancelled') {
      logger.warn('Cleanup activity is only partially executed due to cancellation.');
    } else if (ending.how === 'failed') {
      tell('Cleanup activity has failed', ending.error);
      fail(ending.error);
    }
  };

  const dispose = async (): Promise<void> => {
    const task = begin('disposal', () => plan.dispose?.(), new AbortController().signal);
    const left = await wait([task], 'disposal');
    if (left.length > 0) logger.warn('The resources of the operator are not released in time, and are abandoned.');
    if (task.ending?.how !== 'failed') return;
    tell('The resources of the operator are not released', task.ending.error);
    fail(task.ending.error);
  };

  const becomeReady = async (signal: AbortSignal): Promise<void> => {
    try {
      await plan.working?.(signal);
      ready.resolve();
    } catch (thrown) {
      if (stopping !== undefined) return;
      const error = toError(thrown);
      tell('The operator has failed to begin its work', error);
      fail(error);
    }
  };

  const live = async (): Promise<void> => {
    // The caller may stop the operator at once, or look at it before anything happens.
    await Promise.resolve();
    const [lifelong, underlying, services] = [group(plan.lifelong ?? []), group(plan.underlying), group(plan.services)];
    const forgetSignal = options.signal && onAbort(options.signal, stopBy);
    if (stopping === undefined) {
      logger.debug('Operator is starting.');
      lifelong.start();
    }
    if (await startup()) {
      if (stopping === undefined) {
        underlying.start();
        services.start();
        void becomeReady(services.signal);
        await stopFlag.promise;
        await services.stop('services');
        await underlying.stop('underlying');
      }
      await cleanup();
    }
    await lifelong.stop('disposal');
    await dispose();
    forgetSignal?.();
    logger.debug('Operator has ended.');
    if (failure !== undefined) throw failure.error;
  };

  const done = live();
  // Callers that only await `stop()` get the error from there; an error that nobody awaits must not end the process.
  done.catch(() => {});
  const stop = (reason?: unknown): Promise<void> => {
    stopBy(reason);
    return done;
  };
  return { ready: ready.promise, done, stop, [Symbol.asyncDispose]: () => stop() };
}

interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/** Only the first settlement counts. Its rejection does not matter where nobody looks. */
function deferred(): Deferred {
  let resolve = (): void => {};
  let reject = (_error: unknown): void => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function announcement(reason: unknown): string {
  if (reason === undefined || reason === null || isUnexplained(reason)) return 'Stop-flag is raised.';
  if (typeof reason === 'string' && /^SIG[A-Z0-9]+$/.test(reason)) return `Signal ${reason} is received.`;
  return `Stop-flag is set to ${describeError(reason)}.`;
}

/** What JavaScript itself puts there when a controller is aborted without a reason. */
function isUnexplained(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'AbortError';
}

/** Of handlers that have failed, their names and reasons: otherwise, these are some lines above. */
function describeFatal(error: Error): string {
  if (!(error instanceof ActivityError)) return describeError(error);
  const failures = [...error.outcomes].flatMap(([id, outcome]) =>
    isMapping(outcome) && outcome.error !== undefined ? [`${quoteId(id)}: ${describeError(outcome.error)}`] : [],
  );
  return [describeError(error), failures.join('; ')].filter((part) => part !== '').join(' ');
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
