import { describe, expect, it } from 'vitest';
import { type AnyHandler, DEFAULT_ERRORS, titleOf } from '../../src/intents/handlers.js';
import { createRegistry, type Registry } from '../../src/intents/registration/registry.js';
import { resource } from '../../src/values/resources/resource.js';
import { EVERYTHING, parseSelector } from '../../src/values/resources/selector.js';
import { kopfexamples, pods } from '../causation/make-causes.js';

function fn() {}

function declared(declare: (registry: Registry) => unknown): AnyHandler {
  const registry = createRegistry();
  declare(registry);
  const all = Object.values(registry.handlers).flatMap((family): AnyHandler[] => [...family]);
  const [only] = all;
  if (only === undefined || all.length > 1) throw new Error(`One handler is expected, not ${all.length}.`);
  return only;
}

describe('a declaration makes a handler', () => {
  it.each<[string, (registry: Registry) => unknown, Record<string, unknown>]>([
    ['on.startup', ({ on }) => on.startup(fn), { kind: 'activity', activity: 'startup' }],
    ['on.cleanup', ({ on }) => on.cleanup(fn), { kind: 'activity', activity: 'cleanup' }],
    ['on.login', ({ on }) => on.login(fn), { kind: 'activity', activity: 'login' }],
    ['on.probe', ({ on }) => on.probe(fn), { kind: 'activity', activity: 'probe' }],
    ['on.event', ({ on }) => on.event('x', fn), { kind: 'watch' }],
    ['on.create', ({ on }) => on.create('x', fn), { kind: 'change', reason: 'create' }],
    ['on.update', ({ on }) => on.update('x', fn), { kind: 'change', reason: 'update', fieldNeedsChange: true }],
    ['on.delete', ({ on }) => on.delete('x', fn), { kind: 'change', reason: 'delete', requiresFinalizer: true }],
    [
      'on.delete, optional',
      ({ on }) => on.delete('x', { optional: true }, fn),
      { kind: 'change', reason: 'delete', requiresFinalizer: false },
    ],
    ['on.resume', ({ on }) => on.resume('x', fn), { kind: 'change', initial: true, deleted: false }],
    [
      'on.resume, of deleted ones',
      ({ on }) => on.resume('x', { deleted: true }, fn),
      { kind: 'change', initial: true, deleted: true },
    ],
    [
      'on.field',
      ({ on }) => on.field('x', { field: 'spec.a' }, fn),
      { kind: 'change', id: 'fn/spec.a', field: ['spec', 'a'], fieldNeedsChange: true },
    ],
    ['index', ({ index }) => index('x', fn), { kind: 'index' }],
    ['daemon', ({ daemon }) => daemon('x', fn), { kind: 'daemon' }],
    [
      'daemon, with options',
      ({ daemon }) => daemon('x', { initialDelay: 1, cancellationBackoff: 2, cancellationTimeout: 3 }, fn),
      { kind: 'daemon', initialDelay: 1, cancellationBackoff: 2, cancellationTimeout: 3 },
    ],
    ['timer', ({ timer }) => timer('x', fn), { kind: 'timer' }],
    [
      'timer, with options',
      ({ timer }) => timer('x', { interval: 1, idle: 2, sharp: true }, fn),
      { kind: 'timer', interval: 1, idle: 2, sharp: true },
    ],
    ['on.daemon', ({ on }) => on.daemon('x', fn), { kind: 'daemon' }],
    ['on.timer', ({ on }) => on.timer('x', fn), { kind: 'timer' }],
    ['on.index', ({ on }) => on.index('x', fn), { kind: 'index' }],
    ['on.validate', ({ on }) => on.validate('x', fn), { kind: 'webhook', reason: 'validating' }],
    ['on.mutate', ({ on }) => on.mutate('x', fn), { kind: 'webhook', reason: 'mutating' }],
    [
      'on.mutate, with options',
      ({ on }) => on.mutate('x', { operations: ['CREATE'], subresource: 'status', persistent: true }, fn),
      { kind: 'webhook', reason: 'mutating', operations: ['CREATE'], subresource: 'status', persistent: true },
    ],
    [
      'common options',
      ({ on }) =>
        on.create(
          'x',
          { id: 'a', param: 1, errors: 'permanent', timeout: 2, retries: 3, backoff: { min: 4, max: 5 } },
          fn,
        ),
      {
        kind: 'change',
        reason: 'create',
        id: 'a',
        param: 1,
        errors: 'permanent',
        timeout: 2,
        retries: 3,
        backoff: { min: 4, max: 5 },
      },
    ],
    [
      'options of an activity',
      ({ on }) => on.login({ id: 'a', param: 1, errors: 'ignored', timeout: 2, retries: 3, backoff: 4 }, fn),
      { kind: 'activity', activity: 'login', id: 'a', param: 1, errors: 'ignored', timeout: 2, retries: 3, backoff: 4 },
    ],
  ])('with these attributes and no others: %s', (_title, declare, attributes) => {
    const { selector, ...handler } = declared(declare) as AnyHandler & { selector?: object };
    expect(handler).toStrictEqual({ id: 'fn', fn, param: undefined, ...attributes });
    expect(selector === undefined).toBe(handler.kind === 'activity');
  });

  it('keeps the filters', () => {
    const filters = { labels: { a: 'b' }, annotations: { c: 'd' }, when: () => true, field: 'e.f', value: 'g' };
    expect(declared(({ on }) => on.event('x', filters, fn))).toMatchObject({ ...filters, field: ['e', 'f'] });
    const change = { field: ['e'], old: 'f', new: 'g' };
    expect(declared(({ on }) => on.update('x', change, fn))).toMatchObject(change);
  });

  it.each<[string, (registry: Registry) => unknown, boolean, boolean]>([
    ['a name', ({ on }) => on.event('kopfexamples', fn), true, false],
    ['a short name', ({ on }) => on.event('kex', fn), true, false],
    ['a path', ({ on }) => on.event('kopf.dev/v1/kopfexamples', fn), true, false],
    ['a core resource', ({ on }) => on.event('v1/pods', fn), false, true],
    ['fields', ({ on }) => on.event({ group: 'kopf.dev', kind: 'KopfExample' }, fn), true, false],
    ['a token', ({ on }) => on.event(resource({ group: '', version: 'v1', plural: 'pods' }), fn), false, true],
    ['everything', ({ on }) => on.event(EVERYTHING, fn), true, true],
    ['a predicate, and a handler after it', ({ on }) => on.event(({ group }) => group === 'kopf.dev', fn), true, false],
    ['a predicate, options, and a handler', ({ on }) => on.event(() => true, { param: 1 }, fn), true, true],
  ])('for the resources selected by %s', (_title, declare, isForExamples, isForPods) => {
    const registry = createRegistry();
    declare(registry);
    expect(registry.handlers.watching.of(kopfexamples)).toHaveLength(isForExamples ? 1 : 0);
    expect(registry.handlers.watching.of(pods)).toHaveLength(isForPods ? 1 : 0);
    expect([...registry.handlers.watching][0]?.fn).toBe(fn);
  });
});

