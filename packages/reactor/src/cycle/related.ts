/**
 * Handlers that reconcile: they are called for the present state of an object and its children, not for what happened
 * to them. Whether to call one is decided by comparison with what it saw last: in memory, and for children also by the
 * digest stored on the object.
 */
import {
  type Awaitable,
  type Body,
  type ChildChange,
  deepEqual,
  type FieldPath,
  type HandlerId,
  isMapping,
  type Patch,
  type ProgressRecord,
  type ReconcileReason,
  resolveField,
  type Seconds,
} from '@kopf-ts/core';
import {
  type ChildHandler,
  digestAt,
  type Execution,
  executeHandler,
  isDeletionBlocked,
  isDeletionOngoing,
  isThenable,
  type Ledger,
  NO_FACTS,
  type Outcome,
  objectKey,
  type ReconcileHandler,
  type RelatedCause,
  type RelatedHandler,
  relationsOf,
  tellerOfConsidered,
  titleOf,
} from '@kopf-ts/core/engine';
import { timeLeft } from '../objects/breaker.js';
import { type Known, NOT_RELATED, type RelatedState } from '../objects/known.js';
import { bodyForStorages, newestBody, type Scene } from './scene.js';

/** The results of these handlers in a cycle. */
export interface RelatedCalls {
  /** What the handlers have seen, and their progress. */
  readonly related: Known['related'];
  /** Seconds until they are due; an object that is being deleted is held as long as there are any. */
  readonly delays: readonly Seconds[];
}

const NO_CALLS: RelatedCalls = { related: NOT_RELATED, delays: [] };

/** How many calls for changes of children may follow each other at once; after that, one per second. */
const BURST: Seconds = 20;

/** The cause shared by all of them, before it is known what each is called for. */
export function relatedCauseOf(
  { parts, subject, resource, body, patch }: Scene,
  logger: RelatedCause['logger'],
): RelatedCause {
  const { client, apiFor, indices, children } = parts;
  const { memo } = subject;
  const reasons = NO_REASONS;
  const isOutside = subject.isOutside(body);
  return {
    kind: 'related',
    resource,
    body,
    isOutside,
    patch,
    memo,
    logger,
    client,
    apiFor,
    indices,
    children,
    reasons,
  };
}

const NO_REASONS: ReadonlySet<ReconcileReason> = new Set();

/** Calls the handlers that are due, one after another. */
export async function callRelated(scene: Scene, cause: RelatedCause, ledger: Ledger): Promise<RelatedCalls> {
  const { parts, known, signal, eventType } = scene;
  if (eventType === 'DELETED') return NO_CALLS;
  const { facts = NO_FACTS, registry } = parts;
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  const handlers = registry.handlers.related.select(cause, { onConsidered });
  const related = new Map<HandlerId, RelatedState>();
  const delays: Seconds[] = [];
  for (const handler of handlers) {
    const looking = signal.aborted ? undefined : look(scene, handler, cause);
    const seen = looking instanceof Promise ? await looking : looking;
    const id = seen?.handler.id ?? handler.id;
    const before = known.related.get(id);
    const state =
      seen === undefined ? atRest(scene, before) : seen.isDue ? await call(scene, seen, ledger) : seen.state;
    if (state === undefined) continue;
    related.set(id, state);
    const delay = seen?.isDue ? delayOf(state, parts.clock.now()) : (seen?.delay ?? delayOf(state, parts.clock.now()));
    if (delay !== undefined) delays.push(delay);
  }
  return { related, delays };
}

/** Objects that are being deleted are no longer reconciled, so there is nothing to wait for. */
function atRest({ body }: Scene, state: RelatedState | undefined): RelatedState | undefined {
  return state?.dueAt !== undefined && isDeletionOngoing(body) ? { ...state, dueAt: undefined } : state;
}

function delayOf({ dueAt }: RelatedState, now: Seconds): Seconds | undefined {
  return dueAt === undefined ? undefined : Math.max(0, dueAt - now);
}

/** The decision on one handler. */
interface Look {
  /** Possibly the cleanup function. */
  readonly handler: RelatedHandler;
  /** What to remember if it is not called, and what to remember if it is. */
  readonly state: RelatedState;
  readonly cause: RelatedCause;
  readonly isDue: boolean;
  /** How long to wait, if it is held back for some reason other than its own delays. */
  readonly delay?: Seconds | undefined;
}

