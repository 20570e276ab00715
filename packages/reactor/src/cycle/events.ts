/** Handlers of events: called for every event as it is, whatever it means; their errors change nothing. */
import { allAtOnce } from '@kopf-ts/core';
import {
  deliverResults,
  executeAll,
  type Ledger,
  NO_FACTS,
  State,
  tellerOfConsidered,
  type WatchedEvent,
  type WatchingCause,
} from '@kopf-ts/core/engine';
import type { Scene } from './scene.js';

/** Each event is for the handlers, even if a filter of theirs has failed on another one. What they ask for is in the patch. */
export async function callEventHandlers(scene: Scene, events: readonly WatchedEvent[], ledger: Ledger): Promise<void> {
  const { resource, subject, patch, signal, localLogger: logger, ofOperator } = scene;
  const common = { resource, memo: subject.memo, logger, patch, ...ofOperator };
  const errors: unknown[] = [];
  for (const event of events) {
    try {
      await callFor(scene, { ...common, kind: 'watching', event, body: event.object }, ledger);
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

async function callFor({ parts, subject, signal }: Scene, cause: WatchingCause, ledger: Ledger): Promise<void> {
  const { registry, settings, clock, poster, random, facts = NO_FACTS, tracing } = parts;
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  const handlers = registry.handlers.watching.select(cause, { onConsidered });
  if (handlers.length === 0) return;
  const state = State.fromScratch(clock).withHandlers(handlers);
  const common = {
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
  };
  const outcomes = await executeAll({ ...common, handlers, cause, state });
  deliverResults({ outcomes, patch: cause.patch });
  ledger.noteResults(handlers, outcomes, () => 0);
}
