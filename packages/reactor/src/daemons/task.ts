/**
 * One daemon or timer of one object, from spawning to its end: calls its function, and sends its patches. The loops of
 * daemons and of timers decide when to call it.
 *
 * Thousands of these sleep at once. So it is a class rather than closures, what is needed only during calls is created
 * only then, and the object's body is referenced only by its live view.
 */
import { type Body, type Logger, Patch, type Resource, type Seconds, type StopReason } from '@kopf-ts/core';
import {
  type DaemonCause,
  deliverResults,
  describeError,
  type Execution,
  executeHandler,
  filterKwargs,
  type HandlerState,
  type LiveBody,
  NO_FACTS,
  type Outcome,
  objectLogger,
  type SpawningHandler,
  State,
  titleOf,
  toError,
} from '@kopf-ts/core/engine';
import {
  tellDaemonStarted,
  tellDaemonStopped,
  tellDaemonStopping,
  tellDaemonWaiting,
} from '../observing/daemon-facts.js';
import type { OperatorParts } from '../parts.js';
import type { ApplyFn } from '../sending/apply.js';
import { judgeRefusal, refusalError } from '../sending/refusals.js';
import type { SpawnSubject } from './daemons.js';
import type { RunningDaemon } from './object-daemons.js';
import { DaemonOutbox, delayAfter } from './outbox.js';
import { type DaemonStopper, daemonStopper } from './stopper.js';

/** How it has ended: on its own, so that it is not restarted, or because it was stopped. */
export type LifeEnd = 'over' | 'stopped';

/** How often to check whether this operator may act again. */
const LOOKOUT: Seconds = 1;

type Call = Parameters<NonNullable<Execution['onWaiting']>>[0];

/** Runs the life of a task; rejects only on internal errors. */
export type Life = (task: DaemonTask) => Promise<LifeEnd>;

/** What a task needs of its object and its operator. */
export interface TaskSurroundings {
  readonly resource: Resource;
  readonly memo: unknown;
  readonly subject: SpawnSubject;
  readonly live: LiveBody;
  readonly parts: OperatorParts;
  readonly apply: ApplyFn;
  /** Whether this operator may act, as far as it can tell at this very moment. */
  readonly mayAct?: (() => boolean) | undefined;
  readonly onFinish: (task: DaemonTask) => void;
}

export class DaemonTask implements RunningDaemon {
  readonly handler: SpawningHandler;
  readonly stopper: DaemonStopper = daemonStopper();
  readonly ended: Promise<void>;
  /** When it was forced to end, in monotonic time; `undefined` if it was not. */
  cancelledAt: Seconds | undefined;
  /** Called once it has ended, so that nothing has to poll for it. Must not throw. */
  onEnd: (() => void) | undefined;
  #isEnded = false;
  readonly #surroundings: TaskSurroundings;
  /** Set while its function runs. */
  #attempt: LiveAttempt | undefined;
  /** The pending patch of the current attempt. */
  #sending: AbortController | undefined;
  /** Created with the first patch: many tasks never send one. */
  #outbox: DaemonOutbox | undefined;

