import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeResource } from '../../src/engine.js';
import { ABSENT, createRegistry, PRESENT, type Registry } from '../../src/index.js';
import { serverSelection } from '../../src/intents/server-selection.js';

const THINGS = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'things', namespaced: true });
const nothing = (): void => {};

const selectionOf = (declare: (registry: Registry) => void) => {
  const registry = createRegistry();
  declare(registry);
  return serverSelection(registry.handlers, THINGS);
};

describe('what the server is asked for', () => {
  it.each<[string, object[], object]>([
    ['one value', [{ labels: { app: 'web' } }], { labelSelector: 'app=web' }],
    ['several keys', [{ labels: { b: 'x', a: PRESENT, c: ABSENT } }], { labelSelector: '!c,a,b=x' }],
    ['values of several handlers', [{ labels: { a: 'x' } }, { labels: { a: 'y' } }], { labelSelector: 'a in (x,y)' }],
    ['a value and presence', [{ labels: { a: 'x' } }, { labels: { a: PRESENT } }], { labelSelector: 'a' }],
    ['what they have in common', [{ labels: { a: 'x', b: 'y' } }, { labels: { a: 'x' } }], { labelSelector: 'a=x' }],
    ['a value and absence', [{ labels: { a: 'x' } }, { labels: { a: ABSENT } }], {}],
    ['no labels of one of them', [{ labels: { a: 'x' } }, {}], {}],
    ['a callback', [{ labels: { a: () => true } }], {}],
    ['what cannot be a label', [{ labels: { 'not a key': 'x', a: 'not a value' } }], {}],
    ['a name', [{ field: 'metadata.name', value: 'one' }], { fieldSelector: 'metadata.name=one' }],
    [
      'two names',
      [
        { field: 'metadata.name', value: 'one' },
        { field: 'metadata.name', value: 'two' },
      ],
      {},
    ],
  ])('is by %s', (_, all, expected) => {
    const selection = selectionOf(({ on }) => {
      for (const [index, options] of all.entries()) on.create('things', { id: `fn${index}`, ...options }, nothing);
    });
    expect(selection).toEqual(expected);
  });

  it.each<[string, (registry: Registry) => void]>([
    ['daemons', ({ daemon }) => void daemon('things', { labels: { a: 'x' } }, async () => {})],
    ['timers', ({ timer }) => void timer('things', { labels: { a: 'x' }, interval: 5 }, nothing)],
    ['deletion handlers', ({ on }) => void on.delete('things', { labels: { a: 'x' } }, nothing)],
    ['resuming handlers', ({ on }) => void on.resume('things', { labels: { a: 'x' } }, nothing)],
    ['reconciliation', ({ on }) => void on.reconcile('things', { labels: { a: 'x' } }, nothing)],
    ['parents', ({ on }) => void on.child('parents', 'things', { id: 'child' }, nothing)],
    ['children', ({ on }) => void on.child('things', 'children', { id: 'child' }, nothing)],
    ['handlers of events', ({ on }) => void on.event('things', { labels: { a: 'x' } }, nothing)],
  ])('is everything with %s', (_, declare) => {
    const selection = selectionOf((registry) => {
      registry.on.create('things', { labels: { a: 'x' } }, nothing);
      declare(registry);
    });
    expect(selection).toEqual({});
  });

  it('is selected with indices and optional deletion handlers', () => {
    const selection = selectionOf(({ on, index }) => {
      index('things', { id: 'i', labels: { a: 'x' } }, () => ({}));
      on.delete('things', { optional: true, labels: { a: 'x' } }, nothing);
    });
    expect(selection).toEqual({ labelSelector: 'a=x' });
  });

  it('never leaves out what a handler wants', () => {
    const key = fc.constantFrom('a', 'b');
    const value = fc.constantFrom('x', 'y', '');
    const filter = fc.dictionary(key, fc.oneof(value, fc.constant(PRESENT), fc.constant(ABSENT)));
    fc.assert(
      fc.property(fc.array(filter, { minLength: 1, maxLength: 3 }), fc.dictionary(key, value), (filters, labels) => {
        const { labelSelector = '' } = selectionOf(({ on }) => {
          for (const [index, one] of filters.entries()) on.create('things', { id: `fn${index}`, labels: one }, nothing);
        });
        const isWanted = filters.some((one) =>
          Object.entries(one).every(([name, wanted]) => {
            const found = Object.hasOwn(labels, name) ? labels[name] : undefined;
            if (wanted === PRESENT) return found !== undefined;
            return wanted === ABSENT ? found === undefined : found === wanted;
          }),
        );
        if (isWanted) expect(fits(labelSelector, labels)).toBe(true);
      }),
    );
  });
});

/** As the server does it, for the terms in use. */
function fits(selector: string, labels: Record<string, string>): boolean {
  const terms = selector.match(/[^,(]+(?:\([^)]*\))?/g) ?? [];
  return terms.every((term) => {
    const among = /^(\w+) in \((.*)\)$/.exec(term);
    if (among !== null)
      return Object.hasOwn(labels, among[1] ?? '') && among[2]?.split(',').includes(labels[among[1] ?? ''] ?? '-');
    if (term.startsWith('!')) return !Object.hasOwn(labels, term.slice(1));
    const [name = '', value] = term.split('=');
    return Object.hasOwn(labels, name) && (value === undefined || labels[name] === value);
  });
}
