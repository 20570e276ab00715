import { del, get, jsonPatch, mergePatch, post, prepare, put, type Sequence, sequence } from '../harness/sequence.js';
import { everything, owned } from './applying.js';
import {
  clusterWide,
  configMap,
  configMaps,
  defined,
  definition,
  deployment,
  deployments,
  type Fields,
  inNamespace,
  object,
  pod,
  pods,
  schemaOf,
  thing,
  things,
  version,
} from './objects.js';

const as = (manager: string, path: string) => `${path}?fieldManager=${manager}`;
const map = `${configMaps}/x`;
const one = `${things}/x`;
const agent = (name: string) => ({ headers: { 'user-agent': name } });
const entry = (fields: Fields, rest: Fields = {}): Fields => ({
  manager: 'given',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2020-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
  ...rest,
});
const data = { 'f:data': { 'f:a': {} } };
const given = (managedFields: unknown, values: Fields = { a: '1' }) => configMap({ name: 'x', managedFields }, values);
const created = prepare(post(as('m', configMaps), configMap('x', { a: '1' })));

export const managers: readonly Sequence[] = [
  sequence('names by programs', [
    post(configMaps, configMap('x'), agent('curl/8.0 (x)')),
    mergePatch(map, { data: { a: '1' } }, agent('kubectl')),
    mergePatch(map, { data: { b: '1' } }, agent('')),
    mergePatch(map, { data: { c: '1' } }, agent('/x')),
    mergePatch(map, { data: { d: '1' } }, agent(`${'m'.repeat(200)}/x`)),
    mergePatch(as('named', map), { data: { e: '1' } }, agent('curl/8.0')),
  ]),
  sequence('creations own what they create', [
    post(
      as('m', configMaps),
      configMap({ name: 'x', labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['a.b/c'] }),
    ),
    post(as('m', configMaps), object('v1', 'ConfigMap', 'y')),
    post(
      as('m', configMaps),
      object('v1', 'ConfigMap', { generateName: 'z-' }, { data: {}, binaryData: { a: 'YQ==' } }),
    ),
    put(
      as('m', `${inNamespace('leases', 'coordination.k8s.io/v1')}/x`),
      object('coordination.k8s.io/v1', 'Lease', 'x', { spec: { holderIdentity: 'me' } }),
    ),
  ]),
  sequence('updates take what they change', [
    created,
    put(as('n', map), configMap('x', { a: '1', b: '2' })),
    put(as('o', map), configMap('x', { a: '2', b: '2' })),
    put(as('m', map), configMap('x', { b: '2' })),
    put(as('m', map), object('v1', 'ConfigMap', 'x')),
    put(as('m', map), configMap('x', { a: '1' })),
  ]),
  sequence('patches take what they change', [
    created,
    jsonPatch(as('j', map), [{ op: 'add', path: '/data/b', value: '2' }]),
    jsonPatch(as('k', map), [{ op: 'move', from: '/data/b', path: '/data/c' }]),
    mergePatch(as('l', map), { data: { a: null }, metadata: { labels: { x: 'y' } } }),
    mergePatch(as('m', map), { metadata: { labels: { x: 'z' } } }),
    mergePatch(as('n', map), { metadata: { labels: null }, data: null }),
  ]),
  sequence('all kinds of fields in custom objects', [
    ...defined(owned),
    post(as('m', things), thing('x', { spec: everything, status: { text: 'ignored' } })),
    mergePatch(as('n', one), {
      spec: { mapping: { l: null, m: 'x' }, atomicMapping: { l: 'w' }, nested: { b: '2', deep: { x: 2 } } },
    }),
    mergePatch(as('n', one), { spec: { list: ['a', 'b'], names: ['b', 'c'], numbers: [2, 3] } }),
    mergePatch(as('n', one), {
      spec: {
        items: [{ name: 'n', value: 'w', tags: ['t', 'u'] }, { name: 'o' }],
        ports: [{ port: 80, protocol: 'UDP' }],
      },
    }),
    mergePatch(as('n', one), {
      spec: { anything: { a: { b: 2, blank: { c: 1 } }, d: {} }, wild: { a: 1 }, either: 'x', blank: { a: 1 } },
    }),
    mergePatch(as('o', one), { spec: { mapping: {}, nested: null, names: [], items: [], records: {} } }),
    mergePatch(as('p', one), { spec: null }),
  ]),
  sequence('statuses', [
    ...defined(owned),
    prepare(post(as('m', things), thing('x', { spec: { text: 'a' } }))),
    mergePatch(as('s', `${one}/status`), {
      metadata: { labels: { a: 'b' } },
      spec: { text: 'b' },
      status: { text: 's', conditions: [{ type: 'A', status: 'True' }] },
    }),
    mergePatch(as('t', `${one}/status`), { status: { conditions: [{ type: 'A', status: 'False' }, { type: 'B' }] } }),
    mergePatch(as('m', one), { status: { text: 'ignored' }, spec: { text: 'c' } }),
    mergePatch(as('t', `${one}/status`), { status: null }),
  ]),
  sequence('statuses of built-in kinds', [
    prepare(post(as('m', deployments), deployment('x'))),
    mergePatch(as('s', `${deployments}/x/status`), {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { paused: true },
      status: { replicas: 1 },
    }),
    mergePatch(as('m', `${deployments}/x`), { spec: { paused: true }, status: { replicas: 2 } }),
    prepare(post(as('m', pods), pod('x'))),
    mergePatch(as('s', `${pods}/x/status`), {
      metadata: {
        labels: { a: 'b' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'abc' }],
      },
      status: { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
    post(`${pods}/x/binding?fieldManager=b`, object('v1', 'Binding', 'x', { target: { kind: 'Node', name: 'n' } })),
    get(`${pods}/x`),
  ]),
  sequence('scales', [
    prepare(post(as('m', deployments), deployment('x'))),
    mergePatch(as('s', `${deployments}/x/scale`), { spec: { replicas: 3 } }),
    get(`${deployments}/x`),
    mergePatch(as('t', `${deployments}/x/scale`), { spec: { replicas: 3 } }),
    mergePatch(as('t', `${deployments}/x/scale`), { spec: { replicas: 4 } }),
    get(`${deployments}/x`),
    put(as('u', `${deployments}/x/scale`), object('autoscaling/v1', 'Scale', 'x', { spec: { replicas: 5 } })),
    mergePatch(as('m', `${deployments}/x`), { spec: { replicas: 6 } }),
  ]),
  sequence('managers that are given', [
    post(as('m', configMaps), given([entry(data)])),
    put(as('n', map), given([entry(data)])),
    put(
      as('n', map),
      given([
        entry({ 'f:data': { 'f:z': {} } }),
        entry({ 'f:data': { 'f:y': {} } }, { manager: 'other', operation: 'Apply' }),
      ]),
    ),
    put(as('n', map), given([entry(data)], { a: '2' })),
    put(as('n', map), given([entry(data, { apiVersion: 'nothing/v1' })], { a: '3' })),
    put(as('n', map), given([entry(data, { manager: undefined, apiVersion: undefined, time: undefined })], { a: '3' })),
  ]),
  sequence('managers that make no sense', [
    created,
    put(as('n', map), given([entry(data, { operation: 'Nothing' })])),
    put(as('n', map), given([entry(data, { fieldsType: 'Nothing' })])),
    put(as('n', map), given([entry(data, { fieldsType: undefined })])),
    put(as('n', map), given([entry({ 'k:nothing': {} })])),
    put(as('n', map), given([entry({ 'f:a': [1] as unknown as Fields })])),
    put(as('n', map), given([entry({ 'x:y': {}, 'f:data': {} })])),
    put(as('n', map), given([entry({})])),
  ]),
  sequence('nobody manages anything any more', [
    created,
    mergePatch(as('n', map), { metadata: { managedFields: null } }),
    jsonPatch(as('n', map), [{ op: 'remove', path: '/metadata/managedFields' }]),
    put(as('n', map), given(null)),
    mergePatch(as('n', map), { metadata: { managedFields: [] } }),
    mergePatch(as('n', map), { data: { b: '2' } }),
    put(as('n', map), given([entry(data)])),
    mergePatch(as('n', map), { metadata: { managedFields: [{}] }, data: { c: '3' } }),
  ]),
  sequence('nobody manages custom objects any more', [
    ...defined(owned),
    prepare(post(as('m', things), thing('x', { spec: { text: 'a' } }))),
    mergePatch(as('n', one), { metadata: { managedFields: [] } }),
    mergePatch(as('n', `${one}/status`), { metadata: { managedFields: [{}] }, status: { text: 's' } }),
    mergePatch(as('n', one), { metadata: { managedFields: [{}] } }),
  ]),
  sequence('more managers than are told', [
    prepare(post(as('m00', configMaps), configMap('x', { m00: '1' }))),
    ...Array.from({ length: 13 }, (_, index) => {
      const name = `m${String(index + 1).padStart(2, '0')}`;
      const step = mergePatch(as(name, map), { data: { [name]: '1' } });
      return index < 8 ? prepare(step) : step;
    }),
  ]),
  sequence('deletions are nobody’s', [
    prepare(post(as('m', configMaps), configMap({ name: 'x', finalizers: ['a.b/c'] }))),
    del(map),
    mergePatch(as('n', map), { metadata: { finalizers: ['a.b/c', 'a.b/d'] } }),
    mergePatch(as('n', map), { metadata: { finalizers: null } }),
  ]),
  sequence('definitions are managed by the server, too', [
    ...defined(definition()),
    get(`${clusterWide('customresourcedefinitions', 'apiextensions.k8s.io/v1')}/things.<group>`),
    mergePatch(as('m', `${clusterWide('customresourcedefinitions', 'apiextensions.k8s.io/v1')}/things.<group>`), {
      metadata: { labels: { a: 'b' } },
    }),
  ]),
  sequence('managers of several versions', [
    ...defined(definition([version('v1'), version('v2')])),
    post(as('m', things), thing('x', { spec: { a: 1 } })),
    mergePatch(as('m', one.replace('v1', 'v2')), { spec: { a: 2, b: 1 } }),
    mergePatch(as('n', one), { spec: { b: 2 } }),
    mergePatch(as('m', one), { spec: { a: null } }),
  ]),
  sequence('both kinds of events', [
    post(
      as('m', inNamespace('events')),
      object('v1', 'Event', 'x', { involvedObject: { namespace: '<ns>', name: 'a' }, reason: 'R', message: 'one' }),
    ),
    mergePatch(as('n', `${inNamespace('events', 'events.k8s.io/v1')}/x`), { metadata: { labels: { a: 'b' } } }),
    get(`${inNamespace('events')}/x`),
  ]),
  sequence('a schema that changes', [
    ...defined(
      definition([version('v1', schemaOf({ spec: schemaOf({ list: { type: 'array', items: { type: 'string' } } }) }))]),
    ),
    post(as('m', things), thing('x', { spec: { list: ['a'] } })),
    mergePatch(as('n', one), { spec: { list: ['a', 'b'] } }),
  ]),
  sequence('dry runs have managers, and leave none', [
    post(`${as('dry', configMaps)}&dryRun=All`, configMap('x', { a: '1' })),
    created,
    mergePatch(`${as('dry', map)}&dryRun=All`, { data: { a: '2', b: '1' } }),
    get(map),
    put(`${as('dry', map)}&dryRun=All`, configMap('x', { c: '1' })),
    get(map),
  ]),
  sequence('what is taken away is nobody’s', [
    created,
    mergePatch(as('n', map), { data: { b: '1' }, metadata: { labels: { l: '1' } } }),
    jsonPatch(as('o', map), [{ op: 'remove', path: '/data/a' }]),
    put(as('p', map), configMap('x', { b: '1' })),
    mergePatch(as('p', map), { data: null }),
    get(map),
  ]),
];
