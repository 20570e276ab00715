import { describe, expect, it } from 'vitest';
import { bench, objectOf, stateIn, versionsIn } from './worker-bench.js';

const DELAYS = { queueing: { errorDelays: [123, 234] } };

describe('After an unexpected error of the framework itself', () => {
  it('the object is left alone for a while, and is tried again then', async () => {
    const at = bench({ settings: DELAYS });
    at.push('ADDED', 1);
    await at.cycle.fail(new Error('boo!'));
    await at.clock.advance(122.9);
    expect(at.cycles).toHaveLength(1);
    expect(at.logger.messages('error')).toEqual(['Throttling for 123 seconds due to an unexpected error: boo!']);
    expect(at.logger.messages('info')).toEqual([]);
    await at.clock.advance(0.1);
    expect(at.states()).toEqual(['ADDED 1', 'ADDED 1']);
    expect(at.logger.messages('info')).toEqual(['Throttling is over. Switching back to normal operations.']);
  });

  it('the next pause is longer, the last one repeats, and a success begins anew', async () => {
    const at = bench({ settings: DELAYS });
    const pauses: number[] = [];
    const failAndWait = async () => {
      const since = at.clock.now();
      const count = at.cycles.length;
      await at.cycle.fail();
      while (at.cycles.length === count) await at.clock.advance(at.clock.nextWakeup ?? Number.NaN);
      pauses.push(at.clock.now() - since);
    };
    at.push('ADDED', 1);
    for (let i = 0; i < 4; i++) await failAndWait();
    await at.cycle.end();
    at.push('MODIFIED', 2);
    await failAndWait();
    expect(pauses).toEqual([123, 234, 234, 234, 123]);
  });

  it('there is no pause without delays: the error is told, and the next event is handled at once', async () => {
    const at = bench({ settings: { queueing: { errorDelays: [] } } });
    at.push('ADDED', 1);
    await at.cycle.fail(new Error('boo!'));
    expect(at.logger.messages('error')).toEqual(['An unexpected error: boo!']);
    expect([at.flags.idle, at.clock.sleepers]).toEqual([1, 0]);
    at.push('MODIFIED', 2);
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 2']);
  });

  it('a pause of no length is still no busy loop without an end', async () => {
    const at = bench({ settings: { queueing: { errorDelays: [0, 5] } } });
    at.push('ADDED', 1);
    await at.cycle.fail();
    expect(at.cycles).toHaveLength(2);
    await at.cycle.fail();
    expect(at.cycles).toHaveLength(2);
  });

  it('events that come during it are not lost: they wait, and the newest state is handled at its end', async () => {
    const at = bench({ settings: DELAYS, keepsEvents: true });
    at.push('ADDED', 1);
    await at.cycle.fail();
    for (const version of [2, 3]) {
      await at.clock.advance(10);
      at.push('MODIFIED', version);
    }
    await at.clock.advance(102.9);
    expect(at.cycles).toHaveLength(1);
    await at.clock.advance(0.1);
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 3']);
    // Those of the failed cycle were given to the handlers already.
    expect(at.cycles.map(({ work }) => versionsIn(work))).toEqual([['1'], ['2', '3']]);
  });

  it('what came during the failing cycle waits as well', async () => {
    const at = bench({ settings: DELAYS });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    await at.cycle.fail();
    expect(at.cycles).toHaveLength(1);
    await at.clock.advance(123);
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 2']);
  });

  it('older events do not end it, and do not replace what is to be tried again', async () => {
    const at = bench({ settings: DELAYS });
    at.push('MODIFIED', 5);
    await at.cycle.fail();
    at.push('MODIFIED', 4);
    await at.clock.advance(123);
    expect(at.states()).toEqual(['MODIFIED 5', 'MODIFIED 5']);
  });

  it('a deletion ends it at once', async () => {
    const at = bench({ settings: DELAYS, keepsEvents: true });
    at.push('ADDED', 1);
    await at.cycle.fail();
    at.push('MODIFIED', 2);
    at.push('DELETED', 3);
    expect(at.states()).toEqual(['ADDED 1', 'DELETED 3']);
    expect(versionsIn(at.cycle.work)).toEqual(['2', '3']);
    await at.cycle.end();
    await at.clock.advance(1000);
    expect([at.cycles.length, at.flags.idle, at.clock.sleepers]).toEqual([2, 1, 0]);
    expect(at.logger.messages('info')).toEqual([]);
  });

  it('a deletion that fails is throttled, too', async () => {
    const at = bench({ settings: DELAYS });
    at.push('DELETED', 3);
    await at.cycle.fail();
    await at.clock.advance(122);
    expect(at.cycles).toHaveLength(1);
    await at.clock.advance(1);
    expect(at.states()).toEqual(['DELETED 3', 'DELETED 3']);
  });

  it('the delays of handlers are not lost: the object is looked at after the pause', async () => {
    const at = bench({ settings: DELAYS, keepsEvents: true });
    at.push('ADDED', 3);
    await at.cycle.end({ delay: 500 });
    at.push('MODIFIED', 2);
    expect(stateIn(at.cycle.work)).toBeUndefined();
    await at.cycle.fail();
    await at.clock.advance(123);
    expect(at.states()).toEqual(['ADDED 3', undefined, 'ADDED 3']);
    await at.cycle.end({ delay: 377 });
    await at.clock.advance(377);
    expect(at.cycles).toHaveLength(4);
  });

  it('of outdated events, they are no new state for others than the handlers of events', async () => {
    const at = bench({ settings: DELAYS, keepsEvents: true });
    at.push('ADDED', 3);
    await at.cycle.end();
    at.push('MODIFIED', 2);
    await at.cycle.fail();
    await at.clock.advance(1000);
    expect([at.states(), at.flags.idle, at.worker.state.version]).toEqual([['ADDED 3', undefined], 2, '3']);
  });

  it('the state of an event that is not outdated is looked at, so that what was left is done', async () => {
    const at = bench({ settings: DELAYS, keepsEvents: true });
    at.push('ADDED', 3);
    await at.cycle.end();
    at.push('MODIFIED', 3);
    expect(stateIn(at.cycle.work)).toBeUndefined();
    await at.cycle.fail();
    await at.clock.advance(123);
    expect(at.states()).toEqual(['ADDED 3', undefined, 'MODIFIED 3']);
  });

  it('holds no place: others run meanwhile', async () => {
    const at = bench({ settings: DELAYS });
    at.push('ADDED', 1);
    await at.cycle.fail();
    expect(at.scheduler.size).toBe(0);
  });
});

