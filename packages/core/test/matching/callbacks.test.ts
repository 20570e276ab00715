import { describe, expect, it, vi } from 'vitest';
import { all, any, none, not } from '../../src/intents/filters.js';
import { match, prematch } from '../../src/intents/matching.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import { changingCause, makeIndices, pods, someBody, watchingCause } from '../causation/make-causes.js';

const yes = () => true;
const no = () => false;

describe('combinators of callbacks', () => {
  it.each<[string, boolean, (...args: never[]) => boolean]>([
    ['not yes', false, not(yes)],
    ['not no', true, not(no)],
    ['all of none', true, all([])],
    ['all of yes', true, all([yes, yes])],
    ['all of yes and no', false, all([yes, no])],
    ['all of no', false, all([no, no])],
    ['any of none', false, any([])],
    ['any of yes', true, any([yes, yes])],
    ['any of yes and no', true, any([no, yes])],
    ['any of no', false, any([no, no])],
    ['none of none', true, none([])],
    ['none of yes', false, none([yes, yes])],
    ['none of yes and no', false, none([no, yes])],
    ['none of no', true, none([no, no])],
    ['not all', true, not(all([yes, no]))],
    ['all of some combinations', true, all([not(no), any([no, yes]), none([no])])],
  ])('%s: %s', (_title, verdict, callback) => {
    expect(callback()).toBe(verdict);
  });

  it.each([
    ['all', all, no],
    ['any', any, yes],
    ['none', none, yes],
  ])('ask in order, and only until it is clear: %s', (_title, combine, decisive) => {
    const asked: string[] = [];
    const callback = (name: string, answer: boolean) => () => asked.push(name) > 0 && answer;
    combine([callback('a', !decisive()), callback('b', decisive()), callback('c', decisive())])();
    expect(asked).toEqual(['a', 'b']);
  });

  it.each([
    ['not', not],
    ['all', (fn: () => boolean) => all([fn])],
    ['any', (fn: () => boolean) => any([fn])],
    ['none', (fn: () => boolean) => none([fn])],
  ])('pass everything through, a value or not: %s', (_title, wrap) => {
    const callback = vi.fn((..._args: unknown[]) => true);
    const wrapped = (wrap as unknown as (fn: typeof callback) => typeof callback)(callback);
    wrapped('value', { name: 'one' });
    wrapped({ name: 'one' });
    expect(callback.mock.calls).toEqual([['value', { name: 'one' }], [{ name: 'one' }]]);
  });

  it('keep the callbacks, even of what can be iterated over only once', () => {
    const callback = all([yes, no].values());
    expect([callback(), callback()]).toEqual([false, false]);
  });

  it('work as filters', () => {
    const { on, handlers } = createRegistry();
    const isShort = (value: string | undefined) => (value?.length ?? 0) < 5;
    on.event('kopfexamples', { labels: { app: not(isShort) } }, function long() {});
    on.event('kopfexamples', { labels: { app: all([isShort]) }, when: none([no]) }, function short() {});
    expect(handlers.watching.select(watchingCause()).map(({ id }) => id)).toEqual(['short']);
  });
});

describe('callbacks', () => {
  /** One handler with callbacks in all places, and how many times they were asked. */
  function withCallbacks(answers: { labels?: boolean; annotations?: boolean; value?: boolean; when?: boolean } = {}) {
    const asked: string[] = [];
    const kwargs = new Set<unknown>();
    const callback =
      (name: keyof typeof answers) =>
      (...args: unknown[]) => {
        asked.push(name);
        kwargs.add(args.at(-1));
        return answers[name] ?? true;
      };
    const { on, handlers } = createRegistry();
    on.create(
      'kopfexamples',
      {
        when: callback('when'),
        field: 'spec.field',
        value: callback('value'),
        annotations: { note: callback('annotations') },
        labels: { app: callback('labels') },
      },
      function fn() {},
    );
    const [handler] = handlers.changing;
    if (handler === undefined) throw new Error('It must be there.');
    return { handler, handlers, asked, kwargs };
  }

  it.each([
    ['match', match],
    ['prematch', prematch],
  ])('are asked in the order of their costs: %s', (_title, predicate) => {
    const { handler, asked } = withCallbacks();
    expect(predicate(handler, changingCause())).toBe(true);
    expect(asked).toEqual(['labels', 'annotations', 'value', 'when']);
  });

  it.each([
    ['labels', ['labels']],
    ['annotations', ['labels', 'annotations']],
    ['value', ['labels', 'annotations', 'value', 'value']],
    ['when', ['labels', 'annotations', 'value', 'when']],
  ])('are not asked after the first no: %s', (decisive, expected) => {
    const { handler, asked } = withCallbacks({ [decisive]: false });
    expect(match(handler, changingCause())).toBe(false);
    expect(asked).toEqual(expected);
  });

  it.each([
    ['match', match],
    ['prematch', prematch],
  ])('are never asked about objects of other resources: %s', (_title, predicate) => {
    const { handler, handlers, asked } = withCallbacks();
    const cause = changingCause(someBody, { resource: pods, reason: 'create' });
    expect(predicate(handler, cause)).toBe(false);
    expect(handlers.changing.select(cause)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('are not asked for other reasons than those of the handler', () => {
    const { handlers, asked } = withCallbacks();
    expect(handlers.changing.select(changingCause(someBody, { reason: 'update' }))).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('all get the same kwargs, made once', () => {
    const { handler, kwargs } = withCallbacks();
    match(handler, changingCause());
    expect(kwargs.size).toBe(1);
  });

  it('do not get kwargs made if there are no callbacks', () => {
    const { on, handlers } = createRegistry();
    on.create('kopfexamples', { labels: { app: 'web' }, field: 'spec' }, function fn() {});
    const iterated = vi.fn(() => [].values());
    const indices = { ...makeIndices(), [Symbol.iterator]: iterated };
    const cause = changingCause(someBody, { reason: 'create', indices });
    expect(handlers.changing.select(cause)).toHaveLength(1);
    expect(iterated).not.toHaveBeenCalled();
    on.create('kopfexamples', { when: () => true }, function other() {});
    expect(handlers.changing.select(cause)).toHaveLength(2);
    expect(iterated).toHaveBeenCalledOnce();
  });

  it('get the indices by their names', () => {
    const { on, handlers } = createRegistry();
    const when = vi.fn(() => true);
    on.create('kopfexamples', { when }, function fn() {});
    const indices = makeIndices('known');
    handlers.changing.select(changingCause(someBody, { reason: 'create', indices }));
    expect(when).toHaveBeenCalledWith(expect.objectContaining({ indices, known: indices.get('known') }));
  });

  it('of predicates choose resources, before any other callback', () => {
    const { on, handlers } = createRegistry();
    const when = vi.fn(() => true);
    on.event(
      (resource) => resource.plural === 'pods',
      { when },
      function fn() {},
    );
    expect(handlers.watching.select(watchingCause())).toEqual([]);
    expect(when).not.toHaveBeenCalled();
    expect(handlers.watching.select(watchingCause(someBody, { resource: pods }))).toHaveLength(1);
    expect(when).toHaveBeenCalledOnce();
  });

  it('may fail, and then it is an error', () => {
    const { on, handlers } = createRegistry();
    const when = () => {
      throw new Error('boo');
    };
    on.event('kopfexamples', { when }, function fn() {});
    expect(() => handlers.watching.select(watchingCause())).toThrow('boo');
  });
});
