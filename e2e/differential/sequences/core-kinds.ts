import { del, get, post, prepare, put, type Sequence, sequence, untilStatus } from '../harness/sequence.js';
import {
  clusterWide,
  configMap,
  configMaps,
  containers,
  type Fields,
  inNamespace,
  namespaces,
  object,
  pod,
  pods,
} from './objects.js';

const secrets = inNamespace('secrets');
const services = inNamespace('services');
const serviceAccounts = inNamespace('serviceaccounts');
const endpoints = inNamespace('endpoints');
const claims = inNamespace('persistentvolumeclaims');
const volumes = clusterWide('persistentvolumes');
const nodes = clusterWide('nodes');
const v1Events = inNamespace('events');

/** Everything that can be done to an object of a kind, once. */
function lifeOf(collection: string, body: Fields, changed: Fields): ReturnType<typeof get>[] {
  const { name } = body['metadata'] as { name: string };
  const address = `${collection}/${name}`;
  return [
    post(collection, body),
    get(address),
    post(collection, body),
    put(address, changed),
    get(`${collection}?fieldSelector=metadata.name%3D${name}`),
    del(address),
    get(address),
  ];
}

/** Addresses that nobody has asked for. */
const byChance = { except: ['clusterIP', 'clusterIPs'] };

export const coreKinds: readonly Sequence[] = [
  sequence('addresses and ports that services ask for', [
    ...[
      { clusterIP: '10.96.200.1' },
      { clusterIP: '10.96.200.1', type: 'NodePort' },
      { clusterIP: '10.97.0.1' },
      { clusterIP: '10.96.0.0' },
      { clusterIP: 'fd00::1' },
      { type: 'NodePort', ports: [{ port: 1, nodePort: 32100 }] },
      { type: 'NodePort', ports: [{ port: 1, nodePort: 32100 }] },
      { type: 'NodePort', ports: [{ port: 1, nodePort: 80 }] },
      { type: 'LoadBalancer', ports: [{ port: 1, nodePort: 32100, protocol: 'UDP' }] },
      { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false },
      { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 1, nodePort: 32100 }] },
      { externalIPs: ['1.2.3.4'] },
      { clusterIP: 'None', externalIPs: ['1.2.3.4'], sessionAffinity: 'ClientIP' },
    ].map((spec, index) =>
      post(services, object('v1', 'Service', `s${index}`, { spec: { ports: [{ port: 1 }], ...spec } }), byChance),
    ),
    put(
      `${services}/s5`,
      object('v1', 'Service', 's5', { spec: { type: 'NodePort', ports: [{ port: 2, nodePort: 32100 }] } }),
      byChance,
    ),
    del(`${services}/s5`, undefined, byChance),
    post(
      services,
      object('v1', 'Service', 'again', { spec: { type: 'NodePort', ports: [{ port: 1, nodePort: 32100 }] } }),
      byChance,
    ),
    ...['s0', 'again'].map((name) => del(`${services}/${name}`, undefined, byChance)),
  ]),
  sequence('logs and commands of pods without a host', [
    post(pods, pod('one')),
    get(`${pods}/one/log`),
    get(`${pods}/one/log?container=none`),
    get(`${pods}/one/log?tailLines=-1`),
    get(`${pods}/none/log`),
    get(`${pods}/one/exec?command=ls&stdout=true`),
    post(`${pods}/one/exec?command=ls&stdout=true`, {}),
    get(`${pods}/one/attach?stdout=true`),
    get(`${pods}/one/portforward?ports=80`),
    get(`${pods}/none/portforward?ports=80`),
    put(`${pods}/one/exec`, {}),
    post(`${pods}/one/log`, {}),
  ]),
  sequence('the life of a config map', lifeOf(configMaps, configMap('one'), configMap('one', { key: 'other' }))),
  sequence(
    'binary data and immutability of config maps',
    [
      post(configMaps, object('v1', 'ConfigMap', 'bin', { binaryData: { blob: 'AAECAw==' }, immutable: true })),
      put(`${configMaps}/bin`, object('v1', 'ConfigMap', 'bin', { binaryData: { blob: 'AAECBA==' }, immutable: true })),
      put(`${configMaps}/bin`, object('v1', 'ConfigMap', 'bin', { binaryData: { blob: 'AAECAw==' } })),
      post(configMaps, object('v1', 'ConfigMap', 'both', { data: { k: 'x' }, binaryData: { k: 'AA==' } })),
      post(configMaps, object('v1', 'ConfigMap', 'bad', { data: { 'no spaces': 'x', '..': 'y' } })),
    ],
    { causesComeInAnyOrder: true },
  ),
  sequence(
    'the life of a secret',
    lifeOf(
      secrets,
      object('v1', 'Secret', 'one', { stringData: { password: 'secret' } }),
      object('v1', 'Secret', 'one', { data: { password: 'b3RoZXI=' } }),
    ),
  ),
  sequence('types of secrets', [
    post(secrets, object('v1', 'Secret', 'tls', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==' } })),
    post(secrets, object('v1', 'Secret', 'basic', { type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } })),
    post(secrets, object('v1', 'Secret', 'broken', { data: { key: 'not base64!' } })),
    prepare(post(secrets, object('v1', 'Secret', 'opaque'))),
    put(`${secrets}/opaque`, object('v1', 'Secret', 'opaque', { type: 'example.com/other' })),
  ]),
  sequence('the life of a namespace', [
    post(namespaces, object('v1', 'Namespace', { name: 'x-<id>', labels: { of: '<id>' } })),
    get(`${namespaces}/x-<id>`),
    get(`${namespaces}?labelSelector=of%3D<id>`),
    put(`${namespaces}/x-<id>`, object('v1', 'Namespace', { name: 'x-<id>', labels: { of: '<id>', more: 'yes' } })),
    post(namespaces, object('v1', 'Namespace', 'x-<id>')),
    post(namespaces, object('v1', 'Namespace', 'Not_A_Name')),
  ]),
  sequence('the life of a service account', [
    // On the real server, it may come later than the first requests.
    prepare(get(`${serviceAccounts}/default`, { until: untilStatus(200) })),
    post(serviceAccounts, object('v1', 'ServiceAccount', 'robot')),
    get(`${serviceAccounts}/robot`),
    put(
      `${serviceAccounts}/robot`,
      object('v1', 'ServiceAccount', 'robot', {
        automountServiceAccountToken: false,
        imagePullSecrets: [{ name: 'r' }],
      }),
    ),
    get(serviceAccounts),
    del(`${serviceAccounts}/robot`),
    get(serviceAccounts),
  ]),
  sequence('a service without an address', [
    post(
      services,
      object('v1', 'Service', 'headless', {
        spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [{ port: 80 }] },
      }),
    ),
    get(`${services}/headless`),
    get(services),
    del(`${services}/headless`),
  ]),
  sequence('a service under another name', [
    post(
      services,
      object('v1', 'Service', 'outside', { spec: { type: 'ExternalName', externalName: 'db.example.com' } }),
    ),
    get(`${services}/outside`),
    post(services, object('v1', 'Service', 'unnamed', { spec: { type: 'ExternalName' } })),
  ]),
  sequence('wrong services', [
    post(services, object('v1', 'Service', 'none')),
    post(services, object('v1', 'Service', 'port', { spec: { clusterIP: 'None', ports: [{ port: 70000 }] } })),
    post(
      services,
      object('v1', 'Service', '1starts-with-a-digit', { spec: { clusterIP: 'None', ports: [{ port: 1 }] } }),
    ),
    post(
      services,
      object('v1', 'Service', 'twice', {
        spec: {
          clusterIP: 'None',
          ports: [
            { name: 'a', port: 1 },
            { name: 'a', port: 2 },
          ],
        },
      }),
    ),
    post(services, object('v1', 'Service', 'type', { spec: { type: 'Wrong', ports: [{ port: 1 }] } })),
  ]),
  sequence('the life of endpoints', [
    post(
      endpoints,
      object('v1', 'Endpoints', 'web', { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 8080 }] }] }),
    ),
    get(`${endpoints}/web`),
    get(endpoints),
    post(endpoints, object('v1', 'Endpoints', 'bad', { subsets: [{ addresses: [{ ip: 'not-an-ip' }] }] })),
    del(`${endpoints}/web`),
  ]),
  sequence('the life of a claim', [
    post(
      claims,
      object('v1', 'PersistentVolumeClaim', 'data', {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }),
    ),
    get(`${claims}/data`),
    get(claims),
    post(claims, object('v1', 'PersistentVolumeClaim', 'empty', { spec: {} })),
    del(`${claims}/data`),
    get(`${claims}/data`),
  ]),
  sequence('the life of a volume', [
    post(
      volumes,
      object('v1', 'PersistentVolume', 'pv-<id>', {
        spec: {
          capacity: { storage: '5Gi' },
          accessModes: ['ReadWriteMany'],
          hostPath: { path: '/data' },
          persistentVolumeReclaimPolicy: 'Retain',
        },
      }),
    ),
    get(`${volumes}/pv-<id>`),
    post(volumes, object('v1', 'PersistentVolume', 'pw-<id>', { spec: {} })),
    del(`${volumes}/pv-<id>`),
    get(`${volumes}/pv-<id>`),
  ]),
  sequence('the life of a node', [
    post(
      nodes,
      object('v1', 'Node', { name: 'node-<id>', labels: { of: '<id>' } }, { spec: { podCIDR: '10.4.0.0/24' } }),
    ),
    get(`${nodes}/node-<id>`),
    get(`${nodes}?labelSelector=of%3D<id>`),
    put(
      `${nodes}/node-<id>`,
      object('v1', 'Node', 'node-<id>', { spec: { podCIDR: '10.4.0.0/24', unschedulable: true } }),
    ),
    del(`${nodes}/node-<id>`),
  ]),
  sequence('the life of a pod', [
    post(pods, pod('one')),
    get(`${pods}/one`),
    get(pods),
    del(`${pods}/one?gracePeriodSeconds=0`),
    get(`${pods}/one`),
  ]),
  sequence('a pod with much in it', [
    post(
      pods,
      pod('big', {
        restartPolicy: 'OnFailure',
        containers: [
          {
            name: 'main',
            image: 'app',
            env: [
              { name: 'A', value: 'b' },
              { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            ],
            ports: [{ containerPort: 80, name: 'http' }],
            resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: '1000m', memory: '1Gi' } },
            livenessProbe: { httpGet: { path: '/', port: 'http' } },
            volumeMounts: [{ name: 'conf', mountPath: '/conf' }],
          },
        ],
        initContainers: [{ name: 'init', image: 'init:latest', command: ['true'] }],
        volumes: [
          { name: 'conf', configMap: { name: 'conf' } },
          { name: 'tmp', emptyDir: {} },
        ],
        nodeSelector: { disk: 'ssd' },
      }),
    ),
  ]),
  sequence('wrong pods', [
    post(pods, object('v1', 'Pod', 'no-spec')),
    post(pods, object('v1', 'Pod', 'no-containers', { spec: { containers: [] } })),
    post(pods, pod('no-image', { containers: [{ name: 'main' }] })),
    post(pods, pod('bad-name', { containers: [{ name: 'Main_1', image: 'a' }] })),
    post(pods, pod('twice', { containers: [...containers, ...containers] })),
    post(pods, pod('policy', { restartPolicy: 'Sometimes' })),
    post(pods, pod('port', { containers: [{ name: 'main', image: 'a', ports: [{ containerPort: 99999 }] }] })),
  ]),
  sequence('pods do not change much', [
    prepare(post(pods, pod('fixed'))),
    put(`${pods}/fixed`, pod('fixed', { containers: [{ name: 'main', image: 'other' }] })),
    put(`${pods}/fixed`, pod('fixed', { containers: [{ name: 'renamed', image: 'other' }] })),
  ]),
  sequence('the life of an event', [
    post(
      v1Events,
      object('v1', 'Event', 'e1', {
        involvedObject: { kind: 'ConfigMap', name: 'one', namespace: '<ns>', apiVersion: 'v1' },
        reason: 'Testing',
        message: 'Something has happened.',
        type: 'Normal',
        firstTimestamp: '2020-01-02T03:04:05Z',
        lastTimestamp: '2020-01-02T03:04:05Z',
        count: 1,
        source: { component: 'test' },
      }),
    ),
    get(`${v1Events}/e1`),
    get(`${v1Events}?fieldSelector=involvedObject.name%3Done,reason%3DTesting`),
    get(`${v1Events}?fieldSelector=involvedObject.name%3Dtwo`),
    get(`/apis/events.k8s.io/v1/namespaces/<ns>/events/e1`),
    del(`${v1Events}/e1`),
  ]),
  sequence('wrong events', [
    post(
      v1Events,
      object('v1', 'Event', 'e1', { involvedObject: { kind: 'ConfigMap', name: 'one', namespace: 'other' } }),
    ),
    post(v1Events, object('v1', 'Event', 'e2', { involvedObject: { kind: 'Node', name: 'one' } })),
    post(v1Events, object('v1', 'Event', 'e3', {})),
  ]),
];
