/** One kind in one namespace: its events go to the index first, and then to the objects' workers. */
import {
  type Indexer,
  KopfError,
  type Logger,
  type Resource,
  type Scheduler,
  type Seconds,
  type Settings,
} from '@kopf-ts/core';
import {
  type AttemptLimiter,
  type Cause,
  childController,
  describeError,
  NOT_NEEDED,
  objectKey,
  objectLogger,
  type ServerCapabilities,
  type StreamState,
  type ToggleSet,
  type ToggleView,
  titleOf,
  toError,
  type WatchedEvent,
  type WatchSignal,
  watchInto,
} from '@kopf-ts/core/engine';
import type { Fences } from '../fences.js';
import type { Processor } from '../handling/processor.js';
import { forgetUnsent, type Memories, type ObjectMemory } from '../memories.js';
import type { OperatorParts } from '../parts.js';
import { compareVersions, versionOf } from '../versions.js';
import { within } from '../within.js';
import { worker } from './worker.js';
import type { Worker } from './worker-contract.js';

export interface WatcherParts extends OperatorParts {
  readonly memories: Memories;
  readonly process: Processor;
  /** A new one for each stream. */
  readonly scheduler: () => Scheduler;
  readonly indexer?: Indexer | undefined;
  /** No handlers are called until all that is to be indexed is indexed for the first time. */
  readonly indexed: ToggleSet;
  readonly capabilities?: ServerCapabilities | undefined;
  readonly limiter?: AttemptLimiter | undefined;
  readonly fences?: Pick<Fences, 'mayWrite'> | undefined;
}

interface WatcherOptions {
  readonly resource: Resource;
  /** `null` for the whole cluster. */
  readonly namespace: string | null;
  readonly paused: ToggleView;
  readonly signal: AbortSignal;
  readonly onState?: ((state: StreamState) => void) | undefined;
}

/** How long handlers that are told to end may take for that, at the exit; and which part of the whole time for it. */
const HUNG_GRACE: Seconds = 5;
const HUNG_SHARE = 0.25;

/** Watches the kind and handles its objects until the signal aborts. Rejects only if something is broken in ourselves. */
export type RunWatcher = (options: WatcherOptions) => Promise<void>;

export function watcherOf(parts: WatcherParts): RunWatcher {
  return async (options) => {
    const { resource, namespace, paused, signal } = options;
    const { client, settings, clock, logger, capabilities, limiter, random } = parts;
    const scheduler = parts.scheduler();
    const streamControl = childController(signal);
    let failure: unknown;
    const fail = (error: unknown): void => {
      failure = error;
      streamControl.abort(error);
    };
    scheduler.failed.catch(fail);
    const objects = objectWorkers(parts, options, scheduler);
    const stopPausing = whenever(paused, () => objects.pause(), streamControl.signal);
    try {
      const onSignal = (event: WatchSignal): void => {
        try {
          if (event.type === 'LISTED') objects.listed();
          else objects.push(event);
        } catch (error) {
          // It is not a failure of the stream: connecting again does not help.
          fail(error);
        }
      };
      const { signal: streamSignal } = streamControl;
      const { onState } = options;
      const streamOptions = { settings, clock, logger, paused, capabilities, limiter, random, onState };
      await watchInto(
        client,
        resource,
        { ...streamOptions, namespace: namespace ?? undefined, signal: streamSignal },
        onSignal,
      );
    } finally {
      stopPausing();
      streamControl.dispose();
      await objects.drain();
      const closed = scheduler.close();
      if (!(await within(clock, hungGrace(settings), closed))) objects.abandon();
      objects.dispose();
    }
    if (failure !== undefined) {
      throw new KopfError(`Event processing has failed with an unrecoverable error: ${describeError(failure)}`, {
        cause: toError(failure),
      });
    }
  };
}

/** Calls the function whenever the toggle turns on, until stopped. */
function whenever(toggle: ToggleView, fn: () => void, signal: AbortSignal): () => void {
  const control = childController(signal);
  const loop = async (): Promise<void> => {
    for (;;) {
      await toggle.whenOn(control.signal);
      fn();
      await toggle.whenOff(control.signal);
    }
  };
  loop().catch(() => {});
  return () => control.abort();
}

interface ObjectWorkers {
  push(event: WatchedEvent): void;
  /** All existing objects have been pushed. */
  listed(): void;
  /** Forgets all that is not yet begun, and what was not sent: others may do it, and do it differently. */
  pause(): void;
  /** Lets them finish what they have, for a while. */
  drain(): Promise<void>;
  /** Tells of those which do not obey. */
  abandon(): void;
  dispose(): void;
}

function objectWorkers(parts: WatcherParts, options: WatcherOptions, scheduler: Scheduler): ObjectWorkers {
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

  const workerOf = (memory: ObjectMemory, logger: Logger): Worker => {
    let found = workers.get(memory);
    if (found === undefined) {
      const made = worker({
        memory,
        settings,
        clock,
        logger,
        scheduler,
        signal: work.signal,
        keepsEvents: registry.handlers.watching.of(resource).length > 0,
        // The fence knows it earlier, should the process have slept through the moment of its pausing.
        isPaused: () => paused.isOn || parts.fences?.mayWrite() === false,
        whenReady: () => (indexed.isOn ? undefined : whenIndexed()),
        process: (work, jobSignal) => parts.process({ ...work, resource, memory, signal: jobSignal }),
        onIdle: () => {
          if (workers.get(memory) === made) workers.delete(memory);
          if (workers.size === 0) drained?.();
        },
      });
      found = made;
      workers.set(memory, found);
    }
    return found;
  };

  const whenIndexed = async (): Promise<void> => {
    await indexed.whenOn(leaving.signal).catch(() => {});
    // Handlers need whole indices. If we are leaving, then the gate can be open only since others have left.
    if (signal.aborted || leaving.signal.aborted) discard();
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

  return {
    push,
    listed() {
      if (listing === undefined || listing.isOn) return;
      void Promise.allSettled([...digesting.values()]).then(() => listing.turn(true));
    },
    pause() {
      discard();
      forgetUnsent(memories);
    },
    async drain() {
      leaving.abort(NOT_NEEDED);
      // Nothing of this kind is handled if not all was indexed before.
      if (!indexed.isOn) discard();
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

function hungGrace({ process }: Settings): Seconds {
  return Math.min(HUNG_GRACE, (process.ultimateExitingTimeout ?? Number.POSITIVE_INFINITY) * HUNG_SHARE);
}

function reportUnindexed(error: unknown, logger: Logger): void {
  logger.error(`Indexing has failed unexpectedly: ${describeError(error)}`, { error: toError(error) });
}
