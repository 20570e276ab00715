/** Strategic merge patches: lists with merge keys, directives, and what is refused. */
import { get, post, prepare, type Sequence, sequence, strategicPatch } from '../harness/sequence.js';
import {
  clusterWide,
  configMap,
  configMaps,
  defined,
  definition,
  definitions,
  deployment,
  deployments,
  inNamespace,
  object,
  pod,
  pods,
  schemaOf,
  version,
} from './objects.js';

const services = inNamespace('services');
const accounts = inNamespace('serviceaccounts');
const hooks = clusterWide('validatingwebhookconfigurations', 'admissionregistration.k8s.io/v1');
const at = `${deployments}/a`;

const main = {
  name: 'main',
  image: 'one',
  ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  args: ['x', 'y'],
};
const side = { name: 'side', image: 'two' };
const template = (spec: object) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [main, side], volumes: [{ name: 'v', emptyDir: {} }], ...spec },
});
const made = prepare(post(deployments, deployment('a', { template: template({}) })));
/** A patch of the pods of the deployment. */
const ofPods = (spec: object, query = '') => strategicPatch(`${at}${query}`, { spec: { template: { spec } } });

/** Of a kind that nobody knows: otherwise, what it owns would be garbage. */
const owner = (name: string) => ({
  apiVersion: 'unknown.example.com/v1',
  kind: 'Unknown',
  name,
  uid: `00000000-0000-0000-0000-00000000000${name}`,
});

const hasAccepted = (body: unknown, shortName: string): boolean => {
  const { acceptedNames } = (body as { status?: { acceptedNames?: { shortNames?: string[] } } }).status ?? {};
  return acceptedNames?.shortNames?.includes(shortName) ?? false;
};

