/** Handlers of events: called for every event as it is, whatever it means; their errors change nothing. */
import { type Awaitable, allAtOnce } from '@kopf-ts/core';
import {
  deliverResults,
  executeAll,
  inTurn,
  isThenable,
  type Ledger,
  NO_FACTS,
  type Outcomes,
  State,
  tellerOfConsidered,
  type WatchedEvent,
  type WatchingCause,
} from '@kopf-ts/core/engine';
import type { Scene } from './scene.js';

/** Each event is for the handlers, even if a filter of theirs has failed on another one. What they ask for is in the patch. */
export function callEventHandlers(scene: Scene, events: readonly WatchedEvent[], ledger: Ledger): Awaitable<void> {
  const errors: unknown[] = [];
  const fail = (error: unknown): void => {
    scene.signal.throwIfAborted();
    errors.push(error);
  };
  const calling = inTurn(events, (event) => {
    try {
      const called = callFor(scene, event, ledger);
      return isThenable(called) ? called.then(undefined, fail) : undefined;
    } catch (error) {
      return fail(error);
    }
  });
  const throwFirst = (): void => {
    if (errors.length > 0) throw errors[0];
  };
  return isThenable(calling) ? calling.then(throwFirst) : throwFirst();
}

function callFor(scene: Scene, event: WatchedEvent, ledger: Ledger): Awaitable<void> {
  const { parts, subject, signal, resource, patch, localLogger: logger } = scene;
  const { registry, settings, clock, poster, random, facts = NO_FACTS, tracing, client, indices } = parts;
  const { memo } = subject;
  const body = event.object;
  const cause: WatchingCause = { kind: 'watching', event, body, resource, patch, memo, logger, client, indices };
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  const handlers = registry.handlers.watching.select(cause, { onConsidered });
  if (handlers.length === 0) return;
  const conclude = (outcomes: Outcomes): void => {
    deliverResults({ outcomes, patch });
    ledger.noteResults(handlers, outcomes, () => 0);
  };
  const calling = executeAll({
    handlers,
    cause,
    state: State.fromScratch(clock).withHandlers(handlers),
    settings,
    clock,
    poster,
    random,
    facts,
    tracing,
    signal,
    lifecycle: allAtOnce,
    ledger,
    calls: subject,
  });
  return isThenable(calling) ? calling.then(conclude) : conclude(calling);
}
