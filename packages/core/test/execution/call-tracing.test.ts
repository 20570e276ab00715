import { annotationsProgressStorage } from '@kopf-ts/storage';
import { manualClock } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { execute, executeAll } from '../../src/execution/execute.js';
import type { HandlerState } from '../../src/execution/progress/handler-state.js';
import { State } from '../../src/execution/progress/state.js';
import { subhandler } from '../../src/execution/subhandlers/subhandlers.js';
import type { AnyHandler } from '../../src/intents/handlers.js';
import type { TracedWork, Tracing } from '../../src/seams/inspection/tracing.js';
import { settings } from '../../src/settings.js';
import { changeHandler, changingCause } from './helpers.js';

function spans() {
  const seen: string[] = [];
  const works: TracedWork[] = [];
  const tracing: Tracing = {
    around(work, fn) {
      works.push(work);
      const title = work.kind === 'call' ? work.handler.id : work.kind;
      seen.push(`<${title}>`);
      const result = fn();
      const end = (): void => void seen.push(`</${title}>`);
      if (result instanceof Promise) void result.then(end, end);
      else end();
      return result;
    },
    headers: () => ({}),
  };
  return { seen, works, tracing };
}

async function once(handler: AnyHandler, tracing: Tracing) {
  const clock = manualClock();
  const state = State.fromScratch(clock).withHandlers([handler]).get(handler.id) as HandlerState;
  return await execute(handler, state, { cause: changingCause(), settings: settings(), clock, tracing });
}

it('is around the call of the function, with the handler and the object', async () => {
  const { seen, works, tracing } = spans();
  const outcome = await once(changeHandler({ id: 'fn', fn: () => void seen.push('fn') }), tracing);
  expect(outcome).toMatchObject({ final: true });
  expect(seen).toEqual(['<fn>', 'fn', '</fn>']);
  expect(works).toEqual([
    {
      kind: 'call',
      handler: { id: 'fn', kind: 'change' },
      object: expect.objectContaining({ name: 'name1' }),
      retry: 0,
    },
  ]);
});

it('is around errors as well, and changes nothing in them', async () => {
  const { seen, tracing } = spans();
  const fn = async (): Promise<never> => {
    seen.push('fn');
    await Promise.resolve();
    throw new Error('boo');
  };
  expect(await once(changeHandler({ id: 'fn', fn }), tracing)).toMatchObject({
    final: false,
    error: { message: 'boo' },
  });
  expect(seen).toEqual(['<fn>', 'fn', '</fn>']);
});

it('has the calls of sub-handlers inside of the call of their parent', async () => {
  const { seen, tracing } = spans();
  const clock = manualClock();
  const fn = (): void => {
    seen.push('fn');
    subhandler('sub', () => void seen.push('sub'));
  };
  const handlers = [changeHandler({ id: 'fn', fn }), changeHandler({ id: 'next', fn: () => void seen.push('next') })];
  const state = State.fromScratch(clock).withHandlers(handlers);
  const all = settings({ persistence: { progressStorage: annotationsProgressStorage() } });
  const options = { cause: changingCause(), settings: all, clock, tracing, handlers, state };
  await executeAll({ ...options, lifecycle: (due) => due });
  expect(seen).toEqual(['<fn>', 'fn', '<fn/sub>', 'sub', '</fn/sub>', '</fn>', '<next>', 'next', '</next>']);
});
