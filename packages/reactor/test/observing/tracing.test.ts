import type { TracedWork, Tracing } from '@kopf-ts/core';
import { safeTracing } from '@kopf-ts/core/engine';
import { recordingLogger } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { operated } from '../support/operated.js';

function spans() {
  const works: TracedWork[] = [];
  const ended: string[] = [];
  const tracing: Tracing = {
    around(work, fn) {
      works.push(work);
      const result = fn();
      void Promise.resolve(result).then(() => ended.push(work.kind));
      return result;
    },
    headers: () => ({}),
  };
  return { works, ended, tracing };
}

it('is around each cycle of an object, and the calls are inside', async () => {
  const { works, ended, tracing } = spans();
  await using operator = await operated({ tracing });
  operator.registry.on.create('kopfexamples', () => {});
  await operator.start();
  await operator.create('one');
  const object = expect.objectContaining({ kind: 'KopfExample', namespace: 'default', name: 'one' });
  const handler = expect.objectContaining({ kind: 'change' });
  expect(works[0]).toEqual({ kind: 'cycle', object });
  expect(works).toContainEqual({ kind: 'call', object, handler, retry: 0 });
  // A call is over before the cycle that it is inside of.
  expect(ended.slice(0, 2)).toEqual(['call', 'cycle']);
});

it('harms nothing if it is broken, and made safe', async () => {
  const logger = recordingLogger();
  const around = (): never => {
    throw new Error('boo');
  };
  const tracing = safeTracing({ tracing: { around, headers: () => ({}) }, logger });
  await using operator = await operated({ tracing });
  let calls = 0;
  operator.registry.on.create('kopfexamples', () => {
    calls += 1;
  });
  await operator.start();
  await operator.create('one');
  expect(calls).toBe(1);
  expect(logger.messages('error')).toEqual([expect.stringContaining('has failed before a cycle: boo')]);
});
