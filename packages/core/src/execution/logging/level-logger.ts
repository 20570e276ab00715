/** Loggers that stand before other loggers, and are made by the thousand: most of them are never logged to. */
import type { LogFields, Logger, LogLevel } from '../../seams/logger.js';

type LogFn = (message: string, fields?: LogFields) => void;

/**
 * The levels are getters, so that a logger costs nothing until it is logged to; and yet its functions can be taken off
 * it, as those of `console` can: `promise.catch(logger.error)`.
 */
export abstract class LevelLogger implements Logger {
  abstract log(level: LogLevel, message: string, fields: LogFields | undefined): void;
  abstract isEnabled(level: LogLevel): boolean;
  abstract child(fields: LogFields): Logger;

  get debug(): LogFn {
    return (message, fields) => this.log('debug', message, fields);
  }

  get info(): LogFn {
    return (message, fields) => this.log('info', message, fields);
  }

  get warn(): LogFn {
    return (message, fields) => this.log('warn', message, fields);
  }

  get error(): LogFn {
    return (message, fields) => this.log('error', message, fields);
  }
}
