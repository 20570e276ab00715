/** Enough of pino to see the example work without it. */
import type { PinoLike } from './logger.js';

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 };

export interface TinyPinoOptions {
  readonly level?: keyof typeof LEVELS;
  readonly write?: (line: string) => void;
}

export function tinyPino(options: TinyPinoOptions = {}, common: object = {}): PinoLike {
  const { level: lowest = 'info', write = (line) => void process.stdout.write(line) } = options;
  const isLevelEnabled = (level: string): boolean => (LEVELS[level as keyof typeof LEVELS] ?? 0) >= LEVELS[lowest];
  const at = (level: keyof typeof LEVELS) => (fields: object, msg: string) => {
    if (isLevelEnabled(level)) write(`${lineOf({ level: LEVELS[level], ...common, ...fields, msg })}\n`);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isLevelEnabled,
    child: (fields) => tinyPino(options, { ...common, ...fields }),
  };
}

function lineOf(line: { level: number; msg: string }): string {
  try {
    return JSON.stringify(line, plain);
  } catch {
    const { level, msg } = line;
    return JSON.stringify({ level, msg });
  }
}

/** Errors have nothing that JSON would show. */
function plain(_key: string, value: unknown): unknown {
  return value instanceof Error ? { type: value.name, message: value.message, stack: value.stack } : value;
}
