import type { LogFields, Logger, LogLevel } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type LoggerExpectations, type LoggerUnderTest, loggerCases, recordingLogger } from '../../src/index.js';
import { complaint, failures } from './failures.js';

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

function good(): LoggerUnderTest {
  const logger = recordingLogger();
  return { logger, lines: () => logger.lines };
}

type Write = (level: LogLevel, message: string, fields: LogFields) => void;

interface Spoils {
  /** Instead of writing the line. */
  readonly write?: (write: Write, level: LogLevel, message: string, fields: LogFields | undefined) => void;
  /** Which fields a child has, of those of the parent and of its own. */
  readonly join?: (parent: LogFields, own: LogFields) => LogFields;
  readonly isEnabled?: (level: LogLevel) => boolean;
  readonly child?: (logger: Logger) => Partial<Logger>;
}

/** A logger with something wrong in it. */
function spoiled(spoils: Spoils): () => LoggerUnderTest {
  return () => {
    const record = recordingLogger();
    const { join = (parent, own) => ({ ...parent, ...own }), write, isEnabled } = spoils;
    const make = (common: LogFields): Logger => {
      const writeAll: Write = (level, message, fields) => record[level](message, { ...common, ...fields });
      const at =
        (level: LogLevel) =>
        (message: string, fields?: LogFields): void =>
          write === undefined ? writeAll(level, message, fields ?? {}) : write(writeAll, level, message, fields);
      const child = (fields: LogFields): Logger => {
        const logger = make(join(common, fields));
        return { ...logger, ...spoils.child?.(logger) };
      };
      const levels = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
      return { ...levels, ...(isEnabled && { isEnabled }), child };
    };
    return { logger: make({}), lines: () => record.lines };
  };
}

const TROUBLES = [
  'fields that refer to themselves',
  'big integers, symbols, functions, and nothing',
  'fields that cannot be read',
  'errors with causes in a circle',
  'errors that are no errors',
  'names of what all objects have',
] as const;

const stringify = (value: unknown): string => JSON.stringify(value);

/** Each stumbles over one of the troubles. */
const stumbles: Readonly<Record<(typeof TROUBLES)[number], (fields: LogFields) => void>> = {
  'fields that refer to themselves': stringify,
  'big integers, symbols, functions, and nothing': stringify,
  'fields that cannot be read': stringify,
  'errors with causes in a circle': ({ error }) => {
    const depth = (one: unknown): number => (one instanceof Error ? 1 + depth(one.cause) : 0);
    depth(error);
  },
  'errors that are no errors': ({ error }) => (error as Error | undefined)?.stack?.split('\n') ?? brokenIf(error),
  'names of what all objects have': (fields) => `${String(fields)}`,
};

function brokenIf(error: unknown): void {
  if (error !== undefined) throw new TypeError('It is no error.');
}

const broken: [sin: string, caught: string, create: () => LoggerUnderTest][] = [
  [
    'writes lines twice',
    'writes each line once, in order',
    spoiled({
      write(write, level, message, fields = {}) {
        write(level, message, fields);
        write(level, message, fields);
      },
    }),
  ],
  [
    'substitutes fields in the texts',
    'writes texts as they are',
    spoiled({
      write: (write, level, message, fields = {}) =>
        write(
          level,
          message.replace(/%(\w)/g, (_, name: string) => String(fields[name])),
          fields,
        ),
    }),
  ],
  [
    'drops the debugging lines',
    'writes lines of its level and above only',
    spoiled({ write: (write, level, message, fields = {}) => level !== 'debug' && write(level, message, fields) }),
  ],
  [
    'denies that it writes',
    'correctly reports which levels are enabled',
    spoiled({ isEnabled: (level) => level !== 'debug' }),
  ],
  [
    'has children with levels of their own',
    'has children that write to the same place at the same levels',
    spoiled({ child: () => ({ debug: () => {} }) }),
  ],
  [
    'has children that write elsewhere',
    'has children that write to the same place at the same levels',
    spoiled({ child: () => recordingLogger() }),
  ],
  [
    'changes the fields that it is given',
    'accepts frozen fields, and lines without fields',
    spoiled({
      write: (write, level, message, fields = {}) => write(level, message, Object.assign(fields, { level })),
    }),
  ],
  [
    'needs fields',
    'accepts frozen fields, and lines without fields',
    spoiled({ write: (write, level, message, fields) => write(level, message, { ...fields, ...need(fields) }) }),
  ],
  ...TROUBLES.map((what): (typeof broken)[number] => [
    `stumbles over ${what}`,
    `never throws, not even for ${what}`,
    spoiled({
      write(write, level, message, fields = {}) {
        stumbles[what](fields);
        write(level, message, fields);
      },
    }),
  ]),
  [
    'writes errors as JSON does',
    'writes the messages of errors',
    spoiled({
      write: (write, level, message, { error, ...fields } = {}) =>
        write(level, message, { ...fields, ...(error !== undefined && { error: {} }) }),
    }),
  ],
  [
    'writes all as information',
    'tells the levels apart',
    spoiled({ write: (write, _level, message, fields = {}) => write('info', message, fields) }),
  ],
  [
    'drops the fields',
    'writes the fields of a line in that line only',
    spoiled({ write: (write, level, message) => write(level, message, {}) }),
  ],
  [
    'lets the oldest fields win',
    'writes the fields of a child in all its lines, the nearest winning',
    spoiled({ join: (parent, own) => ({ ...own, ...parent }) }),
  ],
  [
    'forgets the fields of the ancestors',
    'writes the fields of a child in all its lines, the nearest winning',
    spoiled({ join: (_parent, own) => ({ ...own }) }),
  ],
  [
    'keeps the fields of a child by reference',
    'remembers the fields of a child as they were',
    spoiled({ join: (_parent, own) => own }),
  ],
];

function need(fields: LogFields | undefined): object {
  if (fields === undefined) throw new TypeError('There are no fields.');
  return fields;
}

const allCases = loggerCases(good).map(({ name }) => name);

describe('the suite of loggers', () => {
  it('passes a good one', async () => {
    expect(await failures(loggerCases(good))).toEqual([]);
    expect(await failures(loggerCases(spoiled({})))).toEqual([]);
  });

  it.each(LEVELS)('passes one that writes from %s on, if told so', async (lowest) => {
    const isEnabled = (level: LogLevel) => LEVELS.indexOf(level) >= LEVELS.indexOf(lowest);
    const quiet = spoiled({
      isEnabled,
      write: (write, level, message, fields = {}) => isEnabled(level) && write(level, message, fields),
    });
    expect(await failures(loggerCases(quiet, { lowest }))).toEqual([]);
    for (const other of LEVELS.filter((level) => level !== lowest)) {
      expect(await failures(loggerCases(quiet, { lowest: other }))).not.toEqual([]);
    }
  });

  it.each<[string, LoggerExpectations, RegExp]>([
    ['fields', { hasFields: false }, /fields of a/],
    ['levels', { hasLevels: false }, /apart/],
  ])('does not look at %s if they cannot be read', (_what, expectations, left) => {
    const names = loggerCases(good, expectations).map(({ name }) => name);
    expect(allCases.filter((name) => !names.includes(name))).toEqual(allCases.filter((name) => left.test(name)));
    expect(names.length).toBeLessThan(allCases.length);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(loggerCases(create))).toContain(caught);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('says what is wrong in words', async () => {
    const silent = loggerCases(spoiled({ write: () => {} }));
    expect(await complaint(silent, 'writes each line once, in order')).toMatch(/^0 lines instead of 3\n/);
  });
});
