/** When schedules are due. It is loaded only where there are any. */

import { KopfError } from '@kopf-ts/core';
import { describeError, type TimerHandler, titleOf } from '@kopf-ts/core/engine';
import { Cron } from 'croner';

export interface Calendar {
  /** The first time after that moment; `undefined` if there is none, ever. */
  next(after: Date): Date | undefined;
}

const calendars = new WeakMap<TimerHandler, Calendar>();

/** Of the handler's schedule: one for all objects. */
export function calendarOf(handler: TimerHandler): Calendar {
  let calendar = calendars.get(handler);
  if (calendar === undefined) {
    calendar = newCalendar(handler);
    calendars.set(handler, calendar);
  }
  return calendar;
}

function newCalendar(handler: TimerHandler): Calendar {
  const { schedule = '', timeZone = 'UTC' } = handler;
  try {
    // Paused: it only computes. Waiting is up to the clock of the operator.
    const cron = new Cron(schedule, { timezone: timeZone, paused: true });
    cron.nextRun(new Date(0));
    return { next: (after) => cron.nextRun(after) ?? undefined };
  } catch (error) {
    throw new KopfError(
      `${titleOf(handler)} has a schedule that cannot be understood, '${schedule}' in ${timeZone}: ${describeError(error)}`,
      { code: 'KOPF_SCHEDULE', cause: error },
    );
  }
}
