import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  newSetSize,
  oldSetSizes,
  proportionalSizes,
  type Rollout,
  rolloutOf,
} from '../../src/simulation/workloads/rollouts.js';

const small = fc.integer({ min: 0, max: 8 });
const rollouts = fc
  .record({ replicas: small, maxSurge: small, maxUnavailable: small })
  .map(({ replicas, ...strategy }) => rolloutOf(replicas, strategy));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('limits', () => {
  it.each([
    [10, '25%', '25%', { maxSurge: 3, maxUnavailable: 2 }],
    [3, '25%', '25%', { maxSurge: 1, maxUnavailable: 0 }],
    [3, 0, '25%', { maxSurge: 0, maxUnavailable: 1 }],
    [3, 2, 1, { maxSurge: 2, maxUnavailable: 1 }],
    [0, '50%', '50%', { maxSurge: 0, maxUnavailable: 1 }],
  ])('of %d replicas with a surge of %s and %s unavailable', (replicas, maxSurge, maxUnavailable, expected) => {
    expect(rolloutOf(replicas, { maxSurge, maxUnavailable })).toEqual({ replicas, ...expected });
  });
});

describe('a rolling update', () => {
  interface Simulated {
    readonly size: number;
    readonly available: number;
  }
  /** The pods of a set become available one by one, or not; those that are not go first. */
  const resized = ({ available }: Simulated, size: number): Simulated => ({
    size,
    available: Math.min(available, size),
  });

  /** One step as the controller makes it: the new set grows, or else the old ones shrink. */
  function step(rollout: Rollout, [fresh, ...old]: readonly [Simulated, ...Simulated[]]): [Simulated, ...Simulated[]] {
    const sizes = old.map(({ size, available }) => ({ replicas: size, available }));
    const size = newSetSize(rollout, fresh.size, sizes);
    if (size !== fresh.size) return [resized(fresh, size), ...old];
    const next = oldSetSizes(rollout, { replicas: fresh.size, available: fresh.available }, sizes);
    return [fresh, ...old.map((set, index) => resized(set, next[index] as number))];
  }

  it('never has too many pods, never deletes what is needed, and comes to its end', () => {
    const olds = fc.array(fc.tuple(small, small), { minLength: 1, maxLength: 3 });
    const chances = fc.infiniteStream(fc.boolean());
    fc.assert(
      fc.property(rollouts, olds, chances, (rollout, given, isLucky) => {
        const { replicas, maxSurge, maxUnavailable } = rollout;
        const minAvailable = replicas - Math.min(maxUnavailable, replicas);
        let sets: [Simulated, ...Simulated[]] = [
          { size: 0, available: 0 },
          ...given.map(([size, available]) => ({ size, available: Math.min(size, available) })),
        ];
        const availableOf = (all: readonly Simulated[]): number => sum(all.map(({ available }) => available));
        for (let turn = 0; turn < 400; turn++) {
          const before = sets;
          sets = step(rollout, sets);
          const [total, was] = [sets, before].map((all) => sum(all.map(({ size }) => size))) as [number, number];
          expect(total).toBeLessThanOrEqual(Math.max(was, replicas + maxSurge));
          // What was available is given up only as long as enough is left.
          if (availableOf(sets) < availableOf(before)) expect(availableOf(sets)).toBeGreaterThanOrEqual(minAvailable);
          const [fresh, ...old] = sets;
          const isGrowing = fresh.available < fresh.size && (turn > 200 || isLucky.next().value === true);
          sets = [{ ...fresh, available: fresh.available + (isGrowing ? 1 : 0) }, ...old];
        }
        const [fresh, ...old] = sets;
        expect(fresh).toEqual({ size: replicas, available: replicas });
        expect(sum(old.map(({ size }) => size))).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe('scaling in the midst of a rollout', () => {
  it('gives all sets their shares, and keeps to the limits', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(rollouts, sizes, (rollout, given) => {
        const total = sum(given);
        const inOrder = [...given].sort((a, b) => b - a).map((replicas) => ({ replicas, maxReplicas: total }));
        const next = proportionalSizes(rollout, inOrder, total);
        expect(next.every((size) => size >= 0)).toBe(true);
        expect(sum(next)).toBe(rollout.replicas === 0 ? 0 : rollout.replicas + rollout.maxSurge);
      }),
    );
  });

  it('is like this: 10 of 15 more go to where the most are', () => {
    const rollout = { replicas: 15, maxSurge: 3, maxUnavailable: 2 };
    const sets = [
      { replicas: 8, maxReplicas: 13 },
      { replicas: 5, maxReplicas: 13 },
    ];
    expect(proportionalSizes(rollout, sets, 13)).toEqual([11, 7]);
  });
});
