import type { LogLevel } from '@kopf-ts/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { configure, consoleLogger, defaultLogger, type LogFormat } from '../../src/logging/default-logger.js';
import { capture } from './captured.js';

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

describe('the level of a logger', () => {
  it.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    [undefined, ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ] as const)('%s lets through %j', (level, expected) => {
    const { logger, stream } = capture({ level, format: 'plain' });
    for (const each of LEVELS) logger[each](each);
    expect(stream.text.trim().split('\n')).toEqual(expected);
    expect(LEVELS.filter((each) => logger.isEnabled?.(each))).toEqual(expected);
  });

  it('saves the work for what is not written', () => {
    const now = vi.fn(() => new Date());
    const { logger } = capture({ now });
    const fields = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('It was looked at.');
        },
      },
    );
    logger.debug('hello', fields);
    expect(now).not.toHaveBeenCalled();
    expect(() => logger.info('hello', fields)).toThrow('It was looked at.');
  });
});

describe('options of logging', () => {
  it.each([
    [{ format: 'xml' as LogFormat }, 'There is no format of logs "xml". Known: full, plain, json.'],
    [{ format: 'toString' as LogFormat }, 'There is no format of logs "toString"'],
    [{ level: 'fatal' as LogLevel }, 'There is no level of logs "fatal". Known: debug, info, warn, error.'],
  ])('that do not exist are refused: %j', (options, message) => {
    expect(() => consoleLogger(options)).toThrow(message);
    expect(() => configure(options)).toThrow(message);
  });
});

describe('the default logger', () => {
  afterEach(() => configure());

  it('writes to the standard error stream, as it is at the moment', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      configure({ format: 'plain' });
      defaultLogger().info('hello');
      expect(write.mock.calls).toEqual([['hello\n']]);
    } finally {
      write.mockRestore();
    }
  });

  it('obeys what is configured later, also in its children', () => {
    const child = defaultLogger().child({ a: 1 });
    const { stream } = capture();
    configure({ stream, format: 'plain', level: 'warn' });
    child.info('too low');
    configure({ stream, format: 'plain', level: 'debug' });
    child.debug('seen');
    expect(stream.text).toBe('seen a=1\n');
    expect(child.isEnabled?.('debug')).toBe(true);
  });

  it('forgets what was configured before', () => {
    const { stream } = capture();
    configure({ stream, format: 'plain', level: 'debug' });
    configure({ stream, format: 'plain' });
    defaultLogger().debug('too low');
    expect(stream.text).toBe('');
  });

  it('leaves other loggers alone', () => {
    const own = capture({ format: 'plain' });
    const { stream } = capture();
    configure({ stream, level: 'error' });
    own.logger.info('hello');
    expect(own.stream.text).toBe('hello\n');
    expect(stream.text).toBe('');
  });
});
