/** What a worker of one object needs, and what can be asked of it. */
import type { Clock, Logger, Scheduler, Settings } from '@kopf-ts/core';
import type { WatchedEvent } from '@kopf-ts/core/engine';
import type { CycleResult, ObjectState, Work } from '../handling/work.js';
import type { ObjectMemory } from '../memories.js';
import { compareVersions, versionOf } from '../versions.js';

/** What all workers of one stream have in common: made once, as there are thousands of workers. */
export interface WorkerSurroundings {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
  /** Whether there are handlers of events. */
  keepsEvents(): boolean;
  /** While paused, nothing is begun; whatever is missed is listed again afterwards. */
  isPaused(): boolean;
  /** Until then, cycles are not begun, and only the newest is kept. Whoever opens it calls {@link Worker.proceed}. */
  mayBegin(): boolean;
  process(memory: ObjectMemory, work: Work, signal: AbortSignal): Promise<CycleResult>;
  /** There is nothing left to do: the worker can be forgotten, until the next event. */
  onIdle(worker: Worker): void;
}

/** Whose worker it is. */
export interface WorkerSubject {
  readonly memory: ObjectMemory;
  /** Of the object. */
  readonly logger: Logger;
}

export interface Worker extends WorkerSubject {
  /** Whether it has something to do now, and not only later. */
  readonly isBusy: boolean;
  push(event: WatchedEvent): void;
  /** Does what can be done now: begins a cycle, or waits, or ends. */
  proceed(): void;
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
