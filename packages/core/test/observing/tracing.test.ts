import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { safeTracing } from '../../src/observing/safe-tracing.js';
import type { TracedWork, Tracing } from '../../src/seams/inspection/tracing.js';

const work: TracedWork = { kind: 'review', uid: 'u', operation: 'CREATE' };
const boo = new Error('boo');
const ofTracing = new Error('of the tracing');

function made(around: (work: TracedWork, fn: () => unknown) => unknown, headers: () => unknown = () => ({})) {
  const logger = recordingLogger();
  const tracing = safeTracing({ tracing: { around, headers } as Tracing, logger });
  return { tracing, logger };
}

const broken: readonly [string, RegExp, (work: TracedWork, fn: () => unknown) => unknown][] = [
  [
    'throws before',
    /has failed before a review: of the tracing/,
    () => {
      throw ofTracing;
    },
  ],
  [
    'throws after',
    /has failed after a review: of the tracing/,
    (_, fn) => {
      try {
        fn();
      } catch {
        // It throws its own.
      }
      throw ofTracing;
    },
  ],
  [
    'calls twice',
    /has called the function of a review more than once/,
    (_, fn) => {
      try {
        fn();
      } catch {
        // It tries again.
      }
      return fn();
    },
  ],
  ['never calls', /has not called the function of a review/, () => undefined],
];

describe.each(broken)('a tracing that %s', (_, text, around) => {
  it('lets the work be done once, and return what it returns', () => {
    const { tracing, logger } = made(around);
    let calls = 0;
    const result = {};
    for (const round of [1, 2, 3]) {
      expect(
        tracing.around(work, () => {
          calls += 1;
          return result;
        }),
      ).toBe(result);
      expect(calls).toBe(round);
    }
    expect(logger.messages('error')).toHaveLength(1);
    expect(logger.messages('error')[0]).toMatch(text);
  });

  it('lets the work be done once, and throw what it throws', () => {
    const { tracing, logger } = made(around);
    let calls = 0;
    const failing = () =>
      tracing.around(work, () => {
        calls += 1;
        throw boo;
      });
    expect(failing).toThrow(boo);
    expect(calls).toBe(1);
    expect(logger.messages('error')).toHaveLength(1);
  });
});

