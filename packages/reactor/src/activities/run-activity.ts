/** An activity: all handlers of one moment in the operator's life, such as its start, its end, a login or a probe. */
import { ActivityError, type HandlerId, type Logger, setOwn } from '@kopf-ts/core';
import {
  type Activity,
  type ActivityCause,
  type ActivityHandler,
  executeAll,
  type Outcome,
  type Outcomes,
  State,
  sleepAmong,
} from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';

export interface RunActivityOptions {
  readonly activity: Activity;
  readonly memo: unknown;
  readonly signal: AbortSignal;
  /** Overrides the handlers of the registry. */
  readonly handlers?: readonly ActivityHandler[] | undefined;
  /** Overrides the operator's settings. */
  readonly logger?: Logger | undefined;
}

/**
 * Calls all handlers of the activity, in rounds, until each has succeeded or failed for good, waiting for retries.
 * Returns their results by handler id, except for `undefined`. Throws {@link ActivityError} if any has failed for good;
 * rejects with the signal's reason if aborted in between.
 */
export async function runActivity(
  parts: OperatorParts,
  options: RunActivityOptions,
): Promise<Record<HandlerId, unknown>> {
  const { settings, clock, poster, random, facts, tracing } = parts;
  const { signal } = options;
  const cause = causeOf(parts, options);
  const handlers = options.handlers ?? parts.registry.handlers.activities.select(cause);
  const outcomes = new Map<HandlerId, Outcome>();
  let state = State.fromScratch(clock).withHandlers(handlers);
  while (!state.done) {
    const round = await executeAll({ cause, handlers, state, settings, clock, signal, poster, random, facts, tracing });
    for (const [id, outcome] of round) outcomes.set(id, outcome);
    state = state.withOutcomes(round);
    if (state.done) break;
    // Yield even without a delay: the task that aborts all this needs its turn, too.
    if (state.delay === 0) await clock.sleep(0, { signal });
    await sleepAmong(clock, state.delays, { signal });
  }
  return resultsOf(outcomes);
}

/** Logins establish the connection to the cluster, so they have none yet. */
function causeOf(parts: OperatorParts, { activity, memo, logger = parts.logger }: RunActivityOptions): ActivityCause {
  const { settings, indices, client, apiFor } = parts;
  return {
    kind: 'activity',
    activity,
    settings,
    memo,
    logger: logger.child({ activity }),
    ...(indices && { indices }),
    ...(activity !== 'login' && { client, apiFor }),
  };
}

function resultsOf(outcomes: Outcomes): Record<HandlerId, unknown> {
  const results: Record<HandlerId, unknown> = {};
  for (const [id, outcome] of outcomes) {
    if ('error' in outcome) {
      throw new ActivityError('One or more handlers failed.', { outcomes, cause: outcome.error });
    }
    if (outcome.result !== undefined && outcome.result !== null) setOwn(results, id, outcome.result);
  }
  return results;
}
