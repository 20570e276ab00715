import {
  applyPatch,
  del,
  events,
  get,
  hooked,
  jsonPatch,
  mergePatch,
  post,
  prepare,
  put,
  request,
  reviews,
  type Sequence,
  sequence,
  watch,
} from '../harness/sequence.js';
import type { Hook } from '../harness/webhooks.js';
import {
  clusterWide,
  configMap,
  configMaps,
  containers,
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

const text = { type: 'string' };
const integer = { type: 'integer' };
const listMap = (keys: readonly string[], properties: Fields): Fields => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  items: schemaOf(properties, { required: keys.slice(0, 1) }),
});
const set = (items: Fields): Fields => ({ type: 'array', 'x-kubernetes-list-type': 'set', items });

/** All the ways in which fields can be owned. */
const spec = schemaOf({
  text,
  count: integer,
  flag: { type: 'boolean' },
  replicas: integer,
  withDefault: { type: 'string', default: 'd' },
  nothing: { type: 'string', nullable: true },
  mapping: { type: 'object', additionalProperties: text },
  atomicMapping: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
  nested: schemaOf({ a: text, b: text, deep: schemaOf({ x: integer, y: integer }) }),
  atomicNested: schemaOf({ a: text, b: text }, { 'x-kubernetes-map-type': 'atomic' }),
  list: { type: 'array', items: text },
  objects: { type: 'array', items: schemaOf({ a: text }) },
  names: set(text),
  numbers: set(integer),
  items: listMap(['name'], { name: text, value: text, count: integer, tags: set(text) }),
  ports: listMap(['port', 'protocol'], { port: integer, protocol: { type: 'string', default: 'TCP' }, name: text }),
  records: { type: 'object', additionalProperties: schemaOf({ a: text, b: text }) },
  anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  wild: { 'x-kubernetes-preserve-unknown-fields': true },
  either: { 'x-kubernetes-int-or-string': true },
  blank: { type: 'object' },
});
const status = schemaOf({
  text,
  replicas: integer,
  conditions: listMap(['type'], { type: text, status: text }),
});
export const owned = definition([
  version('v1', schemaOf({ spec, status }), {
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
  }),
]);
const someThing = (fields: Fields, metadata: Fields = {}) => thing({ name: 'x', ...metadata }, { spec: fields });
const custom = (name: string, steps: Sequence['steps'], rest: Partial<Sequence> = {}) =>
  sequence(name, [...defined(owned), ...steps], rest);

const as = (manager: string, path: string, rest = '') => `${path}?fieldManager=${manager}${rest}`;
const map = `${configMaps}/x`;
const one = `${things}/x`;
const forced = '&force=true';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const lastApplied = (data: Fields): Fields => ({
  annotations: { [LAST_APPLIED]: `${JSON.stringify(configMap('x', data))}\n` },
});

export const everything: Fields = {
  text: 'a',
  count: 1,
  mapping: { k: 'v', l: 'w' },
  atomicMapping: { k: 'v' },
  nested: { a: '1', deep: { x: 1 } },
  atomicNested: { a: '1' },
  list: ['a'],
  objects: [{ a: '1' }],
  names: ['a', 'b'],
  numbers: [1, 2],
  items: [{ name: 'n', value: 'v', tags: ['t'] }],
  ports: [{ port: 80, name: 'h' }],
  records: { k: { a: '1' } },
  anything: { a: { b: 1, list: [1], blank: {} } },
  wild: [1],
  either: 1,
  blank: {},
};

/** One mutating webhook for the config maps of the sequence. */
const hookedSequence = (name: string, hook: Hook, steps: Sequence['steps']) =>
  sequence(
    name,
    [
      prepare(
        post(
          clusterWide('mutatingwebhookconfigurations', 'admissionregistration.k8s.io/v1'),
          object('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', '<id>', {
            webhooks: [
              {
                name: 'hook.<group>',
                clientConfig: { url: '<hook:hook>', caBundle: '<ca>' },
                rules: [
                  {
                    apiGroups: [''],
                    apiVersions: ['v1'],
                    operations: ['*'],
                    resources: ['configmaps'],
                    scope: 'Namespaced',
                  },
                ],
                admissionReviewVersions: ['v1'],
                sideEffects: 'None',
                namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '<ns>' } },
              },
            ],
          }),
        ),
      ),
      hooked('hook', prepare(post(`${configMaps}?dryRun=All`, configMap('probe')))),
      ...steps,
    ],
    { hooks: { hook } },
  );

