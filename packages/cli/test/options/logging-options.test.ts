import { describe, expect, it } from 'vitest';
import type { LoggingChoice } from '../../src/runtime.js';
import { kopf } from '../fakes.js';

async function logging(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<LoggingChoice> {
  const { logging } = await kopf(['resume', '-P', 'default', ...args], { env });
  expect(logging).toHaveLength(1);
  return logging[0] as LoggingChoice;
}

describe('the verbosity', () => {
  it.each([
    ['', 'info'],
    ['-q', 'warn'],
    ['--quiet', 'warn'],
    ['-v', 'debug'],
    ['--verbose', 'debug'],
    ['-d', 'debug'],
    ['--debug', 'debug'],
    ['-v -q', 'debug'],
    ['-d -q', 'debug'],
    ['-vdq', 'debug'],
  ])('of %j is %s', async (args, level) => {
    expect(await logging(args.split(' ').filter(Boolean))).toMatchObject({ level });
  });

  it.each([
    ['VERBOSE', 'debug'],
    ['DEBUG', 'debug'],
    ['QUIET', 'warn'],
  ])('can be told by the environment: %s', async (name, level) => {
    expect(await logging([], { [`KOPF_RESUME_${name}`]: '1' })).toMatchObject({ level });
  });
});

describe('the format', () => {
  it.each([
    ['', 'full'],
    ['--log-format=plain', 'plain'],
    ['--log-format=FULL', 'full'],
    ['--log-format=json', 'json'],
  ])('of %j is %s', async (args, format) => {
    expect(await logging(args.split(' ').filter(Boolean))).toMatchObject({ format });
  });

  it('can be told by the environment', async () => {
    expect(await logging([], { KOPF_RESUME_LOG_FORMAT: 'Json' })).toMatchObject({ format: 'json' });
  });
});

describe('the prefix', () => {
  it.each<[string, Readonly<Record<string, string>>, boolean | undefined]>([
    ['', {}, undefined],
    ['--log-prefix', {}, true],
    ['--no-log-prefix', {}, false],
    ['', { KOPF_RESUME_LOG_PREFIX: 'no' }, false],
    ['', { KOPF_RESUME_LOG_PREFIX: 'yes' }, true],
    ['--log-prefix', { KOPF_RESUME_LOG_PREFIX: 'no' }, true],
    ['--no-log-prefix', { KOPF_RESUME_LOG_PREFIX: 'yes' }, false],
  ])('of %j with %j is %s', async (args, env, prefix) => {
    expect((await logging(args.split(' ').filter(Boolean), env)).prefix).toBe(prefix);
  });
});

describe('the key of references', () => {
  it('is that of the option or of the environment', async () => {
    expect((await logging([])).refkey).toBeUndefined();
    expect((await logging(['--log-refkey=ref'])).refkey).toBe('ref');
    expect((await logging([], { KOPF_RESUME_LOG_REFKEY: 'ref' })).refkey).toBe('ref');
  });
});
