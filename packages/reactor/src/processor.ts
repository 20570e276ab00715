/** One cycle of one object: from what has happened to it, through all its handlers, to the patch of it. */
import {
  type AnyObject,
  ApiError,
  type Body,
  type DiffBaseStorage,
  type Essence,
  type FieldPath,
  formatTimestamp,
  KopfError,
  type Logger,
  Patch,
  type ProgressStorage,
  type Resource,
  type Seconds,
} from '@kopf-ts/core';
import {
  allowDeletion,
  blockDeletion,
  type ChangingCause,
  type Comparison,
  compareEssences,
  decideBlocking,
  decideNext,
  detectChange,
  extraFields,
  isDeletionBlocked,
  isDeletionOngoing,
  isInScope,
  mustBlockDeletion,
  objectLogger,
  type PatchOutcome,
  type SpawningCause,
  type ToggleView,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { ApplyFn } from './applier.js';
import { type ChangingResult, handleChanging } from './handling/changing.js';
import { handleSpawning, type RunningDaemons } from './handling/spawning.js';
import { handleWatching } from './handling/watching.js';
import type { ObjectMemory } from './memories.js';
import { applyWithinLimits, bodyForStorages, isTooLarge } from './oversize.js';
import type { OperatorParts } from './parts.js';
import type { CycleResult, Work } from './worker.js';

export interface ProcessorParts extends OperatorParts {
  readonly apply: ApplyFn;
  readonly paused: ToggleView;
  readonly daemons: RunningDaemons;
}

export interface CycleOptions extends Work {
  readonly resource: Resource;
  readonly memory: ObjectMemory;
  readonly signal: AbortSignal;
}

/** Processes what has happened. Rejects with errors of the framework and of the cluster, and of users' filters. */
export type Processor = (options: CycleOptions) => Promise<CycleResult>;

interface Storages {
  readonly progressStorage: ProgressStorage;
  readonly diffbaseStorage: DiffBaseStorage;
}

export function processor(parts: ProcessorParts): Processor {
  const fieldsOf = extraFieldsCache(parts);

  return async (options) => {
    const { resource, memory, signal, events, state } = options;
    const body = state?.body ?? events.at(-1)?.object;
    if (body === undefined) return {};
    const cycle = newCycle(parts, options, body);
    if (memory.daemons.live !== undefined && state !== undefined) memory.daemons.live.replace(body);
    if (options.isToTouch) return await touch(cycle);

    const hasRemaining = memory.remaining !== undefined;
    for (const event of events) {
      const { patch, localLogger: logger } = cycle;
      const common = { resource, memo: memory.memo, logger, patch, ...cycle.ofOperator };
      await handleWatching(parts, { ...common, kind: 'watching', event, body: event.object }, signal);
    }
    if (state === undefined) return await apply(cycle, [], undefined);

    const decided = await decideOnState(cycle, fieldsOf(resource));
    const delays = [...decided.delays];
    let changing: ChangingResult | undefined;
    // What is left from before is to be sent first: the handlers would see the object without it.
    if (decided.changing !== undefined && !hasRemaining) {
      const { changing: cause, storages, storedBody } = decided;
      changing = await handleChanging(parts, { ...storages, cause, memory, storedBody, signal });
      delays.push(...changing.delays);
    }
    const isPostponed = decided.changing !== undefined && hasRemaining;
    if (decided.isHeldUntilDone && delays.length === 0 && !isPostponed) {
      cycle.localLogger.debug('Removing the finalizer, thus allowing the actual deletion.');
      cycle.patch.fns.push(allowDeletion(parts.settings.persistence.finalizer));
    }
    const result = await apply(cycle, delays, changing);
    // If there was nothing to send after all, no answer comes to go on with.
    const isToGoOn = isPostponed && result.answer === undefined && memory.remaining === undefined;
    return isToGoOn ? { ...result, delay: 0, byTouching: false } : result;
  };
}

/** What all steps of one cycle need. */
interface Cycle {
  readonly parts: ProcessorParts;
  readonly resource: Resource;
  readonly memory: ObjectMemory;
  readonly eventType: WatchedEvent['type'];
  readonly body: AnyObject;
  readonly patch: Patch;
  readonly signal: AbortSignal;
  /** Of those who do not post what they log as events of Kubernetes. */
  readonly localLogger: Logger;
  /** The same in all causes. */
  readonly ofOperator: Pick<ChangingCause, 'client' | 'indices'>;
}

function newCycle(parts: ProcessorParts, options: CycleOptions, body: AnyObject): Cycle {
  const { client, indices, logger } = parts;
  const { resource, memory, signal, state } = options;
  return {
    parts,
    resource,
    memory,
    signal,
    body,
    eventType: state?.type ?? null,
    patch: new Patch(memory.remaining, { body }),
    localLogger: objectLogger({ logger, body }),
    ofOperator: { client, ...(indices === undefined ? {} : { indices }) },
  };
}

interface Decided {
  /** Of daemons that are being stopped. */
  readonly delays: readonly Seconds[];
  /** Absent if change handlers have nothing to do, or have to wait for the finalizer. */
  readonly changing: ChangingCause | undefined;
  /** Our finalizer is to be removed when nobody needs the object any more. */
  readonly isHeldUntilDone: boolean;
  readonly storages: Storages;
  readonly storedBody: Body;
}

/** Finds out what has changed and who is concerned; runs daemons; adds or removes the finalizer. */
async function decideOnState(cycle: Cycle, fields: readonly FieldPath[]): Promise<Decided> {
  const { parts, resource, memory, body, patch, eventType, ofOperator } = cycle;
  const { registry, settings, poster } = parts;
  const { handlers } = registry;
  const { finalizer } = settings.persistence;
  const storages = storagesOf(parts);
  const storedBody = bodyForStorages(body, memory);
  const none = { delays: [], changing: undefined, isHeldUntilDone: false, storages, storedBody };
  const isSpawned = handlers.spawning.of(resource).length > 0;
  const isChanged = handlers.changing.of(resource).length > 0;
  if (!isSpawned && !isChanged) return none;

  const logger = objectLogger({ logger: parts.logger, body, posting: { settings, poster } });
  const common = { resource, body, patch, memo: memory.memo, logger, ...ofOperator };
  const { comparison, essence } = await compare(cycle, storages, storedBody, fields);

  let spawning: SpawningCause | undefined;
  let delays: readonly Seconds[] = [];
  if (isSpawned) {
    spawning = { ...common, kind: 'spawning', reset: comparison.diff.length > 0 };
    const { apply, paused, daemons } = parts;
    delays = await handleSpawning({ parts, apply, paused, daemons, memory, eventType, cause: spawning });
  }

  let changing: ChangingCause | undefined;
  if (isChanged) {
    const initial = memory.isNoticedByListing && !memory.isHandledOnce;
    const detected = detectChange({ event: { type: eventType }, body, finalizer, comparison, initial });
    const { diff, old } = comparison;
    changing = { ...common, ...detected, kind: 'changing', diff, old, new: essence };
    if (!isInScope(handlers, changing)) changing = undefined;
  }

  const isDeleted = eventType === 'DELETED';
  const blocking = decideBlocking({
    deletionMustBeBlocked: mustBlockDeletion(handlers, {
      spawning,
      changing,
      foreverStopped: memory.daemons.foreverStopped,
    }),
    deletionIsBlocked: isDeletionBlocked(body, finalizer),
    deletionIsOngoing: isDeletionOngoing(body),
  });
  if (!isDeleted && blocking === 'block') {
    logger.debug('Adding the finalizer, thus preventing the actual deletion.');
    patch.fns.push(blockDeletion(finalizer));
    changing = undefined;
  }
  if (!isDeleted && blocking === 'release') {
    logger.debug('Removing the finalizer, as there are no handlers requiring it.');
    patch.fns.push(allowDeletion(finalizer));
    changing = undefined;
  }
  const isHeldUntilDone = !isDeleted && blocking === 'release-when-done';
  return { delays, changing, isHeldUntilDone, storages, storedBody };
}

/** With the last handled state; if that was stripped off the object, then with what is remembered of it. */
async function compare(
  cycle: Cycle,
  { progressStorage, diffbaseStorage }: Storages,
  storedBody: Body,
  fields: readonly FieldPath[],
): Promise<{ readonly comparison: Comparison; readonly essence: Essence }> {
  const { parts, resource, memory, body, patch } = cycle;
  const { malformed } = memory;
  const fetched = await diffbaseStorage.fetch({ body: storedBody, resource, malformed });
  const stored = fetched && progressStorage.clear(fetched);
  const essence = progressStorage.clear(diffbaseStorage.build({ body, extraFields: fields, resource }));
  const isStripped = stored === undefined && memory.handled !== undefined;
  if (!isStripped || parts.settings.persistence.compat === 'kopf' || isDeletionOngoing(body)) {
    return { comparison: compareEssences(stored, essence), essence };
  }
  reportStripping(cycle);
  const restored = memory.handled as Essence;
  if (cycle.eventType !== 'DELETED') {
    await diffbaseStorage.store({ essence: restored, body: storedBody, patch, resource });
  }
  return { comparison: compareEssences(restored, essence), essence };
}

function reportStripping({ memory, localLogger }: Cycle): void {
  memory.strippings += 1;
  if (memory.strippings === 1) {
    localLogger.info('The last handled state was removed from the object by someone else. It is restored.');
  } else if (memory.strippings === 2) {
    localLogger.warn(
      'The last handled state is removed from the object again and again by someone else; it is restored each time. ' +
        'Whoever replaces the whole object should keep its annotations.',
    );
  }
}

/** Sends the patch, and decides how to go on. */
async function apply(
  cycle: Cycle,
  delays: readonly Seconds[],
  changing: ChangingResult | undefined,
): Promise<CycleResult> {
  const { parts, memory, body, patch, localLogger, eventType } = cycle;
  const { compat } = parts.settings.persistence;
  memory.remaining = undefined;
  // Nothing to patch any more; but daemons can still be on their way out.
  if (eventType === 'DELETED') return delays.length > 0 ? { delay: Math.min(...delays) } : {};
  const outcome = patch.isEmpty ? {} : await send(cycle, changing?.handled);
  if (outcome.missing) return {};
  memory.remaining = outcome.remaining;

  const patched =
    outcome.body !== undefined && outcome.body.metadata?.resourceVersion !== body.metadata?.resourceVersion;
  const next = decideNext({ delay: delays.length > 0 ? Math.min(...delays) : undefined, patched, compat });
  if ('log' in next && next.log && (next.action !== 'finish' || changing !== undefined)) localLogger.debug(next.log);
  const isVanishing = outcome.resourceVersion !== undefined && outcome.resourceVersion !== versionIn(outcome.body);
  const answer = patched ? outcome.body : undefined;
  if (next.action === 'sleep') {
    return { answer, isVanishing, delay: next.seconds, byTouching: next.awakening === 'touch' };
  }
  if (next.action === 'again' || next.action === 'touch') {
    return { answer, isVanishing, delay: 0, byTouching: next.action === 'touch' };
  }
  return { answer, isVanishing };
}

async function send(cycle: Cycle, handled: Essence | undefined): Promise<PatchOutcome> {
  const { parts, resource, memory, body, patch, localLogger: logger } = cycle;
  const { progressStorage, diffbaseStorage } = storagesOf(parts);
  const { compat } = parts.settings.persistence;
  const storedBody = bodyForStorages(body, memory);
  await progressStorage.touch({ value: null, body: storedBody, patch });
  try {
    if (compat === 'kopf') return await parts.apply({ resource, body, patch, logger });
    return await applyWithinLimits({
      apply: parts.apply,
      resource,
      body,
      patch,
      logger,
      memory,
      handled,
      storeHandled: async (essence, to) => {
        await diffbaseStorage.store({ essence, body: storedBody, patch: to, resource });
      },
    });
  } catch (error) {
    // The handlers have done their work: it is to be remembered as soon as the cluster is well again.
    if (compat === undefined && isPassing(error)) memory.remaining = new Patch(patch);
    throw error;
  }
}

/** Whether the same patch can succeed later: it is not about what is in it. */
function isPassing(error: unknown): boolean {
  if (isTooLarge(error)) return false;
  return !(error instanceof ApiError) || error.status >= 500 || [401, 403, 408, 429].includes(error.status);
}

function versionIn(body: AnyObject | undefined): string | undefined {
  return body?.metadata?.resourceVersion;
}

/** Changes anything in the object, so that an event of it comes back: as Kopf wakes itself up. */
async function touch({ parts, resource, body, localLogger: logger }: Cycle): Promise<CycleResult> {
  const patch = new Patch(undefined, { body });
  const { progressStorage } = storagesOf(parts);
  await progressStorage.touch({ value: formatTimestamp(parts.clock.utc()), body, patch });
  // Not the same as sending nothing: the handlers are due, whatever became of the touch.
  const { body: answer, missing } = await parts.apply({ resource, body, patch, logger });
  return missing ? {} : { answer, ...(answer === undefined ? { delay: 0 } : {}) };
}

function storagesOf({ settings }: OperatorParts): Storages {
  const { progressStorage, diffbaseStorage } = settings.persistence;
  if (progressStorage !== undefined && diffbaseStorage !== undefined) return { progressStorage, diffbaseStorage };
  throw new KopfError(
    'There is no storage for the progress of handlers and for the last handled states of objects. Set both ' +
      'settings.persistence.progressStorage and settings.persistence.diffbaseStorage: e.g. to those of @kopf-ts/storage.',
    { code: 'KOPF_NO_STORAGE' },
  );
}

/** They depend on the handlers of a kind only, and handlers are not declared every moment. */
function extraFieldsCache({ registry }: OperatorParts): (resource: Resource) => readonly FieldPath[] {
  const { watching, changing, spawning } = registry.handlers;
  const known = new WeakMap<Resource, { readonly of: readonly object[]; readonly fields: readonly FieldPath[] }>();
  return (resource) => {
    // These lists are remade only if something is declared.
    const of = [watching.of(resource), changing.of(resource), spawning.of(resource)];
    const cached = known.get(resource);
    if (cached?.of.every((list, index) => list === of[index])) return cached.fields;
    const fields = extraFields(registry.handlers, resource);
    known.set(resource, { of, fields });
    return fields;
  };
}
