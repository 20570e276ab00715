import { describe, expect, it, vi } from 'vitest';
import { HandlerRetriesError, HandlerTimeoutError, TemporaryError } from '../../src/errors.js';
import { attempt, changeHandler } from './helpers.js';

describe('A handler out of its limits', () => {
  it.each([
    {
      limits: { timeout: 600 },
      state: { runtime: 600 },
      error: HandlerTimeoutError,
      text: "Handler 'fn' has timed out after 600 seconds.",
    },
    {
      limits: { timeout: 600 },
      state: { runtime: 601.5 },
      error: HandlerTimeoutError,
      text: "Handler 'fn' has timed out after 601.5 seconds.",
    },
    {
      limits: { timeout: 0 },
      state: {},
      error: HandlerTimeoutError,
      text: "Handler 'fn' has timed out after 0 seconds.",
    },
    {
      limits: { retries: 100 },
      state: { retries: 100 },
      error: HandlerRetriesError,
      text: "Handler 'fn' has exceeded 100 retries.",
    },
    { limits: { retries: 0 }, state: {}, error: HandlerRetriesError, text: "Handler 'fn' has exceeded 0 retries." },
    {
      limits: { retries: 0, timeout: 0 },
      state: {},
      error: HandlerTimeoutError,
      text: "Handler 'fn' has timed out after 0 seconds.",
    },
  ])('is not called, but fails: $limits at $state', async ({ limits, state, error, text }) => {
    const fn = vi.fn();
    const { outcome, cause } = await attempt(changeHandler({ ...limits, fn }), { state });
    expect(await outcome).toMatchObject({ final: true, error: { message: text } });
    expect(((await outcome) as { error: Error }).error).toBeInstanceOf(error);
    expect(fn).not.toHaveBeenCalled();
    expect(cause.logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['debug', "Handler 'fn' is invoked."],
      ['error', text],
    ]);
  });

  it.each([
    { limits: { timeout: 600 }, state: { runtime: 599 } },
    { limits: { retries: 100 }, state: { retries: 99 } },
  ])('is still called when just within them: $limits at $state', async ({ limits, state }) => {
    const fn = vi.fn();
    const { outcome } = await attempt(changeHandler({ ...limits, fn }), { state });
    await outcome;
    expect(fn).toHaveBeenCalledOnce();
  });
});

describe('A handler that runs over its timeout, and is told so by its signal', () => {
  const until = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

  it('is told so by its signal at the deadline, counted since the first attempt', async () => {
    const seen: { signal?: AbortSignal } = {};
    const handler = changeHandler({
      timeout: 100,
      fn: ({ signal }) => {
        seen.signal = signal;
        return until(signal);
      },
    });
    const { clock, outcome } = await attempt(handler, { state: { runtime: 30 } });
    await clock.advance(69);
    expect(seen.signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(seen.signal?.aborted).toBe(true);
    expect(seen.signal?.reason).toBeInstanceOf(HandlerTimeoutError);
    expect(await outcome).toMatchObject({
      final: true,
      error: { message: "Handler 'fn' has timed out after 100 seconds." },
    });
  });

  it('has timed out whatever error it makes of the signal', async () => {
    const fn = async ({ signal }: { signal: AbortSignal }) => {
      await until(signal).catch(() => {
        throw new TemporaryError('interrupted', { delay: 0 });
      });
    };
    const { clock, outcome, cause } = await attempt(changeHandler({ timeout: 10, errors: 'ignored', fn }));
    await clock.advance(10);
    const message = "Handler 'fn' has timed out after 10 seconds.";
    expect(await outcome).toMatchObject({ final: true, error: { message, cause: { message: 'interrupted' } } });
    expect(cause.logger.messages('error')).toEqual([message]);
    expect(cause.logger.messages('warn')).toEqual([]);
  });

  it('has timed out also if it ends well because of the signal: nobody can tell what it has left undone', async () => {
    const fn = async ({ signal }: { signal: AbortSignal }) => await until(signal).catch(() => 'partial');
    const { clock, outcome, cause } = await attempt(changeHandler({ timeout: 10, fn }));
    await clock.advance(10);
    const message = "Handler 'fn' has timed out after 10 seconds.";
    expect(await outcome).toMatchObject({ final: true, error: { message } });
    expect(await outcome).not.toHaveProperty('result');
    // It has obeyed, so that there is nothing to warn of.
    expect(cause.logger.messages('warn')).toEqual([]);
  });

  it('is left alone if it does not listen; and its late result is ignored with a warning', async () => {
    let finish: (result: string) => void = () => {};
    const fn = () => new Promise((resolve) => (finish = resolve));
    const { clock, outcome, cause } = await attempt(changeHandler({ timeout: 10, fn }));
    await clock.advance(10);
    expect(await outcome).toMatchObject({
      final: true,
      error: { message: "Handler 'fn' has timed out after 10 seconds." },
    });
    expect(cause.logger.messages('warn')).toEqual([]);

    finish('too late');
    await clock.settle();
    expect(cause.logger.messages('warn')).toEqual([
      "Handler 'fn' has ended after it had timed out. Its result or error is ignored.",
    ]);
    expect(await outcome).not.toHaveProperty('result');
  });

  it('is left alone if it does not listen; and its late error is ignored with a warning', async () => {
    let fail: (error: Error) => void = () => {};
    const fn = () => new Promise((_resolve, reject) => (fail = reject));
    const { clock, outcome, cause } = await attempt(changeHandler({ timeout: 10, fn }));
    await clock.advance(10);
    await outcome;
    const error = new Error('too late');
    fail(error);
    await clock.settle();
    expect(cause.logger.lines.at(-1)).toMatchObject({ level: 'warn', fields: { error } });
    expect(cause.logger.lines.at(-1)?.message).toContain('has failed after it had timed out');
  });

  it('leaves nothing behind when it ends in time', async () => {
    const { clock, outcome, cause } = await attempt(changeHandler({ timeout: 10, fn: async () => 'done' }));
    expect(await outcome).toMatchObject({ result: 'done' });
    await clock.settle();
    expect(clock.sleepers).toBe(0);
    await clock.advance(100);
    expect(cause.logger.messages('warn')).toEqual([]);
    expect(cause.logger.messages('error')).toEqual([]);
  });
});

describe('A handler that runs for long', () => {
  it('is reported as still running: after a minute, and then after twice as long', async () => {
    let finish: () => void = () => {};
    const fn = () => new Promise<void>((resolve) => (finish = resolve));
    const { clock, outcome, cause } = await attempt(changeHandler({ fn }));
    const warnings = () => cause.logger.messages('warn');
    await clock.advance(59);
    expect(warnings()).toEqual([]);
    await clock.advance(1);
    expect(warnings()).toEqual(["Handler 'fn' has been running for 60 s."]);
    await clock.advance(59);
    expect(warnings()).toHaveLength(1);
    await clock.advance(1);
    expect(warnings().slice(1)).toEqual(["Handler 'fn' has been running for 120 s."]);
    await clock.advance(120);
    expect(warnings().slice(2)).toEqual(["Handler 'fn' has been running for 240 s."]);

    finish();
    await outcome;
    await clock.advance(1000);
    expect(warnings()).toHaveLength(3);
    expect(clock.sleepers).toBe(0);
  });

  it('is not reported if it is a daemon', async () => {
    const { clock, cause } = await attempt({
      ...changeHandler({ fn: () => new Promise(() => {}) }),
      kind: 'daemon',
    } as never);
    await clock.advance(1000);
    expect(cause.logger.messages('warn')).toEqual([]);
  });
});
