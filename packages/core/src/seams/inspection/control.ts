import type { HandlerId } from '../../values/ids.js';
import type { Seconds } from '../clock.js';
import type { ObservedObject } from './observer.js';

/**
 * Which objects are meant: all those that have what is given.
 *
 * ```ts
 * const query: kopf.ObjectQuery = { resource: 'kopfexamples', namespace: 'default', name: 'web' };
 * ```
 */
export interface ObjectQuery {
  /** As in handlers: a plural, a kind, a short name, or `group/version/plural`. */
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

/**
 * An object that the operator remembers, and what it does with it at the moment.
 *
 * ```ts
 * const isBusy = ({ phase, calls }: kopf.ControlledObject): boolean => phase === 'running' && calls.length > 0;
 * ```
 */
export interface ControlledObject {
  readonly object: ObservedObject;
  /** `queued`: waits for its turn, as many others are being handled. `waiting`: until the time below, or for an event. */
  readonly phase: 'idle' | 'waiting' | 'queued' | 'running';
  readonly isPaused: boolean;
  /** When it will be looked at again by itself, by the monotonic clock of the operator. */
  readonly until: Seconds | undefined;
  /** The version that was handled last. */
  readonly version: string | undefined;
  /** Handlers that are being called now. */
  readonly calls: readonly HandlerId[];
  /** Daemons and timers. */
  readonly daemons: readonly HandlerId[];
}

/**
 * Influences a running operator from outside: for consoles and commands.
 *
 * ```ts
 * const { control } = kopf.operator();
 * control.retry({ resource: 'databases', namespace: 'prod', name: 'orders' });
 * ```
 *
 * *Guarantees.* It takes effect at once and lasts until the process ends: nothing is written to the cluster for it.
 * A call that is under way is never broken off. An object that vanishes while it is paused stays listed until it is
 * resumed: what is left to do for it is done then.
 *
 * *Errors.* Queries that match nothing are no errors: there is nothing to do. What is no query is refused with an error;
 * so is an empty query where it would mean all objects.
 *
 * *Cost.* Each call looks at all objects.
 */
export interface Control {
  /** The objects that the operator remembers. */
  objects(query?: ObjectQuery): readonly ControlledObject[];
  /**
   * Change handlers that wait for their next attempt are called now, and throttling ends. Daemons and timers keep their
   * own pace; so do delays in the compatibility mode with Kopf. Returns how many objects were waiting.
   */
  retry(query: ObjectQuery): number;
  /**
   * Handlers are not called until resumed: of these objects, or of the whole operator. For objects: what happens
   * meanwhile is handled afterwards, by the newest state; deletions wait, timers skip their ticks, daemons go on. For
   * the operator: it is as if another one with a higher priority had come. Returns how many objects it has paused.
   */
  pause(query?: ObjectQuery): number;
  /**
   * Undoes `pause` with the same arguments, or for some of the objects; without arguments, only the pause of the whole
   * operator. Returns how many objects it has resumed.
   */
  resume(query?: ObjectQuery): number;
  /** Whether the whole operator was paused by `pause()`. */
  readonly isPaused: boolean;
}
