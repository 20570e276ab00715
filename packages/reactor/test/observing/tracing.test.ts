import { AsyncLocalStorage } from 'node:async_hooks';
import { TemporaryError, type TracedWork, type Tracing } from '@kopf-ts/core';
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

it('does not go on in what is only begun in it: other cycles, timers', async () => {
  const around = new AsyncLocalStorage<readonly string[]>();
  const nested: string[] = [];
  const tracing: Tracing = {
    around(work, fn) {
      const path = [...(around.getStore() ?? []), work.kind === 'call' ? work.handler.id : work.kind];
      nested.push(path.join('>'));
      return around.run(path, fn);
    },
    headers: () => ({}),
  };
  await using operator = await operated({ tracing });
  operator.registry.on.create('kopfexamples', { id: 'c' }, ({ retry }) => {
    if (retry < 3) throw new TemporaryError('not yet', { delay: 1 });
  });
  operator.registry.timer('kopfexamples', { id: 't', interval: 1 }, ({ patch, retry }) => {
    patch.status['ticked'] = `${retry}`;
  });
  await operator.start();
  for (const name of ['one', 'two']) await operator.create(name);
  await operator.advance(10);
  expect(new Set(nested)).toEqual(new Set(['cycle', 'cycle>c', 't']));
});

it('is told what the creator of an object has left on it, and how old the object is', async () => {
  const { works, tracing } = spans();
  await using operator = await operated({ tracing });
  operator.registry.on.event('kopfexamples', () => {});
  await operator.start();
  const annotations = { 'kopf.zalando.org/traceparent': 'left there' };
  await operator.create('one', { metadata: { annotations } });
  await operator.create('two');
  await operator.advance(60);
  await operator.edit('one', { spec: { field: 2 } });
  const origins = works.flatMap((work) => (work.kind === 'cycle' ? [[work.object.name, work.origin]] : []));
  const [first, ...others] = origins;
  expect(first).toEqual(['one', { mark: 'left there', age: expect.toSatisfy((age: number) => age >= 0 && age < 2) }]);
  expect(others).toContainEqual(['two', undefined]);
  expect(others.at(-1)).toEqual(['one', { mark: 'left there', age: expect.toSatisfy((age: number) => age >= 59) }]);
});
