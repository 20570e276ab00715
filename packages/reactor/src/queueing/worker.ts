/**
 * One object and its work: never two cycles at once, nothing lost, and no more memory than the newest state takes.
 *
 * A cycle is one job for the scheduler. Between the cycles, the object holds no place there: neither while it is idle,
 * nor while it waits for its handlers' delays or for the end of its throttling.
 */
import type { AnyObject, Seconds } from '@kopf-ts/core';
import { alarm, describeError, interruptedSleep, toError, type WatchedEvent } from '@kopf-ts/core/engine';
import type { CycleResult, ObjectState, Work } from '../handling/work.js';
import { compareVersions, versionOf } from '../versions.js';
import { backlog } from './backlog.js';
import { errorPauses } from './throttling.js';
import { newestOf, type Worker, type WorkerOptions } from './worker-contract.js';

interface Waiting {
  readonly what: 'delay' | 'throttling';
  readonly until: Seconds;
  readonly cancel: () => void;
}

export function worker(options: WorkerOptions): Worker {
  const { memory, settings, clock, logger, scheduler, signal } = options;
  const events = backlog({ limit: () => settings.queueing.eventsLimit, logger });
  const pauses = errorPauses(settings.queueing);
  /** Not yet handled. */
  let newest: ObjectState | undefined;
  /** Handled, but to be handled again after a while. */
  let last: ObjectState | undefined;
  /** It cannot be told whether this is newer than our own patch: so it waits until that one comes, or for a while. */
  let doubtful: { readonly state: ObjectState; readonly cancel: () => void } | undefined;
  let comeback: { readonly byTouching: boolean } | undefined;
  let waiting: Waiting | undefined;
  let isScheduled = false;
  let isWinding = false;
  let isOver = false;

  const hasWork = (): boolean => newest !== undefined || events.size > 0 || comeback !== undefined;

  const push = (event: WatchedEvent): void => {
    isOver = false;
    if (options.keepsEvents) events.push(event);
    consider({ type: event.type, body: event.object });
    proceed();
  };

  /** Is there anything new in that state for other handlers than those of events? */
  const consider = (state: ObjectState): void => {
    if (state.type === 'DELETED') {
      memory.isVanishing = true;
      believe(state);
      return;
    }
    if (memory.isVanishing) return;
    const version = versionOf(state.body);
    const order = compareVersions(version, memory.version);
    if (order === undefined && memory.doubtfulUntil !== undefined && memory.doubtfulUntil > clock.now()) {
      doubt(state, memory.doubtfulUntil);
      return;
    }
    // Our own patch comes back: all that comes from now on is newer.
    if (order === 0) {
      memory.doubtfulUntil = undefined;
      stopDoubting();
      // And what waits was believed too early.
      if (newest !== undefined && compareVersions(versionOf(newest.body), version) === undefined) newest = undefined;
    }
    // The same or what was before it, is nothing new. But a listing is to be looked at: things can have been missed.
    if (order !== undefined && (order < 0 || (order === 0 && state.type !== null))) return;
    const toWaiting = newest && compareVersions(version, versionOf(newest.body));
    if (toWaiting === undefined || toWaiting >= 0) believe(state);
  };

  const believe = (state: ObjectState): void => {
    stopDoubting();
    newest = state;
  };

  const doubt = (state: ObjectState, until: Seconds): void => {
    stopDoubting();
    if (isWinding) return;
    const cancel = alarm(clock, until - clock.now(), () => {
      memory.doubtfulUntil = undefined;
      believe(state);
      proceed();
    });
    doubtful = { state, cancel };
  };

  const stopDoubting = (): void => {
    doubtful?.cancel();
    doubtful = undefined;
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
      if (newest !== undefined) interruptDelay();
      schedule();
    } else if (waiting === undefined && doubtful === undefined) {
      isOver = true;
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
    // Whoever is looked at, tells anew how long to wait.
    if (isBack) stopWaiting();
    const isToTouch = isBack && Boolean(comeback?.byTouching);
    const work = {
      // Nobody is called while touching: the events wait for the next cycle.
      events: isToTouch ? [] : events.take(),
      state: newest ?? (isBack ? last : undefined),
      isToTouch,
      comeBack,
    };
    newest = undefined;
    comeback = undefined;
    return work;
  };

  /** Somebody has ended who was waited for. */
  const comeBack = (): void => {
    // Whoever has taken over since then, looks by itself.
    if (isOver || isWinding || last === undefined || memory.isVanishing || options.isPaused()) return;
    if (waiting?.what === 'delay') stopWaiting();
    comeback = { byTouching: false };
    proceed();
  };

  const cycle = async (jobSignal: AbortSignal): Promise<void> => {
    let work: Work | undefined;
    try {
      const ready = options.whenReady?.();
      if (ready !== undefined) await ready;
      if (options.isPaused()) forget();
      work = take();
      // It could be discarded while it was waiting for its turn.
      if (work.state !== undefined || work.events.length > 0) {
        const result = await options.process(work, jobSignal);
        pauses.reset();
        accept(result);
      }
    } catch (error) {
      // What was broken off by a pause, is not an error; and all is looked at anew after it.
      if (!jobSignal.aborted && !options.isPaused()) throttle(error, work);
    } finally {
      isScheduled = false;
    }
    if (jobSignal.aborted || options.isPaused()) discard();
    else proceed();
  };

  const accept = ({ answer, isVanishing, delay, byTouching = false }: CycleResult): void => {
    if (isVanishing) {
      // Whatever has come meanwhile, was before that.
      memory.isVanishing = true;
      stopDoubting();
      if (newest?.type !== 'DELETED') newest = undefined;
      comeback = undefined;
    }
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
    const until = version !== undefined && timeout > 0 ? clock.now() + timeout : undefined;
    // It came while we were patching; or it was in doubt already.
    const rival = newest ?? doubtful?.state;
    const order = rival && compareVersions(version, versionOf(rival.body));
    const isUnordered = rival !== undefined && order === undefined;
    const isRivalLater = rival !== undefined && order !== undefined && order <= 0;
    if (!isUnordered || until !== undefined) {
      memory.version = version;
      memory.doubtfulUntil = order === 0 ? undefined : until;
    }
    // If nobody wants to find out which one is newer: the answer comes back anyway.
    if (isRivalLater || (isUnordered && until === undefined)) {
      believe(rival);
      return;
    }
    if (isUnordered && until !== undefined) doubt(rival, until);
    else stopDoubting();
    newest = isWinding ? undefined : { type: 'MODIFIED', body: answer };
  };

  const throttle = (thrown: unknown, work: Work | undefined): void => {
    const error = toError(thrown);
    const pause = pauses.next();
    if (isWinding || pause === undefined) {
      logger.error(`An unexpected error: ${describeError(error)}`, { error });
      return;
    }
    logger.error(`Throttling for ${pause} seconds due to an unexpected error: ${describeError(error)}`, { error });
    // What is in doubt, is not to be handled any sooner because of that.
    last = work?.state ?? last ?? (doubtful ? undefined : newestOf(work?.events, memory.version));
    wait('throttling', pause);
  };

  const wait = (what: Waiting['what'], seconds: Seconds, byTouching = false): void => {
    stopWaiting();
    const cancel = alarm(clock, seconds, () => {
      waiting = undefined;
      if (what === 'throttling') {
        logger.info('Throttling is over. Switching back to normal operations.');
        newest ??= last;
      } else {
        comeback = { byTouching };
      }
      proceed();
    });
    waiting = { what, until: clock.now() + seconds, cancel };
  };

  const stopWaiting = (): void => {
    waiting?.cancel();
    waiting = undefined;
  };

  const interruptDelay = (): void => {
    if (waiting === undefined) return;
    logger.debug(interruptedSleep(Math.max(0, waiting.until - clock.now())));
    stopWaiting();
  };

  const forget = (): void => {
    events.take();
    newest = undefined;
    last = undefined;
    comeback = undefined;
    stopDoubting();
    stopWaiting();
  };

  const discard = (): void => {
    forget();
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
      stopDoubting();
      stopWaiting();
      proceed();
    },
  };
}
