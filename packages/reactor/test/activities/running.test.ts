import { ActivityError, PermanentError, TemporaryError } from '@kopf-ts/core';
import { facts } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger, recordingObserver } from '@kopf-ts/testing';
import { describe, expect, it, vi } from 'vitest';
import { runActivity } from '../../src/activities/run-activity.js';
import { followed, type PartsUnderTest, partsUnderTest } from './operator-parts.js';

const ACTIVITIES = ['startup', 'cleanup', 'login', 'probe'] as const;

function run(parts: PartsUnderTest, activity: (typeof ACTIVITIES)[number], signal = new AbortController().signal) {
  return runActivity(parts, { activity, memo: parts, signal });
}

/** The registrars differ in what their handlers may return, which is of no interest here. */
function declare({ registry }: PartsUnderTest, activity: (typeof ACTIVITIES)[number]): typeof registry.on.startup {
  return registry.on[activity] as typeof registry.on.startup;
}

describe.each(ACTIVITIES)('The activity "%s"', (activity) => {
  it('gives the results of all its handlers by their ids, except for those who have none', async () => {
    const parts = partsUnderTest();
    declare(parts, activity)({ id: 'one' }, () => ({ server: 'one' }));
    declare(parts, activity)({ id: 'two' }, async () => ({ server: 'two' }));
    declare(parts, activity)({ id: 'void' }, () => undefined);
    declare(parts, activity)({ id: 'null' }, () => null);
    expect(await run(parts, activity)).toEqual({ one: { server: 'one' }, two: { server: 'two' } });
  });

  it('calls its own handlers only', async () => {
    const parts = partsUnderTest();
    const called: string[] = [];
    for (const other of ACTIVITIES) declare(parts, other)({ id: other }, () => void called.push(other));
    await run(parts, activity);
    expect(called).toEqual([activity]);
  });

  it('fails if any of the handlers fails for good, but calls all of them, and tells of all of them', async () => {
    const parts = partsUnderTest();
    const boo = new PermanentError('boo!');
    const another = new PermanentError('another');
    const after = vi.fn(() => ({ server: 'fine' }));
    declare(parts, activity)({ id: 'bad' }, () => Promise.reject(boo));
    declare(parts, activity)({ id: 'fine' }, after);
    declare(parts, activity)({ id: 'worse' }, () => Promise.reject(another));
    const error = await run(parts, activity).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ActivityError);
    expect(error).toMatchObject({ message: 'One or more handlers failed.', cause: boo });
    expect([...(error as ActivityError).outcomes]).toEqual([
      ['bad', { final: true, error: boo, subrefs: [] }],
      ['fine', { final: true, result: { server: 'fine' }, subrefs: [] }],
      ['worse', { final: true, error: another, subrefs: [] }],
    ]);
    expect(after).toHaveBeenCalledTimes(1);
  });

  it('calls a handler as many times as it may be called, and fails then', async () => {
    const parts = partsUnderTest();
    const fn = vi.fn(() => Promise.reject(new TemporaryError('to be retried', { delay: 0 })));
    declare(parts, activity)({ id: 'fn', retries: 3 }, fn);
    const outcome = followed(run(parts, activity));
    await parts.clock.settle();
    expect(outcome).toMatchObject({ state: 'rejected', error: expect.any(ActivityError) });
    expect(fn).toHaveBeenCalledTimes(3);
    expect(parts.clock.now()).toBe(0);
  });

  it('waits for the delays of the handlers between the attempts', async () => {
    const parts = partsUnderTest();
    const times: number[] = [];
    declare(parts, activity)({ id: 'fn', retries: 3 }, () => {
      times.push(parts.clock.now());
      throw new TemporaryError('to be retried', { delay: 123 });
    });
    const outcome = followed(run(parts, activity));
    await parts.clock.advance(245.9);
    expect(outcome.state).toBe('pending');
    await parts.clock.advance(0.1);
    expect(outcome.state).toBe('rejected');
    expect(times).toEqual([0, 123, 246]);
  });

  it('retries after arbitrary errors by default, and succeeds in the end', async () => {
    const parts = partsUnderTest();
    const fn = vi.fn().mockRejectedValueOnce(new Error('boo!')).mockResolvedValue({ server: 'x' });
    declare(parts, activity)({ id: 'fn' }, fn);
    const outcome = followed(run(parts, activity));
    await parts.clock.advance(60);
    expect(outcome).toEqual({ state: 'resolved', value: { fn: { server: 'x' } } });
  });

  it('neither fails nor has a result where errors are ignored', async () => {
    const parts = partsUnderTest();
    declare(parts, activity)({ id: 'fn', errors: 'ignored' }, () => Promise.reject(new Error('boo!')));
    expect(await run(parts, activity)).toEqual({});
  });
});

