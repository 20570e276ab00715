import { annotationsProgressStorage } from '@kopf-ts/storage';
import { manualClock, type RecordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, vi } from 'vitest';
import { ContextError, PermanentError, RegistrationError, TemporaryError } from '../../src/errors.js';
import { runInContext } from '../../src/execution/context.js';
import { executeAll, execute as executeHandler } from '../../src/execution/execute.js';
import { allAtOnce, asap, type LifeCycle } from '../../src/execution/lifecycles.js';
import type { HandlerState } from '../../src/execution/progress/handler-state.js';
import { State } from '../../src/execution/progress/state.js';
import { execute, register, subhandler } from '../../src/execution/subhandlers/subhandlers.js';
import type { ChangingCause } from '../../src/intents/causes.js';
import { createChangeHandlers } from '../../src/intents/handler-set.js';
import type { ChangeHandler, HandlerFn } from '../../src/intents/handlers.js';
import { settings } from '../../src/settings.js';
import { changeHandler, changingCause, watchingCause } from './helpers.js';

interface RunOptions {
  readonly parent?: Partial<ChangeHandler>;
  readonly cause?: ChangingCause & { logger: RecordingLogger };
  readonly lifecycle?: LifeCycle;
  readonly clock?: ReturnType<typeof manualClock>;
}

/** One call of a parent handler named `p`. */
async function runParent(fn: HandlerFn, options: RunOptions = {}) {
  const { cause = changingCause(), lifecycle = allAtOnce, clock = manualClock() } = options;
  const handler = changeHandler({ id: 'p', fn, ...options.parent });
  const state = State.fromScratch(clock).withHandlers([handler]).get('p') as HandlerState;
  const all = settings({ persistence: { progressStorage: annotationsProgressStorage(), compat: 'kopf' } });
  const outcome = await executeHandler(handler, state, { cause, settings: all, clock, lifecycle });
  return { outcome, cause, patch: cause.patch, messages: cause.logger.messages(), clock };
}

