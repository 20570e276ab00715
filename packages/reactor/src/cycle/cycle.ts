/**
 * One cycle of one object: from what happened to it, through all its handlers, to its patch and the next step. It reads
 * from top to bottom; each step is a function that returns what the next one needs.
 */
import { type Awaitable, formatTimestamp, type HandlerId, Patch, type Seconds } from '@kopf-ts/core';
import {
  type Asked,
  type ChangingCause,
  describeAsked,
  digestAt,
  type HandlerState,
  isThenable,
  type Ledger,
  NO_FACTS,
  type Outcome,
  OutpacedError,
  type RelatedCause,
  type SpawningCause,
  withoutAsked,
} from '@kopf-ts/core/engine';
import { leadDaemons } from '../daemons/leading.js';
import { timeLeft } from '../objects/breaker.js';
import { type EventRetries, type EventRetry, type Known, NOTHING_KNOWN } from '../objects/known.js';
import type { NotedWrite } from '../objects/news.js';
import { tellerOfDropped } from '../observing/patch-facts.js';
import { tracedCycles } from '../observing/traced-cycles.js';
import { isBrokenOffByPause } from '../sending/apply.js';
import { mergeInto } from '../sending/merging.js';
import { judgeRefusal } from '../sending/refusals.js';
import { type SendOptions, type Sent, send } from '../sending/send.js';
import { type Conclusion, conclude } from './conclude.js';
import { type Compared, compare, type Decision, decide, decideOnState } from './decide.js';
import { callEventHandlers } from './events.js';
import { type Handling, handle, newLedger, seenByNow, type Unsent } from './handling.js';
import { type Called, nearest, next } from './next.js';
import { callRelated } from './related.js';
import { bodyForStorages, type CycleOptions, type CycleParts, type CycleResult, newestBody, Scene } from './scene.js';

/**
 * Processes the latest news of the object. Rejects on errors of the framework and of users' filters; nothing is
 * concluded then. Returns a promise only if some step does.
 */
export type RunCycle = (options: CycleOptions) => Awaitable<CycleResult>;

export function cycleOf(parts: CycleParts): RunCycle {
  return tracedCycles(parts, (options) => {
    const { events, state, subject, isToTouch } = options;
    const { eventRetries } = options.known;
    const body = state?.body ?? events.at(-1)?.object ?? firstOf(eventRetries)?.event.object;
    if (body === undefined) return NOTHING_TO_DO;
    const scene = new Scene(parts, options, body);
    if (state !== undefined) subject.daemons.see(body);
    if (isToTouch) return touch(scene);
    const seen = seenByNow(scene);
    const ledger = newLedger(scene, seen);
    const goOn = (): Awaitable<CycleResult> => {
      if (state !== undefined && isServed(scene)) return serve(scene, ledger, seen);
      // Only event handlers ran, and they neither requested nor wrote anything.
      const isIdle = scene.known === NOTHING_KNOWN && scene.patch.isEmpty && subject.writes.length === 0;
      return isIdle ? NOTHING_TO_DO : finish(scene, { ledger });
    };
    if (events.length === 0 && eventRetries.size === 0) return goOn();
    return callEventHandlers(scene, events, ledger).then((retries) =>
      retries.size === 0 && eventRetries.size === 0 ? goOn() : goOnWithRetries(scene, retries, goOn),
    );
  });
}

function firstOf(retries: EventRetries): EventRetry | undefined {
  return retries.values().next().value;
}

/** Retries are remembered whatever else becomes of the cycle; the object comes back when the first of them is due. */
async function goOnWithRetries(
  scene: Scene,
  eventRetries: EventRetries,
  goOn: () => Awaitable<CycleResult>,
): Promise<CycleResult> {
  const result = await goOn();
  const known = { ...(result.known ?? scene.known), eventRetries };
  if (eventRetries.size === 0) return { ...result, known };
  const now = scene.parts.clock.now();
  const due = nearest([...eventRetries.values()].map(({ dueAt }) => Math.max(0, dueAt - now))) ?? 0;
  const isLater = result.delay !== undefined && result.delay <= due;
  return isLater ? { ...result, known } : { ...result, known, delay: due, byTouching: false };
}

/** Runs all handlers except for those of events. */
async function serve(scene: Scene, ledger: Ledger, seen: Known['seen']): Promise<CycleResult> {
  if (!hasCauses(scene)) return await serveState(scene, ledger);
  const comparing = compare(scene);
  const compared = comparing instanceof Promise ? await comparing : comparing;
  const deciding = decide(scene, compared);
  const decision = deciding instanceof Promise ? await deciding : deciding;
  explain(scene, compared, decision);
  const { spawning } = decision;
  const daemonDelays = spawning === undefined ? NO_DELAYS : await lead(scene, spawning);
  const calling = callChangeHandlers(scene, { ledger, compared, decision, daemonDelays }, seen);
  const called = calling instanceof Promise ? await calling : calling;
  return await finish(
    scene,
    decision.related === undefined ? called : await withRelated(scene, called, decision.related),
  );
}

