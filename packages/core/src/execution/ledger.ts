/**
 * The ledger of one cycle: which handler requested what, and the progress of sub-handlers.
 *
 * All handlers of a cycle write into one patch, which goes to the cluster as a whole. If the cluster refuses it, only
 * the handlers that requested the refused part must fail; so the author of each field and each function is recorded. It
 * is discarded with the cycle.
 */
import { type AnyHandler, type ChangeHandler, titleOf } from '../intents/handlers.js';
import { type FieldPath, formatField, removeField } from '../values/fields.js';
import type { HandlerId } from '../values/ids.js';
import { deepCopy, deepEqual, isEmptyMapping, isMapping, type Mapping } from '../values/json.js';
import type { Patch, PatchFn } from '../values/patches/patch.js';
import type { Outcome, Outcomes } from './outcomes.js';
import type { OwnTimesMemory } from './progress/own-times.js';
import type { State } from './progress/state.js';

/** The digest that a handler is known to have seen, instead of the stored one. */
interface Correction {
  /** As it is in the record. */
  readonly stored: string;
  /** What the handler counts as having seen, since the changes between the two are our own. */
  readonly digest: string;
}

export type Corrections = ReadonlyMap<HandlerId, Correction>;

/** The requests of one handler. */
export interface Asked {
  readonly handler: AnyHandler;
  readonly paths: readonly FieldPath[];
  readonly fns: readonly PatchFn[];
  /**
   * Whether all of it was requested by retries of the handler: on its own account rather than for a change of the
   * object.
   */
  readonly isRetry: boolean;
}

/** Sub-handlers of one handler, executed together. */
export interface Level {
  readonly parent: ChangeHandler;
  /** The fields of the essence that the parent looks at, and so its sub-handlers. */
  readonly prefix: FieldPath;
  readonly handlers: readonly ChangeHandler[];
  /** The state before they were executed. */
  readonly state: State;
  readonly outcomes: Outcomes;
}

interface Entry {
  readonly handler: AnyHandler;
  readonly paths: Map<string, FieldPath>;
  readonly fns: Set<PatchFn>;
  isRetry: boolean;
}

const NO_CORRECTIONS: Corrections = new Map();

export interface LedgerOptions {
  /** What the handlers are known to have seen, beyond what is stored. */
  readonly corrections?: Corrections | undefined;
  /** When the handlers are due, as remembered by the process that decided it. */
  readonly ownTimes?: Pick<OwnTimesMemory, 'of'> | undefined;
}

export class Ledger {
  readonly corrections: Corrections;
  readonly ownTimes: Pick<OwnTimesMemory, 'of'> | undefined;
  readonly #entries = new Map<HandlerId, Entry>();
  readonly #levels: Level[] = [];
  /** How many times something was noted. */
  #notes = 0;
  /** When each path was noted for the last time. */
  readonly #notedAt = new Map<string, number>();

  constructor({ corrections = NO_CORRECTIONS, ownTimes }: LedgerOptions = {}) {
    this.corrections = corrections;
    this.ownTimes = ownTimes;
  }

  get asked(): readonly Asked[] {
    return [...this.#entries.values()].map(({ handler, paths, fns, isRetry }) => ({
      handler,
      paths: [...paths.values()],
      fns: [...fns],
      isRetry,
    }));
  }

  get levels(): readonly Level[] {
    return this.#levels;
  }

  addLevel(level: Level): void {
    this.#levels.push(level);
  }

  /** Call it before the handler; the returned function is called after the handler, and records its requests. */
  watch(handler: AnyHandler, patch: Patch, retry: number): () => void {
    const before = isEmptyMapping(patch.merge) ? {} : copied(patch.merge);
    const fnsBefore = patch.fns.length;
    const since = this.#notes;
    return () => {
      if (isEmptyMapping(patch.merge) && patch.fns.length === fnsBefore) return;
      for (const path of changedIn(before, patch.merge)) {
        // Its sub-handlers have recorded theirs already.
        if ((this.#notedAt.get(keyOf(path)) ?? 0) <= since) this.note(handler, path, retry);
      }
      for (const fn of patch.fns.slice(fnsBefore)) {
        if (!this.#isOwned(fn)) this.#entry(handler, retry).fns.add(fn);
      }
    };
  }

  note(handler: AnyHandler, path: FieldPath, retry: number): void {
    const key = keyOf(path);
    for (const entry of this.#entries.values()) entry.paths.delete(key);
    this.#entry(handler, retry).paths.set(key, path);
    this.#notes += 1;
    this.#notedAt.set(key, this.#notes);
  }

  /** The results of handlers go to the status under their ids. */
  noteResults(handlers: readonly AnyHandler[], outcomes: Outcomes, retryOf: (id: HandlerId) => number): void {
    for (const handler of handlers) {
      const outcome = outcomes.get(handler.id);
      if (outcome !== undefined && hasResult(outcome)) {
        this.note(handler, ['status', handler.id], retryOf(handler.id));
      }
    }
  }

  #isOwned(fn: PatchFn): boolean {
    for (const { fns } of this.#entries.values()) if (fns.has(fn)) return true;
    return false;
  }

  #entry(handler: AnyHandler, retry: number): Entry {
    let entry = this.#entries.get(handler.id);
    if (entry === undefined) {
      entry = { handler, paths: new Map(), fns: new Set(), isRetry: true };
      this.#entries.set(handler.id, entry);
    }
    entry.isRetry &&= retry > 0;
    return entry;
  }
}

/** Removes the requests of these handlers from the patch. */
export function withoutAsked(patch: Patch, culprits: Iterable<Asked>): void {
  for (const { paths, fns } of culprits) {
    for (const path of paths) removeField(patch.merge, path, { scalars: 'absent' });
    for (const fn of fns) {
      const index = patch.fns.indexOf(fn);
      if (index >= 0) patch.fns.splice(index, 1);
    }
  }
}

/** The fields as text: `spec.size, status.phase`. */
export function describeAsked({ handler, paths, fns }: Asked): string {
  const what = [...paths.map(formatField), ...fns.map((fn) => (fn.name === '' ? 'a function' : `'${fn.name}'`))];
  return `${titleOf(handler)} (${what.join(', ')})`;
}

function hasResult(outcome: Outcome): boolean {
  return 'result' in outcome && outcome.result !== undefined && outcome.result !== null;
}

/** Users can put anything into a patch, even values that cannot be copied: these are not sent either. */
function copied(merge: Mapping): Mapping {
  try {
    return deepCopy(merge);
  } catch {
    return { ...merge };
  }
}

function changedIn(before: Mapping, after: Mapping): readonly FieldPath[] {
  try {
    return changedPaths(before, after);
  } catch {
    return Object.keys(after).map((key) => [key]);
  }
}

/** The deepest fields that differ. A removed field has no author. */
function changedPaths(before: Mapping, after: Mapping, prefix: FieldPath = []): FieldPath[] {
  const changed: FieldPath[] = [];
  for (const key of Object.keys(after)) {
    const was = Object.hasOwn(before, key) ? before[key] : undefined;
    const is = after[key];
    const path = [...prefix, key];
    if (isMapping(is) && !isEmptyMapping(is)) changed.push(...changedPaths(isMapping(was) ? was : {}, is, path));
    else if (was === undefined || !deepEqual(was, is)) changed.push(path);
  }
  return changed;
}

function keyOf(path: FieldPath): string {
  return JSON.stringify(path);
}