describe('Sub-handlers', () => {
  it('are executed after their parent, in its lifecycle, with ids of both', async () => {
    const calls: string[] = [];
    const { outcome, messages } = await runParent(() => {
      subhandler('s1', () => void calls.push('s1'));
      subhandler('s2', () => void calls.push('s2'));
      calls.push('p');
      return 'result';
    });
    expect(calls).toEqual(['p', 's1', 's2']);
    expect(outcome).toEqual({ final: true, result: 'result', subrefs: ['p/s1', 'p/s2'] });
    expect(messages).toEqual([
      "Handler 'p' is invoked.",
      "Handler 'p/s1' is invoked.",
      "Handler 'p/s1' succeeded.",
      "Handler 'p/s2' is invoked.",
      "Handler 'p/s2' succeeded.",
      "Handler 'p' succeeded.",
    ]);
  });

  it('two levels deep are executed in one cycle, and all their ids are known to all above', async () => {
    const { outcome, cause, patch, messages } = await runParent(function p() {
      for (const one of ['a', 'b']) {
        subhandler(one, async () => {
          await Promise.resolve();
          for (const two of ['x', 'y']) subhandler(two, () => `${one}${two}`);
        });
      }
    });
    expect(messages.filter((text) => text.endsWith('succeeded.'))).toEqual([
      "Handler 'p/a/x' succeeded.",
      "Handler 'p/a/y' succeeded.",
      "Handler 'p/a' succeeded.",
      "Handler 'p/b/x' succeeded.",
      "Handler 'p/b/y' succeeded.",
      "Handler 'p/b' succeeded.",
      "Handler 'p' succeeded.",
    ]);
    expect(outcome.subrefs).toEqual(['p/a', 'p/a/x', 'p/a/y', 'p/b', 'p/b/x', 'p/b/y']);
    expect(patch.merge['status']).toEqual({ 'p/a/x': 'ax', 'p/a/y': 'ay', 'p/b/x': 'bx', 'p/b/y': 'by' });
    expect(cause.patch.metadata.annotations['kopf.zalando.org/p.a']).toContain('"subrefs":["p/a/x","p/a/y"]');
  });

  it('that are not all done make the parent be called again', async () => {
    const { outcome, cause } = await runParent(() => {
      subhandler('ok', () => 'fine');
      subhandler('slow', () => Promise.reject(new TemporaryError('later', { delay: 5 })));
      return 'unseen';
    });
    expect(outcome).toMatchObject({ final: false, delay: 5, subrefs: ['p/ok', 'p/slow'] });
    const last = cause.logger.lines.at(-1);
    expect([last?.level, last?.message]).toEqual([
      'debug',
      "Handler 'p' has unfinished sub-handlers. Will retry soon.",
    ]);
    expect(cause.patch.merge['status']).toEqual({ 'p/ok': 'fine' });
  });

  it('that are left by the lifecycle for the next time also do', async () => {
    const second = vi.fn();
    const { outcome } = await runParent(
      () => {
        subhandler('s1', () => {});
        subhandler('s2', second);
      },
      { lifecycle: asap },
    );
    expect(outcome).toMatchObject({ final: false, delay: 0 });
    expect(second).not.toHaveBeenCalled();
  });

  it('that have failed for good are done, and the parent succeeds', async () => {
    const { outcome } = await runParent(() => {
      subhandler('s1', () => Promise.reject(new PermanentError('never')));
      return 'still fine';
    });
    expect(outcome).toMatchObject({ final: true, result: 'still fine' });
  });

  it('are not executed if the parent fails', async () => {
    const sub = vi.fn();
    const { outcome } = await runParent(() => {
      subhandler('s1', sub);
      throw new PermanentError('boo');
    });
    expect(outcome).toMatchObject({ final: true, error: { message: 'boo' } });
    expect(sub).not.toHaveBeenCalled();
  });

  it.each([
    ['subhandler(fn)', (fn: HandlerFn) => subhandler(fn), 'named'],
    ['subhandler(id, fn)', (fn: HandlerFn) => subhandler('i', fn), 'i'],
    ['subhandler(options, fn)', (fn: HandlerFn) => subhandler({ id: 'i' }, fn), 'i'],
    ['subhandler(id, options, fn)', (fn: HandlerFn) => subhandler('i', { retries: 1 }, fn), 'i'],
    ['subhandler(id)(fn)', (fn: HandlerFn) => subhandler('i')(fn), 'i'],
    ['subhandler(options)(fn)', (fn: HandlerFn) => subhandler({ id: 'i' })(fn), 'i'],
    ['subhandler()(fn)', (fn: HandlerFn) => subhandler()(fn), 'named'],
    ['register(fn)', (fn: HandlerFn) => register(fn), 'named'],
    ['register(fn, options)', (fn: HandlerFn) => register(fn, { id: 'i' }), 'i'],
  ])('can be declared as %s, which gives the function back', async (_form, declare, id) => {
    const seen: unknown[] = [];
    const named = () => {};
    const { outcome } = await runParent(() => void seen.push(declare(named)));
    expect(outcome).toMatchObject({ final: true, subrefs: [`p/${id}`] });
    expect(seen).toEqual([named]);
  });

  it('have the options of handlers: param, limits, filters', async () => {
    const called = vi.fn();
    const skipped = vi.fn();
    const { outcome, messages } = await runParent(() => {
      subhandler<object, string>('param', { param: 'abc' }, called);
      subhandler('retries', { retries: 1 }, () => Promise.reject(new Error('boo')));
      subhandler('labels', { labels: { l: 'other' } }, skipped);
      subhandler('when', { when: () => false }, skipped);
      subhandler('field', { field: 'spec.field', value: 'value' }, called);
    });
    expect(outcome).toMatchObject({ final: true });
    expect(called.mock.calls.map(([{ param, new: value }]) => [param, value])).toEqual([
      ['abc', { spec: { field: 'value' } }],
      [undefined, 'value'],
    ]);
    expect(skipped).not.toHaveBeenCalled();
    expect(messages).toContainEqual(
      expect.stringContaining("'p/retries' failed with an exception and will stop now (it would exceed 1"),
    );
  });

  it('of a parent with a field have their fields relative to it', async () => {
    const [relative, absolute] = [vi.fn(), vi.fn()];
    const cause = changingCause({
      old: undefined,
      new: { spec: { a: { b: 1 } } },
      diff: [['add', [], undefined, { spec: { a: { b: 1 } } }]],
    });
    await runParent(
      () => {
        subhandler('relative', { field: 'b' }, relative);
        subhandler('absolute', { field: 'spec.a.b' }, absolute);
      },
      { cause, parent: { field: ['spec', 'a'] } },
    );
    expect(relative.mock.calls[0]?.[0]).toMatchObject({ new: 1, diff: [['add', [], undefined, 1]] });
    expect(absolute).not.toHaveBeenCalled();
  });

  it.each([
    [true, 0],
    [false, 1],
  ])('inherit from the parent whether their fields need a change: %s', async (fieldNeedsChange, times) => {
    const sub = vi.fn();
    const same = { spec: { field: 'value' } };
    await runParent(() => void subhandler('s', { field: 'spec.field' }, sub), {
      cause: changingCause({ reason: 'update', old: same, new: same }),
      parent: { fieldNeedsChange },
    });
    expect(sub).toHaveBeenCalledTimes(times);
  });

  it('with the same ids are refused, which fails the parent with both of them named', async () => {
    const twice = vi.fn();
    const { outcome, cause } = await runParent(() => {
      subhandler('same', function one() {
        twice();
      });
      subhandler('same', () => twice());
    });
    expect(outcome).toMatchObject({ final: false, delay: 60, error: { code: 'KOPF_DUPLICATE_ID' } });
    expect(cause.logger.messages('error')).toEqual([
      "Handler 'p' failed with an exception and will try again in 60 seconds: Handler 'p' registers sub-handlers with " +
        "duplicate ids: 'p/same' is for the function 'one' and for a nameless function. Give them different ids.",
    ]);
    expect(twice).not.toHaveBeenCalled();
  });

  it('that end too late for their parent leave no traces in the patch', async () => {
    let finish: () => void = () => {};
    const clock = manualClock();
    const run = runParent(() => void subhandler('slow', () => new Promise<void>((resolve) => (finish = resolve))), {
      clock,
      parent: { timeout: 10 },
    });
    await clock.advance(10);
    const { outcome, cause } = await run;
    expect(outcome).toMatchObject({ final: true, subrefs: ['p/slow'] });
    const before = structuredClone(cause.patch.merge);
    finish();
    await clock.settle();
    expect(cause.patch.merge).toEqual(before);
  });
});

