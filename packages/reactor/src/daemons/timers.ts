/** A timer's life: it is called again and again, never twice at once, until it fails for good or is asked to stop. */
import type { Seconds } from '@kopf-ts/core';
import type { HandlerState, TimerHandler } from '@kopf-ts/core/engine';
import { elapsed, remainderOf } from './durations.js';
import type { DaemonTask, LifeEnd } from './task.js';

/** How often to look for changes if the handler does not specify its idle time. */
const LOOKOUT: Seconds = 1;

const EXITED = 'has exited on its own and will not be retried or restarted.';

export async function timerLife(task: DaemonTask): Promise<LifeEnd> {
  const handler = task.handler as TimerHandler;
  let state: HandlerState | undefined;
  await task.delayStart();
  while (!task.isStopped) {
    await untilIdle(task, handler);
    if (task.isStopped) break;

    const begunAt = task.now();
    // Of a paused object, the ticks are skipped.
    if (task.isHeld) {
      await task.rest(handler.interval || LOOKOUT);
      continue;
    }
    state = await task.attempt(state ?? task.freshState());
    if (state === undefined) return 'stopped';
    if (task.isStopped) break;
    if (isOver(handler, state)) {
      await task.flush();
      const why = state.failure ? 'has failed for good, and is stopped for this object.' : EXITED;
      task.logger.debug(`${task.title} ${why}`);
      return 'over';
    }
    const { finished, delay } = state;
    if (finished) state = undefined;
    await (finished ? untilNext(task, handler, begunAt) : task.rest(delay ?? 0));
  }
  await task.flush();
  return 'stopped';
}

/** Without an interval, it is called only once; and there is no point in repeating what has failed for good. */
function isOver({ interval, idle }: TimerHandler, state: HandlerState): boolean {
  const isOneShot = interval === undefined && idle === undefined;
  return state.failure || (state.finished && isOneShot);
}

/** Waits until the object has been idle for long enough. It may change again meanwhile. */
async function untilIdle(task: DaemonTask, { idle }: TimerHandler): Promise<void> {
  if (idle === undefined) return;
  const left = (): Seconds => idle - elapsed(task.idleResetAt, task.now());
  while (!task.isStopped && left() > 0) await task.rest(left());
}

/** The delay after a success. The first matching option wins. */
function untilNext(task: DaemonTask, handler: TimerHandler, begunAt: Seconds): Promise<unknown> {
  const { interval, sharp, idle } = handler;
  if (interval !== undefined && sharp) return task.rest(remainderOf(interval, elapsed(begunAt, task.now())));
  if (interval !== undefined) return task.rest(interval);
  return untilChanged(task, idle || LOOKOUT, begunAt);
}

/** It was already called for that state of the object: the next call is for the next change. */
async function untilChanged(task: DaemonTask, step: Seconds, since: Seconds): Promise<void> {
  while (!task.isStopped && task.idleResetAt <= since) await task.rest(step);
}
