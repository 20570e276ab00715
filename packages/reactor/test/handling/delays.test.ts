import { TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const compatModes = [undefined, 'kopf'] as const;
const touches = ({ patches }: Operated) =>
  patches.flatMap(({ body }) => body.metadata?.annotations?.['kopf.zalando.org/touch-dummy'] ?? []);

/** An object whose handler is to be called so many seconds after the start. */
async function delayed(operator: Operated, seconds: number): Promise<number[]> {
  const delayedTill = new Date(operator.clock.utc().getTime() + seconds * 1000).toISOString();
  const record = {
    ...{ started: '2019-12-31T00:00:00.000000+00:00', delayed: delayedTill, purpose: 'create' },
    ...{ retries: 1, success: false, failure: false },
  };
  await operator.create('name1', { metadata: { annotations: { 'kopf.zalando.org/c': JSON.stringify(record) } } });
  const times: number[] = [];
  operator.registry.on.create('kopfexamples', { id: 'c' }, () => void times.push(operator.clock.now()));
  await operator.start();
  return times;
}

describe.each(compatModes)('A handler that is delayed by its record (compat: %s)', (compat) => {
  it('is called when its time comes', async () => {
    await using operator = await operated({ settings: { persistence: { compat } } });
    const times = await delayed(operator, 123);
    expect(operator.patches).toEqual([]);
    expect(operator.logger.messages('debug')).toContain('Sleeping for 123 seconds for the delayed handlers.');
    await operator.advance(122);
    expect(times).toEqual([]);
    await operator.advance(2);
    expect(times).toEqual([123]);
    expect(touches(operator)).toEqual(compat === 'kopf' ? ['2020-01-01T00:02:03.000000+00:00'] : []);
  });

  it('of a long delay is looked at every ten minutes', async () => {
    await using operator = await operated({ settings: { persistence: { compat } } });
    const times = await delayed(operator, 1500);
    expect(operator.logger.messages('debug')).toContain(
      'Sleeping for 1500 (capped 600) seconds for the delayed handlers.',
    );
    await operator.advance(2000);
    expect(times).toEqual([1500]);
    expect(touches(operator)).toHaveLength(compat === 'kopf' ? 3 : 0);
    expect(operator.patches).toHaveLength(compat === 'kopf' ? 4 : 1);
  });

  it('is not disturbed by changes of others, nor is the delay', async () => {
    await using operator = await operated({ settings: { persistence: { compat } } });
    const times = await delayed(operator, 100);
    await operator.advance(30);
    await operator.edit('name1', { status: { by: 'others' } });
    expect(operator.logger.messages('debug')).toContain('Sleeping was interrupted by new changes, 70 seconds left.');
    expect(operator.logger.messages('debug')).toContain('Sleeping for 70 seconds for the delayed handlers.');
    await operator.advance(100);
    expect(times).toEqual([100]);
  });

  it('is called at once, if the time has passed', async () => {
    await using operator = await operated({ settings: { persistence: { compat } } });
    expect(await delayed(operator, -1)).toEqual([0]);
  });
});

describe.each(compatModes)('A handler that wants no delay (compat: %s)', (compat) => {
  it('is called again at once, as many times as it wants, without stalling', async () => {
    await using operator = await operated({ settings: { persistence: { compat } } });
    const retries: number[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ retry }) => {
      retries.push(retry);
      if (retry < 5) throw new TemporaryError('again', { delay: retry % 2 === 0 ? 0 : null });
    });
    await operator.start();
    await operator.create('name1');
    expect(retries).toEqual([0, 1, 2, 3, 4, 5]);
    expect(operator.clock.now()).toBe(0);
  });
});

describe('A delay', () => {
  it('is forgotten with the object', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls.push('c');
      throw new TemporaryError('not yet', { delay: 100 });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(10);
    await operator.remove('name1');
    expect(operator.memories.size).toBe(0);
    const sleepers = operator.clock.sleepers;
    await operator.advance(1000);
    expect(calls).toEqual(['c']);
    expect(operator.clock.sleepers).toBeLessThanOrEqual(sleepers);
  });

  it('of one object is not that of another', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ name, retry, spec }) => {
      calls.push([operator.clock.now(), name]);
      if (retry === 0) throw new TemporaryError('not yet', { delay: spec['delay'] as number });
    });
    await operator.start();
    await operator.create('slow', { spec: { delay: 30 } });
    await operator.create('fast', { spec: { delay: 10 } });
    await operator.advance(100);
    expect(calls).toEqual([
      [0, 'slow'],
      [0, 'fast'],
      [10, 'fast'],
      [30, 'slow'],
    ]);
  });
});

describe('The time of day that jumps', () => {
  const YEAR = 366 * 24 * 3600;

  it.each([-600, 600, -YEAR, YEAR])(
    'by %d s and back does not move retries: they are waited for by the other clock',
    async (jump) => {
      let skew = 0;
      await using operator = await operated({ skew: () => skew });
      const calls: number[] = [];
      operator.registry.on.create('kopfexamples', { id: 'c' }, ({ retry }) => {
        calls.push(operator.clock.now());
        if (retry < 3) throw new TemporaryError('not yet', { delay: 4 });
      });
      await operator.start();
      await operator.create('name1');
      skew = jump;
      await operator.edit('name1', { metadata: { labels: { x: '1' } } });
      await operator.advance(4);
      await operator.edit('name1', { metadata: { labels: { x: '2' } } });
      skew = 0;
      await operator.advance(4);
      await operator.advance(4);
      expect(calls).toEqual([0, 4, 8, 12]);
    },
  );

  it('which was a year ahead is not waited for by the next process', async () => {
    let skew = YEAR;
    const first = await operated({ skew: () => skew });
    first.registry.on.create('kopfexamples', { id: 'c' }, () => {
      throw new TemporaryError('not yet', { delay: 4 });
    });
    await first.start();
    await first.create('name1');
    await first.stop();
    skew = 0;
    await using second = await operated({ after: first, skew: () => skew });
    let calls = 0;
    second.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls += 1;
    });
    await second.start();
    await second.advance(5);
    expect(calls).toBe(1);
    await first.cluster.stop();
  });
});
