import { createRegistry, type Settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { operator } from '../../src/operator.js';
import type { OperatorOptions } from '../../src/options.js';

const client = {
  request: () => Promise.reject(new Error('nobody should ask')),
  stream: () => Promise.reject(new Error('nobody should ask')),
} as unknown as NonNullable<OperatorOptions['client']>;

async function warningsOf(declare: (registry: ReturnType<typeof createRegistry>) => void): Promise<readonly string[]> {
  const logger = recordingLogger();
  const registry = createRegistry();
  declare(registry);
  await operator({ registry, client, clock: manualClock(), logger, clusterwide: true }).stop();
  return logger.messages('warn').filter((text) => !text.startsWith('Startup activity'));
}

describe('mistakes in the options of an operator', () => {
  it.each<[string, object, RegExp]>([
    ['misspelt options', { clusterWide: true }, /no option "clusterWide".* clusterwide/],
    ['options of handlers', { retries: 5 }, /no option "retries"/],
    ['one namespace as a string', { namespaces: 'default' }, /must be an array.*\["default"\]/],
    ['settings without most of them', { settings: { posting: {} } as Settings }, /no process, .*settings\(\{ … \}\)/],
  ])('%s are refused before anything begins', (_title, options, message) => {
    const clock = manualClock();
    const start = () => operator({ registry: createRegistry(), client, clock, logger: recordingLogger(), ...options });
    expect(start).toThrow(
      expect.objectContaining({ code: 'KOPF_BAD_OPTION', message: expect.stringMatching(message) }),
    );
    expect(clock.sleepers).toBe(0);
  });
});

describe('an operator that would do nothing', () => {
  it('because there are no handlers, says so', async () => {
    expect(await warningsOf(() => {})).toEqual([expect.stringMatching(/^There are no handlers.*imported.*registry/)]);
  });

  it.each<[string, (registry: ReturnType<typeof createRegistry>) => unknown]>([
    ['a change handler', ({ on }) => on.create('kopfexamples', function fn() {})],
    ['an admission handler', ({ on }) => on.validate('kopfexamples', function fn() {})],
    ['a timer', ({ timer }) => timer('kopfexamples', { interval: 1 }, function fn() {})],
    ['a startup handler', ({ on }) => on.startup(function fn() {})],
  ])('is not one with %s', async (_title, declare) => {
    expect(await warningsOf(declare)).toEqual([]);
  });
});
