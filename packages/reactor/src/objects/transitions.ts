/**
 * What an object does next: the states of its owner, and every way from one to another. Pure: the owner acts.
 *
 * A cycle is one job for the scheduler. Between its cycles, the object holds no place there: neither while it is idle,
 * nor while it waits for its handlers' delays or for the end of its throttling.
 */
import type { AnyObject, LogLevel, Seconds } from '@kopf-ts/core';
import { interruptedSleep, type WatchedEvent } from '@kopf-ts/core/engine';
import { compareVersions } from './versions.js';

/** The object as it was seen once. */
export interface Observed {
  /** Of the event; `null` if it comes from a listing. */
  readonly type: WatchedEvent['type'];
  readonly body: AnyObject;
}

/** What the object is busy with. */
export type Phase =
  /** There is nothing to do. */
  | 'idle'
  /** Something is to be done later, or may not be begun yet. */
  | 'waiting'
  /** Waits for its turn in the scheduler. */
  | 'queued'
  | 'running';

/** When to come back by itself. */
export interface Alarm {
  readonly why: 'delay' | 'throttling';
  readonly at: Seconds;
  readonly byTouching: boolean;
}

/** It cannot be told whether this is newer than our own patch: so it waits until that one comes, or for a while. */
interface Doubt {
  readonly observed: Observed;
  readonly until: Seconds;
}

export interface ObjectState {
  readonly phase: Phase;
  /** Not yet handled. */
  readonly newest: Observed | undefined;
  /** Handled, but maybe to be handled again after a while. */
  readonly last: Observed | undefined;
  readonly doubt: Doubt | undefined;
  readonly alarm: Alarm | undefined;
  /** To be looked at again, though nothing has changed in it. */
  readonly comeback: { readonly byTouching: boolean } | undefined;
  /** The newest version that is or was handled: what is not newer, is nothing new. */
  readonly version: string | undefined;
  /** We have patched it: until then, what cannot be ordered by versions may be from before that. */
  readonly doubtfulUntil: Seconds | undefined;
  /** We have just released it, or it is gone: there is nothing to do any more. */
  readonly isVanishing: boolean;
  /** The operator ends: what there is gets done, but nothing is waited for. */
  readonly isWinding: boolean;
  /** Paused by somebody: what happens is kept until it is resumed. */
  readonly isHeld: boolean;
  /** The same, by the object itself, and until then. */
  readonly pausedUntil: Seconds | undefined;
}

export const INITIAL: ObjectState = Object.freeze({
  phase: 'idle',
  newest: undefined,
  last: undefined,
  doubt: undefined,
  alarm: undefined,
  comeback: undefined,
  version: undefined,
  doubtfulUntil: undefined,
  isVanishing: false,
  isWinding: false,
  isHeld: false,
  pausedUntil: undefined,
});

/** How a cycle has ended, as far as the next one depends on it. */
export interface Ending {
  /** The object after our patch: it is the newest state there is, and is gone on with at once. */
  readonly answer?: AnyObject | undefined;
  /** There is nothing new in the answer: it need not be looked at. */
  readonly isSettled?: boolean | undefined;
  /** The object vanishes with this very patch; there is nothing left to do but to hear of it. */
  readonly isVanishing?: boolean | undefined;
  /** When to come back by itself; `0` for at once. */
  readonly delay?: Seconds | undefined;
  /** Whether to come back by touching the object. */
  readonly byTouching?: boolean | undefined;
}

