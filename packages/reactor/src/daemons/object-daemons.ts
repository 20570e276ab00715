/** Daemons and timers of one object: which of them run, what they see, and which are never restarted. */
import type { Body, HandlerId, Logger, Seconds } from '@kopf-ts/core';
import { type LiveBody, makeLiveBody, type SpawningHandler } from '@kopf-ts/core/engine';
import type { DaemonStopper } from './stopper.js';

/** A running daemon or timer of an object. */
export interface RunningDaemon {
  readonly handler: SpawningHandler;
  readonly logger: Logger;
  readonly stopper: DaemonStopper;
  /** Forces it to end: aborts the signal of its function. */
  cancel(): void;
  /** Settled when it has ended for any reason; never rejects. */
  readonly ended: Promise<void>;
  readonly isEnded: boolean;
}

const NOBODY: ReadonlyMap<HandlerId, RunningDaemon> = new Map();
const NEVER: ReadonlySet<HandlerId> = new Set();

/** Most objects have neither daemons nor timers: its parts are created on demand. */
export class ObjectDaemons {
  #live: LiveBody | undefined;
  #idleResetAt: Seconds;
  #foreverStopped: Set<HandlerId> | undefined;
  #running: Map<HandlerId, RunningDaemon> | undefined;

  constructor(now: Seconds) {
    this.#idleResetAt = now;
  }

  /** The daemons' view of the object; absent while no daemon runs. */
  get live(): LiveBody | undefined {
    return this.#live;
  }

  /** Since when the object is idle, in monotonic time. */
  get idleResetAt(): Seconds {
    return this.#idleResetAt;
  }

  /** The handlers that have ended on their own: never restarted for this object. */
  get foreverStopped(): ReadonlySet<HandlerId> {
    return this.#foreverStopped ?? NEVER;
  }

  get running(): ReadonlyMap<HandlerId, RunningDaemon> {
    return this.#running ?? NOBODY;
  }

  /** Replaces the object's state. */
  see(body: Body): void {
    this.#live?.replace(body);
  }

  /** What starting daemons see. */
  look(body: Body): LiveBody {
    this.#live ??= makeLiveBody(body);
    return this.#live;
  }

  /** The object has changed: its idle time starts over. */
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

  /** Allows the handler to be restarted. */
  forgive(id: HandlerId): void {
    this.#foreverStopped?.delete(id);
  }
}
