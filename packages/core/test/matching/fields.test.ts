import { describe, expect, it, vi } from 'vitest';
import type { Cause, ChangingCause, ResourceCause } from '../../src/intents/causes.js';
import { ABSENT, PRESENT } from '../../src/intents/filters.js';
import type { ChangeHandler } from '../../src/intents/handlers.js';
import { match, prematch } from '../../src/intents/matching.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import {
  changingCause,
  daemonCause,
  indexingCause,
  someBody,
  spawningCause,
  watchingCause,
  webhookCause,
} from '../causation/make-causes.js';

/** A filter without types: these tests try also what the compiler would not allow. */
type Filters = { field?: string | string[]; value?: unknown; old?: unknown; new?: unknown };

const NONE = Symbol('no such field');
const withField = (value: unknown): AnyObject => ({ spec: value === NONE ? {} : { field: value } });

function changeHandler(kind: 'create' | 'update' | 'delete' | 'resume' | 'field', options: Filters): ChangeHandler {
  const { on, handlers } = createRegistry();
  (on[kind] as (...args: unknown[]) => void)('kopfexamples', options, function fn() {});
  const [handler] = handlers.changing;
  if (handler === undefined) throw new Error('It must be there.');
  return handler;
}

function changed(old: unknown, new_: unknown, overrides: Partial<ChangingCause> = {}): ChangingCause {
  return changingCause(someBody, { old: withField(old), new: withField(new_), ...overrides });
}

describe('a value of a field, for changes: either before or after', () => {
  it.each<[string, boolean, unknown, unknown, unknown]>([
    ['unset, there after', true, undefined, NONE, 'x'],
    ['unset, there before', true, undefined, 'x', NONE],
    ['unset, never there', false, undefined, NONE, NONE],
    ['unset, there but empty', true, undefined, NONE, ''],
    ['unset, there but false', true, undefined, NONE, false],
    ['PRESENT, there after', true, PRESENT, NONE, 'x'],
    ['PRESENT, there before', true, PRESENT, 'x', NONE],
    ['PRESENT, never there', false, PRESENT, NONE, NONE],
    ['ABSENT, there after', true, ABSENT, NONE, 'x'],
    ['ABSENT, there before', true, ABSENT, 'x', NONE],
    ['ABSENT, never there', true, ABSENT, NONE, NONE],
    ['ABSENT, always there', false, ABSENT, 'x', 'y'],
    ['a value, after', true, 'x', 'y', 'x'],
    ['a value, before', true, 'x', 'x', 'y'],
    ['a value, never', false, 'x', 'y', 'z'],
    ['a value, nothing there', false, 'x', NONE, NONE],
    ['a structure', true, { a: [1, { b: 2 }] }, NONE, { a: [1, { b: 2 }] }],
    ['a structure, with more in it', false, { a: 1 }, NONE, { a: 1, b: 2 }],
    ['a list in another order', false, [1, 2], NONE, [2, 1]],
    ['true is not 1, as equality is strict', false, true, 1, 1],
    ['1 is not true', false, 1, true, true],
    ['0 is not false', false, 0, false, false],
    ['zero', true, 0, NONE, 0],
    ['a number is not its text', false, 1, '1', '1'],
  ])('%s: %s', (_title, verdict, value, old, new_) => {
    const handler = changeHandler('create', { field: 'spec.field', value });
    expect(match(handler, changed(old, new_))).toBe(verdict);
    expect(prematch(handler, changed(old, new_))).toBe(verdict);
  });

  it('asks a callback of the new value first, then of the old one, until it agrees', () => {
    const seen: unknown[] = [];
    const asks = (agrees: (value: unknown) => boolean) => {
      seen.length = 0;
      const callback = (value: unknown) => seen.push(value) > 0 && agrees(value);
      return match(changeHandler('create', { field: 'spec.field', value: callback }), changed('before', 'after'));
    };
    expect([asks(() => true), seen]).toEqual([true, ['after']]);
    expect([asks((value) => value === 'before'), seen]).toEqual([true, ['after', 'before']]);
    expect([asks(() => false), seen]).toEqual([false, ['after', 'before']]);
  });

  it('gives undefined to callbacks for an absent field', () => {
    const callback = vi.fn(() => false);
    match(changeHandler('create', { field: 'spec.field', value: callback }), changed(NONE, NONE));
    expect(callback.mock.calls.map((args: unknown[]) => args[0])).toEqual([undefined, undefined]);
    expect(callback).toHaveBeenCalledWith(undefined, expect.objectContaining({ reason: 'update' }));
  });

  it('shows the whole essences to callbacks, whatever the field is', () => {
    const when = vi.fn(() => true);
    const handler = { ...changeHandler('update', { field: 'spec.field' }), when };
    const cause = changed('before', 'after');
    expect(match(handler, cause)).toBe(true);
    expect(when).toHaveBeenCalledWith(
      expect.objectContaining({ old: withField('before'), new: withField('after'), diff: cause.diff }),
    );
  });
});

