/** The life of a timer with a schedule: it is called at the scheduled times, never twice at once. */
import type { Registry, Service } from '@kopf-ts/core';
import { aborted, type HandlerState, type TimerHandler } from '@kopf-ts/core/engine';
import type { DaemonTask, LifeEnd } from './task.js';

/** The longest sleep in seconds: meanwhile, the clock may be set or the process suspended. */
const LOOKOUT = 60;

/** How late, in milliseconds, a call may be before it counts as missed: sleeps are never exact. */
const LATE = 60_000;

const loadCalendar = () => import('./calendar.js');

export async function scheduledLife(task: DaemonTask): Promise<LifeEnd> {
  const handler = task.handler as TimerHandler;
  const { calendarOf } = await loadCalendar();
  const calendar = calendarOf(handler);
  await task.delayStart();
  // Everything up to this moment is done, or missed for good.
  let since = task.utc();
  while (!task.isStopped) {
    const due = calendar.next(since);
    if (due === undefined) {
      task.logger.debug(`${task.title} is never due again by its schedule, and is stopped for this object.`);
      return 'over';
    }
    await untilTime(task, due);
    if (task.isStopped) break;
    since = task.utc();
    const isMissed = since.getTime() - due.getTime() > LATE;
    // Of a paused object, the ticks are skipped.
    if (task.isHeld || (isMissed && handler.missed !== 'once')) continue;
    const end = await call(task);
    if (end !== undefined) return end;
    if (handler.missed !== 'once') since = task.utc();
  }
  await task.flush();
  return 'stopped';
}

/** Until it has succeeded. Returns how the life has ended, if it has. */
async function call(task: DaemonTask): Promise<LifeEnd | undefined> {
  let state: HandlerState | undefined = task.freshState();
  for (;;) {
    state = await task.attempt(state);
    if (state === undefined) return 'stopped';
    if (state.failure && !task.isStopped) {
      await task.flush();
      task.logger.debug(`${task.title} has failed for good, and is stopped for this object.`);
      return 'over';
    }
    if (state.finished || task.isStopped) return undefined;
    await task.rest(state.delay ?? 0);
    if (task.isStopped) return undefined;
  }
}

async function untilTime(task: DaemonTask, due: Date): Promise<void> {
  for (;;) {
    const left = (due.getTime() - task.utc().getTime()) / 1000;
    if (left <= 0 || task.isStopped) return;
    await task.rest(Math.min(left, LOOKOUT));
  }
}

/** Most mistakes are told where the timer is declared; the rest of them when the operator starts, and not in each object. */
export function scheduleCheck({ registry }: { readonly registry: Pick<Registry, 'handlers'> }): Service {
  return {
    name: 'schedules',
    async run(signal) {
      const timers = [...registry.handlers.spawning].filter(isScheduled);
      if (timers.length > 0) {
        const { calendarOf } = await loadCalendar();
        for (const timer of timers) calendarOf(timer);
      }
      await aborted(signal);
    },
  };
}

function isScheduled(handler: { readonly kind: string; readonly schedule?: string }): handler is TimerHandler {
  return handler.kind === 'timer' && handler.schedule !== undefined;
}
