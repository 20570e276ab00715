import type { LogFields, LogLevel } from '@kopf-ts/core';
import { testLogger, type WrittenLine } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { consoleLogger, type LogFormat } from '../../src/index.js';

const LEVELS: Readonly<Record<string, LogLevel>> = { DEBUG: 'debug', INFO: 'info', WARNING: 'warn', ERROR: 'error' };

function loggerUnderTest(format: LogFormat, level: LogLevel, read: (text: string) => WrittenLine) {
  const written: string[] = [];
  const stream = { write: (text: string) => void written.push(text) };
  return { logger: consoleLogger({ format, level, stream }), lines: () => written.map(read) };
}

function readJson(text: string): WrittenLine {
  const { message, severity, ...fields } = JSON.parse(text) as LogFields & { message: string; severity: LogLevel };
  return { message, level: severity, fields };
}

function readText(text: string): WrittenLine {
  return { message: text, level: LEVELS[/\[([A-Z]+) *\]/.exec(text)?.[1] ?? ''] };
}

describe.each<LogLevel>(['debug', 'info', 'error'])('by our own logger, from %s on', (lowest) => {
  describe('in JSON:', () => {
    testLogger(() => loggerUnderTest('json', lowest, readJson), { describe, it }, { lowest });
  });

  describe('in full:', () => {
    testLogger(() => loggerUnderTest('full', lowest, readText), { describe, it }, { lowest, hasFields: false });
  });

  describe('in plain words:', () => {
    const expectations = { lowest, hasFields: false, hasLevels: false };
    testLogger(() => loggerUnderTest('plain', lowest, (message) => ({ message })), { describe, it }, expectations);
  });
});
