import { describe, expect, it } from 'vitest';
import type { ChangingReason } from '../../src/intents/causes.js';
import { createChangeHandlers } from '../../src/intents/handler-set.js';
import type { ChangeHandler } from '../../src/intents/handlers.js';
import { createRegistry, type Registry } from '../../src/intents/registration/registry.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { makeResource } from '../../src/values/resources/resource.js';
import {
  activityCause,
  changingCause,
  indexingCause,
  kopfexamples,
  pods,
  someBody,
  spawningCause,
  watchingCause,
} from '../causation/make-causes.js';

function fn() {}
const another = { fn: () => {} }.fn;
const deleted: AnyObject = {
  ...someBody,
  metadata: { ...someBody.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
};
const ids = (selected: Iterable<{ id: string }>): string[] => [...selected].map(({ id }) => id);

describe('one function', () => {
  it('under one id is called once for one cause, however many times it is declared', () => {
    const { on, handlers } = createRegistry();
    on.create('kopfexamples', fn);
    on.create('kopfexamples', { labels: { app: 'web' } }, fn);
    on.create('kex', fn);
    expect(ids(handlers.changing.select(changingCause(someBody, { reason: 'create' })))).toEqual(['fn']);
    expect(handlers.changing.size).toBe(3);
    expect(handlers.changing.of(kopfexamples)).toHaveLength(3);
  });

  it('stacked for creation and resuming is called once for each of them, and once for both', () => {
    const { on, handlers } = createRegistry();
    on.create('kopfexamples', on.resume('kopfexamples', fn));
    on.update('kopfexamples', fn);
    const selected = (reason: ChangingReason, initial: boolean) =>
      handlers.changing.select(changingCause(someBody, { reason, initial })).map((handler) => handler.fn);
    expect(selected('create', false)).toEqual([fn]);
    expect(selected('create', true)).toEqual([fn]);
    expect(selected('resume', true)).toEqual([fn]);
    expect(selected('update', true)).toEqual([fn]);
    expect(selected('update', false)).toEqual([fn]);
    expect(selected('noop', false)).toEqual([]);
  });

  it('is called with the options of its first declaration that fits', () => {
    const { on, handlers } = createRegistry();
    on.create('kopfexamples', { param: 1, labels: { app: 'other' } }, fn);
    on.create('kopfexamples', { param: 2 }, fn);
    on.create('kopfexamples', { param: 3 }, fn);
    const selected = handlers.changing.select(changingCause(someBody, { reason: 'create' }));
    expect(selected.map(({ param }) => param)).toEqual([2]);
  });

  it('under several ids is several handlers', () => {
    const { on, handlers } = createRegistry();
    on.event('kopfexamples', { id: 'a' }, fn);
    on.event('kopfexamples', { id: 'b' }, fn);
    on.event('kopfexamples', { field: 'spec' }, fn);
    on.event('kopfexamples', { field: 'spec.field' }, fn);
    expect(ids(handlers.watching.select(watchingCause()))).toEqual(['a', 'b', 'fn/spec', 'fn/spec.field']);
  });

  it('is not another one of the same name', () => {
    const { on, handlers } = createRegistry();
    on.event('kopfexamples', fn);
    on.event('kopfexamples', another);
    on.event('kopfexamples', fn);
    const selected = handlers.watching.select(watchingCause());
    expect(ids(selected)).toEqual(['fn', 'fn']);
    expect(selected.map((handler) => handler.fn)).toEqual([fn, another]);
  });
});

describe('selected handlers', () => {
  it('keep the order of their registration, whatever they are', () => {
    const { on, handlers } = createRegistry();
    on.update('kopfexamples', { id: 'a' }, fn);
    on.field('kopfexamples', { id: 'b', field: 'spec' }, fn);
    on.resume('kopfexamples', { id: 'c' }, fn);
    on.create('kopfexamples', { id: 'd' }, fn);
    on.update('kopfexamples', { id: 'e' }, another);
    on.field('kopfexamples', { id: 'f', field: 'spec.field' }, fn);
    const cause = changingCause(someBody, { old: { spec: {} }, initial: true });
    expect(ids(handlers.changing.select(cause))).toEqual(['a', 'b/spec', 'c', 'e', 'f/spec.field']);
  });

  it('are those of the resource, also if it is described anew', () => {
    const { on, handlers } = createRegistry();
    on.event('kopfexamples', { id: 'a' }, fn);
    on.event('pods', { id: 'b' }, fn);
    on.event('v2/kopfexamples', { id: 'c' }, fn);
    const described = makeResource({ ...kopfexamples, categories: ['all'] });
    expect(ids(handlers.watching.select(watchingCause()))).toEqual(['a']);
    expect(ids(handlers.watching.select(watchingCause(someBody, { resource: described })))).toEqual(['a']);
    expect(ids(handlers.watching.select(watchingCause(someBody, { resource: pods })))).toEqual(['b']);
  });

  it('include those that are declared later', () => {
    const { on, handlers } = createRegistry();
    on.event('kopfexamples', { id: 'a' }, fn);
    expect(ids(handlers.watching.select(watchingCause()))).toEqual(['a']);
    on.event('kopfexamples', { id: 'b' }, fn);
    expect(ids(handlers.watching.select(watchingCause()))).toEqual(['a', 'b']);
    expect(ids(handlers.watching.of(kopfexamples))).toEqual(['a', 'b']);
    expect(ids(handlers.watching)).toEqual(['a', 'b']);
  });

  it('do not include those that are excluded', () => {
    const { on, daemon, index, handlers } = createRegistry();
    for (const id of ['a', 'b', 'c']) {
      on.startup({ id }, fn);
      daemon('kopfexamples', { id }, fn);
      index('kopfexamples', { id }, fn);
    }
    const excluded = new Set(['a', 'c']);
    expect(ids(handlers.activities.select(activityCause(), { excluded }))).toEqual(['b']);
    expect(ids(handlers.spawning.select(spawningCause(), { excluded }))).toEqual(['b']);
    expect(ids(handlers.indexing.select(indexingCause(), { excluded }))).toEqual(['b']);
  });

  it('are of any resource if they have no selector, as sub-handlers have none', () => {
    const handlers = createChangeHandlers();
    const subhandler: ChangeHandler = { kind: 'change', id: 'parent/fn', fn, param: undefined };
    handlers.add(subhandler);
    expect(handlers.select(changingCause())).toEqual([subhandler]);
    expect(handlers.select(changingCause(someBody, { resource: pods, reason: 'delete' }))).toEqual([subhandler]);
  });
});

describe('the reason of a change', () => {
  const declare = ({ on }: Registry) => {
    on.create('kopfexamples', function create() {});
    on.update('kopfexamples', function update() {});
    on.delete('kopfexamples', function delete_() {});
    on.resume('kopfexamples', function resume() {});
    on.resume('kopfexamples', { deleted: true }, function resumeDeleted() {});
    on.field('kopfexamples', { field: 'spec.field' }, function field() {});
  };

  it.each<[ChangingReason, boolean, AnyObject, string[]]>([
    ['create', false, someBody, ['create', 'field/spec.field']],
    ['create', true, someBody, ['create', 'resume', 'resumeDeleted', 'field/spec.field']],
    ['update', false, someBody, ['update', 'field/spec.field']],
    ['update', true, someBody, ['update', 'resume', 'resumeDeleted', 'field/spec.field']],
    ['resume', true, someBody, ['resume', 'resumeDeleted', 'field/spec.field']],
    ['resume', false, someBody, ['field/spec.field']],
    ['delete', false, deleted, ['delete_', 'field/spec.field']],
    ['delete', true, deleted, ['delete_', 'resumeDeleted', 'field/spec.field']],
    ['delete', true, someBody, ['delete_', 'resume', 'resumeDeleted', 'field/spec.field']],
  ])('selects the handlers: %s, initial: %s', (reason, initial, body, expected) => {
    const registry = createRegistry();
    declare(registry);
    const cause = changingCause(body, { reason, initial, old: { spec: { field: 'was' } } });
    expect(ids(registry.handlers.changing.select(cause))).toEqual(expected);
  });

  it.each<ChangingReason>(['create', 'update', 'delete', 'resume', 'noop', 'free', 'gone'])(
    'never selects resuming for what is already resumed: %s',
    (reason) => {
      const { on, handlers } = createRegistry();
      on.resume('kopfexamples', { deleted: true }, fn);
      expect(handlers.changing.select(changingCause(someBody, { reason, initial: false }))).toEqual([]);
      expect(handlers.changing.select(changingCause(deleted, { reason, initial: false }))).toEqual([]);
    },
  );

  it.each<ChangingReason>(['noop', 'free', 'gone'])('selects nobody if nothing has happened: %s', (reason) => {
    const registry = createRegistry();
    declare(registry);
    expect(registry.handlers.changing.select(changingCause(someBody, { reason }))).toEqual([]);
  });
});

describe('activities', () => {
  it('are selected by what they are', () => {
    const { on, handlers } = createRegistry();
    on.startup({ id: 'a' }, fn);
    on.cleanup({ id: 'b' }, fn);
    on.login({ id: 'c' }, fn);
    on.probe({ id: 'd' }, fn);
    on.startup({ id: 'e' }, fn);
    on.startup({ id: 'e' }, fn);
    const selected = (['startup', 'cleanup', 'login', 'probe'] as const).map((activity) =>
      ids(handlers.activities.select(activityCause({ activity }))),
    );
    expect(selected).toEqual([['a', 'e'], ['b'], ['c'], ['d']]);
    expect(handlers.activities.of(kopfexamples)).toEqual([]);
  });

  it('fall back only if there are no others, even if the others are excluded', () => {
    const { on, add, handlers } = createRegistry();
    const common = { kind: 'activity', activity: 'login', fn, param: undefined, fallback: true } as const;
    add({ ...common, id: 'fallback1' });
    add({ ...common, id: 'fallback2' });
    const select = (excluded?: ReadonlySet<string>) =>
      ids(handlers.activities.select(activityCause({ activity: 'login' }), excluded ? { excluded } : {}));
    expect(select()).toEqual(['fallback1', 'fallback2']);
    expect(select(new Set(['fallback1']))).toEqual(['fallback2']);
    on.startup({ id: 'unrelated' }, fn);
    expect(select()).toEqual(['fallback1', 'fallback2']);
    on.login({ id: 'own' }, fn);
    expect(select()).toEqual(['own']);
    expect(select(new Set(['own']))).toEqual([]);
  });
});
