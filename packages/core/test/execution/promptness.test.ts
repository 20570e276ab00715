import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { HandlerTimeoutError, TemporaryError } from '../../src/errors.js';
import { currentContext, runInContext } from '../../src/execution/context.js';
import { execute as executeHandler } from '../../src/execution/execute.js';
import { info } from '../../src/execution/handler-api/posting.js';
import type { IndexHandler } from '../../src/intents/handlers.js';
import type { EventPoster } from '../../src/seams/poster.js';
import { settings } from '../../src/settings.js';
import { indexingCause, makeIndices } from '../causation/make-causes.js';

function execute(
  handler: Partial<IndexHandler>,
  options: { retries?: number; runtime?: number; indices?: string[]; timeLeft?: number; poster?: EventPoster } = {},
) {
  const clock = manualClock();
  const logger = recordingLogger();
  const { retries = 0, runtime = 0, indices = [], timeLeft, poster } = options;
  const cancelling = new AbortController();
  const whole: IndexHandler = { kind: 'index', id: 'fn', fn: () => undefined, param: 'p', ...handler };
  const outcome = executeHandler(
    whole,
    { retries, started: clock.utc(), runtime },
    {
      cause: indexingCause(undefined, { logger, indices: makeIndices(...indices) }),
      settings: settings(),
      clock,
      signal: () => cancelling.signal,
      timeLeft,
      poster,
    },
  );
  return { outcome, clock, logger, cancelling };
}

describe('executing promptly', () => {
  it('gives the outcome of a synchronous function at once', () => {
    const { outcome, logger } = execute({ fn: () => 'result' });
    expect(outcome).toEqual({ final: true, result: 'result', subrefs: [] });
    expect(logger.messages()).toEqual(["Indexer 'fn' is invoked.", "Indexer 'fn' succeeded."]);
  });

  it('judges errors of a synchronous function at once', () => {
    const error = new TemporaryError('later', { delay: 5 });
    const fn = (): never => {
      throw error;
    };
    expect(execute({ fn }).outcome).toEqual({ final: false, error, delay: 5, subrefs: [] });
    expect(execute({ fn, retries: 1 }).outcome).toMatchObject({ final: true, error: { cause: error } });
  });

  it.each<[string, Partial<IndexHandler>]>([
    ['attempts', { retries: 2 }],
    ['time', { timeout: 5 }],
  ])('does not call a function that is out of its %s', (_, limits) => {
    let isCalled = false;
    const fn = (): void => {
      isCalled = true;
    };
    const { outcome } = execute({ fn, ...limits }, { retries: 2, runtime: 5 });
    expect(outcome).toMatchObject({ final: true, error: expect.any(Error) });
    expect(isCalled).toBe(false);
  });

  it('waits for an asynchronous function, up to its deadline', async () => {
    let signal: AbortSignal | undefined;
    const fn = (kwargs: { signal: AbortSignal }): Promise<never> => {
      signal = kwargs.signal;
      return new Promise(() => {});
    };
    const { outcome, clock } = execute({ fn, timeout: 3 });
    await clock.advance(2);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ final: true, error: expect.any(Error) });
    expect(signal?.aborted).toBe(true);
  });

  it.each([
    [3, 5],
    [5, 3],
  ])('waits for it as long as both permit: %s s of the call, %s s of the handler', async (timeLeft, timeout) => {
    const { outcome, clock, logger } = execute({ fn: () => new Promise(() => {}), timeout }, { timeLeft });
    await clock.advance(2.9);
    expect(logger.messages('error')).toEqual([]);
    await clock.advance(0.1);
    expect(await outcome).toMatchObject({ final: true, error: expect.any(HandlerTimeoutError) });
  });

  it('does not call a function that has no time left for this very call', () => {
    let isCalled = false;
    const fn = (): void => {
      isCalled = true;
    };
    expect(execute({ fn }, { timeLeft: 0 }).outcome).toMatchObject({ error: expect.any(HandlerTimeoutError) });
    expect(isCalled).toBe(false);
  });

  it('does not take the time of one call for the time of all attempts', () => {
    const error = new TemporaryError('later', { delay: 60 });
    const fn = (): never => {
      throw error;
    };
    expect(execute({ fn }, { timeLeft: 5 }).outcome).toEqual({ final: false, error, delay: 60, subrefs: [] });
  });

  it('lets the function post events, if there is somebody to post them', () => {
    const posted: unknown[] = [];
    const fn = () => info({ metadata: { name: 'one' } }, { reason: 'Testing' });
    expect(execute({ fn }, { poster: { post: (event) => posted.push(event) } }).outcome).not.toHaveProperty('error');
    expect(posted).toEqual([expect.objectContaining({ reason: 'Testing' })]);
    expect(execute({ fn }).logger.find('nothing posts events')?.level).toBe('error');
  });

  it('rejects when cancelled, if the function ends by that', async () => {
    const fn = ({ signal }: { signal: AbortSignal }): Promise<never> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { outcome, cancelling } = execute({ fn });
    const reason = new Error('not needed');
    cancelling.abort(reason);
    await expect(outcome).rejects.toBe(reason);
  });

  it('gives all kwargs of a call; but indices win by their names', () => {
    let seen: Record<string, unknown> = {};
    const fn = (kwargs: Record<string, unknown>): void => {
      seen = { ...kwargs };
    };
    execute({ fn }, { retries: 2, runtime: 7 });
    expect(seen).toMatchObject({ param: 'p', retry: 2, runtime: 7, started: expect.any(Date), name: 'one' });
    expect(seen['signal']).toBeInstanceOf(AbortSignal);
    execute({ fn }, { indices: ['signal', 'param', 'retry', 'started', 'runtime'] });
    for (const name of ['signal', 'param', 'retry', 'started', 'runtime']) expect(seen[name]).toHaveProperty('size', 0);
  });

  it('has a context of its own, whatever is around', () => {
    let seen: unknown;
    const fn = (): void => {
      seen = currentContext();
    };
    const { signal } = new AbortController();
    runInContext({ signal, subhandling: undefined }, () => execute({ fn }));
    expect(seen).toMatchObject({ handler: { id: 'fn' }, cause: { kind: 'indexing' } });
    expect(seen).toHaveProperty('signal');
    expect(seen).not.toHaveProperty('signal', signal);
  });
});
