/**
 * The expectations are answers of kube-apiserver 1.36.4 to exactly these objects, recorded once.
 * The real server goes through maps in a random order; so causes are compared as sets.
 */
import { deepCopy } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import type { Cause, ServedObject } from '../../src/contracts/objects.js';
import { schemaCompiler } from '../../src/crd/schemas/compiled-schema.js';
import objects from './recorded/objects.json' with { type: 'json' };
import schema from './recorded/schema.json' with { type: 'json' };

interface Recorded {
  readonly title: string;
  readonly object: object;
  readonly status: number;
  readonly stored?: object;
  readonly causes?: readonly Cause[];
}

const compiled = schemaCompiler.compile(schema, { preserveUnknownFields: false });
const served = (content: object): ServedObject =>
  ({ apiVersion: 'rec.example.com/v1', kind: 'Thing', metadata: { name: 'x' }, ...deepCopy(content) }) as ServedObject;
const sorted = (causes: readonly Cause[]): readonly Cause[] =>
  [...causes].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
const table = objects as unknown as readonly Recorded[];

function accept(content: object): { object: ServedObject; causes: readonly Cause[] } {
  const object = served(content);
  compiled.prune(object);
  compiled.dropNulls(object);
  compiled.fillIn(object);
  return { object, causes: compiled.validate(object) };
}

describe('objects that the real server accepts', () => {
  it.each(table.filter(({ status }) => status === 201))('are stored the same way: $title', ({ object, stored }) => {
    const result = accept(object);
    expect(result.causes).toEqual([]);
    expect(result.object).toEqual(served(stored ?? {}));
  });
});

describe('objects that the real server refuses', () => {
  it.each(table.filter(({ status }) => status === 422))(
    'are refused in the same words: $title',
    ({ object, causes }) => {
      expect(sorted(accept(object).causes)).toEqual(sorted(causes ?? []));
    },
  );
});

it('all recorded answers are either of the two', () => {
  expect(table.filter(({ status }) => status !== 201 && status !== 422)).toEqual([]);
});
