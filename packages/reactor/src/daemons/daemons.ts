/** A daemon's life: it is called once, and again only if it fails; until it is done, or is asked to stop. */
import type { SpawningCause, SpawningHandler } from '@kopf-ts/core/engine';
import { makeLiveBody } from '@kopf-ts/core/engine';
import type { ApplyFn } from '../handling/applier.js';
import type { DaemonsMemory } from '../memories.js';
import type { OperatorParts } from '../parts.js';
import { DaemonTask, type Life, type LifeEnd } from './task.js';
import { timerLife } from './timers.js';

/**
 * All daemons and timers of one operator that run now, whatever has become of their objects: objects are forgotten when
 * they are deleted, but those who run for them may need time to end.
 */
export interface RunningDaemons extends Iterable<DaemonTask> {
  readonly size: number;
  /** Fires when no more of them are to be spawned, as the operator exits. */
  readonly closing: AbortSignal;
  add(task: DaemonTask): void;
  readonly delete: (task: DaemonTask) => void;
  close(): void;
}

/** One for an operator: whoever spawns daemons writes there, and the killer of daemons reads. */
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
    close() {
      controller.abort(new DOMException('No more daemons: the operator is stopping.', 'AbortError'));
    },
  };
}

export interface SpawnOptions {
  readonly cause: SpawningCause;
  readonly memory: DaemonsMemory;
  readonly daemons: RunningDaemons;
  readonly parts: OperatorParts;
  readonly apply: ApplyFn;
}

/** Starts the daemon or the timer for the object. It must not be running. */
export function spawn(handler: SpawningHandler, { cause, memory, daemons, parts, apply }: SpawnOptions): void {
  const { resource, memo, indices, client, body } = cause;
  memory.live ??= makeLiveBody(body);
  const of = { resource, memo, ...(indices && { indices }), ...(client && { client }) };
  const surroundings = { of, memory, live: memory.live, parts, apply, onFinish: daemons.delete };
  const task = new DaemonTask(handler, surroundings, lives[handler.kind]);
  memory.running.set(handler.id, task);
  daemons.add(task);
}

const lives: Readonly<Record<SpawningHandler['kind'], Life>> = { daemon: daemonLife, timer: timerLife };

async function daemonLife(task: DaemonTask): Promise<LifeEnd> {
  await task.delayStart();
  let state = task.freshState();
  while (!task.isStopped && !state.done) {
    const next = await task.attempt(state);
    if (next === undefined) return 'stopped';
    state = next;
    if (!state.done) await task.rest(state.delay ?? 0);
  }
  // It counts how it was when the function has ended, and not when the last patch was sent.
  const end = task.isStopped ? 'stopped' : 'over';
  await task.flush();
  const why = end === 'stopped' ? 'on request' : 'on its own';
  task.logger.debug(`${task.title} has exited ${why} and will not be retried or restarted.`);
  return end;
}
