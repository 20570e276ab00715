/** Daemons and timers of one object: which of them run, what they see, and which are never started again. */
import type { Body, HandlerId, Logger, Seconds } from '@kopf-ts/core';
import { type LiveBody, makeLiveBody, type SpawningHandler } from '@kopf-ts/core/engine';
import type { DaemonStopper } from './stopper.js';

/** A daemon or a timer that runs now for an object. */
export interface RunningDaemon {
  readonly handler: SpawningHandler;
  readonly logger: Logger;
  readonly stopper: DaemonStopper;
  /** Forces it to end: aborts the signal that its function was given. */
  cancel(): void;
  /** Settled when it has ended, whatever the reason; never rejects. */
  readonly ended: Promise<void>;
  readonly isEnded: boolean;
}

const NOBODY: ReadonlyMap<HandlerId, RunningDaemon> = new Map();
const NEVER: ReadonlySet<HandlerId> = new Set();

/** Most objects have neither daemons nor timers: for these, nothing is made. */
export class ObjectDaemons {
  #live: LiveBody | undefined;
  #idleResetAt: Seconds;
  #foreverStopped: Set<HandlerId> | undefined;
  #running: Map<HandlerId, RunningDaemon> | undefined;

  constructor(now: Seconds) {
    this.#idleResetAt = now;
  }

  /** What the daemons see of the object; absent while there is nobody to look. */
  get live(): LiveBody | undefined {
    return this.#live;
  }

  /** Since when the object is idle, by the monotonic clock. */
  get idleResetAt(): Seconds {
    return this.#idleResetAt;
  }

  /** The handlers that have ended on their own: never started again for this object. */
  get foreverStopped(): ReadonlySet<HandlerId> {
    return this.#foreverStopped ?? NEVER;
  }

  get running(): ReadonlyMap<HandlerId, RunningDaemon> {
    return this.#running ?? NOBODY;
  }

  /** The object is as that from now on. */
  see(body: Body): void {
    this.#live?.replace(body);
  }

  /** What starting daemons see. */
  look(body: Body): LiveBody {
    this.#live ??= makeLiveBody(body);
    return this.#live;
  }

  /** The object has changed: its idleness begins anew. */
  resetIdleness(now: Seconds): void {
    this.#idleResetAt = now;
  }

  begin(daemon: RunningDaemon): void {
    this.#running ??= new Map();
    this.#running.set(daemon.handler.id, daemon);
  }

  end(daemon: RunningDaemon, { isOver }: { readonly isOver: boolean }): void {
    const { id } = daemon.handler;
    if (isOver) {
      this.#foreverStopped ??= new Set();
      this.#foreverStopped.add(id);
    }
    if (this.#running?.get(id) === daemon) this.#running.delete(id);
    if (this.running.size === 0) this.#live = undefined;
  }

  /** It may be started again. */
  forgive(id: HandlerId): void {
    this.#foreverStopped?.delete(id);
  }
}
