/** One cycle of one object: from what has happened to it, through all its handlers, to the patch of it. */
import type { Body, Essence, FieldPath, Patch, PatchFn, Resource, Seconds } from '@kopf-ts/core';
import {
  allowDeletion,
  blockDeletion,
  type ChangingCause,
  type Comparison,
  compareEssences,
  decideBlocking,
  detectChange,
  extraFields,
  isDeletionBlocked,
  isDeletionOngoing,
  isInScope,
  isThenable,
  mustBlockDeletion,
  objectLogger,
  type SpawningCause,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import { type ChangingResult, handleChanging } from './changing.js';
import { conclude, touch } from './concluding.js';
import { type Cycle, type CycleOptions, newCycle, type ProcessorParts, type Storages, storagesOf } from './cycle.js';
import { foreseeing } from './foreseeing.js';
import { bodyForStorages } from './oversize.js';
import { handleSpawning } from './spawning.js';
import { handleWatching } from './watching.js';
import type { CycleResult } from './work.js';

/** Processes what has happened. Rejects with errors of the framework and of the cluster, and of users' filters. */
export type Processor = (options: CycleOptions) => Promise<CycleResult>;

export function processor(parts: ProcessorParts): Processor {
  const fieldsOf = extraFieldsCache(parts);
  const finalizing = finalizerFns(parts);

  return async (options) => {
    const { resource, memory, signal, events, state } = options;
    const body = state?.body ?? events.at(-1)?.object;
    if (body === undefined) return {};
    const cycle = newCycle(parts, options, body);
    if (state !== undefined) memory.knownDaemons?.live?.replace(body);
    if (options.isToTouch) return await touch(cycle);

    if (events.length > 0) await handleEvents(cycle, events);
    if (state === undefined) return await conclude(cycle, [], undefined);

    const decided = await decideOnState(cycle, fieldsOf(resource), finalizing());
    const delays = [...decided.delays];
    let changing: ChangingResult | undefined;
    // What is left from before is to be sent first: the handlers would see the object without it.
    if (decided.changing !== undefined && !cycle.hasRemaining) {
      const { changing: cause, storages, storedBody } = decided;
      changing = await handleChanging(parts, { ...storages, cause, memory, storedBody, signal });
      delays.push(...changing.delays);
    }
    const isPostponed = decided.changing !== undefined && cycle.hasRemaining;
    if (decided.isHeldUntilDone && delays.length === 0 && !isPostponed) {
      cycle.localLogger.debug('Removing the finalizer, thus allowing the actual deletion.');
      finalize(cycle.patch, finalizing(), 'allow');
    }
    const { isMissing, ...result } = await conclude(cycle, delays, changing);
    // If there was nothing to send after all, no answer comes to go on with. And with what vanishes, it is all over.
    const isToGoOn = isPostponed || (decided.isBeingBlocked && memory.unsavable !== undefined);
    const isOver = isMissing || result.isVanishing;
    const isStuck = isToGoOn && !isOver && result.answer === undefined && memory.remaining === undefined;
    return isStuck ? { ...result, delay: 0, byTouching: false } : result;
  };
}

/** Each of them is for the handlers of events, even if a filter of theirs has failed on another one. */
async function handleEvents(cycle: Cycle, events: readonly WatchedEvent[]): Promise<void> {
  const { parts, resource, memory, patch, signal, localLogger: logger, ofOperator } = cycle;
  const common = { resource, memo: memory.memo, logger, patch, ...ofOperator };
  const errors: unknown[] = [];
  for (const event of events) {
    try {
      await handleWatching(parts, { ...common, kind: 'watching', event, body: event.object }, signal);
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

interface Decided {
  /** Of daemons that are being stopped. */
  readonly delays: readonly Seconds[];
  /** Absent if change handlers have nothing to do, or have to wait for the finalizer. */
  readonly changing: ChangingCause | undefined;
  /** Our finalizer is to be put on it first. */
  readonly isBeingBlocked: boolean;
  /** Our finalizer is to be removed when nobody needs the object any more. */
  readonly isHeldUntilDone: boolean;
  readonly storages: Storages;
  readonly storedBody: Body;
}

/** Finds out what has changed and who is concerned; runs daemons; adds or removes the finalizer. */
async function decideOnState(cycle: Cycle, fields: readonly FieldPath[], finalizing: FinalizerFns): Promise<Decided> {
  const { parts, resource, memory, body, patch, eventType, ofOperator } = cycle;
  const { registry, settings, poster } = parts;
  const { handlers } = registry;
  const { finalizer } = settings.persistence;
  const storages = storagesOf(parts);
  const storedBody = bodyForStorages(body, memory);
  const isSpawned = handlers.spawning.of(resource).length > 0;
  const isChanged = handlers.changing.of(resource).length > 0;
  if (!isSpawned && !isChanged) {
    return { delays: [], changing: undefined, isBeingBlocked: false, isHeldUntilDone: false, storages, storedBody };
  }

  const logger = objectLogger({ logger: parts.logger, body, posting: { settings, poster } });
  const common = { resource, body, patch, memo: memory.memo, logger, ...ofOperator };
  const essenceOf = (body: Body): Essence =>
    storages.progressStorage.clear(storages.diffbaseStorage.build({ body, extraFields: fields, resource }));
  const essence = essenceOf(body);
  const comparison = await compare(cycle, storages, storedBody, essence);

  let spawning: SpawningCause | undefined;
  let delays: readonly Seconds[] = [];
  if (isSpawned) {
    spawning = { ...common, kind: 'spawning', reset: comparison.diff.length > 0 };
    const { apply, paused, daemons } = parts;
    const onExit = cycle.comeBack;
    delays = await handleSpawning({ parts, apply, paused, daemons, memory, eventType, cause: spawning, onExit });
  }

  let changing: ChangingCause | undefined;
  if (isChanged) {
    const initial = memory.isNoticedByListing && !memory.isHandledOnce;
    const detected = detectChange({ event: { type: eventType }, body, finalizer, comparison, initial });
    const { diff, old } = comparison;
    const isStatusSeen = fields.some(([stanza]) => stanza === 'status');
    const foresee = foreseeing({ body, patch, essenceOf, isStatusSeen });
    changing = { ...common, ...detected, kind: 'changing', diff, old, new: essence, foresee };
    if (!isInScope(handlers, changing)) changing = undefined;
  }

  const isDeleted = eventType === 'DELETED';
  const blocking = decideBlocking({
    deletionMustBeBlocked: mustBlockDeletion(handlers, {
      spawning,
      changing,
      foreverStopped: memory.knownDaemons?.foreverStopped,
    }),
    deletionIsBlocked: isDeletionBlocked(body, finalizer),
    deletionIsOngoing: isDeletionOngoing(body),
  });
  // There is no room for a finalizer: then it is better to handle the object without it than not to handle it at all.
  const isBeingBlocked = !isDeleted && blocking === 'block' && memory.unsavable === undefined;
  if (isBeingBlocked) {
    logger.debug('Adding the finalizer, thus preventing the actual deletion.');
    finalize(patch, finalizing, 'block');
    changing = undefined;
  }
  if (!isDeleted && blocking === 'release') {
    logger.debug('Removing the finalizer, as there are no handlers requiring it.');
    finalize(patch, finalizing, 'allow');
    changing = undefined;
  }
  const isHeldUntilDone = !isDeleted && blocking === 'release-when-done';
  return { delays, changing, isBeingBlocked, isHeldUntilDone, storages, storedBody };
}

/** With the last handled state; if that was stripped off the object, then with what is remembered of it. */
async function compare(
  cycle: Cycle,
  { progressStorage, diffbaseStorage }: Storages,
  storedBody: Body,
  essence: Essence,
): Promise<Comparison> {
  const { parts, resource, memory, body, patch, hasRemaining } = cycle;
  const { malformed } = memory;
  const fetching = diffbaseStorage.fetch({ body: storedBody, resource, malformed });
  const fetched = isThenable(fetching) ? await fetching : fetching;
  const stored = fetched && progressStorage.clear(fetched);
  // What is not yet sent, could not be removed by anyone.
  const isStripped = stored === undefined && memory.handled !== undefined && !hasRemaining;
  if (!isStripped || parts.settings.persistence.compat === 'kopf' || isDeletionOngoing(body)) {
    return compareEssences(stored, essence);
  }
  reportStripping(cycle);
  const restored = memory.handled as Essence;
  if (cycle.eventType !== 'DELETED') {
    await diffbaseStorage.store({ essence: restored, body: storedBody, patch, resource });
  }
  return compareEssences(restored, essence);
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

interface FinalizerFns {
  readonly block: PatchFn;
  readonly allow: PatchFn;
}

/** Always the same ones, so that those remaining from a conflict are recognised, and do not pile up. */
function finalizerFns({ settings }: OperatorParts): () => FinalizerFns {
  let known: (FinalizerFns & { readonly finalizer: string }) | undefined;
  return () => {
    const { finalizer } = settings.persistence;
    if (known?.finalizer !== finalizer) {
      known = { finalizer, block: blockDeletion(finalizer), allow: allowDeletion(finalizer) };
    }
    return known;
  };
}

/** What was decided before, and remained from a conflict, is overruled. */
function finalize({ fns }: Patch, finalizing: FinalizerFns, decision: keyof FinalizerFns): void {
  const others = fns.filter((fn) => fn !== finalizing.block && fn !== finalizing.allow);
  fns.splice(0, fns.length, ...others, finalizing[decision]);
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
