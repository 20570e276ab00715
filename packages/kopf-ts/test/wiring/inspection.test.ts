/** Who looks into an operator, or has a hand in it, needs nothing but `kopf-ts`. */
import * as kopf from 'kopf-ts';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { newPlace, startOperator } from './wired.js';

describe('an operator', () => {
  it('tells its observers what happens, from the first request to the last call', async () => {
    const place = await newPlace();
    const told: kopf.Fact[] = [];
    const observer: kopf.Observer = { wants: 'all', observe: (fact) => void told.push(fact) };
    await startOperator(place, ({ on }) => void on.create('kopfexamples', { id: 'fn' }, () => {}), {
      observers: [observer],
      identity: 'myself',
    });
    await place.create('one');
    const kinds = new Set(told.map(({ kind }) => kind));
    const expected = ['discovery.revised', 'stream.opened', 'stream.event', 'object.cause', 'handler.considered'];
    for (const kind of [...expected, 'call.began', 'call.ended', 'patch.sent'] as const) expect(kinds).toContain(kind);
    expect(new Set(told.map(({ operator }) => operator))).toEqual(new Set(['myself']));
    const times = told.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('works inside of a tracing', async () => {
    const place = await newPlace();
    const kinds: string[] = [];
    const tracing: kopf.Tracing = {
      around(work, fn) {
        kinds.push(work.kind);
        return fn();
      },
      headers: () => ({}),
    };
    await startOperator(place, ({ on }) => void on.create('kopfexamples', { id: 'fn' }, () => {}), { tracing });
    await place.create('one');
    expect(kinds).toContain('cycle');
    expect(kinds).toContain('call');
  });

  it('refuses what is no tracing', () => {
    expect(() => kopf.operator({ registry: kopf.createRegistry(), tracing: {} as kopf.Tracing })).toThrow(/`around`/);
  });

  it('is under control', async () => {
    const place = await newPlace();
    let calls = 0;
    const started = await startOperator(place, ({ on }) => {
      on.create('kopfexamples', { id: 'fn' }, () => {
        calls += 1;
        throw new kopf.TemporaryError('later', { delay: 3600 });
      });
    });
    await place.create('one');
    const { control } = started;
    expect(control.objects({ resource: 'kopfexamples' })).toMatchObject([{ phase: 'waiting', isPaused: false }]);
    expect(control.retry({ resource: 'kex.kopf.dev', name: 'one' }) + control.retry({ name: 'one' })).toBe(1);
    await place.settle();
    expect(calls).toBe(2);
    control.pause();
    expect(control.isPaused).toBe(true);
    await place.settle();
    await place.create('two');
    expect(calls).toBe(2);
    control.resume();
    await place.clock.advance(1);
    await place.settle();
    expect(calls).toBe(3);
  });
});

it('has all types for that at the top', () => {
  const slow = (fact: kopf.Fact): string | undefined => {
    if (fact.kind !== 'call.ended') return undefined;
    expectTypeOf(fact).toEqualTypeOf<kopf.FactOf<'call.ended'>>();
    expectTypeOf(fact.duration).toEqualTypeOf<number>();
    expectTypeOf(fact.handler).toEqualTypeOf<kopf.ObservedHandler>();
    return fact.outcome === 'retried' ? `${fact.handler.id} in ${fact.delay}` : undefined;
  };
  expectTypeOf<kopf.Observer['observe']>().toBeCallableWith({} as kopf.Fact);
  expectTypeOf<kopf.OperatorOptions['observers']>().toEqualTypeOf<readonly kopf.Observer[] | undefined>();
  expectTypeOf<kopf.OperatorOptions['tracing']>().toEqualTypeOf<kopf.Tracing | undefined>();
  expectTypeOf<kopf.Operator['control']>().toEqualTypeOf<kopf.Control>();
  expectTypeOf<ReturnType<typeof kopf.operator>>().toEqualTypeOf<kopf.Operator>();
  expectTypeOf<kopf.FactOf<'handler.considered'>['rejection']>().toEqualTypeOf<kopf.Rejection | undefined>();
  // @ts-expect-error there are no such facts
  const wrong: kopf.Observer = { wants: ['call.endde'], observe() {} };
  expect([slow, wrong]).toHaveLength(2);
});