describe('A delay of handlers', () => {
  it('brings the last state again, in memory and without an event', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ delay: 10 });
    expect([at.flags.idle, at.worker.isBusy, at.scheduler.size]).toEqual([0, false, 0]);
    await at.clock.advance(9.9);
    expect(at.cycles).toHaveLength(1);
    await at.clock.advance(0.1);
    expect(at.states()).toEqual(['ADDED 1', 'ADDED 1']);
    await at.cycle.end();
    expect([at.flags.idle, at.clock.sleepers]).toEqual([1, 0]);
  });

  it.each([0, -5])('of %d brings it at once, behind whoever waits', async (delay) => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ delay });
    expect(at.states()).toEqual(['ADDED 1', 'ADDED 1']);
  });

  it('is interrupted by a new state, and it is told how much of it was left', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ delay: 10 });
    await at.clock.advance(7);
    at.push('MODIFIED', 2);
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 2']);
    expect(at.logger.messages('debug')).toEqual(['Sleeping was interrupted by new changes, 3 seconds left.']);
    await at.cycle.end();
    await at.clock.advance(100);
    expect(at.cycles).toHaveLength(2);
  });

  it('is not interrupted by what is only for the handlers of events', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end({ delay: 10 });
    await at.clock.advance(4);
    at.push('MODIFIED', 3);
    await at.cycle.end();
    await at.clock.advance(5.9);
    expect(at.cycles).toHaveLength(3);
    await at.clock.advance(0.1);
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 3', undefined, 'MODIFIED 3']);
    expect(at.logger.messages('debug')).toEqual([]);
  });

  it('that ends during a cycle for the handlers of events is not lost', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    await at.cycle.end({ delay: 10 });
    at.push('MODIFIED', 1);
    await at.clock.advance(20);
    expect(at.cycles).toHaveLength(2);
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', undefined, 'ADDED 1']);
  });

  it('gives way to the newest state if both are due at the same time', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    await at.cycle.end({ delay: 10 });
    at.push('MODIFIED', 1);
    await at.clock.advance(20);
    at.push('MODIFIED', 2);
    await at.cycle.end();
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', undefined, 'MODIFIED 2']);
  });

  it('by touching: nobody is called for that, and events wait for the next cycle', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    await at.cycle.end({ delay: 10, byTouching: true });
    at.push('MODIFIED', 1);
    await at.clock.advance(10);
    at.push('MODIFIED', 1);
    await at.cycle.end();
    expect([at.cycle.work.isToTouch, stateIn(at.cycle.work), versionsIn(at.cycle.work)]).toEqual([true, 'ADDED 1', []]);
    await at.cycle.end({ answer: objectOf(2) });
    expect([at.cycle.work.isToTouch, stateIn(at.cycle.work), versionsIn(at.cycle.work)]).toEqual([
      false,
      'MODIFIED 2',
      ['1'],
    ]);
  });

  it('by touching is not needed if a new state comes in time', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ delay: 10, byTouching: true });
    at.push('MODIFIED', 2);
    await at.cycle.end();
    await at.clock.advance(100);
    expect(at.cycles.map(({ work }) => work.isToTouch)).toEqual([false, false]);
  });
});

