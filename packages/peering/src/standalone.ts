import type { Peering } from '@kopf-ts/core';
import { untilAborted } from '@kopf-ts/core/engine';

/** No peers: the operator works at once and always. For those who know that it is the only one. */
export function standalone(): Peering {
  return {
    async join({ paused, signal }) {
      if (signal.aborted) return;
      paused.turn(false);
      await untilAborted(signal);
    },
  };
}