export type Input =
  | { readonly kind: 'pushed'; readonly observed: Observed }
  /** What may be begun now, is begun: e.g. since all indices are filled. */
  | { readonly kind: 'opened' }
  /** The scheduler gives it its turn. */
  | { readonly kind: 'turn' }
  | { readonly kind: 'ended'; readonly ending: Ending }
  | {
      readonly kind: 'failed';
      /** What was being handled. */
      readonly observed: Observed | undefined;
      /** Of the events that were being handled, the last one. */
      readonly event: Observed | undefined;
      /** How long to leave the object alone; not at all, if absent. */
      readonly pause: Seconds | undefined;
    }
  | { readonly kind: 'alarmed' }
  | { readonly kind: 'undoubted' }
  /** Somebody has ended who was waited for. */
  | { readonly kind: 'recalled' }
  /** What belongs to it has changed: it is to be looked at, even if there was nothing left to do. */
  | { readonly kind: 'summoned' }
  /** Somebody wants it to be looked at now, and not when it is due. */
  | { readonly kind: 'retried' }
  /** Nothing is begun until it is resumed. */
  | { readonly kind: 'held' }
  | { readonly kind: 'resumed' }
  /** The pause by the object itself has expired. */
  | { readonly kind: 'unpaused' }
  | { readonly kind: 'discarded' }
  | { readonly kind: 'winding' }
  /** The versions of the cluster have gone back: none of those known means anything. */
  | { readonly kind: 'rewound' };

/** What is around at the moment of the input. */
export interface Around {
  readonly now: Seconds;
  /** Whether cycles may be begun. */
  readonly mayBegin: boolean;
  readonly isPaused: boolean;
  /** The stream is over, or the job is broken off. */
  readonly isAborted: boolean;
  /** Whether there are events for the handlers of events. */
  readonly hasEvents: boolean;
  /** Whether it may be looked at again at any time: then its newest state is kept. */
  readonly keepsNewest?: boolean | undefined;
  /** How long to wait for our own patch, where versions cannot be compared. */
  readonly consistencyTimeout: Seconds;
  /** Until when the object pauses itself, in that state. */
  pausedUntil(body: AnyObject): Seconds | undefined;
}

export type Effect =
  /** Ask the scheduler for a turn. */
  | { readonly kind: 'schedule' }
  | { readonly kind: 'run'; readonly observed: Observed | undefined; readonly isToTouch: boolean }
  | { readonly kind: 'set-alarm'; readonly at: Seconds }
  | { readonly kind: 'cancel-alarm' }
  | { readonly kind: 'set-doubt'; readonly at: Seconds }
  | { readonly kind: 'cancel-doubt' }
  /** The object pauses itself from now on, until then, or does not any more. */
  | { readonly kind: 'pause'; readonly until: Seconds }
  | { readonly kind: 'unpause' }
  | { readonly kind: 'drop-events' }
  | { readonly kind: 'say'; readonly level: LogLevel; readonly text: string }
  /** Of the error that the cycle has failed with. */
  | { readonly kind: 'report-error'; readonly pause: Seconds | undefined }
  /** There is nothing left to do. */
  | { readonly kind: 'rest' };

export interface Transition {
  readonly state: ObjectState;
  readonly effects: readonly Effect[];
}

export function transition(state: ObjectState, input: Input, around: Around): Transition {
  const step = new Step(state, around);
  step.take(input);
  return step.result(state);
}

const SAME_MOMENT: Seconds = 0.5;

type Draft = { -readonly [Key in keyof ObjectState]: ObjectState[Key] };

/** One transition in the making: never seen from outside. It writes into a copy of its own, made once. */
class Step {
  readonly #state: Draft;
  readonly #around: Around;
  readonly #effects: Effect[] = [];
  #hasEvents: boolean;

  constructor(state: ObjectState, around: Around) {
    this.#state = { ...state };
    this.#around = around;
    this.#hasEvents = around.hasEvents;
  }

