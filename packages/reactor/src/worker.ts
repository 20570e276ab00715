/**
 * One object and its work: never two cycles at once, nothing lost, and no more memory than the newest state takes.
 *
 * A cycle is one job for the scheduler. Between the cycles, the object holds no place there: neither while it is idle,
 * nor while it waits for its handlers' delays or for the end of its throttling.
 */
import type { AnyObject, Clock, Logger, Scheduler, Seconds, Settings } from '@kopf-ts/core';
import {
  type ChildController,
  childController,
  describeError,
  interruptedSleep,
  toError,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import { backlog } from './backlog.js';
import type { ObjectMemory } from './memories.js';
import { compareVersions, versionOf } from './versions.js';

/** A state of the object to be handled. */
export interface ObjectState {
  /** `null` if it comes from a listing. */
  readonly type: WatchedEvent['type'];
  readonly body: AnyObject;
}

/** What is to be done in one cycle. */
export interface Work {
  /** For the handlers of events: each of them, in order. */
  readonly events: readonly WatchedEvent[];
  /** For all other handlers: only the newest. Absent if there is nothing new for them. */
  readonly state: ObjectState | undefined;
  /** To be begun with touching the object, as Kopf wakes itself up. */
  readonly isToTouch: boolean;
}

/** How a cycle has ended. */
export interface CycleResult {
  /** The object after our patch: it is the newest state there is, and is gone on with at once. */
  readonly answer?: AnyObject | undefined;
  /** The object vanishes with this very patch; there is nothing left to do but to hear of it. */
  readonly isVanishing?: boolean | undefined;
  /** When to come back by itself; `0` for at once. */
  readonly delay?: Seconds | undefined;
  /** Whether to come back by touching the object. */
  readonly byTouching?: boolean | undefined;
}

export interface WorkerOptions {
  readonly memory: ObjectMemory;
  readonly settings: Settings;
  readonly clock: Clock;
  /** Of the object. */
  readonly logger: Logger;
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
  /** Whether there are handlers of events. */
  readonly keepsEvents: boolean;
  /** While paused, nothing is begun; whatever is missed is listed again afterwards. */
  readonly isPaused: () => boolean;
  readonly process: (work: Work, signal: AbortSignal) => Promise<CycleResult>;
  /** There is nothing left to do: the worker can be forgotten, until the next event. */
  readonly onIdle: () => void;
}

export interface Worker {
  /** Of the object. */
  readonly logger: Logger;
  /** Whether it has something to do now, and not only later. */
  readonly isBusy: boolean;
  push(event: WatchedEvent): void;
  /** Forgets all that is not yet begun. */
  discard(): void;
  /** Goes on with what there is, but neither waits for anything nor comes back by itself any more. */
  wind(): void;
}

type WaitingFor = 'delay' | 'throttling' | 'consistency';

interface Waiting {
  readonly what: WaitingFor;
  readonly until: Seconds;
  readonly controller: ChildController;
}

export function worker(options: WorkerOptions): Worker {
  const { memory, settings, clock, logger, scheduler, signal } = options;
  const events = backlog({ limit: () => settings.queueing.eventsLimit, logger });
  /** Not yet handled. */
  let newest: ObjectState | undefined;
  /** Handled, but to be handled again after a while. */
  let last: ObjectState | undefined;
  /** It cannot be told whether this is newer than our own patch. */
  let uncertain: { readonly state: ObjectState; readonly until: Seconds } | undefined;
  let expectation: { readonly version: string; readonly until: Seconds } | undefined;
  let comeback: { readonly byTouching: boolean } | undefined;
  let waiting: Waiting | undefined;
  let errorDelays: Iterator<Seconds> | undefined;
  let errorDelay: Seconds | undefined;
  let isScheduled = false;
  let isWinding = false;

  const hasWork = (): boolean => newest !== undefined || events.size > 0 || comeback !== undefined;

  const push = (event: WatchedEvent): void => {
    if (options.keepsEvents) events.push(event);
    consider({ type: event.type, body: event.object });
    proceed();
  };

  /** Is there anything new in that state for other handlers than those of events? */
  const consider = (state: ObjectState): void => {
    if (state.type === 'DELETED') {
      newest = state;
      uncertain = undefined;
      return;
    }
    if (memory.isVanishing) return;
    const version = versionOf(state.body);
    const order = compareVersions(version, memory.version);
    if (order === undefined && expectation !== undefined && expectation.until > clock.now()) {
      uncertain = { state, until: expectation.until };
      return;
    }
    // Our own patch comes back, or what was before it. But a listing is to be looked at: things can have been missed.
    const isOld = order !== undefined && (order < 0 || (order === 0 && state.type !== null));
    if (order === 0) {
      expectation = undefined;
      uncertain = undefined;
    }
    if (!isOld) newest = state;
  };

  /** Does what can be done now: begins a cycle, or waits, or ends. */
  const proceed = (): void => {
    if (isScheduled || signal.aborted) return;
    if (waiting?.what === 'throttling') {
      // What is gone needs no mercy: there is nothing to be patched any more.
      if (newest?.type !== 'DELETED') return;
      stopWaiting();
    }
    if (hasWork()) {
      if (newest !== undefined) stopWaiting();
      schedule();
    } else if (waiting === undefined && uncertain !== undefined && !isWinding) {
      wait('consistency', uncertain.until - clock.now());
    } else if (waiting === undefined) {
      options.onIdle();
    }
  };

  const schedule = (): void => {
    isScheduled = true;
    scheduler.spawn({ name: memory.key, run: cycle });
  };

  const take = (): Work => {
    if (newest !== undefined) {
      last = newest;
      const version = versionOf(newest.body);
      if (version !== undefined && newest.type !== 'DELETED') memory.version = version;
    }
    const isBack = comeback !== undefined && newest === undefined;
    const isToTouch = isBack && Boolean(comeback?.byTouching);
    const work = {
      // Nobody is called while touching: the events wait for the next cycle.
      events: isToTouch ? [] : events.take(),
      state: newest ?? (isBack ? last : undefined),
      isToTouch,
    };
    newest = undefined;
    comeback = undefined;
    return work;
  };

  const cycle = async (jobSignal: AbortSignal): Promise<void> => {
    const work = take();
    try {
      // It could be discarded while it was waiting for its turn.
      const isEmpty = work.state === undefined && work.events.length === 0;
      const result = isEmpty ? {} : await options.process(work, jobSignal);
      errorDelays = undefined;
      accept(result);
    } catch (error) {
      if (jobSignal.aborted) return;
      throttle(error, work);
    } finally {
      isScheduled = false;
    }
    if (options.isPaused()) discard();
    else proceed();
  };

  const accept = ({ answer, isVanishing, delay, byTouching = false }: CycleResult): void => {
    if (isVanishing) memory.isVanishing = true;
    if (answer !== undefined && !memory.isVanishing) acceptAnswer(answer);
    if (isWinding || newest !== undefined) return;
    // What was waited for before is either in the new delay, or is not waited for any more.
    if (delay === undefined) return;
    if (delay <= 0) comeback = { byTouching };
    else wait('delay', delay, byTouching);
  };

  const acceptAnswer = (answer: AnyObject): void => {
    const version = versionOf(answer);
    const timeout = settings.persistence.consistencyTimeout;
    const order = newest && compareVersions(version, versionOf(newest.body));
    memory.version = version;
    if (version !== undefined && timeout > 0) expectation = { version, until: clock.now() + timeout };
    if (isWinding) return;
    if (newest?.type === 'DELETED' || (order !== undefined && order <= 0)) return;
    // It came while we were patching, and nobody knows whether before or after that.
    if (newest !== undefined && order === undefined && expectation !== undefined) {
      uncertain = { state: newest, until: expectation.until };
    }
    newest = { type: 'MODIFIED', body: answer };
  };

  const throttle = (thrown: unknown, work: Work): void => {
    const error = toError(thrown);
    errorDelays ??= settings.queueing.errorDelays[Symbol.iterator]();
    const next = errorDelays.next();
    if (!next.done) errorDelay = next.value;
    if (next.done && errorDelay === undefined) {
      logger.error(`An unexpected error: ${describeError(error)}`, { error });
      return;
    }
    const delay = errorDelay ?? 0;
    logger.error(`Throttling for ${delay} seconds due to an unexpected error: ${describeError(error)}`, { error });
    const latest = work.events.at(-1);
    last = work.state ?? last ?? (latest && { type: latest.type, body: latest.object });
    wait('throttling', delay);
  };

  const wait = (what: WaitingFor, seconds: Seconds, byTouching = false): void => {
    stopWaiting();
    const controller = childController(signal);
    const started: Waiting = { what, until: clock.now() + seconds, controller };
    waiting = started;
    clock.sleep(seconds, { signal: controller.signal }).then(
      () => {
        controller.dispose();
        if (waiting !== started) return;
        waiting = undefined;
        resume(what, byTouching);
      },
      () => {},
    );
  };

  const resume = (what: WaitingFor, byTouching: boolean): void => {
    if (what === 'throttling') {
      logger.info('Throttling is over. Switching back to normal operations.');
      newest ??= last;
    } else if (what === 'consistency') {
      expectation = undefined;
      newest ??= uncertain?.state;
      uncertain = undefined;
    } else {
      comeback = { byTouching };
    }
    proceed();
  };

  const stopWaiting = (): void => {
    if (waiting === undefined) return;
    const { what, until, controller } = waiting;
    waiting = undefined;
    controller.abort();
    if (what === 'delay' && !isWinding) logger.debug(interruptedSleep(Math.max(0, until - clock.now())));
  };

  const discard = (): void => {
    events.take();
    newest = undefined;
    last = undefined;
    uncertain = undefined;
    comeback = undefined;
    stopWaiting();
    proceed();
  };

  return {
    logger,
    get isBusy() {
      return isScheduled || hasWork();
    },
    push,
    discard,
    wind() {
      isWinding = true;
      comeback = undefined;
      stopWaiting();
      proceed();
    },
  };
}
