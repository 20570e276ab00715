/** What a worker of one object needs, and what can be asked of it. */
import type { Clock, Logger, Scheduler, Settings } from '@kopf-ts/core';
import type { WatchedEvent } from '@kopf-ts/core/engine';
import type { CycleResult, ObjectState, Work } from '../handling/work.js';
import type { ObjectMemory } from '../memories.js';
import { compareVersions, versionOf } from '../versions.js';

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
