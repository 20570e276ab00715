import { describe, expect, it } from 'vitest';
import {
  AdmissionError,
  HandlerRetriesError,
  HandlerTimeoutError,
  LoginError,
  PermanentError,
  TemporaryError,
} from '../../src/errors.js';
import type { AnyHandler, ErrorsMode, WatchHandler } from '../../src/intents/handlers.js';
import { attempt, changeHandler, watchingCause } from './helpers.js';

interface Row {
  readonly when: string;
  readonly thrown: unknown;
  readonly handler?: Partial<AnyHandler>;
  readonly retries?: number;
  readonly runtime?: number;
  readonly level?: 'error' | 'debug';
  readonly log: string;
  readonly traced?: boolean;
  readonly outcome:
    | { readonly final: false; readonly delay: number | undefined }
    | { readonly final: true; readonly error?: (new (...args: never[]) => Error) | undefined };
}

const temporary = (delay?: number | null) => new TemporaryError('boo', ...(delay === undefined ? [] : [{ delay }]));

const TABLE: readonly Row[] = [
  {
    when: 'a temporary error has no delay of its own',
    thrown: temporary(),
    log: "Handler 'fn' failed temporarily: boo",
    outcome: { final: false, delay: 60 },
  },
  {
    when: 'a temporary error asks for no delay at all',
    thrown: temporary(null),
    log: "Handler 'fn' failed temporarily: boo",
    outcome: { final: false, delay: undefined },
  },
  {
    when: 'a temporary error asks for a zero delay',
    thrown: temporary(0),
    log: "Handler 'fn' failed temporarily: boo",
    outcome: { final: false, delay: 0 },
  },
  {
    when: 'a temporary error comes in the mode of ignoring errors',
    thrown: temporary(5),
    handler: { errors: 'ignored' },
    log: "Handler 'fn' failed temporarily: boo",
    outcome: { final: false, delay: 5 },
  },
  {
    when: 'the delay would go beyond the timeout',
    thrown: temporary(5),
    handler: { timeout: 15, retries: 99 },
    runtime: 10,
    log: "Handler 'fn' failed temporarily but will time out after 15 seconds: boo",
    outcome: { final: true, error: HandlerTimeoutError },
  },
  {
    when: 'the delay ends just before the timeout',
    thrown: temporary(4),
    handler: { timeout: 15 },
    runtime: 10,
    log: "Handler 'fn' failed temporarily: boo",
    outcome: { final: false, delay: 4 },
  },
  {
    when: 'the last of the attempts fails temporarily',
    thrown: temporary(5),
    handler: { retries: 3 },
    retries: 2,
    log: "Handler 'fn' failed temporarily but will exceed 3 retries: boo",
    outcome: { final: true, error: HandlerRetriesError },
  },
  {
    when: 'the last but one of the attempts fails temporarily',
    thrown: temporary(5),
    handler: { retries: 3 },
    retries: 1,
    log: "Handler 'fn' failed temporarily: boo",
    outcome: { final: false, delay: 5 },
  },
  {
    when: 'both the timeout and the retries are over: the timeout is told',
    thrown: temporary(5),
    handler: { retries: 1, timeout: 3 },
    log: "Handler 'fn' failed temporarily but will time out after 3 seconds: boo",
    outcome: { final: true, error: HandlerTimeoutError },
  },
  {
    when: 'a permanent error is thrown',
    thrown: new PermanentError('boo'),
    log: "Handler 'fn' failed permanently: boo",
    outcome: { final: true, error: PermanentError },
  },
  {
    when: 'a permanent error comes in the mode of ignoring errors',
    thrown: new PermanentError('boo'),
    handler: { errors: 'ignored' },
    log: "Handler 'fn' failed permanently: boo",
    outcome: { final: true, error: PermanentError },
  },
  {
    when: 'an admission error is thrown',
    thrown: new AdmissionError('boo', { code: 422 }),
    log: "Handler 'fn' failed permanently: boo",
    outcome: { final: true, error: AdmissionError },
  },
  {
    when: 'a permanent error has no words',
    thrown: new PermanentError(),
    log: "Handler 'fn' failed permanently: PermanentError()",
    outcome: { final: true, error: PermanentError },
  },
  {
    when: 'the handler says by itself that it has timed out',
    thrown: new HandlerTimeoutError('no more time'),
    log: 'no more time',
    outcome: { final: true, error: HandlerTimeoutError },
  },
  {
    when: 'the handler says by itself that it has no more attempts',
    thrown: new HandlerRetriesError('no more attempts'),
    log: 'no more attempts',
    outcome: { final: true, error: HandlerRetriesError },
  },
  {
    when: 'an arbitrary error is ignored',
    thrown: new TypeError('boo'),
    handler: { errors: 'ignored' },
    log: "Handler 'fn' failed with an exception and will ignore it: boo",
    traced: true,
    outcome: { final: true },
  },
  {
    when: 'an arbitrary error is temporary by default',
    thrown: new TypeError('boo'),
    log: "Handler 'fn' failed with an exception and will try again in 60 seconds: boo",
    traced: true,
    outcome: { final: false, delay: 60 },
  },
  {
    when: 'an arbitrary error has a backoff',
    thrown: new TypeError('boo'),
    handler: { backoff: 1.5 },
    log: "Handler 'fn' failed with an exception and will try again in 1.5 seconds: boo",
    traced: true,
    outcome: { final: false, delay: 1.5 },
  },
  {
    when: 'the backoff would go beyond the timeout',
    thrown: new TypeError('boo'),
    handler: { backoff: 5, timeout: 15, retries: 1 },
    runtime: 10,
    log: "Handler 'fn' failed with an exception and will stop now (it would time out in 15 seconds on the next attempt): boo",
    traced: true,
    outcome: { final: true, error: HandlerTimeoutError },
  },
  {
    when: 'the last of the attempts fails with an arbitrary error',
    thrown: new TypeError('boo'),
    handler: { retries: 3 },
    retries: 2,
    log: "Handler 'fn' failed with an exception and will stop now (it would exceed 3 retries on the next attempt): boo",
    traced: true,
    outcome: { final: true, error: HandlerRetriesError },
  },
  {
    when: 'an arbitrary error is permanent',
    thrown: new TypeError('boo'),
    handler: { errors: 'permanent' },
    log: "Handler 'fn' failed with an exception and will stop now: boo",
    traced: true,
    outcome: { final: true, error: TypeError },
  },
  {
    when: 'an arbitrary error has no words',
    thrown: new TypeError(),
    handler: { errors: 'permanent' },
    log: "Handler 'fn' failed with an exception and will stop now: TypeError()",
    traced: true,
    outcome: { final: true, error: TypeError },
  },
  {
    when: "an error of a user's class has no words",
    thrown: new (class QuotaExceeded extends PermanentError {})(),
    log: "Handler 'fn' failed permanently: QuotaExceeded()",
    outcome: { final: true, error: PermanentError },
  },
  {
    when: "a temporary error of a user's class has no words",
    thrown: new (class NotYet extends TemporaryError {})(undefined, { delay: 7 }),
    log: "Handler 'fn' failed temporarily: NotYet()",
    outcome: { final: false, delay: 7 },
  },
  {
    when: 'the attempts are over, and the last error has no words',
    thrown: new TemporaryError(),
    handler: { retries: 3 },
    retries: 2,
    log: "Handler 'fn' failed temporarily but will exceed 3 retries: TemporaryError()",
    outcome: { final: true, error: HandlerRetriesError },
  },
  {
    when: 'the time is over, and the last error has no words',
    thrown: new (class TooEarly extends TemporaryError {})(),
    handler: { timeout: 30 },
    log: "Handler 'fn' failed temporarily but will time out after 30 seconds: TooEarly()",
    outcome: { final: true, error: HandlerTimeoutError },
  },
  {
    when: 'something is thrown that is not an error',
    thrown: 'a mere text',
    log: "Handler 'fn' failed with an exception and will try again in 60 seconds: a mere text",
    traced: false,
    outcome: { final: false, delay: 60 },
  },
  {
    when: 'there is nothing to log in with, and the text says why',
    thrown: new LoginError('There is no such file.'),
    handler: { errors: 'ignored' },
    log: "Handler 'fn' failed with an exception and will ignore it: There is no such file.",
    traced: false,
    outcome: { final: true },
  },
];

