import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

/** A spec with a text at its very bottom. */
function deep(levels: number, bottom: string): object {
  let value: unknown = bottom;
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? { a: value } : { list: value };
  return { deep: value };
}

const TRACES: readonly [string, Record<string, string>][] = [
  ['a last handled state of mappings', { [LAST_HANDLED]: `${'{"s":'.repeat(30_000)}{}${'}'.repeat(30_000)}` }],
  ['a last handled state of lists', { [LAST_HANDLED]: `{"spec":${'['.repeat(50_000)}${']'.repeat(50_000)}}` }],
  ['a digest', { [`${LAST_HANDLED}-digest`]: `{"digest":${'['.repeat(50_000)}${']'.repeat(50_000)}}` }],
  ['a progress record', { 'kopf.zalando.org/c': `${'{"subrefs":'.repeat(20_000)}[]${'}'.repeat(20_000)}` }],
  [
    'everything',
    {
      [LAST_HANDLED]: `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
      'kopf.zalando.org/c': `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
      'kopf.zalando.org/d': `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
    },
  ],
];

describe.each(TRACES)('An object with a trace that is nested too deep: %s', (_what, annotations) => {
  it('is handled as if it had none, is told of once, and can be deleted; the others do not notice', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    const { on } = operator.registry;
    on.create('kopfexamples', { id: 'c' }, ({ name }) => void calls.push(`create ${name}`));
    on.update('kopfexamples', { id: 'u' }, ({ name }) => void calls.push(`update ${name}`));
    on.delete('kopfexamples', { id: 'd' }, ({ name }) => void calls.push(`delete ${name}`));
    await operator.start();
    await operator.create('odd', { metadata: { annotations }, spec: { x: 1 } });
    await operator.create('other');
    await operator.advance(100);
    expect(calls).toEqual(['create odd', 'create other']);
    await operator.edit('odd', { spec: { x: 2 } });
    await operator.edit('other', { spec: { field: 'w' } });
    await operator.advance(100);
    expect(calls.slice(2)).toEqual(['update odd', 'update other']);
    // Again in the middle of its life.
    await operator.edit('odd', { metadata: { annotations } });
    await operator.remove('odd');
    await operator.remove('other');
    await operator.advance(100);
    expect(calls.slice(-2)).toEqual(['delete odd', 'delete other']);
    await expect(operator.get('odd')).rejects.toThrow(/not found/);
    expect(operator.logger.find('Throttling')).toBeUndefined();
    expect(operator.logger.find('Maximum call stack')).toBeUndefined();
    const told = operator.logger.messages('warn').filter((message) => message.includes('levels deep'));
    expect(new Set(told).size).toBe(told.length);
    expect(told.length).toBeGreaterThan(0);
  });
});

describe.each([1_200, 2_500])('An object that is itself nested %d levels deep', (levels) => {
  it('is created, updated, resumed and deleted; what it was before is unavailable', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    const declare = ({ registry: { on } }: Pick<typeof operator, 'registry'>): void => {
      on.create('kopfexamples', { id: 'c' }, ({ name, patch }) => {
        calls.push(`create ${name}`);
        patch.status['seen'] = true;
      });
      on.update('kopfexamples', { id: 'u' }, ({ name, old }) => void calls.push(`update ${name}`, typeof old));
      on.resume('kopfexamples', { id: 'r' }, ({ name }) => void calls.push(`resume ${name}`));
      on.delete('kopfexamples', { id: 'd' }, ({ name }) => void calls.push(`delete ${name}`));
    };
    declare(operator);
    await operator.start();
    await operator.create('odd', { spec: deep(levels, 'v1') });
    await operator.create('other');
    await operator.advance(100);
    expect(calls.splice(0)).toEqual(['create odd', 'create other']);
    const annotations = (await operator.get('odd')).metadata?.annotations ?? {};
    expect(Object.keys(annotations)).toEqual([`${LAST_HANDLED}-digest`]);

    // What is the same is no change; what differs at the very bottom, is.
    await operator.edit('odd', { metadata: { labels: {} }, status: { by: 'others' } });
    await operator.advance(100);
    expect(calls).toEqual([]);
    await operator.edit('odd', { spec: deep(levels, 'v2') });
    await operator.advance(100);
    expect(calls.splice(0)).toEqual(['update odd', 'undefined']);
    await operator.stop();

    await using next = await operated({ after: operator });
    declare(next);
    await next.start();
    await next.advance(100);
    expect(calls.splice(0).sort()).toEqual(['resume odd', 'resume other']);
    await next.remove('odd');
    await next.remove('other');
    await next.advance(100);
    expect(calls).toEqual(['delete odd', 'delete other']);
    await expect(next.get('odd')).rejects.toThrow(/not found/);
    for (const { logger } of [operator, next]) {
      expect(logger.find('Throttling')).toBeUndefined();
      expect(logger.messages('error')).toEqual([]);
    }
  });
});