export const applying: readonly Sequence[] = [
  sequence('who applies must have a name', [
    applyPatch(map, configMap('x')),
    applyPatch(`${map}?fieldManager=`, configMap('x')),
    applyPatch(as('m'.repeat(129), map), configMap('x')),
    applyPatch(as('m'.repeat(128), map), configMap('x')),
    applyPatch(as('a%0Ab%00', map), configMap('x')),
    applyPatch(as('%C3%A4%20b', map), configMap('x')),
    applyPatch(`${map}?fieldManager=a&dryRun=Some&fieldValidation=Maybe`, configMap('x')),
  ]),
  sequence('names of managers elsewhere, and force', [
    post(as('m'.repeat(129), configMaps), configMap('x')),
    post(as('m'.repeat(128), configMaps), configMap('x')),
    put(as('a%09', map), configMap('x')),
    mergePatch(`${map}?force=true`, {}),
    mergePatch(`${map}?force=false&fieldManager=a%0A`, {}),
    jsonPatch(`${map}?force=`, []),
    put(`${map}?force=true`, configMap('x')),
  ]),
  sequence('an application creates', [
    applyPatch(as('a', map, '&dryRun=All'), configMap('x')),
    get(map),
    applyPatch(as('a', map), configMap({ name: 'x', labels: { a: 'b' }, annotations: { c: 'd' } })),
    get(map),
    applyPatch(as('a', map), configMap({ name: 'x', labels: { a: 'b' }, annotations: { c: 'd' } })),
  ]),
  sequence('what an application cannot create', [
    applyPatch(as('a', map), configMap({ name: 'x', uid: 'abc' })),
    applyPatch(as('a', map), configMap({ name: 'x', resourceVersion: '1' })),
    applyPatch(as('a', map), configMap({ name: 'x', resourceVersion: '1' })),
    applyPatch(as('a', `${configMaps}/y`), configMap('x')),
    applyPatch(as('a', `${configMaps}/y`), object('v1', 'ConfigMap', {})),
    applyPatch(as('a', `${configMaps}/y`), configMap({ name: 'y', namespace: 'other' })),
    applyPatch(as('a', `${configMaps}/y`), configMap({ name: 'y', generateName: 'z' })),
    applyPatch(as('a', `${configMaps}/y/status`), configMap('y')),
  ]),
  sequence('what is applied must be of the kind', [
    applyPatch(as('a', map), { metadata: { name: 'x' } }),
    applyPatch(as('a', map), { apiVersion: 'v1', metadata: { name: 'x' } }),
    applyPatch(as('a', map), object('v1', 'Secret', 'x')),
    applyPatch(as('a', map), object('apps/v1', 'ConfigMap', 'x')),
    applyPatch(as('a', map), { apiVersion: 1, kind: 2 }),
    applyPatch(as('a', map), '[]'),
    applyPatch(as('a', map), 'text'),
    applyPatch(as('a', map), ''),
    applyPatch(as('a', map), 'null'),
    applyPatch(as('a', map), configMap({ name: 'x', managedFields: [] })),
    applyPatch(as('a', map), configMap({ name: 'x', managedFields: null })),
  ]),
  sequence('configurations in YAML', [
    applyPatch(
      as('a', map),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: "1"\n  # why\n  b: |\n    c\n',
    ),
    applyPatch(as('a', map), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: "1"\n  a: "2"\n'),
    applyPatch(
      as('a', map, '&fieldValidation=Strict'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: "1"\n  a: "2"\n',
    ),
    applyPatch(
      as('a', map, '&fieldValidation=Ignore'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: "1"\n  a: "2"\n',
    ),
  ]),
  sequence('media types of applications', [
    request('PATCH', as('a', map), configMap('x'), { headers: { 'content-type': 'application/apply-patch+cbor' } }),
    request('PATCH', as('a', map), configMap('x'), { headers: { 'content-type': 'application/apply-patch+json' } }),
    request('PATCH', as('a', map), configMap('x'), {
      headers: { 'content-type': 'application/apply-patch+yaml; charset=utf-8' },
    }),
  ]),
  sequence('what does not fit', [
    applyPatch(as('a', map), { ...configMap('x'), unknown: 1 }),
    applyPatch(as('a', map, '&fieldValidation=Strict'), { ...configMap('x'), unknown: 1 }),
    applyPatch(as('a', map), { ...configMap('x'), data: { a: 1 } }),
    applyPatch(as('a', map), { ...configMap('x'), data: { a: { b: [1, 'x', null, true, 1.5] } } }),
    applyPatch(as('a', map), { ...configMap('x'), data: [1] }),
    applyPatch(as('a', map), { ...configMap('x'), immutable: 'yes' }),
    applyPatch(as('a', map), configMap({ name: 'x', finalizers: { a: 1 } })),
    applyPatch(as('a', map), configMap({ name: 'x', finalizers: ['a.b/c', 'a.b/c'] })),
    applyPatch(as('a', map), configMap({ name: 'x', generation: 'one' })),
  ]),
  sequence('fields that are not applied any more go', [
    applyPatch(as('a', map), configMap({ name: 'x', labels: { a: 'b', c: 'd' } }, { a: '1', b: '2' })),
    applyPatch(as('a', map), configMap({ name: 'x', labels: { a: 'b' } }, { a: '1' })),
    applyPatch(as('a', map), object('v1', 'ConfigMap', 'x')),
    get(map),
  ]),
  sequence('fields that others own stay', [
    applyPatch(as('a', map), configMap('x', { a: '1', b: '2' })),
    applyPatch(as('b', map), configMap('x', { b: '2', c: '3' })),
    mergePatch(as('m', map), { data: { d: '4' } }),
    applyPatch(as('a', map), object('v1', 'ConfigMap', 'x')),
    applyPatch(as('b', map), object('v1', 'ConfigMap', 'x')),
    get(map),
  ]),
  sequence('conflicts with one', [
    applyPatch(as('a', map), configMap('x', { a: '1' })),
    applyPatch(as('b', map), configMap('x', { a: '2' })),
    mergePatch(as('m', map), { data: { c: '1', d: '1' } }),
    applyPatch(as('b', map), configMap('x', { c: '2', d: '2' })),
    applyPatch(as('b', map), configMap('x', { c: '1', d: '2' })),
    applyPatch(as('b', map, forced), configMap('x', { a: '2', c: '1', d: '2' })),
    applyPatch(as('a', map), configMap('x', { a: '1' })),
    applyPatch(as('a', map, '&force=false'), configMap('x', { a: '1' })),
    applyPatch(as('a', map), configMap('x', { a: '2' })),
  ]),
  custom(
    'conflicts with many',
    [
      applyPatch(as('a', one), someThing({ text: 'a', nested: { a: '1' }, names: ['a'] })),
      prepare(mergePatch(as('m', one), { spec: { count: 1, items: [{ name: 'n', value: 'v' }] } })),
      prepare(mergePatch(as('s', `${one}/status`), { status: { text: 's' } })),
      applyPatch(
        as('b', one),
        someThing({ text: 'b', nested: { a: '2' }, count: 2, items: [{ name: 'n', value: 'w' }], names: ['b'] }),
      ),
      applyPatch(as('b', `${one}/status`), thing('x', { status: { text: 't' } })),
    ],
    { causesComeInAnyOrder: true },
  ),
  custom('all kinds of fields', [
    applyPatch(as('a', one), someThing(everything, { finalizers: ['a.b/c'], labels: { a: 'b' } })),
    mergePatch(as('m', one), { spec: { mapping: { m: 'x' }, nested: { b: '2' }, names: ['a', 'b', 'm'] } }),
    applyPatch(as('b', one), someThing({ mapping: { k: 'v' }, names: ['b', 'c'], records: { l: { a: '1' } } })),
    applyPatch(as('a', one), someThing({ text: 'a', names: ['a'], records: { k: { a: '1' } } })),
    get(one),
  ]),
  custom('lists in their order', [
    post(
      as('m', things),
      someThing({ names: ['a', 'b', 'c', 'd'], items: ['1', '2', '3', '4'].map((name) => ({ name })) }),
    ),
    ...[['x', 'c', 'a'], ['d', 'y', 'b', 'z'], ['q', 'd', 'r'], ['a'], ['z', 'a', 'c'], ['d', 'c', 'b', 'a']].map(
      (names) => applyPatch(as('a', one, '&dryRun=All'), someThing({ names })),
    ),
    ...[
      ['x', '3', '1'],
      ['4', 'y', '2', 'z'],
      ['1', 'n'],
    ].map((names) =>
      applyPatch(as('a', one, '&dryRun=All'), someThing({ items: names.map((name) => ({ name, value: 'v' })) })),
    ),
  ]),
  custom('items of lists', [
    applyPatch(as('a', one), someThing({ items: [{ name: 'a', value: '1', tags: ['x', 'y'] }, { name: 'b' }] })),
    applyPatch(as('b', one), someThing({ items: [{ name: 'a', count: 5, tags: ['z'] }] })),
    applyPatch(as('a', one), someThing({ items: [{ name: 'a', tags: ['y'] }] })),
    applyPatch(as('a', one), someThing({})),
    applyPatch(as('b', one), someThing({})),
    applyPatch(as('a', one), someThing({ ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] })),
    applyPatch(as('a', one), someThing({ ports: [{ port: 80, protocol: 'UDP', name: 'u' }] })),
  ]),
  custom('items that cannot be told apart', [
    applyPatch(as('a', one), someThing({ items: [{ name: 'a' }, { name: 'a' }] })),
    applyPatch(as('a', one), someThing({ items: [{ value: 'a' }] })),
    applyPatch(as('a', one), someThing({ items: ['a'] })),
    applyPatch(as('a', one), someThing({ items: [null] })),
    applyPatch(as('a', one), someThing({ names: ['a', 'a'] })),
    applyPatch(as('a', one), someThing({ names: [null] })),
    applyPatch(as('a', one), someThing({ names: [['a']] })),
    applyPatch(as('a', one), someThing({ names: [{}] })),
    applyPatch(as('a', one), someThing({ ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] })),
    applyPatch(as('a', one), someThing({ numbers: [1, 2, 1] })),
  ]),
  custom('custom objects that do not fit', [
    ...[
      { unknown: 1 },
      { text: 1 },
      { count: 'x' },
      { count: [1] },
      { count: {} },
      { flag: 1 },
      { nested: [1, 'x', { a: 1 }, null, true, 1.5] },
      { nested: { deep: { z: 1 } } },
      { items: { a: 1, b: { c: 'd' } } },
      { list: [1] },
      { objects: [{ b: 1 }] },
      { atomicNested: { c: 1 } },
      { mapping: { a: 1 } },
      { records: { k: { c: 1 } } },
      { anything: 1 },
      { blank: { a: 1 } },
      { either: {} },
      { count: 1.5 },
    ].map((fields) => applyPatch(as('a', one, '&dryRun=All'), someThing(fields))),
    applyPatch(as('a', one), { ...thing('x'), unknown: 1 }),
    applyPatch(as('a', one), { ...thing('x'), spec: 1 }),
  ]),
  custom(
    'nothing at all',
    [
      applyPatch(as('a', one), someThing({ nothing: null, wild: null })),
      applyPatch(as('a', one), someThing({ text: null })),
      applyPatch(as('a', one), someThing({ list: null, items: null, nested: null })),
      applyPatch(as('a', one), someThing({ mapping: { a: '1' }, nested: { a: '1' } })),
      applyPatch(as('a', one), someThing({ mapping: {}, nested: {} })),
      applyPatch(as('a', one), someThing({})),
      applyPatch(as('a', one), thing('x')),
    ],
    { causesComeInAnyOrder: true },
  ),
  custom('structures without a schema', [
    post(as('o', things), someThing({ anything: { a: { b: 1 }, c: 1, list: [1] } })),
    mergePatch(as('m', one), { spec: { anything: { a: 5, c: { d: 1 }, list: { x: 1 } } } }),
    applyPatch(as('a', one, forced), someThing({ anything: { a: { z: 1 }, c: 'x', list: [2] } })),
    applyPatch(as('a', one), someThing({ anything: { a: { y: 1 } } })),
  ]),
  custom('the status of custom objects', [
    applyPatch(as('a', one), thing('x', { spec: { text: 'a' }, status: { text: 'ignored' } })),
    applyPatch(
      as('s', `${one}/status`),
      thing({ name: 'x', labels: { a: 'b' } }, { spec: { text: 'b' }, status: { text: 's' } }),
    ),
    applyPatch(as('s', `${one}/status`), thing('x', { status: { conditions: [{ type: 'A', status: 'True' }] } })),
    applyPatch(as('t', `${one}/status`), thing('x', { status: { conditions: [{ type: 'A', status: 'False' }] } })),
    applyPatch(
      as('t', `${one}/status`, forced),
      thing('x', { status: { conditions: [{ type: 'A', status: 'False' }] } }),
    ),
    applyPatch(as('s', `${things}/none/status`), thing('none', { status: { text: 's' } })),
    get(one),
  ]),
  custom('the scale of custom objects', [
    prepare(applyPatch(as('a', one), someThing({ replicas: 1 }))),
    applyPatch(as('s', `${one}/scale`), object('autoscaling/v1', 'Scale', 'x', { spec: { replicas: 3 } })),
    mergePatch(as('s', `${one}/scale`), { spec: { replicas: 3 } }),
    get(one),
    applyPatch(as('a', one), someThing({ replicas: 1 })),
  ]),
  sequence('the scale of deployments', [
    prepare(post(as('c', deployments), deployment('x'))),
    applyPatch(as('s', `${deployments}/x/scale`), object('autoscaling/v1', 'Scale', 'x', { spec: { replicas: 5 } })),
    applyPatch(
      as('s', `${deployments}/x/scale`, forced),
      object('autoscaling/v1', 'Scale', 'x', { spec: { replicas: 5 } }),
    ),
    get(`${deployments}/x`),
    applyPatch(as('s', `${deployments}/x/scale`), object('autoscaling/v1', 'Scale', 'x', { spec: { replicas: 6 } })),
    applyPatch(as('s', `${deployments}/x/scale`), object('apps/v1', 'Deployment', 'x', { spec: { replicas: 6 } })),
    applyPatch(as('s', `${deployments}/x/scale`), object('autoscaling/v1', 'Scale', 'y', { spec: { replicas: 6 } })),
    applyPatch(as('s', `${deployments}/y/scale`), object('autoscaling/v1', 'Scale', 'y', { spec: { replicas: 6 } })),
    applyPatch(as('c', `${deployments}/x`), object('apps/v1', 'Deployment', 'x', { spec: { replicas: 7 } })),
    mergePatch(as('m', `${deployments}/x/scale`), { spec: { replicas: 0 } }),
    mergePatch(as('m', `${deployments}/x/scale`), { spec: { replicas: 2 } }),
    get(`${deployments}/x`),
    applyPatch(as('s', `${deployments}/x/scale`), object('autoscaling/v1', 'Scale', 'x', { spec: { replicas: 2 } })),
    get(`${deployments}/x`),
  ]),
  sequence('deployments', [
    applyPatch(as('a', `${deployments}/x`), deployment('x', { replicas: 2 })),
    applyPatch(
      as('b', `${deployments}/x`),
      object('apps/v1', 'Deployment', 'x', {
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'main', env: [{ name: 'A', value: 'b' }] },
                { name: 'side', image: 'i' },
              ],
            },
          },
        },
      }),
    ),
    applyPatch(as('a', `${deployments}/x`), deployment('x', { replicas: 3, strategy: { type: 'Recreate' } })),
    applyPatch(as('a', `${deployments}/x`), deployment('x', { strategy: { type: 'Recreate', rollingUpdate: null } })),
    applyPatch(as('a', `${deployments}/x`), deployment('x')),
    applyPatch(as('b', `${deployments}/x`), object('apps/v1', 'Deployment', 'x')),
    get(`${deployments}/x`),
    applyPatch(as('a', `${deployments}/y`), object('apps/v1', 'Deployment', 'y', { spec: { replicas: 2 } })),
  ]),
  sequence('services and pods', [
    applyPatch(
      as('a', `${inNamespace('services')}/x`),
      object('v1', 'Service', 'x', {
        spec: {
          selector: { a: 'b' },
          type: 'ClusterIP',
          clusterIP: 'None',
          ports: [{ port: 80 }, { port: 81, name: 'b' }],
        },
      }),
    ),
    applyPatch(
      as('a', `${inNamespace('services')}/x`),
      object('v1', 'Service', 'x', {
        spec: {
          clusterIP: 'None',
          ports: [
            { port: 80, name: 'a', targetPort: 'web' },
            { port: 53, name: 'c', protocol: 'UDP' },
          ],
        },
      }),
    ),
    applyPatch(as('a', `${pods}/x`), pod('x', { containers: [{ ...containers[0], ports: [{ containerPort: 80 }] }] })),
    applyPatch(as('a', `${pods}/x`), pod('x', { containers: [{ ...containers[0], image: 'other' }] })),
    applyPatch(
      as('k', `${pods}/x/status`),
      object('v1', 'Pod', 'x', { status: { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] } }),
    ),
    applyPatch(as('k', `${pods}/x/status`), object('v1', 'Pod', 'x', { status: { podIP: '10.0.0.1' } })),
  ]),
  sequence('namespaces and definitions', [
    applyPatch(as('a', '/api/v1/namespaces/n-<id>'), object('v1', 'Namespace', 'n-<id>', {})),
    applyPatch(as('b', '/api/v1/namespaces/n-<id>'), object('v1', 'Namespace', { name: 'n-<id>', labels: { a: 'b' } })),
    prepare(del('/api/v1/namespaces/n-<id>')),
    applyPatch(
      as('a', `${clusterWide('customresourcedefinitions', 'apiextensions.k8s.io/v1')}/things.<group>`),
      definition(),
    ),
  ]),
  sequence('changes that kubectl has applied before', [
    post(
      as('kubectl-client-side-apply', configMaps),
      configMap({ name: 'x', ...lastApplied({ a: '1', b: '1' }) }, { a: '1', b: '1' }),
    ),
    applyPatch(as('other', map), configMap('x', { a: '2' })),
    applyPatch(as('kubectl', map), configMap('x', { a: '2' })),
    prepare(mergePatch(as('z', map), { data: { b: '7' } })),
    applyPatch(as('kubectl', map), configMap('x', { a: '3', b: '8' })),
    applyPatch(as('kubectl', map, forced), configMap('x', { a: '3', b: '8' })),
    applyPatch(as('kubectl', map), configMap('x', { a: '3', b: '8' })),
  ]),
  sequence('versions that are applied', [
    prepare(applyPatch(as('a', map), configMap('x'))),
    { ...get(map), save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } },
    applyPatch(as('a', map), configMap({ name: 'x', resourceVersion: '1' }, { a: '2' })),
    applyPatch(as('a', map), configMap({ name: 'x', resourceVersion: '<rv>', uid: '<uid>' }, { a: '2' })),
    applyPatch(as('a', map), configMap({ name: 'x', uid: 'other' }, { a: '3' })),
    applyPatch(as('a', map), configMap({ name: 'x', resourceVersion: 'abc' }, { a: '3' })),
  ]),
  sequence('applications that change nothing', [
    prepare(post(as('m', configMaps), configMap('x', { a: '1' }))),
    watch('all', `${configMaps}?watch=1&fieldSelector=metadata.name=x`),
    applyPatch(as('a', map), configMap('x', { a: '1' })),
    applyPatch(as('a', map), configMap('x', { a: '1' })),
    mergePatch(as('n', map), { data: { a: '1' } }),
    put(as('n', map), configMap('x', { a: '1' })),
    applyPatch(as('a', map), configMap('x', { a: '1', b: '2' })),
    events('all', 3),
  ]),
  hookedSequence('what webhooks add to applications', { patch: [{ op: 'add', path: '/data/hooked', value: 'yes' }] }, [
    applyPatch(as('a', map), configMap('x', { a: '1' })),
    reviews('hook'),
    applyPatch(as('a', map), configMap('x', { a: '2' })),
    reviews('hook'),
    applyPatch(as('b', map), configMap('x', { hooked: 'no' })),
    mergePatch(as('m', map), { data: { c: '3' } }),
  ]),
  hookedSequence(
    'managers that webhooks spoil',
    {
      patch: [
        { op: 'replace', path: '/metadata/managedFields', value: [{ operation: 'Nothing', fieldsType: 'FieldsV1' }] },
      ],
    },
    [
      post(as('m', configMaps), configMap('x', { a: '1' })),
      mergePatch(as('m', map), { data: { c: '3' } }),
      applyPatch(as('a', map), configMap('x', { d: '1' })),
    ],
  ),
];
