import { describe, expect, it, vi } from 'vitest';
import { ABSENT, type MetaFilter, PRESENT } from '../../src/intents/filters.js';
import { match, prematch } from '../../src/intents/matching.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { changingCause, indexingCause, spawningCause, watchingCause, webhookCause } from '../causation/make-causes.js';

type Metas = 'labels' | 'annotations';

function fits(where: Metas, filter: MetaFilter, values: unknown): boolean {
  const { on, handlers } = createRegistry();
  on.event('kopfexamples', { [where]: filter } as { labels: MetaFilter }, function fn() {});
  const body: AnyObject = { metadata: { name: 'one', ...(values === undefined ? {} : { [where]: values }) } };
  return handlers.watching.select(watchingCause(body)).length === 1;
}

describe.each<Metas>(['labels', 'annotations'])('filters of %s', (where) => {
  it.each<[string, boolean, MetaFilter, unknown]>([
    ['an empty filter', true, {}, { other: 'x' }],
    ['an empty filter, nothing there', true, {}, undefined],
    ['the same value', true, { key: 'value' }, { key: 'value' }],
    ['the same value, and other keys', true, { key: 'value' }, { key: 'value', other: 'x' }],
    ['another value', false, { key: 'value' }, { key: 'other' }],
    ['no such key', false, { key: 'value' }, { other: 'value' }],
    ['nothing there', false, { key: 'value' }, undefined],
    ['an empty value wanted and there', true, { key: '' }, { key: '' }],
    ['an empty value wanted and absent', false, { key: '' }, {}],
    ['one of two keys', false, { key: 'value', other: 'x' }, { key: 'value' }],
    ['both keys', true, { key: 'value', other: 'x' }, { key: 'value', other: 'x' }],
    ['PRESENT with a value', true, { key: PRESENT }, { key: 'value' }],
    ['PRESENT with an empty value', true, { key: PRESENT }, { key: '' }],
    ['PRESENT without the key', false, { key: PRESENT }, { other: 'x' }],
    ['PRESENT with nothing there', false, { key: PRESENT }, undefined],
    ['ABSENT with a value', false, { key: ABSENT }, { key: 'value' }],
    ['ABSENT with an empty value', false, { key: ABSENT }, { key: '' }],
    ['ABSENT without the key', true, { key: ABSENT }, { other: 'x' }],
    ['ABSENT with nothing there', true, { key: ABSENT }, undefined],
    ['a callback that agrees', true, { key: (value) => value === 'value' }, { key: 'value' }],
    ['a callback that disagrees', false, { key: (value) => value === 'value' }, { key: 'other' }],
    ['a callback for an absent key', true, { key: (value) => value === undefined }, { other: 'x' }],
    ['a callback with nothing there', true, { key: (value) => value === undefined }, undefined],
    ['what is not a mapping at all', false, { key: PRESENT }, 'text'],
    ['null instead of a mapping', true, { key: ABSENT }, null],
    ['a key as of a prototype, not there', false, { constructor: PRESENT as never }, {}],
    ['a key as of a prototype, there', true, { constructor: 'x' as never }, { constructor: 'x' }],
    ['the key of a prototype wanted to be absent', true, { toString: ABSENT as never }, {}],
    ['the key of the prototype itself', true, JSON.parse('{"__proto__": "x"}'), JSON.parse('{"__proto__": "x"}')],
    ['the key of the prototype itself, absent', false, JSON.parse('{"__proto__": "x"}'), {}],
  ])('%s: %s', (_title, verdict, filter, values) => {
    expect(fits(where, filter, values)).toBe(verdict);
  });

  it('ask callbacks with the value and the kwargs', () => {
    const callback = vi.fn(() => true);
    fits(where, { key: callback }, { key: 'value' });
    expect(callback).toHaveBeenCalledOnce();
    expect(callback).toHaveBeenCalledWith('value', expect.objectContaining({ name: 'one', type: 'ADDED' }));
  });

  it('take whatever callbacks return for yes or no', () => {
    expect(fits(where, { key: (() => 'yes') as never }, {})).toBe(true);
    expect(fits(where, { key: (() => undefined) as never }, {})).toBe(false);
  });
});

describe('labels and annotations together', () => {
  const { on, handlers } = createRegistry();
  on.event('kopfexamples', { labels: { a: '1' }, annotations: { b: '2' } }, function fn() {});

  it.each([
    [true, { a: '1' }, { b: '2' }],
    [false, { a: '1' }, { b: '3' }],
    [false, { a: '2' }, { b: '2' }],
    [false, { b: '2' }, { a: '1' }],
  ])('must both fit: %s', (verdict, labels, annotations) => {
    const body = { metadata: { labels, annotations } as AnyObject['metadata'] } as AnyObject;
    expect(handlers.watching.select(watchingCause(body))).toHaveLength(verdict ? 1 : 0);
  });
});

describe('metadata is looked at in the object as it is now', () => {
  const { on, index, daemon, handlers } = createRegistry();
  const filter = { labels: { key: 'now' } };
  on.create('kopfexamples', filter, function create() {});
  on.validate('kopfexamples', filter, function validate() {});
  index('kopfexamples', filter, function index() {});
  daemon('kopfexamples', filter, function daemon() {});
  const now = { metadata: { labels: { key: 'now' } } };
  const then = { metadata: { labels: { key: 'then' } } };

  it.each([
    [true, now, then],
    [false, then, now],
  ])('by all kinds of handlers: %s', (verdict, body, old) => {
    const found = [
      handlers.changing.select(changingCause(body, { reason: 'create', old })),
      handlers.webhooks.select(webhookCause(body, { old })),
      handlers.indexing.select(indexingCause(body)),
      handlers.spawning.select(spawningCause(body)),
    ].map((selected) => selected.length === 1);
    expect(found).toEqual([verdict, verdict, verdict, verdict]);
  });

  it('also when only the interest is asked about', () => {
    const [handler] = handlers.changing;
    if (handler === undefined) expect.unreachable();
    expect(prematch(handler, changingCause(now, { old: then }))).toBe(true);
    expect(prematch(handler, changingCause(then, { old: now }))).toBe(false);
    expect(match(handler, changingCause(then, { old: now }))).toBe(false);
  });
});
