import { describe, expect, it } from 'vitest';
import { formatTimestamp, parseTimestamp } from '../../src/values/timestamps.js';

describe('formatting of timestamps', () => {
  it.each([
    ['2020-12-31T23:59:59.123Z', '2020-12-31T23:59:59.123000+00:00'],
    ['2020-12-31T23:59:59Z', '2020-12-31T23:59:59.000000+00:00'],
    ['2021-01-01T01:59:59+02:00', '2020-12-31T23:59:59.000000+00:00'],
  ])('%s is written as %s', (date, text) => {
    expect(formatTimestamp(new Date(date))).toBe(text);
  });
});

describe('parsing of timestamps', () => {
  it.each([
    ['2020-12-31T23:59:59Z', '2020-12-31T23:59:59.000Z'],
    ['2020-12-31t23:59:59z', '2020-12-31T23:59:59.000Z'],
    ['2020-12-31 23:59:59', '2020-12-31T23:59:59.000Z'],
    ['2020-12-31T23:59', '2020-12-31T23:59:00.000Z'],
    ['2020-12-31', '2020-12-31T00:00:00.000Z'],
    ['2020-12-31T23:59:59.123456+00:00', '2020-12-31T23:59:59.123Z'],
    ['2020-12-31T23:59:59.1Z', '2020-12-31T23:59:59.100Z'],
    ['2020-12-31T23:59:59,987654321Z', '2020-12-31T23:59:59.987Z'],
    ['2021-03-01T00:30:00+01:00', '2021-02-28T23:30:00.000Z'],
    ['2021-01-01T01:29:59+0530', '2020-12-31T19:59:59.000Z'],
    ['2020-12-31T18:59:59-05', '2020-12-31T23:59:59.000Z'],
    ['2020-02-29T00:00:00Z', '2020-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(expected);
  });

  it('takes a time without an offset for UTC', () => {
    expect(parseTimestamp('2020-06-01T12:00:00.5')).toEqual(new Date('2020-06-01T12:00:00.500Z'));
  });

  it.each([
    '',
    'yesterday',
    '2021-02-29T00:00:00Z',
    '2020-13-01',
    '2020-00-10',
    '2020-01-32',
    '2020-01-01T24:00:00Z',
    '2020-01-01T00:60:00Z',
    '2020-01-01T00:00:61Z',
    '2020-01-01T00:00:00+24:00',
    '20200101T000000Z',
    '2020-01-01Z',
  ])('%j is not a timestamp', (text) => {
    expect(parseTimestamp(text)).toBe(undefined);
  });

  it('reads back what is written', () => {
    const date = new Date('2020-12-31T23:59:59.123Z');
    expect(parseTimestamp(formatTimestamp(date))).toEqual(date);
  });
});
