/**
 * Runs the change handlers of one object: loads their stored progress, calls those that are due, and returns their
 * outcomes. Nothing is stored here; `conclude.ts` decides what to store.
 */
import type { Awaitable, HandlerId, HandlingReason, Patch, Seconds } from '@kopf-ts/core';
import {
  type ChangeHandler,
  type ChangingCause,
  deliverResults,
  executeAll,
  isEnabled,
  isHandlingReason,
  Ledger,
  type LoadedProgress,
  loadProgress,
  loggableBody,
  loggableDiff,
  match,
  NO_FACTS,
  type Outcomes,
  pinnedHandlers,
  quoteId,
  REASON_TITLES,
  State,
  tellerOfConsidered,
} from '@kopf-ts/core/engine';
import { correctionsOf, followWrites, type Seen, writesUntil } from '../objects/news.js';
import { tellSuperseded, tellUncalled } from '../observing/progress-facts.js';
import { keepingFor } from './keeping.js';
import { bodyForStorages, type Scene } from './scene.js';

/** Change handlers were called, or no handler wanted to be called. */
export interface Handled {
  readonly cause: ChangingCause;
  readonly reason: HandlingReason;
  readonly owned: readonly ChangeHandler[];
  readonly loaded: LoadedProgress;
  readonly outcomes: Outcomes;
  /** What the finished handlers have seen, as of the time they were called. */
  readonly seen: ReadonlyMap<HandlerId, Seen>;
  /** Handlers are due, but the lifecycle picked none. */
  readonly isEmptyRound: boolean;
}

/** The work of all handlers in a cycle. */
export interface Unsent {
  /** Absent if only event handlers were called. */
  readonly handled: Handled | undefined;
  /** The handlers' requests. */
  readonly patch: Patch;
  readonly ledger: Ledger;
}

/** The result of a change, as far as its handlers are concerned. */
export type Handling =
  | { readonly kind: 'handled'; readonly handled: Handled }
  /** Nothing has changed, and the leftovers of an undone change were removed. */
  | { readonly kind: 'leftovers'; readonly owned: readonly ChangeHandler[] }
  /** No handlers are needed for that reason. */
  | { readonly kind: 'nothing'; readonly isNoop: boolean };

export const INFORMATIONAL: Readonly<Record<'gone' | 'free' | 'noop', string>> = {
  gone: 'Deleted, really deleted, and we are notified.',
  free: 'Deletion, but we are done with it, and we do not care.',
  noop: 'Something has changed, but we are not interested (the essence is the same).',
};

/** A new ledger, with what the handlers are known to have seen. */
export function newLedger({ subject, isCompat }: Scene, seen: ReadonlyMap<HandlerId, Seen> = NOTHING_SEEN): Ledger {
  const corrections = seen.size === 0 ? undefined : correctionsOf(seen);
  return new Ledger({ corrections, ownTimes: isCompat ? undefined : subject.ownTimes });
}

const NOTHING_SEEN: ReadonlyMap<HandlerId, Seen> = new Map();

/** The state that is being handled: the stream may lag behind our own changes. */
export function seenByNow({ known, body, essenceOf }: Scene): ReadonlyMap<HandlerId, Seen> {
  if (known.seen.size === 0) return known.seen;
  return followWrites(known.seen, writesUntil(known.writes, body), essenceOf);
}

/** Returns a promise only if storages or handlers do. */
export function handle(
  scene: Scene,
  cause: ChangingCause,
  seen: ReadonlyMap<HandlerId, Seen>,
  ledger: Ledger,
): Awaitable<Handling> {
  const { reason } = cause;
  if (isHandlingReason(reason)) return handleReason(scene, { cause, reason }, seen, ledger);
  if (reason === 'noop' && !scene.isCompat) {
    const loading = loadState(scene);
    return loading instanceof Promise
      ? loading.then((state) => handleNoop(scene, cause, state, seen, ledger))
      : handleNoop(scene, cause, loading, seen, ledger);
  }
  cause.logger.debug(INFORMATIONAL[reason]);
  return { kind: 'nothing', isNoop: reason === 'noop' };
}