describe('An activity', () => {
  it('calls the handlers that have succeeded only once, however long the others take', async () => {
    const parts = partsUnderTest();
    const fine = vi.fn();
    parts.registry.on.startup({ id: 'fine' }, fine);
    parts.registry.on.startup({ id: 'bad', retries: 5, backoff: 1 }, () => Promise.reject(new Error('boo!')));
    const outcome = followed(run(parts, 'startup'));
    await parts.clock.advance(100);
    expect(outcome.state).toBe('rejected');
    expect(fine).toHaveBeenCalledTimes(1);
  });

  it('gives its kwargs to the handlers', async () => {
    const parts = partsUnderTest();
    const fn = vi.fn();
    parts.registry.on.startup({ id: 'fn', param: 123 }, fn);
    await run(parts, 'startup');
    expect(fn).toHaveBeenCalledWith(
      expect.objectContaining({
        activity: 'startup',
        memo: parts,
        param: 123,
        settings: parts.settings,
        client: parts.client,
        retry: 0,
        started: parts.clock.utc(),
        signal: expect.any(AbortSignal),
      }),
    );
  });

  it('has no client for those who log in: it would wait for them', async () => {
    const parts = partsUnderTest();
    const fn = vi.fn();
    parts.registry.on.login({ id: 'fn' }, fn);
    await run(parts, 'login');
    expect(fn.mock.calls[0]?.[0].client).toBe(undefined);
  });

  it('has its name in all lines of the logs', async () => {
    const parts = partsUnderTest();
    parts.registry.on.startup({ id: 'fn' }, ({ logger }) => logger.info('from inside'));
    await run(parts, 'startup');
    expect(parts.logger.messages()).toEqual(["Activity 'fn' is invoked.", 'from inside', "Activity 'fn' succeeded."]);
    expect(parts.logger.lines.map(({ fields }) => fields['activity'])).toEqual(['startup', 'startup', 'startup']);
  });

  it('ends when aborted while it waits for the next attempt', async () => {
    const parts = partsUnderTest();
    const controller = new AbortController();
    const fn = vi.fn(() => Promise.reject(new TemporaryError('later', { delay: 100 })));
    parts.registry.on.startup({ id: 'fn' }, fn);
    const outcome = followed(run(parts, 'startup', controller.signal));
    await parts.clock.advance(50);
    const reason = new Error('enough');
    controller.abort(reason);
    await parts.clock.settle();
    expect(outcome).toMatchObject({ state: 'rejected', error: reason });
    expect(parts.clock.sleepers).toBe(0);
    await parts.clock.advance(100);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('lets others abort it even if a handler is retried without any delay for ever', async () => {
    const parts = partsUnderTest();
    const controller = new AbortController();
    let attempts = 0;
    parts.registry.on.startup({ id: 'fn' }, () => {
      attempts += 1;
      if (attempts === 100) setImmediate(() => controller.abort(new Error('enough')));
      throw new TemporaryError('again', { delay: 0 });
    });
    await expect(run(parts, 'startup', controller.signal)).rejects.toThrow('enough');
    expect(attempts).toBeGreaterThanOrEqual(100);
  });

  it('is seen by the observers', async () => {
    const observer = recordingObserver(['call.began']);
    const parts = partsUnderTest({
      facts: facts({ observers: [observer], operator: 'me', clock: manualClock(), logger: recordingLogger() }),
    });
    parts.registry.on.probe({ id: 'fn' }, () => 1);
    await run(parts, 'probe');
    expect(observer.of('call.began')).toMatchObject([{ handler: { id: 'fn' } }]);
  });
});
