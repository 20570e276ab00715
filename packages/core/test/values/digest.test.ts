import { describe, expect, it } from 'vitest';
import { DIGEST_ONLY, digestOf, digestOnly, isDigestOnly } from '../../src/values/digest.js';
import { deepCopy } from '../../src/values/json.js';
import type { Essence } from '../../src/values/objects/essence.js';

describe('the digest of an essence', () => {
  it('is a SHA-256 of its canonical JSON', () => {
    // echo -n '{"a":[1,{"b":null,"c":"é"}],"d":true}' | sha256sum
    const essence: Essence = { d: true, a: [1, { c: 'é', b: null }] };
    expect(digestOf(essence)).toBe('ac477db5e6fa8865b4011640ae096f4aa145ab326b10b2e8129c17ecc139ef96');
  });

  it.each<[string, Essence, Essence]>([
    ['the order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['keys without values', { a: 1, b: undefined }, { a: 1 }],
    ['the sign of zero', { a: -0 }, { a: 0 }],
  ])('does not depend on %s', (_, one, other) => {
    expect(digestOf(one)).toBe(digestOf(other));
  });

  it.each<[string, Essence, Essence]>([
    ['values', { a: 1 }, { a: 2 }],
    ['types', { a: 1 }, { a: true }],
    ['texts that look like numbers', { a: 1 }, { a: '1' }],
    ['the order of items', { a: [1, 2] }, { a: [2, 1] }],
    ['nulls and absence', { a: null }, {}],
    ['empty lists and empty mappings', { a: [] }, { a: {} }],
    ['keys named as the prototype', JSON.parse('{"__proto__":{"a":1}}') as Essence, {}],
    ['where the keys end', { ab: 'c' }, { a: 'bc' }],
  ])('differs by %s', (_, one, other) => {
    expect(digestOf(one)).not.toBe(digestOf(other));
  });
});

describe('an essence known by its digest only', () => {
  const essence: Essence = { spec: { size: 1 } };
  const remains = digestOnly(digestOf(essence));

  it('has the digest of the original', () => {
    expect(digestOf(remains)).toBe(digestOf(essence));
    expect(digestOf(remains)).not.toBe(digestOf({ spec: { size: 2 } }));
  });

  it('is recognised, and ordinary essences are not taken for it', () => {
    expect(isDigestOnly(remains)).toBe(true);
    expect(isDigestOnly(essence)).toBe(false);
    expect(isDigestOnly({ [String(DIGEST_ONLY)]: 'abc', 'kopf-ts.essence.digest': 'abc' })).toBe(false);
  });

  it('is recognised across copies of the package', () => {
    const foreign = { [Symbol.for('kopf-ts.essence.digest')]: 'abc' };
    expect(isDigestOnly(foreign)).toBe(true);
    expect(digestOf(foreign)).toBe('abc');
  });

  it('shows no fields, and loses the mark when copied as plain data', () => {
    expect(Object.keys(remains)).toEqual([]);
    expect(isDigestOnly(deepCopy(remains))).toBe(false);
  });
});
