/** Structured fields of a log line. Reserved by the framework: `object` (the reference) and `error`. */
export type LogFields = Readonly<Record<string, unknown>>;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Any structured logger: pino, winston and console all fit with a few lines. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /**
   * Whether lines of this level go anywhere: so that texts which nobody sees need not be made. Loggers without it
   * are taken to want everything.
   */
  isEnabled?(level: LogLevel): boolean;
  /** The same logger with these fields in each line. */
  child(fields: LogFields): Logger;
}
