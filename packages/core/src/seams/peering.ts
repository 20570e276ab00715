import type { KubeClient } from './client.js';
import type { Clock } from './clock.js';
import type { Insights } from './inspection/insights.js';
import type { Logger } from './logger.js';
import type { Toggle } from './toggle.js';

/**
 * Why an operator pauses: a peer with a higher priority (`peer`), a replica that leads (`leader`), or the absence of a
 * mandatory peering (`absent`).
 *
 * ```ts
 * const why: kopf.PauseReason = { kind: 'leader', by: 'operator-5d8f/1' };
 * ```
 */
export interface PauseReason {
  readonly kind: 'peer' | 'leader' | 'absent';
  /** The identities of the peers, if known. */
  readonly by?: string | undefined;
}

/**
 * Pauses and resumes the operator.
 *
 * ```ts
 * const pauseFor = (paused: kopf.PausingToggle, by: string): void => paused.turn(true, { kind: 'peer', by });
 * ```
 */
export interface PausingToggle extends Toggle {
  /** The reason is informational. */
  turn(on: boolean, why?: PauseReason): void;
}

/**
 * Where an operator meets its peers, and how it is paused.
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
  /** When on, the operator stops watching and its daemons stop. When off, everything goes on. */
  readonly paused: PausingToggle;
  /**
   * Registers a write guard: it is asked before every write, and if it returns false, the write does not start.
   * Handlers of events and changes do not start either, so the peering must also pause the operator then, for them to
   * be caught up on later.
   */
  readonly guardWrites: (mayWrite: () => boolean) => void;
  readonly signal: AbortSignal;
}

/**
 * Decides whether this operator or another one works on a namespace (or on the cluster).
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