describe('execute()', () => {
  it('executes what is declared so far, once; what stands after it is reached when all is done', async () => {
    const calls: string[] = [];
    const { outcome } = await runParent(async () => {
      subhandler('s1', () => void calls.push('s1'));
      await execute();
      calls.push('after');
      await execute();
    });
    expect(calls).toEqual(['s1', 'after']);
    expect(outcome).toMatchObject({ final: true });
  });

  it('does not go on in the parent while something is left', async () => {
    const reached = vi.fn();
    const { outcome } = await runParent(async () => {
      subhandler('s1', () => Promise.reject(new TemporaryError('later', { delay: 7 })));
      await execute();
      reached();
    });
    expect(outcome).toMatchObject({ final: false, delay: 7 });
    expect(reached).not.toHaveBeenCalled();
  });

  it.each([
    ['a list of functions', (fn: HandlerFn) => execute([fn]), ['p/named']],
    ['functions by ids', (fn: HandlerFn) => execute({ x: fn, y: fn }), ['p/x', 'p/y']],
    ['functions by ids that look like options', (fn: HandlerFn) => execute({ handlers: fn }), ['p/handlers']],
    ['functions in options', (fn: HandlerFn) => execute({ fns: { lifecycle: fn } }), ['p/lifecycle']],
    ['ready handlers', (fn: HandlerFn) => execute({ handlers: [changeHandler({ id: 'p/z', fn })] }), ['p/z']],
  ])('executes what it is given: %s', async (_what, call, ids) => {
    const named = vi.fn();
    Object.defineProperty(named, 'name', { value: 'named' });
    const { outcome } = await runParent(async () => await call(named as HandlerFn));
    expect(outcome).toMatchObject({ final: true, subrefs: ids });
    expect(named).toHaveBeenCalledTimes(ids.length);
  });

  it('executes change handlers of a registry', async () => {
    const changing = createChangeHandlers();
    const fn = vi.fn();
    changing.add(changeHandler({ id: 'p/r', fn, reason: 'create' }));
    changing.add(changeHandler({ id: 'p/other', fn, reason: 'delete' }));
    await runParent(async () => await execute({ registry: { handlers: { changing } } }));
    expect(fn).toHaveBeenCalledOnce();
  });

  it('uses the given lifecycle and cause instead of those of the parent', async () => {
    const calls: unknown[] = [];
    const note: HandlerFn = ({ reason }) => void calls.push(reason);
    const { outcome } = await runParent(
      async () =>
        await execute({ fns: { x: note, y: note }, lifecycle: asap, cause: changingCause({ reason: 'update' }) }),
    );
    expect(calls).toEqual(['update']);
    expect(outcome).toMatchObject({ final: false });
  });

  it('does not take the place of what is declared, if given something else', async () => {
    const [given, declared] = [vi.fn(), vi.fn()];
    await runParent(async () => {
      subhandler('declared', declared);
      await execute({ given });
    });
    expect(given).toHaveBeenCalledOnce();
    expect(declared).toHaveBeenCalledOnce();
  });

  it('holds the parent even if the parent does not wait for it', async () => {
    const { outcome } = await runParent(() => {
      void execute({ x: () => Promise.reject(new TemporaryError('later', { delay: 3 })) });
    });
    expect(outcome).toMatchObject({ final: false, delay: 3, subrefs: ['p/x'] });
  });

  it('takes only one source of handlers', async () => {
    const { outcome } = await runParent(async () => await execute({ fns: [], handlers: [] }), {
      parent: { errors: 'permanent' },
    });
    expect(outcome).toMatchObject({
      error: { message: expect.stringContaining('Only one of fns, handlers, registry') },
    });
  });

  it('tells if there is no place for the progress', async () => {
    const clock = manualClock();
    const handler = changeHandler({ id: 'p', errors: 'permanent', fn: () => void subhandler('s', () => {}) });
    const state = State.fromScratch(clock).withHandlers([handler]);
    const common = { clock, settings: settings(), cause: changingCause() };
    const outcomes = await executeAll({ ...common, handlers: [handler], state });
    expect(outcomes.get('p')).toMatchObject({ error: { code: 'KOPF_NO_STORAGE' } });
  });
});

