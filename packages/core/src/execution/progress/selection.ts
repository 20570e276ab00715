/**
 * Which change handlers take part in handling, given what they did before. Beside those that want the cause now, there
 * are those that have begun with it, or with an earlier stage of it, and must come to an end.
 */
import type { ChangingCause } from '../../intents/causes.js';
import type { ChangeHandler } from '../../intents/handlers.js';
import { fieldOf } from '../../intents/kwargs.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { Clock } from '../../seams/clock.js';
import type { ProgressStorage, ReportMalformed } from '../../seams/memory/storage.js';
import { digestOf } from '../../values/digest.js';
import { type FieldPath, resolveField } from '../../values/fields.js';
import type { HandlerId } from '../../values/ids.js';
import type { Corrections } from '../ledger.js';
import { isOutdated, type LoadOptions, type ProgressCounts, State } from './state.js';

/** Enough to tell one essence from another; annotations are not for more. */
const DIGEST_LENGTH = 16;

/**
 * The digest of what the handler sees of the object: of its field, or of the whole essence.
 *
 * There is none for deletions: these are handled once, and whatever is changed in an object that is about to vanish
 * is no reason to delete it again. Nor is there one for resuming: that happens once in the life of an operator.
 */
function digestFor(handler: ChangeHandler, cause: ChangingCause): string | undefined {
  return cause.reason === 'delete' || handler.initial ? undefined : digestOfSeen(handler, cause.new);
}

function digestOfSeen(handler: ChangeHandler, essence: unknown): string {
  return digestAt(essence, fieldOf(handler) ?? []);
}

/** The digest of a part of an essence, as records have it. */
export function digestAt(essence: unknown, path: FieldPath): string {
  return digestOf({ seen: resolveField(essence, path) }).slice(0, DIGEST_LENGTH);
}

export interface PinningFacts {
  /** As loaded. */
  readonly state: State;
  /** All handlers of that kind of objects. */
  readonly owned: readonly ChangeHandler[];
  /** Those that want the cause. */
  readonly selected: readonly ChangeHandler[];
  readonly cause: ChangingCause;
}

/**
 * Those owned handlers that do not want the cause (any more), but are not done with it: they were tried and have to be
 * tried again, or have finished on something that the object is not any more. In the order of registration.
 *
 * Only of the same reason: when one reason supersedes another, the work on the other ends where it is.
 */
export function pinnedHandlers({ state, owned, selected, cause }: PinningFacts): readonly ChangeHandler[] {
  const taken = new Set<HandlerId>(selected.map(({ id }) => id));
  return owned.filter((handler) => {
    const record = state.get(handler.id);
    if (record === undefined || taken.has(handler.id)) return false;
    const isOfThisReason = handler.reason === undefined || handler.reason === cause.reason;
    const isForThisReason = record.purpose === undefined || record.purpose === cause.reason;
    const hasActed = record.retries > 0 || record.digest !== undefined || record.token !== undefined;
    const isDone = record.finished && !isOutdated(record, digestFor(handler, cause));
    const isPinned = isOfThisReason && isForThisReason && hasActed && !isDone;
    if (isPinned) taken.add(handler.id);
    return isPinned;
  });
}

export interface ProgressOptions {
  readonly storage: ProgressStorage;
  readonly owned: readonly ChangeHandler[];
  readonly selected: readonly ChangeHandler[];
  readonly cause: ChangingCause;
  readonly clock: Clock;
  readonly compat?: 'kopf' | undefined;
  readonly malformed?: ReportMalformed | undefined;
  /** Whether those superseded stay with the reasons that they were called for, as sub-handlers do in Kopf. */
  readonly keepsPurposes?: boolean;
  /** What the handlers are known to have seen, beyond what is stored. */
  readonly corrections?: Corrections | undefined;
  readonly ownTimes?: LoadOptions['ownTimes'];
  readonly maxDelay?: LoadOptions['maxDelay'];
}

export interface LoadedProgress {
  /** With the handlers active, and with those reopened that have finished on something else. */
  readonly state: State;
  /** Those selected and those pinned, in the order of registration. */
  readonly handlers: readonly ChangeHandler[];
  readonly pinned: readonly ChangeHandler[];
  /**
   * What the cause supersedes, by reason. Those of its handlers that take part now are taken over; the others are
   * among the state's extras, and will be purged.
   */
  readonly superseded: ReadonlyMap<string, ProgressCounts>;
}

/**
 * Loads the progress of an object's handlers for the cause, and decides which of them take part. Waits only for storages
 * that take their time.
 */
export function loadProgress(options: ProgressOptions): Awaitable<LoadedProgress> {
  const { storage, owned, cause, clock, compat, malformed, ownTimes, maxDelay } = options;
  const place = { storage, body: cause.body, handlers: owned, clock, compat, malformed, ownTimes, maxDelay };
  const stored = State.fromStorage(place);
  return stored instanceof Promise ? stored.then((state) => taken(state, options)) : taken(stored, options);
}

function taken(stored: State, options: ProgressOptions): LoadedProgress {
  const { owned, selected, cause, compat, keepsPurposes, corrections } = options;
  const loaded = (corrections === undefined ? stored : stored.withCorrections(corrections)).withPurpose(cause.reason);
  const pinned =
    compat === 'kopf' || loaded.size === 0 ? [] : pinnedHandlers({ state: loaded, owned, selected, cause });
  const handlers = selected === owned ? owned : inOrderOf(owned, selected, pinned);
  const digests = (id: HandlerId): string | undefined => {
    // The last of those under one id, as the records are of it.
    const handler = handlers.findLast((one) => one.id === id);
    return handler && digestFor(handler, cause);
  };
  // Counted before anything is reopened: it is a report of what was done.
  const superseded = loaded.extras;
  const isTakingOver = superseded.size > 0 && !keepsPurposes;
  const owning = isTakingOver ? loaded.withPurpose(cause.reason, handlers) : loaded;
  return { state: owning.withHandlers(handlers).withEssence(digests), handlers, pinned, superseded };
}

function inOrderOf(
  owned: readonly ChangeHandler[],
  ...some: readonly (readonly ChangeHandler[])[]
): readonly ChangeHandler[] {
  const all = new Set(some.flat());
  return owned.filter((handler) => all.has(handler));
}
