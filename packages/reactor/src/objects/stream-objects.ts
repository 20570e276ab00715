/** The objects of one stream: each event goes to the index first, and then to the worker of its object. */
import type { Awaitable, Body, Indexer, Logger, Resource, Scheduler, StopReason } from '@kopf-ts/core';
import {
  describeError,
  NO_FACTS,
  NOT_NEEDED,
  observedBody,
  type ToggleSet,
  type ToggleView,
  titleOf,
  toError,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { RunCycle } from '../cycle/cycle.js';
import type { OperatorParts } from '../parts.js';
import type { Relations } from '../relations/relations.js';
import { settlesWithin } from '../settles-within.js';
import type { WriteGuards } from '../write-guards.js';
import type { AllObjects } from './all-objects.js';
import type { HandledObject, Surroundings } from './object.js';

export interface StreamObjectsParts extends OperatorParts {
  readonly objects: AllObjects;
  readonly process: RunCycle;
  readonly indexer?: Indexer | undefined;
  /** No handlers are called until everything indexed is indexed for the first time. */
  readonly indexed: ToggleSet;
  readonly relations?: Relations | undefined;
  readonly writeGuards?: Pick<WriteGuards, 'isGuarded' | 'mayWrite'> | undefined;
  /** Has the daemons and timers of an object stopped, as it is paused or not ours any more: as far as they stop at once. */
  readonly letGo?: ((object: HandledObject, reason: StopReason) => Awaitable<void>) | undefined;
}

export interface StreamObjectsOptions {
  readonly resource: Resource;
  /** Where the stream is of; `null` for the whole cluster. */
  readonly namespace?: string | null | undefined;
  readonly paused: ToggleView;
  readonly signal: AbortSignal;
  /** Whether the object is served. Absent if all of them are, as far as the stream brings them. */
  readonly includes?: ((body: Body) => boolean) | undefined;
  /** There is nothing left to do for the object. */
  readonly onIdle?: ((object: HandledObject) => void) | undefined;
}

export interface StreamObjects {
  push(event: WatchedEvent): void;
  /** All existing objects have been pushed. */
  listed(): void;
  /** The cluster was restored to an earlier state: lower versions are newer than what is remembered. */
  rewound(): void;
  /** Forgets all that is not yet begun, and what was not sent: others may do it, and do it differently. */
  pause(): void;
  /** Lets them finish what they have, for a while. */
  drain(): Promise<void>;
  /** Reports the workers that do not obey. */
  abandon(): void;
  /** They may exist, but are not ours any more: they are neither indexed nor remembered, and nothing runs for them. */
  leave(): Promise<void>;
  /** Whether something is left to do for the object: now, later, or all the time. */
  isAtWork(body: Body): boolean;
  /** The same as leaving, for one of them. */
  drop(body: Body): Promise<void>;
  dispose(): void;
}

/** So many objects are begun with at once when the indices are filled: others want to be served in between. */
const BEGUN_AT_ONCE = 100;

export function streamObjects(
  parts: StreamObjectsParts,
  options: StreamObjectsOptions,
  scheduler: Scheduler,
): StreamObjects {
  const { registry, settings, clock, objects, indexer, indexed, facts = NO_FACTS } = parts;
  const { resource, namespace = null, paused, signal, includes } = options;
  // An object that comes back after it was deleted is another one, even if it cannot be told from the former.
  const busy = new Set<HandledObject>();
  // Of this stream, be they busy or not.
  const all = new Set<HandledObject>();
  // Objects that are being indexed by functions that take their time. Others do not wait for them.
  const indexing = new Map<string, Promise<void>>();
  const isIndexed = indexer !== undefined && registry.handlers.indexing.of(resource).length > 0;
  // A kind that comes later does not hold the others back: they are at work already.
  const listing = isIndexed && !indexed.isOn ? indexed.make(false, { name: resource.plural }) : undefined;
  // The workers outlive the stream a little.
  const work = new AbortController();
  const leaving = new AbortController();
  let drained: (() => void) | undefined;
  // Grows when all that has come so far is to be forgotten.
  let era = 0;
  let isGateOpen = indexed.isOn;
  const { relations: declared } = registry.handlers;
  // Most kinds have nothing to do with others.
  const isRelated = declared.ofParent(resource).length > 0 || declared.ofChild(resource).length > 0;
  const relations = isRelated
    ? parts.relations?.stream({ resource, namespace, onCompleteness: () => void beginAll() })
    : undefined;
  const { areParents = false, areChildren = false } = relations ?? {};

  const surroundings: Surroundings = {
    resource,
    facts,
    settings,
    clock,
    scheduler,
    signal: work.signal,
    keepsEvents: () => registry.handlers.watching.of(resource).length > 0,
    isGuarded: () => parts.writeGuards?.isGuarded === true,
    mayWrite: () => parts.writeGuards?.mayWrite() !== false,
    // The write guard knows it earlier, should the process have slept through the moment of its pausing.
    isPaused: () => paused.isOn || parts.writeGuards?.mayWrite() === false,
    mayBegin: relations === undefined ? () => isGateOpen : () => isGateOpen && relations.isComplete,
    mayBeSummoned: registry.handlers.related.of(resource).length > 0,
    ...(areChildren && { onWritten: (body) => parts.relations?.written({ resource, body }) }),
    isOutside: includes && ((body) => !includes(body)),
    process: parts.process,
    onBusy: (object) => void busy.add(object),
    onIdle(object) {
      busy.delete(object);
      if (busy.size === 0) drained?.();
      options.onIdle?.(object);
    },
    onPaused(object) {
      if (object.daemons.running.size === 0) return;
      void Promise.resolve(parts.letGo?.(object, 'operator-pausing')).catch((error: unknown) => {
        object.logger.error(`Its daemons could not be stopped: ${describeError(error)}`, { error: toError(error) });
      });
    },
  };

  /** One waits for all of them: there may be as many workers by then as there are objects. */
  const beginWhenIndexed = async (): Promise<void> => {
    await indexed.whenOn(leaving.signal).catch(() => {});
    // Handlers need whole indices. If we are leaving, then the gate can be open only since others have left.
    if (signal.aborted || leaving.signal.aborted) return discard();
    isGateOpen = true;
    await beginAll();
  };

  const beginAll = async (): Promise<void> => {
    let begun = 0;
    for (const each of [...busy]) {
      each.proceed();
      if (++begun % BEGUN_AT_ONCE === 0) await clock.sleep(0);
    }
  };

  const discard = (): void => {
    era += 1;
    for (const each of [...busy]) each.discard();
  };

  const dispatch = (event: WatchedEvent, object: HandledObject): void => {
    if (paused.isOn) return;
    if (event.type !== 'DELETED') all.add(object);
    object.join(surroundings).push(event);
  };

  /** In memory, an object that is not served is as good as deleted. */
  const asSeen = (event: WatchedEvent): WatchedEvent =>
    includes === undefined || includes(event.object) ? event : { type: 'DELETED', object: event.object };

  /** `undefined` if it is indexed already. */
  const index = (
    event: WatchedEvent,
    { memo, logger }: Pick<HandledObject, 'memo' | 'logger'>,
  ): PromiseLike<void> | undefined => {
    if (!isIndexed) return undefined;
    try {
      const pending = indexer.accept({ event: asSeen(event), resource, memo, logger });
      return pending === undefined ? undefined : (pending as PromiseLike<void>);
    } catch (error) {
      reportUnindexed(error, logger);
      return undefined;
    }
  };

  const isHandled = (): boolean => {
    const { watching, spawning, changing, related } = registry.handlers;
    return [watching, spawning, changing, related].some((family) => family.of(resource).length > 0);
  };

  /** Most events are those of our own patches, and nobody waits for them: that is found out before all else. */
  const isOwnEcho = (event: WatchedEvent, object: HandledObject): boolean =>
    !isIndexed && registry.handlers.watching.of(resource).length === 0 && object.isEcho(event);

  const push = (event: WatchedEvent): void => {
    relations?.accept(asSeen(event));
    // Nobody wants to know of it but its parents.
    if (areChildren && !isIndexed && !isHandled()) return;
    const known = objects.find(event.object);
    if (known !== undefined && isOwnEcho(event, known)) return;
    const object = known ?? objects.of(event.object, { isListed: event.type === null });
    const { key, logger } = object;
    if (event.type === 'DELETED') {
      objects.forget(event.object);
      if (facts.wants['object.gone']) {
        facts.tell({ kind: 'object.gone', object: observedBody(resource, event.object) });
      }
      all.delete(object);
      if (areParents) relations?.forget(event.object);
    }
    const bornIn = era;
    const earlier = indexing.get(key);
    // One by one: an object's events are indexed and handled in the order of their coming.
    const pending = earlier ? earlier.then(() => index(event, object)) : index(event, object);
    if (pending === undefined) {
      dispatch(event, object);
      return;
    }
    const whole = Promise.resolve(pending)
      .catch((error: unknown) => reportUnindexed(error, logger))
      .then(() => {
        if (indexing.get(key) === whole) indexing.delete(key);
        if (!signal.aborted && bornIn === era) dispatch(event, object);
      });
    indexing.set(key, whole);
  };

  const drop = async (object: HandledObject): Promise<void> => {
    const { memo, logger, reference } = object;
    index({ type: 'DELETED', object: reference }, { memo, logger });
    await parts.letGo?.(object, 'filters-mismatch');
    // If it comes back, then its daemons are to be started after those which are still on their way out.
    if (object.daemons.running.size === 0) objects.forget(reference);
  };

  /** Whose calls they are, as a beginning of a sentence. */
  const leftRunning = ({ running }: HandledObject): string => {
    const titles = [...new Set(running.map(titleOf))];
    return titles.length === 0 ? 'Its handling has' : `${titles.join(', ')} ${titles.length === 1 ? 'has' : 'have'}`;
  };

  if (!isGateOpen) void beginWhenIndexed();
  return {
    push,
    listed() {
      relations?.listed();
      if (listing === undefined || listing.isOn) return;
      void Promise.allSettled([...indexing.values()]).then(() => listing.turn(true));
    },
    pause() {
      relations?.paused();
      discard();
      for (const object of objects) object.forgetUnsent();
    },
    rewound() {
      relations?.rewound();
      for (const object of all) object.rewind();
    },
    async drain() {
      leaving.abort(NOT_NEEDED);
      // Nothing of this kind is handled if not all was indexed before.
      if (!isGateOpen) discard();
      if (listing !== undefined) indexed.drop(listing);
      const isDrained = new Promise<void>((resolve) => {
        drained = resolve;
      });
      for (const each of [...busy]) each.wind();
      if (busy.size === 0) return;
      await settlesWithin(clock, settings.queueing.exitTimeout, isDrained);
      const left = [...busy].filter((each) => each.isBusy).map(({ key }) => key);
      if (left.length > 0) parts.logger.warn(`Unprocessed streams left for [${left.join(', ')}].`);
    },
    abandon() {
      for (const each of busy) {
        if (each.isBusy) each.logger.warn(`${leftRunning(each)} not ended in time, though told to. Leaving it behind.`);
      }
    },
    async leave() {
      relations?.left();
      for (const object of [...all]) await drop(object);
    },
    isAtWork(body) {
      const object = objects.find(body);
      return object !== undefined && (object.state.phase !== 'idle' || object.daemons.running.size > 0);
    },
    async drop(body) {
      const object = objects.find(body);
      if (object === undefined) return;
      all.delete(object);
      await drop(object);
    },
    dispose() {
      relations?.ended();
      work.abort();
      discard();
      busy.clear();
      all.clear();
    },
  };
}

function reportUnindexed(error: unknown, logger: Logger): void {
  logger.error(`Indexing has failed unexpectedly: ${describeError(error)}`, { error: toError(error) });
}
