import { describe, expect, it } from 'vitest';
import { type BenchOptions, bench, objectOf, stateIn } from './worker-bench.js';

/** A worker that may not begin until it is let. */
function heldBack(options: BenchOptions = {}) {
  let mayBegin = false;
  const at = bench({ ...options, mayBegin: () => mayBegin });
  const letBegin = async (): Promise<void> => {
    mayBegin = true;
    at.worker.proceed();
    await at.clock.settle();
  };
  return { at, letBegin };
}

describe('When all is to be forgotten', () => {
  it.each([
    ['a delay', { delay: 10 }],
    ['a touch', { delay: 10, byTouching: true }],
  ])('%s is not waited for any more, and it is no interruption by changes', async (_name, result) => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end(result);
    at.worker.discard();
    expect([at.flags.idle, at.clock.sleepers]).toEqual([1, 0]);
    await at.clock.advance(100);
    expect(at.cycles).toHaveLength(1);
    expect(at.logger.messages()).toEqual([]);
  });

  it('throttling is over in silence', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.fail();
    at.worker.discard();
    await at.clock.advance(1000);
    expect([at.cycles.length, at.flags.idle, at.clock.sleepers]).toEqual([1, 1, 0]);
    expect(at.logger.messages('info')).toEqual([]);
  });

  it('doubtful states are, too', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    at.push('MODIFIED', 'b');
    at.worker.discard();
    await at.clock.advance(1000);
    expect([at.cycles.length, at.flags.idle, at.clock.sleepers]).toEqual([2, 2, 0]);
  });

  it('what waits for its turn does nothing when its turn comes', async () => {
    const { at, letBegin } = heldBack({ keepsEvents: true });
    at.push('ADDED', 1);
    at.worker.discard();
    await letBegin();
    expect([at.cycles.length, at.flags.idle, at.worker.isBusy]).toEqual([0, 1, false]);
  });

  it('the running cycle goes on, but what came during it is gone', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    at.worker.discard();
    await at.cycle.end();
    expect([at.states(), at.flags.idle]).toEqual([['ADDED 1'], 1]);
  });

  it('the same version is handled again, if it is listed afterwards', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    at.worker.discard();
    await at.cycle.end({ answer: objectOf(3) });
    at.worker.discard();
    await at.cycle.end();
    at.push(null, 3);
    expect(stateIn(at.cycle.work)).toBe('null 3');
  });
});

describe('While paused', () => {
  it.each([
    ['goes on with the answer', { answer: objectOf(5) }],
    ['waits for a delay', { delay: 10 }],
    ['comes back at once', { delay: 0 }],
    ['touches', { delay: 0, byTouching: true }],
  ])('nobody %s: the cycle that runs is the last one', async (_name, result) => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    at.flags.isPaused = true;
    await at.cycle.end(result);
    await at.clock.advance(100);
    expect([at.cycles.length, at.flags.idle, at.clock.sleepers]).toEqual([1, 1, 0]);
  });

  it('the answers of those who still patch are remembered: what was before them is nothing new afterwards', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.flags.isPaused = true;
    await at.cycle.end({ answer: objectOf(5) });
    at.flags.isPaused = false;
    at.push(null, 4);
    at.push('MODIFIED', 4);
    expect(at.cycles).toHaveLength(1);
    at.push(null, 5);
    expect(at.states().at(-1)).toBe('null 5');
  });

  it('what waits for its turn is not begun, even if nobody has told to forget it', async () => {
    const { at, letBegin } = heldBack();
    at.push('ADDED', 1);
    at.flags.isPaused = true;
    await letBegin();
    expect([at.cycles.length, at.flags.idle]).toEqual([0, 1]);
  });

  it('and resumed while a cycle runs: the listed state is handled once after it', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    at.flags.isPaused = true;
    at.worker.discard();
    at.flags.isPaused = false;
    at.push(null, 3);
    await at.cycle.end({ delay: 10 });
    expect(at.states()).toEqual(['ADDED 1', 'null 3']);
    await at.cycle.end();
    expect([at.flags.idle, at.clock.sleepers]).toEqual([1, 0]);
  });
});

describe('Until it may begin', () => {
  it('waits, and then takes the newest state and all events', async () => {
    const { at, letBegin } = heldBack({ keepsEvents: true });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    await at.clock.advance(1000);
    expect(at.cycles).toEqual([]);
    await letBegin();
    expect(at.states()).toEqual(['MODIFIED 2']);
    expect(at.cycle.work.events).toHaveLength(2);
  });
});

describe('At exit', () => {
  it('what is queued is still handled, but nobody comes back by itself', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    at.worker.wind();
    expect(at.flags.idle).toBe(0);
    await at.cycle.end({ delay: 0 });
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 2']);
    await at.cycle.end({ delay: 10 });
    expect([at.flags.idle, at.clock.sleepers, at.worker.isBusy]).toEqual([1, 0, false]);
  });

  it('the answers to patches are not gone on with', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.worker.wind();
    await at.cycle.end({ answer: objectOf(2) });
    expect([at.cycles.length, at.flags.idle]).toEqual([1, 1]);
  });

  it('what came before our own patch is not handled after it', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    at.worker.wind();
    await at.cycle.end({ answer: objectOf(3) });
    expect([at.cycles.length, at.flags.idle]).toEqual([1, 1]);
  });

  it.each([
    ['delays', async (at: ReturnType<typeof bench>) => at.cycle.end({ delay: 10 })],
    ['throttling', async (at: ReturnType<typeof bench>) => at.cycle.fail()],
  ])('%s are not waited for', async (_name, finish) => {
    const at = bench();
    at.push('ADDED', 1);
    await finish(at);
    at.worker.wind();
    expect([at.flags.idle, at.clock.sleepers]).toEqual([1, 0]);
  });

  it('what was put off by throttling is handled at once', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.fail();
    at.push('MODIFIED', 2);
    at.worker.wind();
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 2']);
  });

  it('errors are told, but not throttled', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.worker.wind();
    await at.cycle.fail(new Error('boo!'));
    expect(at.logger.messages('error')).toEqual(['An unexpected error: boo!']);
    expect([at.flags.idle, at.clock.sleepers]).toEqual([1, 0]);
  });

  it('what is in doubt is left for the next start', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    at.push('MODIFIED', 'b');
    at.worker.wind();
    at.push('MODIFIED', 'd');
    await at.clock.advance(10);
    expect([at.cycles.length, at.clock.sleepers]).toEqual([2, 0]);
  });

  it('those broken off are not errors, and have nothing to do any more', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    const { cycle } = at;
    const closed = at.scheduler.close();
    expect(cycle.signal.aborted).toBe(true);
    await cycle.fail(cycle.signal.reason);
    await closed;
    expect([at.cycles.length, at.worker.isBusy, at.clock.sleepers]).toEqual([1, false, 0]);
    expect(at.logger.messages()).toEqual([]);
  });

  it('those who end well though broken off are not left behind as busy', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    const { cycle } = at;
    const closed = at.scheduler.close();
    await cycle.end({ delay: 10 });
    await closed;
    expect([at.cycles.length, at.worker.isBusy, at.clock.sleepers]).toEqual([1, false, 0]);
  });
});
