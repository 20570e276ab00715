/** A daemon's life: it is called once, and again only if it fails; until it is done, or is asked to stop. */
import type { SpawningCause, SpawningHandler } from '@kopf-ts/core/engine';
import type { CycleSubject } from '../cycle/scene.js';
import { apart } from '../observing/traced-cycles.js';
import type { OperatorParts } from '../parts.js';
import type { ApplyFn } from '../sending/apply.js';
import { scheduledLife } from './schedules.js';
import { DaemonTask, type Life, type LifeEnd } from './task.js';
import { timerLife } from './timers.js';

/**
 * All daemons and timers of one operator that run now, whatever has become of their objects: objects are forgotten when
 * they are deleted, but their daemons may need time to end.
 */
export interface RunningDaemons extends Iterable<DaemonTask> {
  readonly size: number;
  /** Fires when no more of them may be spawned, as the operator exits. */
  readonly closing: AbortSignal;
  add(task: DaemonTask): void;
  readonly delete: (task: DaemonTask) => void;
  /** Begins a life outside of the trace of the cycle that it is begun by: it goes on for much longer. */
  readonly apart: <R>(begin: () => R) => R;
  close(): void;
}

/** One for an operator: cycles that spawn daemons write there, and the killer of daemons reads. */
export function runningDaemons(): RunningDaemons {
  const tasks = new Set<DaemonTask>();
  const controller = new AbortController();
  return {
    get size() {
      return tasks.size;
    },
    closing: controller.signal,
    [Symbol.iterator]: () => tasks.values(),
    add(task) {
      tasks.add(task);
    },
    delete: (task) => void tasks.delete(task),
    apart: apart(),
    close() {
      controller.abort(new DOMException('No more daemons: the operator is stopping.', 'AbortError'));
    },
  };
}

/** Whose daemons they are. */
export type SpawnSubject = Pick<
  CycleSubject,
  'daemons' | 'newerThan' | 'noteWrite' | 'takeTurn' | 'beginWrite' | 'isHeld'
>;

export interface SpawnOptions {
  readonly cause: SpawningCause;
  readonly subject: SpawnSubject;
  readonly daemons: RunningDaemons;
  readonly parts: OperatorParts;
  readonly apply: ApplyFn;
  /** Whether this operator is the one to act, as far as it can tell at this very moment. */
  readonly mayAct?: (() => boolean) | undefined;
}

/** Starts the daemon or the timer for the object. It must not be running. */
export function spawn(handler: SpawningHandler, { cause, subject, daemons, parts, apply, mayAct }: SpawnOptions): void {
  const { resource, memo, body } = cause;
  const live = subject.daemons.look(body);
  const surroundings = { resource, memo, subject, live, parts, apply, mayAct, onFinish: daemons.delete };
  const begin = (): DaemonTask => new DaemonTask(handler, surroundings, lifeOf(handler));
  const task = parts.tracing === undefined ? begin() : daemons.apart(begin);
  subject.daemons.begin(task);
  daemons.add(task);
}

function lifeOf(handler: SpawningHandler): Life {
  if (handler.kind === 'daemon') return daemonLife;
  return handler.schedule === undefined ? timerLife : scheduledLife;
}

async function daemonLife(task: DaemonTask): Promise<LifeEnd> {
  await task.delayStart();
  let state = task.freshState();
  while (!task.isStopped && !state.finished) {
    const next = await task.attempt(state);
    if (next === undefined) return 'stopped';
    state = next;
    if (!state.finished) await task.rest(state.delay ?? 0);
  }
  // It counts how it was when the function has ended, and not when the last patch was sent.
  const end = task.isStopped ? 'stopped' : 'over';
  await task.flush();
  const why = end === 'stopped' ? 'on request' : 'on its own';
  task.logger.debug(`${task.title} has exited ${why} and will not be retried or restarted.`);
  return end;
}
