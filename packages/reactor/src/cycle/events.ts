/**
 * Event handlers: called for every raw event; their errors do not affect other handlers. A handler may ask to be called
 * again for an event that it failed with, until a newer one arrives.
 */
import { type Awaitable, allAtOnce, type HandlerId } from '@kopf-ts/core';
import {
  deliverResults,
  type Execution,
  executeHandler,
  type HandlerState,
  type Ledger,
  NO_FACTS,
  type Outcome,
  State,
  tellerOfConsidered,
  titleOf,
  type WatchedEvent,
  type WatchingCause,
} from '@kopf-ts/core/engine';
import { type EventRetries, type EventRetry, NO_RETRIES } from '../objects/known.js';
import type { Scene } from './scene.js';

/**
 * Calls the handlers for each event, even if a filter has failed on another one. Their requests end up in the patch.
 * Resolves with the retries.
 *
 * Most handlers are called once, so no progress is stored; and this runs for every change of every object, so a promise
 * is made only for handlers that take their time.
 */
export async function callEventHandlers(
  scene: Scene,
  events: readonly WatchedEvent[],
  ledger: Ledger,
): Promise<EventRetries> {
  const { parts, signal, patch } = scene;
  const { registry, clock } = parts;
  if (events.length === 0) return await callAgain(scene, ledger);
  let retries = scene.known.eventRetries;
  let failure: { readonly error: unknown } | undefined;
  for (const event of events) {
    if (retries.size > 0) retries = superseded(scene, retries);
    try {
      const execution = executionFor(scene, event, ledger);
      const { facts = NO_FACTS, cause } = execution;
      const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
      const handlers = registry.handlers.watching.select(cause, { onConsidered });
      let results: Map<HandlerId, Outcome> | undefined;
      for (const handler of handlers) {
        // The work of the handlers before it is worth storing, even if the rest is not needed any more.
        if (handler !== handlers[0] && signal.aborted) break;
        const note = ledger.watch(handler, patch, 0);
        const attempt = handler.errors === 'temporary' ? freshState(handler, scene) : undefined;
        const first = attempt ?? { retries: 0, started: clock.utc(), runtime: 0 };
        const calling = executeHandler(handler, first, execution);
        const outcome = calling instanceof Promise ? await calling : calling;
        note();
        if (attempt !== undefined && !outcome.final) {
          retries = new Map(retries).set(handler.id, retryOf({ handler, event, state: attempt }, outcome, scene));
        }
        if ('result' in outcome && outcome.result !== undefined) {
          results ??= new Map();
          results.set(handler.id, outcome);
        }
      }
      if (results === undefined) continue;
      deliverResults({ outcomes: results, patch });
      ledger.noteResults(handlers, results, () => 0);
    } catch (error) {
      signal.throwIfAborted();
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return retries;
}

/** Separates the handlers that are due from those that wait. */
async function callAgain(scene: Scene, ledger: Ledger): Promise<EventRetries> {
  const { parts, signal, patch, known } = scene;
  const retries = new Map(known.eventRetries);
  for (const [id, retry] of known.eventRetries) {
    const { handler, event, state, dueAt } = retry;
    if (dueAt > parts.clock.now() || signal.aborted) continue;
    const note = ledger.watch(handler, patch, state.retries);
    const calling: Awaitable<Outcome> = executeHandler(handler, state, executionFor(scene, event, ledger));
    const outcome = calling instanceof Promise ? await calling : calling;
    note();
    if (!outcome.final) {
      retries.set(id, retryOf(retry, outcome, scene));
      continue;
    }
    retries.delete(id);
    const results = new Map([[id, outcome]]);
    deliverResults({ outcomes: results, patch });
    ledger.noteResults([handler], results, () => state.retries);
  }
  return retries;
}

function retryOf(failed: Omit<EventRetry, 'dueAt'>, outcome: Outcome, { parts }: Scene): EventRetry {
  const { handler, event, state } = failed;
  const after = state.withOutcome(outcome);
  return { handler, event, state: after, dueAt: parts.clock.now() + (after.delay ?? 0) };
}

function superseded({ localLogger }: Scene, retries: EventRetries): EventRetries {
  for (const { handler } of retries.values()) {
    localLogger.debug(`${titleOf(handler)} is not tried again with an older event: there is a newer one.`);
  }
  return NO_RETRIES;
}

function freshState(handler: EventRetry['handler'], { parts }: Scene): HandlerState {
  return State.fromScratch(parts.clock).withHandlers([handler]).get(handler.id) as HandlerState;
}

function executionFor(
  { parts, subject, signal, resource, patch, localLogger: logger }: Scene,
  event: WatchedEvent,
  ledger: Ledger,
): Execution & { readonly cause: WatchingCause } {
  const { settings, clock, poster, random, facts, tracing, client, apiFor, indices, children } = parts;
  const { memo } = subject;
  const body = event.object;
  const cause: WatchingCause = {
    kind: 'watching',
    event,
    body,
    isOutside: subject.isOutside(body),
    resource,
    patch,
    memo,
    logger,
    client,
    apiFor,
    indices,
    children,
  };
  const lifecycle = allAtOnce;
  return { cause, settings, clock, poster, random, facts, tracing, signal, lifecycle, ledger, calls: subject };
}
