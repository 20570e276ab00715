import type { Fact, FactKind, Observer } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { observerCases, recordingObserver, testObserver } from '../../../src/index.js';
import { complaint, failures } from '../failures.js';

testObserver(() => recordingObserver(), { describe, it });
testObserver(() => recordingObserver(['call.ended', 'error.stray']), { describe, it });

const of = (observe: (fact: Fact) => unknown, wants: Observer['wants'] = 'all') => ({ wants, observe }) as Observer;

/** Facts as nobody should take them. */
// biome-ignore lint/suspicious/noExplicitAny: they are careless
type Careless = any;

const broken: [sin: string, caught: string, create: () => Observer][] = [
  [
    'knows all kinds that there will ever be',
    'takes facts of kinds that it does not know yet, if it wants all',
    () =>
      of(({ kind }) => {
        if (kind.startsWith('future')) throw new Error(`what is ${kind}?`);
      }),
  ],
  [
    'takes its time',
    'takes them at once: it returns nothing to wait for',
    () => of(async () => await Promise.resolve()),
  ],
  [
    'writes into facts',
    'changes nothing in facts, nor in what is in them',
    () =>
      of((fact: Careless) => {
        if (!Object.isFrozen(fact)) fact.seen = true;
      }),
  ],
  [
    'writes into what is in facts',
    'changes nothing in facts, nor in what is in them',
    () =>
      of((fact: Careless) => {
        if (fact.kind === 'patch.sent') fact.requests.pop();
      }),
  ],
  ['wants what there is not', 'wants facts that there are', () => of(() => {}, ['call.endde' as FactKind])],
  ['wants nothing', 'wants facts that there are', () => of(() => {}, [])],
  [
    'believes that all calls are for objects',
    'takes facts without all that may be absent',
    () => of((fact: Careless) => void (fact.kind === 'call.ended' && fact.object.name.length)),
  ],
  [
    'wants less and less',
    'goes on wanting what it wants',
    () => {
      const wants: FactKind[] = ['call.ended', 'error.stray'];
      return of(() => void wants.pop(), wants);
    },
  ],
  [
    'is full after some facts',
    'takes facts in any order, and again and again',
    () => {
      let count = 0;
      return of(() => {
        count += 1;
        if (count > 500) throw new Error('full');
      });
    },
  ],
  [
    'knows only one operator',
    'takes facts of several operators',
    () =>
      of(({ operator }) => {
        if (operator === 'two') throw new Error('who is that?');
      }),
  ],
];

describe('the suite of observers', () => {
  it.each(broken)('catches one that %s', async (_, caught, create) => {
    expect(await failures(observerCases(create))).toContain(caught);
  });

  it('says what is wrong', async () => {
    const create = () =>
      of(() => {
        throw new Error('boo');
      });
    expect(await complaint(observerCases(create), 'takes all facts that it wants')).toMatch(/throws at a fact .*: boo/);
  });
});
