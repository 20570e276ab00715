/** How long an object is left alone after errors of the framework itself. */
import type { Seconds, Settings } from '@kopf-ts/core';

export interface ErrorPauses {
  /** After one more error in a row: as the settings say, and the last of them for ever; `undefined` for no pause at all. */
  next(): Seconds | undefined;
  /** After a success. */
  reset(): void;
}

export function errorPauses(settings: Pick<Settings['queueing'], 'errorDelays'>): ErrorPauses {
  let delays: Iterator<Seconds> | undefined;
  let latest: Seconds | undefined;
  return {
    next() {
      delays ??= settings.errorDelays[Symbol.iterator]();
      const next = delays.next();
      if (!next.done) latest = next.value;
      return latest;
    },
    reset() {
      delays = undefined;
      latest = undefined;
    },
  };
}
