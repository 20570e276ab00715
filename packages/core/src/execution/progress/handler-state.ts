/** Progress of one handler on one object: as it is stored, as it is known at run time, as it moves by outcomes. */
import { TemporaryError } from '../../errors.js';
import type { Backoff } from '../../intents/handlers.js';
import type { Seconds } from '../../seams/clock.js';
import type { ProgressRecord, ReportMalformed } from '../../seams/memory/storage.js';
import { type HandlerId, quoteId } from '../../values/ids.js';
import { deepEqual } from '../../values/json.js';
import { formatTimestamp, parseTimestamp } from '../../values/timestamps.js';
import type { Outcome } from '../outcomes.js';
import type { OwnTimes } from './own-times.js';
import { after, secondsBetween, type Timeline } from './timeline.js';

/**
 * Times in records are wall-clock times: written by any writer of the object, on a machine whose clock may have been
 * wrong, and read on one whose clock may be wrong now. What is made of them:
 *
 * 1. If this process has set them itself and remembers it, then they are what it remembers, by the monotonic clock. A
 *    retry in 4 seconds comes in 4 seconds, and a timeout is a timeout, wherever the wall clock jumps meanwhile.
 * 2. Otherwise, no attempt is further ahead than the handler's own policy could have put it: its `backoff`, or
 *    `settings.execution.maxDelay`, whichever is longer. No attempt is ever planned for later than that; so what is
 *    later comes from a wrong clock or from a stranger, and the attempt is due now.
 * 3. What has started in the future has started now, so that its runtime is never negative and its timeout comes.
 *
 * Being called earlier than planned is harmless: handlers must be ready to be repeated, and limits on their number still
 * hold. Waiting for a year is not. Hence no other attempt at guessing which of the clocks was wrong.
 */
export interface RecordReading {
  readonly report?: ReportMalformed | undefined;
  /** The longest delay of this handler. Default: a day. */
  readonly maxDelay?: Seconds | undefined;
  /** If this process has written the record: when that was, by the monotonic clock. */
  readonly times?: OwnTimes | undefined;
}

/** `settings.execution.maxDelay`, where the settings are not at hand. */
export const DEFAULT_MAX_DELAY: Seconds = 24 * 60 * 60;

/** Of handlers whose progress is not stored: nobody can forge it, and no clock can break it. Longer than any process lives. */
const UNSTORED_MAX_DELAY: Seconds = 366 * 24 * 60 * 60;

/** Clocks of a cluster's machines may differ by this much without anything being wrong. */
const CLOCK_SKEW: Seconds = 60;

/** The longest delay that the handler could ask for. */
export function maxDelayOf(backoff: Backoff | undefined, maxDelay: Seconds): Seconds {
  const longest = typeof backoff === 'object' ? backoff.max : (backoff ?? 0);
  return Math.max(longest, maxDelay);
}

export interface RecordOptions {
  /** Whether the records have digests. They do, unless they must look exactly as Kopf's. */
  readonly digests?: boolean;
  /** Whether with the corrected digests. They are worth a patch only if it is sent anyway, or if none will be. */
  readonly corrections?: boolean;
}

interface ProgressFields {
  /** Whether the handler takes part in the current handling. Others only wait to be purged. */
  readonly active: boolean;
  readonly started: Date;
  readonly stopped?: Date | undefined;
  readonly delayed?: Date | undefined;
  /** The reason that the handler is called for; unknown for the records of the oldest versions. */
  readonly purpose?: string | undefined;
  /** How many attempts were made. */
  readonly retries: number;
  readonly success: boolean;
  readonly failure: boolean;
  readonly message?: string | undefined;
  readonly subrefs: readonly HandlerId[];
  /** Of what the handler saw when it last finished. */
  readonly digest?: LazyDigest;
  /** The digest of what it is known to have seen since then, as all later changes were our own. */
  readonly corrected?: string | undefined;
  /** When it has really begun, if that is not when the record says. */
  readonly begun?: Date | undefined;
  /** When it is really due, if that is not when the record says. */
  readonly due?: Date | undefined;
  /** No delay is longer. */
  readonly maxDelay: Seconds;
  /** If it has begun steps, or is one that is begun anew: what makes their keys. */
  readonly token?: string | undefined;
  /** Of a step: its result as JSON, empty for none. */
  readonly result?: string | undefined;
}

