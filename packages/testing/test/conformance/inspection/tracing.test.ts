import type { TracedWork, Tracing } from '@kopf-ts/core';
import { safeTracing } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { recordingLogger, testTracing, tracingCases } from '../../../src/index.js';
import { failures } from '../failures.js';

const good: Tracing = { around: (_, fn) => fn(), headers: () => ({ traceparent: '00-1-2-01' }) };
testTracing(() => good, { describe, it });

type Around = (work: TracedWork, fn: () => unknown) => unknown;
const by = (around: Around, headers: () => unknown = () => ({})) => ({ around, headers }) as Tracing;

const broken: [sin: string, caught: string, tracing: Tracing][] = [
  [
    'does the work twice',
    'does the work once, at once',
    by((_, fn) => {
      fn();
      return fn();
    }),
  ],
  ['does not do the work', 'does the work once, at once', by(() => undefined)],
  [
    'does the work later',
    'does the work once, at once',
    by(
      (_, fn) =>
        void Promise.resolve()
          .then(fn)
          .catch(() => {}),
    ),
  ],
  [
    'returns nothing',
    'returns what the work returns',
    by((_, fn) => {
      fn();
    }),
  ],
  ['makes promises of everything', 'returns what the work returns', by(async (_, fn) => await fn())],
  [
    'hides errors',
    'throws what the work throws',
    by((_, fn) => {
      try {
        return fn();
      } catch {
        return undefined;
      }
    }),
  ],
  [
    'replaces errors',
    'lets promises reject as they do',
    by((_, fn) => {
      const result = fn();
      return result instanceof Promise ? result.catch(() => Promise.reject(new Error('traced'))) : result;
    }),
  ],
  [
    'needs an object',
    'does the work once, at once',
    by((work, fn) => {
      if (work.kind === 'call') void (work.object as { name: string }).name;
      return fn();
    }),
  ],
  [
    'has no headers',
    'returns headers with text values inside and outside of work',
    by(
      (_, fn) => fn(),
      () => undefined,
    ),
  ],
  [
    'has numbers for headers',
    'returns headers with text values inside and outside of work',
    by(
      (_, fn) => fn(),
      () => ({ traceparent: 5 }),
    ),
  ],
  [
    'has headers of several lines',
    'returns headers with text values inside and outside of work',
    by(
      (_, fn) => fn(),
      () => ({ traceparent: 'a\r\nb: c' }),
    ),
  ],
  [
    'writes into what it is told',
    'changes nothing in what it is told',
    by((work, fn) => {
      if (!Object.isFrozen(work)) Object.assign(work, { span: 1 });
      return fn();
    }),
  ],
];

describe('the suite of tracings', () => {
  it.each(broken)('catches one that %s', async (_, caught, tracing) => {
    expect(await failures(tracingCases(() => tracing))).toContain(caught);
  });

  it.each(broken)('is passed by one that %s, if it is made safe', async (_, _caught, tracing) => {
    const safe = () => safeTracing({ tracing, logger: recordingLogger() });
    const left = await failures(tracingCases(safe));
    // What is several lines long is left to whoever sends it.
    expect(left.filter((name) => !name.startsWith('returns headers'))).toEqual([]);
  });
});
