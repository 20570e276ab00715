/** A daemon's life: its function is called once, and again only after failures, until it is done or asked to stop. */
import type { SpawningCause, SpawningHandler } from '@kopf-ts/core/engine';
import type { CycleSubject } from '../cycle/scene.js';
import { apart } from '../observing/traced-cycles.js';
import type { OperatorParts } from '../parts.js';
import type { ApplyFn } from '../sending/apply.js';
import { scheduledLife } from './schedules.js';
import { DaemonTask, type Life, type LifeEnd } from './task.js';
import { timerLife } from './timers.js';

/** All daemons and timers of one operator that run now, even those of deleted objects: they may need time to end. */
export interface RunningDaemons extends Iterable<DaemonTask> {
  readonly size: number;
  /** Aborted when no more of them may be spawned, as the operator exits. */
  readonly closing: AbortSignal;
  add(task: DaemonTask): void;
  readonly delete: (task: DaemonTask) => void;
  /** Starts a task outside of the trace of the cycle that spawns it: it lives for much longer. */
  readonly apart: <R>(begin: () => R) => R;
  close(): void;
}

/** One per operator: cycles that spawn daemons write there, and the daemon killer reads. */
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

/** The object that daemons are spawned for. */
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
  /** Whether this operator may act, as far as it can tell at this very moment. */
  readonly mayAct?: (() => boolean) | undefined;
}

/** Starts the daemon or timer for the object. It must not be running. */
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
  // The reason is that of the function's end, not that of the last patch.
  const end = task.isStopped ? 'stopped' : 'over';
  await task.flush();
  const why = end === 'stopped' ? 'on request' : 'on its own';
  task.logger.debug(`${task.title} has exited ${why} and will not be retried or restarted.`);
  return end;
}
