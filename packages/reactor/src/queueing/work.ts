/** What a worker of one object needs; what each of its cycles is given, and what comes out of it. */
import type { AnyObject, Clock, Logger, Scheduler, Seconds, Settings } from '@kopf-ts/core';
import type { WatchedEvent } from '@kopf-ts/core/engine';
import type { ObjectMemory } from '../memories.js';
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
  /** To be called if the object is to be looked at again, though nothing has changed in it: at any time later. */
  readonly comeBack?: (() => void) | undefined;
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
  /** A cycle begins when this resolves, with what is the newest by then. `undefined` if there is nothing to wait for. */
  readonly whenReady?: (() => Promise<void> | undefined) | undefined;
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

/** The state of the last of the events; unless it is known to be older than that version. */
export function newestOf(
  events: readonly WatchedEvent[] | undefined,
  version: string | undefined,
): ObjectState | undefined {
  const latest = events?.at(-1);
  if (latest === undefined) return undefined;
  const order = compareVersions(versionOf(latest.object), version);
  return order !== undefined && order < 0 ? undefined : { type: latest.type, body: latest.object };
}