describe('a declaration gives back', () => {
  const { on, index, daemon, handlers } = createRegistry();

  it('the very same function', () => {
    expect(on.create('x', fn)).toBe(fn);
    expect(on.create('x', { retries: 1 }, fn)).toBe(fn);
    expect(on.create('x')(fn)).toBe(fn);
    expect(daemon('x', {})(fn)).toBe(fn);
    expect(on.startup(fn)).toBe(fn);
    expect(on.startup({ id: 'a' }, fn)).toBe(fn);
    expect(on.startup()(fn)).toBe(fn);
    expect(on.startup({ id: 'b' })(fn)).toBe(fn);
    expect(handlers.activities.size).toBe(4);
    expect(handlers.changing.size).toBe(3);
  });

  it('for indices, a name to find them by', () => {
    expect(index('x', { id: 'mine' }, fn)).toEqual({ id: 'mine' });
    expect(index('x', fn)).toEqual({ id: 'fn' });
    expect(index('x', { id: 'decorated' })(fn)).toBe(fn);
    expect([...handlers.indexing].map(({ id }) => id)).toEqual(['mine', 'fn', 'decorated']);
  });

  it('nothing that would be registered before the function is known', () => {
    const registry = createRegistry();
    const later = registry.on.create('x');
    expect(registry.handlers.changing.size).toBe(0);
    later(fn);
    later(function another() {});
    expect([...registry.handlers.changing].map(({ id }) => id)).toEqual(['fn', 'another']);
  });
});

describe('errors and titles by kinds', () => {
  it.each<[(registry: Registry) => unknown, string, string]>([
    [({ on }) => on.startup(fn), "Activity 'fn'", 'temporary'],
    [({ on }) => on.event('x', fn), "Handler 'fn'", 'ignored'],
    [({ on }) => on.create('x', { field: 'a.b' }, fn), "Handler 'fn/a.b'", 'temporary'],
    [({ index }) => index('x', fn), "Indexer 'fn'", 'ignored'],
    [({ daemon }) => daemon('x', fn), "Daemon 'fn'", 'temporary'],
    [({ timer }) => timer('x', fn), "Timer 'fn'", 'temporary'],
    [({ on }) => on.validate('x', fn), "Webhook 'fn'", 'permanent'],
    [({ on }) => on.mutate('x', { id: "it's" }, fn), `Webhook "it's"`, 'permanent'],
  ])('%#: %s', (declare, title, errors) => {
    const handler = declared(declare);
    expect(titleOf(handler)).toBe(title);
    expect(DEFAULT_ERRORS[handler.kind]).toBe(errors);
  });
});

describe('registries', () => {
  it('do not know of each other', () => {
    const [one, another] = [createRegistry(), createRegistry()];
    one.on.create('x', () => {});
    another.on.create('x', () => {});
    expect([one.handlers.changing.size, another.handlers.changing.size]).toEqual([1, 1]);
  });

  it('take ready handlers, each into its family', () => {
    const { add, handlers } = createRegistry();
    const common = { id: 'fn', fn, param: undefined };
    add({ kind: 'activity', activity: 'login', fallback: true, ...common });
    add({ kind: 'index', ...common });
    add({ kind: 'watch', ...common });
    add({ kind: 'change', ...common });
    add({ kind: 'daemon', ...common });
    add({ kind: 'timer', ...common });
    add({ kind: 'reconcile', owns: [], watches: [], ...common });
    const relation = {
      key: 'x',
      parent: parseSelector('x'),
      child: parseSelector('y'),
      by: { kind: 'owner' },
    } as const;
    add({ kind: 'child', relation, ...common });
    add({ kind: 'webhook', reason: 'mutating', ...common });
    const sizes = Object.fromEntries(Object.entries(handlers).map(([family, set]) => [family, set.size]));
    expect(sizes).toEqual({
      ...{ activities: 1, indexing: 1, watching: 1, changing: 1, spawning: 2, webhooks: 1 },
      ...{ related: 2, relations: 1 },
    });
  });
});
