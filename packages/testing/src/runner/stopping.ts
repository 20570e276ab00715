/** Waiting for the end of an operator, by whatever clock it lives. */
import type { Clock, Seconds } from '@kopf-ts/core';
import type { ManualClock } from '../manual-clock.js';

/** Between two moves of a manual clock: sockets and files need real time for what they do. */
const PATIENCE_TURNS = 100;

/** So little at once, that nobody is late by much for what was done meanwhile. */
const STEP: Seconds = 0.5;

/** Whether it has ended within the time. A manual clock is moved for that: nobody else would do it. */
export async function endsWithin(
  ending: Promise<unknown>,
  timeout: Seconds | undefined,
  clock: Clock,
): Promise<boolean> {
  const limit = timeout ?? Number.POSITIVE_INFINITY;
  const ended = new AbortController();
  const watching = ending.then(
    () => ended.abort(),
    () => ended.abort(),
  );
  if (isManual(clock)) await moveUntil(ended.signal, limit, clock);
  else if (limit === Number.POSITIVE_INFINITY) await watching;
  else await clock.sleep(limit, { wakeup: ended.signal });
  return ended.signal.aborted;
}

export function isManual(clock: Clock): clock is ManualClock {
  return 'advance' in clock && 'settle' in clock;
}

/** Lets time pass to the next moment when something can happen, and not beyond the deadline. */
export async function passUntil(deadline: Seconds, clock: Clock): Promise<void> {
  const left = deadline - clock.now();
  // Of a real cluster, nobody knows when that is.
  if (isManual(clock)) await clock.advance(Math.min(left, Math.max(clock.nextWakeup ?? left, 0.001)));
  else await clock.sleep(Math.min(left, 0.5));
}

async function moveUntil(ended: AbortSignal, limit: Seconds, clock: ManualClock): Promise<void> {
  const deadline = clock.now() + limit;
  for (;;) {
    for (let turn = 0; turn < PATIENCE_TURNS && !ended.aborted; turn++) await nextTurn();
    if (ended.aborted || clock.now() >= deadline) return;
    await clock.advance(Math.min(STEP, deadline - clock.now()));
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
