/** A custom kind with everything that a structural schema can say, and valid objects of it. */
import { type Fields, object, schemaOf } from '../../sequences/objects.js';
import type { GeneratedKind } from '../generated-kind.js';
import type { Random } from '../random.js';

export const widgetGroup = 'generated.example.com';

const string = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const intOrString = { 'x-kubernetes-int-or-string': true };
const preserve = { 'x-kubernetes-preserve-unknown-fields': true };
const listOf = (items: Fields, rest: Fields = {}): Fields => ({ type: 'array', items, ...rest });
const mapOf = (values: Fields, rest: Fields = {}): Fields => ({
  type: 'object',
  additionalProperties: values,
  ...rest,
});

const spec = schemaOf(
  {
    title: { ...string, minLength: 1, maxLength: 10, pattern: '^[a-z]+$' },
    size: { ...integer, default: 1, minimum: 0, maximum: 100 },
    ratio: { type: 'number', minimum: 0, exclusiveMinimum: true, multipleOf: 0.5 },
    small: { ...integer, format: 'int32' },
    big: { ...integer, format: 'int64' },
    mode: { ...string, enum: ['Fast', 'Slow'], default: 'Fast' },
    flag: { ...boolean, default: true },
    maybe: { ...string, nullable: true },
    maybeDefault: { ...string, nullable: true, default: 'there' },
    maybeObject: { ...schemaOf({ a: string }), nullable: true },
    when: { ...string, format: 'date-time' },
    day: { ...string, format: 'date' },
    duration: { ...string, format: 'duration' },
    mail: { ...string, format: 'email' },
    address: { ...string, format: 'ipv4' },
    id: { ...string, format: 'uuid' },
    bytes: { ...string, format: 'byte' },
    secret: { ...string, format: 'password' },
    unknownFormat: { ...string, format: 'whatever' },
    port: intOrString,
    limited: { anyOf: [integer, string], ...intOrString, pattern: '^[0-9]+%?$' },
    ports: listOf(
      schemaOf(
        { name: string, port: integer, protocol: { ...string, default: 'TCP' }, note: string },
        { required: ['port'] },
      ),
      { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port', 'protocol'], maxItems: 4 },
    ),
    tags: listOf(string, { 'x-kubernetes-list-type': 'set', maxItems: 5 }),
    steps: listOf(schemaOf({ run: string, times: { ...integer, default: 1 } }), { 'x-kubernetes-list-type': 'atomic' }),
    plain: listOf(integer, { minItems: 1 }),
    lists: listOf(listOf(integer)),
    deep: {
      ...schemaOf({
        a: { ...string, default: 'x' },
        b: { ...schemaOf({ c: { ...integer, default: 3 }, d: string }), default: {} },
        required: string,
      }),
      default: {},
    },
    needs: schemaOf({ a: string, b: schemaOf({ c: integer }, { required: ['c'] }) }, { required: ['a'] }),
    free: { type: 'object', ...preserve, properties: { known: schemaOf({ a: integer }) } },
    anything: preserve,
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserve },
    typed: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { apiVersion: string, kind: string, metadata: { type: 'object' }, spec: schemaOf({ a: string }) },
    },
    labels: mapOf(string, { maxProperties: 3 }),
    limits: mapOf(intOrString),
    atomicMap: mapOf(string, { 'x-kubernetes-map-type': 'atomic' }),
    atomicObject: { ...schemaOf({ a: string, b: integer }), 'x-kubernetes-map-type': 'atomic' },
    objects: mapOf(schemaOf({ v: { ...integer, default: 7 }, w: string })),
    choice: { ...schemaOf({ a: string, b: string }), oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    several: {
      ...schemaOf({ a: integer, b: integer }),
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      not: { required: ['c'] },
    },
  },
  { required: ['title'] },
);

const status = schemaOf({
  phase: { ...string, enum: ['New', 'Done'] },
  size: integer,
  selector: string,
  conditions: listOf(schemaOf({ type: string, status: string, reason: string }, { required: ['type', 'status'] }), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  }),
});

const column = (name: string, type: string, jsonPath: string, rest: Fields = {}) => ({ name, type, jsonPath, ...rest });

/** Not all versions have the same selectable fields: the real server would take these for fields without a schema. */
const versionOf = (name: string, schema: Fields, selectable: readonly string[]): Fields => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.size',
      labelSelectorPath: '.status.selector',
    },
  },
  selectableFields: selectable.map((jsonPath) => ({ jsonPath })),
  additionalPrinterColumns: [
    column('Title', 'string', '.spec.title'),
    column('Size', 'integer', '.spec.size'),
    column('Ratio', 'number', '.spec.ratio'),
    column('Flag', 'boolean', '.spec.flag', { priority: 1 }),
    column('When', 'date', '.spec.when'),
    column('Tags', 'string', '.spec.tags'),
    column('Port', 'string', '.spec.ports[0].port'),
    column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status', { description: 'whether it is ready' }),
    column('Age', 'date', '.metadata.creationTimestamp'),
  ],
});

const {
  deep: _deep,
  choice: _choice,
  ...otherProperties
} = (spec as { properties: Record<string, Fields> }).properties;

