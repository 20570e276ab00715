import type { LogFields, Logger, LogLevel } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';
import { describe, expectLines, expectNoLines, isMatchingLine, type LinePattern, shown } from './log-assertions.js';

/**
 * One line of a log, with the fields of the logger and of the line together.
 *
 * ```ts
 * import { type LogLine, recordingLogger } from 'kopf-ts/testing';
 * const shown = ({ level, message }: LogLine): string => `${level}: ${message}`;
 * recordingLogger().lines.map(shown);
 * ```
 */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/**
 * A logger that can be asked what was logged.
 *
 * ```ts
 * import { type RecordingLogger, recordingLogger } from 'kopf-ts/testing';
 * const logger: RecordingLogger = recordingLogger();
 * logger.warn('The disk is full.', { disk: 'sda' });
 * logger.expect({ level: 'warn', text: /disk/, fields: { disk: 'sda' } });
 * ```
 */
export interface RecordingLogger extends Logger {
  /** All lines so far, in order; those of the children included. */
  readonly lines: readonly LogLine[];
  /** The texts only, of all levels or of one. */
  messages(level?: LogLevel): string[];
  /** The first line that is like this: by a part of its text, by a regular expression, or by its level and fields. */
  find(pattern: LinePattern): LogLine | undefined;
  /** All lines that are like this. */
  filter(pattern: LinePattern): readonly LogLine[];
  /** Throws unless there are such lines, in this order; others may be among them. The error shows the log. */
  expect(...patterns: readonly LinePattern[]): void;
  /** Throws if there is any such line. The error shows the log. */
  expectNone(...patterns: readonly LinePattern[]): void;
  /** Waits for such a line, unless there is one already; rejects with the log in the message when the signal aborts. */
  until(pattern: LinePattern, options?: { readonly signal?: AbortSignal | undefined }): Promise<LogLine>;
  /** Forgets all lines: to look only at what comes next. */
  clear(): void;
  /** The child records into the same list. */
  child(fields: LogFields): RecordingLogger;
}

/** What all children of a logger share. */
interface Records {
  readonly lines: LogLine[];
  readonly listeners: Set<(line: LogLine) => void>;
}

/**
 * A logger that writes nowhere and remembers everything, for asserting on it.
 *
 * ```ts
 * import { operatorRunner, recordingLogger } from 'kopf-ts/testing';
 * const logger = recordingLogger();
 * await using runner = await operatorRunner({ logger });
 * await logger.until('Initial authentication has finished.');
 * ```
 */
export function recordingLogger(): RecordingLogger {
  return recordingInto({ lines: [], listeners: new Set() }, {});
}

function recordingInto(records: Records, common: LogFields): RecordingLogger {
  const { lines, listeners } = records;
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      const line: LogLine = { level, message, fields: { ...common, ...fields } };
      lines.push(line);
      for (const listener of [...listeners]) listener(line);
    };
  return {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recordingInto(records, { ...common, ...fields }),
    messages: (level) =>
      lines.filter((line) => level === undefined || line.level === level).map((line) => line.message),
    find: (pattern) => lines.find((line) => isMatchingLine(line, pattern)),
    filter: (pattern) => lines.filter((line) => isMatchingLine(line, pattern)),
    expect: (...patterns) => expectLines(lines, patterns),
    expectNone: (...patterns) => expectNoLines(lines, patterns),
    until: (pattern, { signal } = {}) => untilLine(records, pattern, signal),
    clear: () => {
      lines.length = 0;
    },
  };
}

function untilLine({ lines, listeners }: Records, pattern: LinePattern, signal?: AbortSignal): Promise<LogLine> {
  const found = lines.find((line) => isMatchingLine(line, pattern));
  if (found !== undefined) return Promise.resolve(found);
  return new Promise((resolve, reject) => {
    const listener = (line: LogLine): void => {
      if (!isMatchingLine(line, pattern)) return;
      listeners.delete(listener);
      forgetSignal?.();
      resolve(line);
    };
    listeners.add(listener);
    const forgetSignal =
      signal &&
      onAbort(signal, (reason) => {
        listeners.delete(listener);
        const text = `No line has come that matches ${describe(pattern)}.\n${shown(lines)}`;
        reject(new Error(text, { cause: reason }));
      });
  });
}