describe('Somebody who asks to look at the object again', () => {
  it('is heard at once, instead of the end of the delay', async () => {
    const at = bench();
    at.push('ADDED', 1);
    const { comeBack } = at.cycle.work;
    await at.cycle.end({ delay: 60 });
    comeBack?.();
    expect(at.states()).toEqual(['ADDED 1', 'ADDED 1']);
    await at.cycle.end();
    expect([at.clock.sleepers, at.flags.idle]).toEqual([0, 1]);
  });

  it('is heard after the cycle that runs; and the delay of that one is not waited for, too', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.cycle.work.comeBack?.();
    await at.cycle.end({ delay: 60 });
    expect(at.states()).toEqual(['ADDED 1', 'ADDED 1']);
    await at.cycle.end();
    expect([at.clock.sleepers, at.flags.idle]).toEqual([0, 1]);
  });

  it('does not end the throttling', async () => {
    const at = bench({ settings: DELAYS });
    at.push('ADDED', 1);
    const { comeBack } = at.cycle.work;
    await at.cycle.fail();
    comeBack?.();
    expect(at.cycles).toHaveLength(1);
    await at.clock.advance(123);
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', 'ADDED 1']);
    expect(at.flags.idle).toBe(1);
  });

  it.each([
    ['is idle, and others may work for it', (at: ReturnType<typeof bench>) => at.cycle.end()],
    [
      'is paused',
      (at: ReturnType<typeof bench>) => {
        at.flags.isPaused = true;
        return at.cycle.end({ delay: 60 });
      },
    ],
    ['vanishes', (at: ReturnType<typeof bench>) => at.cycle.end({ isVanishing: true })],
    [
      'ends with the operator',
      (at: ReturnType<typeof bench>) => {
        at.worker.wind();
        return at.cycle.end({ delay: 60 });
      },
    ],
  ])('is not heard if the worker %s', async (_name, finish) => {
    const at = bench();
    at.push('ADDED', 1);
    const { comeBack } = at.cycle.work;
    await finish(at);
    comeBack?.();
    await at.clock.advance(100);
    expect([at.cycles.length, at.clock.sleepers]).toEqual([1, 0]);
  });
});