export const strategic: readonly Sequence[] = [
  sequence('strategic: containers are changed by their names', [
    made,
    ofPods({ containers: [{ name: 'side', image: 'three' }] }),
    ofPods({ containers: [{ name: 'main', args: ['z'], env: null }] }),
    ofPods({ containers: [{ name: 'main', image: null }] }),
    get(at),
  ]),
  sequence('strategic: containers are added, in front', [
    made,
    ofPods({ containers: [{ name: 'new', image: 'three' }] }),
    ofPods({
      containers: [
        { name: 'newer', image: 'four' },
        { name: 'side', image: 'five' },
      ],
    }),
    ofPods({ initContainers: [{ name: 'first', image: 'six' }] }),
  ]),
  sequence('strategic: items are deleted', [
    made,
    ofPods({ containers: [{ name: 'side', $patch: 'delete' }] }),
    ofPods({ containers: [{ name: 'unknown', $patch: 'delete' }] }),
    ofPods({
      containers: [
        {
          name: 'main',
          env: [
            { name: 'A', $patch: 'delete' },
            { name: 'C', value: '3' },
          ],
        },
      ],
    }),
    ofPods({ volumes: [{ name: 'v', $patch: 'delete' }] }),
  ]),
  sequence('strategic: lists are replaced', [
    made,
    ofPods({ containers: [{ $patch: 'replace' }, { name: 'only', image: 'three' }] }),
    ofPods({ volumes: [{ $patch: 'replace' }] }),
    ofPods({
      volumes: [
        { $patch: 'replace', name: 'lost' },
        { name: 'w', emptyDir: {} },
      ],
    }),
  ]),
  sequence('strategic: mappings are replaced or emptied', [
    made,
    ofPods({ nodeSelector: { a: '1', b: '2' } }),
    ofPods({ nodeSelector: { $patch: 'replace', c: '3' } }),
    ofPods({ nodeSelector: { $patch: 'delete' } }),
    ofPods({ securityContext: { runAsUser: 5 } }),
    ofPods({ securityContext: { $patch: 'replace', runAsGroup: 6 } }),
    strategicPatch(at, { $patch: 'replace' }),
    strategicPatch(at, { $patch: 'delete' }),
    strategicPatch(at, { spec: { $patch: 'replace', replicas: 3 } }),
  ]),
  sequence('strategic: the order of items is set', [
    made,
    ofPods({ '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }] }),
    ofPods({
      '$setElementOrder/containers': [{ name: 'side' }, { name: 'new' }, { name: 'main' }],
      containers: [{ name: 'new', image: 'three' }],
    }),
    ofPods({ '$setElementOrder/containers': [{ name: 'main' }], containers: [{ name: 'main', image: 'four' }] }),
    ofPods({ '$setElementOrder/containers': [{ name: 'new' }, { name: 'side' }] }),
    ofPods({ '$setElementOrder/initContainers': [{ name: 'none' }] }),
    ofPods({
      '$setElementOrder/containers': [{ name: 'main' }],
      containers: [
        { name: 'side', $patch: 'delete' },
        { name: 'new', $patch: 'delete' },
      ],
    }),
  ]),
  sequence('strategic: the order of items as kubectl sends it', [
    made,
    ofPods({
      '$setElementOrder/containers': [{ name: 'main' }, { name: 'side' }],
      containers: [
        {
          '$setElementOrder/env': [{ name: 'B' }, { name: 'C' }],
          '$setElementOrder/ports': [{ containerPort: 80 }, { containerPort: 53 }],
          name: 'main',
          env: [
            { $patch: 'delete', name: 'A' },
            { name: 'C', value: '3' },
          ],
        },
      ],
    }),
    ofPods({
      '$setElementOrder/volumes': [{ name: 'w' }, { name: 'v' }],
      volumes: [{ name: 'w', configMap: { name: 'x' } }],
    }),
  ]),
  sequence('strategic: wrong orders', [
    made,
    ofPods({
      '$setElementOrder/containers': [{ name: 'main' }],
      containers: [{ name: 'new', image: 'x' }],
    }),
    ofPods({ '$setElementOrder/containers': 'main' }),
    ofPods({ '$setElementOrder/containers': { a: 1 } }),
    ofPods({ '$setElementOrder/containers': [{ x: 1 }] }),
    ofPods({ '$setElementOrder/containers': [], containers: 'x' }),
    ofPods({ $setElementOrder: [] }),
    ofPods({ '$setElementOrder/': [] }),
    ofPods({ '$setElementOrder/unknown': [] }),
    ofPods({ '$setElementOrder/nodeName': [] }),
  ]),
  sequence('strategic: only some keys are retained', [
    made,
    strategicPatch(at, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
    ofPods({ volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] }),
    ofPods({ $retainKeys: ['containers'], containers: [{ name: 'side', image: 'three' }] }),
    strategicPatch(at, { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: null, type: 'RollingUpdate' } } }),
  ]),
  sequence('strategic: wrong keys to be retained', [
    made,
    ofPods({ $retainKeys: ['containers'], nodeName: 'x' }),
    ofPods({ $retainKeys: 'containers' }),
    strategicPatch(at, { spec: { strategy: { $retainKeys: ['rollingUpdate'], type: 'Recreate' } } }),
  ]),
  sequence('strategic: finalizers are a set', [
    prepare(post(configMaps, configMap({ name: 'a', finalizers: ['example.com/a', 'example.com/b'] }))),
    strategicPatch(`${configMaps}/a`, { metadata: { finalizers: ['example.com/c'] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { finalizers: ['example.com/b', 'example.com/a'] } }),
    strategicPatch(`${configMaps}/a`, {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a', 'none'] },
    }),
    strategicPatch(`${configMaps}/a`, {
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['example.com/c'],
        '$setElementOrder/finalizers': ['example.com/d', 'example.com/b'],
        finalizers: ['example.com/d'],
      },
    }),
    strategicPatch(`${configMaps}/a`, { metadata: { finalizers: [] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { finalizers: null } }),
    strategicPatch(`${configMaps}/a`, { metadata: { finalizers: ['example.com/e'] } }),
  ]),
  sequence('strategic: wrong deletions from sets', [
    prepare(post(configMaps, configMap({ name: 'a', finalizers: ['example.com/a'] }))),
    strategicPatch(`${configMaps}/a`, { metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } }),
    strategicPatch(`${configMaps}/a`, { metadata: { $deleteFromPrimitiveList: ['x'] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { '$deleteFromPrimitiveList/': ['x'] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { '$deleteFromPrimitiveList/labels': ['x'] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { finalizers: [1] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { finalizers: 'x' } }),
  ]),
  sequence('strategic: owners are told apart by their uids', [
    prepare(post(configMaps, configMap({ name: 'a', ownerReferences: [owner('1'), owner('2')] }))),
    strategicPatch(`${configMaps}/a`, { metadata: { ownerReferences: [{ ...owner('2'), controller: true }] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { ownerReferences: [owner('3')] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { ownerReferences: [{ uid: owner('1').uid, $patch: 'delete' }] } }),
    strategicPatch(`${configMaps}/a`, { metadata: { ownerReferences: [{ name: 'x' }] } }),
  ]),
  sequence('strategic: ports of services', [
    prepare(
      post(
        services,
        object('v1', 'Service', 'a', {
          spec: {
            clusterIP: 'None',
            selector: { app: 'db' },
            ports: [
              { name: 'http', port: 80 },
              { name: 'https', port: 443 },
            ],
          },
        }),
      ),
    ),
    strategicPatch(`${services}/a`, { spec: { ports: [{ port: 443, targetPort: 8443 }] } }),
    strategicPatch(`${services}/a`, { spec: { ports: [{ name: 'more', port: 8080 }] } }),
    strategicPatch(`${services}/a`, { spec: { ports: [{ port: 80, $patch: 'delete' }] } }),
    strategicPatch(`${services}/a`, { spec: { ports: [{ name: 'x' }] } }),
    strategicPatch(`${services}/a`, { spec: { selector: { app: 'web' } } }),
  ]),
  sequence('strategic: items without keys, and of other types', [
    made,
    ofPods({ containers: [{ image: 'x' }] }),
    ofPods({ containers: [{ $patch: 'delete', image: 'x' }] }),
    ofPods({ containers: [1] }),
    ofPods({ containers: [[1]] }),
    ofPods({ containers: ['x', { name: 'main' }] }),
    ofPods({ containers: [] }),
    ofPods({ initContainers: [{ image: 'x' }] }),
  ]),
  sequence('strategic: unknown directives', [
    made,
    ofPods({ containers: [{ name: 'main', $patch: 'other' }] }),
    ofPods({ containers: [{ name: 'main', $patch: 'merge' }] }),
    ofPods({ $patch: 'other' }),
    ofPods({ $patch: 'merge' }),
    ofPods({ $patch: 5 }),
    ofPods({ $unknown: 5 }),
  ]),
  sequence('strategic: values of wrong types', [
    made,
    ofPods({ containers: 'x' }),
    ofPods({ containers: { name: 'main' } }),
    ofPods({ nodeSelector: ['x'] }),
    ofPods({ nodeSelector: { a: { b: 1 } } }),
    ofPods({ nodeSelector: { a: 1 } }),
    ofPods({ securityContext: 'x' }),
    ofPods({ nodeName: true }),
    ofPods({ nodeName: 5 }),
    ofPods({ restartPolicy: 5 }),
    ofPods({ hostNetwork: 'yes' }),
    ofPods({ terminationGracePeriodSeconds: 1.5 }),
    strategicPatch(at, { spec: { replicas: 'x' } }),
    strategicPatch(at, { spec: 'x' }),
    strategicPatch(at, { metadata: { labels: { a: ['b'] } } }),
    strategicPatch(at, '{ broken'),
    strategicPatch(at, []),
    strategicPatch(at, '"text"'),
    strategicPatch(at, ''),
  ]),
  sequence('strategic: unknown fields', [
    made,
    ofPods({ unknown: 1 }),
    ofPods({ unknown: { a: 1 } }, '?fieldValidation=Warn'),
    ofPods({ containers: [{ name: 'main', unknown: [1] }] }, '?fieldValidation=Strict'),
    strategicPatch(`${at}?fieldValidation=Ignore`, { unknown: 'x' }),
    strategicPatch(`${at}?fieldValidation=Strict`, { unknown: 'x', spec: { other: 1 } }),
  ]),
  sequence('strategic: what is new comes without nulls and directives', [
    prepare(post(deployments, deployment('a'))),
    ofPods({
      volumes: [
        { name: 'a', emptyDir: {}, hostPath: null },
        { name: 'b', $patch: 'delete' },
        { name: 'c', $retainKeys: ['name', 'emptyDir'], emptyDir: { medium: null } },
      ],
    }),
    ofPods({ affinity: { $patch: 'replace', nodeAffinity: { $retainKeys: ['x'] } } }),
    ofPods({ nodeSelector: { a: null, b: 'c' } }),
    ofPods({ dnsConfig: { '$setElementOrder/options': [{ name: 'x' }], nameservers: ['10.0.0.1'] } }),
  ]),
  sequence('strategic: lists without merge keys are replaced', [
    made,
    ofPods({ tolerations: [{ key: 'a', operator: 'Exists' }] }),
    ofPods({ tolerations: [{ key: 'b', operator: 'Exists' }] }),
    ofPods({ tolerations: [{ key: 'b', $patch: 'delete' }] }),
    ofPods({ containers: [{ name: 'main', args: ['z', 'z'] }] }),
  ]),
  sequence('strategic: pods and their subresources', [
    prepare(post(pods, pod('a', { containers: [main, side] }))),
    strategicPatch(`${pods}/a`, { spec: { containers: [{ name: 'side', image: 'three' }] } }),
    strategicPatch(`${pods}/a`, { spec: { containers: [{ name: 'new', image: 'three' }] } }),
    strategicPatch(`${pods}/a/status`, {
      status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2024-01-01T00:00:00Z' }] },
    }),
    strategicPatch(`${pods}/a/status`, {
      status: { conditions: [{ type: 'Other', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' }] },
    }),
    strategicPatch(`${pods}/a/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
    strategicPatch(`${pods}/a/status`, { status: { podIPs: [{ ip: '10.0.0.1' }], podIP: '10.0.0.1' } }),
  ]),
  sequence('strategic: scales', [
    made,
    strategicPatch(`${at}/scale`, { spec: { replicas: 5 } }),
    strategicPatch(`${at}/scale`, { spec: { $patch: 'replace', replicas: 2 } }),
    strategicPatch(`${at}/scale`, { spec: { replicas: null } }),
    strategicPatch(`${at}/scale`, { spec: { replicas: 'x' } }),
    strategicPatch(`${at}/scale`, { spec: { replicas: -1 } }),
    strategicPatch(`${at}/scale`, { spec: { unknown: { a: 1 } } }),
    strategicPatch(`${at}/scale`, { metadata: { name: 'other' } }),
    get(at),
  ]),
  sequence('strategic: accounts and webhooks', [
    prepare(post(accounts, object('v1', 'ServiceAccount', 'a', { secrets: [{ name: 'x' }] }))),
    strategicPatch(`${accounts}/a`, { secrets: [{ name: 'y' }], imagePullSecrets: [{ name: 'z' }] }),
    strategicPatch(`${accounts}/a`, { imagePullSecrets: [{ name: 'w' }] }),
    prepare(
      post(
        hooks,
        object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', '<ns>', {
          webhooks: ['one.example.com', 'two.example.com'].map((name) => ({
            name,
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            clientConfig: { url: 'https://example.com/x' },
          })),
        }),
      ),
    ),
    strategicPatch(`${hooks}/<ns>`, { webhooks: [{ name: 'two.example.com', timeoutSeconds: 5 }] }),
    strategicPatch(`${hooks}/<ns>`, { webhooks: [{ name: 'one.example.com', $patch: 'delete' }] }),
  ]),
  sequence('strategic: definitions', [
    ...defined(definition([version('v1', schemaOf({ spec: schemaOf({ a: { type: 'string' } }) }))])),
    strategicPatch(`${definitions}/things.<group>`, { spec: { names: { shortNames: ['th'] } } }),
    get(`${definitions}/things.<group>`, { until: ({ body }) => hasAccepted(body, 'th') }),
    strategicPatch(`${definitions}/things.<group>`, { metadata: { labels: { a: 'b' } } }),
  ]),
];