function handleNoop(
  scene: Scene,
  cause: ChangingCause,
  stored: State,
  seen: ReadonlyMap<HandlerId, Seen>,
  ledger: Ledger,
): Awaitable<Handling> {
  if (stored.size > 0) {
    const owned = scene.parts.registry.handlers.changing.of(cause.resource);
    const state = stored.withCorrections(ledger.corrections);
    // A change that was undone halfway leaves nothing to handle; but handlers that have already acted must learn of it.
    const undone: ChangingCause = { ...cause, reason: 'update' };
    if (pinnedHandlers({ state, owned, selected: [], cause: undone }).length > 0) {
      return handleReason(scene, { cause: undone, reason: 'update', isUndone: true }, seen, ledger);
    }
    cause.logger.debug(INFORMATIONAL.noop);
    return { kind: 'leftovers', owned };
  }
  cause.logger.debug(INFORMATIONAL.noop);
  return { kind: 'nothing', isNoop: true };
}

function loadState(scene: Scene): Awaitable<State> {
  const { parts, subject, known, body, storages, resource } = scene;
  return State.fromStorage({
    storage: storages.progressStorage,
    body: bodyForStorages(body, known.unsavable),
    handlers: parts.registry.handlers.changing.of(resource),
    clock: parts.clock,
    malformed: subject.malformed,
    ownTimes: subject.ownTimes,
    maxDelay: parts.settings.execution.maxDelay,
  });
}

/**
 * Unfinished handlers that were called by this very process. Other operators, such as one with the same handlers for
 * objects with other labels, may leave the same records on objects that are not ours.
 */
export function unfinishedHandlers(scene: Scene): Awaitable<readonly ChangeHandler[]> {
  const { ownTimes } = scene.subject;
  if (ownTimes.isEmpty) return [];
  const loading = loadState(scene);
  const unfinished = (state: State): readonly ChangeHandler[] => {
    if (state.size === 0) return [];
    const isUnfinished = ({ id }: ChangeHandler): boolean => {
      const record = state.get(id);
      if (record === undefined || record.retries === 0 || record.finished) return false;
      return ownTimes.of(id, record.toRecord()) !== undefined;
    };
    return scene.parts.registry.handlers.changing.of(scene.resource).filter(isUnfinished);
  };
  return loading instanceof Promise ? loading.then(unfinished) : unfinished(loading);
}

interface Reasoned {
  readonly cause: ChangingCause;
  readonly reason: HandlingReason;
  /** Nothing has changed after all: only handlers that have acted on the undone change need to know. */
  readonly isUndone?: boolean;
}

function handleReason(
  scene: Scene,
  reasoned: Reasoned,
  seen: ReadonlyMap<HandlerId, Seen>,
  ledger: Ledger,
): Awaitable<Handling> {
  const { parts, subject, known, storages } = scene;
  const { cause, isUndone = false } = reasoned;
  const body = bodyForStorages(cause.body, known.unsavable);
  const owned = parts.registry.handlers.changing.of(cause.resource);
  const loading = loadProgress({
    storage: storages.progressStorage,
    owned,
    selected: isUndone ? [] : selectedHandlers(scene, cause, owned),
    // The storages see the records; the handlers see the object as it is.
    cause: body === cause.body ? cause : { ...cause, body },
    clock: parts.clock,
    compat: parts.settings.persistence.compat,
    malformed: subject.malformed,
    corrections: ledger.corrections,
    ownTimes: ledger.ownTimes,
    maxDelay: parts.settings.execution.maxDelay,
  });
  return loading instanceof Promise
    ? loading.then((loaded) => callHandlers(scene, reasoned, loaded, seen, ledger))
    : callHandlers(scene, reasoned, loading, seen, ledger);
}

