/** What a log must have and must not have, told so that a failure needs no debugger. */
import { AssertionError } from 'node:assert';
import type { LogFields, LogLevel } from '@kopf-ts/core';
import type { LogLine } from './recording-logger.js';

/**
 * Which lines are meant: by a part of the text, by a pattern, or by all that is given.
 *
 * ```ts
 * import type { LinePattern } from 'kopf-ts/testing';
 * const patterns: LinePattern[] = ['succeeded', /^Handler '.*' failed/, { level: 'error', fields: { retry: 1 } }];
 * ```
 */
export type LinePattern =
  | string
  | RegExp
  | {
      readonly text?: string | RegExp | undefined;
      readonly level?: LogLevel | undefined;
      /** These must be so; there may be others. Values inside of mappings are looked at in the same way. */
      readonly fields?: LogFields | undefined;
    };

/** How many lines of a log are shown: the last ones tell the most. */
const MAX_SHOWN = 60;

export function isMatchingLine(line: LogLine, pattern: LinePattern): boolean {
  if (typeof pattern === 'string') return line.message.includes(pattern);
  // Not test(): global patterns remember where they have stopped.
  if (pattern instanceof RegExp) return line.message.search(pattern) >= 0;
  const { text, level, fields } = pattern;
  if (level !== undefined && line.level !== level) return false;
  if (text !== undefined && !isMatchingLine(line, text)) return false;
  return fields === undefined || includes(line.fields, fields);
}

/** Throws unless the log has these lines, in this order; others may be before, between, and after them. */
export function expectLines(lines: readonly LogLine[], patterns: readonly LinePattern[]): void {
  let from = 0;
  for (const pattern of patterns) {
    const found = lines.findIndex((line, n) => n >= from && isMatchingLine(line, pattern));
    if (found < 0) {
      const earlier = lines.findIndex((line) => isMatchingLine(line, pattern));
      const where = from === 0 ? '' : ` after line ${from}`;
      const hint = earlier < 0 ? '' : ` There is one before that: line ${earlier + 1}.`;
      throw failure(`No line${where} matches ${describe(pattern)}.${hint}`, lines, expectLines);
    }
    from = found + 1;
  }
}

/** Throws if the log has any line like these. */
export function expectNoLines(lines: readonly LogLine[], patterns: readonly LinePattern[]): void {
  for (const pattern of patterns) {
    const found = lines.findIndex((line) => isMatchingLine(line, pattern));
    if (found >= 0) {
      const text = `There must be no line that matches ${describe(pattern)}, but there is line ${found + 1}.`;
      throw failure(text, lines, expectNoLines);
    }
  }
}

/** How the pattern is called in messages. */
export function describe(pattern: LinePattern): string {
  if (typeof pattern === 'string') return JSON.stringify(pattern);
  if (pattern instanceof RegExp) return String(pattern);
  const { text, level, fields } = pattern;
  return [
    level === undefined ? 'any level' : `level ${level}`,
    text === undefined ? 'any text' : `text ${describe(text)}`,
    ...(fields === undefined ? [] : [`fields ${readable(fields)}`]),
  ].join(', ');
}

// biome-ignore lint/complexity/noBannedTypes: it is what Error.captureStackTrace takes
function failure(text: string, lines: readonly LogLine[], stackStartFn: Function): AssertionError {
  return new AssertionError({ message: `${text}\n${shown(lines)}`, stackStartFn });
}

export function shown(lines: readonly LogLine[]): string {
  if (lines.length === 0) return 'The log is empty.';
  const hidden = Math.max(0, lines.length - MAX_SHOWN);
  const texts = lines.slice(hidden).map(({ level, message, fields }, n) => {
    const names = Object.keys(fields);
    return `${String(hidden + n + 1).padStart(5)}. ${level.padEnd(5)} ${message}${names.length > 0 ? ` ${readable(fields)}` : ''}`;
  });
  return [`The log has ${lines.length} lines${hidden > 0 ? `; the last ${MAX_SHOWN} are` : ''}:`, ...texts].join('\n');
}

function readable(fields: LogFields): string {
  try {
    return JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? String(value) : value));
  } catch {
    return `{${Object.keys(fields).join(', ')}}`;
  }
}

function includes(actual: unknown, expected: unknown): boolean {
  if (Object.is(actual, expected)) return true;
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) >= 0;
  if (!isObject(actual) || !isObject(expected)) return false;
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length)) return false;
  return Object.entries(expected).every(([key, value]) => includes(getOwn(actual, key), value));
}

/** Errors have their messages as properties of their own, too. */
function getOwn(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