  /** The alarms are those of the new state. */
  result(before: ObjectState): Transition {
    const { alarm, doubt } = this.#state;
    const alarms: Effect[] = [];
    if (alarm !== before.alarm) {
      alarms.push(alarm === undefined ? { kind: 'cancel-alarm' } : { kind: 'set-alarm', at: alarm.at });
    }
    if (doubt !== before.doubt) {
      alarms.push(doubt === undefined ? { kind: 'cancel-doubt' } : { kind: 'set-doubt', at: doubt.until });
    }
    const { pausedUntil } = this.#state;
    if (pausedUntil !== before.pausedUntil) {
      alarms.push(pausedUntil === undefined ? { kind: 'unpause' } : { kind: 'pause', until: pausedUntil });
    }
    // First of all: a turn may come as soon as it is asked for, and change them again.
    return { state: this.#state, effects: alarms.length === 0 ? this.#effects : [...alarms, ...this.#effects] };
  }

  take(input: Input): void {
    switch (input.kind) {
      case 'pushed':
        if (this.#state.phase === 'idle') this.#state.phase = 'waiting';
        this.#consider(input.observed);
        this.#proceed();
        break;
      case 'opened':
        this.#proceed();
        break;
      case 'turn':
        this.#begin();
        break;
      case 'ended':
        this.#state.phase = 'waiting';
        this.#accept(input.ending);
        this.#goOn();
        break;
      case 'failed':
        this.#state.phase = 'waiting';
        // What was broken off by a pause, is not an error; and all is looked at anew after it.
        if (!this.#around.isAborted && !this.#around.isPaused) this.#throttle(input);
        this.#goOn();
        break;
      case 'alarmed':
      case 'retried':
        this.#alarm();
        break;
      case 'undoubted':
        if (this.#state.doubt === undefined) break;
        this.#believe(this.#state.doubt.observed);
        this.#state.doubtfulUntil = undefined;
        this.#proceed();
        break;
      case 'recalled':
        this.#comeBack();
        break;
      case 'summoned':
        if (this.#state.phase === 'idle') this.#state.phase = 'waiting';
        this.#comeBack();
        this.#proceed();
        break;
      case 'held':
        this.#state.isHeld = true;
        break;
      case 'resumed':
        this.#state.isHeld = false;
        this.#proceed();
        break;
      case 'unpaused':
        this.#state.pausedUntil = undefined;
        this.#proceed();
        break;
      case 'discarded':
        this.#forget();
        this.#proceed();
        break;
      case 'winding':
        this.#set({ isWinding: true, comeback: undefined, doubt: undefined, alarm: undefined });
        // It would be handled by the next operator, as all that happens while there is none.
        if (this.#isHeld) this.#forget();
        this.#proceed();
        break;
      case 'rewound':
        // All is listed anew after that; what waits is from a time that never was.
        this.#set({
          version: undefined,
          doubtfulUntil: undefined,
          newest: undefined,
          last: undefined,
          doubt: undefined,
        });
        this.#state.isVanishing = false;
        break;
    }
  }

  #set(changes: Partial<ObjectState>): void {
    Object.assign(this.#state, changes);
  }

  get #isScheduled(): boolean {
    return this.#state.phase === 'queued' || this.#state.phase === 'running';
  }

  get #isHeld(): boolean {
    return this.#state.isHeld || this.#state.pausedUntil !== undefined;
  }

  #proceed(): void {
    const { newest, alarm, comeback } = this.#state;
    if (this.#isScheduled || this.#state.phase === 'idle' || this.#around.isAborted) return;
    if (alarm?.why === 'throttling') {
      // What is gone needs no mercy: there is nothing to be patched any more.
      if (newest?.type !== 'DELETED') return;
      this.#state.alarm = undefined;
    }
    if (newest !== undefined || comeback !== undefined || this.#hasEvents) {
      if (newest !== undefined) this.#interruptDelay();
      if (!this.#around.mayBegin || this.#isHeld) return;
      this.#state.phase = 'queued';
      this.#effects.push({ kind: 'schedule' });
    } else if (this.#state.alarm === undefined && this.#state.doubt === undefined) {
      // An idle object keeps nothing but its version, if nobody can wake it.
      this.#state.phase = 'idle';
      if (!this.#around.keepsNewest) this.#state.last = undefined;
      this.#effects.push({ kind: 'rest' });
    }
  }

  /** After a cycle. */
  #goOn(): void {
    if (this.#around.isAborted || this.#around.isPaused) this.#forget();
    this.#proceed();
  }

  /** Is there anything new for other handlers than those of events? */
  #consider(observed: Observed): void {
    const { now } = this.#around;
    if (observed.type === 'DELETED') {
      this.#state.isVanishing = true;
      this.#believe(observed);
      return;
    }
    const { isVanishing, version: known, doubtfulUntil } = this.#state;
    if (isVanishing) return;
    const version = observed.body.metadata?.resourceVersion;
    const order = compareVersions(version, known);
    if (order === undefined && doubtfulUntil !== undefined && doubtfulUntil > now) {
      this.#doubt(observed, doubtfulUntil);
      return;
    }
    // Our own patch comes back: all that comes from now on is newer.
    if (order === 0) {
      this.#set({ doubtfulUntil: undefined, doubt: undefined });
      // And what waits was believed too early.
      const { newest } = this.#state;
      if (newest !== undefined && compareVersions(newest.body.metadata?.resourceVersion, version) === undefined) {
        this.#state.newest = undefined;
      }
    }
    // The same version, or an earlier one, is nothing new. But a listing is looked at: something can have been missed.
    if (order !== undefined && (order < 0 || (order === 0 && observed.type !== null))) return;
    const { newest } = this.#state;
    const toWaiting = newest && compareVersions(version, newest.body.metadata?.resourceVersion);
    if (toWaiting === undefined || toWaiting >= 0) this.#believe(observed);
  }

  #believe(observed: Observed): void {
    this.#state.doubt = undefined;
    this.#state.newest = observed;
    // What is gone is not paused any more: nobody could resume it.
    if (observed.type === 'DELETED') this.#state.pausedUntil = undefined;
    else this.#pauseAsSaid(observed.body);
  }

  /** The same time of day is not always the same moment by the monotonic clock: but it is the same pause. */
  #pauseAsSaid(body: AnyObject): void {
    const { pausedUntil: before } = this.#state;
    const until = this.#around.pausedUntil(body);
    if (until !== undefined && before !== undefined && Math.abs(until - before) < SAME_MOMENT) return;
    this.#state.pausedUntil = until;
  }

  #doubt(observed: Observed, until: Seconds): void {
    this.#set({ doubt: this.#state.isWinding ? undefined : { observed, until } });
  }