/** Where no handler asks what happened to the object, there is no need to compare it with its previous state. */
async function serveState(scene: Scene, ledger: Ledger): Promise<CycleResult> {
  const decision = decideOnState(scene);
  explain(scene, undefined, decision);
  const { unsent } = scene.known;
  if (unsent !== undefined) takeOver(scene.patch, unsent.patch);
  const called: Called =
    unsent === undefined ? { ledger, decision } : { ledger: unsent.ledger, ledgerOfEvents: ledger, decision };
  return await finish(
    scene,
    decision.related === undefined ? called : await withRelated(scene, called, decision.related),
  );
}

/** Adds the calls of the handlers that reconcile the object and its children. */
async function withRelated(scene: Scene, called: Called, cause: RelatedCause): Promise<Called> {
  const { daemonDelays = NO_DELAYS, ledger } = called;
  // Unsent work of an earlier cycle is stored first.
  if (scene.known.unsent !== undefined) return { ...called, isPostponed: true };
  const { related, delays } = await callRelated(scene, cause, ledger);
  return { ...called, related, daemonDelays: [...daemonDelays, ...delays] };
}

const NO_DELAYS: readonly Seconds[] = [];
const NOTHING_TO_DO: CycleResult = Object.freeze({});

/** Calls the handlers that are due, unless something else has to be done or awaited first. */
function callChangeHandlers(scene: Scene, decided: Decided, seen: Known['seen']): Awaitable<Called> {
  const { ledger, compared, decision, daemonDelays } = decided;
  const { unsent } = scene.known;
  if (unsent !== undefined) {
    // Unsent work of an earlier cycle is stored first: otherwise, the handlers would see the object without it.
    takeOver(scene.patch, unsent.patch);
    const handling: Handling | undefined = unsent.handled && { kind: 'handled', handled: unsent.handled };
    const isPostponed = decision.changing !== undefined;
    return { ...decided, ledger: unsent.ledger, ledgerOfEvents: ledger, handling, isPostponed };
  }
  const { changing } = decision;
  const broken = brokenFor(scene, changing);
  if (broken !== undefined) return { ...decided, daemonDelays: [...daemonDelays, broken] };
  const held = heldFor(scene, compared, changing, seen);
  if (held !== undefined) return { ...decided, daemonDelays: [...daemonDelays, held], isHeld: true };
  if (changing === undefined) return decided;
  const handling = handle(scene, changing, seen, ledger);
  return handling instanceof Promise ? handling.then((done) => handledAs(decided, done)) : handledAs(decided, handling);
}

/** What is known before the change handlers are called. */
interface Decided extends Called {
  readonly compared: Compared;
  readonly decision: Decision;
  readonly daemonDelays: readonly Seconds[];
}

function handledAs({ ledger, compared, decision, daemonDelays }: Decided, handling: Handling): Called {
  return { ledger, compared, decision, daemonDelays, handling };
}

/** Whether any handler needs the state of objects of that kind. */
function isServed(scene: Scene): boolean {
  return hasCauses(scene) || scene.parts.registry.handlers.related.of(scene.resource).length > 0;
}

/** Whether any handler asks what happened to objects of that kind. */
function hasCauses({ parts, resource }: Scene): boolean {
  const { spawning, changing } = parts.registry.handlers;
  return spawning.of(resource).length > 0 || changing.of(resource).length > 0;
}

function explain(
  { known, localLogger }: Scene,
  compared: Compared | undefined,
  { spawning, changing, finalizer }: Decision,
): void {
  const logger = spawning?.logger ?? changing?.logger ?? localLogger;
  const { restored } = compared ?? {};
  if (restored !== undefined && known.strippings === 0) {
    localLogger.info('The last handled state was removed from the object by someone else. It is restored.');
  } else if (restored !== undefined && known.strippings === 1) {
    localLogger.warn(
      'Someone else keeps removing the last handled state from the object; it is restored each time. ' +
        'Clients that replace the whole object should keep its annotations.',
    );
  }
  if (finalizer === 'block') logger.debug('Adding the finalizer, thus preventing the actual deletion.');
  if (finalizer === 'allow') logger.debug('Removing the finalizer, as there are no handlers requiring it.');
}