/** The definition of widgets: `v1` is stored, `v1beta1` knows fewer fields and has other defaults. */
export const widgetDefinition = (group = widgetGroup): Fields =>
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `widgets.${group}`, {
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
      versions: [
        versionOf('v1', schemaOf({ spec, status }), ['.spec.title', '.spec.mode']),
        versionOf(
          'v1beta1',
          schemaOf({
            spec: schemaOf({ ...otherProperties, mode: { ...string, enum: ['Fast', 'Slow'], default: 'Slow' } }),
            status,
          }),
          ['.spec.title'],
        ),
      ],
    },
  });

const word = (random: Random): string => random.pick(['one', 'two', 'abc', 'z']);
const anything = (random: Random): unknown =>
  random.pick<unknown>([1, 'text', true, null, 1.5, [1, 'a', null], { a: { b: [] } }, {}, [], -0.25, 1e21]);
const quantity = (random: Random): unknown => random.pick<unknown>([1, '2', '50%', 0]);

const widgetSpec = (random: Random): Fields => ({
  title: word(random),
  ...random.fields(
    {
      size: () => random.below(10),
      ratio: () => random.pick([0.5, 1, 2.5]),
      small: () => random.pick([1, -5, 2_147_483_647]),
      big: () => random.pick([1, 9_007_199_254_740_991]),
      mode: () => random.pick(['Fast', 'Slow']),
      flag: () => random.chance(0.5),
      maybe: () => random.pick([null, 'x', '']),
      maybeDefault: () => random.pick([null, 'x']),
      maybeObject: () => random.pick<Fields | null>([null, { a: 'x' }, {}]),
      when: () => random.pick(['2020-01-02T03:04:05Z', '2020-01-02T03:04:05.678+02:00']),
      day: () => '2020-01-02',
      duration: () => random.pick(['1h', '90s', '1h30m']),
      mail: () => 'joe@example.com',
      address: () => '10.1.2.3',
      id: () => '6b29fc40-ca47-1067-b31d-00dd010662da',
      bytes: () => 'AAEC',
      secret: () => 'x',
      unknownFormat: () => 'x',
      port: () => quantity(random),
      limited: () => random.pick<unknown>([1, '2', '50%']),
      ports: () =>
        random.some<Fields>([
          { port: 80, name: word(random) },
          { port: 80, protocol: 'UDP' },
          { port: 443, protocol: 'TCP', note: word(random) },
        ]),
      tags: () => random.some(['a', 'b', 'c']),
      steps: () => random.some<Fields>([{ run: 'a' }, { run: 'b', times: 2 }, {}]),
      plain: () => random.some([1, 2, 3]),
      lists: () => random.some([[1], [], [2, 3]]),
      deep: () =>
        random.fields({ a: () => word(random), b: () => random.fields({ c: () => 5, d: () => 'x' }, 0.5) }, 0.6),
      needs: () => ({ a: word(random), ...random.fields({ b: () => ({ c: random.below(4) }) }, 0.5) }),
      free: () =>
        random.fields({ known: () => ({ a: 1 }), more: () => anything(random), other: () => anything(random) }, 0.5),
      anything: () => anything(random),
      embedded: () =>
        object('v1', 'Pod', { name: word(random) }, random.fields({ spec: () => ({ a: anything(random) }) })),
      typed: () =>
        object(
          'v1',
          'Thing',
          { name: word(random), ...random.fields({ labels: () => ({ a: 'b' }) }) },
          random.fields({ spec: () => ({ a: 'x' }) }),
        ),
      labels: () => random.fields({ a: () => word(random), b: () => word(random) }, 0.6),
      limits: () => random.fields({ cpu: () => quantity(random), memory: () => quantity(random) }, 0.6),
      atomicMap: () => random.fields({ a: () => word(random), b: () => word(random) }, 0.6),
      atomicObject: () => random.fields({ a: () => word(random), b: () => 1 }, 0.6),
      objects: () => random.fields({ one: () => ({}), two: () => ({ v: 1 }), three: () => ({ w: word(random) }) }, 0.5),
      choice: () => random.pick<Fields>([{ a: 'x' }, { b: 'x' }]),
      several: () => random.pick<Fields>([{ a: 1 }, { b: 1 }, { a: 1, b: 2 }]),
    },
    0.2,
  ),
});

const widget: GeneratedKind = {
  apiVersion: `${widgetGroup}/v1`,
  otherVersions: [`${widgetGroup}/v1beta1`],
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
  isCustom: true,
  needsVersion: true,
  scales: true,
  body: (random) => ({ spec: widgetSpec(random), ...random.fields({ status: () => ({ phase: 'New' }) }, 0.1) }),
  status: (random) =>
    random.fields(
      {
        phase: () => random.pick(['New', 'Done']),
        size: () => random.below(5),
        selector: () => 'app=web',
        conditions: () =>
          random.some<Fields>([
            { type: 'Ready', status: random.pick(['True', 'False']) },
            { type: 'Synced', status: 'True', reason: word(random) },
          ]),
      },
      0.5,
    ),
  selectable: [
    ['spec.title', 'one'],
    ['spec.mode', 'Fast'],
  ],
};

export const customKinds: readonly (readonly [weight: number, kind: GeneratedKind])[] = [[1, widget]];