  #begin(): void {
    if (this.#around.isPaused) this.#forget();
    // It was paused while it was waiting for its turn.
    if (this.#isHeld) {
      this.#state.phase = 'waiting';
      this.#proceed();
      return;
    }
    const { newest, comeback, last } = this.#state;
    if (newest !== undefined) {
      const version = newest.type === 'DELETED' ? undefined : newest.body.metadata?.resourceVersion;
      this.#state.last = newest;
      if (version !== undefined) this.#state.version = version;
    }
    const isBack = comeback !== undefined && newest === undefined;
    // The next cycle says anew how long to wait.
    if (isBack) this.#state.alarm = undefined;
    const isToTouch = isBack && comeback.byTouching;
    const observed = newest ?? (isBack ? last : undefined);
    this.#state.newest = undefined;
    this.#state.comeback = undefined;
    // It could be discarded while it was waiting for its turn.
    if (observed === undefined && !this.#hasEvents) {
      this.#state.phase = 'waiting';
      this.#goOn();
      return;
    }
    this.#state.phase = 'running';
    this.#effects.push({ kind: 'run', observed, isToTouch });
  }

  #accept({ answer, isSettled = false, isVanishing, delay, byTouching = false }: Ending): void {
    if (isVanishing) {
      // Whatever has come meanwhile, was before that.
      const { newest } = this.#state;
      const isGone = newest?.type === 'DELETED';
      this.#set({ isVanishing: true, doubt: undefined, newest: isGone ? newest : undefined, comeback: undefined });
    }
    if (answer !== undefined && !this.#state.isVanishing) this.#acceptAnswer(answer, isSettled);
    const { isWinding, newest } = this.#state;
    if (isWinding || newest !== undefined || delay === undefined) return;
    // What was waited for before is either in the new delay, or is not waited for any more.
    if (delay <= 0) this.#state.comeback = { byTouching };
    else this.#wait(this.#around.now + delay, byTouching);
  }

