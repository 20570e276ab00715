/**
 * What is to be stored of what the handlers have done, and what is known of the object once it is stored. It acts on
 * nothing but the patch of marks that it makes; so it can be done again, when the cluster has refused what some of the
 * handlers have asked for.
 */
import { type Essence, type FieldPath, type HandlerId, Patch, type PatchFn, type Seconds } from '@kopf-ts/core';
import {
  allowDeletion,
  blockDeletion,
  type ChangeHandler,
  childrenRetry,
  isThenable,
  type Ledger,
  type Outcome,
  type Outcomes,
  purgeLeftovers,
  REASON_TITLES,
  type State,
  type StoragePlace,
} from '@kopf-ts/core/engine';
import type { Known } from '../objects/known.js';
import type { Seen } from '../objects/news.js';
import { versionOf } from '../objects/versions.js';
import type { OperatorParts } from '../parts.js';
import type { Compared, Decision } from './decide.js';
import { capitalised, type Handled, type Handling } from './handling.js';
import { bodyForStorages, newestBody, type Scene } from './scene.js';

/** Outcomes that are other than it seemed, since the cluster has refused what the handlers have asked for. */
type Refusals = ReadonlyMap<HandlerId, Outcome>;

export interface Conclusion {
  /** Our own marks, finalizers included. */
  readonly marks: Patch;
  /** Until the change handlers that are not done are due. */
  readonly delays: readonly Seconds[];
  /** What is put into the marks as the last handled state, if anything is. */
  readonly handled: Essence | undefined;
  /** What is known when all is stored. */
  readonly known: Known;
  /** How far the handlers have come, with all their sub-handlers. */
  readonly states: readonly State[];
}

export interface ConcludingOptions {
  readonly scene: Scene;
  readonly compared: Compared | undefined;
  readonly decision: Decision | undefined;
  readonly handling: Handling | undefined;
  readonly ledger: Ledger;
  readonly refusals: Refusals;
  /** Of daemons that are being stopped. */
  readonly daemonDelays: readonly Seconds[];
  /** Whether anything is going to be sent anyway. */
  readonly isAsked: boolean;
}

export async function conclude(options: ConcludingOptions): Promise<Conclusion> {
  const { scene, compared, decision, handling, daemonDelays } = options;
  const { known, resource, storages, parts } = scene;
  const body = newestBody(scene);
  const marks = new Patch(undefined, { body });
  const storedBody = bodyForStorages(body, known.unsavable);
  const next = compared === undefined ? known : { ...known, handled: compared.handled };

  if (compared?.restored !== undefined && scene.eventType !== 'DELETED') {
    const { restored } = compared;
    const stored = storages.diffbaseStorage.store({ essence: restored, body: storedBody, patch: marks, resource });
    if (isThenable(stored)) await stored;
  }
  if (decision?.finalizer !== undefined) marks.fns.push(finalizing(parts, decision.finalizer));

  const strippings = compared?.restored === undefined ? known.strippings : known.strippings + 1;
  const changed: Known = { ...next, strippings };
  const mayRelease = decision?.isHeldUntilDone && daemonDelays.length === 0;
  if (handling?.kind === 'handled') {
    const concluded = await concludeHandled(options, handling.handled, marks, changed);
    const isOver = handling.handled.reason === 'delete' && concluded.isDone;
    if (mayRelease && (isOver || decision.changing === undefined)) release(scene, marks);
    return concluded;
  }
  if (handling?.kind === 'leftovers') {
    const { progressStorage: storage } = storages;
    await purgeLeftovers({ storage, body: storedBody, patch: marks, handlers: handling.owned, clock: parts.clock });
  }
  // There is nobody to be called for the deletion; but daemons had to leave first.
  if (mayRelease && decision.changing === undefined) release(scene, marks);
  const isNoop = handling?.kind === 'leftovers' || (handling?.kind === 'nothing' && handling.isNoop);
  const noop = isNoop && compared !== undefined ? { handled: handledNow(scene, compared) } : {};
  // Whoever was not asked about has still seen what it has seen.
  const seen: Known['seen'] = handling === undefined ? known.seen : new Map();
  return { marks, delays: [], handled: undefined, states: [], known: { ...changed, ...noop, seen } };
}

