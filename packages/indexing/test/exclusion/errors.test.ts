import { PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { contents, type Harness, harness, pod } from '../harness.js';

/** An index of one function that does as the object says, with an object in it. */
function withFunction(options: object = {}): Harness & { calls: number[]; fail(error: Error): void; succeed(): void } {
  const parts = harness();
  const calls: number[] = [];
  let error: Error | undefined;
  parts.registry.index('pods', { id: 'fn', ...options }, ({ retry, name }) => {
    calls.push(retry);
    if (error !== undefined) throw error;
    return name;
  });
  parts.see(pod('one'));
  parts.see(pod('other'));
  calls.length = 0;
  return {
    ...parts,
    calls,
    fail: (thrown) => {
      error = thrown;
    },
    succeed: () => {
      error = undefined;
    },
  };
}

const everything = { null: ['one', 'other'] };
const withoutOne = { null: ['other'] };

describe('arbitrary errors', () => {
  it.each<[string, object]>([
    ['by default', {}],
    ['if told so', { errors: 'ignored' }],
  ])('are ignored %s: what is indexed stays, nothing is remembered, and it is told', (_, options) => {
    const { indexer, clock, logger, calls, see, fail } = withFunction(options);
    const error = new Error('oops');
    fail(error);
    for (let n = 0; n < 3; n++) expect(see(pod('one'))).toBeUndefined();
    expect(contents(indexer.indices.get('fn'))).toEqual(everything);
    expect(calls).toEqual([0, 0, 0]);
    expect(clock.sleepers).toBe(0);
    const line = logger.find("Indexer 'fn' failed with an exception and will ignore it: oops");
    expect([line?.level, line?.fields['error']]).toEqual(['error', error]);
  });

  it('exclude the object for good, if told so', () => {
    const { indexer, logger, calls, see, fail, succeed } = withFunction({ errors: 'permanent' });
    fail(new Error('oops'));
    see(pod('one'));
    succeed();
    see(pod('one'));
    expect(contents(indexer.indices.get('fn'))).toEqual(withoutOne);
    expect(calls).toEqual([0]);
    expect(logger.messages('error')).toEqual(["Indexer 'fn' failed with an exception and will stop now: oops"]);
  });

  it('exclude the object for the backoff, if told so', () => {
    const { indexer, clock, calls, see, fail } = withFunction({ errors: 'temporary', backoff: 7 });
    fail(new Error('oops'));
    see(pod('one'));
    expect(contents(indexer.indices.get('fn'))).toEqual(withoutOne);
    expect(calls).toEqual([0]);
    expect(clock.nextWakeup).toBe(7);
  });

  it('exclude the object for the backoff of the settings, if the function has none', () => {
    const { clock, see, fail } = withFunction({ errors: 'temporary' });
    fail(new Error('oops'));
    see(pod('one'));
    expect(clock.nextWakeup).toBe(60);
  });
});

describe('a permanent error', () => {
  it('removes the object, and the function is not called for it again', async () => {
    const { indexer, clock, logger, calls, see, fail, succeed } = withFunction();
    fail(new PermanentError('never'));
    see(pod('one'));
    succeed();
    see(pod('one'));
    await clock.advance(1_000_000);
    see(pod('one'));
    expect(contents(indexer.indices.get('fn'))).toEqual(withoutOne);
    expect(calls).toEqual([0]);
    expect(logger.messages('error')).toEqual(["Indexer 'fn' failed permanently: never"]);
  });

  it('is of one function and of one object', () => {
    const { registry, indexer, see, fail, calls, succeed } = withFunction();
    registry.index('pods', { id: 'healthy' }, ({ name }) => name);
    fail(new PermanentError('never'));
    see(pod('one'));
    expect(contents(indexer.indices.get('healthy'))).toEqual({ null: ['one'] });
    succeed();
    see(pod('other'));
    expect(contents(indexer.indices.get('fn'))).toEqual(withoutOne);
    expect(calls).toEqual([0, 0]);
  });

  it('outlives filters that did not fit for a while', () => {
    const { registry, indexer, see } = harness();
    let calls = 0;
    registry.index('pods', { id: 'fn', labels: { app: 'web' } }, () => {
      calls++;
      throw new PermanentError('never');
    });
    const labelled = (app: string) => pod('one', { metadata: { labels: { app } } });
    for (const app of ['web', 'db', 'web']) see(labelled(app));
    expect(calls).toBe(1);
    expect(indexer.indices.get('fn')?.size).toBe(0);
  });

  it('is forgotten with the object', () => {
    const { indexer, calls, see, fail, succeed } = withFunction();
    fail(new PermanentError('never'));
    see(pod('one'));
    see(pod('one'), 'DELETED');
    succeed();
    see(pod('one'), 'ADDED');
    expect(contents(indexer.indices.get('fn'))).toEqual(everything);
    expect(calls).toEqual([0, 0]);
  });
});

describe('a temporary error', () => {
  it('removes the object, and the function is not called until the delay is over', async () => {
    const { indexer, clock, logger, calls, see, fail } = withFunction();
    fail(new TemporaryError('later', { delay: 9 }));
    see(pod('one'));
    await clock.advance(8.9);
    see(pod('one'));
    expect(contents(indexer.indices.get('fn'))).toEqual(withoutOne);
    expect(calls).toEqual([0]);
    expect(logger.messages('error')).toEqual(["Indexer 'fn' failed temporarily: later"]);
  });

  it.each<[string, number | undefined]>([
    ['zero', 0],
    ['absent', undefined],
    ['negative', -1],
  ])('with a delay that is %s: the next event is tried at once', (_, delay) => {
    const { indexer, calls, see, fail, succeed } = withFunction();
    const error = new TemporaryError('later');
    fail(Object.defineProperty(error, 'delay', { value: delay }));
    see(pod('one'));
    expect(contents(indexer.indices.get('fn'))).toEqual(withoutOne);
    succeed();
    see(pod('one'));
    expect(contents(indexer.indices.get('fn'))).toEqual(everything);
    expect(calls).toEqual([0, 1]);
  });

  it('has a delay of a minute by default', () => {
    const { clock, see, fail } = withFunction();
    fail(new TemporaryError('later'));
    see(pod('one'));
    expect(clock.nextWakeup).toBe(60);
  });

  it('becomes permanent when the attempts are over', async () => {
    const { indexer, clock, calls, logger, see, fail } = withFunction({ retries: 2 });
    fail(new TemporaryError('later', { delay: 5 }));
    see(pod('one'));
    await clock.advance(5);
    expect(calls).toEqual([0, 1]);
    await clock.advance(100);
    see(pod('one'));
    expect(calls).toEqual([0, 1]);
    expect(clock.sleepers).toBe(0);
    expect(contents(indexer.indices.get('fn'))).toEqual(withoutOne);
    expect(logger.messages('error').at(-1)).toContain('failed temporarily but will exceed 2 retries');
  });

  it('becomes permanent when the time is over', async () => {
    const { clock, calls, see, fail, succeed } = withFunction({ timeout: 12 });
    fail(new TemporaryError('later', { delay: 5 }));
    see(pod('one'));
    await clock.advance(5);
    await clock.advance(5);
    expect(calls).toEqual([0, 1, 2]);
    succeed();
    await clock.advance(100);
    see(pod('one'));
    expect(calls).toEqual([0, 1, 2]);
  });

  it('is forgotten by a success: the next failure is the first one again', async () => {
    const { clock, calls, see, fail, succeed } = withFunction({ retries: 2 });
    const error = new TemporaryError('later', { delay: 5 });
    for (let round = 0; round < 2; round++) {
      fail(error);
      see(pod('one'));
      succeed();
      await clock.advance(5);
    }
    expect(calls).toEqual([0, 1, 0, 1]);
  });
});

describe('failures of asynchronous functions', () => {
  it('are the same as those of synchronous ones', async () => {
    const { registry, indexer, clock, see } = harness();
    let error: Error | undefined;
    registry.index('pods', { id: 'fn' }, async ({ name }) => {
      if (error !== undefined) throw error;
      return name;
    });
    const state = () => contents(indexer.indices.get('fn'));
    await see(pod('one'));
    error = new Error('oops');
    await see(pod('one'));
    expect(state()).toEqual({ null: ['one'] });
    error = new TemporaryError('later', { delay: 5 });
    await see(pod('one'));
    expect(state()).toEqual({});
    error = undefined;
    await clock.advance(5);
    expect(state()).toEqual({ null: ['one'] });
    error = new PermanentError('never');
    await see(pod('one'));
    error = undefined;
    await see(pod('one'));
    expect(state()).toEqual({});
  });

  it('are timed out, aborted, and left alone', async () => {
    const { registry, indexer, clock, logger, see } = harness();
    let signal: AbortSignal | undefined;
    registry.index('pods', { id: 'fn', timeout: 3 }, (kwargs) => {
      signal = kwargs.signal;
      return new Promise<string>(() => {});
    });
    const pending = see(pod('one'));
    await clock.advance(3);
    await pending;
    expect(signal?.aborted).toBe(true);
    expect(logger.find("Indexer 'fn' has timed out after 3 seconds")?.level).toBe('error');
    expect(see(pod('one'))).toBeUndefined();
    expect(indexer.indices.get('fn')?.size).toBe(0);
  });

  it('are told of while they last for long', async () => {
    const { registry, clock, logger, see } = harness();
    registry.index('pods', { id: 'fn' }, () => new Promise<string>(() => {}));
    see(pod('one'));
    await clock.advance(60);
    expect(logger.messages('warn')).toEqual(["Indexer 'fn' has been running for 60 s."]);
    see(pod('one'), 'DELETED');
  });
});
