import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { currentContext, runInContext } from '../../src/actions/context.js';
import { executePromptly } from '../../src/actions/prompt-execution.js';
import { TemporaryError } from '../../src/errors.js';
import type { IndexHandler } from '../../src/intents/handlers.js';
import { settings } from '../../src/settings.js';
import { indexingCause, makeIndices } from '../causation/make-causes.js';

function execute(
  handler: Partial<IndexHandler>,
  options: { retries?: number; runtime?: number; indices?: string[] } = {},
) {
  const clock = manualClock();
  const logger = recordingLogger();
  const { retries = 0, runtime = 0, indices = [] } = options;
  const cancelling = new AbortController();
  const outcome = executePromptly({
    handler: { kind: 'index', id: 'fn', fn: () => undefined, param: 'p', ...handler },
    cause: indexingCause(undefined, { logger, indices: makeIndices(...indices) }),
    attempt: { retries, started: clock.utc(), runtime },
    settings: settings(),
    clock,
    cancellation: () => cancelling.signal,
  });
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
    runInContext({ signal: new AbortController().signal, subhandling: undefined }, () => execute({ fn }));
    expect(seen).toMatchObject({ handler: { id: 'fn' }, cause: { kind: 'indexing' } });
    expect(seen).not.toHaveProperty('signal');
  });
});
