/**
 * Progress of all handlers of one object for one cause: loaded, narrowed down to those selected, moved on by their
 * outcomes, stored into the patch, and purged when all is done.
 *
 * Each state is immutable: every step gives a new one. All of them share one timeline, begun when it was loaded.
 */
import { KopfError } from '../../errors.js';
import type { Backoff } from '../../intents/handlers.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { Clock, Seconds } from '../../seams/clock.js';
import type { ProgressRecord, ProgressStorage, ReportMalformed } from '../../seams/memory/storage.js';
import { inTurn, isThenable } from '../../sync/awaiting.js';
import { type HandlerId, quoteId } from '../../values/ids.js';
import type { Body } from '../../values/objects/body.js';
import type { Patch } from '../../values/patches/patch.js';
import type { Corrections } from '../ledger.js';
import type { Outcomes } from '../outcomes.js';
import { DEFAULT_MAX_DELAY, HandlerState, malformedRecord, maxDelayOf } from './handler-state.js';
import type { OwnTimesMemory } from './own-times.js';
import { type Timeline, timelineOf } from './timeline.js';

/** Anything that has an id; for what is asked here, handlers need nothing more. */
type Identified = { readonly id: HandlerId; readonly backoff?: Backoff | undefined };

/** Digests of what each handler sees now; `undefined` where it does not matter. */
export type Digests = (id: HandlerId) => string | undefined;

export interface ProgressCounts {
  readonly success: number;
  readonly failure: number;
  readonly running: number;
}

/** Where the progress of one object is. */
export interface StoragePlace {
  readonly body: Body;
  readonly patch: Patch;
  readonly storage: ProgressStorage;
}

export interface LoadOptions {
  readonly storage: ProgressStorage;
  readonly body: Body;
  /** All handlers of that kind of objects, be they selected or not. */
  readonly handlers: Iterable<Identified>;
  readonly clock: Clock;
  /** Whether records must look exactly as Kopf's, and be treated as Kopf treats them. */
  readonly compat?: 'kopf' | undefined;
  readonly malformed?: ReportMalformed | undefined;
  /** The longest delay of handlers whose own `backoff` is not longer: `settings.execution.maxDelay`. Default: a day. */
  readonly maxDelay?: Seconds | undefined;
  /** What this process remembers of the times that it has stored itself; without it, records are believed. */
  readonly ownTimes?: Pick<OwnTimesMemory, 'of'> | undefined;
}

interface StateParts {
  readonly timeline: Timeline;
  /** Of those stored; absent for those that are not. */
  readonly maxDelay?: Seconds | undefined;
  readonly records: ReadonlyMap<HandlerId, HandlerState>;
  readonly purpose?: string | undefined;
  readonly digests?: Digests | undefined;
  readonly compat?: 'kopf' | undefined;
  readonly reopened: readonly HandlerId[];
}

export class State implements Iterable<readonly [HandlerId, HandlerState]> {
  readonly #parts: StateParts;

  private constructor(parts: StateParts) {
    this.#parts = parts;
  }

  /** Of handlers whose progress is not stored anywhere: daemons, timers, activities, indices. */
  static fromScratch(clock: Clock): State {
    return new State({ timeline: timelineOf(clock), records: new Map(), reopened: NOBODY });
  }

  /** Of handlers as they are stored. None of them is active yet. Waits only for storages that take their time. */
  static fromStorage(options: LoadOptions): Awaitable<State> {
    const { storage, body, clock, compat, malformed, ownTimes } = options;
    const { maxDelay: maxDelayOfAll = DEFAULT_MAX_DELAY } = options;
    const timeline = timelineOf(clock);
    const records = new Map<HandlerId, HandlerState>();
    const take = (id: HandlerId, backoff: Backoff | undefined, record: ProgressRecord | undefined): void => {
      if (record === undefined) return;
      const report = malformed && ((problem: string) => malformed(malformedRecord(id, problem)));
      const maxDelay = maxDelayOf(backoff, maxDelayOfAll);
      const times = ownTimes?.of(id, record);
      records.set(id, HandlerState.fromRecord(record, timeline, { report, maxDelay, times }));
    };
    const loading = inTurn(uniquely(options.handlers), ({ id: key, backoff }) => {
      const fetched = storage.fetch(malformed === undefined ? { key, body } : { key, body, malformed });
      return isThenable(fetched) ? fetched.then((record) => take(key, backoff, record)) : take(key, backoff, fetched);
    });
    const state = new State({ timeline, records, compat, reopened: NOBODY, maxDelay: maxDelayOfAll });
    return isThenable(loading) ? loading.then(() => state) : state;
  }

  get(id: HandlerId): HandlerState | undefined {
    return this.#parts.records.get(id);
  }

  get size(): number {
    return this.#parts.records.size;
  }

