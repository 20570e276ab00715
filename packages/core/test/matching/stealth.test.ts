import { describe, expect, it } from 'vitest';
import { extraFields, isInScope } from '../../src/intents/interests.js';
import { createRegistry, type Registry } from '../../src/intents/registration/registry.js';
import { changingCause, kopfexamples, pods, someBody } from '../causation/make-causes.js';

function fn() {}
type Declaration = (registry: Registry) => unknown;

describe('an object is of interest', () => {
  it.each<[string, boolean, Declaration]>([
    ['to nobody', false, () => {}],
    ['to any change handler', true, ({ on }) => on.create('kopfexamples', fn)],
    ['to change handlers, whatever they are for', true, ({ on }) => on.delete('kopfexamples', { optional: true }, fn)],
    ['to resuming, be it new or not', true, ({ on }) => on.resume('kopfexamples', fn)],
    ['not to those of other resources', false, ({ on }) => on.create('pods', fn)],
    ['not to those of other labels', false, ({ on }) => on.create('kopfexamples', { labels: { app: 'db' } }, fn)],
    [
      'not to those of other annotations',
      false,
      ({ on }) => on.create('kopfexamples', { annotations: { no: 'x' } }, fn),
    ],
    ['not to those whose callback says no', false, ({ on }) => on.create('kopfexamples', { when: () => false }, fn)],
    [
      'not to those of a field it does not have',
      false,
      ({ on }) => on.create('kopfexamples', { field: 'spec.no' }, fn),
    ],
    ['to those of its field, changed or not', true, ({ on }) => on.field('kopfexamples', { field: 'spec.field' }, fn)],
    ['to those of other values', true, ({ on }) => on.update('kopfexamples', { field: 'spec.field', new: 'no' }, fn)],
    ['to one of several', true, ({ on }) => [on.create('pods', fn), on.update('kopfexamples', fn)]],
    ['not to handlers of events', false, ({ on }) => on.event('kopfexamples', fn)],
    ['not to daemons', false, ({ daemon }) => daemon('kopfexamples', fn)],
    ['not to indices', false, ({ index }) => index('kopfexamples', fn)],
    ['not to webhooks', false, ({ on }) => on.validate('kopfexamples', fn)],
  ])('%s: %s', (_title, verdict, declare) => {
    const registry = createRegistry();
    declare(registry);
    for (const initial of [true, false]) {
      for (const reason of ['create', 'update', 'delete', 'resume', 'noop', 'free', 'gone'] as const) {
        expect(isInScope(registry.handlers, changingCause(someBody, { reason, initial }))).toBe(verdict);
      }
    }
  });
});

describe('fields that handlers look at are in the essence', () => {
  it('each once, of those handlers that could be called for the resource', () => {
    const { on, daemon, timer, handlers } = createRegistry();
    on.event('kopfexamples', { field: 'status.a' }, fn);
    on.update('kopfexamples', { field: ['status', 'b.c'] }, fn);
    on.field('kopfexamples', { field: 'status.a' }, fn);
    on.create('kopfexamples', { field: '' }, fn);
    on.delete('kopfexamples', fn);
    daemon('kopfexamples', { field: 'status.d' }, fn);
    timer('kex', { field: 'status.e' }, fn);
    on.event('pods', { field: 'status.f' }, fn);
    expect(extraFields(handlers, kopfexamples)).toEqual([
      ['status', 'a'],
      ['status', 'b.c'],
      ['status', 'd'],
      ['status', 'e'],
    ]);
    expect(extraFields(handlers, pods)).toEqual([['status', 'f']]);
  });

  it('except for those of indices and webhooks, which see the object as it is', () => {
    const { on, index, handlers } = createRegistry();
    index('kopfexamples', { field: 'status.a' }, fn);
    on.validate('kopfexamples', { field: 'status.b' }, fn);
    expect(extraFields(handlers, kopfexamples)).toEqual([]);
  });

  it('are not mixed up when keys have dots', () => {
    const { on, handlers } = createRegistry();
    on.event('kopfexamples', { field: 'status.a.b' }, fn);
    on.event('kopfexamples', { field: ['status', 'a.b'] }, fn);
    expect(extraFields(handlers, kopfexamples)).toEqual([
      ['status', 'a', 'b'],
      ['status', 'a.b'],
    ]);
  });
});
