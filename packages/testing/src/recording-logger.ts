import type { LogFields, Logger, LogLevel } from '@kopf-ts/core';

/** One line of a log, with the fields of the logger and of the line together. */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

export interface RecordingLogger extends Logger {
  /** All lines so far, in order; those of the children included. */
  readonly lines: readonly LogLine[];
  /** The texts only, of all levels or of one. */
  messages(level?: LogLevel): string[];
  /** The first line that has this text in it, or that matches. */
  find(text: string | RegExp): LogLine | undefined;
  /** Forgets all lines: to look only at what comes next. */
  clear(): void;
  /** The child records into the same list. */
  child(fields: LogFields): RecordingLogger;
}

/** A logger that writes nowhere and remembers everything, for asserting on it. */
export function recordingLogger(): RecordingLogger {
  return recordingInto([], {});
}

function recordingInto(lines: LogLine[], common: LogFields): RecordingLogger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields: { ...common, ...fields } });
    };
  return {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recordingInto(lines, { ...common, ...fields }),
    messages: (level) =>
      lines.filter((line) => level === undefined || line.level === level).map((line) => line.message),
    find: (text) =>
      lines.find(({ message }) => (typeof text === 'string' ? message.includes(text) : message.search(text) >= 0)),
    clear: () => {
      lines.length = 0;
    },
  };
}
