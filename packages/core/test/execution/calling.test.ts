import { describe, expect, it, vi } from 'vitest';
import { currentContext } from '../../src/execution/context.js';
import type { AnyHandler } from '../../src/intents/handlers.js';
import { attempt, changeHandler, changingCause, watchingCause } from './helpers.js';

describe('A handler', () => {
  it('that succeeds says so and gives its result', async () => {
    const { outcome, cause } = await attempt(changeHandler({ fn: () => ({ some: 'result' }) }));
    expect(await outcome).toEqual({ final: true, result: { some: 'result' }, subrefs: [] });
    expect(cause.logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['debug', "Handler 'fn' is invoked."],
      ['info', "Handler 'fn' succeeded."],
    ]);
  });

  it.each([
    ['activity', 'Activity'],
    ['index', 'Indexer'],
    ['daemon', 'Daemon'],
    ['timer', 'Timer'],
    ['webhook', 'Webhook'],
    ['watch', 'Handler'],
  ])('of the kind "%s" is called %s in the logs', async (kind, title) => {
    const { cause, outcome } = await attempt({ ...changeHandler(), kind } as never, { cause: watchingCause() });
    await outcome;
    expect(cause.logger.messages('info')).toEqual([`${title} 'fn' succeeded.`]);
  });

  it.each([[undefined], [{ x: 1 }], ['text'], [0]])('gets its param: %s', async (param) => {
    const fn = vi.fn();
    await (await attempt(changeHandler({ fn, param }))).outcome;
    expect(fn.mock.calls[0]?.[0]).toHaveProperty('param', param);
  });

  it('knows how many attempts were made, and since when', async () => {
    const fn = vi.fn();
    const { outcome, clock } = await attempt(changeHandler({ fn }), { state: { retries: 3, runtime: 12.5 } });
    await outcome;
    const { retry, started, runtime, signal } = fn.mock.calls[0]?.[0] ?? {};
    expect(retry).toBe(3);
    expect(runtime).toBe(12.5);
    expect((clock.utc().getTime() - (started as Date).getTime()) / 1000).toBe(12.5);
    expect(signal).toBeInstanceOf(AbortSignal);
  });

  it('runs in the context of itself, also after waiting', async () => {
    const seen: unknown[] = [];
    const handler = changeHandler({
      fn: async () => {
        seen.push(currentContext()?.handler);
        await Promise.resolve();
        seen.push(currentContext()?.handler);
      },
    });
    await (await attempt(handler)).outcome;
    expect(seen).toEqual([handler, handler]);
    expect(currentContext()).toBeUndefined();
  });

  it('sees the changes of its field only', async () => {
    const fn = vi.fn();
    const cause = changingCause({
      old: { spec: { field: 'a', other: 1 } },
      new: { spec: { field: 'b', other: 2 } },
      diff: [
        ['change', ['spec', 'field'], 'a', 'b'],
        ['change', ['spec', 'other'], 1, 2],
      ],
    });
    await (await attempt(changeHandler({ fn, field: ['spec', 'field'] }), { cause })).outcome;
    expect(fn.mock.calls[0]?.[0]).toMatchObject({ old: 'a', new: 'b', diff: [['change', [], 'a', 'b']] });
  });

  it('sees the values of its absent field as undefined', async () => {
    const fn = vi.fn();
    const cause = changingCause({
      old: undefined,
      new: { spec: { field: 'v' } },
      diff: [['add', [], undefined, { spec: { field: 'v' } }]],
    });
    await (await attempt(changeHandler({ fn, field: ['spec', 'field'] }), { cause })).outcome;
    const { old, new: new_, diff } = fn.mock.calls[0]?.[0] ?? {};
    expect([old, new_, diff]).toEqual([undefined, 'v', [['add', [], undefined, 'v']]]);
  });

  describe('A result that cannot be stored', () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;

    it.each([
      ['refers to itself', cyclic],
      ['is a big integer', { size: 1n }],
      ['is a function', () => {}],
      ['is a symbol', Symbol('x')],
      ['has a Map', { map: new Map([[1, 2]]) }],
      ['is a Set', new Set([1])],
    ])('as it %s, is dropped with an error; the handler has succeeded and is not repeated', async (_what, result) => {
      const { outcome, cause } = await attempt(changeHandler({ fn: () => Promise.resolve(result) }));
      expect(await outcome).toEqual({ final: true, result: undefined, subrefs: [] });
      const [line] = cause.logger.messages('error');
      expect(line).toMatch(/^Handler 'fn' has returned a value that cannot be stored in KopfExample ns1\/name1: /);
      expect(cause.logger.messages('info')).toEqual(["Handler 'fn' succeeded."]);
    });

    it('is fine for those handlers whose results are not stored', async () => {
      const result = new Map([['key', cyclic]]);
      const handler = { ...changeHandler({ fn: () => result }), kind: 'index' } as never;
      const { outcome, cause } = await attempt(handler, { cause: watchingCause() });
      expect(await outcome).toMatchObject({ result });
      expect(cause.logger.messages('error')).toEqual([]);
    });
  });

  describe('A handler that is not needed any more', () => {
    it('is cancelled by its signal, and escalates', async () => {
      const controller = new AbortController();
      const reason = new Error('the operator exits');
      const fn = ({ signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      const { outcome, cause } = await attempt(changeHandler({ fn, timeout: 10 }), { signal: controller.signal });
      controller.abort(reason);
      await expect(outcome).rejects.toBe(reason);
      expect(cause.logger.messages('warn')).toEqual(["Handler 'fn' is cancelled. Will escalate."]);
    });

    it.each([
      ['an error of that name', () => Object.assign(new Error('x'), { name: 'AbortError' })],
      ['an error because of it', (reason: unknown) => new Error('x', { cause: reason })],
    ])('is cancelled also if it makes of the signal %s', async (_what, make) => {
      const controller = new AbortController();
      const fn = ({ signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(make(signal.reason))));
      const { outcome, cause } = await attempt(changeHandler({ fn }), { signal: controller.signal });
      controller.abort(new Error('the operator exits'));
      await expect(outcome).rejects.toThrow('x');
      expect(cause.logger.messages('warn')).toEqual(["Handler 'fn' is cancelled. Will escalate."]);
    });

    it('is not called at all, if that is known before', async () => {
      const fn = vi.fn();
      const { outcome } = await attempt(changeHandler({ fn }), { signal: AbortSignal.abort(new Error('too late')) });
      await expect(outcome).rejects.toThrow('too late');
      expect(fn).not.toHaveBeenCalled();
    });

    const ending =
      (end: () => unknown) =>
      ({ signal }: { signal: AbortSignal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(end())));

    it('can still fail in its own way', async () => {
      const controller = new AbortController();
      const { outcome } = await attempt(changeHandler({ fn: ending(() => Promise.reject(new Error('unclean'))) }), {
        signal: controller.signal,
      });
      controller.abort(new Error('the operator exits'));
      expect(await outcome).toMatchObject({ final: false, error: { message: 'unclean' } });
    });

    it('has not succeeded by returning, if it could know by its signal: it may have left its work undone', async () => {
      const controller = new AbortController();
      const { outcome, cause } = await attempt(changeHandler({ fn: ending(() => 'cleaned') }), {
        signal: controller.signal,
      });
      controller.abort(new Error('the operator exits'));
      await expect(outcome).rejects.toThrow('the operator exits');
      expect(cause.logger.messages('warn')).toEqual([
        "Handler 'fn' ended after its signal was aborted. It counts as interrupted and will be called again.",
      ]);
    });

    it.each([
      ['it has never asked for the signal', changeHandler()],
      [
        'nothing of it is stored',
        { kind: 'watch', id: 'fn', fn: () => undefined, param: undefined } as unknown as AnyHandler,
      ],
    ])('can still succeed, if %s', async (_, handler) => {
      const controller = new AbortController();
      let finish: (result: string) => void = () => {};
      const fn = (kwargs: { signal: AbortSignal }) => {
        if (handler.kind !== 'change') kwargs.signal.throwIfAborted();
        return new Promise((resolve) => (finish = resolve));
      };
      const { outcome } = await attempt({ ...handler, fn } as AnyHandler, { signal: controller.signal });
      controller.abort(new Error('the operator exits'));
      finish('done');
      expect(await outcome).toMatchObject({ result: 'done' });
    });
  });
});
