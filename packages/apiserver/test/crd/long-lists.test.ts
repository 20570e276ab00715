/** Lists as long as bodies allow. */
import { describe, expect, it } from 'vitest';
import type { ServedObject } from '../../src/contracts/objects.js';
import { schemaCompiler } from '../../src/crd/schemas/compiled-schema.js';

const LENGTH = 200_000;

const compiled = schemaCompiler.compile(
  {
    type: 'object',
    properties: {
      set: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
      map: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' }, value: { type: 'integer' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      texts: { type: 'array', items: { type: 'string' } },
    },
  },
  { preserveUnknownFields: false },
);
const served = (content: object): ServedObject =>
  ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x' }, ...content }) as ServedObject;
const numbers = Array.from({ length: LENGTH }, (_, number) => number);

describe('long lists', () => {
  it('are checked for repetitions in a moment', () => {
    const object = served({ set: [...numbers, 7], map: [...numbers, 7].map((number) => ({ name: `n${number}` })) });
    const fields = compiled.validate(object).map(({ reason, field }) => `${reason} ${field}`);
    expect(fields).toEqual([`FieldValueDuplicate set[${LENGTH}]`, `FieldValueDuplicate map[${LENGTH}]`]);
  });

  it('tell a repetition once, whatever the order of keys', () => {
    const [one, other] = [
      { name: 'a', value: 1 },
      { value: 2, name: 'a' },
    ];
    const causes = compiled.validate(served({ map: [one, other, one], set: [1, 1, 1, 2] }));
    expect(causes.map(({ field }) => field).sort()).toEqual(['map[1]', 'set[1]']);
  });

  it('are refused even if nothing in them is right', () => {
    expect(compiled.validate(served({ texts: numbers }))).toHaveLength(LENGTH);
  });
});
