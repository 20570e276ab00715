import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Awaitable, LogFields, Logger, LogLevel } from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from './cases.js';

/**
 * One line as it was written, as far as it can be read back.
 *
 * ```ts
 * import type { WrittenLine } from 'kopf-ts/testing';
 * const line: WrittenLine = { level: 'info', message: 'Handler succeeded.', fields: { retry: 0 } };
 * ```
 */
export interface WrittenLine {
  /** The text of the line, maybe among other things: prefixes, times, stacks. */
  readonly message: string;
  /** `undefined` if the format does not show it. */
  readonly level?: LogLevel | undefined;
  /** `undefined` if the format does not show them. */
  readonly fields?: LogFields | undefined;
}

/**
 * A logger, and a way to read what it has written.
 *
 * ```ts
 * import { type LoggerUnderTest, recordingLogger } from 'kopf-ts/testing';
 * const logger = recordingLogger();
 * const subject: LoggerUnderTest = { logger, lines: () => logger.lines };
 * ```
 */
export interface LoggerUnderTest {
  readonly logger: Logger;
  /** All lines so far. */
  lines(): Awaitable<readonly WrittenLine[]>;
}

/**
 * What of the lines can be read back.
 *
 * ```ts
 * import type { LoggerExpectations } from 'kopf-ts/testing';
 * const onlyTexts: LoggerExpectations = { lowest: 'info', hasFields: false };
 * ```
 */
export interface LoggerExpectations {
  /** The lowest level that is written. Default: `debug`. */
  readonly lowest?: LogLevel | undefined;
  /** Whether the fields can be read back. Default: yes. */
  readonly hasFields?: boolean | undefined;
  /** Whether the levels can be read back. Default: yes. */
  readonly hasLevels?: boolean | undefined;
}

type Create = () => Awaitable<LoggerUnderTest>;
type Lines = LoggerUnderTest['lines'];

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/**
 * What every logger must hold.
 *
 * ```ts
 * import { loggerCases, recordingLogger } from 'kopf-ts/testing';
 * const create = () => {
 *   const logger = recordingLogger();
 *   return { logger, lines: () => logger.lines };
 * };
 * for (const { name, run } of loggerCases(create)) it(name, run);
 * ```
 */