/** Starts and stops daemons and timers. Daemons that need time to stop are checked again after the delays. */
async function lead(scene: Scene, cause: SpawningCause): Promise<readonly Seconds[]> {
  const { parts, subject, eventType, comeBack: onExit } = scene;
  const { apply, paused, daemons, writeGuards } = parts;
  const mayAct = writeGuards?.mayWrite;
  return await leadDaemons({ parts, apply, paused, daemons, mayAct, subject, eventType, cause, onExit });
}

/** How long to hold back the change handlers because they change the same fields again and again. */
function brokenFor({ known, parts }: Scene, cause: ChangingCause | undefined): Seconds | undefined {
  const isExempt = cause === undefined || cause.reason === 'delete' || cause.reason === 'gone';
  return isExempt ? undefined : timeLeft(known.breaker, parts.clock.now());
}

/** The longest wait for responses to patches of daemons and timers. */
const WRITE_PATIENCE: Seconds = 2;

/**
 * How long to wait until the author of the latest change is known. While a timer or a daemon of ours is changing the
 * object, the stream may be faster than the response to the patch, and a handler would be called for our own change.
 * The object is checked again as soon as the response arrives.
 */
function heldFor(
  { subject, known, parts }: Scene,
  { essence }: Compared,
  cause: ChangingCause | undefined,
  seen: Known['seen'],
): Seconds | undefined {
  if (!subject.isBeingWritten || cause === undefined || cause.reason === 'delete') return undefined;
  // Otherwise it would be an update, though nobody has requested anything that matters.
  const isUpdate = cause.reason === 'update' && known.handled !== undefined;
  const isOutdated = [...seen.values()].some(({ digest, path }) => digestAt(essence, path) !== digest);
  if (!isOutdated && !isUpdate) return undefined;
  const now = parts.clock.now();
  const left = (known.heldSince ?? now) + WRITE_PATIENCE - now;
  if (left <= 0) return undefined;
  subject.awaitWritten();
  return left;
}

/**
 * Stores the results of the handlers, and decides how to go on. Returns a promise only if there is something to store.
 */
function finish(scene: Scene, called: Called): Awaitable<CycleResult> {
  const concluding = concludeNow(scene, called, NO_REFUSALS);
  return concluding instanceof Promise
    ? concluding.then((conclusion) => sendOrGoOn(scene, called, conclusion))
    : sendOrGoOn(scene, called, concluding);
}

function sendOrGoOn(scene: Scene, called: Called, conclusion: Conclusion): Awaitable<CycleResult> {
  // Nothing is left to patch, but daemons can still be stopping.
  if (scene.eventType === 'DELETED') {
    return { known: conclusion.known, delay: nearest(called.daemonDelays ?? NO_DELAYS) };
  }
  if (!scene.patch.isEmpty || !conclusion.marks.isEmpty) return sendAndGoOn(scene, called, conclusion);
  const { unsavable } = scene.known;
  const nothing = { kind: 'sent', answer: undefined, isVanishing: false, remaining: undefined, unsavable } as const;
  return next(scene, called, conclusion, nothing, []);
}

async function sendAndGoOn(scene: Scene, called: Called, concluded: Conclusion): Promise<CycleResult> {
  const { known, patch: asked, parts } = scene;
  const { facts = NO_FACTS } = parts;
  const refusals = new Map<HandlerId, Outcome>();
  const writes: NotedWrite[] = [];
  let first: Unsent | undefined;
  let conclusion = concluded;
  for (;;) {
    try {
      const sent = await sendNow(scene, unrefused(called, refusals), conclusion, writes);
      if (sent.kind !== 'refused') return next(scene, called, conclusion, sent, writes);
      first ??= { ...unsentOf(scene, called), patch: new Patch(asked) };
      for (const { asked: culprit, error } of sent.refusals) {
        const { handler } = culprit;
        const options = { handler, state: stateOf(called, handler.id), parts: scene.parts, logger: scene.localLogger };
        refusals.set(handler.id, judgeRefusal(error, options));
        withoutAsked(asked, [culprit]);
        if (facts.wants['patch.dropped']) {
          tellerOfDropped(facts, scene)(`all that ${describeAsked(culprit)} asks for`, error.message);
        }
      }
      conclusion = await concludeNow(scene, called, refusals);
    } catch (error) {
      // Other operators may be active now.
      if (isBrokenOffByPause(error)) return { known: { ...known, unsent: undefined }, error };
      if (scene.isCompat) throw error;
      // If even our marks are refused, the handlers are not to blame. The culprit is found once the marks get through.
      const unsent = first ?? unsentOf(scene, called);
      const isKept = unsent.handled !== undefined || !unsent.patch.isEmpty;
      // What could not be stored is not recorded, except for the handlers that have finished.
      const { deleted, resumed } = conclusion.known;
      const { related = known.related } = called;
      const left = { ...known, deleted, resumed, related, unsent: isKept ? unsent : undefined };
      return error instanceof OutpacedError ? afterOutpacing(scene, called, left) : { known: left, error };
    }
  }
}

