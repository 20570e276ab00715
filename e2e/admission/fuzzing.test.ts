/** Many more bad requests than the ordinary tests have time for; `npm run proof` has the time for all of them. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { fuzz } from '../../packages/webhooks/test/servers/fuzzing/fuzzing.js';

const COUNT = Number(process.env['KOPF_FUZZ_INPUTS'] ?? 6_000);
const SEED = process.env['KOPF_FUZZ_SEED'] ?? '4294967';
const MIB = 1024 * 1024;

it(`${COUNT} bad requests are answered, nothing is allowed by accident, and nothing of them is kept`, async () => {
  setFlagsFromString('--expose-gc');
  globalThis.gc ??= runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  const seed = SEED === 'random' ? Math.floor(Math.random() * 2 ** 32) : Number(SEED);
  const { violations, statuses, calls, heap } = await fuzz(COUNT, seed);
  console.log(
    `seed ${seed}; answers: ${JSON.stringify(statuses)}; ` +
      `heap after each quarter: ${heap.map((it) => (it / MIB).toFixed(1))} MiB`,
  );
  expect(violations.slice(0, 3)).toEqual([]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(COUNT);
  expect(calls).toBeGreaterThan(COUNT / 10);
  const [, second = 0, , last = 0] = heap;
  expect(last - second).toBeLessThan(2 * MIB);
}, 1_200_000);