describe('tracing', () => {
  it('that obeys is not reported', () => {
    const seen: TracedWork[] = [];
    const { tracing, logger } = made((traced, fn) => {
      seen.push(traced);
      return fn();
    });
    expect(tracing.around(work, () => 5)).toBe(5);
    expect(() =>
      tracing.around(work, () => {
        throw boo;
      }),
    ).toThrow(boo);
    expect(seen).toEqual([work, work]);
    expect(logger.messages()).toEqual([]);
  });

  it('that returns something else is reported, and not obeyed', () => {
    const { tracing, logger } = made((_, fn) => `${String(fn())}!`);
    expect(tracing.around(work, () => 'mine')).toBe('mine');
    expect(logger.messages('error')).toEqual([expect.stringContaining('has replaced the result of a review')]);
  });

  it('that hides an error is reported, and not obeyed', () => {
    const { tracing, logger } = made((_, fn) => {
      try {
        return fn();
      } catch {
        return undefined;
      }
    });
    const failing = () =>
      tracing.around(work, () => {
        throw boo;
      });
    expect(failing).toThrow(boo);
    expect(logger.messages('error')).toEqual([expect.stringContaining('has hidden the error of a review')]);
  });

  it('may return another promise; its rejection is not stray', async () => {
    const { tracing, logger } = made(async (_, fn) => await fn());
    const rejecting = Promise.reject(boo);
    const returned = tracing.around(work, () => rejecting);
    expect(returned).toBe(rejecting);
    await expect(returned).rejects.toBe(boo);
    expect(logger.messages()).toEqual([]);
  });

  it('that makes a promise of an error leaves no stray rejection', async () => {
    const strays: unknown[] = [];
    const note = (error: unknown): void => void strays.push(error);
    process.on('unhandledRejection', note);
    const { tracing, logger } = made(async (_, fn) => await fn());
    const failing = () =>
      tracing.around(work, () => {
        throw boo;
      });
    expect(failing).toThrow(boo);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(strays).toEqual([]);
    expect(logger.messages('error')).toEqual([expect.stringContaining('has hidden the error of a review')]);
  });

  it('that calls later is too late: it gets the same end', () => {
    let later: (() => unknown) | undefined;
    const { tracing, logger } = made((_, fn) => {
      later = fn;
      return undefined;
    });
    let calls = 0;
    expect(tracing.around(work, () => ++calls)).toBe(1);
    expect(later?.()).toBe(1);
    expect(calls).toBe(1);
    expect(logger.messages('error')).toHaveLength(1);
  });

  it('is called inside of the work that is around', () => {
    const inside: string[] = [];
    const { tracing } = made((traced, fn) => {
      inside.push(`<${traced.kind}>`);
      const result = fn();
      inside.push(`</${traced.kind}>`);
      return result;
    });
    tracing.around(work, () => tracing.around({ kind: 'request', method: 'GET', path: '/' }, () => inside.push('GET')));
    expect(inside).toEqual(['<review>', '<request>', 'GET', '</request>', '</review>']);
  });

  it('gives headers, if they are any', () => {
    const headers = { traceparent: '00-…' };
    expect(
      made(
        (_, fn) => fn(),
        () => headers,
      ).tracing.headers(),
    ).toBe(headers);
  });

  it.each<[string, () => unknown]>([
    ['undefined', () => undefined],
    ['a string', () => 'traceparent: 00-…'],
    ['numbers', () => ({ traceparent: 5 })],
    [
      'nothing but an error',
      () => {
        throw ofTracing;
      },
    ],
  ])('that gives %s as headers gives none, and is reported once', (_, headers) => {
    const { tracing, logger } = made((_work, fn) => fn(), headers);
    expect(tracing.headers()).toEqual({});
    expect(tracing.headers()).toEqual({});
    expect(logger.messages('error')).toHaveLength(1);
  });

  it('gives marks, if it has any to give', () => {
    const logger = recordingLogger();
    const own: Tracing = { around: (_, fn) => fn(), headers: () => ({}) };
    expect(safeTracing({ tracing: own, logger }).mark).toBeUndefined();
    for (const mark of ['00-…', undefined]) {
      expect(safeTracing({ tracing: { ...own, mark: () => mark }, logger }).mark?.()).toBe(mark);
    }
    expect(logger.messages('error')).toEqual([]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['no text', () => 5, /a mark that is no string/],
    [
      'nothing but an error',
      () => {
        throw ofTracing;
      },
      /has failed to give a mark: of the tracing/,
    ],
  ])('that gives %s as a mark gives none, and is reported once', (_, mark, reported) => {
    const logger = recordingLogger();
    const own = { around: (_work: TracedWork, fn: () => unknown) => fn(), headers: () => ({}), mark } as Tracing;
    const tracing = safeTracing({ tracing: own, logger });
    expect([tracing.mark?.(), tracing.mark?.()]).toEqual([undefined, undefined]);
    expect(logger.messages('error')).toEqual([expect.stringMatching(reported)]);
  });

  it('is no reason to fail for a logger that throws', () => {
    const logger = recordingLogger();
    logger.error = () => {
      throw new Error('full disk');
    };
    const tracing = safeTracing({ tracing: { around: () => undefined as never, headers: () => ({}) }, logger });
    expect(tracing.around(work, () => 5)).toBe(5);
  });

  it('refuses what is no tracing', () => {
    const logger = recordingLogger();
    expect(() => safeTracing({ tracing: {} as Tracing, logger })).toThrow(/`around` and `headers`/);
    expect(() => safeTracing({ tracing: { around: (_, fn) => fn() } as Tracing, logger })).toThrow(/`headers`/);
    const marked = { around: (_: TracedWork, fn: () => unknown) => fn(), headers: () => ({}), mark: '00-…' };
    expect(() => safeTracing({ tracing: marked as unknown as Tracing, logger })).toThrow(/`mark`/);
  });
});
