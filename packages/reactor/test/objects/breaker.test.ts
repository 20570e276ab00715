import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterPatch, type Breaker, type PatchedField, timeLeft, UNBROKEN } from '../../src/objects/breaker.js';

const field = (before: string, after: string, name = 'spec.x'): PatchedField => ({
  field: name,
  handler: 'h',
  before,
  after,
});

/** Patches the field again and again, as soon as it may, at most so often; the pauses that were demanded. */
function fight({ patches, gap = 0.01, isOwnDoing = true }: { patches: number; gap?: number; isOwnDoing?: boolean }) {
  let breaker: Breaker = UNBROKEN;
  let now = 0;
  const delays: number[] = [];
  const told: number[] = [];
  for (let n = 0; n < patches; n++) {
    now += (timeLeft(breaker, now) ?? 0) + gap;
    const result = afterPatch(breaker, { now, patched: [field('theirs', 'ours')], isOwnDoing });
    breaker = result.breaker;
    if (result.tripping) delays.push(result.tripping.delay);
    if (result.tripping?.isFirst) told.push(n);
  }
  return { breaker, now, delays, told };
}

describe('The breaker', () => {
  it.each([true, false])('lets ten patches in a row through, and slows down the rest; own doing: %s', (isOwnDoing) => {
    expect(fight({ patches: 10, isOwnDoing }).delays).toEqual([]);
    const { delays, told } = fight({ patches: 25, isOwnDoing });
    expect(delays.slice(0, 12)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
    expect(told).toEqual([10]);
  });

  it('does not mind those who take their time', () => {
    expect(fight({ patches: 1000, gap: 1 }).delays).toEqual([]);
  });

  it('does not mind fields that nobody undoes: others may change the rest of the object as often as they like', () => {
    let breaker: Breaker = UNBROKEN;
    for (let n = 0; n < 100; n++) {
      const patched = [field(`${n}`, `${n + 1}`, 'status.count')];
      const result = afterPatch(breaker, { now: n / 100, patched, isOwnDoing: false });
      expect(result.tripping).toBeUndefined();
      breaker = result.breaker;
    }
  });

  it('does not mind different fields', () => {
    let breaker: Breaker = UNBROKEN;
    for (let n = 0; n < 100; n++) {
      const result = afterPatch(breaker, { now: n / 100, patched: [field('a', 'b', `spec.f${n}`)], isOwnDoing: true });
      expect(result.tripping).toBeUndefined();
      breaker = result.breaker;
    }
  });

  it('falls back after a quiet period', () => {
    const { breaker, now } = fight({ patches: 15 });
    const later = now + (timeLeft(breaker, now) ?? 0) + 1;
    const calm = afterPatch(breaker, { now: later, patched: [field('theirs', 'ours')], isOwnDoing: true });
    expect([calm.breaker.trips, calm.tripping]).toEqual([0, undefined]);
  });

  it('names who flaps, and what', () => {
    let breaker: Breaker = UNBROKEN;
    let named: unknown;
    for (let n = 0; n < 11; n++) {
      const patched = [field('a', 'b', 'spec.x'), { ...field('a', 'b', 'spec.y'), handler: 'other' }];
      const result = afterPatch(breaker, {
        now: n / 100,
        patched: n % 2 ? patched.slice(0, 1) : patched,
        isOwnDoing: true,
      });
      breaker = result.breaker;
      named = result.tripping && { fields: result.tripping.fields, handlers: result.tripping.handlers };
    }
    expect(named).toEqual({ fields: ['spec.x'], handlers: ['h'] });
  });

  it('never permits an unbounded rate, whatever the gaps are', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 0.99, noNaN: true }), { minLength: 60, maxLength: 60 }), (gaps) => {
        let breaker: Breaker = UNBROKEN;
        let now = 0;
        for (const gap of gaps) {
          now += (timeLeft(breaker, now) ?? 0) + gap;
          breaker = afterPatch(breaker, { now, patched: [field('theirs', 'ours')], isOwnDoing: false }).breaker;
        }
        // 10 at once, then doubling pauses up to five minutes: fifty more take hours.
        expect(now).toBeGreaterThan(3600);
      }),
    );
  });
});
