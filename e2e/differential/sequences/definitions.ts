import {
  type Answer,
  del,
  events,
  get,
  jsonPatch,
  mergePatch,
  post,
  prepare,
  put,
  type Sequence,
  sequence,
  untilStatus,
  watch,
} from '../harness/sequence.js';
import {
  anything,
  definitions as at,
  defined,
  definition,
  type Fields,
  namespaces,
  object,
  schemaOf,
  thing,
  things,
  version,
} from './objects.js';

const one = `${at}/things.<group>`;
const isEstablished = ({ body }: Answer) =>
  /"type":"Established","status":"True"|"status":"True"[^}]*"type":"Established"/.test(JSON.stringify(body));
const established = { until: isEstablished };
const named = (names: Fields, spec: Fields = {}) =>
  definition([version('v1')], { names: { plural: 'things', kind: 'Thing', ...names }, ...spec });
const otherOf = (names: Fields, name: string) =>
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${name}.<group>`, {
    spec: { group: '<group>', scope: 'Namespaced', names, versions: [version('v1')] },
  });

export const definitions: readonly Sequence[] = [
  sequence('a definition is established', [
    post(at, definition()),
    get(one, established),
    get(things, { until: untilStatus(200) }),
  ]),
  sequence('a small definition and its defaults', [post(at, named({})), get(one, established)]),
  sequence('several versions', [
    ...defined(definition([version('v1'), version('v2'), version('v1beta1', anything, { deprecated: true })])),
    get(one, established),
    post(things, thing('a', { spec: { x: 1 } })),
    get('/apis/<group>/v2/namespaces/<ns>/things/a'),
    get('/apis/<group>/v1beta1/namespaces/<ns>/things/a'),
    get('/apis/<group>/v2/namespaces/<ns>/things'),
    mergePatch('/apis/<group>/v2/namespaces/<ns>/things/a', { spec: { x: 2 } }),
    post('/apis/<group>/v1beta1/namespaces/<ns>/things', thing('b', {}, '<group>/v1beta1')),
  ]),
  sequence('a version with a warning of its own', [
    ...defined(
      definition([version('v1'), version('v0', anything, { deprecated: true, deprecationWarning: 'v0 is "old"' })]),
    ),
    get('/apis/<group>/v0/namespaces/<ns>/things'),
    get('/apis/<group>/v0/namespaces/<ns>/things/none'),
  ]),
  sequence('a version that is not served', [
    ...defined(definition([version('v1'), version('v2', anything, { served: false })])),
    get('/apis/<group>/v2/namespaces/<ns>/things'),
    get('/apis/<group>/v2'),
  ]),
  sequence('versions of different schemas', [
    ...defined(
      definition([
        version('v1', schemaOf({ spec: schemaOf({ a: { type: 'string' }, b: { type: 'integer', default: 5 } }) })),
        version('v2', schemaOf({ spec: schemaOf({ a: { type: 'string' }, c: { type: 'boolean', default: true } }) })),
      ]),
    ),
    post(things, thing('x', { spec: { a: 'text', c: false } })),
    get('/apis/<group>/v2/namespaces/<ns>/things/x'),
    mergePatch('/apis/<group>/v2/namespaces/<ns>/things/x', { spec: { c: false } }),
    get(`${things}/x`),
  ]),
  sequence('a kind without namespaces', [
    ...defined(definition([version('v1')], { scope: 'Cluster' }), '/apis/<group>/v1/things'),
    post('/apis/<group>/v1/things', thing('a')),
    get('/apis/<group>/v1/things/a'),
    post('/apis/<group>/v1/things', thing({ name: 'b', namespace: 'default' })),
    get('/apis/<group>/v1/namespaces/default/things/a'),
    del('/apis/<group>/v1/things/a'),
  ]),
  sequence('wrong definitions', [
    post(at, object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'things.<group>', {})),
    post(at, definition([])),
    post(at, definition([version('v1', anything, { storage: false })])),
    post(at, definition([version('v1'), version('v2', anything, { storage: true })])),
    post(at, definition([version('v1'), version('v1', anything, { storage: false })])),
    post(at, definition([version('V_1', anything, { storage: true })])),
    post(at, definition([{ name: 'v1', served: true, storage: true }])),
    post(at, definition([version('v1')], { scope: 'Somewhere' })),
    post(at, definition([version('v1')], { group: 'nodots' })),
  ]),
  sequence('wrong names of definitions', [
    post(at, named({ plural: 'Things', kind: 'thing' })),
    post(at, named({ plural: 'others' })),
    post(at, named({ kind: '' })),
    post(at, named({ listKind: 'Thing' })),
    post(at, named({ shortNames: ['Bad_One'] })),
    post(at, definition([version('v1')], { group: 'other.example.com' })),
    post(at, definition([version('v1')], { group: 'apps.k8s.io' })),
  ]),
  sequence('names that are taken', [
    ...defined(named({ shortNames: ['th'] })),
    post(at, otherOf({ plural: 'others', kind: 'Thing' }, 'others')),
    get(`${at}/others.<group>`, { until: ({ body }) => JSON.stringify(body).includes('"NamesAccepted"') }),
    get('/apis/<group>/v1/namespaces/<ns>/others'),
  ]),
  sequence('wrong schemas', [
    post(at, definition([version('v1', { type: 'object', properties: { spec: {} } })])),
    post(at, definition([version('v1', { type: 'string' })])),
    post(at, definition([version('v1', { properties: {} })])),
    post(at, definition([version('v1', schemaOf({ spec: { type: 'wrong' } }))])),
    post(at, definition([version('v1', schemaOf({ spec: { type: 'array' } }))])),
    post(at, definition([version('v1', schemaOf({ spec: { type: 'string', pattern: '[' } }))])),
    post(at, definition([version('v1', schemaOf({ spec: { type: 'integer', default: 'x' } }))])),
    post(at, definition([version('v1', schemaOf({ metadata: schemaOf({ labels: { type: 'object' } }) }))])),
    post(at, definition([version('v1', schemaOf({ spec: { $ref: '#/x', type: 'object' } }))])),
    post(
      at,
      definition([version('v1', schemaOf({ spec: { type: 'array', items: { type: 'string' }, uniqueItems: true } }))]),
    ),
  ]),
  sequence('changes of a definition', [
    ...defined(definition()),
    get(one, established),
    jsonPatch(one, [{ op: 'add', path: '/spec/versions/-', value: version('v2') }]),
    get('/apis/<group>/v2/namespaces/<ns>/things', { until: untilStatus(200) }),
    mergePatch(one, { spec: { scope: 'Cluster' } }),
    mergePatch(one, { spec: { names: { kind: 'Other', listKind: 'OtherList' } } }),
    mergePatch(one, { metadata: { labels: { a: 'b' } } }),
    jsonPatch(one, [{ op: 'remove', path: '/spec/versions/0' }]),
    mergePatch(one, { spec: { group: 'other.example.com' } }),
  ]),
  sequence('the stored version changes', [
    ...defined(definition([version('v1'), version('v2')])),
    get(one, established),
    jsonPatch(one, [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ]),
    get(one, { until: ({ body }) => JSON.stringify(body).includes('"storedVersions":["v1","v2"]') }),
    jsonPatch(one, [{ op: 'remove', path: '/spec/versions/0' }]),
    mergePatch(`${one}/status`, { status: { storedVersions: ['v2'] } }),
    mergePatch(`${one}/status`, { status: { storedVersions: [] } }),
  ]),
  sequence('an update of a definition', [
    ...defined(definition()),
    get(one, established),
    put(one, definition()),
    get(one, { save: { v: 'metadata.resourceVersion' } }),
    put(one, { ...definition(), metadata: { name: 'things.<group>', resourceVersion: '<v>', labels: { a: 'b' } } }),
  ]),
  sequence('the deletion of a definition takes its objects', [
    ...defined(definition()),
    get(one, established),
    prepare(post(things, thing('a'))),
    prepare(post(things, thing('b'))),
    del(one),
    get(one, { until: untilStatus(404) }),
    get(things, { until: untilStatus(404) }),
    get('/apis/<group>', { until: untilStatus(404) }),
  ]),
  sequence('the deletion of a definition waits for finalizers', [
    ...defined(definition()),
    get(one, established),
    prepare(post(things, thing({ name: 'a', finalizers: ['example.com/keep'] }))),
    prepare(post(things, thing('b'))),
    del(one),
    get(things, { until: ({ body }) => !JSON.stringify(body).includes('"b"') }),
    post(things, thing('c')),
    mergePatch(`${things}/a`, { metadata: { finalizers: null } }),
    get(one, { until: untilStatus(404) }),
  ]),
  sequence('the deletion of a definition is seen by watchers', [
    ...defined(definition()),
    prepare(post(things, thing('a'))),
    prepare(get(things, { save: { start: 'metadata.resourceVersion' } })),
    watch('w', `${things}?watch=true&resourceVersion=<start>`),
    prepare(del(one)),
    events('w', 1),
  ]),
  sequence('a definition comes back', [
    ...defined(definition()),
    get(one, established),
    prepare(post(things, thing('a'))),
    prepare(del(one)),
    prepare(get(one, { until: untilStatus(404) })),
    prepare(get(things, { until: untilStatus(404) })),
    post(at, definition()),
    get(one, established),
    get(things, { until: untilStatus(200) }),
  ]),
  sequence('a definition is watched', [
    prepare(get(`${at}?limit=1`, { save: { start: 'metadata.resourceVersion' } })),
    watch('w', `${at}?watch=true&resourceVersion=<start>&fieldSelector=metadata.name%3Dthings.<group>`),
    prepare(post(at, definition())),
    events('w', 3),
  ]),
  sequence('conversions', [
    post(at, definition([version('v1'), version('v2')], { conversion: { strategy: 'None' } })),
    post(at, {
      ...definition([version('v1')], { conversion: { strategy: 'Wrong' } }),
      metadata: { name: 'things.<group>' },
    }),
    post(at, definition([version('v1')], { conversion: { strategy: 'Webhook' } })),
  ]),
  sequence('printer columns and other extras', [
    post(
      at,
      definition([
        version('v1', anything, {
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1, description: 'How big.' },
          ],
        }),
      ]),
    ),
    post(
      at,
      definition([
        version('v1', anything, { additionalPrinterColumns: [{ name: 'Bad', type: 'wrong', jsonPath: 'spec' }] }),
      ]),
    ),
    post(at, definition([version('v1', anything, { subresources: { scale: { specReplicasPath: 'spec' } } })])),
  ]),
  sequence('custom objects in a namespace that is not there', [
    ...defined(definition()),
    prepare(get(`${namespaces}/none-<id>`)),
    post('/apis/<group>/v1/namespaces/none-<id>/things', thing('a')),
    get('/apis/<group>/v1/namespaces/none-<id>/things'),
  ]),
  sequence('fields for selecting', [
    ...(
      [
        ['.spec.size', '.spec.none'],
        ['.spec', '.spec.list'],
        ['.spec.size', '.spec.size'],
        ['spec.size', ''],
        ['.spec.list[0]', '.spec.'],
        ['.metadata.name', '.spec.others.any'],
      ] as const
    ).map((paths) =>
      post(
        at,
        definition([
          version(
            'v1',
            schemaOf({
              spec: schemaOf({
                size: { type: 'integer' },
                list: { type: 'array', items: { type: 'string' } },
                others: { type: 'object', additionalProperties: { type: 'string' } },
              }),
            }),
            { selectableFields: paths.map((jsonPath) => ({ jsonPath })) },
          ),
        ]),
      ),
    ),
  ]),
];
