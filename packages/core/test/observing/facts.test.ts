import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { FACT_KINDS, facts, NO_FACTS } from '../../src/observing/facts.js';
import type { Fact, FactKind, Observer } from '../../src/seams/inspection/observer.js';

function telling(...observers: Observer[]) {
  const clock = manualClock();
  const logger = recordingLogger();
  return { clock, logger, facts: facts({ observers, operator: 'me', clock, logger }) };
}

function recorder(wants: readonly FactKind[] | 'all') {
  const told: Fact[] = [];
  return { told, wants, observe: (fact: Fact) => void told.push(fact) };
}

const error = new Error('boo');

describe('facts', () => {
  it('are told to those who want them, with the operator and the time', async () => {
    const [first, second] = [recorder(['discovery.failed']), recorder(['discovery.failed', 'error.stray'])];
    const { facts, clock } = telling(first, second);
    const start = clock.now();
    await clock.advance(3);
    facts.tell({ kind: 'discovery.failed', error, failures: 1 });
    expect(first.told).toEqual([{ kind: 'discovery.failed', error, failures: 1, operator: 'me', at: start + 3 }]);
    expect(second.told).toEqual(first.told);
    expect(Object.isFrozen(first.told[0])).toBe(true);
  });

  it('are not told to others', () => {
    const other = recorder(['error.stray']);
    const { facts } = telling(other);
    expect(facts.wants['discovery.failed']).toBe(false);
    expect(facts.wants['error.stray']).toBe(true);
    facts.tell({ kind: 'discovery.failed', error, failures: 1 });
    expect(other.told).toEqual([]);
  });

  it('are wanted all by those who say so', () => {
    const { facts } = telling(recorder('all'));
    expect(FACT_KINDS.filter((kind) => !facts.wants[kind])).toEqual([]);
  });

  it('are wanted by nobody if there is nobody', () => {
    expect(telling().facts.wants).toEqual(NO_FACTS.wants);
    expect(Object.values(NO_FACTS.wants)).not.toContain(true);
  });

  it('are told to those who come later, from then on', () => {
    const { facts } = telling();
    const late = recorder(['discovery.failed']);
    facts.tell({ kind: 'discovery.failed', error, failures: 1 });
    facts.add(late);
    expect(facts.wants['discovery.failed']).toBe(true);
    expect(facts.wants['error.stray']).toBe(false);
    facts.tell({ kind: 'discovery.failed', error, failures: 2 });
    expect(late.told).toMatchObject([{ kind: 'discovery.failed', failures: 2 }]);
    expect(() => facts.add({ wants: 'all' } as never)).toThrow(/needs a function `observe`/);
  });

  it('refuse observers that want what there is not', () => {
    const wants = ['call.ended', 'call.endde'] as FactKind[];
    expect(() => telling({ wants, observe() {} })).toThrow(/no facts of the kind 'call\.endde'.*call\.ended/);
  });

  it('refuse what is no observer', () => {
    expect(() => telling({ observe() {} } as never)).toThrow(/needs `wants`/);
    expect(() => telling({ wants: 'all' } as never)).toThrow(/needs a function `observe`/);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw error;
      },
    ],
    [
      'throws no error',
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- users can throw anything
        throw null;
      },
    ],
    [
      'rejects',
      async () => {
        throw error;
      },
    ],
  ])('go to others if one %s, which is reported once', async (_, observe) => {
    const second = recorder('all');
    const { facts, logger } = telling({ wants: 'all', observe: observe as () => void }, second);
    for (const failures of [1, 2, 3]) facts.tell({ kind: 'discovery.failed', error, failures });
    expect(second.told).toHaveLength(3);
    await Promise.resolve();
    await Promise.resolve();
    expect(logger.messages('error')).toHaveLength(1);
    expect(logger.messages('error')[0]).toContain("An observer failed on the fact 'discovery.failed'");
  });
});
