/** Handlers of changes: from what is known of their progress, by calling those due, to what is to be remembered. */
import type { Body, DiffBaseStorage, Essence, HandlingReason, ProgressStorage, Seconds } from '@kopf-ts/core';
import {
  type ChangingCause,
  deliverResults,
  executeAll,
  isEnabled,
  isHandlingReason,
  isThenable,
  type LoadedProgress,
  loadProgress,
  loggableBody,
  loggableDiff,
  pinnedHandlers,
  purgeLeftovers,
  quoteId,
  REASON_TITLES,
  State,
} from '@kopf-ts/core/engine';
import type { ObjectMemory } from '../memories.js';
import type { OperatorParts } from '../parts.js';

export interface ChangingOptions {
  readonly cause: ChangingCause;
  readonly memory: ObjectMemory;
  readonly progressStorage: ProgressStorage;
  readonly diffbaseStorage: DiffBaseStorage;
  /** The object as the storages are to see it. */
  readonly storedBody: Body;
  readonly signal: AbortSignal;
}

export interface ChangingResult {
  /** Of the handlers that are not done yet. */
  readonly delays: readonly Seconds[];
  /** What is put into the patch as the last handled state, if anything is. */
  readonly handled: Essence | undefined;
}

const NOTHING_TO_DO: ChangingResult = { delays: [], handled: undefined };

const INFORMATIONAL: Readonly<Record<'gone' | 'free' | 'noop', string>> = {
  gone: 'Deleted, really deleted, and we are notified.',
  free: 'Deletion, but we are done with it, and we do not care.',
  noop: 'Something has changed, but we are not interested (the essence is the same).',
};

export async function handleChanging(parts: OperatorParts, options: ChangingOptions): Promise<ChangingResult> {
  const isExact = parts.settings.persistence.compat === 'kopf';
  const canBeUndone = options.cause.reason === 'noop' && !isExact;
  const cause = canBeUndone ? await withUndoneChanges(parts, options) : options.cause;
  const { reason } = cause;
  if (isHandlingReason(reason)) return await handleReason(parts, { ...options, cause }, reason);
  cause.logger.debug(INFORMATIONAL[reason]);
  if (reason === 'noop') options.memory.handled = cause.new as Essence;
  return NOTHING_TO_DO;
}

/**
 * A change that was undone in the middle of handling leaves nothing to handle; but those handlers which have acted on
 * it are to learn that it is undone. When there are none, whatever they left is removed.
 */
async function withUndoneChanges(parts: OperatorParts, options: ChangingOptions): Promise<ChangingCause> {
  const { cause, memory, progressStorage: storage, storedBody: body } = options;
  const { registry, clock } = parts;
  const owned = registry.handlers.changing.of(cause.resource);
  const { malformed } = memory;
  const state = await State.fromStorage({ storage, body, handlers: owned, clock, malformed });
  if (state.size === 0) return cause;
  const undone: ChangingCause = { ...cause, reason: 'update' };
  if (pinnedHandlers({ state, owned, selected: [], cause: undone }).length > 0) return undone;
  await purgeLeftovers({ storage, body, patch: cause.patch, handlers: owned, clock });
  return cause;
}

async function handleReason(
  parts: OperatorParts,
  options: ChangingOptions,
  reason: HandlingReason,
): Promise<ChangingResult> {
  const { cause, memory, progressStorage: storage, storedBody: body, signal } = options;
  const { registry, settings, clock, poster, random, monitor, lifecycle } = parts;
  const { patch, logger } = cause;
  const { compat } = settings.persistence;
  const { malformed } = memory;
  const place = { storage, body, patch };

  const owned = registry.handlers.changing.of(cause.resource);
  const selected = registry.handlers.changing.select(cause);
  const loaded = await loadProgress({
    storage,
    owned,
    selected,
    // The records are where the storages see them; the handlers see the object as it is.
    cause: body === cause.body ? cause : { ...cause, body },
    clock,
    compat,
    malformed,
  });
  const { handlers } = loaded;
  let { state } = loaded;
  explain(cause, loaded, reason);
  if (state.extras.size > 0) await state.purgeExtras(place);

  if (handlers.length > 0) {
    const common = { settings, clock, poster, random, monitor, lifecycle, malformed, signal };
    const outcomes = await executeAll({ ...common, handlers, cause, state });
    state = state.withOutcomes(outcomes);
    // What is purged right below need not be stored before: but for the marks on the object that Kopf leaves so.
    if (!state.done || compat === 'kopf') await state.store(place);
    deliverResults({ outcomes, patch });
    if (state.done) {
      const { success, failure } = state.counts;
      logger.info(`${capitalised(REASON_TITLES[reason])} is processed: ${success} succeeded; ${failure} failed.`);
      await state.purge({ ...place, handlers: owned });
    }
  }
  if (handlers.length > 0 && !state.done) return { delays: state.delays, handled: undefined };

  memory.isHandledOnce = true;
  memory.handled = cause.new as Essence;
  if (cause.diff.length === 0) return NOTHING_TO_DO;
  const stored = options.diffbaseStorage.store({ essence: memory.handled, body, patch, resource: cause.resource });
  if (isThenable(stored)) await stored;
  return { delays: [], handled: memory.handled };
}

/** Says why the handlers are going to be called, and what is different from what one would expect. */
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
  // Those which still wait for their time are told of when it comes, not with each event until then.
  const isDue = (id: string): boolean => !reopened.includes(id) && Boolean(loaded.state.get(id)?.awakened);
  const unfinished = loaded.pinned.map(({ id }) => id).filter(isDue);
  if (unfinished.length > 0) {
    logger.info(
      `Some handlers do not match the object any more, but are not done yet. Called on: ${quoted(unfinished)}.`,
    );
  }
}

function titleOf(reason: string): string {
  return isHandlingReason(reason as HandlingReason) ? REASON_TITLES[reason as HandlingReason] : reason;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function quoted(ids: readonly string[]): string {
  return ids.map(quoteId).join(', ');
}
