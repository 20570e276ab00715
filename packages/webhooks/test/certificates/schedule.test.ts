import { describe, expect, it } from 'vitest';
import type { Authority, Leaf } from '../../src/certificates/making/authority.js';
import {
  alive,
  debutAmong,
  issuerAmong,
  needsLeaf,
  published,
  renewalTime,
  successionTime,
} from '../../src/certificates/schedule.js';

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;

/** Only the times matter here. */
function authority(id: string, times: Partial<Authority> & Pick<Authority, 'from' | 'until'>): Authority {
  return { publishedFrom: times.from, usedFrom: times.from, ...times, id } as Authority;
}

function leaf(issuer: string, from: number, until: number): Leaf {
  return { issuer, from, until, certificate: '', privateKey: '' };
}

const old = authority('old', { from: 0, until: 1200 });
const young = authority('young', { from: 600, until: 1800, publishedFrom: 700, usedFrom: 800 });
const both = [old, young];
const everybodyKnows = (): boolean => true;
const nobodyKnows = (): boolean => false;

describe('an authority', () => {
  it('needs a successor at a half of its life', () => {
    expect(successionTime([old], 100)).toBe(600);
    expect(successionTime(both, 601)).toBe(1200);
  });

  it('is needed at once if there is none, or none is valid', () => {
    expect(successionTime([], 0)).toBeLessThan(0);
    expect(successionTime([old], 1200)).toBeLessThan(0);
  });

  it('is published at seven twelfths of the life of the previous one, and used at two thirds', () => {
    expect(debutAmong([old], 600)).toEqual({ publishedFrom: 700, usedFrom: 800 });
  });

  it('shares what is left if it is made too late', () => {
    expect(debutAmong([old], 1080)).toEqual({ publishedFrom: 1100, usedFrom: 1120 });
  });

  it('is published and used at once if it takes over from nobody', () => {
    expect(debutAmong([], 50)).toEqual({ publishedFrom: 50, usedFrom: 50 });
    expect(debutAmong([old], 1300)).toEqual({ publishedFrom: 1300, usedFrom: 1300 });
  });

  it('is not valid when it has expired, or if the clock was wrong when it was made', () => {
    expect(alive([old], 1199)).toEqual([old]);
    expect(alive([old], 1200)).toEqual([]);
    expect(alive([old], -DAY)).toEqual([old]);
    expect(alive([old], -DAY - 1)).toEqual([]);
  });
});

describe('the authorities to trust', () => {
  it.each([
    { now: 650, ids: ['old'] },
    { now: 700, ids: ['old', 'young'] },
    { now: 1199, ids: ['old', 'young'] },
    { now: 1200, ids: ['young'] },
  ])('are $ids at $now', ({ now, ids }) => {
    expect(published(both, now, undefined).map(({ id }) => id)).toEqual(ids);
    expect(published(both.toReversed(), now, undefined).map(({ id }) => id)).toEqual(ids);
  });

  it('include the one in use, even before its time', () => {
    expect(published(both, 650, 'young').map(({ id }) => id)).toEqual(['old', 'young']);
  });

  it('are in the same order for everybody, also if they were made at the same time', () => {
    const [a, b] = [authority('a', old), authority('b', old)];
    expect(published([a, b], 1, undefined)).toEqual(published([b, a], 1, undefined));
  });
});

describe('the issuer', () => {
  it.each([
    { now: 750, serving: 'old', id: 'old' },
    { now: 800, serving: 'old', id: 'young' },
    { now: 800, serving: 'young', id: 'young' },
    { now: 1300, serving: 'old', id: 'young' },
  ])('is $id at $now if it was $serving before', ({ now, serving, id }) => {
    expect(issuerAmong(both, now, serving, everybodyKnows)?.id).toBe(id);
  });

  it('remains while the callers have not learned of the next one', () => {
    expect(issuerAmong(both, 1199, 'old', nobodyKnows)?.id).toBe('old');
  });

  it('is replaced at once when it has expired', () => {
    expect(issuerAmong(both, 1200, 'old', nobodyKnows)?.id).toBe('young');
  });

  it('is never followed by an older one', () => {
    expect(issuerAmong(both, 1000, 'young', (id) => id === 'old')?.id).toBe('young');
  });

  it('is the oldest one at first: others may be unknown to the callers', () => {
    expect(issuerAmong(both, 950, undefined, nobodyKnows)?.id).toBe('old');
  });

  it('is not the oldest one at first if there is too little left of it to start up and to announce the next one', () => {
    expect(issuerAmong(both, 970, undefined, nobodyKnows)?.id).toBe('young');
    expect(issuerAmong(both, 1150, undefined, nobodyKnows)?.id).toBe('young');
    expect(issuerAmong([old], 1150, undefined, nobodyKnows)?.id).toBe('old');
  });

  it('is nobody if all have expired', () => {
    expect(issuerAmong(both, 2000, 'young', everybodyKnows)).toBeUndefined();
  });
});

describe('a certificate of a server', () => {
  const issuer = authority('ca', { from: 0, until: 100 * SECOND });

  it('is renewed at two thirds of its life', () => {
    const current = leaf('ca', 0, 30 * SECOND);
    expect(renewalTime(current, issuer, 30)).toBe(20 * SECOND);
    expect(needsLeaf(current, issuer, 20 * SECOND - 1, 30)).toBe(false);
    expect(needsLeaf(current, issuer, 20 * SECOND, 30)).toBe(true);
  });

  it('is not renewed if it lives as long as its authority anyway', () => {
    const current = leaf('ca', 90 * SECOND, 100 * SECOND);
    expect(needsLeaf(current, issuer, 99 * SECOND, 30)).toBe(false);
  });

  it('is replaced if there is another authority, or if the clock was wrong when it was made', () => {
    expect(needsLeaf(leaf('other', 0, 30 * SECOND), issuer, 1, 30)).toBe(true);
    expect(needsLeaf(leaf('ca', 2 * DAY, 3 * DAY), issuer, 1, 30)).toBe(true);
    expect(needsLeaf(undefined, issuer, 1, 30)).toBe(true);
  });
});
