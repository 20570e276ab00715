/** The objects of one stream: each event goes to the index first, and then to the worker of its object. */
import type { Indexer, Logger, Resource, Scheduler } from '@kopf-ts/core';
import {
  type Cause,
  describeError,
  NOT_NEEDED,
  objectKey,
  objectLogger,
  type ToggleSet,
  type ToggleView,
  titleOf,
  toError,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { Fences } from '../fences.js';
import type { Processor } from '../handling/processor.js';
import { forgetUnsent, type Memories, type ObjectMemory } from '../memories.js';
import type { OperatorParts } from '../parts.js';
import { compareVersions, versionOf } from '../versions.js';
import { within } from '../within.js';
import { ObjectWorker } from './worker.js';
import type { Worker, WorkerSurroundings } from './worker-contract.js';

export interface ObjectWorkersParts extends OperatorParts {
  readonly memories: Memories;
  readonly process: Processor;
  readonly indexer?: Indexer | undefined;
  /** No handlers are called until all that is to be indexed is indexed for the first time. */
  readonly indexed: ToggleSet;
  readonly fences?: Pick<Fences, 'mayWrite'> | undefined;
}

export interface ObjectWorkersOptions {
  readonly resource: Resource;
  readonly paused: ToggleView;
  readonly signal: AbortSignal;
}

export interface ObjectWorkers {
  push(event: WatchedEvent): void;
  /** All existing objects have been pushed. */
  listed(): void;
  /** The cluster was restored to an earlier state: lower versions are newer than what is remembered. */
  rewound(): void;
  /** Forgets all that is not yet begun, and what was not sent: others may do it, and do it differently. */
  pause(): void;
  /** Lets them finish what they have, for a while. */
  drain(): Promise<void>;
  /** Tells of those which do not obey. */
  abandon(): void;
  dispose(): void;
}

/** So many objects are begun with at once when the indices are filled: others want to be served in between. */
const BEGUN_AT_ONCE = 100;

export function objectWorkers(
  parts: ObjectWorkersParts,
  options: ObjectWorkersOptions,
  scheduler: Scheduler,
): ObjectWorkers {
  const { registry, settings, clock, memories, indexer, indexed } = parts;
  const { resource, paused, signal } = options;
  // An object that comes back after it was deleted is another one, even if it cannot be told from the former.
  const workers = new Map<ObjectMemory, Worker>();
  // Those who are being indexed by functions that take their time. Others do not wait for them.
  const digesting = new Map<string, Promise<void>>();
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

  const surroundings: WorkerSurroundings = {
    settings,
    clock,
    scheduler,
    signal: work.signal,
    keepsEvents: () => registry.handlers.watching.of(resource).length > 0,
    // The fence knows it earlier, should the process have slept through the moment of its pausing.
    isPaused: () => paused.isOn || parts.fences?.mayWrite() === false,
    mayBegin: () => isGateOpen,
    process: (memory, { events, state, isToTouch, comeBack }, jobSignal) =>
      parts.process({ events, state, isToTouch, comeBack, resource, memory, signal: jobSignal }),
    onIdle(worker) {
      if (workers.get(worker.memory) === worker) workers.delete(worker.memory);
      if (workers.size === 0) drained?.();
    },
  };

  const workerOf = (memory: ObjectMemory, logger: Logger): Worker => {
    let found = workers.get(memory);
    if (found === undefined) {
      found = new ObjectWorker(surroundings, { memory, logger });
      workers.set(memory, found);
    }
    return found;
  };

  /** One waits for all of them: there may be as many workers by then as there are objects. */
  const beginWhenIndexed = async (): Promise<void> => {
    await indexed.whenOn(leaving.signal).catch(() => {});
    // Handlers need whole indices. If we are leaving, then the gate can be open only since others have left.
    if (signal.aborted || leaving.signal.aborted) return discard();
    isGateOpen = true;
    let begun = 0;
    for (const each of [...workers.values()]) {
      each.proceed();
      if (++begun % BEGUN_AT_ONCE === 0) await clock.sleep(0);
    }
  };

  const discard = (): void => {
    era += 1;
    for (const each of [...workers.values()]) each.discard();
  };

  const dispatch = (event: WatchedEvent, memory: ObjectMemory, logger: Logger): void => {
    if (paused.isOn) return;
    workerOf(memory, logger).push(event);
  };

  /** `undefined` if it is digested already. */
  const digest = (event: WatchedEvent, memory: ObjectMemory, logger: Logger): PromiseLike<void> | undefined => {
    if (!isIndexed) return undefined;
    try {
      const digested = indexer.digest({ event, resource, memo: memory.memo, logger });
      return digested === undefined ? undefined : (digested as PromiseLike<void>);
    } catch (error) {
      reportUnindexed(error, logger);
      return undefined;
    }
  };

  /** Most events are those of our own patches, and nobody waits for them: that is found out before all else. */
  const isOwnEcho = ({ type, object }: WatchedEvent): boolean => {
    if (isIndexed || type !== 'MODIFIED' || registry.handlers.watching.of(resource).length > 0) return false;
    const memory = memories.find(object);
    if (memory === undefined || workers.has(memory)) return false;
    const order = compareVersions(versionOf(object), memory.version);
    if (order === 0) memory.doubtfulUntil = undefined;
    return order !== undefined && order <= 0;
  };

  const push = (event: WatchedEvent): void => {
    if (isOwnEcho(event)) return;
    const { object } = event;
    const logger = objectLogger({ logger: parts.logger, body: object });
    const memory = memories.of(object, { isListed: event.type === null, logger });
    if (event.type === 'DELETED') memories.forget(object);
    const bornIn = era;
    const earlier = digesting.get(memory.key);
    // One by one: an object's events are indexed and handled in the order of their coming.
    const digested = earlier ? earlier.then(() => digest(event, memory, logger)) : digest(event, memory, logger);
    if (digested === undefined) {
      dispatch(event, memory, logger);
      return;
    }
    const whole = Promise.resolve(digested)
      .catch((error: unknown) => reportUnindexed(error, logger))
      .then(() => {
        if (digesting.get(memory.key) === whole) digesting.delete(memory.key);
        if (!signal.aborted && bornIn === era) dispatch(event, memory, logger);
      });
    digesting.set(memory.key, whole);
  };

  /** Whose calls they are, as a beginning of a sentence. */
  const leftRunning = (key: string): string => {
    const calls = [...(parts.monitor?.running?.() ?? [])].filter(({ cause }) => isOf(key, cause));
    const titles = [...new Set(calls.map(({ handler }) => titleOf(handler)))];
    return titles.length === 0 ? 'Its handling has' : `${titles.join(', ')} ${titles.length === 1 ? 'has' : 'have'}`;
  };

  if (!isGateOpen) void beginWhenIndexed();
  return {
    push,
    listed() {
      if (listing === undefined || listing.isOn) return;
      void Promise.allSettled([...digesting.values()]).then(() => listing.turn(true));
    },
    rewound() {
      // Of all kinds: they are restored together, and nothing tells which of them an object is of.
      for (const memory of memories) {
        memory.version = undefined;
        memory.doubtfulUntil = undefined;
        memory.isVanishing = false;
      }
    },
    pause() {
      discard();
      forgetUnsent(memories);
    },
    async drain() {
      leaving.abort(NOT_NEEDED);
      // Nothing of this kind is handled if not all was indexed before.
      if (!isGateOpen) discard();
      if (listing !== undefined) indexed.drop(listing);
      const isDrained = new Promise<void>((resolve) => {
        drained = resolve;
      });
      for (const each of [...workers.values()]) each.wind();
      if (workers.size === 0) return;
      await within(clock, settings.queueing.exitTimeout, isDrained);
      const left = [...workers].filter(([, each]) => each.isBusy).map(([memory]) => memory.key);
      if (left.length > 0) parts.logger.warn(`Unprocessed streams left for [${left.join(', ')}].`);
    },
    abandon() {
      for (const [{ key }, each] of workers) {
        if (each.isBusy) each.logger.warn(`${leftRunning(key)} not ended in time, though told to. Leaving it behind.`);
      }
    },
    dispose() {
      work.abort();
      discard();
      workers.clear();
    },
  };
}

/** Daemons are stopped by others. */
function isOf(key: string, cause: Cause): boolean {
  return cause.kind !== 'activity' && cause.kind !== 'daemon' && objectKey(cause.body) === key;
}

function reportUnindexed(error: unknown, logger: Logger): void {
  logger.error(`Indexing has failed unexpectedly: ${describeError(error)}`, { error: toError(error) });
}
