import { expect, it } from 'vitest';
import { fuzz } from './fuzzing.js';

it('whatever comes in is answered, and nothing is allowed that nobody was asked about', async () => {
  const { violations, statuses, calls } = await fuzz(1000, 20_200_101);
  expect(violations.slice(0, 3)).toEqual([]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(1000);
  // Most of it must be wrong in ways that are noticed, and some of it must be right: else nothing is tried.
  expect(calls).toBeGreaterThan(100);
  expect(statuses['400']).toBeGreaterThan(100);
}, 60_000);
