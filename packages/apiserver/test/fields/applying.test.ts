import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServedObject } from '../../src/contracts/objects.js';
import { ConflictsError } from '../../src/fields/conflicts.js';
import { type FieldSet, isMember, NOTHING } from '../../src/fields/field-sets.js';
import { type ManagerEntry, NO_MANAGERS } from '../../src/fields/managers.js';
import { applied, managersAfter, type Writing } from '../../src/fields/tracking.js';
import { fieldTypeOf } from '../../src/schemas/field-types.js';

type Values = Readonly<Record<string, string>>;

/** The same values in different clothes: how they are in an object, and by which steps they are owned. */
interface Clothing {
  readonly name: string;
  dress(values: Values): ServedObject;
  undress(object: ServedObject): Values;
  readonly steps: readonly string[];
  step(key: string): string;
}

const text = { type: 'string' };
const type = fieldTypeOf({
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          keep: text,
          mapping: { type: 'object', additionalProperties: text },
          items: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', properties: { name: text, value: text } },
          },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
});
const object = (spec: object): ServedObject => ({
  apiVersion: 'e.com/v1',
  kind: 'Thing',
  metadata: { name: 'x' },
  spec,
});

const clothings: readonly Clothing[] = [
  {
    name: 'entries of a mapping',
    dress: (values) => object({ mapping: values }),
    undress: ({ spec }) => (spec?.mapping ?? {}) as Values,
    steps: ['f:spec', 'f:mapping'],
    step: (key) => `f:${key}`,
  },
  {
    name: 'fields without a schema',
    dress: (values) => object({ free: values }),
    undress: ({ spec }) => (spec?.free ?? {}) as Values,
    steps: ['f:spec', 'f:free'],
    step: (key) => `f:${key}`,
  },
  {
    name: 'values of items',
    dress: (values) => object({ items: Object.entries(values).map(([name, value]) => ({ name, value })) }),
    undress: ({ spec }) =>
      Object.fromEntries(
        ((spec?.items ?? []) as readonly { name: string; value: string }[]).map(({ name, value }) => [name, value]),
      ),
    steps: ['f:spec', 'f:items'],
    step: (key) => `k:{"name":${JSON.stringify(key)}}`,
  },
];

interface Operation {
  readonly does: 'apply' | 'force' | 'update';
  readonly manager: string;
  readonly values: Values;
}

const operations = fc.array(
  fc.record({
    does: fc.constantFrom('apply' as const, 'force' as const, 'update' as const),
    manager: fc.constantFrom('a', 'b', 'c'),
    values: fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.constantFrom('1', '2'), { minKeys: 1, maxKeys: 3 }),
  }),
  { maxLength: 12 },
);

/** Who owns which keys, and what they are: as plainly as it can be said. */
class Model {
  values = new Map<string, string>();
  readonly owners = new Map<string, Set<string>>();

  /** Returns the keys of conflicts; nothing has happened if there are any. */
  apply(manager: string, values: Values, isForced: boolean): readonly string[] {
    const me = `${manager} Apply`;
    const others = [...this.owners].filter(([name]) => name !== me).map(([, keys]) => keys);
    const isOthers = (key: string): boolean => others.some((keys) => keys.has(key));
    const changed = Object.keys(values).filter((key) => this.values.get(key) !== values[key]);
    const conflicts = changed.filter(isOthers);
    if (conflicts.length > 0 && !isForced) return conflicts;
    const gone = [...(this.owners.get(me) ?? [])].filter((key) => !Object.hasOwn(values, key) && !isOthers(key));
    for (const keys of others) for (const key of [...changed, ...gone]) keys.delete(key);
    for (const key of gone) this.values.delete(key);
    for (const [key, value] of Object.entries(values)) this.values.set(key, value);
    this.owners.set(me, new Set(Object.keys(values)));
    return [];
  }

