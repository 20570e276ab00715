import type { Clock, Seconds } from '@kopf-ts/core';
import { facts, observedHandler, observedObject } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { blockingMonitor } from '../../src/running/blocking-monitor.js';
import { loopUsage } from '../../src/running/loop-usage.js';
import { callOf } from './calls.js';

/** What the process does while the event loop stands still. */
interface Meanwhile {
  /** The share of the time in which it computes. */
  readonly cpu: number;
  readonly preemptions?: number;
  readonly isIdle?: boolean;
}

const COMPUTING: Meanwhile = { cpu: 1 };

/** A monitor on a clock that can also jump, as it looks like when something holds the event loop. */
function monitoring(meanwhile: Meanwhile = COMPUTING) {
  const time = manualClock();
  const logger = recordingLogger();
  let held: Seconds = 0;
  let preemptions = 0;
  const clock: Clock = { now: () => time.now() + held, utc: time.utc, sleep: time.sleep };
  const usage = () => ({
    // Normally, there is nothing to do.
    idle: time.now() + (meanwhile.isIdle ? held : 0),
    cpu: held * meanwhile.cpu,
    preemptions,
  });
  const { observer, service } = blockingMonitor({ clock, logger, usage });
  const all = facts({ observers: [observer], operator: 'me', clock, logger });
  let calls = 0;
  /** A function is called; tells when it has returned, and when all of it is over. */
  const enter = (id: string, name: string) => {
    const { handler, cause } = callOf(id, name, logger);
    const call = ++calls;
    const common = { handler: observedHandler(handler), object: observedObject(cause), logger: cause.logger };
    all.tell({ kind: 'call.began', call, retry: 0, ...common });
    return {
      returned: () => all.tell({ kind: 'call.returned', call }),
      settled: () => all.tell({ kind: 'call.settled', call }),
    };
  };
  const stopping = new AbortController();
  const run = (): Promise<void> => service.run(stopping.signal);
  const hold = (seconds: Seconds): void => {
    held += seconds;
    preemptions += meanwhile.preemptions ?? 0;
  };
  /** A handler that has returned a promise, and is not done yet. */
  const begin = (id: string, name = 'obj1') => {
    const { returned, settled } = enter(id, name);
    returned();
    return { settle: settled };
  };
  /** A handler that holds the loop before it returns anything. */
  const call = (id: string, seconds: Seconds, name = 'obj1'): void => {
    const { returned, settled } = enter(id, name);
    hold(seconds);
    returned();
    settled();
  };
  return { time, logger, enter, run, stop: () => stopping.abort(), hold, begin, call };
}

describe('a handler that does not return for long', () => {
  it('is named with its object and the time', () => {
    const { call, logger } = monitoring();
    call('slow_fn', 0.345);
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: "Handler 'slow_fn' of KopfExample default/obj1 has blocked the event loop for 0.34 s.",
        fields: { object: expect.objectContaining({ name: 'obj1' }) },
      },
    ]);
  });

  it.each([0, 0.1, 0.2])('is not named if it was only %d seconds', (seconds) => {
    const { call, logger } = monitoring();
    call('quick_fn', seconds);
    expect(logger.lines).toEqual([]);
  });

  it('is named once in 10 seconds, then with the number of repetitions', async () => {
    const { call, logger, time } = monitoring();
    for (let i = 0; i < 4; i++) call('slow_fn', 0.5);
    call('another_fn', 0.5);
    expect(logger.messages()).toEqual([
      expect.stringMatching(/'slow_fn' .* for 0.50 s\.$/),
      expect.stringMatching(/'another_fn' .* for 0.50 s\.$/),
    ]);
    logger.clear();
    await time.advance(10);
    call('slow_fn', 0.5);
    call('another_fn', 0.5);
    expect(logger.messages()).toEqual([
      expect.stringMatching(/'slow_fn' .* for 0.50 s\. The same, 3 more times since the last warning\.$/),
      expect.stringMatching(/'another_fn' .* for 0.50 s\.$/),
    ]);
  });

  it('is not blamed for the sub-handlers called from inside', () => {
    const { enter, hold, call, logger } = monitoring();
    const parent = enter('parent', 'obj1');
    hold(0.05);
    call('parent/sub', 0.5);
    hold(0.05);
    parent.returned();
    parent.settled();
    expect(logger.messages()).toEqual([expect.stringContaining("'parent/sub'")]);
  });
});

