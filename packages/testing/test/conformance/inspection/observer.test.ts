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
    'accepts facts of unknown kinds if it wants all',
    () =>
      of(({ kind }) => {
        if (kind.startsWith('future')) throw new Error(`what is ${kind}?`);
      }),
  ],
  [
    'takes its time',
    'accepts facts synchronously: it returns no promise',
    () => of(async () => await Promise.resolve()),
  ],
  [
    'writes into facts',
    'does not modify facts or their contents',
    () =>
      of((fact: Careless) => {
        if (!Object.isFrozen(fact)) fact.seen = true;
      }),
  ],
  [
    'writes into what is in facts',
    'does not modify facts or their contents',
    () =>
      of((fact: Careless) => {
        if (fact.kind === 'patch.sent') fact.requests.pop();
      }),
  ],
  ['wants what there is not', 'wants only existing kinds of facts', () => of(() => {}, ['call.endde' as FactKind])],
  ['wants nothing', 'wants only existing kinds of facts', () => of(() => {}, [])],
  [
    'believes that all calls are for objects',
    'accepts facts without their optional parts',
    () => of((fact: Careless) => void (fact.kind === 'call.ended' && fact.object.name.length)),
  ],
  [
    'wants less and less',
    'never changes which facts it wants',
    () => {
      const wants: FactKind[] = ['call.ended', 'error.stray'];
      return of(() => void wants.pop(), wants);
    },
  ],
  [
    'is full after some facts',
    'accepts facts in any order, and repeatedly',
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
    'accepts facts of several operators',
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
    expect(await complaint(observerCases(create), 'accepts all facts that it wants')).toMatch(
      /throws at a fact .*: boo/,
    );
  });
});
