import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { ContextError, KopfError } from '../../src/errors.js';
import { runInContext } from '../../src/execution/context.js';
import {
  DaemonStop,
  decideStopping,
  type StoppingDecision,
  type StoppingFacts,
  sleep,
} from '../../src/execution/stopping.js';

const running: StoppingFacts = {
  age: 0,
  backoff: undefined,
  timeout: undefined,
  polling: 60,
  exited: false,
  signalled: false,
  cancelled: false,
  abandoned: false,
};

describe('The next step in stopping a daemon', () => {
  it.each<{ when: string; facts: Partial<StoppingFacts>; step: StoppingDecision }>([
    { when: 'it has exited', facts: { exited: true, backoff: 5, timeout: 5 }, step: { action: 'none' } },
    {
      when: 'it has exited after all, though it was abandoned',
      facts: { exited: true, timeout: 5, age: 99, abandoned: true },
      step: { action: 'none' },
    },

    { when: 'it is never forced', facts: {}, step: { action: 'poll', delay: 60 } },
    { when: 'it is never forced, for long', facts: { age: 9999, polling: 7 }, step: { action: 'poll', delay: 7 } },

    { when: 'it has time to exit by itself', facts: { backoff: 5 }, step: { action: 'signal', delay: 5 } },
    { when: 'part of that time is over', facts: { backoff: 5, age: 2 }, step: { action: 'signal', delay: 3 } },
    {
      when: 'it was told so already',
      facts: { backoff: 5, age: 2, signalled: true },
      step: { action: 'none', delay: 3 },
    },
    {
      when: 'that time is over, and it is never forced',
      facts: { backoff: 5, age: 5, signalled: true },
      step: { action: 'poll', delay: 60 },
    },

    { when: 'it is forced at once', facts: { timeout: 7 }, step: { action: 'cancel', delay: 7 } },
    {
      when: 'it was forced already',
      facts: { timeout: 7, age: 3, cancelled: true },
      step: { action: 'none', delay: 4 },
    },
    { when: 'it does not obey', facts: { timeout: 7, age: 7, cancelled: true }, step: { action: 'abandon' } },
    {
      when: 'it was abandoned',
      facts: { timeout: 7, age: 8, cancelled: true, abandoned: true },
      step: { action: 'none' },
    },
    { when: 'it has no time at all', facts: { timeout: 0 }, step: { action: 'abandon' } },

    {
      when: 'it is told before it is forced',
      facts: { backoff: 5, timeout: 7, age: 4 },
      step: { action: 'signal', delay: 1 },
    },
    {
      when: 'it is forced after it was told',
      facts: { backoff: 5, timeout: 7, age: 5, signalled: true },
      step: { action: 'cancel', delay: 7 },
    },
    {
      when: 'it has the whole timeout since it was forced',
      facts: { backoff: 5, timeout: 7, age: 11, signalled: true, cancelled: true },
      step: { action: 'none', delay: 1 },
    },
    {
      when: 'both times are over',
      facts: { backoff: 5, timeout: 7, age: 12, signalled: true, cancelled: true },
      step: { action: 'abandon' },
    },
    {
      when: 'it has zero time to exit by itself',
      facts: { backoff: 0, timeout: 7 },
      step: { action: 'cancel', delay: 7 },
    },
  ])('when $when is $step.action', ({ facts, step }) => {
    expect(decideStopping({ ...running, ...facts })).toEqual(step);
  });
});

describe('The stop of a daemon', () => {
  it('is an error that other copies of the package recognise', () => {
    const alien = Object.assign(new KopfError('of another copy', { code: 'KOPF_DAEMON_STOP' }), { reasons: new Set() });
    expect(alien).toBeInstanceOf(DaemonStop);
    expect(new KopfError('another error')).not.toBeInstanceOf(DaemonStop);
    expect(new DaemonStop(new Set(['done']))).toMatchObject({
      name: 'DaemonStop',
      code: 'KOPF_DAEMON_STOP',
      message: 'The daemon is asked to stop: done.',
    });
  });
});

/** A daemon that can be stopped. */
function stoppable(): { readonly stopped: AbortSignal; stop(): void } {
  const controller = new AbortController();
  return { stopped: controller.signal, stop: () => controller.abort(new DaemonStop(new Set(['operator-exiting']))) };
}

describe('sleep()', () => {
  function sleeping(seconds: number, signal?: AbortSignal, own?: AbortSignal) {
    const clock = manualClock();
    const slept = runInContext({ clock, signal: own }, () => sleep(seconds, signal));
    slept.catch(() => {});
    return { clock, slept };
  }

  it('sleeps by the clock of the operator', async () => {
    const { clock, slept } = sleeping(10);
    let isOver = false;
    void slept.then(() => (isOver = true));
    await clock.advance(9);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await slept).toBeUndefined();
    expect(isOver).toBe(true);
  });

  it('wakes up when the daemon is stopped, and tells how much is left', async () => {
    const daemon = stoppable();
    const { clock, slept } = sleeping(10, daemon.stopped);
    await clock.advance(4);
    daemon.stop();
    expect(await slept).toBe(6);
  });

  it('does not sleep if the daemon is already stopped', async () => {
    const daemon = stoppable();
    daemon.stop();
    const { clock, slept } = sleeping(10, daemon.stopped, AbortSignal.abort(new Error('forced, too')));
    expect(await slept).toBe(10);
    expect(clock.sleepers).toBe(0);
  });

  it.each(['given', 'own'])('rejects when the %s signal aborts', async (which) => {
    const controller = new AbortController();
    const { signal } = controller;
    const { clock, slept } = which === 'given' ? sleeping(10, signal) : sleeping(10, undefined, signal);
    await clock.advance(4);
    controller.abort(new Error('enough'));
    await expect(slept).rejects.toThrow('enough');
  });

  it('rejects when the own signal aborts, though the daemon is not stopped', async () => {
    const controller = new AbortController();
    const { clock, slept } = sleeping(10, stoppable().stopped, controller.signal);
    await clock.advance(4);
    controller.abort(new Error('timed out'));
    await expect(slept).rejects.toThrow('timed out');
  });

  it('rejects at once if the signal has aborted', async () => {
    const { slept } = sleeping(10, AbortSignal.abort(new Error('enough')));
    await expect(slept).rejects.toThrow('enough');
  });

  it('needs a handler around', async () => {
    await expect(sleep(1)).rejects.toThrow(ContextError);
    await expect(runInContext({}, () => sleep(1))).rejects.toThrow('there is no clock');
  });
});
