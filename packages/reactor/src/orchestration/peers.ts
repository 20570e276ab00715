/** The peering of one namespace or of the cluster, as seen by the orchestrator. */
import type { PausingToggle, Peering, Seconds } from '@kopf-ts/core';
import { alarm, NO_FACTS, type ToggleSet } from '@kopf-ts/core/engine';
import type { LiveInsights } from '../discovery/insights.js';
import type { OperatorParts } from '../parts.js';
import type { Health } from '../probing/health.js';
import type { WriteGuards } from '../write-guards.js';
import { type RestartingTask, restartingTask } from './restarting-task.js';

export interface PeersParts extends OperatorParts {
  readonly insights: LiveInsights;
  readonly health: Health;
  /** Any of its toggles pauses everything. */
  readonly paused: ToggleSet;
  readonly writeGuards: Pick<WriteGuards, 'add'>;
}

export interface JoinedPeers {
  readonly task: RestartingTask;
  /** From now on, it neither pauses the operator nor forbids it anything. */
  dispose(): void;
}

/** How long the first ruling of a peering may take until the operator warns that it waits for it: it may never come. */
const PATIENCE: Seconds = 30;

/**
 * Joins the peers, and stays with them until stopped. The operator does nothing until the first ruling of the peering.
 * If the peering fails, its last ruling is in force while it is restarted.
 */
export function joinPeers(
  peering: Peering,
  namespace: string | null,
  parts: PeersParts & { readonly signal: AbortSignal },
): JoinedPeers {
  const { insights, client, clock, logger, health, paused, writeGuards, random = Math.random } = parts;
  const { facts = NO_FACTS } = parts;
  const place = namespace === null ? 'cluster-wide' : `in namespace ${namespace}`;
  const requirement = health.demand(`peering ${place}`);
  const ruling = paused.make(true, { name: `peering ${place}` });
  let removeGuard = (): void => {};
  let isDisposed = false;
  let ruled: boolean | undefined;
  let by: string | undefined;
  const forgetPatience = alarm(clock, PATIENCE, () => {
    logger.warn(`Peering ${place} has not called paused.turn() yet; the operator waits for its decision.`);
  });
  const observed: PausingToggle = {
    get isOn() {
      return ruling.isOn;
    },
    turn(on, why) {
      forgetPatience();
      if (!isDisposed && facts.wants['peering.ruled'] && (ruled !== on || (on && by !== why?.by))) {
        facts.tell({ kind: 'peering.ruled', namespace, isPaused: on, why: on ? why : undefined });
      }
      ruled = on;
      by = why?.by;
      ruling.turn(on);
      requirement.turn(true);
    },
    whenOn: (signal) => ruling.whenOn(signal),
    whenOff: (signal) => ruling.whenOff(signal),
  };

  const task = restartingTask({
    title: `Peering ${place}`,
    clock,
    logger,
    random,
    signal: parts.signal,
    run: (signal) =>
      peering.join({
        namespace,
        insights,
        client,
        clock,
        logger,
        signal,
        paused: observed,
        guardWrites(mayWrite) {
          removeGuard();
          if (!isDisposed) removeGuard = writeGuards.add(mayWrite);
        },
      }),
    onFailure: (error) => requirement.turn(false, error.message),
  });
  return {
    task,
    dispose() {
      isDisposed = true;
      if (facts.wants['peering.left']) facts.tell({ kind: 'peering.left', namespace });
      forgetPatience();
      removeGuard();
      paused.drop(ruling);
      requirement.drop();
    },
  };
}
