import type { KubeClient } from './client.js';
import type { Clock } from './clock.js';
import type { Insights } from './inspection/insights.js';
import type { Logger } from './logger.js';
import type { Toggle } from './toggle.js';

/**
 * Why an operator pauses for others: one with a higher priority (`peer`), a replica that leads (`leader`), or because the
 * peering that it must belong to does not exist (`absent`).
 *
 * ```ts
 * const why: kopf.PauseReason = { kind: 'leader', by: 'operator-5d8f/1' };
 * ```
 */
export interface PauseReason {
  readonly kind: 'peer' | 'leader' | 'absent';
  /** Who they are, if it is known. */
  readonly by?: string | undefined;
}

/**
 * By what an operator pauses and goes on.
 *
 * ```ts
 * const pauseFor = (paused: kopf.PausingToggle, by: string): void => paused.turn(true, { kind: 'peer', by });
 * ```
 */
export interface PausingToggle extends Toggle {
  /** The reason is for people who wonder. */
  turn(on: boolean, why?: PauseReason): void;
}

/**
 * Where an operator meets its peers, and by what it pauses.
 *
 * ```ts
 * const pauseFor = (scope: kopf.PeeringScope, peer: string): void => {
 *   scope.logger.info(`Pausing in favour of ${peer}.`);
 *   scope.paused.turn(true);
 * };
 * ```
 */
export interface PeeringScope {
  readonly namespace: string | null;
  readonly insights: Insights;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Turned on: the operator stops watching and its daemons stop. Turned off: all goes on. */
  readonly paused: PausingToggle;
  /**
   * Takes the guardWrites: it is asked before every write, and when it answers false, the write does not start. Neither do
   * handlers of events and changes, so it must also pause the operator then, for them to be caught up on later.
   */
  readonly guardWrites: (mayWrite: () => boolean) => void;
  readonly signal: AbortSignal;
}

/**
 * Decides whether this operator or another one is to work on a namespace (or on the cluster).
 *
 * ```ts
 * const alwaysAlone: kopf.Peering = {
 *   join: ({ paused, signal }) => {
 *     paused.turn(false);
 *     return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
 *   },
 * };
 * await kopf.run({ peering: alwaysAlone });
 * ```
 */
export interface Peering {
  /** Joins the peers and stays until aborted; then leaves, so that the others take over at once. */
  join(scope: PeeringScope): Promise<void>;
}
