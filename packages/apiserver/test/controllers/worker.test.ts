import { apiError } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { Worker } from '../../src/controllers/worker.js';

it('works on each key once, however many times it was enqueued before', async () => {
  const done: string[] = [];
  const clock = manualClock();
  const worker = new Worker(clock, async (key) => void done.push(key));
  for (const key of ['a', 'b', 'a']) worker.enqueue(key);
  expect(worker.isIdle).toBe(false);
  await clock.settle();
  expect(done).toEqual(['a', 'b']);
  expect(worker.isIdle).toBe(true);
});

it('works again on what is enqueued in the meantime', async () => {
  let count = 0;
  const clock = manualClock();
  const worker: Worker = new Worker(clock, async (key) => {
    count++;
    if (count < 3) worker.enqueue(key);
  });
  worker.enqueue('a');
  await clock.settle();
  expect(count).toBe(3);
});

it('tries failures again, later and later, and is idle meanwhile', async () => {
  const times: number[] = [];
  const clock = manualClock();
  const worker = new Worker(clock, async () => {
    times.push(Math.round(clock.now() * 10) / 10);
    if (times.length < 4) throw new Error('not yet');
  });
  worker.enqueue('a');
  await clock.settle();
  expect(worker.isIdle).toBe(true);
  await clock.advance(100);
  expect(times.map((time) => time - (times[0] ?? 0)).map((time) => Math.round(time * 10) / 10)).toEqual([
    0, 0.2, 0.6, 1.4,
  ]);
});

it.each([
  ['conflicts at once', 409, 2],
  ['what has gone never', 404, 1],
])('tries %s', async (_title, status, attempts) => {
  let count = 0;
  const clock = manualClock();
  const worker = new Worker(clock, async () => {
    count++;
    if (count === 1) throw apiError({ status, payload: undefined });
  });
  worker.enqueue('a');
  await clock.settle();
  expect(count).toBe(attempts);
});

it('does nothing after it is stopped', async () => {
  let count = 0;
  const clock = manualClock();
  const worker = new Worker(clock, async () => {
    count++;
    throw new Error('again');
  });
  worker.enqueue('a');
  await clock.settle();
  await worker.stop();
  worker.enqueue('b');
  await clock.advance(100);
  expect(count).toBe(1);
  expect(worker.isIdle).toBe(true);
});
