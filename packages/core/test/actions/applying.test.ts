import { describe, expect, it } from 'vitest';
import { decideNext, interruptedSleep, type NextFacts, type NextStep } from '../../src/execution/next-step.js';

describe('What comes after the patch', () => {
  it.each<[NextFacts, NextStep]>([
    [
      { delay: undefined, patched: false },
      { action: 'finish', log: 'Handling cycle is finished, waiting for new changes.' },
    ],
    [{ delay: undefined, patched: true }, { action: 'await-event' }],
    [
      { delay: 12.3456, patched: true },
      { action: 'await-event', log: 'Sleeping was skipped because of the patch, 12.346 seconds left.' },
    ],
    [{ delay: 0, patched: true }, { action: 'await-event' }],
    [{ delay: 0, patched: false }, { action: 'again' }],
    [{ delay: -1, patched: false }, { action: 'again' }],
    [
      { delay: 600, patched: false },
      { action: 'sleep', seconds: 600, awakening: 'again', log: 'Sleeping for 600 seconds for the delayed handlers.' },
    ],
    [
      { delay: 1000, patched: false },
      {
        action: 'sleep',
        seconds: 600,
        awakening: 'again',
        log: 'Sleeping for 1000 (capped 600) seconds for the delayed handlers.',
      },
    ],
  ])('for %o is %o, with no touching', (facts, next) => {
    expect(decideNext(facts)).toEqual(next);
  });

  it.each<[NextFacts, Partial<NextStep>]>([
    [{ delay: undefined, patched: false }, { action: 'finish' }],
    [{ delay: undefined, patched: true }, { action: 'await-event' }],
    [{ delay: 5, patched: true }, { action: 'await-event' }],
    [{ delay: 0, patched: true }, { action: 'await-event' }],
    [{ delay: 0, patched: false }, { action: 'touch' }],
    [{ delay: -1, patched: false }, { action: 'touch' }],
    [
      { delay: 5, patched: false },
      { action: 'sleep', seconds: 5, awakening: 'touch' },
    ],
    [
      { delay: 601, patched: false },
      { action: 'sleep', seconds: 600, awakening: 'touch' },
    ],
  ])('for %o is %o as Kopf does it', (facts, next) => {
    expect(decideNext({ ...facts, compat: 'kopf' })).toMatchObject(next);
  });

  it('is told of, if the sleep was interrupted', () => {
    expect(interruptedSleep(3)).toBe('Sleeping was interrupted by new changes, 3 seconds left.');
  });
});
