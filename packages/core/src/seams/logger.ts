/**
 * Structured fields of a log line. Reserved by the framework: `object` (the reference) and `error`.
 *
 * ```ts
 * const fields: kopf.LogFields = { volume: 'pv-1', seconds: 1.5 };
 * logger.info('The volume is ready.', fields);
 * ```
 */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * The levels of log lines, the least important first.
 *
 * ```ts
 * const level: kopf.LogLevel = process.env.DEBUG === undefined ? 'info' : 'debug';
 * ```
 */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * Any structured logger: pino, winston and console all fit with a few lines.
 *
 * ```ts
 * const line = (level: string) => (message: string, fields?: kopf.LogFields) =>
 *   console.log(JSON.stringify({ level, message, ...fields }));
 * const plain: kopf.Logger = {
 *   debug: line('debug'),
 *   info: line('info'),
 *   warn: line('warn'),
 *   error: line('error'),
 *   child: () => plain,
 * };
 * await kopf.run({ logger: plain });
 * ```
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /**
   * Whether lines of this level are written: if not, their texts need not be built. A logger without this method is
   * assumed to write all levels.
   */
  isEnabled?(level: LogLevel): boolean;
  /** The same logger with these fields in each line. */
  child(fields: LogFields): Logger;
}