describe('a value of a field, for all but changes: in the object as it is now', () => {
  const make: Record<string, (body: AnyObject) => ResourceCause> = {
    watching: watchingCause,
    indexing: indexingCause,
    spawning: spawningCause,
    daemon: daemonCause,
    webhook: webhookCause,
  };
  const ofKind: Record<string, 'event' | 'index' | 'daemon' | 'timer' | 'validate'> = {
    watching: 'event',
    indexing: 'index',
    spawning: 'timer',
    daemon: 'daemon',
    webhook: 'validate',
  };
  const familyOf: Record<string, 'watching' | 'indexing' | 'spawning' | 'webhooks'> = {
    watching: 'watching',
    indexing: 'indexing',
    spawning: 'spawning',
    daemon: 'spawning',
    webhook: 'webhooks',
  };

  describe.each(Object.keys(make))('%s', (kind) => {
    it.each<[string, boolean, unknown, unknown]>([
      ['unset, there', true, undefined, 'x'],
      ['unset, not there', false, undefined, NONE],
      ['PRESENT, there', true, PRESENT, ''],
      ['PRESENT, not there', false, PRESENT, NONE],
      ['ABSENT, there', false, ABSENT, 'x'],
      ['ABSENT, not there', true, ABSENT, NONE],
      ['the value', true, { a: 1 }, { a: 1 }],
      ['another value', false, { a: 1 }, { a: true }],
      ['the value, not there', false, 'x', NONE],
      ['a callback that agrees', true, (value: unknown) => value === 'x', 'x'],
      ['a callback that disagrees', false, (value: unknown) => value === 'x', 'y'],
      ['a callback of an absent field', true, (value: unknown) => value === undefined, NONE],
    ])('%s: %s', (_title, verdict, value, actual) => {
      const registry = createRegistry();
      const register = registry.on[ofKind[kind] ?? 'event'] as (...args: unknown[]) => void;
      register('kopfexamples', { field: 'spec.field', value }, function fn() {});
      const family = registry.handlers[familyOf[kind] ?? 'watching'] as { select(cause: Cause): readonly unknown[] };
      expect(family.select(make[kind]?.(withField(actual)) as Cause)).toHaveLength(verdict ? 1 : 0);
    });
  });

  it('for reviews, neither the old object nor the new one is looked at', () => {
    const { on, handlers } = createRegistry();
    on.validate('kopfexamples', { field: 'spec.field' }, function fn() {});
    const empty = withField(NONE);
    const full = withField('x');
    expect(handlers.webhooks.select(webhookCause(empty, { old: full, new: full }))).toHaveLength(0);
    expect(handlers.webhooks.select(webhookCause(full, { old: empty, new: empty }))).toHaveLength(1);
  });
});

describe('what a field was and what it is', () => {
  const equals = (wanted: unknown) => (value: unknown) => value === wanted;

  it.each<[string, boolean, Filters, unknown, unknown]>([
    ['no filters, changed', true, {}, 'a', 'b'],
    ['no filters, added', true, {}, NONE, 'b'],
    ['no filters, removed', true, {}, 'a', NONE],
    ['no filters, the same', false, {}, 'a', 'a'],
    ['no filters, the same structure', false, {}, { a: [1] }, { a: [1] }],
    ['no filters, true became 1', true, {}, true, 1],
    ['no filters, never there', false, {}, NONE, NONE],
    ['old value', true, { old: 'a' }, 'a', 'b'],
    ['another old value', false, { old: 'x' }, 'a', 'b'],
    ['old value, not changed', false, { old: 'a' }, 'a', 'a'],
    ['old ABSENT, added', true, { old: ABSENT }, NONE, 'b'],
    ['old ABSENT, changed', false, { old: ABSENT }, 'a', 'b'],
    ['old PRESENT, changed', true, { old: PRESENT }, 'a', 'b'],
    ['old PRESENT, added', false, { old: PRESENT }, NONE, 'b'],
    ['old callback', true, { old: equals('a') }, 'a', 'b'],
    ['old callback, disagrees', false, { old: equals('b') }, 'a', 'b'],
    ['old callback of an absent field', true, { old: equals(undefined) }, NONE, 'b'],
    ['new value', true, { new: 'b' }, 'a', 'b'],
    ['another new value', false, { new: 'a' }, 'a', 'b'],
    ['new ABSENT, removed', true, { new: ABSENT }, 'a', NONE],
    ['new ABSENT, changed', false, { new: ABSENT }, 'a', 'b'],
    ['new PRESENT, changed', true, { new: PRESENT }, 'a', 'b'],
    ['new PRESENT, removed', false, { new: PRESENT }, 'a', NONE],
    ['new callback', true, { new: equals('b') }, 'a', 'b'],
    ['new callback of an absent field', true, { new: equals(undefined) }, 'a', NONE],
    ['both', true, { old: 'a', new: 'b' }, 'a', 'b'],
    ['both, the old one is another', false, { old: 'x', new: 'b' }, 'a', 'b'],
    ['both, the new one is another', false, { old: 'a', new: 'x' }, 'a', 'b'],
    ['value, before', true, { value: 'a' }, 'a', 'b'],
    ['value, not changed', false, { value: 'a' }, 'a', 'a'],
  ])('%s: %s', (_title, verdict, filters, old, new_) => {
    for (const kind of ['update', 'field'] as const) {
      const handler = changeHandler(kind, { field: 'spec.field', ...filters });
      expect(match(handler, changed(old, new_))).toBe(verdict);
    }
  });

  it('does not matter for the interest in the object', () => {
    const handler = changeHandler('update', { field: 'spec.field', old: 'x', new: 'y' });
    expect(match(handler, changed('a', 'a'))).toBe(false);
    expect(prematch(handler, changed('a', 'a'))).toBe(true);
    expect(prematch(handler, changed(NONE, NONE))).toBe(false);
  });

  it('does not matter for handlers that need no change', () => {
    for (const kind of ['create', 'delete', 'resume'] as const) {
      expect(match(changeHandler(kind, { field: 'spec.field' }), changed('a', 'a'))).toBe(true);
    }
  });

  it('does not matter for handlers of updates without a field', () => {
    expect(match(changeHandler('update', {}), changed('a', 'a'))).toBe(true);
  });
});

