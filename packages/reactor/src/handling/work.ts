/** What one cycle of one object is given, and what comes out of it. */
import type { AnyObject, Seconds } from '@kopf-ts/core';
import type { WatchedEvent } from '@kopf-ts/core/engine';

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
