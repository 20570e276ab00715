/** Storing the progress of handlers in the middle of a call: for what must not be lost, whatever becomes of the call. */
import type { Awaitable } from '../../seams/awaitable.js';
import type { Body } from '../../values/objects/body.js';
import type { Patch } from '../../values/patches/patch.js';

/** Where something is to be stored. */
export interface KeepingPlace {
  /** The newest known state of the object. */
  readonly body: Body;
  /** For the storage to write into. */
  readonly patch: Patch;
}

/** How things are stored in the middle of a call: by whoever sends all other changes of the object, too. */
export interface Keeping {
  /** The newest known state of the object, with all that was stored so far. */
  newest(): Body;
  /**
   * Stores what the function puts into the patch; resolves when the cluster has it. One after another, in the order of
   * asking, and in turn with all other changes of the object. Rejects if it cannot be stored now; with the code {@link NO_ROOM}, if it never can.
   */
  keep(put: (place: KeepingPlace) => Awaitable<void>): Promise<void>;
}

/** The code of the error if there is no room in the object for more. */
export const NO_ROOM = 'KOPF_NO_ROOM';
