/** Schedules of cron jobs: five fields of ranges, or a word for them. */

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names?: Readonly<Record<string, number>>;
}

const numbered = (names: string, first: number): Readonly<Record<string, number>> =>
  Object.fromEntries(names.split(' ').map((name, index) => [name, index + first]));

const FIELDS: readonly Bounds[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: numbered('jan feb mar apr may jun jul aug sep oct nov dec', 1) },
  { least: 0, most: 6, names: numbered('sun mon tue wed thu fri sat', 0) },
];
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);
const EVERY = '@every ';

/** What is wrong with a schedule, in the words of the real server; `undefined` if nothing is. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule.startsWith(EVERY)) return durationProblem(schedule);
  if (schedule.startsWith('@')) return DESCRIPTORS.has(schedule) ? undefined : `unrecognized descriptor: ${schedule}`;
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  }
  for (const [index, bounds] of FIELDS.entries()) {
    for (const range of (fields[index] as string).split(',')) {
      const problem = rangeProblem(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function durationProblem(schedule: string): string | undefined {
  const text = schedule.slice(EVERY.length);
  if (/^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/.test(text)) return undefined;
  return `failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(text)}`;
}

/** `*`, `5`, `1-5`, each perhaps with a step: `*` + `/2`. */
function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [span = '', step, ...moreSteps] = range.split('/');
  const [low = '', high, ...moreEnds] = span.split('-');
  const isAll = low === '*' || low === '?';
  const start = isAll ? bounds.least : numberIn(low, bounds);
  if (typeof start === 'string') return start;
  if (!isAll && moreEnds.length > 0) return `too many hyphens: ${range}`;
  let end = isAll ? bounds.most : high === undefined ? start : numberIn(high, bounds);
  if (typeof end === 'string') return end;
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  const every = step === undefined ? 1 : numberIn(step, {} as Bounds);
  if (typeof every === 'string') return every;
  if (step !== undefined && high === undefined) end = bounds.most;
  if (start < bounds.least) return `beginning of range (${start}) below minimum (${bounds.least}): ${range}`;
  if (end > bounds.most) return `end of range (${end}) above maximum (${bounds.most}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return every === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

/** The number, or what is wrong with it. */
function numberIn(text: string, { names }: Bounds): number | string {
  const named = names?.[text.toLowerCase()];
  if (named !== undefined) return named;
  if (/^\+?\d+$/.test(text)) return Number(text);
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

/** What is wrong with a time zone, if anything is. */
export function timeZoneProblem(zone: string): string | undefined {
  if (zone === '') return 'timeZone must be nil or non-empty string';
  if (zone.toLowerCase() === 'local') {
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return undefined;
  } catch {
    return `unknown time zone ${zone}`;
  }
}