describe('a field and the changes around it', () => {
  it.each<[string, boolean, string, unknown, unknown]>([
    ['the changed field itself', true, 'spec.a.b', { a: { b: 1 } }, { a: { b: 2 } }],
    ['above the changed field', true, 'spec.a', { a: { b: 1 } }, { a: { b: 2 } }],
    ['far above the changed field', true, 'spec', { a: { b: 1 } }, { a: { b: 2 } }],
    ['beside the changed field', false, 'spec.c', { a: 1, c: 1 }, { a: 2, c: 1 }],
    ['below a scalar that has changed', false, 'spec.a.b', { a: 1 }, { a: 2 }],
    ['a structure to another one', true, 'spec.a.b', { a: { b: 1 } }, { a: { b: { c: 1 } } }],
    ['a structure to a scalar', true, 'spec.a.b', { a: { b: 1 } }, { a: 'x' }],
    ['a scalar to a structure', true, 'spec.a.b', { a: 'x' }, { a: { b: 1 } }],
    ['a structure to an empty one', true, 'spec.a.b', { a: { b: 1 } }, { a: {} }],
    ['an empty structure to a full one', true, 'spec.a.b', { a: {} }, { a: { b: 1 } }],
    ['a structure to null', true, 'spec.a.b', { a: { b: 1 } }, { a: null }],
    ['null to a structure', true, 'spec.a.b', { a: null }, { a: { b: 1 } }],
    ['a structure to nothing', true, 'spec.a.b', { a: { b: 1 } }, {}],
    ['nothing to a structure', true, 'spec.a.b', {}, { a: { b: 1 } }],
    ['a list to another list', true, 'spec.a', { a: [1] }, { a: [1, 2] }],
    ['inside of a list', false, 'spec.a.0', { a: [1] }, { a: [2] }],
  ])('%s: %s', (_title, verdict, field, old, new_) => {
    const cause = changingCause(someBody, { old: { spec: old }, new: { spec: new_ } });
    expect(match(changeHandler('field', { field }), cause)).toBe(verdict);
    expect(match(changeHandler('update', { field }), cause)).toBe(verdict);
  });

  it('has keys with dots, if it is a list of keys', () => {
    const handler = changeHandler('field', { field: ['metadata', 'annotations', 'example.com/note'] });
    const essence = (note: string) => ({ metadata: { annotations: { 'example.com/note': note } } });
    expect(match(handler, changingCause(someBody, { old: essence('a'), new: essence('b') }))).toBe(true);
    expect(match(handler, changingCause(someBody, { old: essence('a'), new: essence('a') }))).toBe(false);
  });

  it.each(['spec.constructor', 'spec.__proto__', 'spec.toString.name', '__proto__', 'constructor.name'])(
    'never leads to a prototype: %s',
    (field) => {
      const { on, handlers } = createRegistry();
      on.event('kopfexamples', { field }, function fn() {});
      expect(handlers.watching.select(watchingCause({ spec: {} }))).toEqual([]);
      expect(match(changeHandler('create', { field }), changed('a', 'b'))).toBe(false);
    },
  );

  it('finds own keys named as those of prototypes', () => {
    const { on, handlers } = createRegistry();
    on.event('kopfexamples', { field: 'spec.__proto__.x', value: 1 }, function a() {});
    on.event('kopfexamples', { field: 'spec.constructor', value: 'x' }, function b() {});
    const body = JSON.parse('{"spec": {"__proto__": {"x": 1}, "constructor": "x"}}');
    expect(handlers.watching.select(watchingCause(body))).toHaveLength(2);
  });
});
