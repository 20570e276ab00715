/** The kinds of resource handlers: their options, and how to make handlers of them. */
import { whyNotCron } from '../../values/cron-syntax.js';
import type { HandlerId } from '../../values/ids.js';
import { isMapping } from '../../values/json.js';
import type { Selector } from '../../values/resources/selector.js';
import type { Operation } from '../../values/review.js';
import type { Activity, Backoff, HandlerFn, ResourceHandler } from '../handlers.js';
import type { Env } from '../kwargs.js';
import {
  CHANGE_FILTERS,
  definedOnly,
  type ErrorWords,
  EXECUTION,
  FILTERS,
  mistake,
  type ParsedExecution,
  type ParsedFilters,
  type RawOptions,
  requireAnswering,
  requireDuration,
  requireFlag,
  shown,
  type Title,
} from './options.js';
import type { On } from './registrars.js';
import { RECONCILING, reconcilingFrom } from './relating.js';

/** The parts common to all kinds. */
interface CommonParts extends ParsedExecution, ParsedFilters {
  readonly id: HandlerId;
  readonly fn: HandlerFn;
  readonly param: unknown;
  readonly selector: Selector;
}

/** One row of the table of kinds. */
export interface ResourceKind {
  /** Besides `id` and `param`. */
  readonly options: readonly string[];
  /** The values of `errors` unless they are the usual ones. */
  readonly errors?: ErrorWords;
  /** Whether the field becomes a part of the id. By default, it does. */
  readonly fieldInId?: boolean;
  /** Adds the options specific to the kind. Throws if they are wrong. */
  make(common: CommonParts, options: RawOptions, title: Title): ResourceHandler;
}

export type ResourceKindName = Exclude<keyof On<Env>, Activity | 'child'>;

/** The default backoff of reconciling handlers: growing, because their progress is not visible on objects. */
export const GROWING: Backoff = Object.freeze({ min: 1, max: 300, factor: 2, jitter: 0.2 });

const COMMON = [...EXECUTION, ...FILTERS];
const DAEMON_DURATIONS = ['cancellationBackoff', 'cancellationTimeout', 'cancellationPolling'];
const TIMER_DURATIONS = ['interval', 'idle'];
const RHYTHM = [...TIMER_DURATIONS, 'sharp'];
const SCHEDULE = ['schedule', 'timeZone', 'missed'];
const TIMER = [...COMMON, 'initialDelay', ...RHYTHM, ...SCHEDULE];
const ADMISSION_FLAGS = ['persistent', 'sideEffects', 'ignoreFailures'];
const ADMISSION_SELECTORS = ['namespaceSelector', 'objectSelector'];
const ADMISSION = [
  'operations',
  'subresource',
  'timeoutSeconds',
  'matchConditions',
  ...ADMISSION_FLAGS,
  ...ADMISSION_SELECTORS,
];
const OPERATIONS: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] satisfies Operation[];

export const KINDS: Readonly<Record<ResourceKindName, ResourceKind>> = {
  create: {
    options: COMMON,
    make: (common) => ({ kind: 'change', ...common, reason: 'create' }),
  },
  update: {
    options: [...COMMON, ...CHANGE_FILTERS],
    make: (common) => ({ kind: 'change', ...common, reason: 'update', fieldNeedsChange: true }),
  },
  delete: {
    options: [...COMMON, 'optional'],
    make: (common, options, title) => {
      requireFlag(title, options, 'optional');
      return { kind: 'change', ...common, reason: 'delete', requiresFinalizer: !options['optional'] };
    },
  },
  resume: {
    options: [...COMMON, 'deleted', 'only'],
    make: (common, options, title) => {
      requireFlag(title, options, 'deleted');
      const deleted = Boolean(options['deleted']);
      if (options['only'] === undefined) return { kind: 'change', ...common, initial: true, deleted };
      if (options['only'] !== 'unmodified') {
        throw mistake(title, `only must be 'unmodified', not ${shown(options['only'])}; leave it out for all objects`);
      }
      if (deleted)
        throw mistake(title, 'an object that is being deleted is not unmodified: use either only or deleted');
      return { kind: 'change', ...common, reason: 'resume', initial: true, deleted };
    },
  },
  field: {
    options: [...COMMON, ...CHANGE_FILTERS],
    make: (common, _options, title) => {
      if (common.field === undefined)
        throw mistake(title, 'the field is mandatory; say which one it is for: { field: … }');
      return { kind: 'change', ...common, fieldNeedsChange: true };
    },
  },
  event: {
    options: COMMON,
    errors: { ignored: 'ignored', retry: 'temporary' },
    make: (common, options, title) => {
      const lonely = EXECUTION.find((name) => name !== 'errors' && options[name] !== undefined);
      if (lonely !== undefined && common.errors !== 'temporary') {
        throw mistake(
          title,
          `${lonely} needs several attempts, but by default, there is only one: add errors: 'retry'`,
        );
      }
      return { kind: 'watch', ...common };
    },
  },
  index: {
    options: COMMON,
    // The id is the name of the index, chosen by the user.
    fieldInId: false,
    make: (common) => ({ kind: 'index', ...common }),
  },
  daemon: {
    options: [...COMMON, 'initialDelay', ...DAEMON_DURATIONS],
    make: (common, options, title) => {
      requireInitialDelay(title, options);
      for (const name of DAEMON_DURATIONS) requireDuration(title, options, name);
      return { kind: 'daemon', ...common, ...definedOnly(options, ['initialDelay', ...DAEMON_DURATIONS]) };
    },
  },
  timer: {
    options: TIMER,
    make: (common, options, title) => {
      requireInitialDelay(title, options);
      for (const name of TIMER_DURATIONS) requireDuration(title, options, name);
      requireFlag(title, options, 'sharp');
      requireSchedule(title, options);
      return { kind: 'timer', ...common, ...definedOnly(options, ['initialDelay', ...RHYTHM, ...SCHEDULE]) };
    },
  },
  reconcile: {
    options: [...COMMON, ...RECONCILING],
    make: (given, options, title) => {
      const common = { ...given, backoff: given.backoff ?? GROWING };
      return { kind: 'reconcile', ...common, ...reconcilingFrom(title, common, options) };
    },
  },
  validate: {
    options: [...FILTERS, ...ADMISSION],
    make: (common, options, title) => ({
      kind: 'webhook',
      ...common,
      reason: 'validating',
      ...admissionFrom(title, options),
    }),
  },
  mutate: {
    options: [...FILTERS, ...ADMISSION],
    make: (common, options, title) => ({
      kind: 'webhook',
      ...common,
      reason: 'mutating',
      ...admissionFrom(title, options),
    }),
  },
};

