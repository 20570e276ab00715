/**
 * What is wrong with a schedule in the notation of cron, in words. It only finds mistakes, so that they are told where they
 * are made; when a schedule is due is computed by others.
 */

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Besides numbers and ranges. */
  readonly names?: readonly string[];
  readonly special?: RegExp;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const FIELDS: readonly Field[] = [
  { name: 'second', min: 0, max: 59 },
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31, special: /^(?:L|LW|\d+W)$/i },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of the week', min: 0, max: 7, names: DAYS, special: /^(?:L|\w+#(?:[1-5]|L)|\w+L)$/i },
];
const NICKNAMES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** `undefined` if nothing is wrong with it. */
export function whyNotCron(schedule: string): string | undefined {
  const text = schedule.trim();
  if (text.startsWith('@')) {
    return NICKNAMES.includes(text.toLowerCase()) ? undefined : `there is no '${text}'; known: ${NICKNAMES.join(', ')}`;
  }
  const parts = text === '' ? [] : text.split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    return `it has ${parts.length} fields; five are needed: minute, hour, day, month, weekday (or six, with seconds first)`;
  }
  const fields = FIELDS.slice(FIELDS.length - parts.length);
  for (const [index, field] of fields.entries()) {
    const problem = whyNotField(field, parts[index] ?? '');
    if (problem !== undefined) return problem;
  }
  return whyNever(parts.slice(-3));
}

const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether there is no such day in any of the months. If days of the week are given as well, either of them will do. */
function whyNever([days = '*', months = '*', weekdays = '*']: readonly string[]): string | undefined {
  const [ofDays, ofMonths] = [FIELDS[3] as Field, FIELDS[4] as Field];
  if (!/^[*?]$/.test(weekdays) || days.split(',').some((item) => ofDays.special?.test(item))) return undefined;
  const first = Math.min(...valuesOf(ofDays, days));
  const longest = Math.max(...valuesOf(ofMonths, months).map((month) => MONTH_LENGTHS[month - 1] ?? 31));
  return first > longest ? `there is no day ${first} in month ${months}, so it never occurs` : undefined;
}

function valuesOf(field: Field, text: string): readonly number[] {
  return text.split(',').flatMap((item) => {
    const [range = '', step] = item.split('/');
    const isAll = range === '*' || range === '?';
    const [from = field.min, to = step === undefined ? from : field.max] = isAll
      ? [field.min, field.max]
      : range.split('-').map((end) => numberOf(field, end));
    const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    return all.filter((value) => (value - from) % Number(step ?? 1) === 0);
  });
}

function whyNotField(field: Field, text: string): string | undefined {
  for (const item of text.split(',')) {
    if (field.special?.test(item)) continue;
    const [range = '', step, ...more] = item.split('/');
    const isStep = step === undefined || (/^\d+$/.test(step) && Number(step) > 0);
    const ends = range === '*' || range === '?' ? [] : range.split('-');
    const values = ends.map((end) => numberOf(field, end));
    const isRange = ends.length <= 2 && values.every((value) => value >= field.min && value <= field.max);
    if (!isStep || !isRange || more.length > 0) {
      return `'${item}' cannot be the ${field.name}, which is from ${field.min} to ${field.max}`;
    }
    const [from, to] = values;
    if (from !== undefined && to !== undefined && from > to) return `'${item}' goes backwards in the ${field.name}`;
  }
  return undefined;
}

function numberOf({ names = [], min }: Field, text: string): number {
  const index = names.indexOf(text.toUpperCase());
  return index >= 0 ? index + min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
