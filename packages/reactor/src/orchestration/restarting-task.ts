/** Tasks that go on until stopped: whenever one fails or ends, it is started again. */
import { type Clock, KopfError, type Logger, type Seconds } from '@kopf-ts/core';
import { backoffDelay, childController, describeError, toError } from '@kopf-ts/core/engine';

export interface RestartingTask {
  /** The name in logs: `Watcher for pods.v1@default`. */
  readonly title: string;
  /** Resolves when it has ended after being stopped; never rejects. */
  readonly ended: Promise<void>;
  readonly isEnded: boolean;
  /** Asks it to end. */
  stop(reason?: unknown): void;
}

export interface RestartingTaskOptions {
  readonly title: string;
  /** Is not supposed to end before it is aborted: neither with an error, nor without it. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly onFailure?: ((error: Error) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const RESTARTS = { base: 0.5, cap: 30 };
/** A task that has run for so long was well: its next failure is the first one. */
const WELL_AFTER: Seconds = 60;

export function restartingTask(options: RestartingTaskOptions): RestartingTask {
  const controller = childController(options.signal);
  let isEnded = false;
  const ended = runForever(options, controller.signal).finally(() => {
    isEnded = true;
    controller.dispose();
  });
  return {
    title: options.title,
    ended,
    get isEnded() {
      return isEnded;
    },
    stop: (reason) =>
      controller.abort(reason ?? new KopfError(`${options.title} is stopped.`, { code: 'KOPF_STOPPED' })),
  };
}

async function runForever(options: RestartingTaskOptions, signal: AbortSignal): Promise<void> {
  const { title, run, onFailure, clock, logger, random } = options;
  let failures = 0;
  let told: string | undefined;
  while (!signal.aborted) {
    const startedAt = clock.now();
    let error: Error;
    try {
      await run(signal);
      error = new KopfError('It has ended without being stopped.', { code: 'KOPF_ENDED_TOO_EARLY' });
    } catch (thrown) {
      error = toError(thrown);
    }
    if (signal.aborted) {
      const isItsOwn = error !== signal.reason && error.name !== 'AbortError' && !isEarlyEnd(error);
      if (isItsOwn) logger.warn(`${title} has failed while stopping: ${describeError(error)}`, { error });
      return;
    }
    if (clock.now() - startedAt >= WELL_AFTER) {
      failures = 0;
      told = undefined;
    }
    failures += 1;
    const delay = backoffDelay(failures, { ...RESTARTS, random });
    const message = `${title} has failed: ${describeError(error)}`;
    // Repeated failures are not logged again; the probes show that it is still down.
    if (message === told) logger.debug(`${message} (${failures} failures in a row)`, { error });
    else logger.error(message, { error });
    told = message;
    onFailure?.(error);
    await sleepUnlessStopped(clock, delay, signal);
  }
}

function isEarlyEnd(error: Error): boolean {
  return error instanceof KopfError && error.code === 'KOPF_ENDED_TOO_EARLY';
}

async function sleepUnlessStopped(clock: Clock, delay: Seconds, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(delay, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** How often to remind of tasks that do not end. */
const STUCK_AFTER: Seconds = 10;

export interface EndingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The longest wait. Default: no limit. */
  readonly patience?: Seconds | undefined;
  /** Ends the wait when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Waits for the stopped tasks to end. Slow tasks are named in the logs repeatedly. */
export async function whenEnded(tasks: readonly RestartingTask[], options: EndingOptions): Promise<void> {
  const { clock, logger, patience = Number.POSITIVE_INFINITY, signal } = options;
  const isOver = childController(signal);
  void Promise.all(tasks.map(({ ended }) => ended)).then(() => isOver.abort());
  const startedAt = clock.now();
  let passed = 0;
  for (;;) {
    await clock.sleep(Math.min(STUCK_AFTER, patience - passed), { wakeup: isOver.signal });
    passed = clock.now() - startedAt;
    const stuck = tasks.filter(({ isEnded }) => !isEnded);
    if (stuck.length === 0 || signal?.aborted) break;
    const titles = stuck.map(({ title }) => title).join(', ');
    logger.warn(`Still not stopped after ${Math.round(passed)} seconds: ${titles}`);
    if (passed >= patience) break;
  }
  isOver.dispose();
}
