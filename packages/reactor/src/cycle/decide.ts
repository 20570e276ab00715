/** Decides what to do with an object in its present state. Nothing is called, spawned or written here. */
import type { Awaitable, Essence } from '@kopf-ts/core';
import {
  type ChangeHandler,
  type ChangingCause,
  type Comparison,
  compareEssences,
  decideBlocking,
  detectChange,
  digestAt,
  isDeletionBlocked,
  isDeletionOngoing,
  isInScope,
  isThenable,
  mustBlockDeletion,
  NO_FACTS,
  objectLogger,
  type RelatedCause,
  type SpawningCause,
  tellerOfConsidered,
} from '@kopf-ts/core/engine';
import type { LastHandled } from '../objects/known.js';
import { followMarks, writesUntil } from '../objects/news.js';
import { tellCause } from '../observing/object-facts.js';
import { unfinishedHandlers } from './handling.js';
import { relatedCauseOf } from './related.js';
import { bodyForStorages, type Scene } from './scene.js';

/** The object compared with its last handled state. */
export interface Compared {
  readonly essence: Essence;
  readonly comparison: Comparison;
  /** The last handled state to restore, if it was stripped off the object. */
  readonly restored: Essence | undefined;
  /** The state that counts as handled by now. */
  readonly handled: LastHandled | undefined;
}

export interface Decision {
  /** Absent if there are no daemons or timers for the kind. */
  readonly spawning: SpawningCause | undefined;
  /** Absent if no handlers reconcile the object and its children, or if they have to wait for the finalizer. */
  readonly related: RelatedCause | undefined;
  /** Absent if the change handlers have nothing to do, or have to wait for the finalizer. */
  readonly changing: ChangingCause | undefined;
  readonly finalizer: 'block' | 'allow' | undefined;
  /** Our finalizer is removed when no handler needs the object any more. */
  readonly isHeldUntilDone: boolean;
}

/** Uses the last handled state; if that was stripped off the object, uses what is known of it. */
export function compare(scene: Scene): Awaitable<Compared> {
  const { resource, subject, body, known, storages } = scene;
  const storedBody = bodyForStorages(body, known.unsavable);
  const fetched = storages.diffbaseStorage.fetch({ body: storedBody, resource, malformed: subject.malformed });
  if (!isThenable(fetched)) return comparedWith(fetched, scene);
  return Promise.resolve(fetched).then((stored) => comparedWith(stored, scene));
}

function comparedWith(fetched: Essence | undefined, scene: Scene): Compared {
  const { body, known, isCompat } = scene;
  const essence = scene.essenceOf(body);
  const stored = fetched && scene.storages.progressStorage.clear(fetched);
  // Nobody can have removed what was not sent yet, and nothing is kept for deleted objects.
  const isStripped = stored === undefined && known.handled !== undefined && known.unsent === undefined;
  const isLeaving = isDeletionOngoing(body) || scene.eventType === 'DELETED';
  const restored = isStripped && !isCompat && !isLeaving ? known.handled?.essence : undefined;
  const comparison = compareEssences(restored ?? stored, essence);
  if (comparison.diff.length === 0) return { essence, comparison, restored, handled: known.handled };
  const handled = handledByNow(scene);
  // What the server derives from our own marks needs no handling.
  const isOwn =
    handled?.digest !== undefined &&
    handled.digest === digestAt(essence, []) &&
    digestAt(handled.essence, []) === digestAt(restored ?? stored, []);
  return { essence, comparison: isOwn ? { ...comparison, diff: [] } : comparison, restored, handled };
}

/** The last handled state, and what our own marks made of it. */
function handledByNow({ known, body, essenceOf }: Scene): LastHandled | undefined {
  const { handled } = known;
  const writes = writesUntil(known.writes, body);
  if (handled === undefined || (writes.length === 0 && handled.digest === undefined)) return handled;
  const stored = digestAt(handled.essence, []);
  const seen = { stored, digest: handled.digest ?? stored, path: [], version: handled.version };
  const { digest, version } = followMarks(seen, writes, essenceOf);
  return { essence: handled.essence, digest: digest === stored ? undefined : digest, version };
}

