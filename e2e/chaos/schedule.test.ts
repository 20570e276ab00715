import { describe, expect, it } from 'vitest';
import type { LineRequest } from './line.js';
import { schedule } from './schedule.js';

const write: LineRequest = { method: 'PATCH', path: '/', isWatch: false, isWrite: true };
const watch: LineRequest = { method: 'GET', path: '/', isWatch: true, isWrite: false };

/** What 2,000 requests would meet, spread over the time. */
const fatesOf = (seed: number, seconds: number, request: LineRequest) => {
  const { fateOf } = schedule({ seed, seconds });
  return Array.from({ length: 2_000 }, (_, index) => fateOf(request, (index * seconds * 1000) / 2_000));
};

describe('the schedule of faults', () => {
  it.each([1, 77, 20_260_704])('is the same for the same seed: %i', (seed) => {
    expect(schedule({ seed, seconds: 60 }).faults).toEqual(schedule({ seed, seconds: 60 }).faults);
    expect(fatesOf(seed, 60, write)).toEqual(fatesOf(seed, 60, write));
    expect(schedule({ seed, seconds: 60 }).faults).not.toEqual(schedule({ seed: seed + 1, seconds: 60 }).faults);
  });

  it.each([3, 4, 5, 20_260_704])('has every sort of faults in a minute, and in order: %i', (seed) => {
    const { faults } = schedule({ seed, seconds: 60 });
    expect([...new Set(faults.map(({ fault }) => fault.kind))].sort()).toEqual([
      'break all connections',
      'compact etcd',
      'freeze all connections',
      'kill the operator',
      'restart the API server',
      'stop the operator for a while',
    ]);
    const moments = faults.map(({ at }) => at);
    expect(moments).toEqual([...moments].sort((one, two) => one - two));
    expect(moments.at(-1)).toBeLessThan(60_000);
  });

  it.each([write, watch])('has every sort of faults of requests, and lets most of them through: %j', (request) => {
    const kinds = fatesOf(8, 120, request).map(({ kind }) => kind);
    expect([...new Set(kinds)].sort()).toEqual(['freeze', 'lose the answer', 'pass', 'refuse', 'reset', 'trickle']);
    expect(kinds.filter((kind) => kind === 'pass').length).toBeGreaterThan(1_200);
  });
});