  /** Starts the task. */
  constructor(handler: SpawningHandler, surroundings: TaskSurroundings, life: Life) {
    this.handler = handler;
    this.#surroundings = surroundings;
    const { facts = NO_FACTS } = surroundings.parts;
    if (facts.wants['daemon.started']) tellDaemonStarted(facts, this.#told);
    // Not awaited in one more asynchronous function: thousands of those would stay in memory.
    this.ended = life(this).then(
      (end) => this.#finish(end),
      (error: unknown) => this.#fail(toError(error)),
    );
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get isStopped(): boolean {
    return this.stopper.stopped.aborted;
  }

  get title(): string {
    return titleOf(this.handler);
  }

  /** For lines about the task, not from it: they are never posted as events. Created on demand, as it is rare. */
  get logger(): Logger {
    const { parts, live } = this.#surroundings;
    return objectLogger({ logger: parts.logger, body: live.newest });
  }

  /** Since when the object is idle. */
  get idleResetAt(): Seconds {
    return this.#surroundings.subject.daemons.idleResetAt;
  }

  /** Whether the object is paused. */
  get isHeld(): boolean {
    return this.#surroundings.subject.isHeld;
  }

  /** The clock of idling, intervals, and delays. */
  now(): Seconds {
    return this.#surroundings.parts.clock.now();
  }

  /** The time of day, for schedules. */
  utc(): Date {
    return this.#surroundings.parts.clock.utc();
  }

  cancel(): void {
    this.cancelledAt ??= this.now();
    // Not the reason of `stopped`: daemons look at that one, and this one interrupts the current call.
    const reason = new DOMException(`${this.title} is cancelled.`, 'AbortError');
    this.#attempt?.call?.cancel(reason);
    this.#sending?.abort(reason);
  }

  /** Before the first attempt. */
  freshState(): HandlerState {
    return State.fromScratch(this.#surroundings.parts.clock)
      .withHandlers([this.handler])
      .get(this.handler.id) as HandlerState;
  }

  /** Asks it to stop. */
  stop(reason: StopReason): void {
    const { facts = NO_FACTS } = this.#surroundings.parts;
    const isFirst = this.stopper.reasons.size === 0;
    this.stopper.add(reason, this.now());
    if (isFirst && facts.wants['daemon.stopping']) tellDaemonStopping(facts, this.#told, reason);
  }

  /**
   * Sleeps for the handler's initial delay, or until stopped. Even without a delay, it yields, so that its spawner can
   * still prevent it from doing anything.
   */
  async delayStart(): Promise<void> {
    await Promise.resolve();
    const { initialDelay } = this.handler;
    const delay = typeof initialDelay === 'function' ? this.#askDelay(initialDelay) : initialDelay;
    if (delay !== undefined && delay > 0) await this.rest(delay);
  }

  /**
   * Calls the function once, and sends the patch with whatever it left there or returned. Resolves with the new state,
   * or with nothing if it was cancelled.
   */
  async attempt(state: HandlerState): Promise<HandlerState | undefined> {
    // Another operator may have taken over while this process was suspended: the pause follows a little later.
    while (!this.isStopped && this.#surroundings.mayAct?.() === false) await this.#sleep(LOOKOUT);
    if (this.isStopped) return undefined;
    const patch = new Patch(this.#outbox?.unsent, { body: this.#surroundings.live.body });
    this.#attempt = this.#begin(patch);
    let outcome: Outcome;
    try {
      outcome = await executeHandler(this.handler, state, this.#attempt);
    } catch (error) {
      if (this.cancelledAt !== undefined) return undefined;
      outcome = this.#mishap(toError(error));
    } finally {
      this.#attempt = undefined;
    }
    if (this.#isDisowned) {
      this.logger.warn(`${this.title} has ended after it was left orphaned. Its result or error is ignored.`);
      return undefined;
    }
    deliverResults({ outcomes: new Map([[this.handler.id, outcome]]), patch });
    const refused = await this.#send(patch);
    return state.withOutcome(refused === undefined ? outcome : this.#afterRefusal(refused, state));
  }

  async #send(patch: Patch): Promise<Error | undefined> {
    if (!patch.isEmpty) this.#outbox ??= new DaemonOutbox(this, this.#surroundings);
    if (this.#outbox === undefined) return undefined;
    const sending = new AbortController();
    if (this.cancelledAt !== undefined) sending.abort(new DOMException(`${this.title} is cancelled.`, 'AbortError'));
    this.#sending = sending;
    try {
      return await this.#outbox.send(patch, sending.signal);
    } finally {
      this.#sending = undefined;
    }
  }

  /** Sleeps for that long, or until stopped. What the cluster could not accept is sent again meanwhile. */
  rest(seconds: Seconds): Promise<unknown> {
    const { facts = NO_FACTS } = this.#surroundings.parts;
    if (facts.wants['daemon.waiting']) tellDaemonWaiting(facts, this.#told, seconds);
    return this.#outbox?.isFailing ? this.#restAndSend(seconds, this.#outbox) : this.#sleep(seconds);
  }

  async #restAndSend(seconds: Seconds, outbox: DaemonOutbox): Promise<void> {
    const until = this.now() + seconds;
    while (outbox.isFailing && !this.isStopped && this.now() + outbox.delay < until) {
      await this.#sleep(outbox.delay);
      await outbox.sendAgain();
    }
    await this.#sleep(until - this.now());
  }

  /** Sends what is not sent yet, as no more attempts follow. Once stopped, tries only once. */
  async flush(): Promise<void> {
    const outbox = this.#outbox;
    while (outbox?.unsent !== undefined) {
      await this.#sleep(outbox.delay);
      const isLastTry = this.isStopped;
      await outbox.sendAgain();
      if (isLastTry) break;
    }
    if (outbox?.unsent !== undefined) this.logger.warn(`${this.title} has exited, and its last patch is lost.`);
  }

  /** An internal error. The next event of the object restarts it. */
  #fail(error: Error): void {
    this.logger.error(`${this.title} has ended unexpectedly: ${describeError(error)}`, { error });
    this.#finish('stopped');
  }

  #finish(end: LifeEnd): void {
    this.#surroundings.subject.daemons.end(this, { isOver: end === 'over' });
    this.#isEnded = true;
    this.#surroundings.onFinish(this);
    const { facts = NO_FACTS } = this.#surroundings.parts;
    if (facts.wants['daemon.stopped']) tellDaemonStopped(facts, this.#told, end === 'over');
    // Whatever the function has left running must learn that it is over.
    this.stopper.add('done', this.now());
    this.onEnd?.();
  }

  /** For facts. */
  get #told() {
    const { resource, live } = this.#surroundings;
    return { handler: this.handler, resource, body: live.newest };
  }

  /** It was forced to end, did not obey, and is abandoned. */
  get #isDisowned(): boolean {
    return this.cancelledAt !== undefined && this.stopper.reasons.has('daemon-abandoned');
  }

  /** The user's function may fail, but an unknown delay is no reason not to start at all. */
  #askDelay(initialDelay: (kwargs: unknown) => Seconds): Seconds {
    try {
      const delay = initialDelay(filterKwargs(this.#begin(new Patch())));
      if (typeof delay !== 'number') throw new TypeError(`it has returned ${describeError(delay)}`);
      return delay;
    } catch (error) {
      const what = describeError(error);
      this.logger.error(`${this.title} has a broken initial delay, and starts at once: ${what}`, {
        error: toError(error),
      });
      return 0;
    }
  }

  #begin(patch: Patch): LiveAttempt {
    const { live, parts } = this.#surroundings;
    const { settings, poster } = parts;
    const logger = objectLogger({ logger: parts.logger, body: live.newest, posting: { settings, poster } });
    return new LiveAttempt(this.#surroundings, logger, this.stopper.stopped, patch);
  }

  /** The framework has failed, not the function: a daemon must not end because of that. */
  #mishap(error: Error): Outcome {
    const { errorDelays } = this.#surroundings.parts.settings.queueing;
    this.logger.error(`${this.title} could not be called: ${describeError(error)}`, { error });
    return { final: false, error, delay: delayAfter(1, errorDelays), subrefs: [] };
  }

  #afterRefusal(refused: Error, state: HandlerState): Outcome {
    const { handler, logger } = this;
    const error = refusalError(`The cluster refuses the patch of ${this.title}`, refused);
    return judgeRefusal(error, { handler, state, parts: this.#surroundings.parts, logger });
  }

  #sleep(seconds: Seconds): Promise<unknown> {
    return this.#surroundings.parts.clock.sleep(seconds, { wakeup: this.stopper.stopped });
  }
}

/**
 * Why and with what a daemon is called. It can live for days, so it must not hold old states of the object; and it is
 * one small object, as thousands of daemons wait.
 */
class LiveAttempt implements DaemonCause, Execution {
  readonly logger: Logger;
  readonly stopped: AbortSignal;
  readonly patch: Patch;
  /** Cancelled if the daemon ignores `stopped`. */
  call: Call | undefined;
  readonly #surroundings: TaskSurroundings;

  constructor(surroundings: TaskSurroundings, logger: Logger, stopped: AbortSignal, patch: Patch) {
    this.#surroundings = surroundings;
    this.logger = logger;
    this.stopped = stopped;
    this.patch = patch;
  }

  onWaiting(call: Call): void {
    this.call = call;
  }

  get cause(): DaemonCause {
    return this;
  }

  get kind(): 'daemon' {
    return 'daemon';
  }

  get resource(): Resource {
    return this.#surroundings.resource;
  }

  get memo(): unknown {
    return this.#surroundings.memo;
  }

  get live(): LiveBody {
    return this.#surroundings.live;
  }

  get body(): Body {
    return this.live.newest;
  }

  get indices() {
    return this.#surroundings.parts.indices;
  }

  get children() {
    return this.#surroundings.parts.children;
  }

  get client() {
    return this.#surroundings.parts.client;
  }

  get apiFor() {
    return this.#surroundings.parts.apiFor;
  }

  get settings() {
    return this.#surroundings.parts.settings;
  }

  get clock() {
    return this.#surroundings.parts.clock;
  }

  get poster() {
    return this.#surroundings.parts.poster;
  }

  get random() {
    return this.#surroundings.parts.random;
  }

  get facts() {
    return this.#surroundings.parts.facts;
  }

  get tracing() {
    return this.#surroundings.parts.tracing;
  }
}
