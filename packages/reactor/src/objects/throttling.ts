/** How long an object is left alone after errors of the framework itself. */
import type { Seconds, Settings } from '@kopf-ts/core';

/** After one more error in a row: as the settings say, and the last of them for ever; `undefined` for no pause at all. */
export type ErrorPauses = () => Seconds | undefined;

/** To be made anew after a success. */
export function errorPauses(settings: Pick<Settings['queueing'], 'errorDelays'>): ErrorPauses {
  const delays = settings.errorDelays[Symbol.iterator]();
  let latest: Seconds | undefined;
  return () => {
    const next = delays.next();
    if (!next.done) latest = next.value;
    return latest;
  };
}
