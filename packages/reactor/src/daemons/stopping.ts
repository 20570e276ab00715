/** Stops daemons in three steps: they are asked to, then forced, then abandoned. Core decides on the steps. */
import type { Clock, Seconds, Settings, StopReason } from '@kopf-ts/core';
import { type DaemonHandler, decideStopping, type StoppingFacts } from '@kopf-ts/core/engine';
import { elapsed } from './durations.js';
import type { DaemonTask } from './task.js';

export interface StoppingOptions {
  readonly clock: Clock;
  readonly settings: Settings;
}

export interface StepOptions extends StoppingOptions {
  /** A new or known reason; none to only continue what was begun. */
  readonly reason?: StopReason | undefined;
  /** Daemons that are never forced are not waited for, either. */
  readonly isImpatient?: boolean;
}

/**
 * Takes the next step if it is due. Resolves with the delay until the next check if the daemon still runs and there is
 * something to wait for or to do. Well-behaved daemons exit within the first step.
 */
export async function stopFurther(task: DaemonTask, options: StepOptions): Promise<Seconds | undefined> {
  const { clock, settings, reason, isImpatient = false } = options;
  const { stopper, title } = task;
  if (reason !== undefined && !stopper.reasons.has(reason)) {
    task.stop(reason);
    await chanceToExit(task, options);
    if (isImpatient && task.isEnded) task.logger.debug(`${title} has exited gracefully.`);
  }
  const facts = factsOf(task, settings, clock.now());
  const decision = decideStopping(facts);
  const action = decision.action === 'poll' && isImpatient ? 'abandon' : decision.action;
  switch (action) {
    case 'none':
      break;
    case 'signal':
      stopper.add('daemon-signalled', clock.now());
      task.logger.debug(`${title} is signalled to exit gracefully.`);
      await chanceToExit(task, options);
      break;
    case 'cancel':
      await force(task, options);
      break;
    case 'abandon':
      // No time may have passed between the two, e.g. if the stopping cycle was busy for too long.
      if (facts.timeout !== undefined && !facts.cancelled) await force(task, options);
      abandon(task, clock.now());
      return undefined;
    case 'poll':
      task.logger.debug(`${title} is still exiting. The next check is in ${facts.polling} seconds.`);
      break;
  }
  return task.isEnded || !('delay' in decision) ? undefined : decision.delay;
}

/** Takes all steps, one after another. Rejects only with the signal, if that comes first. */
export async function stopToTheEnd(task: DaemonTask, options: StepOptions & { signal: AbortSignal }): Promise<void> {
  const { clock, signal } = options;
  for (;;) {
    const delay = await stopFurther(task, options);
    if (delay === undefined) return;
    await untilEnded([task], delay, { clock, signal });
  }
}

/** Forces the daemon, and yields so that it can end. */
export async function force(task: DaemonTask, options: StoppingOptions): Promise<void> {
  task.stopper.add('daemon-cancelled', options.clock.now());
  task.logger.debug(`${task.title} is signalled to exit by force.`);
  task.cancel();
  await chanceToExit(task, options);
}

/** Abandons it if it still runs, and logs that once. */
export function abandon(task: DaemonTask, now: Seconds): void {
  if (task.isEnded || task.stopper.reasons.has('daemon-abandoned')) return;
  task.stopper.add('daemon-abandoned', now);
  task.logger.warn(`${task.title} did not exit in time. Leaving it orphaned.`);
}

/** Waits until all of them have ended, within the limit. */
export async function untilEnded(
  tasks: readonly DaemonTask[],
  seconds: Seconds,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const running = tasks.filter((task) => !task.isEnded);
  if (running.length === 0) return;
  const allEnded = new AbortController();
  void Promise.all(running.map((task) => task.ended)).then(() => allEnded.abort());
  await clock.sleep(seconds, { wakeup: allEnded.signal, ...(signal && { signal }) });
}

/** Daemons with nothing to clean up exit before anything else is needed. */
async function chanceToExit(task: DaemonTask, { clock, settings }: StoppingOptions): Promise<void> {
  const { instantExitTimeout, instantExitZeroTimeCycles = 0 } = settings.background;
  if (instantExitTimeout !== undefined) return await untilEnded([task], instantExitTimeout, { clock });
  for (let cycle = 0; cycle < instantExitZeroTimeCycles && !task.isEnded; cycle++) await clock.sleep(0);
}

function factsOf(task: DaemonTask, settings: Settings, now: Seconds): StoppingFacts {
  const { handler, stopper, cancelledAt } = task;
  const { reasons, since = now } = stopper;
  const options: Partial<DaemonHandler> = handler.kind === 'daemon' ? handler : {};
  const { cancellationBackoff: backoff, cancellationTimeout: timeout, cancellationPolling } = options;
  const forcedAt = backoff ?? 0;
  // A daemon that can be forced has its full timeout from then on, however late that was.
  const askedFor = timeout === undefined ? elapsed(since, now) : Math.min(elapsed(since, now), forcedAt);
  return {
    age: cancelledAt === undefined ? askedFor : forcedAt + elapsed(cancelledAt, now),
    backoff,
    timeout,
    polling: cancellationPolling || settings.background.cancellationPolling,
    exited: task.isEnded,
    signalled: reasons.has('daemon-signalled'),
    cancelled: reasons.has('daemon-cancelled'),
    abandoned: reasons.has('daemon-abandoned'),
  };
}
