import { describe, expect, it } from 'vitest';
import {
  CLOCK_SKEW,
  describePeer,
  formatLastseen,
  judge,
  look,
  type Moment,
  parsePeer,
  recordOf,
} from '../../src/kopf/peers.js';

const utc = new Date('2020-12-31T23:59:59.123Z');
const moment = (now: number): Moment => ({ now, utc: new Date(utc.getTime() + now * 1000) });
const us = { identity: 'me', priority: 0 };
const recordAt = (seconds: number, fields = {}) => ({
  priority: 0,
  lifetime: 60,
  lastseen: formatLastseen(new Date(utc.getTime() + seconds * 1000)),
  ...fields,
});

describe('records', () => {
  it('are written in the order and in the form of Kopf', () => {
    const record = recordOf({ priority: 0, lifetime: 60, lastseen: utc });
    expect(JSON.stringify(record)).toBe('{"priority":0,"lifetime":60,"lastseen":"2020-12-31T23:59:59.123000+00:00"}');
  });

  it('have no fraction of a second if there is none, as in Python', () => {
    expect(formatLastseen(new Date('2020-12-31T23:59:59Z'))).toBe('2020-12-31T23:59:59+00:00');
  });

  it.each([
    [{}, { priority: 0, lifetime: 60, lastseen: utc }],
    [
      { priority: 5, lifetime: 10 },
      { priority: 5, lifetime: 10 },
    ],
    [
      { priority: '5', lifetime: '10' },
      { priority: 5, lifetime: 10 },
    ],
    [
      { priority: -1.5, lifetime: 10.7 },
      { priority: -1, lifetime: 10 },
    ],
    [{ lastseen: '2020-01-01T00:00:00' }, { lastseen: new Date('2020-01-01T00:00:00Z') }],
    [{ lastseen: '2020-01-01T00:00:00+02:00' }, { lastseen: new Date('2019-12-31T22:00:00Z') }],
    [{ lastseen: null }, { lastseen: utc }],
    [{ lastseen: 'rubbish' }, { lastseen: utc }],
    [{ unknown: 'field', priority: 3 }, { priority: 3 }],
  ])('are read leniently: %o', (record, expected) => {
    expect(parsePeer('id', record, utc)).toMatchObject({ identity: 'id', ...expected });
  });

  it.each([
    ['text'],
    [null],
    [[]],
    [{ priority: null }],
    [{ priority: 'high' }],
    [{ lifetime: {} }],
    [{ lifetime: '' }],
  ])('are none at all: %o', (record) => {
    expect(parsePeer('id', record, utc)).toBeUndefined();
  });

  it('are named among others, but do not hide them', () => {
    const { sightings, malformed } = look({ bad: 1, good: {} }, moment(0), undefined);
    expect(malformed).toEqual(['bad']);
    expect([...sightings.keys()]).toEqual(['good']);
  });

  it.each([undefined, null, 'text', []])('are not there in a status of %o', (status) => {
    expect(look(status, moment(0), undefined).sightings.size).toBe(0);
  });

  it('have a text form for the logs', () => {
    const peer = { identity: 'some-id', priority: 0, lifetime: 60, lastseen: utc };
    expect(describePeer(peer)).toBe(
      "<Peer some-id: priority=0, lifetime=60, lastseen='2020-12-31T23:59:59.123000+00:00'>",
    );
  });
});

describe('a peer', () => {
  it('is alive until its lifetime is over since the last change, and dead at that very moment', () => {
    const { sightings } = look({ other: recordAt(0) }, moment(0), new Map());
    expect(judge(sightings, us, 59).dead).toEqual([]);
    expect(judge(sightings, us, 60).dead.map(({ identity }) => identity)).toEqual(['other']);
  });

  it('has all its lifetime again with every change, whatever has changed', () => {
    const first = look({ other: recordAt(0) }, moment(0), undefined).sightings;
    const same = look({ other: recordAt(0) }, moment(50), first).sightings;
    expect(judge(same, us, 60).same).toEqual([]);
    const changed = look({ other: recordAt(-5000) }, moment(50), first).sightings;
    expect(judge(changed, us, 109).same).toHaveLength(1);
    expect(judge(changed, us, 110).same).toEqual([]);
  });

  it.each<[string, number, number]>([
    ['just now', 0, 60],
    ['in the future by its clock', 3600, 60],
    ['some minutes ago', -500, 60],
    ['as long ago as clocks may differ', -CLOCK_SKEW, 60],
    ['a little longer ago', -CLOCK_SKEW - 20, 40],
    ['so long ago that no clock is so wrong', -CLOCK_SKEW - 60, 0],
    ['hours ago', -7200, 0],
  ])('at the first look, written %s (%d s), has %d seconds to show a sign of life', (_when, written, seconds) => {
    const { sightings } = look({ other: recordAt(written) }, moment(0), undefined);
    expect(sightings.get('other')?.expiresAt).toBe(seconds);
  });

  it('of a long lifetime is not given all of it again by those who come later', () => {
    const { sightings } = look({ frozen: recordAt(-3000, { lifetime: 3600 }) }, moment(0), undefined);
    expect(sightings.get('frozen')?.expiresAt).toBe(600 + CLOCK_SKEW);
  });

  it('that comes while we look is alive, whatever its clock says', () => {
    const { sightings } = look({ other: recordAt(-100_000) }, moment(0), new Map());
    expect(sightings.get('other')?.expiresAt).toBe(60);
  });

  it('with no lifetime is dead at once', () => {
    const { sightings } = look({ other: recordAt(0, { lifetime: 0 }) }, moment(0), new Map());
    expect(judge(sightings, us, 0).dead).toHaveLength(1);
  });
});

describe('among peers', () => {
  const status = {
    me: recordAt(0, { priority: 99, lifetime: 5 }),
    low: recordAt(0, { priority: -1, lifetime: 10 }),
    same: recordAt(0, { lifetime: 20 }),
    high: recordAt(0, { priority: 1, lifetime: 30 }),
  };
  const { sightings } = look(status, moment(0), new Map());
  const names = (peers: readonly { identity: string }[]) => peers.map(({ identity }) => identity);

  it.each([
    [0, [], ['same'], ['high'], 20],
    [15, ['low'], ['same'], ['high'], 20],
    [25, ['low', 'same'], [], ['high'], 30],
    [30, ['low', 'same', 'high'], [], [], undefined],
  ])('at second %d', (now, dead, same, high, nextExpiry) => {
    const judgement = judge(sightings, us, now);
    expect(names(judgement.dead)).toEqual(dead);
    expect(names(judgement.same)).toEqual(same);
    expect(names(judgement.higher)).toEqual(high);
    expect(judgement.nextExpiry).toBe(nextExpiry);
  });
});