/** Usually long enough for the other writers to finish. */
const OUTPACED_PAUSE: Seconds = 1;

/** Conflicts are not errors, however many there are: the same is sent for a newer state after a while. */
function afterOutpacing({ localLogger }: Scene, { daemonDelays = NO_DELAYS }: Called, known: Known): CycleResult {
  localLogger.info(
    `Others change the object faster than it can be patched. Trying again with its newest state in ${OUTPACED_PAUSE}s.`,
  );
  return { known, delay: nearest([...daemonDelays, OUTPACED_PAUSE]) };
}

const NO_REFUSALS: ReadonlyMap<HandlerId, Outcome> = new Map();

function concludeNow(scene: Scene, called: Called, refusals: ReadonlyMap<HandlerId, Outcome>): Awaitable<Conclusion> {
  const { ledger, compared, decision, handling, related, daemonDelays = NO_DELAYS } = called;
  const isAsked = !scene.patch.isEmpty;
  return conclude({ scene, compared, decision, handling, ledger, refusals, daemonDelays, isAsked, related });
}

/** The authors of the requests that are not known to be refused. */
function unrefused({ ledger, ledgerOfEvents }: Called, refusals: ReadonlyMap<HandlerId, Outcome>): readonly Asked[] {
  const all = ledgerOfEvents === undefined ? ledger.asked : [...ledger.asked, ...ledgerOfEvents.asked];
  return refusals.size === 0 ? all : all.filter(({ handler }) => !refusals.has(handler.id));
}

function sendNow(
  scene: Scene,
  askedBy: readonly Asked[],
  conclusion: Conclusion,
  writes: NotedWrite[],
): Awaitable<Sent> {
  const { parts, resource, subject, known, patch: asked, localLogger: logger, storages, isCompat } = scene;
  const { marks, handled } = conclusion;
  const { facts = NO_FACTS } = parts;
  const { unsavable } = known;
  // What is already there is left out of the patch, so the newest state is needed for comparison.
  const body = newestBody(scene);
  const storedBody = bodyForStorages(body, unsavable);
  const options: SendOptions = {
    apply: parts.apply,
    resource,
    body,
    asked,
    askedBy,
    marks,
    logger,
    isCompat,
    handled,
    storeHandled: async (essence, to) => {
      await storages.diffbaseStorage.store({ essence, body: storedBody, patch: to, resource });
    },
    unsavable,
    newerThan: (than) => subject.newerThan(than)?.body,
    // The finalizer, for one, must be added before the object is gone.
    turn: () => subject.takeTurn({ isUrgent: true }),
    onWrite({ before, after }) {
      const noted = { before, after, asked };
      writes.push(noted);
      subject.noteWrite(noted);
    },
    onDropped: facts.wants['patch.dropped'] ? tellerOfDropped(facts, scene) : undefined,
  };
  const touched = storages.progressStorage.touch({ value: null, body: storedBody, patch: marks });
  return isThenable(touched) ? touched.then(() => send(options)) : send(options);
}

/** The id of a change handler or of one of its sub-handlers; event handlers have no ids here. */
function stateOf({ handling, ledger }: Called, id: HandlerId): HandlerState | undefined {
  const handled = handling?.kind === 'handled' ? [handling.handled.loaded.state] : [];
  const states = [...handled, ...ledger.levels.map((level) => level.state)];
  return states.find((state) => state.get(id))?.get(id);
}

function unsentOf({ patch }: Scene, { handling, ledger }: Called): Unsent {
  const handled = handling?.kind === 'handled' ? handling.handled : undefined;
  return { handled, patch, ledger };
}

/** Changes a dummy field of the object to trigger an event: that is how Kopf wakes itself up. */
async function touch({ parts, resource, body, localLogger: logger, storages }: Scene): Promise<CycleResult> {
  const patch = new Patch(undefined, { body });
  await storages.progressStorage.touch({ value: formatTimestamp(parts.clock.utc()), body, patch });
  // This differs from sending nothing: the handlers are due, whatever became of the touch.
  const { body: answer, missing } = await parts.apply({ resource, body, patch, logger });
  return missing ? {} : { answer, ...(answer === undefined ? { delay: 0 } : {}) };
}

function takeOver(patch: Patch, unsent: Patch): void {
  // The latest requests of the event handlers win.
  const newer = { ...patch.merge };
  Object.assign(patch.merge, unsent.merge);
  mergeInto(patch.merge, newer);
  patch.fns.unshift(...unsent.fns);
}
