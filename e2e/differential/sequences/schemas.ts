import { get, jsonPatch, mergePatch, post, prepare, put, type Sequence, sequence } from '../harness/sequence.js';
import { defined, definition, type Fields, schemaOf, thing, things, version } from './objects.js';

const withSpec = (spec: Fields, rest: Fields = {}) =>
  defined(definition([version('v1', schemaOf({ spec, ...rest }), { subresources: { status: {} } })]));
const create = (name: string, spec: unknown) => post(things, thing(name, { spec }));
const text = { type: 'string' };
const integer = { type: 'integer' };

const inOneOrder: readonly Sequence[] = [
  sequence('unknown fields are pruned', [
    ...withSpec(
      schemaOf({
        known: text,
        deep: schemaOf({ known: text }),
        list: { type: 'array', items: schemaOf({ known: text }) },
      }),
    ),
    create('a', { known: 'x', unknown: 'y', deep: { known: 'x', unknown: 1 }, list: [{ known: 'x', unknown: [] }] }),
    post(things, thing('b', { spec: {}, top: 'level', status: { gone: true } })),
    mergePatch(`${things}/a`, { spec: { unknown: 'again' } }),
    get(`${things}/a`),
  ]),
  sequence('unknown fields and strictness', [
    ...withSpec(schemaOf({ known: text })),
    post(`${things}?fieldValidation=Strict`, thing('a', { spec: { unknown: 1, other: { deep: 2 } } })),
    post(`${things}?fieldValidation=Warn`, thing('b', { spec: { unknown: 1 } })),
    post(`${things}?fieldValidation=Ignore`, thing('c', { spec: { unknown: 1 } })),
    mergePatch(`${things}/b?fieldValidation=Strict`, { spec: { unknown: 1 } }),
    post(
      `${things}?fieldValidation=Strict`,
      '{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"d"},"spec":{"known":"a","known":"b"}}',
    ),
  ]),
  sequence('rules in CEL', [
    ...withSpec({ ...schemaOf({ x: integer }), 'x-kubernetes-validations': [{ rule: 'self.x > 0' }] }),
    create('a', { x: 1 }),
    create('b', { x: 0 }),
  ]),
  sequence('unknown fields are preserved where asked', [
    ...withSpec(
      schemaOf({
        free: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { fixed: schemaOf({ a: text }) },
        },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
      }),
    ),
    create('a', { free: { more: { deep: [1, { x: null }] }, fixed: { a: 'x', gone: 1 } }, any: 5, gone: 1 }),
    create('b', { any: ['list'] }),
    create('c', { free: 'text' }),
  ]),
  sequence('defaults', [
    ...withSpec(
      schemaOf({
        size: { ...integer, default: 3 },
        name: { ...text, default: 'unnamed' },
        deep: { ...schemaOf({ on: { type: 'boolean', default: true } }), default: {} },
        list: { type: 'array', items: schemaOf({ port: { ...integer, default: 80 } }) },
        map: { type: 'object', additionalProperties: schemaOf({ v: { ...integer, default: 1 } }) },
        none: schemaOf({ inner: { ...text, default: 'x' } }),
      }),
    ),
    create('a', {}),
    create('b', { size: 7, name: null, list: [{}, { port: 1 }], map: { a: {}, b: { v: 2 } } }),
    post(things, thing('c')),
    mergePatch(`${things}/a`, { spec: { size: null, none: {} } }),
  ]),
  sequence('wrong types', [
    ...withSpec(
      schemaOf({
        text,
        integer,
        number: { type: 'number' },
        yes: { type: 'boolean' },
        list: { type: 'array', items: integer },
        map: { type: 'object' },
      }),
    ),
    create('a', { text: 5 }),
    create('a', { integer: 'x' }),
    create('a', { integer: 1.5 }),
    create('a', { number: '1' }),
    create('a', { yes: 'true', list: {}, map: [] }),
    create('a', { list: [1, 'x', 2.5] }),
    create('a', 'text'),
    create('a', { text: null }),
    create('b', { integer: 2.0, number: 3 }),
  ]),
  sequence('limits of numbers', [
    ...withSpec(
      schemaOf({
        n: { ...integer, minimum: 1, maximum: 10 },
        x: { type: 'number', minimum: 0, exclusiveMinimum: true, multipleOf: 0.5 },
      }),
    ),
    create('a', { n: 0 }),
    create('a', { n: 11 }),
    create('a', { x: 0 }),
    create('a', { x: 0.7 }),
    create('a', { n: 10, x: 1.5 }),
  ]),
  sequence('limits of texts', [
    ...withSpec(
      schemaOf({
        s: { ...text, minLength: 2, maxLength: 4, pattern: '^[a-zä]*$' },
        e: { ...text, enum: ['one', 'two'] },
      }),
    ),
    create('a', { s: 'a' }),
    create('a', { s: 'abcde' }),
    create('a', { s: 'ABC' }),
    create('a', { s: 'ääää' }),
    create('b', { e: 'three' }),
    create('b', { e: 'two' }),
  ]),
  sequence('formats', [
    ...withSpec(
      schemaOf({
        date: { ...text, format: 'date-time' },
        ip: { ...text, format: 'ipv4' },
        uuid: { ...text, format: 'uuid' },
        mail: { ...text, format: 'email' },
        host: { ...text, format: 'hostname' },
        raw: { ...text, format: 'byte' },
        small: { ...integer, format: 'int32' },
      }),
    ),
    create('a', { date: 'yesterday' }),
    create('a', { ip: '1.2.3' }),
    create('a', { uuid: 'x' }),
    create('a', { mail: 'x' }),
    create('a', { raw: '***' }),
    create('a', { small: 3_000_000_000 }),
    create('a', { date: '2020-01-02T03:04:05Z', ip: '1.2.3.4', mail: 'a@b.example.com', host: 'a.b', raw: 'YQ==' }),
  ]),
  sequence('limits of lists and maps', [
    ...withSpec(
      schemaOf({
        list: { type: 'array', items: text, minItems: 1, maxItems: 2 },
        map: { type: 'object', additionalProperties: integer, maxProperties: 2, minProperties: 1 },
      }),
    ),
    create('a', { list: [] }),
    create('a', { list: ['a', 'b', 'c'] }),
    create('a', { map: {} }),
    create('a', { map: { a: 1, b: 2, c: 3 } }),
    create('a', { map: { a: 'x' } }),
    create('a', { list: ['a'], map: { a: 1 } }),
  ]),
  sequence('required fields', [
    ...withSpec(schemaOf({ a: text, b: schemaOf({ c: text }, { required: ['c'] }) }, { required: ['a', 'b'] })),
    create('a', {}),
    create('a', { a: 'x', b: {} }),
    create('a', { a: null, b: { c: 'x' } }),
    create('a', { a: 'x', b: { c: 'y' } }),
    mergePatch(`${things}/a`, { spec: { a: null } }),
    jsonPatch(`${things}/a`, [{ op: 'remove', path: '/spec/b' }]),
    put(`${things}/a`, thing('a', {})),
  ]),
  sequence('nullable fields', [
    ...withSpec(
      schemaOf({
        yes: { ...text, nullable: true },
        no: text,
        with: { ...text, nullable: true, default: 'x' },
        list: { type: 'array', items: { ...integer, nullable: true } },
      }),
    ),
    create('a', { yes: null }),
    create('b', { no: null }),
    create('c', { with: null }),
    create('d', { list: [1, null] }),
    create('e', {}),
  ]),
  sequence('integers or texts', [
    ...withSpec(
      schemaOf({
        port: { 'x-kubernetes-int-or-string': true },
        both: { 'x-kubernetes-int-or-string': true, anyOf: [integer, text], pattern: '^[0-9]+%?$' },
      }),
    ),
    create('a', { port: 80, both: '50%' }),
    create('b', { port: 'http', both: 5 }),
    create('c', { port: 1.5 }),
    create('d', { port: true }),
    create('e', { both: 'x' }),
    create('f', { port: null }),
  ]),
  sequence('combined schemas', [
    ...withSpec(
      schemaOf(
        { a: integer, b: integer, c: text },
        {
          oneOf: [{ required: ['a'] }, { required: ['b'] }],
          not: { required: ['c'], properties: { c: { enum: ['bad'] } } },
        },
      ),
    ),
    create('x', { a: 1 }),
    create('y', { a: 1, b: 2 }),
    create('y', {}),
    create('y', { b: 1, c: 'bad' }),
  ]),
  sequence('any and all of schemas', [
    ...withSpec(
      schemaOf({
        n: { ...integer, anyOf: [{ minimum: 10 }, { maximum: 0 }] },
        m: { ...integer, allOf: [{ minimum: 1 }, { maximum: 5 }] },
      }),
    ),
    create('x', { n: 5 }),
    create('x', { m: 9 }),
    create('x', { n: 11, m: 3 }),
  ]),
  sequence('kinds of lists', [
    ...withSpec(
      schemaOf({
        set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        map: {
          type: 'array',
          items: schemaOf({ k: text, v: integer }, { required: ['k'] }),
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
      }),
    ),
    create('a', { set: ['x', 'x'] }),
    create('a', { map: [{ k: 'a' }, { k: 'a', v: 1 }] }),
    create('a', { set: ['x', 'y'], map: [{ k: 'a' }, { k: 'b' }] }),
  ]),
  sequence('embedded resources', [
    ...withSpec(
      schemaOf({
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      }),
    ),
    create('a', { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', unknown: 1 }, spec: { any: 1 } } }),
    create('b', { template: { metadata: {} } }),
    create('c', { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'Bad_Name' } } }),
  ]),
  sequence('schemas of the status', [
    ...withSpec(schemaOf({ x: integer }, { required: ['x'] }), {
      status: schemaOf({ phase: { ...text, enum: ['On', 'Off'] }, n: { ...integer, default: 1 } }),
    }),
    create('a', { x: 1 }),
    mergePatch(`${things}/a/status`, { status: { phase: 'Maybe' } }),
    mergePatch(`${things}/a/status`, { status: { phase: 'On', gone: 1 } }),
    mergePatch(`${things}/a`, { spec: { x: 2 }, status: { phase: 'Wrong' } }),
  ]),
  sequence('many mistakes at once', [
    ...withSpec(schemaOf({ a: integer, b: text, c: { type: 'boolean' } }, { required: ['d'] })),
    create('a', { a: 'x', b: 1, c: 'y' }),
    post(things, thing('Bad_Name', { spec: { a: 'x' } })),
  ]),
  sequence('schemas on metadata', [
    ...defined(
      definition([
        version('v1', schemaOf({ metadata: schemaOf({ name: { ...text, maxLength: 3 } }), spec: schemaOf({}) })),
      ]),
    ),
    post(things, thing('abcd')),
    post(things, thing('abc')),
  ]),
  sequence('old objects and new schemas', [
    ...withSpec(schemaOf({ n: integer, s: text })),
    prepare(create('a', { n: 50, s: 'x' })),
    prepare(
      mergePatch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.<group>', {
        spec: { versions: [version('v1', schemaOf({ spec: schemaOf({ n: { ...integer, maximum: 10 }, s: text }) }))] },
      }),
    ),
    prepare(
      post(`${things}?dryRun=All`, thing('probe', { spec: { n: 50 } }), { until: ({ status }) => status === 422 }),
    ),
    get(`${things}/a`),
    mergePatch(`${things}/a`, { spec: { s: 'y' } }),
    mergePatch(`${things}/a`, { spec: { n: 60 } }),
    mergePatch(`${things}/a`, { spec: { n: 5 } }),
  ]),
  sequence('metadata of embedded resources', [
    ...withSpec(
      schemaOf({
        one: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      }),
    ),
    ...[
      { name: 'fine', labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['example.com/x'] },
      { labels: { a: 'not ok' } },
      { annotations: { 'not ok': 'x' } },
      { name: 'a/b', namespace: 'Wrong' },
      { generateName: 'a%' },
      { finalizers: ['no way!'] },
      { ownerReferences: [{ apiVersion: 'v1', kind: '', name: 'x', uid: '' }] },
    ].map((metadata, index) => create(`o${index}`, { one: { apiVersion: 'v1', kind: 'Pod', metadata } })),
  ]),
];

export const schemas = inOneOrder.map((one) => ({ ...one, causesComeInAnyOrder: true }));
