/**
 * One call of one handler: its context, its signal, its time, and the facts about it. There are many calls, and most of
 * these things are rarely needed: so they are created on demand.
 */
import type { Cause } from '../intents/causes.js';
import { type AnyHandler, titleOf } from '../intents/handlers.js';
import { fieldOf } from '../intents/kwargs.js';
import type { Progress } from '../intents/progress.js';
import { NO_FACTS } from '../observing/facts.js';
import { observedBody, observedHandler } from '../observing/observed.js';
import type { Seconds } from '../seams/clock.js';
import type { ObservedObject } from '../seams/inspection/observer.js';
import { onAbort } from '../sync/abort.js';
import { isThenable } from '../sync/awaiting.js';
import type { FieldPath } from '../values/fields.js';
import type { HandlerId } from '../values/ids.js';
import { type AttemptState, callKwargs, causeFor } from './call-kwargs.js';
import { type HandlerContext, runInOwnContext } from './context.js';
import type { Deadline } from './deadlines.js';
import { roundedSeconds, timedOut } from './error-decisions.js';
import type { CancellableCall, Execution } from './execute.js';
import type { Outcome, Outcomes } from './outcomes.js';
import type { HandlerState } from './progress/handler-state.js';
import { progressOf } from './progress/progress-of.js';
import { CallSubhandlers } from './subhandlers/call-subhandlers.js';

/** How long a handler may run before a line is logged; then again after twice that time, and so on. */
const PATIENCE: Seconds = 60;

const NO_SUBHANDLERS: readonly HandlerId[] = [];
const WHOLE: FieldPath = [];

let callsSoFar = 0;

export class Call implements HandlerContext, Deadline, CancellableCall {
  readonly handler: AnyHandler;
  readonly attempt: AttemptState;
  readonly execution: Execution;
  /** As the handler sees it. */
  readonly cause: Cause;
  readonly subhandling: CallSubhandlers | undefined;
  /** The handlers called together with it, and before it. */
  readonly #outcomes: Outcomes | undefined;
  isCancelled = false;
  /** Whether the function may have been interrupted: it was not if it never accessed the signal. */
  hasShownSignal = false;
  #own: AbortController | undefined;
  #parent: AbortSignal | undefined;
  #unfollow: (() => void) | undefined;
  /** Only if an observer wants it. */
  #number: number | undefined;
  #beganAt: Seconds | undefined;
  #isSettled = false;

  constructor(handler: AnyHandler, attempt: AttemptState, execution: Execution, outcomes?: Outcomes) {
    this.handler = handler;
    this.attempt = attempt;
    this.execution = execution;
    this.#outcomes = outcomes;
    this.cause = causeFor(execution.cause, handler);
    const hasSubhandlers = handler.kind === 'change' && this.cause.kind === 'changing';
    this.subhandling = hasSubhandlers ? new CallSubhandlers(execution.subrefs) : undefined;
    if (typeof execution.signal === 'object') this.#parent = execution.signal;
  }

  get settings() {
    return this.execution.settings;
  }

  get clock() {
    return this.execution.clock;
  }

  get poster() {
    return this.execution.poster;
  }

  get lifecycle() {
    return this.execution.lifecycle;
  }

  get random() {
    return this.execution.random;
  }

  get malformed() {
    return this.execution.malformed;
  }

  get facts() {
    return this.execution.facts;
  }

  get tracing() {
    return this.execution.tracing;
  }

  get calls() {
    return this.execution.calls;
  }

  get ledger() {
    return this.execution.ledger;
  }

  get keeping() {
    return this.execution.keeping;
  }

  /** The fields of the essence that the handler looks at: its own field and those of its parents. */
  get scope(): FieldPath {
    const { scope = WHOLE } = this.execution;
    const field = this.handler.kind === 'change' ? fieldOf(this.handler) : undefined;
    return field === undefined ? scope : [...scope, ...field];
  }

  /** All sub-handlers executed during the call, at any depth. */
  get subrefs(): readonly HandlerId[] {
    return this.subhandling?.ids ?? NO_SUBHANDLERS;
  }

  get title(): string {
    return titleOf(this.handler);
  }

  /** Calls the function in its own context. A synchronous one returns or throws synchronously. */
  invoke(): unknown {
    const { facts = NO_FACTS } = this.execution;
    const kwargs = callKwargs(this.cause, this.handler, this.attempt, this);
    const { wants } = facts;
    if (!wants['call.began'] && !wants['call.returned'] && !wants['call.settled'] && !wants['call.ended']) {
      return runInOwnContext(this, this.handler.fn, kwargs);
    }
    const call = this.#callNumber;
    this.#beganAt = this.clock.now();
    if (wants['call.began']) {
      const { handler, object } = this;
      const [{ retries: retry }, { logger }] = [this.attempt, this.cause];
      facts.tell({ kind: 'call.began', call, handler: observedHandler(handler), object, retry, logger });
    }
    let returned: unknown;
    try {
      returned = runInOwnContext(this, this.handler.fn, kwargs);
    } finally {
      if (wants['call.returned']) facts.tell({ kind: 'call.returned', call });
      if (wants['call.settled'] && !isThenable(returned)) facts.tell({ kind: 'call.settled', call });
    }
    return returned;
  }

