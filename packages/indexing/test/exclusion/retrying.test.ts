import { TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { contents, gate, harness, pod } from '../harness.js';

const later = (delay: number): Error => new TemporaryError('later', { delay });

describe('a temporary exclusion ends by itself', () => {
  it('when its delay is over, without any event, with the object as it was last seen', async () => {
    const { registry, indexer, clock, see } = harness();
    let isBroken = true;
    registry.index('pods', { id: 'fn' }, ({ spec, retry, runtime, memo }) => {
      if (isBroken) throw later(9);
      return [spec['n'], retry, runtime, memo.of];
    });
    see(pod('one', { spec: { n: 1 } }));
    await clock.advance(5);
    see(pod('one', { spec: { n: 2 } }));
    isBroken = false;
    await clock.advance(3.9);
    expect(contents(indexer.indices.get('fn'))).toEqual({});
    await clock.advance(0.1);
    expect(contents(indexer.indices.get('fn'))).toEqual({ null: [[2, 1, 9, 'one']] });
    expect(clock.sleepers).toBe(0);
  });

  it('or is prolonged by another failure, as many times as needed', async () => {
    const { registry, indexer, clock, see } = harness();
    const calls: [number, number][] = [];
    registry.index('pods', { id: 'fn' }, ({ retry }) => {
      calls.push([clock.now(), retry]);
      if (retry < 3) throw later(10);
      return 'done';
    });
    see(pod('one'));
    await clock.advance(100);
    expect(calls).toEqual([
      [0, 0],
      [10, 1],
      [20, 2],
      [30, 3],
    ]);
    expect(contents(indexer.indices.get('fn'))).toEqual({ null: ['done'] });
  });

  it('for the failed functions only: the others are not called', async () => {
    const { registry, clock, see } = harness();
    const calls: string[] = [];
    registry.index('pods', { id: 'healthy' }, () => void calls.push('healthy'));
    registry.index('pods', { id: 'failing' }, ({ retry }) => {
      calls.push('failing');
      if (retry === 0) throw later(5);
    });
    registry.index('pods', { id: 'slower' }, ({ retry }) => {
      calls.push('slower');
      if (retry === 0) throw later(8);
    });
    see(pod('one'));
    await clock.advance(5);
    expect(calls).toEqual(['healthy', 'failing', 'slower', 'failing']);
    await clock.advance(100);
    expect(calls).toEqual(['healthy', 'failing', 'slower', 'failing', 'slower']);
  });

  it('but not in an endless loop, if there is no delay', async () => {
    const { registry, clock, see } = harness();
    const calls: number[] = [];
    registry.index('pods', { id: 'fn' }, () => {
      calls.push(clock.now());
      throw later(0);
    });
    see(pod('one'));
    await clock.advance(3);
    expect(calls).toEqual([0, 1, 2, 3]);
  });

  it('each in its own time, with one sleep for all of them', async () => {
    const { registry, clock, see } = harness();
    const calls: [string, number][] = [];
    registry.index('pods', { id: 'fn' }, ({ name, spec, retry }) => {
      if (retry === 0) throw later(spec['delay'] as number);
      calls.push([name, clock.now()]);
    });
    for (const [name, delay] of [
      ['slow', 20],
      ['quick', 5],
      ['other', 20],
      ['middle', 10],
    ] as const) {
      see(pod(name, { spec: { delay } }));
      expect(clock.sleepers).toBe(1);
    }
    await clock.advance(100);
    expect(calls).toEqual([
      ['quick', 5],
      ['middle', 10],
      ['slow', 20],
      ['other', 20],
    ]);
  });

  it('not if an event has come after the delay, and it was indexed by that', async () => {
    const { registry, clock, see } = harness();
    const calls: number[] = [];
    registry.index('pods', { id: 'fn' }, ({ retry }) => {
      calls.push(retry);
      if (retry === 0) throw later(0);
    });
    see(pod('one'));
    see(pod('one'));
    expect(clock.sleepers).toBe(0);
    await clock.advance(100);
    expect(calls).toEqual([0, 1]);
  });

  it('not if the object is gone', async () => {
    const { registry, indexer, clock, see } = harness();
    let calls = 0;
    registry.index('pods', { id: 'fn' }, () => {
      calls++;
      throw later(5);
    });
    see(pod('one'));
    see(pod('one'), 'DELETED');
    expect(clock.sleepers).toBe(0);
    await clock.advance(100);
    expect(calls).toBe(1);
    expect(indexer.indices.get('fn')?.size).toBe(0);
  });

  it('not if the object does not fit any more; but its attempts are not forgotten', async () => {
    const { registry, clock, see } = harness();
    const calls: number[] = [];
    registry.index('pods', { id: 'fn', labels: { app: 'web' } }, ({ retry }) => {
      calls.push(retry);
      throw later(5);
    });
    const labelled = (app: string) => pod('one', { metadata: { labels: { app } } });
    see(labelled('web'));
    see(labelled('db'));
    expect(clock.sleepers).toBe(0);
    await clock.advance(100);
    expect(calls).toEqual([0]);
    see(labelled('web'));
    expect(calls).toEqual([0, 1]);
  });

  it('not if its filters fail at that moment, until the next event', async () => {
    const { registry, clock, see } = harness();
    const calls: number[] = [];
    let isBroken = false;
    const when = (): boolean => {
      if (isBroken) throw new Error('oops');
      return true;
    };
    registry.index('pods', { id: 'fn', when }, ({ retry }) => {
      calls.push(retry);
      throw later(5);
    });
    see(pod('one'));
    isBroken = true;
    await clock.advance(100);
    expect(calls).toEqual([0]);
    expect(clock.sleepers).toBe(0);
    isBroken = false;
    see(pod('one'));
    expect(calls).toEqual([0, 1]);
  });

  it('not after the indexer is closed, nor are new ones waited for', async () => {
    const { registry, indexer, clock, see } = harness();
    let calls = 0;
    registry.index('pods', { id: 'fn' }, () => {
      calls++;
      throw later(5);
    });
    see(pod('one'));
    indexer.close();
    see(pod('two'));
    expect(clock.sleepers).toBe(0);
    await clock.advance(100);
    expect(calls).toBe(2);
  });

  it('after an asynchronous function of the same object, if one runs at that moment', async () => {
    const { registry, indexer, clock, see } = harness();
    const slow = gate<string>();
    const calls: number[] = [];
    registry.index('pods', { id: 'failing' }, ({ retry, spec }) => {
      calls.push(retry);
      if (retry === 0) throw later(5);
      return spec['n'] as number;
    });
    registry.index('pods', { id: 'slow' }, ({ spec }) => (spec['n'] === 2 ? slow.wait() : 'quick'));
    see(pod('one', { spec: { n: 1 } }));
    const pending = see(pod('one', { spec: { n: 2 } }));
    await clock.advance(10);
    expect(calls).toEqual([0]);
    await slow.open('done');
    await pending;
    await clock.settle();
    expect(calls).toEqual([0, 1]);
    expect(contents(indexer.indices.get('failing'))).toEqual({ null: [2] });
    expect(contents(indexer.indices.get('slow'))).toEqual({ null: ['done'] });
  });
});

describe('what is remembered', () => {
  it('is the body of a temporarily excluded object, for as long as it is excluded', async () => {
    const { registry, clock, see } = harness();
    const collected: string[] = [];
    const registryOfGarbage = new FinalizationRegistry<string>((name) => collected.push(name));
    let isBroken = true;
    registry.index('pods', { id: 'fn' }, ({ name }) => {
      if (isBroken && name === 'excluded') throw later(1000);
      return name;
    });
    for (const name of ['healthy', 'excluded']) {
      // In a function of its own, so that nothing on the stack holds the object.
      (() => {
        const object = pod(name);
        registryOfGarbage.register(object, name);
        see(object);
      })();
    }
    await collectGarbage(() => collected.includes('healthy'));
    expect(collected).toEqual(['healthy']);
    isBroken = false;
    await clock.advance(1000);
    await collectGarbage(() => collected.includes('excluded'));
    expect(collected).toEqual(['healthy', 'excluded']);
  });
});

async function collectGarbage(isEnough: () => boolean): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 50 && !isEnough(); turn++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
