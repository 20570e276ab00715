import { describe, expect, it } from 'vitest';
import { tokenBucket } from '../../src/posting/token-bucket.js';

describe('a token bucket', () => {
  it('gives a burst, and then as many as have come back', () => {
    const bucket = tokenBucket({ burst: 3, perSecond: 0.5 });
    expect([bucket.take(0), bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([true, true, true, false]);
    expect(bucket.nextAt(0)).toBe(2);
    expect([bucket.take(1.9), bucket.take(2), bucket.take(2)]).toEqual([false, true, false]);
  });

  it('never has more than a burst', () => {
    const bucket = tokenBucket({ burst: 2, perSecond: 1 });
    bucket.take(0);
    expect(bucket.isFull(0.5)).toBe(false);
    expect(bucket.isFull(1)).toBe(true);
    bucket.giveBack();
    expect([bucket.take(1000), bucket.take(1000), bucket.take(1000)]).toEqual([true, true, false]);
  });

  it('gives one at the very moment it has promised, whatever the fractions', () => {
    const bucket = tokenBucket({ burst: 1, perSecond: 1 / 3 });
    let now = 0.1;
    for (let round = 0; round < 1000; round++) {
      expect(bucket.take(now)).toBe(true);
      now = bucket.nextAt(now);
    }
  });

  it('is not confused by a time that goes back', () => {
    const bucket = tokenBucket({ burst: 1, perSecond: 1 });
    bucket.take(10);
    expect(bucket.take(5)).toBe(false);
    expect(bucket.nextAt(5)).toBe(6);
  });
});
