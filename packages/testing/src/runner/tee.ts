import type { LogFields, Logger } from '@kopf-ts/core';

/** A logger whose lines go to all of these. */
export function teeLogger(loggers: readonly Logger[]): Logger {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields?: LogFields): void => {
      for (const logger of loggers) logger[level](message, fields);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isEnabled: (level) => loggers.some((logger) => logger.isEnabled?.(level) ?? true),
    child: (fields) => teeLogger(loggers.map((logger) => logger.child(fields))),
  };
}
