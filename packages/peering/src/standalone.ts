import type { Peering } from '@kopf-ts/core';
import { untilAborted } from '@kopf-ts/core/engine';

/**
 * No peers: the operator works at once and always. For operators of which there is only one.
 *
 * ```ts
 * await kopf.run({ peering: kopf.peering.standalone() });
 * ```
 */
export function standalone(): Peering {
  return {
    async join({ paused, signal }) {
      if (signal.aborted) return;
      paused.turn(false);
      await untilAborted(signal);
    },
  };
}