function look(scene: Scene, handler: RelatedHandler, cause: RelatedCause): Awaitable<Look | undefined> {
  const { body, known, parts } = scene;
  if (isDeletionOngoing(body)) {
    const isHeld = isDeletionBlocked(body, parts.settings.persistence.finalizer);
    return handler.kind === 'reconcile' && isHeld ? lookAtDeletion(scene, handler, cause) : undefined;
  }
  if (handler.kind === 'reconcile') return lookAtObject(scene, handler, cause);
  const state = known.related.get(handler.id);
  if (state !== undefined) return lookAtChildren(scene, handler, cause, state);
  const first = firstLookAtChildren(scene, handler, cause);
  return first instanceof Promise
    ? first.then((found) => lookAtChildren(scene, handler, cause, found))
    : lookAtChildren(scene, handler, cause, first);
}

function lookAtDeletion({ known, parts }: Scene, { cleanup }: ReconcileHandler, cause: RelatedCause): Look | undefined {
  if (cleanup === undefined) return undefined;
  const state = known.related.get(cleanup.id) ?? { ...BLANK, isPending: true };
  const isRetry = state.failures > 0;
  const isDue = state.isPending && (state.dueAt === undefined || state.dueAt <= parts.clock.now());
  const reasons = new Set<ReconcileReason>(['deleted', ...(isRetry ? (['retried'] as const) : [])]);
  return { handler: cleanup, state, cause: { ...cause, reasons }, isDue };
}

const BLANK: RelatedState = Object.freeze({
  body: undefined,
  stamps: [],
  children: undefined,
  digest: undefined,
  stored: undefined,
  failures: 0,
  failingSince: undefined,
  dueAt: undefined,
  pacedUntil: undefined,
  isPending: false,
});

function lookAtObject(scene: Scene, handler: ReconcileHandler, cause: RelatedCause): Look {
  const { body, known, parts } = scene;
  const now = parts.clock.now();
  const before = known.related.get(handler.id);
  const stamps = stampsOf(scene, handler);
  const reasons = new Set<ReconcileReason>();
  const isFirst = before?.body === undefined;
  if (isFirst) reasons.add('first');
  const isChanged = !isFirst && isOther(scene, before.body, body);
  if (isChanged) reasons.add('changed');
  for (const [n, stamp] of stamps.entries()) {
    if (isFirst || stamp.any === before.stamps[n]?.any) continue;
    reasons.add(n < handler.owns.length ? 'owned' : 'watched');
  }
  if (before?.dueAt !== undefined && before.dueAt <= now) reasons.add(before.failures > 0 ? 'retried' : 'requeued');
  const state: RelatedState = { ...(before ?? BLANK), body };
  if (reasons.size === 0) return { handler, state, cause, isDue: false };
  const isUrgent = isFirst || isChanged;
  const waiting = waitingFor(scene, state, stamps, isUrgent || reasons.has('retried'), isUrgent);
  if (waiting !== undefined) {
    // Any change still differs from what was seen when it becomes due.
    const later = putOff({ ...state, body: before?.body }, now, waiting);
    return { handler, state: later, cause, isDue: false, delay: waiting };
  }
  const pacedUntil = isUrgent ? state.pacedUntil : Math.max(now, state.pacedUntil ?? now) + 1;
  return { handler, state: { ...state, stamps, pacedUntil }, cause: { ...cause, reasons }, isDue: true };
}

/** It is due, but must wait for something else: until then, it is not checked again and again. */
function putOff(state: RelatedState, now: Seconds, waiting: Seconds): RelatedState {
  return state.dueAt !== undefined && state.dueAt <= now ? { ...state, dueAt: now + waiting } : state;
}

/** How long to hold it back, though there is something new: `undefined` if it may be called at once. */
function waitingFor(
  { known, parts, localLogger }: Scene,
  state: RelatedState,
  stamps: RelatedState['stamps'],
  isExempt: boolean,
  isUrgent: boolean,
): Seconds | undefined {
  const now = parts.clock.now();
  const broken = timeLeft(known.breaker, now);
  if (broken !== undefined) return broken;
  // After a failure, only changes by others justify a call before the retry is due.
  const isByOthers = stamps.some(({ others }, n) => others !== state.stamps[n]?.others);
  if (state.failures > 0 && !isUrgent && !isByOthers && (state.dueAt ?? 0) > now) return (state.dueAt ?? 0) - now;
  if (isExempt) return undefined;
  const left = (state.pacedUntil ?? now) - now - (BURST - 1);
  if (left <= 0) return undefined;
  localLogger.debug(
    `The children change faster than the handlers are called. The next call is in ${left.toFixed(1)} s.`,
  );
  return left;
}

function isOther({ essenceOf }: Scene, before: Body, now: Body): boolean {
  if (before === now || before.metadata?.resourceVersion === now.metadata?.resourceVersion) return false;
  return !deepEqual(essenceOf(before), essenceOf(now));
}

