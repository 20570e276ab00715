import { expect, it } from 'vitest';
import type { ServedObject } from '../../src/contracts/objects.js';
import { schemaCompiler } from '../../src/crd/schemas/compiled-schema.js';

const compiled = schemaCompiler.compile(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'string', maxLength: 2 },
          b: { type: 'string' },
          keyed: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer', maximum: 5 } } },
          },
          plain: { type: 'array', items: { type: 'integer', maximum: 5 } },
        },
      },
      status: {
        type: 'object',
        required: ['phase'],
        properties: { phase: { type: 'string' }, n: { type: 'integer' } },
      },
    },
  },
  { preserveUnknownFields: false },
);
const object = (content: object): ServedObject => ({
  apiVersion: 'x/v1',
  kind: 'X',
  metadata: { name: 'x' },
  ...content,
});
const fields = (value: object, old: object, part?: 'status'): readonly string[] =>
  compiled.validate(object(value), object(old), part).map(({ field }) => field);

it('forgives what was wrong before and has not changed', () => {
  expect(fields({ spec: { a: 'long', b: 'new' } }, { spec: { a: 'long', b: 'old' } })).toEqual([]);
  expect(fields({ spec: { a: 'longer' } }, { spec: { a: 'long' } })).toEqual(['spec.a']);
});

it('recognizes items by their keys where they have any, and nowhere else', () => {
  const [one, two] = [
    { k: 'one', v: 9 },
    { k: 'two', v: 1 },
  ];
  expect(fields({ spec: { keyed: [two, one] } }, { spec: { keyed: [one] } })).toEqual([]);
  expect(fields({ spec: { plain: [1, 9] } }, { spec: { plain: [9] } })).toEqual(['spec.plain[1]']);
  expect(fields({ spec: { plain: [9], b: 'new' } }, { spec: { plain: [9] } })).toEqual([]);
});

it('checks nothing but the status in updates of the status', () => {
  expect(fields({ spec: { a: 'long' }, status: { phase: 'x' } }, {}, 'status')).toEqual([]);
  expect(compiled.validate(object({ status: { n: 'x' } }), object({}), 'status')).toEqual([
    {
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "string": n in body must be of type integer: "string"',
      field: 'status.n',
    },
    { reason: 'FieldValueRequired', message: 'Required value', field: 'status.phase' },
  ]);
});

it('says that rules were not checked if something more basic is wrong', () => {
  const ruled = schemaCompiler.compile(
    {
      type: 'object',
      properties: { spec: { type: 'object', required: ['a'], 'x-kubernetes-validations': [{ rule: 'true' }] } },
    },
    { preserveUnknownFields: false },
  );
  expect(ruled.validate(object({ spec: {} })).map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'spec.a: Required value',
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ]);
});

it('returns the sorted paths of what was pruned', () => {
  const pruned = object({ zz: 1, spec: { yy: 1, keyed: [{ k: 'a', xx: 1 }] } });
  expect(compiled.prune(pruned)).toEqual(['spec.keyed[0].xx', 'spec.yy', 'zz']);
});
