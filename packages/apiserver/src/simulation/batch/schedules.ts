/** When a schedule is due: the times of five fields of ranges, in a time zone. */

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAYS = 'sun mon tue wed thu fri sat'.split(' ');
const FIELDS: readonly Bounds[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: DAYS },
];
const WORDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** What does not come within five years never comes: the 30th of February. */
const NEVER = 5 * 366 * DAY;

/** The first time after the given one, in milliseconds; `undefined` if there is none. The schedule must be valid. */
export type NextTime = (after: number) => number | undefined;

export function scheduleOf(text: string, zone = 'UTC'): NextTime {
  if (text.startsWith('@every ')) {
    const period = Math.max(1000, durationOf(text.slice('@every '.length)));
    return (after) => Math.floor((after + period) / 1000) * 1000;
  }
  const fields = (WORDS[text] ?? text).trim().split(/\s+/);
  const [minutes, hours, dates, months, weekdays] = fields.map((field, index) =>
    valuesOf(field, FIELDS[index] as Bounds),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  const [, , date = '', , weekday = ''] = fields;
  // If both are restricted, either will do.
  const isEither = !isAny(date) && !isAny(weekday);
  const isDay = (local: Date): boolean => {
    if (!months.has(local.getUTCMonth() + 1)) return false;
    const [isDate, isWeekday] = [dates.has(local.getUTCDate()), weekdays.has(local.getUTCDay())];
    return isEither ? isDate || isWeekday : isDate && isWeekday;
  };
  const offsetAt = offsetsOf(zone);

  return (after) => {
    // The wall clock of the zone, as if it were that of UTC; so that it can be counted on.
    let local = Math.floor((after + offsetAt(after)) / MINUTE) * MINUTE + MINUTE;
    const end = local + NEVER;
    while (local < end) {
      const time = new Date(local);
      if (!isDay(time)) local = Math.floor(local / DAY) * DAY + DAY;
      else if (!hours.has(time.getUTCHours())) local = Math.floor(local / (60 * MINUTE)) * 60 * MINUTE + 60 * MINUTE;
      else if (!minutes.has(time.getUTCMinutes())) local += MINUTE;
      else {
        const utc = local - offsetAt(local - offsetAt(local));
        // Some times of a day come twice, or not at all, when clocks change.
        if (utc > after && utc + offsetAt(utc) === local) return utc;
        local += MINUTE;
      }
    }
    return undefined;
  };
}

const isAny = (field: string): boolean => /^[*?]/.test(field);

function valuesOf(field: string, bounds: Bounds): Set<number> {
  const values = new Set<number>();
  for (const range of field.split(',')) {
    const [span = '', step] = range.split('/');
    const [low = '', high] = span.split('-');
    const isAll = low === '*' || low === '?';
    const first = isAll ? bounds.least : numberOf(low, bounds);
    const last = isAll || (high === undefined && step !== undefined) ? bounds.most : numberOf(high ?? low, bounds);
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

function numberOf(text: string, { names, least }: Bounds): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  return index < 0 ? Number(text) : index + least;
}

/** As Go writes durations: `1h30m`. */
function durationOf(text: string): number {
  let total = 0;
  for (const [, number = '0', unit = ''] of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(number) * (UNITS[unit] ?? 0);
  }
  return total;
}

/** How far the wall clock of a zone is ahead of UTC at a time, in milliseconds. */
function offsetsOf(zone: string): (utc: number) => number {
  if (zone === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (utc) => {
    const parts = Object.fromEntries(format.formatToParts(utc).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day, hour, minute, second } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(utc / 1000) * 1000;
  };
}