function stampsOf({ parts, body }: Scene, handler: RelatedHandler): RelatedState['stamps'] {
  const { relations } = parts;
  if (relations === undefined) return BLANK.stamps;
  return relationsOf(handler).map((relation) => relations.stamp(relation, body));
}

/** The digest stored by the previous operator process. */
function firstLookAtChildren(scene: Scene, handler: ChildHandler, cause: RelatedCause): Awaitable<RelatedState> {
  const { known, storages, subject } = scene;
  const body = bodyForStorages(scene.body, known.unsavable);
  const fetched = storages.progressStorage.fetch({ key: markOf(handler), body, malformed: subject.malformed });
  const withStored = (stored: string | undefined): RelatedState => {
    const children = childrenIn(cause, handler);
    const digest = digestOfChildren(children, handler.fields);
    const common: RelatedState = { ...BLANK, digest: stored, stored };
    // Without a stored digest, the handler was never called: everything is new.
    if (stored === undefined) return { ...common, children: [] };
    return stored === digest
      ? { ...common, children, stamps: stampsOf(scene, handler) }
      : { ...common, isPending: true };
  };
  if (isThenable(fetched)) {
    return Promise.resolve(fetched as PromiseLike<ProgressRecord | undefined>).then((record) =>
      withStored(record?.digest ?? undefined),
    );
  }
  return withStored((fetched as ProgressRecord | undefined)?.digest ?? undefined);
}

function lookAtChildren(scene: Scene, handler: ChildHandler, cause: RelatedCause, before: RelatedState): Look {
  const now = scene.parts.clock.now();
  const stamps = stampsOf(scene, handler);
  const isRetried = before.failures > 0 && (before.dueAt ?? 0) <= now;
  const isSame = stamps[0]?.any === before.stamps[0]?.any && !before.isPending && !isRetried;
  if (isSame) return { handler, state: before, cause, isDue: false };
  const children = childrenIn(cause, handler);
  const changes = before.children === undefined ? [] : changesBetween(before.children, children, handler.fields);
  // What has changed does not matter, or was changed back.
  if (changes.length === 0 && !before.isPending) {
    const state = { ...before, children, stamps, failures: 0, failingSince: undefined, dueAt: undefined };
    return { handler, state, cause, isDue: false };
  }
  const waiting = waitingFor(scene, before, stamps, isRetried, false);
  if (waiting !== undefined) {
    return { handler, state: putOff(before, now, waiting), cause, isDue: false, delay: waiting };
  }
  const pacedUntil = Math.max(now, before.pacedUntil ?? now) + 1;
  const { relation } = handler;
  const reasons = new Set<ReconcileReason>(['owned', ...(isRetried ? (['retried'] as const) : [])]);
  const own: RelatedCause = { ...cause, reasons, relation, changes, initial: before.children === undefined };
  return { handler, state: { ...before, stamps, pacedUntil }, cause: own, isDue: true };
}

function childrenIn(cause: RelatedCause, { relation }: ChildHandler): readonly Body[] {
  return cause.children?.(cause, relation) ?? [];
}

function changesBetween(before: readonly Body[], now: readonly Body[], fields: ChildHandler['fields']): ChildChange[] {
  if (before === now) return [];
  const left = new Map(before.map((child) => [objectKey(child), child]));
  const changes: ChildChange[] = [];
  for (const child of now) {
    const known = left.get(objectKey(child));
    left.delete(objectKey(child));
    if (known === undefined) changes.push({ type: 'created', child });
    else if (hasChanged(known, child, fields)) changes.push({ type: 'changed', child });
  }
  for (const child of left.values()) changes.push({ type: 'gone', child });
  return changes;
}

function hasChanged(before: Body, now: Body, fields: readonly FieldPath[] | undefined): boolean {
  if (before === now) return false;
  if (fields !== undefined) {
    return fields.some((field) => !deepEqual(resolveField(before, field), resolveField(now, field)));
  }
  return !deepEqual(withoutVersion(before), withoutVersion(now));
}

function withoutVersion(body: Body): unknown {
  const { resourceVersion: _, ...metadata } = body.metadata ?? {};
  return { ...body, metadata };
}

/** Undefined if there are no children: then nothing needs to be stored. */
function digestOfChildren(children: readonly Body[], fields: ChildHandler['fields']): string | undefined {
  if (children.length === 0) return undefined;
  const seen = children.map((child) => {
    const { generation, resourceVersion } = child.metadata ?? {};
    const content = fields?.map((field) => resolveField(child, field) ?? null) ?? [generation ?? resourceVersion ?? ''];
    return [objectKey(child), ...content];
  });
  return digestAt(
    seen.sort(([one], [two]) => (String(one) < String(two) ? -1 : 1)),
    [],
  );
}

