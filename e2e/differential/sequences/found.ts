/** What generated requests have found, each as small as it can be. */
import {
  applyPatch,
  del,
  get,
  jsonPatch,
  mergePatch,
  post,
  prepare,
  put,
  type Sequence,
  sequence,
  strategicPatch,
} from '../harness/sequence.js';
import {
  configMap,
  configMaps,
  deployment,
  deployments,
  type Fields,
  inNamespace,
  object,
  pod,
  pods,
} from './objects.js';

const jobs = inNamespace('jobs', 'batch/v1');
const services = inNamespace('services');
const secrets = inNamespace('secrets');
const claims = inNamespace('persistentvolumeclaims');
const roles = inNamespace('roles', 'rbac.authorization.k8s.io/v1');
const events = inNamespace('events', 'events.k8s.io/v1');
const template = (spec: Fields = {}, labels: Fields = { app: 'web' }): Fields => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'a' }], ...spec },
});
const job = (metadata: Fields | string, spec: Fields = {}) =>
  object('batch/v1', 'Job', metadata, { spec: { template: template({ restartPolicy: 'Never' }), ...spec } });
const deployed = (spec: Fields) => deployment('a', { template: template(spec) });
const one = (container: Fields, spec: Fields = {}) =>
  pod('a', { containers: [{ name: 'main', image: 'a', ...container }], ...spec });