/** Most handlers succeed at once, and nothing is ever stored of them: for these, no digests need to be made. */
type LazyDigest = string | (() => string | undefined) | undefined;

/** The state of one handler. Immutable; but whether it is awake or sleeping depends on the time. */
export class HandlerState implements ProgressFields {
  readonly active: boolean;
  readonly started: Date;
  readonly stopped: Date | undefined;
  readonly delayed: Date | undefined;
  readonly purpose: string | undefined;
  readonly retries: number;
  readonly success: boolean;
  readonly failure: boolean;
  readonly message: string | undefined;
  readonly subrefs: readonly HandlerId[];
  #digest: LazyDigest;
  readonly #corrected: string | undefined;
  readonly #begun: Date | undefined;
  readonly #due: Date | undefined;
  readonly maxDelay: Seconds;
  readonly token: string | undefined;
  readonly result: string | undefined;
  /** As it was loaded, to know whether it has to be stored. */
  readonly #origin: ProgressRecord | undefined;
  readonly #timeline: Timeline;

  private constructor(progress: ProgressFields, timeline: Timeline, origin: ProgressRecord | undefined) {
    this.active = progress.active;
    this.started = progress.started;
    this.stopped = progress.stopped;
    this.delayed = progress.delayed;
    this.purpose = progress.purpose;
    this.retries = progress.retries;
    this.success = progress.success;
    this.failure = progress.failure;
    this.message = progress.message;
    this.subrefs = progress.subrefs;
    this.#digest = progress.digest;
    this.#corrected = progress.corrected;
    this.#begun = progress.begun;
    this.#due = progress.due;
    this.maxDelay = progress.maxDelay;
    this.token = progress.token;
    this.result = progress.result;
    this.#timeline = timeline;
    this.#origin = origin;
  }

  /** Of a handler that is selected for the first time. Without the longest delay, of one whose progress is not stored. */
  static fresh(timeline: Timeline, purpose: string | undefined, maxDelay = UNSTORED_MAX_DELAY): HandlerState {
    const untouched = { retries: 0, success: false, failure: false, subrefs: [], maxDelay };
    return new HandlerState({ active: true, started: timeline.now(), purpose, ...untouched }, timeline, undefined);
  }

  /**
   * Of a record. It may be left by another version, by Kopf, or by a person with an editor: whatever in it is not of
   * the right type counts as absent.
   */
  static fromRecord(record: ProgressRecord, timeline: Timeline, reading: RecordReading = {}): HandlerState {
    const { report, maxDelay = DEFAULT_MAX_DELAY, times } = reading;
    const raw = record as Readonly<Record<string, unknown>>;
    const stamp = (name: string): Date | undefined => {
      const value = raw[name] ?? undefined;
      const date = typeof value === 'string' ? parseTimestamp(value) : undefined;
      if (value !== undefined && date === undefined) report?.(`its '${name}' is not a timestamp`);
      return date;
    };
    const now = timeline.now();
    const isAhead = (moment: Date, limit: Seconds): boolean => secondsBetween(now, moment) > limit;
    const started = stamp('started') ?? now;
    const delayed = stamp('delayed');
    const isOwn = times !== undefined;
    const startIsImplausible = !isOwn && isAhead(started, 0);
    if (startIsImplausible && isAhead(started, CLOCK_SKEW)) report?.("its 'started' is in the future");
    const delayIsImplausible = !isOwn && delayed !== undefined && isAhead(delayed, maxDelay + CLOCK_SKEW);
    if (delayIsImplausible) report?.(`its 'delayed' is more than ${maxDelay} seconds ahead`);
    const progress: ProgressFields = {
      active: false,
      started: startIsImplausible ? now : started,
      stopped: stamp('stopped'),
      delayed: delayIsImplausible ? undefined : delayed,
      purpose: textIn(raw, 'purpose'),
      retries: countIn(raw, 'retries'),
      success: raw['success'] === true,
      failure: raw['failure'] === true,
      message: typeof raw['message'] === 'string' ? raw['message'] : undefined,
      subrefs: idsIn(raw, 'subrefs'),
      digest: textIn(raw, 'digest'),
      token: textIn(raw, 'token'),
      result: typeof raw['result'] === 'string' ? raw['result'] : undefined,
      begun: times && timeline.at(times.startedAt),
      due: times?.dueAt === undefined ? undefined : timeline.at(times.dueAt),
      maxDelay,
    };
    return new HandlerState(progress, timeline, record);
  }

