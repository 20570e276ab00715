import { describe, expect, it } from 'vitest';
import { freeSince, heldSpec, type Lease, observeLease, releasedSpec } from '../../src/lease/lease-record.js';

const utc = new Date('2020-12-31T23:59:59.123Z');
const now = '2020-12-31T23:59:59.123000Z';
const before = '2020-01-01T00:00:00.000000Z';
const spec = {
  holderIdentity: 'one',
  leaseDurationSeconds: 15,
  acquireTime: before,
  renewTime: before,
  leaseTransitions: 3,
};
const lease = (fields = {}, uid = 'uid1'): Lease => ({ metadata: { uid }, spec: { ...spec, ...fields } });

describe('an observed lease', () => {
  const observed = observeLease(lease(), 100, undefined);

  it('is as it is since it was first seen so', () => {
    expect(observeLease(lease(), 110, observed).since).toBe(100);
  });

  it.each([
    ['renewed', lease({ renewTime: now })],
    ['of another', lease({ holderIdentity: 'two' })],
    ['a new one of the same name', lease({}, 'uid2')],
  ])('begins anew if it is %s', (_how, changed) => {
    expect(observeLease(changed, 110, observed).since).toBe(110);
  });

  it('is free after its own duration, or at once if nobody holds it', () => {
    expect(freeSince(observed)).toBe(115);
    expect(freeSince(observeLease(lease({ leaseDurationSeconds: 30 }), 100, undefined))).toBe(130);
    expect(freeSince(observeLease(lease({ leaseDurationSeconds: null }), 100, undefined))).toBe(100);
    for (const holderIdentity of ['', null, undefined])
      expect(freeSince(observeLease(lease({ holderIdentity }), 100, undefined))).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('the lease that we hold', () => {
  const us = { identity: 'one', leaseDuration: 20, utc };

  it('is a new one', () => {
    const expected = {
      holderIdentity: 'one',
      leaseDurationSeconds: 20,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    };
    expect(heldSpec(undefined, us)).toEqual(expected);
  });

  it('is still ours: only renewed', () => {
    expect(heldSpec(spec, us)).toEqual({ ...spec, leaseDurationSeconds: 20, renewTime: now });
  });

  it('was of another: a transition', () => {
    expect(heldSpec(spec, { ...us, identity: 'two' })).toMatchObject({ acquireTime: now, leaseTransitions: 4 });
  });

  it('is released with the shortest duration, and keeps what is not ours', () => {
    expect(releasedSpec({ ...spec, strategy: 'x' } as typeof spec, utc)).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 3,
      strategy: 'x',
    });
  });
});
