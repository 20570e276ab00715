/** Many more bad requests than the ordinary tests have time for. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { fuzz } from '../../../packages/webhooks/test/servers/fuzzing/fuzzing.js';

const COUNT = 20_000;
const MIB = 1024 * 1024;

it('20,000 bad requests are answered, nothing is allowed by accident, and nothing of them is kept', async () => {
  setFlagsFromString('--expose-gc');
  globalThis.gc ??= runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  const { violations, statuses, calls, heap } = await fuzz(COUNT, 4_294_967);
  expect(violations.slice(0, 3)).toEqual([]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(COUNT);
  expect(calls).toBeGreaterThan(COUNT / 10);
  const [, second = 0, , last = 0] = heap;
  expect(last - second).toBeLessThan(2 * MIB);
  console.log(
    `answers: ${JSON.stringify(statuses)}; heap after each quarter: ${heap.map((it) => (it / MIB).toFixed(1))} MiB`,
  );
}, 120_000);
