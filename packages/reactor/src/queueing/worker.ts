/**
 * One object and its work: never two cycles at once, nothing lost, and no more memory than the newest state takes.
 *
 * A cycle is one job for the scheduler. Between the cycles, the object holds no place there: neither while it is idle,
 * nor while it waits for its handlers' delays or for the end of its throttling.
 */
import type { AnyObject, Logger, Seconds } from '@kopf-ts/core';
import { alarm, describeError, interruptedSleep, toError, type WatchedEvent } from '@kopf-ts/core/engine';
import type { CycleResult, ObjectState, Work } from '../handling/work.js';
import type { ObjectMemory } from '../memories.js';
import { compareVersions, versionOf } from '../versions.js';
import { Backlog, NO_EVENTS } from './backlog.js';
import { type ErrorPauses, errorPauses } from './throttling.js';
import { newestOf, type Worker, type WorkerSubject, type WorkerSurroundings } from './worker-contract.js';

interface Waiting {
  readonly what: 'delay' | 'throttling';
  readonly until: Seconds;
  readonly cancel: () => void;
}

/**
 * A class and not a bundle of closures: when an operator starts, there is one for each object of the cluster, and
 * most of them do one short cycle. For the same reason, what only few of them need is made when it is needed.
 */
export class ObjectWorker implements Worker {
  readonly memory: ObjectMemory;
  readonly logger: Logger;
  readonly #around: WorkerSurroundings;
  #events: Backlog | undefined;
  #pauses: ErrorPauses | undefined;
  /** Not yet handled. */
  #newest: ObjectState | undefined;
  /** Handled, but to be handled again after a while. */
  #last: ObjectState | undefined;
  /** It cannot be told whether this is newer than our own patch: so it waits until that one comes, or for a while. */
  #doubtful: { readonly state: ObjectState; readonly cancel: () => void } | undefined;
  #comeback: { readonly byTouching: boolean } | undefined;
  #waiting: Waiting | undefined;
  #isScheduled = false;
  #isWinding = false;
  #isOver = false;

  constructor(surroundings: WorkerSurroundings, { memory, logger }: WorkerSubject) {
    this.#around = surroundings;
    this.memory = memory;
    this.logger = logger;
  }

  get isBusy(): boolean {
    return this.#isScheduled || this.#hasWork;
  }

