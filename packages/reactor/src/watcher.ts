/** One kind in one namespace: its events go to the index first, and then to the objects' workers. */
import {
  type Clock,
  type Indexer,
  KopfError,
  type Logger,
  type Resource,
  type Scheduler,
  type Seconds,
} from '@kopf-ts/core';
import {
  type AttemptLimiter,
  childController,
  describeError,
  NOT_NEEDED,
  objectLogger,
  type ServerCapabilities,
  type StreamState,
  type ToggleSet,
  type ToggleView,
  toError,
  type WatchedEvent,
  watch,
} from '@kopf-ts/core/engine';
import type { Memories, ObjectMemory } from './memories.js';
import type { OperatorParts } from './parts.js';
import type { Processor } from './processor.js';
import { type Worker, worker } from './worker.js';

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
}

export interface WatcherOptions {
  readonly resource: Resource;
  /** `null` for the whole cluster. */
  readonly namespace: string | null;
  readonly paused: ToggleView;
  readonly signal: AbortSignal;
  readonly onState?: ((state: StreamState) => void) | undefined;
}

/** How long handlers that are told to end may take for that, at the exit. */
const HUNG_GRACE: Seconds = 5;

/** Watches the kind and handles its objects until the signal aborts. Rejects only if something is broken in ourselves. */
export type RunWatcher = (options: WatcherOptions) => Promise<void>;

export function watcherOf(parts: WatcherParts): RunWatcher {
  return async (options) => {
    const { resource, namespace, paused, signal } = options;
    const { client, settings, clock, logger, capabilities, limiter, random } = parts;
    const scheduler = parts.scheduler();
    const streamControl = childController(signal);
    let failure: unknown;
    scheduler.failed.catch((error: unknown) => {
      failure = error;
      streamControl.abort(error);
    });
    const objects = objectWorkers(parts, options, scheduler);
    const stopPausing = whenever(paused, () => objects.discard(), streamControl.signal);
    try {
      const stream = watch(client, resource, {
        namespace: namespace ?? undefined,
        settings,
        clock,
        logger,
        paused,
        capabilities,
        limiter,
        random,
        signal: streamControl.signal,
        onState: options.onState,
      });
      for await (const event of stream) {
        if (event.type === 'LISTED') objects.listed();
        else objects.push(event);
      }
    } finally {
      stopPausing();
      streamControl.dispose();
      await objects.drain();
      const closed = scheduler.close();
      if (!(await within(clock, HUNG_GRACE, closed))) objects.abandon();
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
  /** Forgets all that is not yet begun. */
  discard(): void;
  /** Lets them finish what they have, for a while. */
  drain(): Promise<void>;
  /** Tells of those which do not obey. */
  abandon(): void;
  dispose(): void;
}

function objectWorkers(parts: WatcherParts, options: WatcherOptions, scheduler: Scheduler): ObjectWorkers {
  const { registry, settings, clock, memories, indexer, indexed } = parts;
  const { resource, paused, signal } = options;
  const workers = new Map<string, Worker>();
  // Those who are being indexed by functions that take their time. Others do not wait for them.
  const digesting = new Map<string, Promise<void>>();
  const isIndexed = indexer !== undefined && registry.handlers.indexing.of(resource).length > 0;
  // A kind that comes later does not hold the others back: they are at work already.
  const listing = isIndexed && !indexed.isOn ? indexed.make(false, { name: resource.plural }) : undefined;
  // The workers outlive the stream a little.
  const work = new AbortController();
  let drained: (() => void) | undefined;

  const workerOf = (memory: ObjectMemory, logger: Logger): Worker => {
    let found = workers.get(memory.key);
    if (found === undefined) {
      const made = worker({
        memory,
        settings,
        clock,
        logger,
        scheduler,
        signal: work.signal,
        keepsEvents: registry.handlers.watching.of(resource).length > 0,
        isPaused: () => paused.isOn,
        process: async (work, jobSignal) => {
          if (!indexed.isOn) await indexed.whenOn(jobSignal);
          return await parts.process({ ...work, resource, memory, signal: jobSignal });
        },
        onIdle: () => {
          if (workers.get(memory.key) === made) workers.delete(memory.key);
          if (workers.size === 0) drained?.();
        },
      });
      found = made;
      workers.set(memory.key, found);
    }
    return found;
  };

  const dispatch = (event: WatchedEvent, memory: ObjectMemory, logger: Logger): void => {
    if (paused.isOn) return;
    workerOf(memory, logger).push(event);
  };

  /** `undefined` if it is digested already. */
  const digest = (event: WatchedEvent, memory: ObjectMemory, logger: Logger): PromiseLike<void> | undefined => {
    if (!isIndexed) return undefined;
    const digested = indexer.digest({ event, resource, memo: memory.memo, logger });
    return digested === undefined ? undefined : (digested as PromiseLike<void>);
  };

  const push = (event: WatchedEvent): void => {
    const { object } = event;
    const logger = objectLogger({ logger: parts.logger, body: object });
    const memory = memories.of(object, { isListed: event.type === null, logger });
    if (event.type === 'DELETED') memories.forget(object);
    const earlier = digesting.get(memory.key);
    // One by one: an object's events are indexed and handled in the order of their coming.
    const digested = earlier ? earlier.then(() => digest(event, memory, logger)) : digest(event, memory, logger);
    if (digested === undefined) {
      dispatch(event, memory, logger);
      return;
    }
    const whole = Promise.resolve(digested)
      .catch((error: unknown) => {
        logger.error(`Indexing has failed unexpectedly: ${describeError(error)}`, { error: toError(error) });
      })
      .then(() => {
        if (digesting.get(memory.key) === whole) digesting.delete(memory.key);
        if (!signal.aborted) dispatch(event, memory, logger);
      });
    digesting.set(memory.key, whole);
  };

  return {
    push,
    listed() {
      if (listing === undefined || listing.isOn) return;
      void Promise.allSettled([...digesting.values()]).then(() => listing.turn(true));
    },
    discard() {
      for (const each of [...workers.values()]) each.discard();
    },
    async drain() {
      if (listing !== undefined) indexed.drop(listing);
      const isDrained = new Promise<void>((resolve) => {
        drained = resolve;
      });
      for (const each of [...workers.values()]) each.wind();
      if (workers.size === 0) return;
      await within(clock, settings.queueing.exitTimeout, isDrained);
      const left = [...workers].filter(([, each]) => each.isBusy).map(([key]) => key);
      if (left.length > 0) parts.logger.warn(`Unprocessed streams left for [${left.join(', ')}].`);
    },
    abandon() {
      for (const each of workers.values()) {
        if (each.isBusy)
          each.logger.warn('Its handlers have not ended in time, though they were told to. Leaving them.');
      }
    },
    dispose() {
      work.abort();
      workers.clear();
    },
  };
}

/** Waits for the promise, but not for longer than that; tells whether it has come. */
async function within(clock: Clock, limit: Seconds, promise: Promise<void>): Promise<boolean> {
  const wakeup = new AbortController();
  const isOver = promise.then(() => {
    wakeup.abort(NOT_NEEDED);
    return true;
  });
  return await Promise.race([isOver, clock.sleep(limit, { wakeup: wakeup.signal }).then(() => false)]);
}
