/** Handlers of events: called for every event as it is, whatever it means; their errors change nothing. */
import { allAtOnce } from '@kopf-ts/core';
import { deliverResults, executeAll, State, type WatchingCause } from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';

/** Calls the handlers that want the event. What they ask for is in the patch of the cause. */
export async function handleWatching(parts: OperatorParts, cause: WatchingCause, signal: AbortSignal): Promise<void> {
  const { registry, settings, clock, poster, random, monitor } = parts;
  const handlers = registry.handlers.watching.select(cause);
  if (handlers.length === 0) return;
  const state = State.fromScratch(clock).withHandlers(handlers);
  const options = { settings, clock, poster, random, monitor, signal, lifecycle: allAtOnce };
  const outcomes = await executeAll({ ...options, handlers, cause, state });
  deliverResults({ outcomes, patch: cause.patch });
}
