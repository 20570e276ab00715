import { TemporaryError } from '@kopf-ts/core';
import { recordingObserver } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

const later = (): never => {
  throw new TemporaryError('later', { delay: 3600 });
};

describe('retrying', () => {
  it('calls sub-handlers that wait, and tells why the object is woken', async () => {
    const observer = recordingObserver(['object.woken']);
    await using operator = await operated({ observers: [observer] });
    const { subhandler } = await import('@kopf-ts/core');
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'fn' }, () => {
      calls.push('fn');
      subhandler('sub', () => {
        calls.push('sub');
        later();
      });
    });
    await operator.start();
    await operator.create('one');
    expect(operator.control.retry({ name: 'one' })).toBe(1);
    await operator.settle();
    expect(calls).toEqual(['fn', 'sub', 'fn', 'sub']);
    expect(observer.of('object.woken').map(({ why }) => why)).toEqual(['retry']);
  });

  it('ends the throttling after errors of the framework', async () => {
    await using operator = await operated();
    operator.settings.queueing.errorDelays = [3600];
    let isBroken = true;
    const calls: string[] = [];
    const when = (): boolean => {
      if (isBroken) throw new Error('boo');
      return true;
    };
    operator.registry.on.create('kopfexamples', { id: 'fn', when }, () => void calls.push('fn'));
    await operator.start();
    await operator.create('one');
    isBroken = false;
    expect(operator.control.retry({ name: 'one' })).toBe(1);
    await operator.settle();
    expect(calls).toEqual(['fn']);
  });

  it('ends the pause of handlers that change the same fields again and again', async () => {
    await using operator = await operated();
    let calls = 0;
    operator.registry.on.update('kopfexamples', { id: 'counter' }, ({ spec, patch }) => {
      calls += 1;
      patch.spec['count'] = (spec['count'] as number) + 1;
    });
    await operator.start();
    await operator.create('one', { spec: { count: 0 } });
    await operator.edit('one', { spec: { count: 1 } });
    const before = calls;
    expect(operator.control.retry({ name: 'one' })).toBe(1);
    await operator.settle();
    expect(calls).toBeGreaterThan(before);
  });

  it('leaves alone what runs at the moment', async () => {
    await using operator = await operated();
    let end = (): void => {};
    let calls = 0;
    operator.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      calls += 1;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await operator.start();
    await operator.create('one');
    expect(operator.control.objects()).toMatchObject([{ phase: 'running', calls: ['fn'] }]);
    expect(operator.control.retry({ name: 'one' })).toBe(0);
    end();
    await operator.settle();
    expect(calls).toBe(1);
    expect(operator.control.objects()).toMatchObject([{ phase: 'idle', calls: [], until: undefined }]);
  });
});

describe('pausing an object', () => {
  it('lets its deletion wait, and what is called for it', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'fn' }, () => void calls.push('fn'));
    await operator.start();
    await operator.create('one');
    operator.control.pause({ name: 'one' });
    await operator.remove('one');
    await operator.advance(3600);
    expect(calls).toEqual([]);
    operator.control.resume({ name: 'one' });
    await operator.settle();
    expect(calls).toEqual(['fn']);
    expect(operator.control.objects()).toEqual([]);
  });

  it('keeps the events, in order; also of what vanishes meanwhile', async () => {
    await using operator = await operated();
    const events: (string | null)[] = [];
    operator.registry.on.event('kopfexamples', { id: 'fn' }, ({ type }) => void events.push(type));
    await operator.start();
    await operator.create('one');
    operator.control.pause({ name: 'one' });
    await operator.edit('one', { spec: { field: 'w' } });
    await operator.remove('one');
    expect(events).toEqual(['ADDED']);
    expect(operator.control.objects()).toMatchObject([{ isPaused: true, object: { name: 'one' } }]);
    expect(operator.control.resume({ name: 'one' })).toBe(1);
    await operator.settle();
    expect(events).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(operator.control.objects()).toEqual([]);
  });

  it('lets timers skip their ticks, and daemons go on', async () => {
    await using operator = await operated();
    const ticks: string[] = [];
    operator.registry.timer('kopfexamples', { id: 'tm', interval: 5 }, () => void ticks.push('timer'));
    operator.registry.daemon('kopfexamples', { id: 'dm' }, async ({ stopped }) => {
      while (!stopped.aborted) {
        ticks.push('daemon');
        await operator.clock.sleep(5, { wakeup: stopped });
      }
    });
    await operator.start();
    await operator.create('one');
    expect(ticks.toSorted()).toEqual(['daemon', 'timer']);
    expect(operator.control.objects()[0]?.daemons.toSorted()).toEqual(['dm', 'tm']);
    operator.control.pause({ name: 'one' });
    for (let round = 0; round < 3; round++) await operator.advance(5);
    expect(ticks.toSorted()).toEqual(['daemon', 'daemon', 'daemon', 'daemon', 'timer']);
    operator.control.resume({ name: 'one' });
    await operator.advance(5);
    expect(ticks.filter((tick) => tick === 'timer')).toHaveLength(2);
  });

  it('lets what runs end, and begins nothing after that', async () => {
    await using operator = await operated();
    let end = (): void => {};
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      calls.push('begun');
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      calls.push('ended');
    });
    operator.registry.on.update('kopfexamples', { id: 'up' }, () => void calls.push('updated'));
    await operator.start();
    await operator.create('one');
    operator.control.pause({ name: 'one' });
    await operator.edit('one', { spec: { field: 'w' } });
    end();
    await operator.settle();
    expect(calls).toEqual(['begun', 'ended']);
    operator.control.resume({ name: 'one' });
    await operator.settle();
    expect(calls).toEqual(['begun', 'ended', 'updated']);
  });

  it('does not hold up the exit of the operator', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.update('kopfexamples', { id: 'fn' }, () => void calls.push('fn'));
    await operator.start();
    await operator.create('one');
    operator.control.pause({ name: 'one' });
    await operator.edit('one', { spec: { field: 'w' } });
    await operator.stop();
    expect(calls).toEqual([]);
    expect(operator.logger.messages('warn')).toEqual([]);
  });

  it('is not for another object of the same name', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'fn' }, ({ uid }) => void calls.push(uid));
    await operator.start();
    await operator.create('one');
    operator.control.pause({ name: 'one' });
    await operator.remove('one');
    await operator.create('one');
    expect(calls).toHaveLength(2);
    expect(operator.control.objects({ name: 'one' }).map(({ isPaused }) => isPaused)).toEqual([false, true]);
  });
});
