/** Moments by the clock of the operator, in words. */
import type { Seconds } from '@kopf-ts/core';
import type { OperatorJournal } from '../journal/entries.js';
import { durationText } from './words.js';

export interface Moments {
  /** By the clock of the operator; there is none without it. */
  readonly now: Seconds | undefined;
  readonly utc: Date;
  /** `12 s ago` */
  ago(at: Seconds): string;
  /** `in 48 s, at 12:03:05` */
  ahead(at: Seconds): string;
  iso(at: Seconds): string;
  /** Of a time as it is on objects; `undefined` if it is not ahead, or no time at all. */
  left(iso: string | undefined): Seconds | undefined;
  /** The same as `ahead`, for times as they are on objects. */
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
  const aheadText = (seconds: Seconds, date: Date): string =>
    seconds <= 0 ? 'now' : `in ${durationText(seconds)}, at ${clockText(date)}`;
  return {
    now,
    utc,
    ago: (at) => `${durationText(Math.max(0, (now ?? at) - at))} ago`,
    ahead: (at) => aheadText(at - (now ?? at), dateOf(at)),
    iso: (at) => dateOf(at).toISOString(),
    left(iso) {
      const time = iso === undefined ? Number.NaN : Date.parse(iso);
      const seconds = (time - utc.getTime()) / 1000;
      return seconds > 0 ? seconds : undefined;
    },
    aheadOf(iso) {
      const date = new Date(iso);
      return aheadText((date.getTime() - utc.getTime()) / 1000, date);
    },
  };
}

/** Of the day, in UTC. */
function clockText(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'an unknown time' : `${date.toISOString().slice(11, 19)} UTC`;
}
