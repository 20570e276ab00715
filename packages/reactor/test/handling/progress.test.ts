import { type Change, execute, type HandlerProgress, PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

const AT_FIRST = new Date('2020-01-01T00:00:00Z');
const in5s = new Date('2020-01-01T00:00:05Z');

function seenBy({ progress }: Change): Record<string, Partial<HandlerProgress>> {
  return Object.fromEntries(progress);
}

describe('The progress of other handlers', () => {
  it('is what has become of them so far in the cycle', async () => {
    await using operator = await operated();
    const seen: Record<string, Partial<HandlerProgress>>[] = [];
    const { on } = operator.registry;
    on.create('kopfexamples', { id: 'good' }, () => {});
    on.create('kopfexamples', { id: 'bad' }, () => {
      throw new PermanentError('Never.');
    });
    on.create('kopfexamples', { id: 'slow' }, ({ retry }) => {
      if (retry === 0) throw new TemporaryError('Not yet.', { delay: 5 });
    });
    on.update('kopfexamples', { id: 'other' }, () => {});
    on.create('kopfexamples', { id: 'curious', backoff: 1 }, (kwargs) => {
      seen.push(seenBy(kwargs));
      if (!kwargs.progress.get('slow')?.finished) throw new Error('Waiting.');
    });
    await operator.start();
    await operator.create('one');
    expect(Object.keys(seen[0] ?? {})).toEqual(['good', 'bad', 'slow', 'curious']);
    const untried = { retries: 0, success: false, failure: false, finished: false };
    expect(seen[0]).toMatchObject({
      good: { started: AT_FIRST, stopped: AT_FIRST, retries: 1, success: true, failure: false, finished: true },
      bad: { retries: 1, success: false, failure: true, finished: true, message: 'Never.' },
      slow: { retries: 1, success: false, finished: false, message: 'Not yet.', delayed: in5s, stopped: undefined },
      curious: untried,
    });
    await operator.advance(10);
    expect(seen.at(-1)).toMatchObject({ slow: { success: true, retries: 2 }, curious: { message: 'Waiting.' } });
  });

  it('is of the same round, too', async () => {
    await using operator = await operated({ lifecycle: (handlers) => handlers });
    const seen: Record<string, Partial<HandlerProgress>>[] = [];
    operator.registry.on.create('kopfexamples', { id: 'a' }, (kwargs) => void seen.push(seenBy(kwargs)));
    operator.registry.on.create('kopfexamples', { id: 'b' }, (kwargs) => void seen.push(seenBy(kwargs)));
    await operator.start();
    await operator.create('one');
    expect(seen).toMatchObject([
      { a: { finished: false }, b: { finished: false } },
      { a: { success: true }, b: { finished: false } },
    ]);
  });

  it('has the sub-handlers, which see those above them', async () => {
    await using operator = await operated({ lifecycle: (handlers) => handlers });
    const seen: Record<string, unknown> = {};
    const { on } = operator.registry;
    on.create('kopfexamples', { id: 'first' }, () => {});
    on.create('kopfexamples', { id: 'parent' }, async () => {
      await execute({ x: () => {}, y: (kwargs) => void Object.assign(seen, { y: Object.keys(seenBy(kwargs)) }) });
    });
    on.create('kopfexamples', { id: 'last' }, (kwargs) => {
      seen['last'] = seenBy(kwargs);
    });
    await operator.start();
    await operator.create('one');
    expect(seen['y']).toEqual(['first', 'parent', 'last', 'parent/x', 'parent/y']);
    expect(seen['last']).toMatchObject({ 'parent/x': { success: true }, 'parent/y': { success: true } });
  });

  it('cannot be changed', async () => {
    await using operator = await operated();
    let error: unknown;
    operator.registry.on.create('kopfexamples', { id: 'a' }, ({ progress }) => {
      try {
        Object.assign(progress.get('a') ?? {}, { retries: 5 });
      } catch (thrown) {
        error = thrown;
      }
    });
    await operator.start();
    await operator.create('one');
    expect(error).toBeInstanceOf(TypeError);
  });
});
