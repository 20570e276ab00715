import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { boundedScheduler } from '../../src/queueing/scheduler.js';
import { bench, objectOf, stateIn, versionsIn } from './worker-bench.js';

describe('The worker of an object', () => {
  it('begins at once, without waiting for more to come', () => {
    const { push, states } = bench();
    push('ADDED', 1);
    expect(states()).toEqual(['ADDED 1']);
  });

  it('is idle and forgotten as soon as there is nothing left to do, and not a moment later', async () => {
    const at = bench();
    at.push('ADDED', 1);
    expect([at.worker.isBusy, at.flags.idle]).toEqual([true, 0]);
    await at.cycle.end();
    expect([at.worker.isBusy, at.flags.idle]).toEqual([false, 1]);
    expect(at.clock.sleepers).toBe(0);
  });

  it('never runs two cycles at once', async () => {
    const at = bench();
    for (const version of [1, 2, 3]) at.push('MODIFIED', version);
    await at.clock.settle();
    expect(at.cycles).toHaveLength(1);
    await at.cycle.end();
    expect(at.cycles).toHaveLength(2);
    expect(at.flags.mostAtOnce).toBe(1);
  });

  it('of three queued events, gives all to the handlers of events in order, and only the newest to the others', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    for (const version of [2, 3, 4]) at.push('MODIFIED', version);
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 4']);
    expect(at.cycles.map(({ work }) => versionsIn(work))).toEqual([['1'], ['2', '3', '4']]);
  });

  it('keeps no events if there are no handlers of them', async () => {
    const at = bench({ keepsEvents: false });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    expect(at.cycle.work.events).toEqual([]);
    await at.cycle.end();
    expect(at.cycle.work.events).toEqual([]);
  });

  it('waits for its turn with the newest state, and takes what came while waiting', async () => {
    const scheduler = boundedScheduler({ limit: () => 1, logger: recordingLogger() });
    let release = (): void => {};
    scheduler.spawn({
      name: 'another',
      run: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    });
    const at = bench({ scheduler, keepsEvents: true });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    expect(at.cycles).toEqual([]);
    release();
    await at.clock.settle();
    expect(at.states()).toEqual(['MODIFIED 2']);
    expect(versionsIn(at.cycle.work)).toEqual(['1', '2']);
  });

  it('does not go back to an older state that comes after a newer one', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 9);
    at.push('MODIFIED', 8);
    at.push(null, 8);
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 9']);
  });

  it('compares versions as numbers of any length, and not as texts', async () => {
    const at = bench();
    at.push('MODIFIED', '9007199254740993');
    at.push('MODIFIED', '10000000000000000');
    at.push('MODIFIED', '9007199254740994');
    await at.cycle.end();
    expect(at.states().at(-1)).toBe('MODIFIED 10000000000000000');
  });

  it('takes all states for new if they have no versions', async () => {
    const at = bench();
    at.push('ADDED', undefined);
    await at.cycle.end();
    at.push('MODIFIED', undefined);
    await at.cycle.end();
    expect(at.cycles).toHaveLength(2);
  });

  it.each([
    [null, 2],
    ['MODIFIED', 1],
    ['ADDED', 1],
  ] as const)(
    'an event of type %s with the version already handled makes the count of cycles %d',
    async (type, count) => {
      const at = bench();
      at.push('ADDED', 1);
      await at.cycle.end();
      at.push(type, 1);
      expect(at.cycles).toHaveLength(count);
    },
  );

  it('is forgotten at once if an event is news to nobody', async () => {
    const at = bench();
    at.push('ADDED', 5);
    await at.cycle.end();
    at.push('MODIFIED', 4);
    expect([at.cycles.length, at.flags.idle]).toEqual([1, 2]);
  });
});

describe('A deletion', () => {
  it('is what the next cycle is for, whatever was before it', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    at.push('DELETED', 3);
    await at.cycle.end({ answer: objectOf(9) });
    expect(at.states()).toEqual(['ADDED 1', 'DELETED 3']);
    expect(versionsIn(at.cycle.work)).toEqual(['2', '3']);
    await at.cycle.end();
    expect(at.flags.idle).toBe(1);
  });

  it('counts even with a version older than ours: it can be a guess after a lost connection', async () => {
    const at = bench();
    at.push('ADDED', 5);
    await at.cycle.end();
    at.push('DELETED', 4);
    expect(at.states()).toEqual(['ADDED 5', 'DELETED 4']);
  });

  it('is the end: nothing that comes later is a state of this object', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('DELETED', 2);
    at.push('MODIFIED', 3);
    await at.cycle.end();
    await at.cycle.end();
    at.push('MODIFIED', 4);
    expect(at.states()).toEqual(['ADDED 1', 'DELETED 2']);
  });

  it('interrupts a delay', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ delay: 60 });
    at.push('DELETED', 2);
    await at.cycle.end();
    await at.clock.advance(100);
    expect(at.states()).toEqual(['ADDED 1', 'DELETED 2']);
    expect([at.clock.sleepers, at.flags.idle]).toEqual([0, 1]);
  });

  it('is looked at again while there are daemons on their way out', async () => {
    const at = bench();
    at.push('DELETED', 2);
    await at.cycle.end({ delay: 3 });
    await at.clock.advance(3);
    expect(at.states()).toEqual(['DELETED 2', 'DELETED 2']);
  });
});

describe('An object that vanishes with our own patch', () => {
  it('has nothing to be done for, neither with the answer nor with what came meanwhile', async () => {
    const at = bench();
    at.push('MODIFIED', 5);
    at.push('MODIFIED', 6);
    await at.cycle.end({ isVanishing: true, answer: objectOf(7) });
    at.push('MODIFIED', 7);
    expect(at.states()).toEqual(['MODIFIED 5']);
    expect(at.flags.idle).toBeGreaterThan(0);
  });

  it('is still heard of when it is gone, and its events are for the handlers of events', async () => {
    const at = bench({ keepsEvents: true });
    at.push('MODIFIED', 5);
    await at.cycle.end({ isVanishing: true, answer: objectOf(7) });
    at.push('MODIFIED', 7);
    expect([stateIn(at.cycle.work), versionsIn(at.cycle.work)]).toEqual([undefined, ['7']]);
    await at.cycle.end();
    at.push('DELETED', 8);
    expect(at.states().at(-1)).toBe('DELETED 8');
  });

  it('does not lose the deletion that came before the answer', async () => {
    const at = bench();
    at.push('MODIFIED', 5);
    at.push('DELETED', 6);
    await at.cycle.end({ isVanishing: true, answer: objectOf(6) });
    expect(at.states()).toEqual(['MODIFIED 5', 'DELETED 6']);
  });
});