/** Nothing has changed since it was handled: so, what it is now is what is handled. */
function handledNow(scene: Scene, { essence, handled }: Compared): Known['handled'] {
  return handled?.digest === undefined
    ? { essence, digest: undefined, version: versionOf(scene.body) }
    : { ...handled, version: versionOf(scene.body) };
}

async function concludeHandled(
  options: ConcludingOptions,
  handled: Handled,
  marks: Patch,
  before: Known,
): Promise<Conclusion & { readonly isDone: boolean }> {
  const { scene, ledger, daemonDelays, isAsked } = options;
  const { known, isCompat, resource, storages, parts } = scene;
  const { cause, loaded, owned, reason } = handled;
  const storage = storages.progressStorage;
  // What others have removed meanwhile is not put back.
  const body = bodyForStorages(newestBody(scene), known.unsavable);
  const place = { storage, body, patch: marks };

  if (loaded.state.extras.size > 0) await loaded.state.purgeExtras(place);
  const { state, levels, outcomes } = afterRefusals(handled, ledger, options.refusals);
  const isDone = loaded.handlers.length === 0 || state.done;
  // It is over for the handlers, but not for the daemons: who has finished must be known until all is over.
  const isWaiting = isDone && reason === 'delete' && daemonDelays.length > 0 && !isCompat;
  const isForgotten = isDone && !isWaiting;

  // What is purged right below need not be stored before: but for the marks on the object that Kopf leaves so.
  if (!isForgotten || isCompat) {
    for (const level of levels) await level.state.store(place);
    if (loaded.handlers.length > 0) await state.store(place);
    // Corrections are worth a patch only if there is one anyway, or if there was none for too long.
    const isOverdue = known.correctionsDue !== undefined && known.correctionsDue <= parts.clock.now();
    const isCorrectable = reason !== 'delete' && !isCompat;
    if (isCorrectable && (isAsked || !marks.isEmpty || isOverdue)) {
      for (const level of levels) await level.state.store(place, { corrections: true });
      await state.store(place, { corrections: true });
      const loadedIds = new Set([...state.ids, ...levels.flatMap((level) => level.state.ids)]);
      for (const [id, seen] of handled.seen) if (!loadedIds.has(id)) await storeCorrection(id, seen, place);
    }
  }
  if (isDone && loaded.handlers.length > 0 && options.refusals.size === 0 && outcomes.size > 0) {
    const { success, failure } = state.counts;
    cause.logger.info(`${capitalised(REASON_TITLES[reason])} is processed: ${success} succeeded; ${failure} failed.`);
  }
  if (isForgotten && loaded.handlers.length > 0) await state.purge({ ...place, handlers: owned });

  const deleted = reason === 'delete' ? withFinished(known.deleted, loaded.handlers, state) : known.deleted;
  const initial = loaded.handlers.filter((handler) => handler.initial);
  const resumed = withFinished(known.resumed, initial, state);
  if (!isDone) {
    const seen = seenAfter(handled, state, levels, marks.isEmpty ? 'as before' : 'stored', scene);
    const states = [...levels.map((level) => level.state), state];
    const after = { ...before, deleted, resumed, seen };
    return { marks, delays: state.delays, handled: undefined, isDone, states, known: after };
  }
  const essence = cause.new as Essence;
  const isToStore = cause.diff.length > 0;
  if (isToStore) {
    const stored = storages.diffbaseStorage.store({ essence, body, patch: marks, resource });
    if (isThenable(stored)) await stored;
  }
  const last = isToStore || before.handled?.digest === undefined;
  const next = last ? { essence, digest: undefined, version: versionOf(cause.body) } : before.handled;
  return {
    marks,
    delays: [],
    handled: isToStore ? essence : undefined,
    isDone,
    states: [],
    known: { ...before, deleted, resumed, isHandledOnce: true, handled: next, seen: new Map() },
  };
}

interface FinalLevel {
  readonly state: State;
  readonly handlers: readonly ChangeHandler[];
  readonly prefix: FieldPath;
  readonly outcomes: Outcomes;
}

interface Final {
  readonly state: State;
  readonly outcomes: Outcomes;
  readonly levels: readonly FinalLevel[];
}

