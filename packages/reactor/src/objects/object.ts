/**
 * The owner of one object: the only component that tracks and changes its handling.
 *
 * There are never two cycles at once, nothing is lost, and it takes no more memory than the newest state. The
 * transitions decide what to do next; the cycles decide what is known of the object. This class applies both.
 */
import type {
  AnyObject,
  Awaitable,
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
  type EndTurn,
  type Facts,
  type ObjectOwner,
  type OwnTimesMemory,
  ownTimesMemory,
  reportOnce,
  Turns,
  toError,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { RunCycle } from '../cycle/cycle.js';
import type { CycleOptions, CycleResult, CycleSubject } from '../cycle/scene.js';
import { ObjectDaemons } from '../daemons/object-daemons.js';
import { tellPaused, tellWaiting } from '../observing/object-facts.js';
import { Backlog, NO_EVENTS } from './backlog.js';
import {
  hurried,
  isAnyDue,
  type Known,
  NO_RETRIES,
  NOTHING_KNOWN,
  withoutFollowed,
  withoutUnsent,
  withWrite,
} from './known.js';
import type { NotedWrite } from './news.js';
import { pausedUntil } from './pausing.js';
import { type ErrorPauses, errorPauses } from './throttling.js';
import { type Effect, INITIAL, type Input, type ObjectState, type Observed, transition } from './transitions.js';
import { compareVersions, isLater } from './versions.js';

/** What all objects of one stream share: created once, as there are thousands of objects. */
export interface Surroundings {
  readonly resource: Resource;
  readonly facts: Facts;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
  /** Whether there are event handlers. */
  keepsEvents(): boolean;
  /** Whether another operator may take over at any moment, and whether this one may write right now. */
  readonly isGuarded: () => boolean;
  readonly mayWrite: () => boolean;
  /** Whether objects may be looked at again at any time, since they have children: then their states are kept. */
  readonly mayBeSummoned?: boolean | undefined;
  /** Called when we have changed the object ourselves. */
  onWritten?(body: AnyObject): void;
  /** While paused, nothing is begun; missed changes are listed afterwards. */
  isPaused(): boolean;
  /**
   * Until it opens, no cycle begins, and only the newest state is kept. When it opens, call {@link
   * HandledObject.proceed}.
   */
  mayBegin(): boolean;
  /** Whether the object is outside of the served ones. Default: it is served. */
  readonly isOutside?: ((body: Body) => boolean) | undefined;
  readonly process: RunCycle;
  /** Called when there is something to do now or later. */
  onBusy(object: HandledObject): void;
  /** Called when there is nothing left to do. */
  onIdle(object: HandledObject): void;
  /** Called when the object pauses itself: its daemons are to be stopped. */
  onPaused?(object: HandledObject): void;
}

/** The constants of an object. */
export type ObjectReference = Pick<ObservedObject, 'kind' | 'namespace' | 'name' | 'uid'>;

export interface ObjectIdentity {
  readonly key: string;
  readonly reference: ObjectReference;
  /** The users' container. */
  readonly memo: unknown;
  /** Whether the object existed before the operator noticed it; decided by its first event. */
  readonly isNoticedByListing: boolean;
  readonly noticedAt: Seconds;
  /** Of the object. */
  readonly logger: Logger;
  /** Keeps a change of ours for another object that is not known yet. */
  readonly passOn: (write: NotedWrite) => void;
}

/** To be called when the alarm is not needed any more. */
type CancelAlarm = () => void;

const NOBODY: readonly AnyHandler[] = [];
/** How long a change of ours waits for the others: the server may be slow, and mere conflicts do no harm. */
const TURN_PATIENCE: Seconds = 2;
const OVER: Promise<void> = Promise.resolve();

export class HandledObject implements CycleSubject, ObjectOwner {
  readonly key: string;
  readonly #reference: ObjectReference;
  readonly memo: unknown;
  readonly isNoticedByListing: boolean;
  readonly daemons: ObjectDaemons;
  readonly logger: Logger;
  readonly passOn: (write: NotedWrite) => void;
  #malformed: ReportMalformed | undefined;
  #ownTimes: OwnTimesMemory | undefined;
  /** Created on demand: only for objects that are written. */
  #turns: Turns | undefined;
  /** The number of daemons, timers and verbs that are changing the object, and whether a task waits for them. */
  #writing = 0;
  #isWrittenAwaited = false;
  /** Running calls of handlers that take their time, by handler. */
  #calls: AnyHandler[] | undefined;
  #state: ObjectState = INITIAL;
  #known: Known = NOTHING_KNOWN;
  #around: Surroundings | undefined;
  #cancelAlarm: CancelAlarm | undefined;
  #cancelDoubt: CancelAlarm | undefined;
  #cancelPause: CancelAlarm | undefined;
  #events: Backlog | undefined;
  #pauses: ErrorPauses | undefined;

  constructor({ key, reference, memo, isNoticedByListing, noticedAt, logger, passOn }: ObjectIdentity) {
    this.key = key;
    this.passOn = passOn;
    this.#reference = reference;
    this.memo = memo;
    this.isNoticedByListing = isNoticedByListing;
    this.logger = logger;
    this.daemons = new ObjectDaemons(noticedAt);
  }

  /** Created on demand: few objects have anything malformed. */
  get malformed(): ReportMalformed {
    this.#malformed ??= reportOnce(this.logger);
    return this.#malformed;
  }

  /** Created on demand: few objects have handlers that are retried. */
  get ownTimes(): OwnTimesMemory {
    this.#ownTimes ??= ownTimesMemory();
    return this.#ownTimes;
  }

  /** The reference for facts. */
  get observed(): ObservedObject {
    const { kind, namespace, name, uid } = this.#reference;
    const { resource } = this.#surroundings;
    return Object.freeze({ resource, kind: kind ?? resource.kind, namespace, name, uid });
  }

  /** Handlers that are being waited for. */
  get running(): readonly AnyHandler[] {
    return this.#calls ?? NOBODY;
  }

  begin(handler: AnyHandler): void {
    this.#calls ??= [];
    this.#calls.push(handler);
  }

  end(handler: AnyHandler): void {
    const calls = this.#calls ?? [];
    const index = calls.indexOf(handler);
    if (index >= 0) calls.splice(index, 1);
  }

  get known(): Known {
    return this.#known;
  }

  get state(): ObjectState {
    return this.#state;
  }

  /** Whether it has something to do now, not only later. */
  get isBusy(): boolean {
    const { phase, newest, comeback } = this.#state;
    const isScheduled = phase === 'queued' || phase === 'running';
    return isScheduled || newest !== undefined || comeback !== undefined || this.#hasEvents;
  }

  isOutside(body: Body): boolean {
    return this.#surroundings.isOutside?.(body) ?? false;
  }

  /** Moves it to another stream if it is not there yet: the old one is over. */
  join(around: Surroundings): this {
    if (this.#around === around) return this;
    if (this.#around !== undefined) this.#leave();
    this.#around = around;
    return this;
  }

  #leave(): void {
    this.#cancelAlarm?.();
    this.#cancelDoubt?.();
    this.#cancelAlarm = undefined;
    this.#cancelDoubt = undefined;
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    const { version, doubtfulUntil, isVanishing, isHeld } = this.#state;
    this.#become({ ...INITIAL, version, doubtfulUntil, isVanishing, isHeld });
    this.#events = undefined;
    this.#pauses = undefined;
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

  /** Its children have changed. */
  summon(): void {
    if (!this.#around?.mayBeSummoned || this.#around.signal.aborted) return;
    this.#around.onBusy(this);
    this.#take({ kind: 'summoned' });
  }

  /** Does what can be done now: begins a cycle, waits, or ends. */
  proceed(): void {
    this.#take({ kind: 'opened' });
  }

  /** Forgets all that is not yet begun. */
  discard(): void {
    this.#take({ kind: 'discarded' });
  }

  /** Others may have worked on it: unsent work is outdated. */
  forgetUnsent(): void {
    this.#learn(withoutUnsent(this.#known));
  }

  /** Whether it is in a stream. */
  get isServed(): boolean {
    return this.#around !== undefined;
  }

  /** Whether it is paused: by control, or by an annotation. */
  get isHeld(): boolean {
    return this.#state.isHeld || this.#state.pausedUntil !== undefined;
  }

  /** Makes handlers that wait for their next attempt due now. Returns whether there was anything to wait for. */
  retry(): boolean {
    if (this.#state.phase !== 'waiting' || this.#state.alarm === undefined) return false;
    const { clock } = this.#surroundings;
    this.#ownTimes?.hurry(clock.now());
    const eventRetries = hurried(this.#known.eventRetries, clock.now());
    const { breaker, eventBreaker } = this.#known;
    this.#learn({
      ...this.#known,
      breaker: { ...breaker, until: undefined },
      eventBreaker: { ...eventBreaker, until: undefined },
      eventRetries,
    });
    this.#take({ kind: 'retried' });
    return true;
  }

  /** Begins nothing until resumed. Returns whether it was not paused before. */
  pause(): boolean {
    if (this.#state.isHeld) return false;
    this.#take({ kind: 'held' });
    return true;
  }

  /** Continues with all that has happened meanwhile. */
  resume(): void {
    this.#take({ kind: 'resumed' });
  }

  /** Finishes the current work, but neither waits for anything nor comes back by itself any more. */
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
    if (newest?.type === 'DELETED') return undefined;
    const own = this.#known.writes.at(-1)?.after;
    const known = newest === undefined || (own !== undefined && isLater(own, newest.body)) ? asObserved(own) : newest;
    return known !== undefined && isLater(known.body, body) ? known : undefined;
  }

  /** The newest known state; an idle object keeps none. */
  newest(): Body | undefined {
    const { last } = this.#state;
    const { live } = this.daemons;
    const handled = last === undefined || last.type === 'DELETED' ? undefined : last.body;
    const seen = live === undefined || (handled !== undefined && isLater(handled, live.newest)) ? handled : live.newest;
    if (seen !== undefined) return this.newerThan(seen)?.body ?? seen;
    const { newest } = this.#state;
    return newest === undefined || newest.type === 'DELETED' ? undefined : newest.body;
  }

  /** Enough of the object to identify it. */
  get reference(): AnyObject {
    const { kind, ...metadata } = this.#reference;
    return { ...(kind !== undefined && { kind }), metadata: definedOnly(metadata) };
  }

  get uid(): string | undefined {
    return this.#reference.uid;
  }

  get name(): string | undefined {
    return this.#reference.name;
  }

  get namespace(): string | undefined {
    return this.#reference.namespace;
  }

  get resource(): Resource {
    return this.#surroundings.resource;
  }

  get isAlwaysGuarded(): boolean {
    return this.#surroundings.isGuarded();
  }

  mayWrite(): boolean {
    return this.#surroundings.mayWrite();
  }

  noteWrite(write: NotedWrite): void {
    this.#learn(withWrite(this.#known, write));
    this.#around?.onWritten?.(write.after as AnyObject);
  }

  get writes(): readonly NotedWrite[] {
    return this.#known.writes;
  }

  get isBeingWritten(): boolean {
    return this.#writing > 0;
  }

  /** Our own changes go one after another, so that none of them makes another one outdated on its way. */
  takeTurn(options: { readonly isUrgent?: boolean } = {}): Awaitable<EndTurn> {
    this.#turns ??= new Turns();
    return this.#turns.take({ ...options, clock: this.#surroundings.clock, patience: TURN_PATIENCE });
  }

  beginWrite(): () => void {
    this.#writing += 1;
    return () => {
      this.#writing -= 1;
      if (this.#writing > 0 || !this.#isWrittenAwaited) return;
      this.#isWrittenAwaited = false;
      if (this.#around !== undefined) this.#take({ kind: 'recalled' });
    };
  }

  awaitWritten(): void {
    this.#isWrittenAwaited = true;
  }

  /** Whether it is nothing new: mostly, our own patch that comes back. */
  isEcho(event: WatchedEvent): boolean {
    if (event.type !== 'MODIFIED' || this.#state.phase !== 'idle' || this.#state.doubtfulUntil !== undefined)
      return false;
    const order = compareVersions(event.object.metadata?.resourceVersion, this.#state.version);
    return order !== undefined && order <= 0;
  }

  get #surroundings(): Surroundings {
    if (this.#around === undefined) throw new Error(`The object ${this.key} is in no stream.`);
    return this.#around;
  }

  /** Deletions and first looks do not wait behind everything else. */
  get #occasion(): 'first' | 'deletion' | undefined {
    const { newest, version } = this.#state;
    if (newest === undefined) return undefined;
    if (isLeaving(newest)) return 'deletion';
    return version === undefined ? 'first' : undefined;
  }

  /** Includes events that a handler is to be called with again. */
  get #hasEvents(): boolean {
    if (this.#events !== undefined && this.#events.size > 0 && !this.#areEventsHeld) return true;
    const { eventRetries } = this.#known;
    return eventRetries.size > 0 && this.#around !== undefined && isAnyDue(eventRetries, this.#around.clock.now());
  }

  /** Whether the event handlers are held back because they change the same fields again and again. */
  get #areEventsHeld(): boolean {
    const { until } = this.#known.eventBreaker;
    if (until === undefined || this.#occasion === 'deletion') return false;
    return this.#around !== undefined && until > this.#around.clock.now();
  }

  #take(input: Input, isBrokenOff = false): readonly Effect[] {
    const before = this.#state;
    const effects = this.#step(input, isBrokenOff);
    this.#follow(input, before, effects);
    return effects;
  }

  readonly #pausedUntil = (body: AnyObject): Seconds | undefined => {
    const { clock, settings } = this.#surroundings;
    return pausedUntil(body, settings.persistence.pauseAnnotation, clock, () => this.malformed);
  };

  /** The only way to another state. The resulting effects are still to be performed. */
  #step(input: Input, isBrokenOff: boolean): readonly Effect[] {
    const { clock, signal, settings, mayBegin, isPaused } = this.#surroundings;
    const { state, effects } = transition(this.#state, input, {
      now: clock.now(),
      mayBegin: mayBegin(),
      // Events are only stored: they matter when a cycle begins or ends.
      isPaused: input.kind !== 'pushed' && isPaused(),
      isAborted: signal.aborted || isBrokenOff,
      hasEvents: this.#hasEvents,
      keepsNewest: this.#surroundings.mayBeSummoned,
      consistencyTimeout: settings.persistence.consistencyTimeout,
      pausedUntil: this.#pausedUntil,
    });
    this.#become(state);
    return effects;
  }

  #follow(input: Input, before: ObjectState, effects: readonly Effect[]): void {
    const { facts } = this.#surroundings;
    if (facts.wants['object.waiting'] || facts.wants['object.woken']) {
      tellWaiting(facts, this.observed, input, before, this.#state);
    }
    for (const effect of effects) this.#act(effect);
  }

  #become(state: ObjectState): void {
    const before = this.#state;
    this.#state = state;
    const { facts } = this.#surroundings;
    if (state.phase !== before.phase && facts.wants['object.phase']) {
      facts.tell({ kind: 'object.phase', object: this.observed, phase: state.phase, before: before.phase });
    }
    if (facts.wants['object.paused']) tellPaused(facts, () => this.observed, before, state);
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
        this.#cancelAlarm?.();
        this.#cancelAlarm = this.#alarmed(effect.at, { kind: 'alarmed' });
        break;
      case 'set-doubt':
        this.#cancelDoubt?.();
        this.#cancelDoubt = this.#alarmed(effect.at, { kind: 'undoubted' });
        break;
      case 'cancel-alarm':
        this.#cancelAlarm?.();
        this.#cancelAlarm = undefined;
        break;
      case 'cancel-doubt':
        this.#cancelDoubt?.();
        this.#cancelDoubt = undefined;
        break;
      case 'pause':
        this.#cancelPause?.();
        this.#cancelPause = this.#alarmed(effect.until, { kind: 'unpaused' });
        around.onPaused?.(this);
        break;
      case 'unpause':
        this.#cancelPause?.();
        this.#cancelPause = undefined;
        break;
      case 'drop-events':
        this.#events?.take();
        if (this.#known.eventRetries.size > 0) this.#learn({ ...this.#known, eventRetries: NO_RETRIES });
        break;
      case 'say':
        this.logger[effect.level](effect.text);
        break;
      case 'rest':
        around.onIdle(this);
        break;
      case 'run':
      case 'report-error':
        // The cycle itself handles these.
        break;
    }
  }

  /** One cycle, in its turn. */
  #turn(signal: AbortSignal): Promise<void> {
    const run = this.#take({ kind: 'turn' }, signal.aborted).find((effect) => effect.kind === 'run');
    if (run === undefined) return OVER;
    const { observed, isToTouch } = run;
    const areEventsHeld = this.#areEventsHeld && !isLeaving(observed);
    const { process, resource } = this.#surroundings;
    const work: CycleOptions = {
      // No handlers are called while touching: the events wait for the next cycle.
      events: isToTouch || areEventsHeld ? NO_EVENTS : (this.#events?.take() ?? NO_EVENTS),
      state: this.#newestOf(observed),
      isToTouch,
      comeBack: () => void this.#take({ kind: 'recalled' }),
      resource,
      subject: this,
      known: this.#known,
      signal,
    };
    let result: Awaitable<CycleResult>;
    try {
      result = process(work);
    } catch (error) {
      this.#fail(error, work);
      return OVER;
    }
    if (!(result instanceof Promise)) {
      this.#end(result, work);
      return OVER;
    }
    return result.then(
      (ended) => this.#end(ended, work),
      (error: unknown) => this.#fail(error, work),
    );
  }

  /** When it is looked at again, we may have changed it since it was last seen. */
  #newestOf(observed: Observed | undefined): Observed | undefined {
    if (observed === undefined || !this.#surroundings.mayBeSummoned || observed.type === 'DELETED') return observed;
    return this.newerThan(observed.body) ?? observed;
  }

  #end(result: CycleResult, work: CycleOptions): void {
    if (result.known !== undefined) {
      // Daemons may have changed the object meanwhile.
      const known = { ...result.known, writes: this.#known.writes };
      this.#learn(
        result.isSettled
          ? withoutFollowed(known, known, result.answer)
          : withoutFollowed(known, work.known, work.state?.body),
      );
    }
    if (result.error !== undefined) {
      this.#fail(result.error, work);
      return;
    }
    this.#pauses = undefined;
    this.#take({ kind: 'ended', ending: result }, work.signal.aborted);
  }

  #fail(thrown: unknown, { state: observed, events, signal }: CycleOptions): void {
    const { settings, isPaused } = this.#surroundings;
    const isBrokenOff = signal.aborted || isPaused();
    this.#pauses ??= errorPauses(settings.queueing);
    const pause = isBrokenOff ? undefined : this.#pauses();
    const latest = events.at(-1);
    const event = latest && { type: latest.type, body: latest.object };
    const input: Input = { kind: 'failed', observed, event, pause };
    const before = this.#state;
    const effects = this.#step(input, signal.aborted);
    const report = effects.find((effect) => effect.kind === 'report-error');
    // First the failure, then the waiting because of it.
    if (report !== undefined) this.#report(thrown, report.pause);
    this.#follow(input, before, effects);
  }

  #report(thrown: unknown, pause: Seconds | undefined): void {
    const { facts } = this.#surroundings;
    const error = toError(thrown);
    const title =
      pause === undefined ? 'An unexpected error' : `Throttling for ${pause} seconds due to an unexpected error`;
    this.logger.error(`${title}: ${describeError(error)}`, { error });
    if (facts.wants['object.failed']) facts.tell({ kind: 'object.failed', object: this.observed, error, pause });
  }

  #alarmed(at: Seconds, input: Input): CancelAlarm {
    const { clock } = this.#surroundings;
    return alarm(clock, at - clock.now(), () => void this.#take(input));
  }
}

function definedOnly(metadata: Omit<ObjectReference, 'kind'>): AnyObject['metadata'] & object {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}

/** It is deleted, or about to be. */
function isLeaving(observed: Observed | undefined): boolean {
  return observed?.type === 'DELETED' || Boolean(observed?.body.metadata?.deletionTimestamp);
}

function asObserved(body: Body | undefined): Observed | undefined {
  return body && { type: 'MODIFIED', body: body as AnyObject };
}
