/**
 * When handlers have begun and when they are due, as the process that has decided so remembers it: by the monotonic
 * clock, which never jumps. Records on objects have wall-clock times, which are right only as long as nobody sets the
 * clock. So a process believes its own memory first, and the record only where the record is not of its own.
 */
import type { Seconds } from '../../seams/clock.js';
import type { ProgressRecord } from '../../seams/memory/storage.js';
import type { HandlerId } from '../../values/ids.js';

/** By the monotonic clock. */
export interface OwnTimes {
  readonly startedAt: Seconds;
  /** When the next attempt is due; `undefined` if at once. */
  readonly dueAt: Seconds | undefined;
}

/** Whatever has times to be remembered: a handler's state. */
interface Timed {
  readonly finished: boolean;
  readonly times: OwnTimes;
  toRecord(): ProgressRecord;
}

/** The times of the handlers of one object, to be kept together with whatever else is remembered of the object. */
export interface OwnTimesMemory {
  /** To be called with the states as they are stored. Those that have finished are forgotten. */
  remember(states: Iterable<readonly [HandlerId, Timed]>): void;
  /** The times of the record, if it is the one that was remembered; otherwise, somebody else has written it. */
  of(id: HandlerId, record: ProgressRecord): OwnTimes | undefined;
  /** Whether there is nothing that this process has begun. */
  readonly isEmpty: boolean;
  /** All that are due later are due at that time, whatever their records say. */
  hurry(now: Seconds): void;
}

interface Remembered extends OwnTimes {
  readonly started: string | undefined;
  readonly delayed: string | undefined;
}

export function ownTimesMemory(): OwnTimesMemory {
  return new RememberedTimes();
}

/** A class with nothing in it until something is remembered: each object has one. */
class RememberedTimes implements OwnTimesMemory {
  #known: Map<HandlerId, Remembered> | undefined;

  remember(states: Iterable<readonly [HandlerId, Timed]>): void {
    for (const [id, state] of states) {
      if (state.finished) {
        this.#known?.delete(id);
        continue;
      }
      const { started, delayed } = state.toRecord();
      this.#known ??= new Map();
      this.#known.set(id, { ...state.times, started: started ?? undefined, delayed: delayed ?? undefined });
    }
  }

  of(id: HandlerId, { started, delayed }: ProgressRecord): OwnTimes | undefined {
    const times = this.#known?.get(id);
    const isSame = times?.started === (started ?? undefined) && times?.delayed === (delayed ?? undefined);
    return isSame ? times : undefined;
  }

  get isEmpty(): boolean {
    return this.#known === undefined || this.#known.size === 0;
  }

  hurry(now: Seconds): void {
    for (const [id, times] of this.#known ?? []) {
      if (times.dueAt !== undefined && times.dueAt > now) this.#known?.set(id, { ...times, dueAt: now });
    }
  }
}