describe('What an error of a handler means', () => {
  describe.each(['synchronously', 'asynchronously'])('thrown %s', (way) => {
    it.each(TABLE)('when $when', async ({ thrown, handler, retries = 0, runtime = 0, log, traced, outcome }) => {
      const fn = () => {
        throw thrown;
      };
      const called = changeHandler({ ...(handler as object), fn: way === 'synchronously' ? fn : async () => fn() });
      const { cause, outcome: promised } = await attempt(called, { state: { retries, runtime } });
      const actual = await promised;

      const line = cause.logger.lines.at(-1);
      expect(line?.message).toBe(log);
      expect(line?.level).toBe('error');
      expect('error' in (line?.fields ?? {})).toBe(traced ?? false);

      expect(actual.final).toBe(outcome.final);
      if (!outcome.final) expect(actual).toMatchObject({ delay: outcome.delay });
      if (outcome.final && outcome.error !== undefined) {
        expect((actual as { error: Error }).error).toBeInstanceOf(outcome.error);
      }
      if (outcome.final && outcome.error === undefined)
        expect(actual).toEqual({ final: true, result: undefined, subrefs: [] });
    });
  });

  it('is kept as the cause of the error that ends the attempts', async () => {
    const error = new TemporaryError('boo');
    const handler = changeHandler({ retries: 1, fn: () => Promise.reject(error) });
    const { outcome } = await attempt(handler);
    expect(await outcome).toMatchObject({ final: true, error: { cause: error } });
  });

  it('does not lose what was thrown instead of an error', async () => {
    const { outcome } = await attempt(
      changeHandler({ errors: 'permanent', fn: () => Promise.reject({ some: 'thing' }) }),
    );
    expect(await outcome).toMatchObject({ error: { message: '{"some":"thing"}', cause: { some: 'thing' } } });
  });

  it.each([0, 30, 60])('is followed by the default backoff of %d seconds, if so set', async (defaultBackoff) => {
    const handler = changeHandler({ fn: () => Promise.reject(new Error('boo')) });
    const { outcome } = await attempt(handler, { settings: { execution: { defaultBackoff } } });
    expect(await outcome).toMatchObject({ final: false, delay: defaultBackoff });
  });

  it.each<[AnyHandler['kind'], ErrorsMode]>([
    ['change', 'temporary'],
    ['daemon', 'temporary'],
    ['timer', 'temporary'],
    ['watch', 'ignored'],
    ['index', 'ignored'],
    ['webhook', 'permanent'],
  ])('for the kind "%s" is %s by default', async (kind, mode) => {
    const fn = () => Promise.reject(new Error('boo'));
    const handler = { kind, id: 'fn', fn, param: undefined } as unknown as WatchHandler;
    const { outcome } = await attempt(handler, { cause: watchingCause() });
    const endings = {
      temporary: { final: false, delay: 60 },
      permanent: { final: true, error: { message: 'boo' } },
      ignored: { final: true, result: undefined },
    };
    expect(await outcome).toMatchObject(endings[mode]);
  });
});