  get digest(): string | undefined {
    if (typeof this.#digest === 'function') this.#digest = this.#digest();
    return this.#digest;
  }

  /** Of what the handler is known to have seen: the stored one, unless all changes since then were our own. */
  get seen(): string | undefined {
    return this.#corrected ?? this.digest;
  }

  get finished(): boolean {
    return this.success || this.failure;
  }

  /** Since when it is due again, after it had finished on something else; `undefined` if it never had. */
  get reopenedAt(): Date | undefined {
    return !this.finished && this.digest !== undefined ? this.started : undefined;
  }

  /** Waits for its next attempt. */
  get sleeping(): boolean {
    return (this.delay ?? 0) > 0;
  }

  /** Is due for an attempt. */
  get awakened(): boolean {
    return !this.finished && !this.sleeping;
  }

  /** Since the first attempt. */
  get runtime(): Seconds {
    return Math.max(0, secondsBetween(this.#begun ?? this.started, this.#timeline.now()));
  }

  /** Until the next attempt: zero if it is due; `undefined` if there will be none. */
  get delay(): Seconds | undefined {
    if (this.finished) return undefined;
    const due = this.#due ?? this.delayed;
    return due === undefined ? 0 : Math.max(0, secondsBetween(this.#timeline.now(), due));
  }

  /** For the process that has set them to remember. */
  get times(): OwnTimes {
    const due = this.#due ?? this.delayed;
    return {
      startedAt: this.#timeline.monotonic(this.#begun ?? this.started),
      dueAt: due && this.#timeline.monotonic(due),
    };
  }

  asActive(): HandlerState {
    return this.#with({ active: true });
  }

  withPurpose(purpose: string | undefined): HandlerState {
    return this.#with({ purpose });
  }

  /** Knowing that what was changed since the handler has finished was changed by ourselves. */
  withCorrection(digest: string): HandlerState {
    return this.#with({ corrected: digest });
  }

  /**
   * As if it were never called; except that its digest and sub-handlers are remembered, because the handler
   * has already acted once, and is not to be forgotten until it has acted on what has changed since then.
   */
  reopened(): HandlerState {
    return this.#with({
      started: this.#timeline.now(),
      begun: undefined,
      stopped: undefined,
      delayed: undefined,
      due: undefined,
      retries: 0,
      success: false,
      failure: false,
      message: undefined,
      digest: this.seen,
      corrected: undefined,
      token: undefined,
      result: undefined,
    });
  }

  /** With a token for the keys of steps. */
  withToken(token: string | undefined): HandlerState {
    return token === this.token ? this : this.#with({ token });
  }

  /** In the middle of a call: with the sub-handlers that were begun so far. */
  underWay(subrefs: readonly HandlerId[], token: string | undefined): HandlerState {
    return this.#with({ subrefs: union(this.subrefs, subrefs), token: token ?? this.token });
  }

  /** After an attempt. The digest is of what the handler was given; it is remembered only if it has finished. */
  withOutcome(outcome: Outcome, digest?: LazyDigest): HandlerState {
    const now = this.#timeline.now();
    const error = 'error' in outcome ? outcome.error : undefined;
    const delay = outcome.final ? undefined : sensibleDelay(outcome.delay, this.maxDelay);
    return this.#with({
      stopped: this.stopped ?? (outcome.final ? now : undefined),
      delayed: delay === undefined ? undefined : after(now, delay),
      due: undefined,
      retries: this.retries + 1,
      success: outcome.final && error === undefined,
      failure: outcome.final && error !== undefined,
      message: error === undefined ? undefined : storedMessage(error),
      subrefs: outcome.subrefs.length > 0 ? union(this.subrefs, outcome.subrefs) : this.subrefs,
      digest: outcome.final ? digest : this.#digest,
      corrected: undefined,
      token: outcome.token ?? this.token,
      result: 'kept' in outcome ? outcome.kept : undefined,
    });
  }

  /** What to store: all fields, in the order that they always have, with nulls for the absent ones. */
  toRecord(options: RecordOptions = {}): ProgressRecord {
    const record: ProgressRecord = {
      started: this.#stamp('started'),
      stopped: this.#stamp('stopped'),
      delayed: this.#stamp('delayed'),
      purpose: this.purpose ?? null,
      retries: this.retries,
      success: this.success,
      failure: this.failure,
      message: this.message ?? null,
      subrefs: this.subrefs.length > 0 ? this.subrefs : null,
    };
    // Kopf does not know of it, and nobody has to, where there is none.
    const digest = options.corrections ? this.seen : this.digest;
    const digestIsKnown = digest !== undefined || isPresent(this.#origin?.digest);
    const digested = digestIsKnown && options.digests !== false ? { ...record, digest: digest ?? null } : record;
    return this.#isOfSteps && options.digests !== false
      ? { ...digested, token: this.token ?? null, result: this.result ?? null }
      : digested;
  }

  /** Few records are: all others have no keys for that. */
  get #isOfSteps(): boolean {
    if (this.token !== undefined || this.result !== undefined) return true;
    return isPresent(this.#origin?.token) || isPresent(this.#origin?.result);
  }

  /** Whether it differs from what was loaded. A null in the stored record is the same as an absent field. */
  isChanged(options: RecordOptions = {}): boolean {
    if (this.#origin === undefined) return true;
    const record = this.toRecord(options);
    const keys = Object.keys(record) as (keyof ProgressRecord)[];
    return keys.some((key) => !deepEqual(record[key] ?? undefined, this.#origin?.[key] ?? undefined));
  }

  /**
   * The stored text of a time that has not changed stays as it is: others store microseconds, which we do not have,
   * and an object must not be patched for the sake of them.
   */
  #stamp(name: 'started' | 'stopped' | 'delayed'): string | null {
    const moment = this[name];
    if (moment === undefined) return null;
    const stored = this.#origin?.[name];
    const isSame = typeof stored === 'string' && parseTimestamp(stored)?.getTime() === moment.getTime();
    return isSame ? stored : formatTimestamp(moment);
  }

  #with(changes: Partial<ProgressFields>): HandlerState {
    const unseen = { digest: this.#digest, corrected: this.#corrected, begun: this.#begun, due: this.#due };
    return new HandlerState({ ...this, ...unseen, ...changes }, this.#timeline, this.#origin);
  }
}

function union(some: readonly HandlerId[], others: readonly HandlerId[]): readonly HandlerId[] {
  return [...new Set([...some, ...others])].sort();
}

/** How a malformed record is reported. */
export function malformedRecord(id: HandlerId, problem: string): string {
  return `The stored progress of the handler ${quoteId(id)} is malformed: ${problem}. That part of it is ignored.`;
}

/** Whole pages of errors do not belong on an object: there is room for 256 KiB of all annotations together. */
const MAX_MESSAGE = 2000;

/** Kopf stores the word for an error without words of its own; what is stored is read by Kopf, too. */
function storedMessage(error: Error): string {
  if (error.message === '' && error instanceof TemporaryError) return 'None';
  const { message } = error;
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
}

function sensibleDelay(delay: Seconds | undefined, maxDelay: Seconds): Seconds | undefined {
  return delay === undefined || Number.isNaN(delay) ? undefined : Math.min(Math.max(delay, 0), maxDelay);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function textIn(raw: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = raw[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function countIn(raw: Readonly<Record<string, unknown>>, name: string): number {
  const value = raw[name];
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

function idsIn(raw: Readonly<Record<string, unknown>>, name: string): readonly HandlerId[] {
  const value = raw[name];
  return Array.isArray(value) ? value.filter((id): id is HandlerId => typeof id === 'string') : [];
}
