/** Stops all daemons and timers of the operator: while it is paused, and when it exits. */
import type { Seconds, Service, StopReason } from '@kopf-ts/core';
import { childController, describeError, type ToggleView, toError } from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import type { RunningDaemons } from './daemons.js';
import { abandon, force, stopToTheEnd, untilEnded } from './stopping.js';
import type { DaemonTask } from './task.js';

export interface DaemonKillerParts extends Pick<OperatorParts, 'clock' | 'settings' | 'logger'> {
  readonly paused: ToggleView;
  readonly daemons: RunningDaemons;
}

/** How often to look for daemons while paused: events that were already being processed may still spawn some. */
const ROUND: Seconds = 1;

/** How long, at exit, daemons that are never forced may end by themselves; then they are forced after all. */
const GRACE: Seconds = 5;

/** The part of the exit time that is reserved for everything but the daemons. */
const MARGIN: Seconds = 5;

/** Resolves, after being aborted, when all of them have ended or are abandoned. */
export function daemonKiller(parts: DaemonKillerParts): Service {
  const { clock, logger, paused, daemons } = parts;
  return {
    name: 'daemon killer',
    async run(signal) {
      const exit = new AbortController();
      /** Those being stopped now: they need not be stopped twice. */
      const stops = new Map<DaemonTask, Promise<void>>();

      const stopAll = (reason: StopReason): void => {
        for (const task of daemons) {
          if (task.isEnded) continue;
          if (stops.has(task)) {
            task.stopper.add(reason, clock.now());
            continue;
          }
          const stopping = stopToTheEnd(task, { ...parts, reason, isImpatient: true, signal: exit.signal })
            .catch((error: unknown) => {
              if (exit.signal.aborted) return;
              logger.error(`${task.title} could not be stopped: ${describeError(error)}`, { error: toError(error) });
            })
            .finally(() => stops.delete(task));
          stops.set(task, stopping);
        }
      };

      try {
        for (;;) {
          await paused.whenOn(signal);
          await whilePaused(parts, signal, () => stopAll('operator-pausing'));
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      daemons.close();
      stopAll('operator-exiting');
      await finish(parts, stops, exit);
    },
  };
}

/** Stops daemons now, and then every second until the operator is resumed. Rejects with the signal. */
async function whilePaused(parts: DaemonKillerParts, signal: AbortSignal, stopAll: () => void): Promise<void> {
  const { clock, paused } = parts;
  const resumed = new AbortController();
  const watching = childController(signal);
  paused.whenOff(watching.signal).then(
    () => resumed.abort(),
    () => {},
  );
  try {
    while (paused.isOn && !resumed.signal.aborted) {
      stopAll();
      await clock.sleep(ROUND, { wakeup: resumed.signal, signal });
    }
  } finally {
    watching.abort();
  }
}

/** Waits for the stopping daemons, and then forces the rest, within the operator's exit time. */
async function finish(
  parts: DaemonKillerParts,
  stops: ReadonlyMap<DaemonTask, Promise<void>>,
  exit: AbortController,
): Promise<void> {
  const { clock, daemons } = parts;
  const deadline = clock.now() + timeToExit(parts);

  if (stops.size > 0) {
    const allStopped = new AbortController();
    void Promise.all(stops.values()).then(() => allStopped.abort());
    await clock.sleep(deadline - clock.now(), { wakeup: allStopped.signal });
    exit.abort();
  }

  // Daemons that ignored being forced are not worth waiting for.
  const unforced = [...daemons].filter((task) => task.cancelledAt === undefined);
  await untilEnded(unforced, Math.min(GRACE, deadline - clock.now()), parts);
  await Promise.all(unforced.filter((task) => !task.isEnded).map((task) => force(task, parts)));
  for (const task of daemons) abandon(task, clock.now());
}

function timeToExit({ settings }: DaemonKillerParts): Seconds {
  const { ultimateExitingTimeout: total } = settings.process;
  return total === undefined ? Number.POSITIVE_INFINITY : Math.max(total - MARGIN, total / 2);
}
