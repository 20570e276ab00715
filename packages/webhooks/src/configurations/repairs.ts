/** How often a configuration is restored after others have changed it: a fight is not to be won by being faster. */
import { type AnyObject, getOwn, isMapping, type Seconds } from '@kopf-ts/core';
import { backoffDelay } from '@kopf-ts/core/engine';

/** The pause after the second repair in a row; it grows from there. The first one is repaired from at once. */
const FIRST_PAUSE: Seconds = 1;
const LONGEST_PAUSE: Seconds = 300;
/** After so long without changes by others, a new change is not a part of the old fight. */
const PEACE: Seconds = 600;
/** How many repairs in a row are not a coincidence. */
const FIGHT = 3;

export interface Repairs {
  /** How long to wait before the next repair. */
  pause(now: Seconds): Seconds;
  /** One more repair is being made. True once per fight: when it is clear that it is one. */
  count(now: Seconds): boolean;
}

export function repairs(random: () => number): Repairs {
  let inRow = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    pause: (now) => Math.max(0, nextAt - now),
    count(now) {
      inRow = now - Math.max(lastAt, nextAt) > PEACE ? 1 : inRow + 1;
      lastAt = now;
      nextAt = now + backoffDelay(inRow, { base: FIRST_PAUSE, cap: LONGEST_PAUSE, random });
      return inRow === FIGHT;
    },
  };
}

/** Who has changed the webhooks last, if the object tells it: the name of a program, such as `kubectl-edit`. */
export function lastManagerOf({ metadata }: AnyObject): string | undefined {
  const managedFields: unknown = getOwn(metadata ?? {}, 'managedFields');
  const entries = (Array.isArray(managedFields) ? managedFields : []).filter(isMapping);
  const ofWebhooks = entries.filter(({ fieldsV1 }) => isMapping(fieldsV1) && 'f:webhooks' in fieldsV1);
  const [last] = ofWebhooks.sort((a, b) => String(b['time']).localeCompare(String(a['time'])));
  const manager = last?.['manager'];
  return typeof manager === 'string' && manager !== '' ? manager : undefined;
}