  get #hasWork(): boolean {
    return this.#newest !== undefined || this.#comeback !== undefined || (this.#events?.size ?? 0) > 0;
  }

  push(event: WatchedEvent): void {
    this.#isOver = false;
    if (this.#around.keepsEvents()) {
      this.#events ??= new Backlog(this.#around.settings.queueing, this.logger);
      this.#events.push(event);
    }
    this.#consider({ type: event.type, body: event.object });
    this.proceed();
  }

  proceed(): void {
    if (this.#isScheduled || this.#isOver || this.#around.signal.aborted) return;
    if (this.#waiting?.what === 'throttling') {
      // What is gone needs no mercy: there is nothing to be patched any more.
      if (this.#newest?.type !== 'DELETED') return;
      this.#stopWaiting();
    }
    if (this.#hasWork) {
      if (this.#newest !== undefined) this.#interruptDelay();
      if (this.#around.mayBegin()) this.#schedule();
    } else if (this.#waiting === undefined && this.#doubtful === undefined) {
      this.#isOver = true;
      this.#around.onIdle(this);
    }
  }

  discard(): void {
    this.#forget();
    this.proceed();
  }

  wind(): void {
    this.#isWinding = true;
    this.#comeback = undefined;
    this.#stopDoubting();
    this.#stopWaiting();
    this.proceed();
  }

  /** Is there anything new in that state for other handlers than those of events? */
  #consider(state: ObjectState): void {
    const { memory } = this;
    if (state.type === 'DELETED') {
      memory.isVanishing = true;
      this.#believe(state);
      return;
    }
    if (memory.isVanishing) return;
    const version = versionOf(state.body);
    const order = compareVersions(version, memory.version);
    if (order === undefined && memory.doubtfulUntil !== undefined && memory.doubtfulUntil > this.#now()) {
      this.#doubt(state, memory.doubtfulUntil);
      return;
    }
    // Our own patch comes back: all that comes from now on is newer.
    if (order === 0) {
      memory.doubtfulUntil = undefined;
      this.#stopDoubting();
      // And what waits was believed too early.
      const waiting = this.#newest;
      if (waiting !== undefined && compareVersions(versionOf(waiting.body), version) === undefined) {
        this.#newest = undefined;
      }
    }
    // The same or what was before it, is nothing new. But a listing is to be looked at: things can have been missed.
    if (order !== undefined && (order < 0 || (order === 0 && state.type !== null))) return;
    const toWaiting = this.#newest && compareVersions(version, versionOf(this.#newest.body));
    if (toWaiting === undefined || toWaiting >= 0) this.#believe(state);
  }

  #believe(state: ObjectState): void {
    this.#stopDoubting();
    this.#newest = state;
  }

  #doubt(state: ObjectState, until: Seconds): void {
    this.#stopDoubting();
    if (this.#isWinding) return;
    const cancel = alarm(this.#around.clock, until - this.#now(), () => {
      this.memory.doubtfulUntil = undefined;
      this.#believe(state);
      this.proceed();
    });
    this.#doubtful = { state, cancel };
  }

  #stopDoubting(): void {
    this.#doubtful?.cancel();
    this.#doubtful = undefined;
  }

  #schedule(): void {
    this.#isScheduled = true;
    this.#around.scheduler.spawn({ name: this.memory.key, run: (signal) => this.#cycle(signal) });
  }

  #take(): Work {
    const newest = this.#newest;
    if (newest !== undefined) {
      this.#last = newest;
      const version = versionOf(newest.body);
      if (version !== undefined && newest.type !== 'DELETED') this.memory.version = version;
    }
    const isBack = this.#comeback !== undefined && newest === undefined;
    // Whoever is looked at, tells anew how long to wait.
    if (isBack) this.#stopWaiting();
    const isToTouch = isBack && Boolean(this.#comeback?.byTouching);
    const work = {
      // Nobody is called while touching: the events wait for the next cycle.
      events: isToTouch ? NO_EVENTS : (this.#events?.take() ?? NO_EVENTS),
      state: newest ?? (isBack ? this.#last : undefined),
      isToTouch,
      comeBack: () => this.#comeBack(),
    };
    this.#newest = undefined;
    this.#comeback = undefined;
    return work;
  }

  /** Somebody has ended who was waited for. */
  #comeBack(): void {
    // Whoever has taken over since then, looks by itself.
    const isOver = this.#isOver || this.#isWinding || this.#last === undefined || this.memory.isVanishing;
    if (isOver || this.#around.isPaused()) return;
    if (this.#waiting?.what === 'delay') this.#stopWaiting();
    this.#comeback = { byTouching: false };
    this.proceed();
  }

  async #cycle(jobSignal: AbortSignal): Promise<void> {
    const around = this.#around;
    let work: Work | undefined;
    try {
      if (around.isPaused()) this.#forget();
      work = this.#take();
      // It could be discarded while it was waiting for its turn.
      if (work.state !== undefined || work.events.length > 0) {
        const result = await around.process(this.memory, work, jobSignal);
        this.#pauses = undefined;
        this.#accept(result);
      }
    } catch (error) {
      // What was broken off by a pause, is not an error; and all is looked at anew after it.
      if (!jobSignal.aborted && !around.isPaused()) this.#throttle(error, work);
    } finally {
      this.#isScheduled = false;
    }
    if (jobSignal.aborted || around.isPaused()) this.discard();
    else this.proceed();
  }

  #accept({ answer, isVanishing, delay, byTouching = false }: CycleResult): void {
    if (isVanishing) {
      // Whatever has come meanwhile, was before that.
      this.memory.isVanishing = true;
      this.#stopDoubting();
      if (this.#newest?.type !== 'DELETED') this.#newest = undefined;
      this.#comeback = undefined;
    }
    if (answer !== undefined && !this.memory.isVanishing) this.#acceptAnswer(answer);
    if (this.#isWinding || this.#newest !== undefined) return;
    // What was waited for before is either in the new delay, or is not waited for any more.
    if (delay !== undefined && delay <= 0) this.#comeback = { byTouching };
    else if (delay !== undefined) this.#wait('delay', delay, byTouching);
  }

  #acceptAnswer(answer: AnyObject): void {
    const { memory } = this;
    const version = versionOf(answer);
    const timeout = this.#around.settings.persistence.consistencyTimeout;
    const until = version !== undefined && timeout > 0 ? this.#now() + timeout : undefined;
    // It came while we were patching; or it was in doubt already.
    const rival = this.#newest ?? this.#doubtful?.state;
    const order = rival && compareVersions(version, versionOf(rival.body));
    const isUnordered = rival !== undefined && order === undefined;
    const isRivalLater = rival !== undefined && order !== undefined && order <= 0;
    if (!isUnordered || until !== undefined) {
      memory.version = version;
      memory.doubtfulUntil = order === 0 ? undefined : until;
    }
    // If nobody wants to find out which one is newer: the answer comes back anyway.
    if (isRivalLater || (isUnordered && until === undefined)) {
      this.#believe(rival);
      return;
    }
    if (isUnordered && until !== undefined) this.#doubt(rival, until);
    else this.#stopDoubting();
    this.#newest = this.#isWinding ? undefined : { type: 'MODIFIED', body: answer };
  }

  #throttle(thrown: unknown, work: Work | undefined): void {
    const error = toError(thrown);
    this.#pauses ??= errorPauses(this.#around.settings.queueing);
    const pause = this.#pauses();
    if (this.#isWinding || pause === undefined) {
      this.logger.error(`An unexpected error: ${describeError(error)}`, { error });
      return;
    }
    this.logger.error(`Throttling for ${pause} seconds due to an unexpected error: ${describeError(error)}`, { error });
    // What is in doubt, is not to be handled any sooner because of that.
    this.#last =
      work?.state ?? this.#last ?? (this.#doubtful ? undefined : newestOf(work?.events, this.memory.version));
    this.#wait('throttling', pause);
  }

  #wait(what: Waiting['what'], seconds: Seconds, byTouching = false): void {
    this.#stopWaiting();
    const cancel = alarm(this.#around.clock, seconds, () => {
      this.#waiting = undefined;
      if (what === 'throttling') {
        this.logger.info('Throttling is over. Switching back to normal operations.');
        this.#newest ??= this.#last;
      } else {
        this.#comeback = { byTouching };
      }
      this.proceed();
    });
    this.#waiting = { what, until: this.#now() + seconds, cancel };
  }

  #stopWaiting(): void {
    this.#waiting?.cancel();
    this.#waiting = undefined;
  }

  #interruptDelay(): void {
    if (this.#waiting === undefined) return;
    this.logger.debug(interruptedSleep(Math.max(0, this.#waiting.until - this.#now())));
    this.#stopWaiting();
  }

  #forget(): void {
    this.#events?.take();
    this.#newest = undefined;
    this.#last = undefined;
    this.#comeback = undefined;
    this.#stopDoubting();
    this.#stopWaiting();
  }

  #now(): Seconds {
    return this.#around.clock.now();
  }
}
