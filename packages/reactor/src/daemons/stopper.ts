/** The flag that asks one run of one daemon to stop. */
import { DaemonStop, type Seconds, type StopReason } from '@kopf-ts/core';

export interface DaemonStopper {
  /** Given to the daemon. Aborted with the first reason. */
  readonly stopped: AbortSignal;
  readonly reasons: ReadonlySet<StopReason>;
  /** When the first reason came, in monotonic time. */
  readonly since: Seconds | undefined;
  /** Adds a reason. It cannot be taken back. */
  add(reason: StopReason, now: Seconds): void;
}

export function daemonStopper(): DaemonStopper {
  return new Stopper();
}

/** A class, since there are thousands of waiting instances; most of its state is created only at the end. */
class Stopper implements DaemonStopper {
  since: Seconds | undefined;
  readonly #controller = new AbortController();
  #reasons: Set<StopReason> | undefined;

  get stopped(): AbortSignal {
    return this.#controller.signal;
  }

  get reasons(): Set<StopReason> {
    this.#reasons ??= new Set();
    return this.#reasons;
  }

  add(reason: StopReason, now: Seconds): void {
    this.reasons.add(reason);
    this.since ??= now;
    if (!this.stopped.aborted) this.#controller.abort(new DaemonStop(this.reasons));
  }
}
