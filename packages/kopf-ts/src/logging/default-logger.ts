/** The default logger: lines to stderr, in Kopf's formats. */
import { KopfError, type LogFields, type Logger, type LogLevel } from '@kopf-ts/core';
import { FORMATS, type LineStyle, type LogFormat } from './formats.js';
import { writeOrLose } from './lost-streams.js';

export type { LogFormat } from './formats.js';

/**
 * The destination of log lines: any writable stream of Node. If it fails, lines are lost, and the operator goes on.
 *
 * ```ts
 * const lines: string[] = [];
 * const stream: kopf.LogStream = { write: (text) => lines.push(text) };
 * kopf.configure({ stream });
 * ```
 */
export interface LogStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/**
 * The format, level and destination of log lines.
 *
 * ```ts
 * const options: kopf.LoggingOptions = { format: 'json', refkey: 'k8s-obj', level: 'warn' };
 * ```
 */
export interface LoggingOptions {
  /** Default: `full`. */
  readonly format?: LogFormat | undefined;
  /** The lowest level to write. Default: `info`. */
  readonly level?: LogLevel | undefined;
  /** Whether messages about objects begin with `[namespace/name]`. Default: yes in text formats, no in JSON. */
  readonly prefix?: boolean | undefined;
  /** The key of object references in JSON. Default: `object`. */
  readonly refkey?: string | undefined;
  /** Default: the standard error stream. */
  readonly stream?: LogStream | undefined;
  /**
   * Whether to colour the lines of the full format. Default: on terminals unless `NO_COLOR` is set in the environment, and
   * everywhere if `FORCE_COLOR` is.
   */
  readonly colors?: boolean | undefined;
  /** The time of log lines. Default: the system time. */
  readonly now?: (() => Date) | undefined;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** The destination, and the lowest level. */
interface Sink {
  /** The index of the lowest level. */
  readonly lowest: number;
  write(level: LogLevel, message: string, fields: LogFields): void;
}

/**
 * Makes a logger with its own options, unaffected by {@link configure}.
 *
 * ```ts
 * const logger = kopf.consoleLogger({ format: 'plain', stream: process.stdout });
 * await kopf.run({ logger });
 * ```
 */
export function consoleLogger(options: LoggingOptions = {}): Logger {
  const own = sink(options);
  return new SinkLogger(() => own, {});
}

/**
 * Configures logging of all operators in this process, running ones included. Options left out return to their defaults.
 * Operators with a logger of their own are not affected.
 *
 * ```ts
 * kopf.configure({ format: 'json', level: 'debug' });
 * ```
 */
export function configure(options: LoggingOptions = {}): void {
  configured().sink = sink(options);
}

/** The default logger. It reads the options of {@link configure} at each line. */
export function defaultLogger(): Logger {
  const state = configured();
  return new SinkLogger(() => {
    state.sink ??= sink({});
    return state.sink;
  }, {});
}

const CONFIGURED: unique symbol = Symbol.for('kopf-ts.logging') as never;

/** On `globalThis`, which all copies of this package share: that of the command line and that of the user. */
function configured(): { sink?: Sink } {
  const holder = globalThis as { [CONFIGURED]?: { sink?: Sink } };
  holder[CONFIGURED] ??= {};
  return holder[CONFIGURED];
}

/** A class and not closures: there is one for each object and each handler being called. */
class SinkLogger implements Logger {
  readonly #sink: () => Sink;
  readonly #fields: LogFields;

  constructor(sink: () => Sink, fields: LogFields) {
    this.#sink = sink;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#log('debug', 0, message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log('info', 1, message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log('warn', 2, message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log('error', 3, message, fields);
  }

  isEnabled(level: LogLevel): boolean {
    return LEVELS.indexOf(level) >= this.#sink().lowest;
  }

  child(fields: LogFields): Logger {
    return new SinkLogger(this.#sink, { ...this.#fields, ...fields });
  }

  #log(level: LogLevel, rank: number, message: string, fields: LogFields | undefined): void {
    const target = this.#sink();
    if (rank < target.lowest) return;
    target.write(level, message, fields === undefined ? this.#fields : { ...this.#fields, ...fields });
  }
}

function sink(options: LoggingOptions): Sink {
  const { format = 'full', level = 'info', refkey = 'object', now = () => new Date() } = options;
  const formatted = oneOf(format, FORMATS, 'format of logs');
  const lowest = LEVELS.indexOf(level);
  if (lowest < 0) throw unknown('level of logs', level, LEVELS);
  // Read at every line: tests and wrappers replace the streams of a process.
  const stream = (): LogStream => options.stream ?? process.stderr;
  const style: LineStyle = {
    hasPrefix: options.prefix ?? format !== 'json',
    refkey,
    hasColors: options.colors ?? wantsColors(stream(), process.env),
  };
  return {
    lowest,
    write(level, message, fields) {
      writeOrLose(stream(), `${formatted({ level, message: String(message), fields, at: now() }, style)}\n`);
    },
  };
}

/** As Node itself decides: forcing has the last word. */
function wantsColors({ isTTY = false }: LogStream, env: Readonly<Record<string, string | undefined>>): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTTY && !env['NO_COLOR'];
}

function oneOf<T>(name: string, known: Readonly<Record<string, T>>, what: string): T {
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found === undefined) throw unknown(what, name, Object.keys(known));
  return found;
}

function unknown(what: string, given: unknown, known: readonly string[]): KopfError {
  return new KopfError(`There is no ${what} "${String(given)}". Known: ${known.join(', ')}.`, {
    code: 'KOPF_BAD_LOGGING',
  });
}
