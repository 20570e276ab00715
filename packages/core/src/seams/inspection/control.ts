import type { HandlerId } from '../../values/ids.js';
import type { Seconds } from '../clock.js';
import type { ObservedObject } from './observer.js';

/**
 * Selects objects: all given fields must match.
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
 * An object that the operator remembers, and its current activity.
 *
 * ```ts
 * const isBusy = ({ phase, calls }: kopf.ControlledObject): boolean => phase === 'running' && calls.length > 0;
 * ```
 */
export interface ControlledObject {
  readonly object: ObservedObject;
  /** `queued`: waits for its turn behind other objects. `waiting`: until the time below, or for an event. */
  readonly phase: 'idle' | 'waiting' | 'queued' | 'running';
  readonly isPaused: boolean;
  /** When the operator will look at it again by itself, in the operator's monotonic time. */
  readonly until: Seconds | undefined;
  /** The last handled version. */
  readonly version: string | undefined;
  /** Handlers that are being called now. */
  readonly calls: readonly HandlerId[];
  /** Daemons and timers. */
  readonly daemons: readonly HandlerId[];
}

/**
 * Influences a running operator from outside: for consoles and commands.
 *
 * *Guarantees.* It takes effect at once and lasts until the process ends: nothing is written to the cluster for it. A
 * running call is never interrupted. An object that vanishes while it is paused stays listed until it is resumed; the
 * remaining work is done then.
 *
 * *Errors.* Queries without matches are not errors. Malformed queries are refused with an error; so is an empty query
 * where it would select all objects.
 *
 * *Cost.* Each call looks at all objects.
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
   * Calls change handlers that wait for their next attempt now, and ends throttling. Daemons and timers keep their own
   * pace; so do delays in the compatibility mode with Kopf. Returns the number of waiting objects.
   */
  retry(query: ObjectQuery): number;
  /**
   * Suspends handlers until resumed: of these objects, or of the whole operator. For objects: changes are handled
   * afterwards by the newest state; deletions wait, timers skip their ticks, daemons keep running. For the operator: it
   * has the effect of a peer with a higher priority. Returns the number of paused objects.
   */
  pause(query?: ObjectQuery): number;
  /**
   * Undoes `pause` for the same objects or for some of them; without arguments, only the pause of the whole operator.
   * Returns the number of resumed objects.
   */
  resume(query?: ObjectQuery): number;
  /** Whether the whole operator was paused by `pause()`. */
  readonly isPaused: boolean;
}