  update(manager: string, values: Values): void {
    const me = `${manager} Update`;
    const changed = Object.keys(values).filter((key) => this.values.get(key) !== values[key]);
    const gone = [...this.values.keys()].filter((key) => !Object.hasOwn(values, key));
    for (const keys of this.owners.values()) for (const key of [...changed, ...gone]) keys.delete(key);
    const mine = this.owners.get(me) ?? new Set();
    for (const key of changed) mine.add(key);
    this.owners.set(me, mine);
    this.values = new Map(Object.entries(values));
  }

  get ownership(): Record<string, string[]> {
    const all = [...this.owners].filter(([, keys]) => keys.size > 0);
    return Object.fromEntries(all.map(([name, keys]) => [name, [...keys].sort()]));
  }
}

function ownershipIn(managers: readonly ManagerEntry[], { steps, step }: Clothing): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { manager, operation, fieldsV1 } of managers) {
    let node: FieldSet | undefined = fieldsV1;
    for (const one of steps) node = node?.[one];
    const keys = ['k', 'l', 'm'].filter((key) => {
      const inside = node?.[step(key)];
      return inside !== undefined && isMember(inside);
    });
    if (keys.length > 0) found[`${manager} ${operation}`] = keys;
  }
  return found;
}

/** An item goes with all that others have changed in it: items are another story. */
const simple = clothings.filter(({ name }) => name !== 'values of items');

describe.each(simple)('$name', (clothing) => {
  it('are owned and changed as a simple model says', () => {
    fc.assert(
      fc.property(operations, (all) => {
        const model = new Model();
        let live = object({ keep: 'me' });
        let managers: readonly ManagerEntry[] = NO_MANAGERS;
        for (const { does, manager, values } of all as readonly Operation[]) {
          const operation = does === 'update' ? 'Update' : 'Apply';
          const writing: Writing = {
            kind: { type, resets: NOTHING, inVersion: () => undefined },
            identity: { manager, operation, apiVersion: 'e.com/v1', subresource: '' },
            live,
            managers,
            now: '2020-01-01T00:00:00Z',
          };
          const wanted = clothing.dress(values);
          if (does === 'update') {
            model.update(manager, values);
            const after = { ...wanted, spec: { ...wanted.spec, keep: 'me' } };
            managers = managersAfter(writing, after);
            live = after;
            continue;
          }
          const conflicts = model.apply(manager, values, does === 'force');
          try {
            const result = applied(writing, wanted, does === 'force');
            expect(conflicts).toEqual([]);
            live = result.object ?? live;
            managers = result.managers;
          } catch (error) {
            if (!(error instanceof ConflictsError)) throw error;
            expect(conflicts.length).toBeGreaterThan(0);
          }
        }
        expect(clothing.undress(live)).toEqual(Object.fromEntries(model.values));
        expect(ownershipIn(managers, clothing)).toEqual(model.ownership);
        expect(live.spec.keep).toBe('me');
      }),
      { numRuns: 300 },
    );
  });
});

describe('whoever applies', () => {
  const values = fc.dictionary(fc.constantFrom('k', 'l', 'm', 'n'), fc.constantFrom('1', '2', '3'));
  const begin = (live: ServedObject, managers: readonly ManagerEntry[], manager: string): Writing => ({
    kind: { type, resets: NOTHING, inVersion: () => undefined },
    identity: { manager, operation: 'Apply', apiVersion: 'e.com/v1', subresource: '' },
    live,
    managers,
    now: '2020-01-01T00:00:00Z',
  });

  it.each(clothings)('gets what it wants, the second time for nothing: $name', (clothing) => {
    fc.assert(
      fc.property(values, values, (first, second) => {
        const live = clothing.dress(first);
        const once = applied(begin(live, NO_MANAGERS, 'a'), clothing.dress(second), true);
        const object = once.object ?? live;
        expect(clothing.undress(object)).toEqual({ ...first, ...second });
        const twice = applied(begin(object, once.managers, 'a'), clothing.dress(second), false);
        expect(twice).toEqual({ object: undefined, managers: once.managers });
      }),
    );
  });
});
