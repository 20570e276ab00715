import { PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

async function recordOf(operator: Operated, id: string) {
  const { metadata } = await operator.get('name1');
  return JSON.parse(metadata?.annotations?.[`kopf.zalando.org/${id}`] ?? 'null');
}

describe('A handler that fails', () => {
  it('for good is not called again until the next change', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls.push('c');
      throw new PermanentError('no way');
    });
    operator.registry.on.create('kopfexamples', { id: 'slow' }, ({ retry }) => {
      if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
    });
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => void calls.push('u'));
    await operator.start();
    await operator.create('name1');
    expect(await recordOf(operator, 'c')).toMatchObject({
      failure: true,
      success: false,
      message: 'no way',
      retries: 1,
    });
    await operator.advance(10_000);
    expect(calls).toEqual(['c']);
    expect(operator.logger.messages('error')).toContain("Handler 'c' failed permanently: no way");
    expect(operator.logger.messages('info')).toContain('Creation is processed: 1 succeeded; 1 failed.');
    expect((await operator.get('name1')).metadata?.annotations).toHaveProperty([LAST_HANDLED]);
    await operator.edit('name1', { spec: { field: 'w' } });
    expect(calls).toEqual(['c', 'u']);
  });

  it('temporarily is called again after its delay, and not earlier', async () => {
    await using operator = await operated();
    const times: number[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ retry }) => {
      times.push(operator.clock.now());
      if (retry < 2) throw new TemporaryError('not yet', { delay: 7 });
    });
    await operator.start();
    await operator.create('name1');
    expect(await recordOf(operator, 'c')).toMatchObject({
      failure: false,
      success: false,
      delayed: '2020-01-01T00:00:07.000000+00:00',
      message: 'not yet',
      retries: 1,
    });
    expect(operator.logger.messages('debug')).toContain('Sleeping for 7 seconds for the delayed handlers.');
    await operator.advance(6.9);
    expect(times).toEqual([0]);
    await operator.advance(100);
    expect(times).toEqual([0, 7, 14]);
    expect(operator.patches).toHaveLength(3);
  });

  it.each([0, 30, 60, 1000])(
    'in any other way is called again after the default backoff of %i seconds',
    async (backoff) => {
      await using operator = await operated({ settings: { execution: { defaultBackoff: backoff } } });
      const times: number[] = [];
      operator.registry.on.create('kopfexamples', { id: 'c' }, ({ retry }) => {
        times.push(operator.clock.now());
        if (retry === 0) throw new Error('boo!');
      });
      await operator.start();
      await operator.create('name1');
      await operator.advance(2000);
      expect(times).toEqual([0, backoff]);
      expect(operator.logger.find('failed with an exception and will try again')).toMatchObject({
        level: 'error',
        fields: { error: expect.objectContaining({ message: 'boo!' }) },
      });
    },
  );

  it('does not hold up the other handlers', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ retry }) => {
      calls.push(`c1 ${retry}`);
      if (retry === 0) throw new TemporaryError('not yet', { delay: 5 });
    });
    operator.registry.on.create('kopfexamples', { id: 'c2' }, () => void calls.push('c2'));
    operator.registry.on.create('kopfexamples', { id: 'c3' }, () => void calls.push('c3'));
    await operator.start();
    await operator.create('name1');
    expect(calls).toEqual(['c1 0', 'c2', 'c3']);
    await operator.advance(5);
    expect(calls).toEqual(['c1 0', 'c2', 'c3', 'c1 1']);
  });

  it.each([
    ['ignored', 1, 'will ignore it: boo!'],
    ['permanent', 1, 'will stop now: boo!'],
    ['temporary', 3, 'will try again in 10 seconds: boo!'],
  ] as const)('in the mode of %s errors is called %i times', async (errors, count, line) => {
    await using operator = await operated();
    const calls: number[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', errors, backoff: 10, retries: 3 }, ({ retry }) => {
      calls.push(retry);
      throw new Error('boo!');
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toHaveLength(count);
    expect(operator.logger.find(line)).toBeDefined();
  });

  it('waits longer and longer, if it wants to', async () => {
    await using operator = await operated();
    const times: number[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', backoff: { min: 1, max: 5, factor: 2 } }, ({ retry }) => {
      times.push(operator.clock.now());
      if (retry < 5) throw new Error('boo!');
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(times).toEqual([0, 1, 3, 7, 12, 17]);
  });
});

describe('The limits', () => {
  it('of time: a handler that was begun long ago is not called', async () => {
    await using operator = await operated({ start: '2020-01-01T01:00:00Z' });
    const record = { started: '2020-01-01T00:00:00.000000+00:00', purpose: 'create', retries: 1 };
    const annotations = { 'kopf.zalando.org/c': JSON.stringify(record) };
    await operator.create('name1', { metadata: { annotations } });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', timeout: 600 }, () => void calls.push('c'));
    await operator.start();
    expect(calls).toEqual([]);
    expect(operator.logger.find("Handler 'c' has timed out after")?.level).toBe('error');
    expect(operator.logger.messages()).toContain('Creation is processed: 0 succeeded; 1 failed.');
  });

  it('of attempts: a handler that was tried often enough is not called', async () => {
    await using operator = await operated();
    const record = { started: '2020-01-01T00:00:00.000000+00:00', purpose: 'create', retries: 100 };
    const annotations = { 'kopf.zalando.org/c': JSON.stringify(record) };
    await operator.create('name1', { metadata: { annotations } });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', retries: 100 }, () => void calls.push('c'));
    await operator.start();
    expect(calls).toEqual([]);
    expect(operator.logger.find("Handler 'c' has exceeded 100 retries.")?.level).toBe('error');
  });

  it.each([
    [1, 1],
    [3, 3],
  ])('of %i attempts mean %i calls', async (retries, count) => {
    await using operator = await operated();
    const calls: number[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', retries }, ({ retry }) => {
      calls.push(retry);
      throw new TemporaryError('not yet', { delay: 1 });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toHaveLength(count);
    expect(operator.logger.find(`failed temporarily but will exceed ${retries} retries: not yet`)).toBeDefined();
  });

  it.each([{ retries: 0 }, { timeout: 0 }])('of nothing mean no calls: %o', async (limits) => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', ...limits }, () => void calls.push('c'));
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toEqual([]);
    expect(operator.patches).toHaveLength(1);
  });

  it('of time abort the signal; who does not listen, is left alone', async () => {
    await using operator = await operated();
    let signal: AbortSignal | undefined;
    let finish = (_result: string): void => {};
    operator.registry.on.create('kopfexamples', { id: 'c', timeout: 5 }, (kwargs) => {
      signal = kwargs.signal;
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(4.9);
    expect(signal?.aborted).toBe(false);
    await operator.advance(0.2);
    expect(signal?.aborted).toBe(true);
    expect(operator.logger.messages()).toContain('Creation is processed: 0 succeeded; 1 failed.');
    finish('too late');
    await operator.settle();
    expect(operator.logger.find('after it had timed out')?.level).toBe('warn');
    expect((await operator.get('name1')).status).toBeUndefined();
  });
});
