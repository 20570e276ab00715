import type { LogLevel } from 'kopf-ts';
import { testLogger } from 'kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { newStage } from '../support/stage.js';
import { pinoLogger } from './logger.js';
import { tinyPino } from './tiny-pino.js';

const handlers = new URL('handlers.ts', import.meta.url);
const NAMES: Readonly<Record<number, LogLevel>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** A logger that writes here. */
function newLogger(level: LogLevel) {
  const texts: string[] = [];
  const logger = pinoLogger(tinyPino({ level, write: (line) => void texts.push(line) }));
  return { logger, written: () => texts.map((text) => JSON.parse(text)) };
}

testLogger(
  () => {
    const { logger, written } = newLogger('debug');
    const lines = () =>
      written().map(({ level, msg, err, ...fields }) => ({
        level: NAMES[level],
        message: msg,
        fields: err === undefined ? fields : { ...fields, error: err },
      }));
    return { logger, lines };
  },
  { describe, it },
);

it('is what the operator and its handlers log with', async () => {
  await using stage = await newStage();
  const { logger, written } = newLogger('info');
  await using _operator = await stage.run(handlers, { logger });
  await stage.createExample();
  const line = (text: string) =>
    stage.eventually(() => {
      const found = written().find(({ msg }) => msg.includes(text));
      expect(found).toBeDefined();
      return found;
    });
  expect(await line('Hello, kopf-example-1!')).toMatchObject({
    level: 30,
    object: { kind: 'KopfExample', name: 'kopf-example-1', namespace: stage.namespace },
    field: 'value',
    items: 2,
  });
  const { level, err } = await line('This is to be seen with its stack.');
  expect([level, err.stack]).toEqual([50, expect.stringContaining('handlers.ts')]);
  expect(written().some(({ level: one }) => one < 30)).toBe(false);
});
