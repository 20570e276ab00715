/** Schedules scans: because something has changed, or because the last scan was incomplete. */
import type { Clock, Logger, Seconds } from '@kopf-ts/core';
import { backoffDelay, condition, describeError, type Facts, stackOf, toError } from '@kopf-ts/core/engine';
import type { Requirement } from '../probing/health.js';
import type { Promised } from './definitions.js';

export interface Rescans {
  /** Something has changed in the group. If the expected result is known, scans repeat until it is reached. */
  request(group: string, promised?: Promised): void;
  /** The group's answer was incomplete: it is scanned again, with growing delays. */
  suspect(group: string): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface RescansOptions {
  /** Returns the groups with incomplete answers; throws if the cluster does not respond. */
  readonly scan: (groups: ReadonlySet<string>, signal: AbortSignal) => Promise<ReadonlySet<string>>;
  readonly isKept: (promised: Promised) => boolean;
  readonly requirement: Requirement;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly facts: Facts;
}

/** Definitions rarely come alone: one scan serves all of the same moment. */
const COALESCING: Seconds = 0.1;
/** The delays until the slowest of several API servers notices a change: about a minute in total. */
const PATIENCE = 12;
const LAGGING = { base: 0.2, cap: 10 };
const SILENT_GROUP = { base: 5, cap: 300 };
const SILENT_CLUSTER = { base: 1, cap: 30 };

interface Plan {
  readonly dueAt: Seconds;
  /** Consecutive scans without the expected result. */
  readonly scans: number;
  /** By the name of the definition. */
  readonly promises: ReadonlyMap<string, Promised>;
}

export function rescans(options: RescansOptions): Rescans {
  const { scan, isKept, requirement, clock, logger, random, facts } = options;
  const plans = new Map<string, Plan>();
  const planned = condition();
  let nudge = new AbortController();
  let failures = 0;

  /** Merges two plans for one group: the newer expectation and the earlier time win. */
  const plan = (group: string, newer: Plan, older = plans.get(group)): void => {
    plans.set(group, {
      dueAt: Math.min(newer.dueAt, older?.dueAt ?? newer.dueAt),
      scans: newer.scans,
      promises: new Map([...(older?.promises ?? []), ...newer.promises]),
    });
    planned.notify();
    nudge.abort();
  };
  const planAgain = (group: string, done: Plan, pace: { base: Seconds; cap: Seconds }): void => {
    const scans = done.scans + 1;
    const again = { ...done, scans, dueAt: clock.now() + backoffDelay(scans, { ...pace, random }) };
    const requestedMeanwhile = plans.get(group);
    if (requestedMeanwhile === undefined) plan(group, again);
    else plan(group, requestedMeanwhile, again);
  };

  const takeDue = async (signal: AbortSignal): Promise<ReadonlyMap<string, Plan>> => {
    await planned.until(() => plans.size > 0, signal);
    const dueAt = Math.min(...[...plans.values()].map((one) => one.dueAt));
    nudge = new AbortController();
    if (dueAt > clock.now()) await clock.sleep(dueAt - clock.now(), { wakeup: nudge.signal, signal });
    const due = new Map([...plans].filter(([, one]) => one.dueAt <= clock.now()));
    for (const group of due.keys()) plans.delete(group);
    return due;
  };

  const conclude = (group: string, done: Plan, isSilent: boolean): void => {
    const awaited = new Map([...done.promises].filter(([, promised]) => !isKept(promised)));
    if (isSilent) planAgain(group, { ...done, promises: awaited }, SILENT_GROUP);
    else if (awaited.size === 0) return;
    else if (done.scans < PATIENCE) planAgain(group, { ...done, promises: awaited }, LAGGING);
    else
      logger.debug(
        `The cluster still does not serve these definitions; no longer waiting for them: ${[...awaited.keys()].join(', ')}`,
      );
  };

  const scanDue = async (due: ReadonlyMap<string, Plan>, signal: AbortSignal): Promise<void> => {
    try {
      const silent = await scan(new Set(due.keys()), signal);
      if (failures > 0) logger.info('Discovered the changed resources of the cluster.');
      failures = 0;
      requirement.turn(true);
      for (const [group, done] of due) conclude(group, done, silent.has(group));
    } catch (error) {
      signal.throwIfAborted();
      const message = `Discovery of the changed resources failed; retrying: ${describeError(error)}`;
      if (failures === 0) logger.warn(message, stackOf(error));
      else logger.debug(message, stackOf(error));
      failures += 1;
      if (facts.wants['discovery.failed']) facts.tell({ kind: 'discovery.failed', error: toError(error), failures });
      requirement.turn(false, message);
      for (const [group, done] of due) planAgain(group, done, SILENT_CLUSTER);
    }
  };

  return {
    request(group, promised) {
      const promises = new Map(promised === undefined ? [] : [[promised.name, promised]]);
      plan(group, { dueAt: clock.now() + COALESCING, scans: 0, promises });
    },
    suspect(group) {
      planAgain(group, { dueAt: clock.now(), scans: 0, promises: new Map() }, SILENT_GROUP);
    },
    async run(signal) {
      for (;;) {
        const due = await takeDue(signal);
        if (due.size > 0) await scanDue(due, signal);
      }
    },
  };
}