async function call(scene: Scene, { handler, state, cause }: Look, ledger: Ledger): Promise<RelatedState> {
  const { parts, subject, signal, patch } = scene;
  const { settings, clock, poster, random, facts, tracing } = parts;
  const { failures, failingSince } = state;
  const since = failingSince ?? { started: clock.utc(), at: clock.now() };
  const attempt = { retries: failures, started: since.started, runtime: clock.now() - since.at };
  const execution: Execution = {
    cause,
    settings,
    clock,
    poster,
    random,
    facts,
    tracing,
    signal,
    ledger,
    calls: subject,
  };
  const children = handler.kind === 'child' ? childrenIn(cause, handler) : undefined;
  const note = ledger.watch(handler, patch, failures);
  const outcome = await executeHandler(handler, attempt, execution);
  note();
  return stateAfter(scene, handler, { ...state, failingSince: since }, outcome, children);
}

function stateAfter(
  scene: Scene,
  handler: RelatedHandler,
  state: RelatedState,
  outcome: Outcome,
  children: readonly Body[] | undefined,
): RelatedState {
  const now = scene.parts.clock.now();
  if (!outcome.final) return { ...state, failures: state.failures + 1, dueAt: now + (outcome.delay ?? 0) };
  const over: RelatedState = { ...state, failures: 0, failingSince: undefined, dueAt: undefined, isPending: false };
  if (handler.kind === 'child') {
    return { ...over, children, digest: digestOfChildren(children ?? [], handler.fields) };
  }
  const requeueAfter = 'result' in outcome ? requeueIn(scene, handler, outcome.result) : undefined;
  if (requeueAfter === undefined) return over;
  return { ...over, dueAt: now + requeueAfter, isPending: true };
}

function requeueIn({ localLogger }: Scene, handler: RelatedHandler, result: unknown): Seconds | undefined {
  if (result === undefined || result === null) return undefined;
  const after: unknown = isMapping(result) ? result['requeueAfter'] : result;
  if (isMapping(result) && after === undefined) return undefined;
  if (typeof after === 'number' && Number.isFinite(after) && after >= 0 && isMapping(result)) return after;
  localLogger.error(
    `${titleOf(handler)} returned an unsupported value, which is ignored. Return nothing, or { requeueAfter: seconds }.`,
  );
  return undefined;
}

/** What the cluster refused has not happened: the handlers try again. */
export function afterRefusals(
  related: Known['related'],
  refusals: ReadonlyMap<HandlerId, Outcome>,
  now: Seconds,
): Known['related'] {
  if (refusals.size === 0 || ![...refusals.keys()].some((id) => related.has(id))) return related;
  return new Map(
    [...related].map(([id, state]) => {
      const outcome = refusals.get(id);
      if (outcome === undefined || outcome.final) return [id, state];
      const failingSince = state.failingSince ?? { started: new Date(0), at: now };
      const dueAt = now + (outcome.delay ?? 0);
      return [
        id,
        { ...state, failures: state.failures + 1, failingSince, dueAt, digest: state.stored, isPending: true },
      ];
    }),
  );
}

/** Adds the digests that are not stored yet to the marks. Returns what is known once they are stored. */
export function storeDigests(scene: Scene, related: Known['related'], marks: Patch): Awaitable<Known['related']> {
  const { parts, resource, storages, known, eventType } = scene;
  const handlers = parts.registry.handlers.related.of(resource).filter((handler) => handler.kind === 'child');
  const changed = handlers.filter(({ id }) => {
    const state = related.get(id);
    return state !== undefined && state.digest !== state.stored;
  });
  if (changed.length === 0 || eventType === 'DELETED') return related;
  const body = bodyForStorages(newestBody(scene), known.unsavable);
  const { progressStorage } = storages;
  const store = async (): Promise<Known['related']> => {
    const after = new Map(related);
    for (const handler of changed) {
      const state = related.get(handler.id) as RelatedState;
      const place = { key: markOf(handler), body, patch: marks };
      const { digest } = state;
      if (digest === undefined) await progressStorage.purge(place);
      else await progressStorage.store({ ...place, record: { success: true, purpose: 'children', digest } });
      after.set(handler.id, { ...state, stored: digest });
    }
    return after;
  };
  return store();
}

/** The key of the digest among the marks: change handlers cannot have such ids. */
function markOf({ id }: ChildHandler): HandlerId {
  return `children/${id}` as HandlerId;
}
