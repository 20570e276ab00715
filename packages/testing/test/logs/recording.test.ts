import { describe, expect, it } from 'vitest';
import { recordingLogger } from '../../src/index.js';

describe('the recording logger', () => {
  it('remembers lines of all levels in order, with their fields', () => {
    const logger = recordingLogger();
    logger.debug('one');
    logger.info('two', { a: 1 });
    logger.warn('three');
    logger.error('four', { error: 'x' });
    expect(logger.lines).toEqual([
      { level: 'debug', message: 'one', fields: {} },
      { level: 'info', message: 'two', fields: { a: 1 } },
      { level: 'warn', message: 'three', fields: {} },
      { level: 'error', message: 'four', fields: { error: 'x' } },
    ]);
  });

  it("adds the fields of the children's ancestors, the nearest winning, and keeps one list for all", () => {
    const logger = recordingLogger();
    const child = logger.child({ a: 1, b: 1, c: 1 }).child({ b: 2, c: 2 });
    child.info('hello', { c: 3 });
    logger.info('own');
    expect(logger.lines.map((line) => line.fields)).toEqual([{ a: 1, b: 2, c: 3 }, {}]);
    expect(child.lines).toBe(logger.lines);
  });

  it('gives the texts of all levels, or of one', () => {
    const logger = recordingLogger();
    logger.info('one');
    logger.warn('two');
    logger.info('three');
    expect(logger.messages()).toEqual(['one', 'two', 'three']);
    expect(logger.messages('info')).toEqual(['one', 'three']);
    expect(logger.messages('error')).toEqual([]);
  });

  it('finds the first line by a part of its text, or by a pattern', () => {
    const logger = recordingLogger();
    logger.info('Handler is called.');
    logger.warn('Handler has failed.');
    expect(logger.find('Handler')?.level).toBe('info');
    expect(logger.find('failed')?.level).toBe('warn');
    expect(logger.find(/^Handler .* failed/)?.level).toBe('warn');
    expect(logger.find('(called|failed)')).toBeUndefined();
  });

  it('finds the same with a global pattern, however many times it is asked', () => {
    const logger = recordingLogger();
    const pattern = /called/g;
    logger.info('It is called.');
    expect([logger.find(pattern), logger.find(pattern)]).toEqual([logger.lines[0], logger.lines[0]]);
  });

  it('forgets when told, in the children as well', () => {
    const logger = recordingLogger();
    const child = logger.child({ a: 1 });
    child.info('before');
    logger.clear();
    child.info('after');
    expect(logger.messages()).toEqual(['after']);
  });
});
