/**
 * The owner of one object: the only one who knows what is going on with it, and the only one who changes that.
 *
 * Never two cycles at once, nothing lost, and no more memory than the newest state takes. What it does next is decided
 * by the transitions; what is known of the object is decided by its cycles. Here, both are taken over, and acted upon.
 */
import type {
  Body,
  Clock,
  Logger,
  ObservedObject,
  ReportMalformed,
  Resource,
  Scheduler,
  Seconds,
  Settings,
} from '@kopf-ts/core';
import {
  type AnyHandler,
  alarm,
  describeError,
  type Facts,
  type OwnTimesMemory,
  ownTimesMemory,
  reportOnce,
  toError,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { CycleResult, CycleSubject, Work } from '../cycle/scene.js';
import { ObjectDaemons } from '../daemons/object-daemons.js';
import { tellWaiting } from '../observing/object-facts.js';
import { Backlog, NO_EVENTS } from './backlog.js';
import { type Known, NOTHING_KNOWN, withoutFollowed, withoutUnsent, withWrite } from './known.js';
import type { NotedWrite } from './news.js';
import { type ErrorPauses, errorPauses } from './throttling.js';
import { type Effect, INITIAL, type Input, type ObjectState, type Observed, transition } from './transitions.js';
import { compareVersions, versionOf } from './versions.js';

/** What all objects of one stream have in common: made once, as there are thousands of objects. */
export interface Surroundings {
  readonly resource: Resource;
  readonly facts: Facts;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
  /** Whether there are handlers of events. */
  keepsEvents(): boolean;
  /** While paused, nothing is begun; whatever is missed is listed again afterwards. */
  isPaused(): boolean;
  /** Until then, no cycle begins, and only the newest is kept. When it opens, call {@link HandledObject.proceed}. */
  mayBegin(): boolean;
  process(object: HandledObject, work: Work, signal: AbortSignal): Promise<CycleResult>;
  /** It has something to do now or later. */
  onBusy(object: HandledObject): void;
  /** There is nothing left to do. */
  onIdle(object: HandledObject): void;
}

/** What does not change in an object. */
export type ObjectReference = Pick<ObservedObject, 'kind' | 'namespace' | 'name' | 'uid'>;

export interface ObjectIdentity {
  readonly key: string;
  readonly reference: ObjectReference;
  /** The users' container. */
  readonly memo: unknown;
  /** The object existed before the operator has noticed it; decided by the first event of it. */
  readonly isNoticedByListing: boolean;
  readonly noticedAt: Seconds;
  /** Of the object. */
  readonly logger: Logger;
}

/** What to cancel when it is not needed any more. */
interface Alarms {
  readonly alarm: (() => void) | undefined;
  readonly doubt: (() => void) | undefined;
}

const NO_ALARMS: Alarms = { alarm: undefined, doubt: undefined };

export class HandledObject implements CycleSubject {
  readonly key: string;
  readonly #reference: ObjectReference;
  readonly memo: unknown;
  readonly isNoticedByListing: boolean;
  readonly malformed: ReportMalformed;
  readonly daemons: ObjectDaemons;
  readonly logger: Logger;
  #ownTimes: OwnTimesMemory | undefined;
  /** How many daemons and timers are changing the object now. */
  #writing = 0;
  /** Of handlers that take their time, as often as they are called now. */
  #calls: AnyHandler[] = [];
  #state: ObjectState = INITIAL;
  #known: Known = NOTHING_KNOWN;
  #around: Surroundings | undefined;
  #alarms: Alarms = NO_ALARMS;
  #events: Backlog | undefined;
  #pauses: ErrorPauses | undefined;

  constructor({ key, reference, memo, isNoticedByListing, noticedAt, logger }: ObjectIdentity) {
    this.key = key;
    this.#reference = reference;
    this.memo = memo;
    this.isNoticedByListing = isNoticedByListing;
    this.logger = logger;
    this.malformed = reportOnce(logger);
    this.daemons = new ObjectDaemons(noticedAt);
  }

  /** Made when it is needed: few objects have handlers that are retried. */
  get ownTimes(): OwnTimesMemory {
    this.#ownTimes ??= ownTimesMemory();
    return this.#ownTimes;
  }

  /** As facts have it. */
  get observed(): ObservedObject {
    const { kind, namespace, name, uid } = this.#reference;
    const { resource } = this.#surroundings;
    return Object.freeze({ resource, kind: kind ?? resource.kind, namespace, name, uid });
  }

  /** Handlers that are being waited for. */
  get running(): readonly AnyHandler[] {
    return this.#calls;
  }

  begin(handler: AnyHandler): void {
    this.#calls.push(handler);
  }

  end(handler: AnyHandler): void {
    const index = this.#calls.indexOf(handler);
    if (index >= 0) this.#calls.splice(index, 1);
  }

  get known(): Known {
    return this.#known;
  }

  get state(): ObjectState {
    return this.#state;
  }

  /** Whether it has something to do now, and not only later. */
  get isBusy(): boolean {
    const { phase, newest, comeback } = this.#state;
    const isScheduled = phase === 'queued' || phase === 'running';
    return isScheduled || newest !== undefined || comeback !== undefined || this.#hasEvents;
  }

  /** Takes it into another stream, if it is not there yet: the old one is over. */
  join(around: Surroundings): this {
    if (this.#around === around) return this;
    this.#cancelAlarm('alarm');
    this.#cancelAlarm('doubt');
    const { version, doubtfulUntil, isVanishing, isHeld } = this.#state;
    this.#become({ ...INITIAL, version, doubtfulUntil, isVanishing, isHeld });
    this.#around = around;
    this.#events = undefined;
    this.#pauses = undefined;
    return this;
  }

  push(event: WatchedEvent): void {
    const around = this.#surroundings;
    around.onBusy(this);
    if (around.keepsEvents()) {
      this.#events ??= new Backlog(around.settings.queueing, this.logger);
      this.#events.push(event);
    }
    this.#take({ kind: 'pushed', observed: { type: event.type, body: event.object } });
  }

  /** Does what can be done now: begins a cycle, or waits, or ends. */
  proceed(): void {
    this.#take({ kind: 'opened' });
  }

  /** Forgets all that is not yet begun. */
  discard(): void {
    this.#take({ kind: 'discarded' });
  }

  /** Others may have worked on it: what was not sent until now is outdated. */
  forgetUnsent(): void {
    this.#learn(withoutUnsent(this.#known));
  }

  /** Whether it is in a stream. */
  get isServed(): boolean {
    return this.#around !== undefined;
  }

  /** Whether somebody has paused it. */
  get isHeld(): boolean {
    return this.#state.isHeld;
  }

  /** Handlers that wait for their next attempt are due now. Tells whether there was anything to wait for. */
  retry(): boolean {
    if (this.#state.phase !== 'waiting' || this.#state.alarm === undefined) return false;
    const { clock } = this.#surroundings;
    this.#ownTimes?.hurry(clock.now());
    this.#learn({ ...this.#known, breaker: { ...this.#known.breaker, until: undefined } });
    this.#take({ kind: 'retried' });
    return true;
  }

  /** Begins nothing until resumed. Tells whether that is new. */
  pause(): boolean {
    if (this.isHeld) return false;
    this.#take({ kind: 'held' });
    return true;
  }

  /** Goes on with all that has happened meanwhile. */
  resume(): void {
    this.#take({ kind: 'resumed' });
  }

  /** Goes on with what there is, but neither waits for anything nor comes back by itself any more. */
  wind(): void {
    this.#take({ kind: 'winding' });
  }

  /** The versions of the cluster have gone back. */
  rewind(): void {
    this.#take({ kind: 'rewound' });
    this.#learn({ ...this.#known, writes: [] });
  }

  newerThan(body: Body): Observed | undefined {
    const { newest } = this.#state;
    if (newest === undefined || newest.type === 'DELETED') return undefined;
    return (compareVersions(versionOf(newest.body), versionOf(body)) ?? 0) > 0 ? newest : undefined;
  }

  noteWrite(write: NotedWrite): void {
    this.#learn(withWrite(this.#known, write));
  }

  get isBeingWritten(): boolean {
    return this.#writing > 0;
  }

  beginWrite(): () => void {
    this.#writing += 1;
    return () => {
      this.#writing -= 1;
      // Somebody may wait to learn whose the latest change is.
      if (this.#writing === 0 && this.#around !== undefined) this.#take({ kind: 'recalled' });
    };
  }

  /** Whether it is nothing new: mostly, our own patch that comes back. */
  isEcho(event: WatchedEvent): boolean {
    if (event.type !== 'MODIFIED' || this.#state.phase !== 'idle' || this.#state.doubtfulUntil !== undefined)
      return false;
    const order = compareVersions(versionOf(event.object), this.#state.version);
    return order !== undefined && order <= 0;
  }

  get #surroundings(): Surroundings {
    if (this.#around === undefined) throw new Error(`The object ${this.key} is in no stream.`);
    return this.#around;
  }

  /** Deletions and first looks are not to wait behind everything else. */
  get #occasion(): 'first' | 'deletion' | undefined {
    const { newest, version } = this.#state;
    if (newest === undefined) return undefined;
    if (newest.type === 'DELETED' || newest.body.metadata?.deletionTimestamp) return 'deletion';
    return version === undefined ? 'first' : undefined;
  }

  get #hasEvents(): boolean {
    return (this.#events?.size ?? 0) > 0;
  }

  /** The only way to another state. */
  #take(input: Input, isBrokenOff = false): readonly Effect[] {
    const { clock, signal, settings, mayBegin, isPaused, facts } = this.#surroundings;
    const before = this.#state;
    const { state, effects } = transition(before, input, {
      now: clock.now(),
      mayBegin: mayBegin(),
      isPaused: isPaused(),
      isAborted: signal.aborted || isBrokenOff,
      hasEvents: this.#hasEvents,
      consistencyTimeout: settings.persistence.consistencyTimeout,
    });
    this.#become(state);
    if (facts.wants['object.waiting'] || facts.wants['object.woken']) {
      tellWaiting(facts, this.observed, input, before, state);
    }
    for (const effect of effects) this.#act(effect);
    return effects;
  }

  #become(state: ObjectState): void {
    this.#state = state;
  }

  #learn(known: Known): void {
    this.#known = known;
  }

  #act(effect: Effect): void {
    const around = this.#surroundings;
    switch (effect.kind) {
      case 'schedule':
        around.scheduler.spawn({
          name: this.key,
          run: (signal) => this.#turn(signal),
          ...(this.#occasion === undefined ? {} : { occasion: this.#occasion }),
        });
        break;
      case 'set-alarm':
        this.#setAlarm('alarm', effect.at, { kind: 'alarmed' });
        break;
      case 'set-doubt':
        this.#setAlarm('doubt', effect.at, { kind: 'undoubted' });
        break;
      case 'cancel-alarm':
        this.#cancelAlarm('alarm');
        break;
      case 'cancel-doubt':
        this.#cancelAlarm('doubt');
        break;
      case 'drop-events':
        this.#events?.take();
        break;
      case 'say':
        this.logger[effect.level](effect.text);
        break;
      case 'rest':
        around.onIdle(this);
        break;
      case 'run':
      case 'report-error':
        // The cycle itself sees to these.
        break;
    }
  }

  /** One cycle, in its turn. */
  async #turn(signal: AbortSignal): Promise<void> {
    const run = this.#take({ kind: 'turn' }, signal.aborted).find((effect) => effect.kind === 'run');
    if (run === undefined) return;
    const { observed, isToTouch } = run;
    const work: Work = {
      // Nobody is called while touching: the events wait for the next cycle.
      events: isToTouch ? NO_EVENTS : (this.#events?.take() ?? NO_EVENTS),
      state: observed,
      isToTouch,
      comeBack: () => void this.#take({ kind: 'recalled' }),
    };
    const before = this.#known;
    let result: CycleResult;
    try {
      result = await this.#surroundings.process(this, work, signal);
    } catch (error) {
      return this.#fail(error, work, signal);
    }
    if (result.known !== undefined) {
      // Daemons may have changed the object meanwhile.
      const known = { ...result.known, writes: this.#known.writes };
      this.#learn(
        result.isSettled
          ? withoutFollowed(known, known, result.answer)
          : withoutFollowed(known, before, observed?.body),
      );
    }
    if (result.error !== undefined) return this.#fail(result.error, work, signal);
    this.#pauses = undefined;
    this.#take({ kind: 'ended', ending: result }, signal.aborted);
  }

  #fail(thrown: unknown, { state: observed, events }: Work, signal: AbortSignal): void {
    const { settings, isPaused, facts } = this.#surroundings;
    const isBrokenOff = signal.aborted || isPaused();
    this.#pauses ??= errorPauses(settings.queueing);
    const pause = isBrokenOff ? undefined : this.#pauses();
    const latest = events.at(-1);
    const event = latest && { type: latest.type, body: latest.object };
    const effects = this.#take({ kind: 'failed', observed, event, pause }, signal.aborted);
    const report = effects.find((effect) => effect.kind === 'report-error');
    if (report === undefined) return;
    const error = toError(thrown);
    const title =
      report.pause === undefined
        ? 'An unexpected error'
        : `Throttling for ${report.pause} seconds due to an unexpected error`;
    this.logger.error(`${title}: ${describeError(error)}`, { error });
    if (facts.wants['object.failed']) {
      facts.tell({ kind: 'object.failed', object: this.observed, error, pause: report.pause });
    }
  }

  #setAlarm(which: keyof Alarms, at: Seconds, input: Input): void {
    this.#cancelAlarm(which);
    const { clock } = this.#surroundings;
    const cancel = alarm(clock, at - clock.now(), () => {
      this.#alarms = { ...this.#alarms, [which]: undefined };
      this.#take(input);
    });
    this.#alarms = { ...this.#alarms, [which]: cancel };
  }

  #cancelAlarm(which: keyof Alarms): void {
    this.#alarms[which]?.();
    this.#alarms = { ...this.#alarms, [which]: undefined };
  }
}
