/** Decides which daemons and timers of an object run, and which stop. */
import type { HandlerId, Seconds, StopReason } from '@kopf-ts/core';
import {
  describeError,
  isDeletionOngoing,
  NO_FACTS,
  type SpawningCause,
  type SpawningHandler,
  type ToggleView,
  tellerOfConsidered,
  toError,
} from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import type { ApplyFn } from '../sending/apply.js';
import { type RunningDaemons, type SpawnSubject, spawn } from './daemons.js';
import { stopFurther, stopToTheEnd } from './stopping.js';
import { DaemonTask } from './task.js';

export interface LeadingOptions {
  readonly cause: SpawningCause;
  readonly subject: SpawnSubject;
  /** The type of the event; `null` if the object is listed. */
  readonly eventType: string | null;
  readonly paused: ToggleView;
  /** All that run in this operator; spawned ones are added here. */
  readonly daemons: RunningDaemons;
  readonly parts: OperatorParts;
  /** How daemons send their patches. */
  readonly apply: ApplyFn;
  /** Checked before user code is called. */
  readonly mayAct?: (() => boolean) | undefined;
  /** Called when a stopping task has ended, so that the next check need not be awaited. */
  readonly onExit?: (() => void) | undefined;
}

/**
 * Spawns and stops daemons as the object's state demands. It does not wait for those that need time to stop: it
 * resolves with the delays after which to check them again.
 */
export async function leadDaemons(options: LeadingOptions): Promise<readonly Seconds[]> {
  const { cause, subject, eventType, paused, parts, onExit } = options;
  if (cause.reset) subject.daemons.resetIdleness(parts.clock.now());
  if (eventType === 'DELETED') {
    await letGo(options, 'resource-deleted');
    return NO_DELAYS;
  }

  const delays = isDeletionOngoing(cause.body)
    ? await stopAll(options, 'resource-deleted')
    : paused.isOn
      ? await stopAll(options, 'operator-pausing')
      : await rematch(options);

  for (const task of tasksOf(subject)) if (task.isStopped) task.onEnd = onExit;
  return delays;
}

/** Runs the daemons that match the object, and stops all others. */
async function rematch(options: LeadingOptions): Promise<readonly Seconds[]> {
  const { subject, paused, parts, daemons } = options;
  const wanted = wantedHandlers(options);
  const isWanted = new Set<HandlerId>(wanted.map(({ id }) => id));
  for (const handler of wanted) {
    const canStart = !subject.daemons.running.has(handler.id) && !daemons.closing.aborted;
    if (canStart) spawn(handler, options);
  }

  const delays = await Promise.all(
    tasksOf(subject).map(async (task) => {
      if (!isWanted.has(task.handler.id)) return await stopFurther(task, { ...parts, reason: 'filters-mismatch' });
      if (!task.isStopped) return undefined;
      // It is being stopped, but is wanted again. It can be restarted only after it has ended.
      const delay = await stopFurther(task, parts);
      return parts.settings.persistence.compat === 'kopf' ? undefined : delay;
    }),
  );
  // Grant some time, at least to other tasks.
  const pausing = paused.isOn ? await stopAll(options, 'operator-pausing') : [];
  return [...known(delays), ...pausing];
}

/** Daemons that match the object, and have not ended on their own. */
function wantedHandlers({ cause, subject, parts }: LeadingOptions): readonly SpawningHandler[] {
  const { spawning } = parts.registry.handlers;
  const { daemons } = subject;
  const { foreverStopped } = daemons;
  const { facts = NO_FACTS } = parts;
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause, foreverStopped) : undefined;
  const matching: readonly SpawningHandler[] = spawning.select(cause, { onConsidered });
  if (foreverStopped.size === 0) return matching;
  const matchingIds = new Set(matching.map(({ id }) => id));
  for (const handler of spawning.of(cause.resource)) {
    if (isRepeated(handler) && !matchingIds.has(handler.id)) daemons.forgive(handler.id);
  }
  return matching.filter(({ id }) => !foreverStopped.has(id));
}

/**
 * Repeated timers end on their own only by failing for good. Unlike daemons that are done, they get another chance when
 * the object stops matching and then matches again.
 */
function isRepeated(handler: SpawningHandler): boolean {
  if (handler.kind !== 'timer') return false;
  return handler.interval !== undefined || handler.idle !== undefined || handler.schedule !== undefined;
}

async function stopAll({ subject, parts }: LeadingOptions, reason: StopReason): Promise<readonly Seconds[]> {
  return known(await Promise.all(tasksOf(subject).map((task) => stopFurther(task, { ...parts, reason }))));
}

const NO_DELAYS: readonly Seconds[] = [];

export interface LettingGo {
  readonly subject: Pick<SpawnSubject, 'daemons'>;
  readonly parts: Pick<OperatorParts, 'clock' | 'settings' | 'logger'>;
  readonly daemons: RunningDaemons;
}

/**
 * The object no longer exists or is no longer ours: no more events will come back here. So daemons that can be forced
 * are stopped in the background; the others end when they want to.
 */
export async function letGo({ subject, parts, daemons }: LettingGo, reason: StopReason): Promise<void> {
  const { clock, settings, logger } = parts;
  const stopping = tasksOf(subject).map(async (task) => {
    const options = { clock, settings, reason };
    const delay = await stopFurther(task, options);
    const canBeForced = task.handler.kind === 'daemon' && task.handler.cancellationTimeout !== undefined;
    if (delay === undefined || !canBeForced) return;
    // When the operator exits, the daemon killer stops the remaining ones.
    stopToTheEnd(task, { ...options, signal: daemons.closing }).catch((error: unknown) => {
      if (!daemons.closing.aborted)
        logger.error(`${task.title} could not be stopped: ${describeError(error)}`, { error: toError(error) });
    });
  });
  await Promise.all(stopping);
}

function tasksOf({ daemons }: Pick<SpawnSubject, 'daemons'>): readonly DaemonTask[] {
  return [...daemons.running.values()].filter((running) => running instanceof DaemonTask);
}

function known(delays: readonly (Seconds | undefined)[]): readonly Seconds[] {
  return delays.filter((delay) => delay !== undefined);
}
