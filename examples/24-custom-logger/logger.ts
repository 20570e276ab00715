/** Any logger for the operator: here, one in the manner of pino. */
import type { LogFields, Logger, LogLevel } from 'kopf-ts';

/** As much of pino as is needed; also of bunyan, and of others that take the fields first. */
export interface PinoLike {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): PinoLike;
  isLevelEnabled?(level: string): boolean;
}

/** Use it as `kopf.run({ logger: pinoLogger(pino()) })`. */
export function pinoLogger(pino: PinoLike): Logger {
  const at =
    (level: LogLevel): Logger['info'] =>
    (message, fields = {}) => {
      // Whatever is wrong with the fields, a handler is not to fail because of its log.
      try {
        pino[level](renamed(fields), message);
      } catch {
        pino[level]({}, message);
      }
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isEnabled: (level) => pino.isLevelEnabled?.(level) ?? true,
    child(fields) {
      try {
        return pinoLogger(pino.child(renamed(fields)));
      } catch {
        return pinoLogger(pino);
      }
    },
  };
}

/** Errors are known to pino as `err`: with that name, it shows their stacks. */
function renamed({ error, ...fields }: LogFields): object {
  return error === undefined ? fields : { ...fields, err: error };
}