describe('a handler that goes on after an await, and then holds the loop', () => {
  it('is named if it was the only one running', async () => {
    const { run, begin, hold, time, logger, stop } = monitoring();
    const running = run();
    begin('lazy_fn');
    await time.settle();
    hold(0.5);
    await time.advance(1);
    expect(logger.messages('warn')).toEqual([
      "Handler 'lazy_fn' of KopfExample default/obj1 has probably blocked the event loop for 0.50 s.",
    ]);
    stop();
    await running;
  });

  it('is named also if it has ended right after that', async () => {
    const { run, begin, hold, time, logger } = monitoring();
    void run();
    const { settle } = begin('lazy_fn');
    await time.settle();
    hold(0.5);
    settle();
    await time.advance(1);
    expect(logger.messages('warn')).toEqual([expect.stringContaining("'lazy_fn'")]);
  });

  it('is one of those who were running, if there were several', async () => {
    const { run, begin, hold, time, logger } = monitoring();
    void run();
    begin('one', 'obj1');
    begin('two', 'obj2');
    await time.advance(1);
    hold(0.3);
    await time.advance(1);
    expect(logger.messages('warn')).toEqual([
      'Probably, one of these has blocked the event loop for 0.30 s: ' +
        "Handler 'one' of KopfExample default/obj1, Handler 'two' of KopfExample default/obj2.",
    ]);
  });

  it('is not searched for among those who came later, or had ended before', async () => {
    const { run, begin, hold, time, logger } = monitoring();
    void run();
    const early = begin('early');
    begin('guilty');
    await time.advance(1);
    early.settle();
    hold(0.3);
    begin('late');
    await time.advance(1);
    expect(logger.messages('warn')).toEqual([expect.stringMatching(/^Handler 'guilty' .* has probably blocked/)]);
  });

  it('is one of too many to name all', async () => {
    const { run, begin, hold, time, logger } = monitoring();
    void run();
    for (let i = 0; i < 8; i++) begin(`fn${i}`);
    await time.advance(1);
    hold(0.3);
    await time.advance(1);
    expect(logger.messages('warn')).toEqual([
      expect.stringMatching(/'fn4' of KopfExample default\/obj1, and 3 more\.$/),
    ]);
  });

  it('is named once in 10 seconds', async () => {
    const { run, begin, hold, time, logger } = monitoring();
    void run();
    begin('lazy_fn');
    for (let i = 0; i < 3; i++) {
      await time.advance(1);
      hold(0.5);
    }
    await time.advance(10);
    expect(logger.messages()).toHaveLength(1);
    hold(0.5);
    await time.advance(1);
    expect(logger.messages()[1]).toMatch(/for 0.50 s\. The same, 2 more times since the last warning\.$/);
  });
});

describe('a late tick', () => {
  it('says nothing if no handler was running', async () => {
    const { run, hold, begin, time, logger } = monitoring();
    void run();
    begin('done_fn').settle();
    await time.advance(1);
    hold(5);
    await time.advance(1);
    expect(logger.lines).toEqual([]);
  });

  it('says nothing of what is already explained by handlers that did not return', async () => {
    const { run, begin, call, time, logger } = monitoring();
    void run();
    begin('innocent');
    await time.advance(1);
    call('guilty', 0.5);
    // Each of them is short enough; only together, they are not.
    for (let i = 0; i < 10; i++) call('many', 0.1);
    await time.advance(1);
    expect(logger.messages('warn')).toEqual([expect.stringMatching(/^Handler 'guilty' .* has blocked/)]);
  });

  it('is not even waited for while no handler runs', async () => {
    const { run, begin, time, stop } = monitoring();
    const running = run();
    await time.settle();
    expect(time.sleepers).toBe(0);
    const { settle } = begin('lazy_fn');
    await time.settle();
    expect(time.sleepers).toBe(1);
    settle();
    await time.advance(1);
    expect(time.sleepers).toBe(0);
    begin('lazy_fn');
    await time.settle();
    expect(time.sleepers).toBe(1);
    stop();
    await running;
    expect(time.sleepers).toBe(0);
  });
});

describe('lost time', () => {
  const OURS: readonly [string, Meanwhile][] = [
    ['is spent computing', { cpu: 0.99 }],
    ['is spent computing, as far as others have left it', { cpu: 0.6, preemptions: 50 }],
    ['is spent waiting in a synchronous way', { cpu: 0.01 }],
  ];
  const OTHERS: readonly [string, Meanwhile][] = [
    ['goes to other processes', { cpu: 0.02, preemptions: 7 }],
    ['goes to other processes for the most part', { cpu: 0.3, preemptions: 1 }],
  ];

  it.each(OURS)('is attributed if it %s', async (_what, meanwhile) => {
    const { run, begin, call, hold, time, logger } = monitoring(meanwhile);
    void run();
    call('eager', 0.6);
    begin('lazy');
    await time.advance(1);
    hold(0.6);
    await time.advance(1);
    expect(logger.messages()).toEqual([
      expect.stringMatching(/^Handler 'eager' .* has blocked the event loop for 0\.60 s\.$/),
      expect.stringMatching(/^Handler 'lazy' .* has probably blocked the event loop for 0\.60 s\.$/),
    ]);
  });

  it.each(OTHERS)('is nobody’s if it %s', async (_what, meanwhile) => {
    const { run, begin, call, hold, time, logger } = monitoring(meanwhile);
    void run();
    call('eager', 0.5);
    begin('lazy');
    await time.advance(1);
    hold(0.5);
    await time.advance(1);
    expect(logger.lines.map(({ level }) => level)).toEqual(['debug', 'debug']);
    expect(logger.messages().join()).not.toMatch(/eager|lazy/);
    expect(logger.messages()[1]).toMatch(/^The event loop stood still for 0\.50 s, of which 0\.\d\d s were spent/);
  });

  it('is nobody’s if the loop had nothing to do, but got no CPU to notice that its timer is due', async () => {
    const { run, begin, hold, time, logger } = monitoring({ cpu: 0.01, isIdle: true });
    void run();
    begin('lazy');
    await time.advance(1);
    hold(3);
    await time.advance(1);
    expect(logger.messages('warn')).toEqual([]);
  });
});

describe('the usage of the loop', () => {
  it('grows with what is computed', () => {
    const before = loopUsage();
    const { user } = process.cpuUsage();
    while (process.cpuUsage().user - user < 50_000);
    const after = loopUsage();
    expect(after.cpu - before.cpu).toBeGreaterThan(0.02);
    expect(after.idle).toBe(before.idle);
    expect(after.preemptions).toBeGreaterThanOrEqual(before.preemptions);
  });
});
