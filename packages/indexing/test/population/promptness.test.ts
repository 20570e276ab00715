import { describe, expect, it } from 'vitest';
import { contents, gate, harness, pod } from '../harness.js';

describe('synchronous functions', () => {
  it('are done when the pass returns, however many they are', () => {
    const { registry, indexer, see } = harness();
    registry.index('pods', { id: 'a' }, ({ name }) => name);
    registry.index('pods', { id: 'b' }, () => {
      throw new Error('oops');
    });
    registry.index('pods', { id: 'c' }, ({ name }) => ({ [name]: name }));
    expect(see(pod('one'))).toBeUndefined();
    expect(contents(indexer.indices.get('a'))).toEqual({ null: ['one'] });
    expect(contents(indexer.indices.get('c'))).toEqual({ '"one"': ['one'] });
    expect(see(pod('one'), 'DELETED')).toBeUndefined();
    expect(indexer.indices.get('a')?.size).toBe(0);
  });

  it('see the indices as they were before the event', () => {
    const { registry, indexer, see } = harness();
    const seen: unknown[] = [];
    registry.index('pods', { id: 'a' }, ({ spec }) => spec['size'] as number);
    registry.index('pods', { id: 'b' }, ({ indices }) => void seen.push(contents(indices.get('a'))));
    see(pod('one', { spec: { size: 1 } }));
    see(pod('one', { spec: { size: 2 } }));
    expect(seen).toEqual([{}, { null: [1] }]);
    expect(contents(indexer.indices.get('a'))).toEqual({ null: [2] });
  });
});

describe('asynchronous functions', () => {
  it('hold up only their own object', async () => {
    const { registry, indexer, see } = harness();
    const slow = gate<string>();
    registry.index('pods', { id: 'a' }, ({ name }) => (name === 'slow' ? slow.wait() : name));
    const pending = see(pod('slow'));
    expect(see(pod('quick'))).toBeUndefined();
    expect(contents(indexer.indices.get('a'))).toEqual({ null: ['quick'] });
    await slow.open('done');
    await pending;
    expect(contents(indexer.indices.get('a'))).toEqual({ null: ['done', 'quick'] });
  });

  it('change all indices of the object in one go, when the last of them has ended', async () => {
    const { registry, indexer, see } = harness();
    const first = gate<string>();
    const second = gate<string>();
    registry.index('pods', { id: 'sync' }, ({ spec }) => spec['size'] as string);
    registry.index('pods', { id: 'first' }, () => first.wait());
    registry.index('pods', { id: 'second' }, () => second.wait());
    const states = () => ['sync', 'first', 'second'].map((id) => contents(indexer.indices.get(id)));
    const pending = see(pod('one', { spec: { size: 'small' } }));
    await first.open('one');
    expect(states()).toEqual([{}, {}, {}]);
    await second.open('two');
    await pending;
    expect(states()).toEqual([{ null: ['small'] }, { null: ['one'] }, { null: ['two'] }]);
  });

  it('are called one after another, in the order of their declaration', async () => {
    const { registry, see } = harness();
    const first = gate<number>();
    const calls: string[] = [];
    registry.index('pods', { id: 'first' }, () => {
      calls.push('first');
      return first.wait();
    });
    registry.index('pods', { id: 'second' }, () => void calls.push('second'));
    const pending = see(pod('one'));
    expect(calls).toEqual(['first']);
    await first.open(1);
    await pending;
    expect(calls).toEqual(['first', 'second']);
  });

  it('of one object never overtake each other: events are indexed in order, and the newest wins', async () => {
    const { registry, indexer, see } = harness();
    const slow = gate<void>();
    const calls: number[] = [];
    registry.index('pods', { id: 'a' }, async ({ spec }) => {
      calls.push(spec['n'] as number);
      await slow.wait();
      return spec['n'] as number;
    });
    const settled: number[] = [];
    const seeing = [1, 2, 3].map(async (n) => {
      await see(pod('one', { spec: { n } }));
      settled.push(n);
    });
    expect(calls).toEqual([1]);
    await slow.open();
    expect(settled).toEqual([1]);
    expect(contents(indexer.indices.get('a'))).toEqual({ null: [1] });
    expect(calls).toEqual([1, 3]);
    await slow.open();
    await Promise.all(seeing);
    expect(settled).toEqual([1, 2, 3]);
    expect(contents(indexer.indices.get('a'))).toEqual({ null: [3] });
    expect(slow.waiting).toBe(0);
  });

  it('are synchronous again for the next events, if nothing is awaited there', async () => {
    const { registry, indexer, see } = harness();
    registry.index('pods', { id: 'a' }, ({ spec }) => (spec['n'] === 1 ? Promise.resolve(1) : (spec['n'] as number)));
    await see(pod('one', { spec: { n: 1 } }));
    expect(see(pod('one', { spec: { n: 2 } }))).toBeUndefined();
    expect(contents(indexer.indices.get('a'))).toEqual({ null: [2] });
  });

  it('are not waited for once the object is gone, are told so, and what they return is ignored', async () => {
    const { registry, indexer, logger, see } = harness();
    const slow = gate<string>();
    let signal: AbortSignal | undefined;
    registry.index('pods', { id: 'a' }, (kwargs) => {
      signal ??= kwargs.signal;
      return slow.wait();
    });
    const pending = [1, 2].map(async () => see(pod('one')));
    expect(signal?.aborted).toBe(false);
    expect(see(pod('one'), 'DELETED')).toBeUndefined();
    await Promise.all(pending);
    expect(signal?.aborted).toBe(true);
    await slow.open('too late');
    expect(indexer.indices.get('a')?.size).toBe(0);
    expect(slow.waiting).toBe(0);
    expect(logger.messages('error')).toEqual([]);
  });

  it('of a deleted object do not touch its namesake that came after it', async () => {
    const { registry, indexer, see } = harness();
    const slow = gate<string>();
    registry.index('pods', { id: 'a' }, () => slow.wait());
    const uidless = pod('one', { metadata: { uid: '' } });
    see(uidless);
    see(uidless, 'DELETED');
    const pending = see(uidless, 'ADDED');
    await slow.open('old');
    expect(indexer.indices.get('a')?.size).toBe(0);
    await slow.open('new');
    await pending;
    expect(contents(indexer.indices.get('a'))).toEqual({ null: ['new'] });
  });

  it('are aborted and not waited for when the indexer is closed', async () => {
    const { registry, indexer, see } = harness();
    const slow = gate<string>();
    let signal: AbortSignal | undefined;
    registry.index('pods', { id: 'a' }, (kwargs) => {
      signal = kwargs.signal;
      return slow.wait();
    });
    const pending = see(pod('one'));
    indexer.close();
    await pending;
    expect(signal?.aborted).toBe(true);
  });
});