  /** The returned promise has settled. Reported once. */
  tellSettled(): void {
    const { facts = NO_FACTS } = this.execution;
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (facts.wants['call.settled']) facts.tell({ kind: 'call.settled', call: this.#callNumber });
  }

  /** Reports the outcome of the handler, and returns it. */
  end(outcome: Outcome): Outcome {
    const { facts = NO_FACTS } = this.execution;
    if (facts.wants['call.ended']) {
      facts.tell({
        kind: 'call.ended',
        call: this.#callNumber,
        handler: observedHandler(this.handler),
        object: this.object,
        reason: reasonOf(this.cause),
        outcome: 'result' in outcome ? 'succeeded' : outcome.final ? 'failed' : 'retried',
        result: 'result' in outcome ? outcome.result : undefined,
        error: 'error' in outcome ? outcome.error : undefined,
        retry: this.attempt.retries,
        duration: this.#beganAt === undefined ? 0 : this.clock.now() - this.#beganAt,
        delay: 'delay' in outcome ? outcome.delay : undefined,
      });
    }
    return outcome;
  }

  /** The current progress of the object's handlers, computed on each access. */
  get progress(): Progress {
    const { state, ledger, above } = this.execution;
    return progressOf({ state, outcomes: this.#outcomes, levels: ledger?.levels, above: above?.progress });
  }

  /** The state of this handler and its parents: for storing them in the middle of the call. */
  recordsSoFar(): ReadonlyMap<HandlerId, HandlerState> {
    const records = new Map(this.execution.above?.recordsSoFar?.());
    const { underWay }: Partial<HandlerState> = this.attempt;
    if (underWay !== undefined) {
      records.set(this.handler.id, underWay.call(this.attempt, this.subrefs, this.subhandling?.token));
    }
    return records;
  }

  get object(): ObservedObject | undefined {
    return observedObject(this.cause);
  }

  get #callNumber(): number {
    this.#number ??= ++callsSoFar;
    return this.#number;
  }

  /**
   * The arguments of the function. Without a deadline, only the outer signal can abort the call: no signal of its own
   * is needed.
   */
  get signal(): AbortSignal {
    this.hasShownSignal = true;
    if (this.#own !== undefined) return this.#own.signal;
    if (this.#parent !== undefined && this.timeLeft === Number.POSITIVE_INFINITY) return this.#parent;
    this.#own = new AbortController();
    if (this.#parent !== undefined) this.#follow(this.#parent);
    return this.#own.signal;
  }

  abort(reason: unknown): void {
    this.#own ??= new AbortController();
    this.#own.abort(reason);
  }

  /** Aborts the function: it is no longer needed. */
  cancel(reason: Error): void {
    if (this.#own?.signal.aborted) return;
    this.isCancelled = true;
    this.abort(reason);
  }

  /** The function is asynchronous: from now on, others can abort it, if anyone can. */
  followOthers(): AbortSignal | undefined {
    const { signal } = this.execution;
    if (typeof signal !== 'function') return this.#parent;
    this.#parent = signal();
    if (this.#own !== undefined) this.#follow(this.#parent);
    return this.#parent;
  }

  #follow(parent: AbortSignal): void {
    this.#unfollow = onAbort(parent, (reason) => this.abort(reason));
  }

  dispose(): void {
    this.#unfollow?.();
  }

  /** The deadline of the handler by its timeout, and that of this very call. */
  get timeLeft(): Seconds {
    const { timeout = Number.POSITIVE_INFINITY } = this.handler;
    const ofHandler = timeout === Number.POSITIVE_INFINITY ? timeout : timeout - this.attempt.runtime;
    return Math.min(ofHandler, this.execution.timeLeft ?? Number.POSITIVE_INFINITY);
  }

  timeout(options?: ErrorOptions) {
    return timedOut(this.handler, this.attempt.runtime, options);
  }

  /** Daemons are made to run for long. */
  get patience(): Seconds | undefined {
    return this.handler.kind === 'daemon' ? undefined : PATIENCE;
  }

  onStillRunning(runtime: Seconds): void {
    this.cause.logger.warn(`${this.title} has been running for ${roundedSeconds(runtime)} s.`);
  }

  onLateEnd(error: Error | undefined): void {
    const what = error === undefined ? 'ended' : 'failed';
    const text = `${this.title} has ${what} after it had timed out. Its result or error is ignored.`;
    this.cause.logger.warn(text, error && { error });
  }
}

/** The object of a cause, for facts. */
export function observedObject(cause: Cause): ObservedObject | undefined {
  if (cause.kind === 'activity') return undefined;
  return observedBody(cause.resource, cause.body);
}

function reasonOf(cause: Cause): string | undefined {
  if (cause.kind === 'activity') return cause.activity;
  if (cause.kind === 'changing' || cause.kind === 'webhook') return cause.reason;
  if (cause.kind === 'related') return [...cause.reasons].join(', ') || undefined;
  return cause.kind === 'watching' ? (cause.event.type ?? undefined) : undefined;
}