const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };
const metadataOfAll = { headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' } };

export const found: readonly Sequence[] = [
  sequence(
    'labels of jobs that have none',
    [
      post(jobs, job('a')),
      prepare(post(jobs, job('b'))),
      put(`${jobs}/b`, job('b', { parallelism: 2 })),
      mergePatch(`${jobs}/b`, { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } }),
      del(`${jobs}/none`),
    ],
    { causesComeInAnyOrder: true },
  ),
  sequence('empty tables, and empty lists of metadata', [
    get(roles, table),
    get(roles, metadataOfAll),
    get(configMaps, metadataOfAll),
    get(pods, table),
  ]),
  sequence(
    'families of services without selectors',
    [
      post(services, object('v1', 'Service', 'a', { spec: { clusterIP: 'None', ipFamilyPolicy: 'SingleStack' } })),
      post(services, object('v1', 'Service', 'b', { spec: { clusterIP: 'None', ipFamilies: ['IPv4'] } })),
      mergePatch(`${services}/b`, { spec: { selector: { app: 'web' } } }),
      post(
        services,
        object('v1', 'Service', 'c', { spec: { type: 'ExternalName', externalName: 'a.b', ipFamilies: ['IPv4'] } }),
      ),
      mergePatch(`${services}/a`, { spec: { externalName: 'x' } }),
      mergePatch(`${services}/a`, { spec: { loadBalancerClass: 'a.b/c' } }),
    ],
    { causesComeInAnyOrder: true },
  ),
  sequence('versions that are no numbers, of objects that are not there', [
    put(`${roles}/a`, object('rbac.authorization.k8s.io/v1', 'Role', { name: 'a', resourceVersion: 'x' })),
  ]),
  sequence('deadlines of pods that should live long', [
    post(deployments, deployed({ activeDeadlineSeconds: 1 })),
    ...['replicasets', 'statefulsets', 'daemonsets'].map((plural) =>
      post(
        inNamespace(plural, 'apps/v1'),
        object(
          'apps/v1',
          { replicasets: 'ReplicaSet', statefulsets: 'StatefulSet', daemonsets: 'DaemonSet' }[plural] ?? '',
          'a',
          {
            spec: { selector: { matchLabels: { app: 'web' } }, template: template({ activeDeadlineSeconds: 1 }) },
          },
        ),
      ),
    ),
  ]),
  sequence('fields of embedded structs in messages', [
    post(pods, one({ livenessProbe: { exec: { command: [1] } } })),
    post(pods, one({}, { volumes: [{ name: 'v', nfs: 'x' }] })),
    post(pods, one({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 1 } } }] })),
  ]),
  sequence('wrong values that are overwritten in the same text', [
    post(configMaps, '{"kind":{},"kind":"ConfigMap","metadata":{"name":"a"}}'),
    post(configMaps, '{"metadata":{"name":1,"name":"a"}}'),
    post(configMaps, '{"metadata":{"name":"a"},"data":{"k":{},"k":"v"}}'),
    post(configMaps, '{"metadata":{"name":"b"},"data":{"k":"u","k":"v"}}'),
  ]),
  sequence('keys that are applied twice, with and without a conflict', [
    prepare(post(configMaps, configMap('a', { k: 'v' }))),
    applyPatch(
      `${configMaps}/a?fieldManager=m&fieldValidation=Strict`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"x","k":"y"}}',
    ),
    applyPatch(
      `${configMaps}/a?fieldManager=m&fieldValidation=Strict`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"l":"x","l":"y"}}',
    ),
    applyPatch(
      `${configMaps}/a?fieldManager=m`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"l":"x","l":"y"}}',
    ),
  ]),
  sequence('patches without an object, and objects without a version', [
    mergePatch(`${configMaps}/none`, '{'),
    strategicPatch(`${configMaps}/none`, '{'),
    prepare(post(configMaps, configMap('a'))),
    jsonPatch(`${configMaps}/a`, [{ op: 'remove', path: '/apiVersion' }]),
  ]),
  sequence('gates and tolerations do not change', [
    prepare(post(pods, one({}, { tolerations: [{ key: 'a', operator: 'Exists' }] }))),
    mergePatch(`${pods}/a`, { spec: { schedulingGates: [{ name: 'a.b/c' }] } }),
    mergePatch(`${pods}/a`, { spec: { tolerations: [] } }),
    post(pods, pod('b', { schedulingGates: [{ name: 'a.b/c' }], nodeName: 'n' })),
  ]),
  sequence(
    'pods that cannot be placed',
    [
      post(pods, one({}, { topologySpreadConstraints: [{ topologyKey: 'zone' }] })),
      post(pods, one({}, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } })),
      post(
        pods,
        one(
          {},
          { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
        ),
      ),
      post(pods, one({}, { tolerations: [{ operator: 'Equal', value: 'x' }] })),
      post(pods, one({}, { tolerations: [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 }] })),
    ],
    { causesComeInAnyOrder: true },
  ),
  sequence(
    'volumes that cannot be mounted',
    [
      post(
        pods,
        one({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }, { volumes: [{ name: 'v', nfs: { server: 'a' } }] }),
      ),
      post(
        pods,
        one({}, { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] }),
      ),
      post(pods, one({}, { volumes: [{ name: 'v', downwardAPI: { items: [{ path: '' }] } }] })),
      post(pods, one({}, { volumes: [{ name: 'v', hostPath: { path: '/a', type: 'Wrong' } }] })),
      post(pods, one({ envFrom: [{ prefix: 'A' }] })),
    ],
    { causesComeInAnyOrder: true },
  ),
  sequence('what is told of containers', [
    post(pods, one({ ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP' }] })),
    post(deployments, deployed({ containers: [{ name: 'a', image: 'b', env: [{ name: 'A' }, { name: 'A' }] }] })),
    post(pods, { ...one({}), metadata: { name: 'with.dots' } }),
  ]),
  sequence('init containers are not looked after', [
    post(pods, one({}, { initContainers: [{ name: 'i', image: 'a', startupProbe: { exec: { command: ['a'] } } }] })),
  ]),
  sequence('priorities of the system', [post(pods, one({}, { priorityClassName: 'system-cluster-critical' }))]),
  sequence('sources of claims are told twice', [
    post(
      claims,
      object('v1', 'PersistentVolumeClaim', 'a', {
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
          dataSource: { kind: 'PersistentVolumeClaim', name: 'old' },
        },
      }),
    ),
  ]),
  sequence('pairs of keys and certificates that are none', [
    post(
      secrets,
      object('v1', 'Secret', 'a', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'Yg==' } }),
    ),
    post(secrets, object('v1', 'Secret', 'b', { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '0' } })),
  ]),
  sequence(
    'series of events',
    [
      post(
        events,
        object('events.k8s.io/v1', 'Event', 'a', {
          eventTime: '2020-01-02T03:04:05.000006Z',
          action: 'a',
          reason: 'b',
          type: 'Normal',
          reportingController: 'a.b/c',
          reportingInstance: 'd',
          regarding: { kind: 'Pod', name: 'x', namespace: '<ns>' },
          series: { count: 1 },
        }),
      ),
    ],
    { causesComeInAnyOrder: true },
  ),
  sequence('hosts of ingresses in tables', [
    prepare(
      post(
        inNamespace('ingresses', 'networking.k8s.io/v1'),
        object('networking.k8s.io/v1', 'Ingress', 'a', {
          spec: {
            defaultBackend: { service: { name: 'a', port: { number: 1 } } },
            rules: [{ host: 'a.b' }, {}],
          },
        }),
      ),
    ),
    get(inNamespace('ingresses', 'networking.k8s.io/v1'), table),
    get(`${inNamespace('ingresses', 'networking.k8s.io/v1')}?fieldSelector=%3D`),
  ]),
];
