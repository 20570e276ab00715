/** A timer's life: it is called again and again, never twice at once; until it fails for good, or is asked to stop. */
import type { Seconds } from '@kopf-ts/core';
import type { State, TimerHandler } from '@kopf-ts/core/engine';
import type { DaemonTask, LifeEnd } from './daemon-task.js';
import { elapsed, remainderOf } from './moments.js';

/** How often to look for changes, if the handler does not say for how long there must be none. */
const LOOKOUT: Seconds = 1;

const EXITED = 'has exited on its own and will not be retried or restarted.';

export async function timerLife(task: DaemonTask): Promise<LifeEnd> {
  const handler = task.handler as TimerHandler;
  let state: State | undefined;
  await task.delayStart();
  while (!task.isStopped) {
    await untilIdle(task, handler);
    if (task.isStopped) break;

    const begunAt = task.now();
    state = await task.attempt(state === undefined || state.done ? task.freshState() : state);
    if (state === undefined) return 'stopped';
    if (task.isStopped) break;
    if (isOver(task, handler, state)) {
      await task.flush();
      const why = task.hasFailed(state) ? 'has failed for good, and is stopped for this object.' : EXITED;
      task.logger.debug(`${task.title} ${why}`);
      return 'over';
    }
    await untilNext(task, handler, { state, begunAt });
  }
  await task.flush();
  return 'stopped';
}

/** Without a rhythm, it is called only once; and there is no point in repeating what has failed for good. */
function isOver(task: DaemonTask, { interval, idle }: TimerHandler, state: State): boolean {
  const isOneShot = interval === undefined && idle === undefined;
  return task.hasFailed(state) || (state.done && isOneShot);
}

/** The object is to be left alone for some time. While that is waited for, it may be changed again. */
async function untilIdle(task: DaemonTask, { idle }: TimerHandler): Promise<void> {
  if (idle === undefined) return;
  const left = (): Seconds => idle - elapsed(task.memory.idleResetAt, task.now());
  while (!task.isStopped && left() > 0) await task.rest(left());
}

interface LastCall {
  readonly state: State;
  readonly begunAt: Seconds;
}

/** The first rhythm that fits is the rhythm. */
async function untilNext(task: DaemonTask, handler: TimerHandler, { state, begunAt }: LastCall): Promise<void> {
  const { interval, sharp, idle } = handler;
  if (!state.done) return await task.rest(state.delay ?? 0);
  if (interval !== undefined && sharp) return await task.rest(remainderOf(interval, elapsed(begunAt, task.now())));
  if (interval !== undefined) return await task.rest(interval);
  // It was called for that state of the object already: the next call is for the next change.
  while (!task.isStopped && task.memory.idleResetAt <= begunAt) await task.rest(idle || LOOKOUT);
}