describe('A growing backoff', () => {
  const failing = (backoff: { min: number; max: number; factor?: number; jitter?: number }) =>
    changeHandler({ backoff, fn: () => Promise.reject(new Error('boo')) });

  it.each([
    [0, 1],
    [1, 2],
    [2, 4],
    [3, 8],
    [4, 10],
    [1000, 10],
  ])('after %d attempts is %d seconds', async (retries, delay) => {
    const handler = failing({ min: 1, max: 10 });
    const { outcome } = await attempt(handler, { state: { retries: Math.min(retries, 50) } });
    expect(await outcome).toMatchObject({ delay });
  });

  it('grows by its factor', async () => {
    const { outcome } = await attempt(failing({ min: 2, max: 1000, factor: 3 }), { state: { retries: 2 } });
    expect(await outcome).toMatchObject({ delay: 18 });
  });

  it.each([
    [0, 5],
    [0.5, 10],
    [0.75, 12.5],
  ])('is spread by its jitter: at the random %d, it is %d', async (random, delay) => {
    const { outcome } = await attempt(failing({ min: 10, max: 100, jitter: 0.5 }), { random: () => random });
    expect(await outcome).toMatchObject({ delay });
  });

  it('never exceeds its maximum by the jitter', async () => {
    const { outcome } = await attempt(failing({ min: 10, max: 11, jitter: 1 }), { random: () => 0.99 });
    expect(await outcome).toMatchObject({ delay: 11 });
  });
});
