/**
 * Decides what to store of the handlers' work, and what is known of the object once it is stored. It touches nothing
 * but the patch of marks that it builds; so it can run again when the cluster refuses part of what the handlers
 * requested.
 */
import {
  type Awaitable,
  type Essence,
  type FieldPath,
  type HandlerId,
  type HandlingReason,
  Patch,
  type PatchFn,
  type Seconds,
} from '@kopf-ts/core';
import {
  allowDeletion,
  blockDeletion,
  type ChangeHandler,
  type ChangingCause,
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
import { type Known, NOTHING_KNOWN } from '../objects/known.js';
import type { Seen } from '../objects/news.js';
import type { OperatorParts } from '../parts.js';
import type { Compared, Decision } from './decide.js';
import { capitalised, type Handled, type Handling } from './handling.js';
import { afterRefusals, storeDigests } from './related.js';
import { bodyForStorages, newestBody, type Scene } from './scene.js';

/** Outcomes that were revised because the cluster refused what the handlers requested. */
type Refusals = ReadonlyMap<HandlerId, Outcome>;

export interface Conclusion {
  /** Our own marks, finalizers included. */
  readonly marks: Patch;
  /** Seconds until the unfinished change handlers are due. */
  readonly delays: readonly Seconds[];
  /** The last handled state to store in the marks, if it has changed. */
  readonly handled: Essence | undefined;
  /** What is known once all is stored. */
  readonly known: Known;
  /** The progress of the handlers, including all their sub-handlers. */
  readonly states: readonly State[];
}

export interface ConcludingOptions {
  readonly scene: Scene;
  readonly compared: Compared | undefined;
  readonly decision: Decision | undefined;
  readonly handling: Handling | undefined;
  readonly ledger: Ledger;
  readonly refusals: Refusals;
  /** The delays of daemons that are being stopped. */
  readonly daemonDelays: readonly Seconds[];
  /** Whether a patch will be sent in any case. */
  readonly isAsked: boolean;
  readonly related: Known['related'] | undefined;
}

/** Returns a promise only if the storages do. */
export function conclude(options: ConcludingOptions): Awaitable<Conclusion> {
  const { scene, compared, decision, handling, daemonDelays, related } = options;
  const { known, resource, storages, parts } = scene;
  const body = newestBody(scene);
  const marks = new Patch(undefined, { body });
  if (decision?.finalizer !== undefined) marks.fns.push(finalizing(parts, decision.finalizer));
  const isStripped = compared?.restored !== undefined;
  let changed: Known =
    compared === undefined || (compared.handled === known.handled && !isStripped)
      ? known
      : { ...known, handled: compared.handled, strippings: known.strippings + (isStripped ? 1 : 0) };

  const goOn = (): Awaitable<Conclusion> => {
    const mayRelease = decision?.isHeldUntilDone && daemonDelays.length === 0;
    if (handling?.kind !== 'handled') {
      // No handlers want the deletion; but daemons had to stop first.
      if (mayRelease && decision.changing === undefined) release(scene, marks);
      return concludeUnhandled(options, marks, changed);
    }
    const releaseIfOver = (concluded: HandledConclusion): Conclusion => {
      const isOver = handling.handled.reason === 'delete' && concluded.isDone;
      if (mayRelease && (isOver || decision.changing === undefined)) release(scene, marks);
      return concluded;
    };
    const concluded = concludeHandled(options, handling.handled, marks, changed);
    return concluded instanceof Promise ? concluded.then(releaseIfOver) : releaseIfOver(concluded);
  };
  const storeEssence = (): Awaitable<Conclusion> => {
    const essence = compared?.restored;
    if (essence === undefined || scene.eventType === 'DELETED') return goOn();
    const storedBody = bodyForStorages(body, known.unsavable);
    const stored = storages.diffbaseStorage.store({ essence, body: storedBody, patch: marks, resource });
    return isThenable(stored) ? Promise.resolve(stored).then(goOn) : goOn();
  };
  if (related === undefined) return storeEssence();
  const withDigests = (after: Known['related']): Awaitable<Conclusion> => {
    changed = { ...changed, related: afterRefusals(after, options.refusals, parts.clock.now()) };
    return storeEssence();
  };
  const storing = storeDigests(scene, related, marks);
  return storing instanceof Promise ? storing.then(withDigests) : withDigests(storing);
}

/** The cycle had no change handlers to call. */
function concludeUnhandled(
  { scene, compared, handling }: ConcludingOptions,
  marks: Patch,
  changed: Known,
): Awaitable<Conclusion> {
  const { known, storages, parts } = scene;
  const isNoop = handling?.kind === 'leftovers' || (handling?.kind === 'nothing' && handling.isNoop);
  const handled = isNoop && compared !== undefined ? handledNow(scene, compared) : changed.handled;
  // A handler that was not due has still seen what it saw before.
  const seen: Known['seen'] = handling === undefined || known.seen.size === 0 ? known.seen : new Map();
  const concluded: Conclusion = {
    marks,
    delays: [],
    handled: undefined,
    states: [],
    known: handled === changed.handled && seen === changed.seen ? changed : { ...changed, handled, seen },
  };
  if (handling?.kind !== 'leftovers') return concluded;
  const body = bodyForStorages(newestBody(scene), known.unsavable);
  const place = { storage: storages.progressStorage, body, patch: marks, clock: parts.clock };
  return purgeLeftovers({ ...place, handlers: handling.owned }).then(() => concluded);
}

/** Nothing has changed since it was handled, so the current state is the handled state. */
function handledNow(scene: Scene, { essence, handled }: Compared): Known['handled'] {
  return handled?.digest === undefined
    ? { essence, digest: undefined, version: scene.body.metadata?.resourceVersion }
    : { ...handled, version: scene.body.metadata?.resourceVersion };
}

type HandledConclusion = Conclusion & { readonly isDone: boolean };

function concludeHandled(
  options: ConcludingOptions,
  handled: Handled,
  marks: Patch,
  before: Known,
): Awaitable<HandledConclusion> {
  const { scene, ledger, daemonDelays } = options;
  const { known, isCompat, resource, storages } = scene;
  const { cause, loaded, owned, reason } = handled;
  // What others have removed meanwhile is not restored.
  const body = bodyForStorages(newestBody(scene), known.unsavable);
  const place: StoragePlace = { storage: storages.progressStorage, body, patch: marks };
  const final = outcomesAfter(handled, ledger, options.refusals);
  const { state, levels, outcomes } = final;
  const isDone = loaded.handlers.length === 0 || state.done;
  // The handlers are done, but the daemons are not: remember which of them have finished until all are.
  const isWaiting = isDone && reason === 'delete' && daemonDelays.length > 0 && !isCompat;
  const isForgotten = isDone && !isWaiting;

  const goOn = (): Awaitable<HandledConclusion> => {
    if (isDone && loaded.handlers.length > 0 && options.refusals.size === 0 && outcomes.size > 0)
      reportDone(cause, state);
    const deleted = reason === 'delete' ? withFinished(known.deleted, loaded.handlers, state) : known.deleted;
    const resumed = withFinished(known.resumed, loaded.handlers.filter(isInitial), state);
    if (!isDone) {
      const seen = seenAfter(handled, state, levels, marks.isEmpty ? 'as before' : 'stored', scene);
      const states = [...levels.map((level) => level.state), state];
      const after = { ...before, deleted, resumed, seen };
      return { marks, delays: state.delays, handled: undefined, isDone, states, known: after };
    }
    const essence = cause.new as Essence;
    const isToStore = cause.diff.length > 0;
    const last = isToStore || before.handled?.digest === undefined;
    const next = last ? { essence, digest: undefined, version: cause.body.metadata?.resourceVersion } : before.handled;
    const concluded: HandledConclusion = {
      marks,
      delays: [],
      handled: isToStore ? essence : undefined,
      isDone,
      states: [],
      known: { ...before, deleted, resumed, isHandledOnce: true, handled: next, seen: NOTHING_KNOWN.seen },
    };
    const storeHandled = (): Awaitable<void> =>
      isToStore ? storages.diffbaseStorage.store({ essence, body, patch: marks, resource }) : undefined;
    const isPurged = isForgotten && loaded.handlers.length > 0;
    const purging = isPurged ? state.purge({ storage: place.storage, body, patch: marks, handlers: owned }) : undefined;
    const storing = isThenable(purging) ? Promise.resolve(purging).then(storeHandled) : storeHandled();
    return isThenable(storing) ? Promise.resolve(storing).then(() => concluded) : concluded;
  };
  // Progress that is purged right below need not be stored first, unless we leave the marks on the object as Kopf does.
  const isStored = !isForgotten || isCompat || loaded.superseded.size > 0;
  return isStored ? storeProgress(options, handled, final, place, isForgotten && !isCompat).then(goOn) : goOn();
}

/** Writes the progress of the handlers into the marks. */
async function storeProgress(
  { scene, isAsked }: ConcludingOptions,
  { loaded, reason, seen: known }: Handled,
  { state, levels }: Final,
  place: StoragePlace,
  isForgotten: boolean,
): Promise<void> {
  if (loaded.superseded.size > 0) await loaded.state.purgeExtras(place);
  if (isForgotten) return;
  for (const level of levels) await level.state.store(place);
  if (loaded.handlers.length > 0) await state.store(place);
  // Corrections alone are worth a patch only if none was sent for too long.
  const { correctionsDue } = scene.known;
  const isOverdue = correctionsDue !== undefined && correctionsDue <= scene.parts.clock.now();
  if (reason === 'delete' || scene.isCompat || !(isAsked || !place.patch.isEmpty || isOverdue)) return;
  for (const level of levels) await level.state.store(place, { corrections: true });
  await state.store(place, { corrections: true });
  const loadedIds = new Set([...state.ids, ...levels.flatMap((level) => level.state.ids)]);
  for (const [id, seen] of known) if (!loadedIds.has(id)) await storeCorrection(id, seen, place);
}

function reportDone({ logger, reason }: ChangingCause, { counts: { success, failure } }: State): void {
  const title = capitalised(REASON_TITLES[reason as HandlingReason]);
  logger.info(`${title} is processed: ${success} succeeded; ${failure} failed.`);
}

function isInitial({ initial }: ChangeHandler): boolean {
  return Boolean(initial);
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

/** A parent is not done before its sub-handlers are. */
function outcomesAfter({ loaded, outcomes }: Handled, ledger: Ledger, refusals: Refusals): Final {
  const parents = new Map<HandlerId, Outcome>();
  const replaced = (all: Outcomes): Outcomes =>
    refusals.size === 0
      ? all
      : new Map([...all].map(([id, outcome]) => [id, refusals.get(id) ?? parents.get(id) ?? outcome]));
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

/** What the finished handlers have seen, once all this is stored. */
function seenAfter(
  { seen, outcomes, owned, cause }: Handled,
  state: State,
  levels: readonly FinalLevel[],
  corrections: 'stored' | 'as before',
  { body }: Scene,
): ReadonlyMap<HandlerId, Seen> {
  const after = new Map<HandlerId, Seen>();
  // Deletions are handled once, whatever changes in the object meanwhile.
  if (cause.reason === 'delete') return after;
  const note = (handlers: readonly ChangeHandler[], of: State, called: Outcomes, prefix: FieldPath): void => {
    for (const { id, field = [] } of handlers) {
      const record = of.get(id);
      const isSuperseded = record?.purpose !== undefined && record.purpose !== cause.reason;
      if (!record?.finished || isSuperseded || record.digest === undefined || record.seen === undefined) continue;
      const known = called.has(id) ? undefined : seen.get(id);
      const stored = corrections === 'stored' ? record.seen : record.digest;
      const isKnown = known !== undefined && known.digest === record.seen;
      const version = isKnown ? known.version : (called.has(id) ? cause.body : body).metadata?.resourceVersion;
      const isSettled = isKnown && stored !== record.seen && known.isSettled;
      after.set(id, { stored, digest: record.seen, path: [...prefix, ...field], version, isSettled });
    }
  };
  // Sub-handlers of handlers that wait for their next attempt were not considered this time.
  const unfinished = [...state].filter(([, record]) => !record.finished).flatMap(([, { subrefs }]) => subrefs);
  for (const id of unfinished) {
    const known = seen.get(id);
    if (known === undefined) continue;
    after.set(id, corrections === 'stored' ? { ...known, stored: known.digest } : known);
  }
  for (const { handlers, state: of, outcomes: called, prefix } of levels) note(handlers, of, called, prefix);
  // Includes handlers that no longer want the change: they may be needed until all is over.
  note(owned, state, outcomes, []);
  return after;
}

/** A sub-handler whose parent was not called this time, so that its record was not read. */
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
  if (handlers.length === 0) return known;
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