function callHandlers(
  scene: Scene,
  { cause, reason }: Reasoned,
  loaded: LoadedProgress,
  seen: ReadonlyMap<HandlerId, Seen>,
  ledger: Ledger,
): Awaitable<Handling> {
  const { parts, subject, signal } = scene;
  const { settings, clock, poster, random, facts, tracing, lifecycle } = parts;
  const { handlers, state } = loaded;
  explain(cause, loaded, reason);
  if (facts?.wants['object.superseded']) tellSuperseded(facts, cause, loaded);
  if (facts?.wants['handler.considered']) tellUncalled(facts, cause, loaded);
  const conclude = (outcomes: Outcomes): Handling => {
    deliverResults({ outcomes, patch: cause.patch });
    ledger.noteResults(handlers, outcomes, (id) => state.get(id)?.retries ?? 0);
    const isEmptyRound = outcomes.size === 0 && handlers.some(({ id }) => state.get(id)?.awakened);
    const owned = parts.registry.handlers.changing.of(cause.resource);
    return { kind: 'handled', handled: { cause, reason, owned, loaded, outcomes, seen, isEmptyRound } };
  };
  if (handlers.length === 0) return conclude(new Map());
  const calling = executeAll({
    handlers,
    cause,
    state,
    settings,
    clock,
    poster,
    random,
    facts,
    tracing,
    lifecycle,
    malformed: subject.malformed,
    signal,
    ledger,
    keeping: keepingFor(scene),
    calls: subject,
  });
  return calling instanceof Promise ? calling.then(conclude) : conclude(calling);
}

/** The handlers that want the cause, except for those that have already finished with it. */
function selectedHandlers(
  { parts, known, isCompat }: Scene,
  cause: ChangingCause,
  owned: readonly ChangeHandler[],
): readonly ChangeHandler[] {
  const { deleted, resumed } = known;
  const isDeletion = cause.reason === 'delete' && !isCompat;
  const { facts = NO_FACTS, registry } = parts;
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  const excluded = isDeletion ? deleted : undefined;
  const selected = registry.handlers.changing.select(cause, { excluded, onConsidered });
  if (isCompat || resumed.size === 0) return selected;
  return selected.flatMap((handler) => {
    if (!handler.initial || !resumed.has(handler.id)) return handler;
    // The same function under the same id may be selected for the change as well.
    return owned.find((one) => isFor(one, handler, cause)) ?? [];
  });
}

function isFor(one: ChangeHandler, { id }: ChangeHandler, cause: ChangingCause): boolean {
  const isOfReason = one.reason === undefined || one.reason === cause.reason;
  return one.id === id && !one.initial && isOfReason && match(one, cause);
}

/** Logs why handlers are about to be called, and whatever is unexpected about it. */
function explain(cause: ChangingCause, loaded: LoadedProgress, reason: HandlingReason): void {
  const { logger } = cause;
  const title = REASON_TITLES[reason];
  for (const [other, { success, failure, running }] of loaded.superseded) {
    logger.info(
      `${capitalised(titleOf(other))} is superseded by ${title}: ` +
        `${success} succeeded; ${failure} failed; ${running} left to the moment.`,
    );
  }
  if (isEnabled(logger, 'debug')) {
    logger.debug(`${capitalised(title)} is in progress: ${JSON.stringify(loggableBody(cause.body))}`);
    if (cause.diff.length > 0 && cause.old !== undefined && cause.new !== undefined) {
      logger.debug(`${capitalised(title)} diff: ${JSON.stringify(loggableDiff(cause.diff, cause.body))}`);
    }
  }
  const { reopened } = loaded.state;
  if (reopened.length > 0) {
    logger.info(`The object has changed since some handlers were done with it. Called again: ${quoted(reopened)}.`);
  }
  // Handlers that still wait for their time are reported when it comes, not with each event until then.
  const isDue = (id: string): boolean => !reopened.includes(id) && Boolean(loaded.state.get(id)?.awakened);
  const unfinished = loaded.pinned.map(({ id }) => id).filter(isDue);
  if (unfinished.length > 0) {
    logger.info(`Some handlers no longer match the object, but are not done yet. Still called: ${quoted(unfinished)}.`);
  }
}

function titleOf(reason: string): string {
  return isHandlingReason(reason as HandlingReason) ? REASON_TITLES[reason as HandlingReason] : reason;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function quoted(ids: readonly string[]): string {
  return ids.map(quoteId).join(', ');
}

/** How long to wait before asking the lifecycle again, after so many rounds without any pick. */
export function patienceWithLifecycle(rounds: number): Seconds {
  return Math.min(60, 2 ** rounds);
}