export function loggerCases(
  create: Create,
  { lowest = 'debug', hasFields = true, hasLevels = true }: LoggerExpectations = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const written = LEVELS.slice(LEVELS.indexOf(lowest));
  const add = (name: string, run: (logger: Logger, lines: Lines) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const under = await create();
      await run(under.logger, () => under.lines());
    };
    cases.push({ name, run: runAnew });
  };

  add('writes each line once, in order', async (logger, lines) => {
    for (const text of ['first', 'second', 'third']) logger.error(`The ${text} line.`);
    const texts = (await lines()).map(({ message }) => message);
    assert.equal(texts.length, 3, `${texts.length} lines instead of 3`);
    for (const [n, text] of ['first', 'second', 'third'].entries()) assert.ok(texts[n]?.includes(`The ${text} line.`));
  });

  add('writes texts as they are', async (logger, lines) => {
    const texts = ['100% of %s and %d', 'with {braces} and $1', 'with "quotes" and \\slashes', 'не только ASCII ☃'];
    for (const text of texts) logger.error(text, { s: 'string', d: 5 });
    const found = (await lines()).map(({ message }) => message);
    for (const [n, text] of texts.entries()) assert.ok(found[n]?.includes(text), `"${found[n]}" instead of "${text}"`);
  });

  add('writes lines of its level and above only', async (logger, lines) => {
    for (const level of LEVELS) logger[level](`It is ${level}.`);
    const texts = (await lines()).map(({ message }) => message);
    const levels = LEVELS.filter((level) => texts.some((text) => text.includes(`It is ${level}.`)));
    assert.deepEqual(levels, written);
  });

  add('correctly reports which levels are enabled', async (logger, lines) => {
    for (const one of [logger, logger.child({ a: 1 })]) {
      const enabled = LEVELS.filter((level) => one.isEnabled?.(level) ?? true);
      const before = (await lines()).length;
      for (const level of LEVELS) one[level]('A line.');
      const count = (await lines()).length - before;
      // Loggers without `isEnabled` get everything; loggers with it must be right.
      if (one.isEnabled !== undefined) assert.deepEqual(enabled, written);
      assert.equal(count, written.length);
    }
  });

  add('has children that write to the same place at the same levels', async (logger, lines) => {
    const child = logger.child({ a: 1 }).child({ b: 2 });
    logger.error('Of the parent.');
    for (const level of LEVELS) child[level](`Of the child: ${level}.`);
    const texts = (await lines()).map(({ message }) => message);
    assert.equal(texts.length, 1 + written.length);
    assert.ok(texts[0]?.includes('Of the parent.'));
    for (const [n, level] of written.entries()) assert.ok(texts[n + 1]?.includes(`Of the child: ${level}.`));
  });

  add('accepts frozen fields, and lines without fields', async (logger, lines) => {
    const fields: LogFields = Object.freeze({ a: Object.freeze({ b: 1 }) });
    const child = logger.child(fields);
    assert.doesNotThrow(() => child.error('With fields.', fields));
    assert.doesNotThrow(() => child.error('Without fields.'));
    assert.doesNotThrow(() => child.error('With no fields.', {}));
    assert.equal((await lines()).length, 3);
  });

  for (const [what, make] of TROUBLES) {
    add(`never throws, not even for ${what}`, async (logger, lines) => {
      assert.doesNotThrow(() => logger.error('A line.', make()));
      assert.doesNotThrow(() => logger.child(make()).error('Another line.'));
      const texts = (await lines()).map(({ message }) => message);
      assert.equal(texts.length, 2, `${texts.length} lines instead of 2`);
      assert.ok(texts[0]?.includes('A line.'));
    });
  }

  add('writes the messages of errors', async (logger, lines) => {
    logger.error('It has failed.', { error: new TypeError('the deepest cause') });
    const [line] = await lines();
    assert.ok(inspect(line).includes('the deepest cause'), 'the message of the error is nowhere in the line');
  });

  if (hasLevels) {
    add('tells the levels apart', async (logger, lines) => {
      for (const level of written) logger[level]('A line.');
      assert.deepEqual(
        (await lines()).map(({ level }) => level),
        written,
      );
    });
  }

  if (hasFields) {
    const fieldsOf = async (lines: Lines): Promise<readonly (LogFields | undefined)[]> =>
      (await lines()).map(({ fields }) => fields);
    const assertFields = (actual: LogFields | undefined, expected: LogFields): void => {
      const known = ['apple', 'pear', 'plum'];
      const found = Object.entries(actual ?? {}).filter(([name]) => known.includes(name));
      assert.deepEqual(Object.fromEntries(found), expected);
    };

    add('writes the fields of a line in that line only', async (logger, lines) => {
      logger.error('One.', { apple: 1, pear: { color: 'green' } });
      logger.error('Two.');
      const [one, two] = await fieldsOf(lines);
      assertFields(one, { apple: 1, pear: { color: 'green' } });
      assertFields(two, {});
    });

    add('writes the fields of a child in all its lines, the nearest winning', async (logger, lines) => {
      const child = logger.child({ apple: 1, pear: 1 });
      const grandchild = child.child({ pear: 2, plum: 2 });
      grandchild.error('One.', { plum: 3 });
      grandchild.error('Two.');
      child.error('Three.');
      logger.error('Four.');
      const [one, two, three, four] = await fieldsOf(lines);
      assertFields(one, { apple: 1, pear: 2, plum: 3 });
      assertFields(two, { apple: 1, pear: 2, plum: 2 });
      assertFields(three, { apple: 1, pear: 1 });
      assertFields(four, {});
    });

    add('remembers the fields of a child as they were', async (logger, lines) => {
      const fields: Record<string, unknown> = { apple: 1 };
      const child = logger.child(fields);
      fields['apple'] = 2;
      fields['pear'] = 2;
      child.error('One.');
      const [one] = await fieldsOf(lines);
      assertFields(one, { apple: 1 });
    });
  }

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { testLogger } from 'kopf-ts/testing';
 * testLogger(() => {
 *   const written: string[] = [];
 *   const logger = kopf.consoleLogger({ format: 'plain', stream: { write: (text) => written.push(text) } });
 *   return { logger, lines: () => written.map((message) => ({ message })) };
 * }, { describe, it }, { lowest: 'info', hasFields: false, hasLevels: false });
 * ```
 */
export function testLogger(create: Create, runner?: TestRunner, expectations?: LoggerExpectations): void {
  declareCases('a logger', loggerCases(create, expectations), runner);
}

/** What comes into logs sooner or later, and is not easily written. */
const TROUBLES: readonly (readonly [what: string, make: () => LogFields])[] = [
  ['fields that refer to themselves', cyclic],
  [
    'big integers, symbols, functions, and nothing',
    () => ({ a: 1n, b: Symbol('b'), c: () => {}, d: undefined, e: null }),
  ],
  ['fields that cannot be read', () => ({ a: unreadable() })],
  ['errors with causes in a circle', () => ({ error: cyclicError() })],
  ['errors that are no errors', () => ({ error: 'a text' })],
  [
    'names of what all objects have',
    () => JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}') as LogFields,
  ],
];

function cyclic(): LogFields {
  const fields: Record<string, unknown> = {};
  fields['itself'] = { fields };
  return fields;
}

function unreadable(): object {
  return {
    get secret(): never {
      throw new Error('This cannot be read.');
    },
    toJSON(): never {
      throw new Error('This cannot be written.');
    },
  };
}

function cyclicError(): Error {
  const [first, second] = [new Error('first'), new Error('second')];
  first.cause = second;
  second.cause = first;
  return first;
}