  get ids(): readonly HandlerId[] {
    return [...this.#parts.records.keys()];
  }

  [Symbol.iterator](): Iterator<readonly [HandlerId, HandlerState]> {
    return this.#parts.records.entries();
  }

  get purpose(): string | undefined {
    return this.#parts.purpose;
  }

  /** Handlers that had finished, but on something else than what the object is now. */
  get reopened(): readonly HandlerId[] {
    return this.#parts.reopened;
  }

  /**
   * Sets what the handlers are called for. With handlers, these are taken over from whatever they were called for;
   * and if it is a deletion now, then those that have finished something else are called anew: a function
   * declared for both updates and deletions has one id and one record, but two things to do.
   */
  withPurpose(purpose: string | undefined, handlers: Iterable<Identified & { initial?: boolean }> = []): State {
    let { records } = this.#parts;
    for (const { id, initial } of handlers) {
      const record = records.get(id);
      if (record === undefined) continue;
      const isOfAnother = record.purpose !== undefined && record.purpose !== purpose;
      const isToBeCalledAnew = isOfAnother && record.finished && purpose === 'delete' && !initial && !this.#isCompat;
      records = withRecord(records, id, (isToBeCalledAnew ? record.reopened() : record).withPurpose(purpose));
    }
    return this.#with(records, { purpose });
  }

  /** Activates the selected handlers; those without records get fresh ones. */
  withHandlers(handlers: Iterable<Identified>): State {
    const { timeline, purpose, maxDelay } = this.#parts;
    const records = new Map(this.#parts.records);
    for (const { id, backoff } of handlers) {
      const longest = maxDelay === undefined ? undefined : maxDelayOf(backoff, maxDelay);
      records.set(id, records.get(id)?.asActive() ?? HandlerState.fresh(timeline, purpose, longest));
    }
    return this.#with(records);
  }

  /**
   * Tells what the handlers see now. Those active ones that have finished on something else are reopened: they are
   * called again before all is done, so that no change is lost by coming in the middle of handling. Without a stored
   * digest (as Kopf leaves it), a finished handler has finished.
   */
  withEssence(digests: Digests): State {
    if (this.#isCompat) return this;
    let { records } = this.#parts;
    const reopened: HandlerId[] = [];
    for (const [id, record] of this.#parts.records) {
      if (!record.active || !record.finished || !isOutdated(record, digests(id))) continue;
      records = withRecord(records, id, record.reopened());
      reopened.push(id);
    }
    return this.#with(records, { digests, reopened });
  }

  /** Knowing what the handlers have seen after all. A record that is not as it was then, is believed as it is. */
  withCorrections(corrections: Corrections): State {
    if (corrections.size === 0 || this.#isCompat) return this;
    const records = new Map(this.#parts.records);
    for (const [id, { stored, digest }] of corrections) {
      const record = records.get(id);
      if (record?.digest === stored && digest !== stored) records.set(id, record.withCorrection(digest));
    }
    return this.#with(records);
  }

  /** With another state of one of the handlers. */
  withChange(id: HandlerId, change: (record: HandlerState) => HandlerState): State {
    const record = this.#parts.records.get(id);
    return record === undefined ? this : this.#with(withRecord(this.#parts.records, id, change(record)));
  }

  /** After the handlers were called. */
  withOutcomes(outcomes: Outcomes): State {
    const records = new Map(this.#parts.records);
    for (const [id, outcome] of outcomes) {
      const record = records.get(id);
      if (record === undefined) {
        throw new KopfError(`There is an outcome of the handler ${quoteId(id)}, which is not among those called.`, {
          code: 'KOPF_UNKNOWN_OUTCOME',
        });
      }
      const { digests } = this.#parts;
      records.set(id, record.withOutcome(outcome, digests && (() => digests(id))));
    }
    return this.#with(records);
  }

  /** Whether there is nothing more to do for those selected. */
  get done(): boolean {
    for (const record of this.#parts.records.values()) if (record.active && !record.finished) return false;
    return true;
  }

  /** Until the next attempt of each selected handler that is not done. */
  get delays(): readonly Seconds[] {
    return this.#active().flatMap((record) => record.delay ?? []);
  }

  /** Until the nearest attempt of all. */
  get delay(): Seconds | undefined {
    const delays = this.delays;
    return delays.length > 0 ? Math.min(...delays) : undefined;
  }

  /** Over the handlers of the current purpose, and those whose purpose is unknown. */
  get counts(): ProgressCounts {
    const { purpose } = this.#parts;
    return countOf(
      [...this.#parts.records.values()].filter(
        (record) => purpose === undefined || record.purpose === undefined || record.purpose === purpose,
      ),
    );
  }

  /** Over the handlers of other purposes: of what was not finished, and is superseded now. */
  get extras(): ReadonlyMap<string, ProgressCounts> {
    const groups = new Map<string, HandlerState[]>();
    for (const record of this.#parts.records.values()) {
      if (!this.#isExtra(record) || record.purpose === undefined) continue;
      groups.set(record.purpose, [...(groups.get(record.purpose) ?? []), record]);
    }
    return new Map([...groups].map(([purpose, records]) => [purpose, countOf(records)]));
  }

  /** Puts into the patch what has changed since it was loaded; with the corrections of digests only if so wanted. */
  async store({ body, patch, storage }: StoragePlace, { corrections = false } = {}): Promise<void> {
    const common = { digests: !this.#isCompat };
    for (const [key, record] of this.#parts.records) {
      // What is superseded is purged, and not corrected.
      const options = { ...common, corrections: corrections && !this.#isExtra(record) };
      if (!record.isChanged(options)) continue;
      const stored = storage.store({ key, record: record.toRecord(options), body, patch });
      if (isThenable(stored)) await stored;
    }
    const flushed = storage.flush?.();
    if (isThenable(flushed)) await flushed;
  }

  /** Forgets the progress of all: of the given handlers, of those known, and of all their sub-handlers. */
  purge(place: StoragePlace & { readonly handlers: Iterable<Identified> }): Awaitable<void> {
    const keys = new Set<HandlerId>(this.#parts.records.keys());
    for (const { subrefs } of this.#parts.records.values()) for (const id of subrefs) keys.add(id);
    for (const { id } of place.handlers) keys.add(id);
    return purgeKeys(place, keys);
  }

  /**
   * Forgets the progress of what is superseded; but not of those handlers that are called now, nor of those that
   * sleep or have finished for the same purpose.
   */
  async purgeExtras(place: StoragePlace): Promise<void> {
    const withSubrefs = ([id, record]: readonly [HandlerId, HandlerState]) => [id, ...record.subrefs];
    const records = [...this.#parts.records];
    const kept = new Set(records.filter(([, record]) => !this.#isExtra(record)).flatMap(withSubrefs));
    const purged = records.filter(([, record]) => this.#isExtra(record)).flatMap(withSubrefs);
    await purgeKeys(place, new Set(purged.filter((id) => !kept.has(id))));
  }

  get #isCompat(): boolean {
    return this.#parts.compat === 'kopf';
  }

  #isExtra(record: HandlerState): boolean {
    const { purpose } = this.#parts;
    return purpose !== undefined && record.purpose !== undefined && record.purpose !== purpose;
  }

  #active(): readonly HandlerState[] {
    return [...this.#parts.records.values()].filter((record) => record.active);
  }

  /** Spelled out, not spread: it is done several times in each cycle, and spreading is slow. */
  #with(
    records: StateParts['records'],
    changes: Partial<Pick<StateParts, 'purpose' | 'digests' | 'reopened'>> = {},
  ): State {
    const { timeline, maxDelay, compat, purpose, digests, reopened } = this.#parts;
    return new State({
      timeline,
      maxDelay,
      compat,
      records,
      purpose: 'purpose' in changes ? changes.purpose : purpose,
      digests: changes.digests ?? digests,
      reopened: changes.reopened ?? reopened,
    });
  }
}

/** Whether a record is about something else than what the handler sees now. Unknown is not different. */
export function isOutdated(record: HandlerState, current: string | undefined): boolean {
  return record.seen !== undefined && current !== undefined && record.seen !== current;
}

/**
 * Forgets what is left on an object that is not being handled: its change was undone before it was handled in full,
 * and the next change must not find its handlers done. Tells whether there was anything.
 */
export async function purgeLeftovers(
  place: StoragePlace & { readonly handlers: Iterable<Identified>; readonly clock: Clock },
): Promise<boolean> {
  const handlers = [...place.handlers];
  const leftovers = await State.fromStorage({ ...place, handlers });
  if (leftovers.size === 0) return false;
  await leftovers.purge({ ...place, handlers });
  return true;
}

function purgeKeys({ body, patch, storage }: StoragePlace, keys: ReadonlySet<HandlerId>): Awaitable<void> {
  const purging = inTurn([...keys], (key) => storage.purge({ key, body, patch }));
  if (isThenable(purging)) return purging.then(() => storage.flush?.());
  return storage.flush?.();
}

const NOBODY: readonly HandlerId[] = [];

/** Each id once: if there are several handlers under one id, the last of them counts. */
function uniquely(handlers: Iterable<Identified>): readonly Identified[] {
  const all = [...handlers];
  return all.length < 2 ? all : [...new Map(all.map((handler) => [handler.id, handler])).values()];
}

function withRecord(
  records: ReadonlyMap<HandlerId, HandlerState>,
  id: HandlerId,
  record: HandlerState,
): ReadonlyMap<HandlerId, HandlerState> {
  return new Map(records).set(id, record);
}

function countOf(records: readonly HandlerState[]): ProgressCounts {
  const count = (is: (record: HandlerState) => boolean): number => records.filter(is).length;
  return {
    success: count((record) => record.success),
    failure: count((record) => record.failure),
    running: count((record) => !record.finished),
  };
}
