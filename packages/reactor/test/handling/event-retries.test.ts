import { PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

describe('A handler of events that has failed', () => {
  it('is not called again by default', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type }) => {
      calls.push(type);
      throw new TemporaryError('Not now.', { delay: 1 });
    });
    await operator.start();
    await operator.create('one');
    await operator.advance(100);
    expect(calls).toEqual(['ADDED']);
  });

  it('is called again for the same event if it wants to, and nothing is written to the object', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e', errors: 'retry', backoff: 5 }, ({ type, retry, runtime }) => {
      calls.push([operator.clock.now(), type, retry, runtime]);
      if (retry === 0) throw new Error('Not now.');
      if (retry === 1) throw new TemporaryError('Later.', { delay: 20 });
    });
    await operator.start();
    await operator.create('one');
    const before = await operator.get('one');
    await operator.advance(100);
    expect(calls).toEqual([
      [0, 'ADDED', 0, 0],
      [5, 'ADDED', 1, 5],
      [25, 'ADDED', 2, 25],
    ]);
    expect(operator.patches).toEqual([]);
    expect(await operator.get('one')).toEqual(before);
  });

  it.each([
    { what: 'permanent errors', options: {}, error: () => new PermanentError('Never.'), calls: 1 },
    { what: 'retries', options: { retries: 3 }, error: () => new Error('No.'), calls: 3 },
    { what: 'timeout', options: { timeout: 12 }, error: () => new Error('No.'), calls: 3 },
  ])('is called no more than it wants to be: by $what', async ({ options, error, calls: expected }) => {
    await using operator = await operated();
    let calls = 0;
    operator.registry.on.event('kopfexamples', { id: 'e', errors: 'retry', backoff: 5, ...options }, () => {
      calls += 1;
      throw error();
    });
    await operator.start();
    await operator.create('one');
    await operator.advance(1000);
    expect(calls).toBe(expected);
  });

  it('is called for the newer event instead, if there is one', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e', errors: 'retry', backoff: 10 }, ({ spec, retry }) => {
      calls.push([operator.clock.now(), spec['size'], retry]);
      if (spec['size'] === 1 || retry === 0) throw new Error('Not now.');
    });
    await operator.start();
    await operator.create('one', { spec: { size: 1 } });
    await operator.advance(15);
    await operator.edit('one', { spec: { size: 2 } });
    await operator.advance(100);
    expect(calls).toEqual([
      [0, 1, 0],
      [10, 1, 1],
      [15, 2, 0],
      [25, 2, 1],
    ]);
    expect(operator.logger.find("Handler 'e' is not tried again with an older event")?.level).toBe('debug');
  });

  it('is called again for a deletion, though the object is gone', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e', errors: 'retry', backoff: 10 }, ({ type, retry }) => {
      if (type !== 'DELETED') return;
      calls.push([operator.clock.now(), retry]);
      if (retry < 2) throw new Error('Not now.');
    });
    await operator.start();
    await operator.create('one');
    await operator.remove('one');
    await operator.advance(100);
    expect(calls).toEqual([
      [0, 0],
      [10, 1],
      [20, 2],
    ]);
  });

  it('does not disturb the other handlers, nor do they disturb it', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    const { on } = operator.registry;
    on.event('kopfexamples', { id: 'slow', errors: 'retry', backoff: 300 }, ({ type, retry }) => {
      if (type !== 'MODIFIED' || retry > 0) return;
      calls.push(['slow', operator.clock.now()]);
      throw new Error('Not now.');
    });
    on.event('kopfexamples', { id: 'fast', errors: 'retry', backoff: 7 }, ({ retry, patch }) => {
      if (retry < 2) throw new Error('Not now.');
      calls.push(['fast', operator.clock.now()]);
      patch.status['fast'] = 'done';
    });
    on.create('kopfexamples', { id: 'c', backoff: 50 }, ({ retry }) => {
      calls.push(['c', operator.clock.now()]);
      if (retry === 0) throw new Error('Not now.');
    });
    await operator.start();
    await operator.create('one');
    await operator.advance(200);
    expect(calls.filter((call) => (call as unknown[])[0] === 'c')).toEqual([
      ['c', 0],
      ['c', 50],
    ]);
    expect((await operator.get('one')).status).toMatchObject({ fast: 'done' });
  });

  it('is called at once, if somebody says so', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e', errors: 'retry', backoff: 500 }, ({ retry }) => {
      calls.push([operator.clock.now(), retry]);
      if (retry === 0) throw new Error('Not now.');
    });
    await operator.start();
    await operator.create('one');
    await operator.advance(10);
    for (const object of operator.memories) object.retry();
    await operator.settle();
    expect(calls).toEqual([
      [0, 0],
      [10, 1],
    ]);
  });

  it('is not waited for when the operator stops', async () => {
    await using operator = await operated();
    let calls = 0;
    operator.registry.on.event('kopfexamples', { id: 'e', errors: 'retry', backoff: 10 }, () => {
      calls += 1;
      throw new Error('Not now.');
    });
    await operator.start();
    await operator.create('one');
    await operator.stop();
    await operator.advance(100);
    expect(calls).toBe(1);
  });
});