/** Returns a promise only if the storages do; they are asked only if no handler wants the object any more. */
export function decide(scene: Scene, { essence, comparison }: Compared): Awaitable<Decision> {
  const { parts, resource, subject, body, patch, eventType, known } = scene;
  const { registry, settings, poster, client, apiFor, indices, children, facts = NO_FACTS } = parts;
  const { handlers } = registry;
  const { finalizer } = settings.persistence;
  const { memo } = subject;
  const isOutside = subject.isOutside(body);
  const { diff, old } = comparison;
  const logger = objectLogger({ logger: parts.logger, body, posting: { settings, poster } });

  // Spelled out rather than spread: this runs in each cycle, and spreading is slow.
  const isSpawned = handlers.spawning.of(resource).length > 0;
  const spawning: SpawningCause | undefined = isSpawned
    ? {
        kind: 'spawning',
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
        reset: diff.length > 0,
      }
    : undefined;

  let changing: ChangingCause | undefined;
  let isWanted = false;
  if (handlers.changing.of(resource).length > 0) {
    const isFirstLook = subject.isNoticedByListing && !known.isHandledOnce;
    const change = { event: { type: eventType }, body, finalizer, comparison, initial: isFirstLook };
    const { reason, initial } = detectChange(change);
    changing = {
      kind: 'changing',
      reason,
      initial,
      isListed: isFirstLook,
      diff,
      old,
      new: essence,
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
    };
    if (facts.wants['object.cause']) tellCause(facts, changing);
    const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, scene) : undefined;
    isWanted = isInScope(handlers, changing, onConsidered);
  }

  const related = handlers.related.of(resource).length > 0 ? relatedCauseOf(scene, logger) : undefined;
  const { foreverStopped } = subject.daemons;
  const wanted = isWanted ? changing : undefined;
  const deletionMustBeBlocked = mustBlockDeletion(handlers, { spawning, changing: wanted, related, foreverStopped });
  if (eventType === 'DELETED') {
    return { spawning, related: undefined, changing: wanted, finalizer: undefined, isHeldUntilDone: false };
  }
  const isDropped = changing !== undefined && (!isWanted || (isDeletionOngoing(body) && !deletionMustBeBlocked));
  if (!isDropped || changing === undefined || scene.isCompat) {
    return decideOnDeletion(scene, { spawning, related, changing: wanted, deletionMustBeBlocked });
  }
  // A handler that has begun must finish or be superseded, even if no handler wants the object any more.
  const unfinished = unfinishedHandlers(scene);
  const goOn = (begun: readonly ChangeHandler[]): Decision => {
    const isLeft = begun.some(({ requiresFinalizer, reason }) => requiresFinalizer && reason === changing?.reason);
    return decideOnDeletion(scene, {
      spawning,
      related,
      changing: isWanted || begun.length > 0 ? changing : undefined,
      deletionMustBeBlocked: deletionMustBeBlocked || isLeft,
    });
  };
  return unfinished instanceof Promise ? unfinished.then(goOn) : goOn(unfinished);
}

/** A cheaper form for kinds whose handlers do not ask what happened: it only looks at the present state. */
export function decideOnState(scene: Scene): Decision {
  const { parts, body, eventType } = scene;
  const { settings, poster, registry } = parts;
  if (eventType === 'DELETED') return NOTHING_DECIDED;
  const logger = objectLogger({ logger: parts.logger, body, posting: { settings, poster } });
  const related = relatedCauseOf(scene, logger);
  const deletionMustBeBlocked = mustBlockDeletion(registry.handlers, { related });
  return decideOnDeletion(scene, { spawning: undefined, changing: undefined, related, deletionMustBeBlocked });
}

const NOTHING_DECIDED: Decision = Object.freeze({
  spawning: undefined,
  related: undefined,
  changing: undefined,
  finalizer: undefined,
  isHeldUntilDone: false,
});

interface Interest extends Pick<Decision, 'spawning' | 'changing' | 'related'> {
  readonly deletionMustBeBlocked: boolean;
}

function decideOnDeletion(
  { parts, body, known }: Scene,
  { spawning, related, changing, deletionMustBeBlocked }: Interest,
): Decision {
  const { finalizer } = parts.settings.persistence;
  const blocking = decideBlocking({
    deletionMustBeBlocked,
    deletionIsBlocked: isDeletionBlocked(body, finalizer),
    deletionIsOngoing: isDeletionOngoing(body),
  });
  // There is no room for a finalizer: handling the object without one is better than not handling it.
  if (blocking === 'block' && known.unsavable === undefined) {
    return { spawning, related: undefined, changing: undefined, finalizer: 'block', isHeldUntilDone: false };
  }
  if (blocking === 'release') {
    return { spawning, related: undefined, changing: undefined, finalizer: 'allow', isHeldUntilDone: false };
  }
  return { spawning, related, changing, finalizer: undefined, isHeldUntilDone: blocking === 'release-when-done' };
}
