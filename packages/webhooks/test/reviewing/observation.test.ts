import { AdmissionError, type Fact, type FactKind, type TracedWork, type Tracing } from '@kopf-ts/core';
import { facts } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { reviewed } from './reviewed.js';

function observing(...wants: readonly FactKind[]) {
  const told: Fact[] = [];
  const observer = { wants, observe: (fact: Fact) => void told.push(fact) };
  return {
    told,
    facts: facts({ observers: [observer], operator: 'me', clock: manualClock(), logger: recordingLogger() }),
  };
}

describe('observers are told of reviews', () => {
  it('that are answered: by whom, and how', async () => {
    const { told, facts } = observing('review.answered');
    const { ask, clock } = reviewed(
      ({ on }) => {
        on.validate('kopfexamples', { id: 'first' }, async () => void (await clock.sleep(2)));
        on.validate('kopfexamples', { id: 'second' }, () => {
          throw new AdmissionError('No.', { code: 422 });
        });
        on.validate('kopfexamples', { id: 'other', labels: { absent: 'yes' } }, () => {});
      },
      { facts },
    );
    const asked = ask();
    await clock.advance(2);
    await asked;
    expect(told).toEqual([
      {
        ...{ kind: 'review.answered', operator: 'me', at: expect.any(Number), uid: 'review-uid', operation: 'CREATE' },
        object: expect.objectContaining({ kind: 'KopfExample', namespace: 'ns1', name: 'one', uid: 'uid1' }),
        ...{ allowed: false, code: 422, handlers: ['first', 'second'], duration: 2 },
      },
    ]);
  });

  it('that are allowed', async () => {
    const { told, facts } = observing('review.answered');
    await reviewed(({ on }) => on.validate('kopfexamples', { id: 'fn' }, () => {}), { facts }).ask();
    expect(told).toMatchObject([{ allowed: true, code: undefined, handlers: ['fn'] }]);
  });

  it('that are refused, and why', async () => {
    const { told, facts } = observing('review.refused', 'review.answered');
    const { ask } = reviewed(({ on }) => on.validate('kopfexamples', { id: 'fn' }, () => {}), { facts });
    await expect(ask({ uid: null })).rejects.toThrow(/has no request.uid/);
    await expect(ask({}, { webhook: 'absent' })).rejects.toThrow(/no admission handler 'absent'/);
    expect(told).toMatchObject([
      { kind: 'review.refused', error: expect.objectContaining({ code: 'KOPF_WEBHOOK_DATA' }) },
      { kind: 'review.refused', error: expect.objectContaining({ message: expect.stringContaining('absent') }) },
    ]);
  });
});

describe('a trace', () => {
  it('has a review with the calls of its handlers inside, and not what is no review', async () => {
    const works: TracedWork[] = [];
    const depth: number[] = [];
    let level = 0;
    const tracing: Tracing = {
      around<R>(work: TracedWork, fn: () => R): R {
        works.push(work);
        depth.push(level++);
        try {
          return fn();
        } finally {
          level--;
        }
      },
      headers: () => ({}),
    };
    const { ask } = reviewed(({ on }) => on.validate('kopfexamples', { id: 'fn' }, () => {}), { tracing });
    await ask({ operation: 'UPDATE' }, { headers: { traceparent: '00-…' } });
    await expect(ask({ operation: 'nonsense' })).rejects.toThrow(/operation/);
    expect(works).toMatchObject([
      { kind: 'review', uid: 'review-uid', operation: 'UPDATE', headers: { traceparent: '00-…' } },
      { kind: 'call', handler: { id: 'fn', kind: 'webhook' } },
    ]);
    expect(depth).toEqual([0, 1]);
  });
});
