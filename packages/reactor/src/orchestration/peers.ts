/** The peering of one namespace or of the cluster, as it is seen by the orchestrator. */
import type { Peering, Seconds, Toggle } from '@kopf-ts/core';
import { alarm, type ToggleSet } from '@kopf-ts/core/engine';
import type { LiveInsights } from '../observation/insights.js';
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

/** How long the first word of a peering may take until it is told that the operator waits for it: it may never come. */
const PATIENCE: Seconds = 30;

/**
 * Joins the peers, and goes on with that until stopped. Nothing is done by the operator until the peering says for
 * the first time who is to do it. If the peering fails, its last word is still in force while it is restarted.
 */
export function joinPeers(
  peering: Peering,
  namespace: string | null,
  parts: PeersParts & { readonly signal: AbortSignal },
): JoinedPeers {
  const { insights, client, clock, logger, health, paused, writeGuards, random = Math.random } = parts;
  const place = namespace === null ? 'cluster-wide' : `in namespace ${namespace}`;
  const requirement = health.demand(`peering ${place}`);
  const verdict = paused.make(true, { name: `peering ${place}` });
  let removeGuard = (): void => {};
  let isDisposed = false;
  const forgetPatience = alarm(clock, PATIENCE, () => {
    logger.warn(`Peering ${place} has not said yet, by paused.turn(), who is to work: the operator waits for that.`);
  });
  const observed: Toggle = {
    get isOn() {
      return verdict.isOn;
    },
    turn(on) {
      forgetPatience();
      verdict.turn(on);
      requirement.turn(true);
    },
    whenOn: (signal) => verdict.whenOn(signal),
    whenOff: (signal) => verdict.whenOff(signal),
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
      forgetPatience();
      removeGuard();
      paused.drop(verdict);
      requirement.drop();
    },
  };
}