/** A parent is not done if its sub-handlers are not. */
function afterRefusals({ loaded, outcomes }: Handled, ledger: Ledger, refusals: Refusals): Final {
  const parents = new Map<HandlerId, Outcome>();
  const replaced = (all: Outcomes): Outcomes =>
    new Map([...all].map(([id, outcome]) => [id, refusals.get(id) ?? parents.get(id) ?? outcome]));
  const levels = ledger.levels.map(({ parent, handlers, prefix, state, outcomes: all }) => {
    const ofLevel = replaced(all);
    const after = state.withOutcomes(ofLevel);
    const isRefused = [...all.keys()].some((id) => refusals.has(id) || parents.has(id));
    if (isRefused && !after.done) {
      const error = childrenRetry(after.delay);
      parents.set(parent.id, { final: false, error, delay: after.delay, subrefs: after.ids });
    }
    return { state: after, handlers, prefix, outcomes: ofLevel };
  });
  const final = replaced(outcomes);
  return { state: loaded.state.withOutcomes(final), outcomes: final, levels };
}

/** What the finished handlers have seen, when all this is stored. */
function seenAfter(
  { seen, outcomes, owned, cause }: Handled,
  state: State,
  levels: readonly FinalLevel[],
  corrections: 'stored' | 'as before',
  { body }: Scene,
): ReadonlyMap<HandlerId, Seen> {
  const after = new Map<HandlerId, Seen>();
  // Deletions are handled once, whatever is changed in the object meanwhile.
  if (cause.reason === 'delete') return after;
  const note = (handlers: readonly ChangeHandler[], of: State, called: Outcomes, prefix: FieldPath): void => {
    for (const { id, field = [] } of handlers) {
      const record = of.get(id);
      const isSuperseded = record?.purpose !== undefined && record.purpose !== cause.reason;
      if (!record?.finished || isSuperseded || record.digest === undefined || record.seen === undefined) continue;
      const known = called.has(id) ? undefined : seen.get(id);
      const stored = corrections === 'stored' ? record.seen : record.digest;
      const isKnown = known !== undefined && known.digest === record.seen;
      const version = isKnown ? known.version : versionOf(called.has(id) ? cause.body : body);
      const isSettled = isKnown && stored !== record.seen && known.isSettled;
      after.set(id, { stored, digest: record.seen, path: [...prefix, ...field], version, isSettled });
    }
  };
  // Sub-handlers of those who wait for their next attempt were not looked at this time.
  const unfinished = [...state].filter(([, record]) => !record.finished).flatMap(([, { subrefs }]) => subrefs);
  for (const id of unfinished) {
    const known = seen.get(id);
    if (known === undefined) continue;
    after.set(id, corrections === 'stored' ? { ...known, stored: known.digest } : known);
  }
  for (const { handlers, state: of, outcomes: called, prefix } of levels) note(handlers, of, called, prefix);
  // Also those who do not want the change any more: they may be needed until all is over.
  note(owned, state, outcomes, []);
  return after;
}

/** Of a sub-handler whose parent was not called this time, so that its record was not looked at. */
async function storeCorrection(key: HandlerId, { stored, digest }: Seen, place: StoragePlace): Promise<void> {
  if (stored === digest) return;
  const { storage, body, patch } = place;
  const record = await storage.fetch({ key, body });
  if (record?.digest === stored) await storage.store({ key, record: { ...record, digest }, body, patch });
}

function withFinished(
  known: ReadonlySet<HandlerId>,
  handlers: readonly ChangeHandler[],
  state: State,
): ReadonlySet<HandlerId> {
  const finished = handlers.map(({ id }) => id).filter((id) => state.get(id)?.finished && !known.has(id));
  return finished.length === 0 ? known : new Set([...known, ...finished]);
}

function release({ parts, localLogger }: Scene, marks: Patch): void {
  localLogger.debug('Removing the finalizer, thus allowing the actual deletion.');
  marks.fns.push(finalizing(parts, 'allow'));
}

function finalizing({ settings }: OperatorParts, decision: 'block' | 'allow'): PatchFn {
  const { finalizer } = settings.persistence;
  return decision === 'block' ? blockDeletion(finalizer) : allowDeletion(finalizer);
}
