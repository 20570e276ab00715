import { type Admission, AdmissionError, type ReviewHints, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { deadlineOf } from '../../src/reviewing/review-deadlines.js';
import { reviewed } from './reviewed.js';

type Handler = (kwargs: Admission) => unknown;

/** Begins a review with a handler, and tells what is answered so far. */
function begun(handler: Handler, hints?: ReviewHints, timeoutSeconds?: number) {
  const { ask, clock, logger } = reviewed(({ on }) =>
    on.validate('kopfexamples', { id: 'slow', timeoutSeconds }, handler),
  );
  let answer: unknown;
  void ask({}, hints).then((response) => {
    answer = response;
  });
  return { clock, logger, answer: () => answer };
}

const forever: Handler = () => new Promise(() => {});

const TIMED_OUT = (seconds: number) => ({
  uid: 'review-uid',
  allowed: false,
  status: { message: `Webhook 'slow' has timed out after ${seconds} seconds.`, code: 504 },
});

describe('the API server gets an answer before it gives up,', () => {
  it.each<[string, number | undefined, number | undefined, number]>([
    ['as it is configured by us', undefined, undefined, 28.5],
    ['as the handler wants', undefined, 10, 9.5],
    ['as the API server tells', 5, undefined, 4.5],
    ['as the API server tells, if the handler wants more', 5, 20, 4.5],
    ['as the handler wants, if the API server tells more', 20, 5, 4.5],
    ['with a half of a short time', 0.6, undefined, 0.3],
    ['also if the API server tells nonsense', 0, 10, 9.5],
    ['also if the API server tells what is not a number', Number.NaN, 10, 9.5],
  ])('%s', async (_title, timeout, timeoutSeconds, deadline) => {
    expect(deadlineOf({ ...(timeoutSeconds && { timeoutSeconds }) }, timeout)).toBeCloseTo(deadline);
    const hints = timeout === undefined ? undefined : { timeout };
    const { clock, answer } = begun(forever, hints, timeoutSeconds);
    await clock.advance(deadline - 0.1);
    expect(answer()).toBeUndefined();
    await clock.advance(0.1);
    expect(answer()).toEqual(TIMED_OUT(deadline));
  });
});

describe('a handler out of time', () => {
  it('is told so by its signal', async () => {
    let signal: AbortSignal | undefined;
    const { clock } = begun((kwargs) => {
      signal = kwargs.signal;
      return new Promise(() => {});
    });
    await clock.advance(28);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(signal?.reason).toMatchObject({ name: 'HandlerTimeoutError' });
  });

  it('is denied as such, if it ends by the signal', async () => {
    const { clock, answer } = begun(
      ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
      { timeout: 10 },
    );
    await clock.advance(10);
    expect(answer()).toEqual(TIMED_OUT(9.5));
  });

  it('can still say why in its own words', async () => {
    const { clock, answer } = begun(
      ({ signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new AdmissionError('The database is away.', { code: 503 }))),
        ),
    );
    await clock.advance(30);
    expect(answer()).toMatchObject({ allowed: false, status: { message: 'The database is away.', code: 503 } });
  });

  it.each<[string, (resolve: () => void, reject: (error: Error) => void) => void, RegExp]>([
    ['ends', (resolve) => resolve(), /'slow' has ended after it had timed out.*ignored/],
    ['fails', (_, reject) => reject(new Error('late')), /'slow' has failed after it had timed out.*ignored/],
  ])('is ignored with a warning if it %s later', async (_title, end, warning) => {
    let later = (): void => {};
    const { clock, answer, logger } = begun(
      () =>
        new Promise<void>((resolve, reject) => {
          later = () => end(resolve, reject);
        }),
    );
    await clock.advance(30);
    const denied = answer();
    expect(logger.messages('warn')).toEqual([]);
    later();
    await clock.settle();
    expect(logger.messages('warn')).toEqual([expect.stringMatching(warning)]);
    expect(answer()).toBe(denied);
    expect(denied).toMatchObject({ allowed: false });
  });
});

describe('the time of a review is shared by its handlers:', () => {
  it('the next ones have what is left of it, or are not called at all', async () => {
    const calls: string[] = [];
    const { ask, clock } = reviewed(({ on }) => {
      for (const id of ['first', 'second', 'third']) {
        on.validate('kopfexamples', { id }, async () => {
          calls.push(id);
          await clock.sleep(6);
        });
      }
    });
    const answer = ask({}, { timeout: 10 });
    await clock.advance(9.5);
    expect(await answer).toMatchObject({
      allowed: false,
      status: { message: "Webhook 'second' has timed out after 3.5 seconds.", code: 504 },
    });
    expect(calls).toEqual(['first', 'second']);
  });

  it('a temporary error is told as it is, however long its delay would be', async () => {
    const { ask } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn() {
        throw new TemporaryError('Not now.', { delay: 600 });
      }),
    );
    expect((await ask({}, { timeout: 1 })).status).toEqual({ message: 'Not now.', code: 500 });
  });
});

describe('when nobody waits for answers any more,', () => {
  it('the handlers are told so, and the reviews end with that', async () => {
    const ending = new AbortController();
    const { ask } = reviewed(
      ({ on }) =>
        on.validate('kopfexamples', function fn({ signal }) {
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
        }),
      { signal: ending.signal },
    );
    const answer = ask();
    const reason = new Error('The server has ended.');
    ending.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });
});

it('nothing is left behind by reviews', async () => {
  const { ask, clock } = reviewed(({ on }) =>
    on.validate('kopfexamples', async function fn() {
      await Promise.resolve();
    }),
  );
  await ask();
  expect(clock.sleepers).toBe(0);
});
