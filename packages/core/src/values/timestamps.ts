/** Timestamps as they are stored in objects: written in one form only, read in all forms that anybody may have used. */

/**
 * `2020-12-31T23:59:59.123000+00:00`: always in UTC, always with six digits of the fraction, as Python writes it.
 *
 * ```ts
 * kopf.formatTimestamp(clock.utc()); // '2020-12-31T23:59:59.123000+00:00'
 * ```
 */
export function formatTimestamp(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000+00:00`;
}

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)?)?$/i;

/**
 * Reads an ISO-8601 timestamp: with `Z`, with any offset, or with none, which means UTC; with any digits of
 * the fraction, of which three are kept. `undefined` if it is not a timestamp, or there is no such day or hour.
 *
 * ```ts
 * const created = kopf.parseTimestamp(body.metadata?.creationTimestamp ?? '');
 * ```
 */
export function parseTimestamp(text: string): Date | undefined {
  const match = TIMESTAMP.exec(text.trim());
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offsetInMinutes = (match[8] === '-' ? -1 : 1) * (part(9) * 60 + part(10));

  // Not `Date.UTC()`: it takes the years below 100 for those of the last century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const dateExists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const timeExists = hour <= 23 && minute <= 59 && second <= 59;
  const offsetExists = part(9) <= 23 && part(10) <= 59;
  if (!dateExists || !timeExists || !offsetExists) return undefined;

  date.setUTCHours(hour, minute - offsetInMinutes, second, milliseconds);
  return date;
}