  /** A cycle for events alone knows nothing of what the others wait for: then, the earlier one counts. */
  #wait(at: Seconds, byTouching: boolean): void {
    const { alarm } = this.#state;
    if (alarm?.why === 'delay' && alarm.at <= at) return;
    this.#state.alarm = { why: 'delay', at, byTouching };
  }

  #acceptAnswer(answer: AnyObject, isSettled: boolean): void {
    const { now, consistencyTimeout } = this.#around;
    const version = answer.metadata?.resourceVersion;
    const until = version !== undefined && consistencyTimeout > 0 ? now + consistencyTimeout : undefined;
    // It came while we were patching; or it was in doubt already.
    const rival = this.#state.newest ?? this.#state.doubt?.observed;
    const order = rival && compareVersions(version, rival.body.metadata?.resourceVersion);
    const isUnordered = rival !== undefined && order === undefined;
    // The same version may come by the stream before the answer does.
    const isRivalLater = rival !== undefined && order !== undefined && (isSettled ? order < 0 : order <= 0);
    if (!isUnordered || until !== undefined) {
      this.#set({ version, doubtfulUntil: order === 0 ? undefined : until });
    }
    // If nobody wants to find out which one is newer: the answer comes back anyway.
    if (isRivalLater || (isUnordered && until === undefined)) {
      this.#believe(rival);
      return;
    }
    if (isUnordered && until !== undefined) this.#doubt(rival, until);
    else this.#state.doubt = undefined;
    const isOver = this.#state.isWinding || isSettled;
    // A handler may have asked for it, or somebody else meanwhile.
    this.#pauseAsSaid(answer);
    this.#set({ newest: isOver ? undefined : { type: 'MODIFIED', body: answer } });
    // Whoever wants it to be looked at again means what it is now.
    const isLookedAtAgain = this.#state.comeback !== undefined || this.#around.keepsNewest;
    if (isSettled && isLookedAtAgain) this.#state.last = { type: 'MODIFIED', body: answer };
  }

  #throttle({ observed, event, pause }: Extract<Input, { readonly kind: 'failed' }>): void {
    const { isWinding, last, doubt, version } = this.#state;
    const isPaused = !isWinding && pause !== undefined;
    this.#effects.push({ kind: 'report-error', pause: isPaused ? pause : undefined });
    if (!isPaused) return;
    // What is in doubt, is not to be handled any sooner because of that.
    const again = observed ?? last ?? (doubt === undefined ? ifNotOlder(event, version) : undefined);
    this.#set({ last: again, alarm: { why: 'throttling', at: this.#around.now + pause, byTouching: false } });
  }

  #alarm(): void {
    const { alarm, newest, last } = this.#state;
    if (alarm === undefined) return;
    this.#state.alarm = undefined;
    if (alarm.why === 'throttling') {
      this.#say('info', 'Throttling is over. Switching back to normal operations.');
      this.#state.newest = newest ?? last;
    } else {
      this.#state.comeback = { byTouching: alarm.byTouching };
    }
    this.#proceed();
  }

  #comeBack(): void {
    const { phase, isWinding, isVanishing, last, alarm } = this.#state;
    // The stream that has taken over since then looks by itself.
    const isOver = phase === 'idle' || isWinding || isVanishing || last === undefined;
    if (isOver || this.#around.isPaused) return;
    if (alarm?.why === 'delay') this.#state.alarm = undefined;
    this.#state.comeback = { byTouching: false };
    this.#proceed();
  }

  #interruptDelay(): void {
    const { alarm } = this.#state;
    if (alarm === undefined) return;
    this.#say('debug', interruptedSleep(Math.max(0, alarm.at - this.#around.now)));
    this.#state.alarm = undefined;
  }

  #forget(): void {
    this.#effects.push({ kind: 'drop-events' });
    this.#hasEvents = false;
    this.#set({ newest: undefined, last: undefined, comeback: undefined, doubt: undefined, alarm: undefined });
  }

  #say(level: LogLevel, text: string): void {
    this.#effects.push({ kind: 'say', level, text });
  }
}

/** Of versions that cannot be compared, only the known one is sure to be no older: others would have been news. */
function ifNotOlder(observed: Observed | undefined, version: string | undefined): Observed | undefined {
  if (observed === undefined || version === undefined) return observed;
  const order = compareVersions(observed.body.metadata?.resourceVersion, version);
  return order === undefined || order < 0 ? undefined : observed;
}