function requireInitialDelay(title: Title, options: RawOptions): void {
  if (typeof options['initialDelay'] !== 'function') requireDuration(title, options, 'initialDelay');
  requireAnswering(title, 'initialDelay', options['initialDelay']);
}

function requireSchedule(title: Title, options: RawOptions): void {
  const { schedule, timeZone, missed } = options;
  if (schedule === undefined) {
    const lonely = SCHEDULE.find((name) => options[name] !== undefined);
    if (lonely !== undefined)
      throw mistake(title, `${lonely} needs a schedule: add one, such as schedule: '*/5 * * * *'`);
    return;
  }
  const problem = typeof schedule === 'string' ? whyNotCron(schedule) : 'it is not a string';
  if (problem !== undefined) throw mistake(title, `the schedule ${shown(schedule)} is invalid: ${problem}`);
  const other = RHYTHM.find((name) => options[name] !== undefined);
  if (other !== undefined) throw mistake(title, `choose either schedule or ${other}: both say when to call it`);
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw mistake(title, `there is no time zone ${shown(timeZone)}; use a name such as 'Europe/Berlin', or 'UTC'`);
  }
  if (missed !== undefined && missed !== 'skip' && missed !== 'once') {
    throw mistake(title, `missed must be 'skip' or 'once', not ${shown(missed)}`);
  }
}

function isTimeZone(name: unknown): boolean {
  try {
    return (
      typeof name === 'string' && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions() !== undefined
    );
  } catch {
    return false;
  }
}

/** The cluster would refuse these mistakes only when the operator starts, and less clearly. */
function admissionFrom(title: Title, options: RawOptions): Record<string, never> {
  const { operations, subresource, timeoutSeconds, matchConditions } = options;
  if (operations !== undefined && !isListOf(operations, (name) => OPERATIONS.includes(name))) {
    throw mistake(
      title,
      `operations must be a non-empty list of ${OPERATIONS.join(', ')}; leave it out for all of them`,
    );
  }
  if (subresource !== undefined && (typeof subresource !== 'string' || subresource === '')) {
    throw mistake(title, `subresource must be a name, or '*' for all, not ${shown(subresource)}`);
  }
  if (timeoutSeconds !== undefined && !isWithin(timeoutSeconds, 1, 30)) {
    throw mistake(title, `timeoutSeconds must be a whole number from 1 to 30, not ${shown(timeoutSeconds)}`);
  }
  for (const name of ADMISSION_SELECTORS) {
    // The cluster would silently drop anything else, and the rest would select everything.
    if (options[name] !== undefined && !isLabelSelector(options[name])) {
      throw mistake(title, `${name} must be an object with matchLabels, matchExpressions, or both, and nothing else`);
    }
  }
  if (matchConditions !== undefined && !isListOf(matchConditions, isMatchCondition)) {
    throw mistake(title, 'matchConditions must be a non-empty list of { name, expression }');
  }
  for (const name of ADMISSION_FLAGS) requireFlag(title, options, name);
  return definedOnly(options, ADMISSION);
}

function isLabelSelector(value: unknown): boolean {
  if (!isMapping(value)) return false;
  const { matchLabels = {}, matchExpressions = [], ...rest } = value;
  return isMapping(matchLabels) && Array.isArray(matchExpressions) && Object.keys(rest).length === 0;
}

function isMatchCondition(value: unknown): boolean {
  return (
    isMapping(value) && [value['name'], value['expression']].every((text) => typeof text === 'string' && text !== '')
  );
}

function isListOf(value: unknown, isFine: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isFine);
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}