describe('Sub-handlers are refused', () => {
  it.each([
    ['subhandler()', () => subhandler('x', () => {})],
    ['register()', () => register(function x() {})],
  ])('by %s outside of any handler', (_what, call) => {
    expect(call).toThrow(ContextError);
    expect(call).toThrow('Call it from one');
  });

  it('by execute() outside of any handler', async () => {
    await expect(execute([])).rejects.toThrow(ContextError);
  });

  it('in handlers of other kinds', async () => {
    const handler = { ...changeHandler({ id: 'w' }), kind: 'watch' } as never;
    const inside = (fn: () => unknown) => runInContext({ handler, cause: watchingCause() }, fn);
    const text = 'Sub-handlers are only supported for resource-changing handlers.';
    expect(() => inside(() => subhandler('x', () => {}))).toThrow(RegistrationError);
    expect(() => inside(() => subhandler('x', () => {}))).toThrow(text);
    await expect(inside(() => execute([]))).rejects.toThrow(text);
  });

  it.each([
    ['an unknown option', { retires: 3 }, 'there is no option "retires"'],
    ['value without a field', { value: 'x' }, 'without a mandatory field'],
    ['old without a field', { old: 'x' }, 'without a mandatory field'],
    ['value with old', { field: 'f', value: 'x', old: 'y' }, 'Either value or old/new'],
    ['a null in labels', { labels: { x: null } }, 'PRESENT or ABSENT'],
    ['a wrong mode', { errors: 'forgiven' }, 'errors must be one of'],
  ])('with %s', async (_what, options, text) => {
    const { outcome } = await runParent(() => void subhandler('s', options as never, () => {}), {
      parent: { errors: 'permanent' },
    });
    const { error } = outcome as { error: Error };
    expect(error).toBeInstanceOf(RegistrationError);
    expect(error.message).toContain(text);
    expect(error.message).toContain("Handler 'p'");
  });

  it('without an id and a name', async () => {
    const { outcome } = await runParent(() => void subhandler(() => {}), { parent: { errors: 'permanent' } });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('needs an id') } });
  });

  it('by register() with filters by fields', async () => {
    const { outcome } = await runParent(() => void register(function x() {}, { field: 'x' } as never), {
      parent: { errors: 'permanent' },
    });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('there is no option "field"') } });
  });

  it.each([
    [{ reason: 'create' }, false],
    [{ reason: 'delete' }, false],
    [{ initial: true }, false],
    [{ reason: 'update' }, true],
    [{}, true],
  ] as const)('with old/new in a parent of %o, unless it is about changes', async (parent, isFine) => {
    const { outcome } = await runParent(() => void subhandler('s', { field: 'spec.field', old: 'x' }, () => {}), {
      parent: { ...parent, errors: 'permanent' },
    });
    if (isFine) expect(outcome).toMatchObject({ final: true, result: undefined });
    else
      expect(outcome).toMatchObject({
        error: { message: expect.stringContaining('can only be used in update handlers') },
      });
  });
});
