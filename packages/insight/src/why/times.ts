/** Moments by the clock of the operator, in words. */
import { parseTimestamp, type Seconds } from '@kopf-ts/core';
import type { OperatorJournal } from '../journal/entries.js';
import { durationText } from './words.js';

export interface Moments {
  /** By the clock of the operator; absent without an operator. */
  readonly now: Seconds | undefined;
  readonly utc: Date;
  /** `12 s ago` */
  ago(at: Seconds): string;
  /** `in 48 s, at 12:03:05` */
  ahead(at: Seconds): string;
  iso(at: Seconds): string;
  /** The seconds until a timestamp; `undefined` if it is past or invalid. */
  left(iso: string | undefined): Seconds | undefined;
  /** The same as `ahead` for timestamps. */
  aheadOf(iso: string): string;
}

export function momentsOf(input: {
  readonly operator?: OperatorJournal | undefined;
  readonly utc?: Date | undefined;
}): Moments {
  const { operator } = input;
  const utc = operator === undefined ? (input.utc ?? new Date()) : new Date(operator.utc);
  const now = operator?.now;
  const dateOf = (at: Seconds): Date => new Date(utc.getTime() + (at - (now ?? at)) * 1000);
  const aheadText = (seconds: Seconds, date: Date): string => {
    if (!(seconds > 0)) return 'now';
    // So far ahead, the hour does not matter.
    return seconds > LONG ? `in ${durationText(seconds)}` : `in ${durationText(seconds)}, at ${clockText(date)}`;
  };
  return {
    now,
    utc,
    ago: (at) => `${durationText(Math.max(0, (now ?? at) - at))} ago`,
    ahead: (at) => aheadText(at - (now ?? at), dateOf(at)),
    iso: (at) => dateOf(at).toISOString(),
    left(iso) {
      const date = iso === undefined ? undefined : parseTimestamp(iso);
      const seconds = date === undefined ? 0 : (date.getTime() - utc.getTime()) / 1000;
      return seconds > 0 ? seconds : undefined;
    },
    aheadOf(iso) {
      const date = parseTimestamp(iso);
      return date === undefined ? 'at an unknown time' : aheadText((date.getTime() - utc.getTime()) / 1000, date);
    },
  };
}

const LONG: Seconds = 48 * 3600;

/** Of the day, in UTC. */
function clockText(date: Date): string {
  return `${date.toISOString().slice(11, 19)} UTC`;
}
