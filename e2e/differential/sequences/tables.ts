/** Objects as tables, as kubectl asks for them. */
import {
  events,
  get,
  mergePatch,
  post,
  prepare,
  type RequestStep,
  type Sequence,
  sequence,
  untilStatus,
  watch,
} from '../harness/sequence.js';
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
  workloadSpec,
} from './objects.js';

const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const table = (path: string) => get(path, { headers });
const made = (path: string, body: Fields) => prepare(post(path, body));
const status = (path: string, body: object) => prepare(mergePatch(`${path}/status`, { status: body }));
/** Both kinds of tables, of what was made before. */
const tables = (path: string, name = 'a'): RequestStep[] => [table(path), table(`${path}/${name}`)];

const MINUTES_AGO = '2020-01-01T00:00:00Z';
const services = inNamespace('services');
const events_ = inNamespace('events');
const claims = inNamespace('persistentvolumeclaims');
const rbac = (plural: string) => inNamespace(plural, 'rbac.authorization.k8s.io/v1');
const networking = (plural: string) => inNamespace(plural, 'networking.k8s.io/v1');
const admission = (plural: string) => clusterWide(plural, 'admissionregistration.k8s.io/v1');
const two = [
  { name: 'one', image: 'image/one' },
  { name: 'two', image: 'image/two' },
];
const running = (name: string, rest: object = {}) => ({
  name,
  ready: true,
  restartCount: 0,
  image: 'x',
  imageID: '',
  state: { running: { startedAt: MINUTES_AGO } },
  ...rest,
});

export const tablesOfKinds: readonly Sequence[] = [
  sequence('tables: config maps, secrets and accounts', [
    // On the real server, it may come later than the first requests.
    prepare(get(`${inNamespace('serviceaccounts')}/default`, { until: untilStatus(200) })),
    made(configMaps, { ...configMap('a', { x: '1', y: '2' }), binaryData: { z: 'AAAA' } }),
    ...tables(configMaps),
    made(inNamespace('secrets'), object('v1', 'Secret', 'a', { type: 'Opaque', stringData: { x: 'y' } })),
    ...tables(inNamespace('secrets')),
    made(inNamespace('serviceaccounts'), object('v1', 'ServiceAccount', 'a')),
    ...tables(inNamespace('serviceaccounts')),
  ]),
  sequence('tables: with objects, without, and of nothing', [
    table(configMaps),
    made(configMaps, configMap('a')),
    table(`${configMaps}?includeObject=Object`),
    table(`${configMaps}?includeObject=None`),
    table(`${configMaps}?includeObject=Metadata`),
    table(`${configMaps}/none`),
    table(`${configMaps}?limit=1`),
  ]),
  sequence('tables: pods without a node', [
    made(pods, pod('a', { containers: two })),
    ...tables(pods),
    made(pods, pod('b', { schedulingGates: [{ name: 'example.com/gate' }] })),
    table(pods),
    get(`${pods}/b`),
  ]),
  sequence('tables: pods in all their states', [
    made(pods, pod('a', { containers: two, nodeName: 'n', readinessGates: [{ conditionType: 'example.com/x' }] })),
    status(`${pods}/a`, {
      phase: 'Running',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [running('one'), running('two', { restartCount: 3 })],
    }),
    table(`${pods}/a`),
    status(`${pods}/a`, {
      containerStatuses: [
        running('one'),
        running('two', { ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } }),
      ],
    }),
    table(`${pods}/a`),
    status(`${pods}/a`, {
      containerStatuses: [running('one'), running('two', { ready: false, state: { terminated: { exitCode: 3 } } })],
    }),
    table(`${pods}/a`),
    status(`${pods}/a`, { phase: 'Succeeded', containerStatuses: null }),
    table(`${pods}/a`),
    status(`${pods}/a`, { phase: 'Failed', reason: 'Evicted' }),
    table(`${pods}/a`),
  ]),
  sequence('tables: pods that begin', [
    made(pods, pod('a', { initContainers: two, nodeName: 'n' })),
    status(`${pods}/a`, {
      initContainerStatuses: [
        running('one', { ready: false, state: { terminated: { exitCode: 0 } } }),
        running('two', { ready: false, state: { waiting: { reason: 'PodInitializing' } } }),
      ],
    }),
    table(`${pods}/a`),
    status(`${pods}/a`, {
      initContainerStatuses: [
        running('one', { ready: false, state: { terminated: { exitCode: 1, reason: 'Error' } } }),
      ],
    }),
    table(`${pods}/a`),
    status(`${pods}/a`, {
      initContainerStatuses: [running('one', { ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } })],
    }),
    table(`${pods}/a`),
  ]),
  sequence('tables: deployments', [
    made(deployments, deployment('a', { replicas: 3 })),
    ...tables(deployments),
    status(`${deployments}/a`, { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 }),
    table(deployments),
    table(`${deployments}/a/scale`),
    table(`${deployments}/a/status`),
  ]),
  sequence('tables: replica sets and controllers', [
    made(inNamespace('replicasets', 'apps/v1'), object('apps/v1', 'ReplicaSet', 'a', { spec: workloadSpec })),
    ...tables(inNamespace('replicasets', 'apps/v1')),
    made(
      inNamespace('replicationcontrollers'),
      object('v1', 'ReplicationController', 'a', {
        spec: {
          selector: { app: 'web', b: 'c' },
          template: { metadata: { labels: { app: 'web', b: 'c' } }, spec: { containers: two } },
        },
      }),
    ),
    ...tables(inNamespace('replicationcontrollers')),
  ]),
  sequence('tables: stateful and daemon sets', [
    made(
      inNamespace('statefulsets', 'apps/v1'),
      object('apps/v1', 'StatefulSet', 'a', { spec: { ...workloadSpec, serviceName: 'x', replicas: 2 } }),
    ),
    ...tables(inNamespace('statefulsets', 'apps/v1')),
    made(
      inNamespace('daemonsets', 'apps/v1'),
      object('apps/v1', 'DaemonSet', 'a', {
        spec: {
          selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'x'] }] },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: two, nodeSelector: { a: 'b' } } },
        },
      }),
    ),
    table(`${inNamespace('daemonsets', 'apps/v1')}?includeObject=None`),
  ]),
  sequence('tables: jobs', [
    ...[{}, { completions: 5, parallelism: 2 }, { parallelism: 3 }].map((spec, index) =>
      made(
        inNamespace('jobs', 'batch/v1'),
        object('batch/v1', 'Job', `a${index}`, {
          spec: {
            ...spec,
            manualSelector: true,
            selector: { matchLabels: { app: 'web' } },
            template: { metadata: { labels: { app: 'web' } }, spec: { containers, restartPolicy: 'Never' } },
          },
        }),
      ),
    ),
    table(inNamespace('jobs', 'batch/v1')),
    made(
      inNamespace('jobs', 'batch/v1'),
      object('batch/v1', 'Job', 's', {
        spec: {
          suspend: true,
          manualSelector: true,
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers, restartPolicy: 'Never' } },
        },
      }),
    ),
    table(`${inNamespace('jobs', 'batch/v1')}/s`),
  ]),
  sequence('tables: cron jobs', [
    made(
      inNamespace('cronjobs', 'batch/v1'),
      object('batch/v1', 'CronJob', 'a', {
        spec: {
          schedule: '*/5 * * * *',
          timeZone: 'Etc/UTC',
          suspend: true,
          jobTemplate: { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } },
        },
      }),
    ),
    ...tables(inNamespace('cronjobs', 'batch/v1')),
  ]),
  sequence('tables: services', [
    ...[
      ['headless', { clusterIP: 'None', selector: { a: 'b', c: 'd' }, ports: [{ port: 80 }] }],
      [
        'outside',
        {
          clusterIP: 'None',
          selector: { a: 'b' },
          ports: [
            { name: 'a', port: 80 },
            { name: 'b', port: 53, protocol: 'UDP' },
          ],
        },
      ],
      ['named', { type: 'ExternalName', externalName: 'example.com' }],
      [
        'given',
        { clusterIP: 'None', selector: { a: 'b' }, externalIPs: ['192.0.2.1', '192.0.2.2'], ports: [{ port: 1 }] },
      ],
    ].map(([name, spec]) => made(services, object('v1', 'Service', name as string, { spec }))),
    table(services),
  ]),
  sequence('tables: endpoints', [
    made(
      inNamespace('endpoints'),
      object('v1', 'Endpoints', 'a', {
        subsets: [
          {
            addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }],
            ports: [
              { name: 'a', port: 80 },
              { name: 'b', port: 443 },
            ],
          },
        ],
      }),
    ),
    made(inNamespace('endpoints'), object('v1', 'Endpoints', 'b')),
    ...tables(inNamespace('endpoints')),
  ]),
  sequence('tables: events', [
    made(
      events_,
      object('v1', 'Event', 'a', {
        involvedObject: { kind: 'Pod', name: 'x', namespace: '<ns>', fieldPath: 'spec.containers{one}' },
        reason: 'Started',
        message: ' It has started. ',
        type: 'Normal',
        count: 3,
        source: { component: 'kubelet', host: 'n' },
        firstTimestamp: MINUTES_AGO,
        lastTimestamp: '2020-01-01T01:00:00Z',
      }),
    ),
    ...tables(events_),
    table(inNamespace('events', 'events.k8s.io/v1')),
  ]),
  sequence('tables: claims and volumes', [
    made(
      claims,
      object('v1', 'PersistentVolumeClaim', 'a', {
        spec: {
          accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
          resources: { requests: { storage: '1Gi' } },
          storageClassName: 'slow',
        },
      }),
    ),
    ...tables(claims),
    made(
      clusterWide('persistentvolumes'),
      object('v1', 'PersistentVolume', '<ns>', {
        spec: {
          capacity: { storage: '5Gi' },
          accessModes: ['ReadWriteMany'],
          hostPath: { path: '/x' },
          claimRef: { namespace: '<ns>', name: 'a' },
          storageClassName: 'slow',
        },
      }),
    ),
    table(`${clusterWide('persistentvolumes')}/<ns>`),
  ]),
  sequence('tables: namespaces and nodes', [
    table('/api/v1/namespaces/<ns>'),
    made(
      clusterWide('nodes'),
      object(
        'v1',
        'Node',
        { name: '<ns>', labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'x' } },
        { spec: { unschedulable: true } },
      ),
    ),
    table(`${clusterWide('nodes')}/<ns>`),
    status(`${clusterWide('nodes')}/<ns>`, {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: '192.0.2.9' }],
    }),
    table(`${clusterWide('nodes')}/<ns>`),
  ]),
  sequence('tables: templates, ranges and quotas', [
    made(
      inNamespace('podtemplates'),
      object('v1', 'PodTemplate', 'a', {
        template: { metadata: { labels: { b: 'c', a: 'b' } }, spec: { containers: two } },
      }),
    ),
    ...tables(inNamespace('podtemplates')),
    made(
      inNamespace('limitranges'),
      object('v1', 'LimitRange', 'a', { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } }),
    ),
    ...tables(inNamespace('limitranges')),
    made(inNamespace('resourcequotas'), object('v1', 'ResourceQuota', 'a', { spec: { hard: { pods: '5' } } })),
    // A controller counts them first, whenever it finds the time.
    prepare(
      get(`${inNamespace('resourcequotas')}/a`, { until: ({ body }) => JSON.stringify(body).includes('"used":{') }),
    ),
    status(`${inNamespace('resourcequotas')}/a`, {
      hard: { pods: '5', 'limits.cpu': '2' },
      used: { pods: '1', 'limits.cpu': '500m' },
    }),
    table(`${inNamespace('resourcequotas')}/a`),
  ]),
  sequence('tables: roles and bindings', [
    made(rbac('roles'), object('rbac.authorization.k8s.io/v1', 'Role', 'a', { rules: [] })),
    ...tables(rbac('roles')),
    made(
      rbac('rolebindings'),
      object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'a', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' },
        subjects: [
          { kind: 'User', name: 'joe', apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'Group', name: 'all', apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'ServiceAccount', name: 'robot', namespace: '<ns>' },
        ],
      }),
    ),
    ...tables(rbac('rolebindings')),
  ]),
  sequence('tables: ingresses and their classes', [
    ...[
      [
        'a',
        {
          rules: ['x.example.com', 'y.example.com'].map((host) => ({ host })),
          tls: [{ hosts: ['x.example.com'] }],
          ingressClassName: 'c',
        },
      ],
      ['b', { defaultBackend: { service: { name: 'x', port: { number: 80 } } } }],
      ['c', { rules: ['1', '2', '3', '4', '5'].map((name) => ({ host: `h${name}.example.com` })) }],
    ].map(([name, spec]) =>
      made(networking('ingresses'), object('networking.k8s.io/v1', 'Ingress', name as string, { spec })),
    ),
    table(networking('ingresses')),
    made(
      clusterWide('ingressclasses', 'networking.k8s.io/v1'),
      object('networking.k8s.io/v1', 'IngressClass', '<ns>', {
        spec: { controller: 'example.com/x', parameters: { apiGroup: 'example.com', kind: 'Thing', name: 'x' } },
      }),
    ),
    table(`${clusterWide('ingressclasses', 'networking.k8s.io/v1')}/<ns>`),
  ]),
  sequence('tables: network policies', [
    made(
      networking('networkpolicies'),
      object('networking.k8s.io/v1', 'NetworkPolicy', 'a', { spec: { podSelector: {} } }),
    ),
    made(
      networking('networkpolicies'),
      object('networking.k8s.io/v1', 'NetworkPolicy', 'b', {
        spec: {
          podSelector: { matchLabels: { z: 'y', a: 'b' }, matchExpressions: [{ key: 'k', operator: 'Exists' }] },
        },
      }),
    ),
    table(networking('networkpolicies')),
  ]),
  sequence('tables: leases and revisions', [
    made(
      inNamespace('leases', 'coordination.k8s.io/v1'),
      object('coordination.k8s.io/v1', 'Lease', 'a', { spec: { holderIdentity: 'me' } }),
    ),
    made(inNamespace('leases', 'coordination.k8s.io/v1'), object('coordination.k8s.io/v1', 'Lease', 'b')),
    table(inNamespace('leases', 'coordination.k8s.io/v1')),
    made(
      inNamespace('controllerrevisions', 'apps/v1'),
      object('apps/v1', 'ControllerRevision', 'a', { revision: 3, data: { x: 'y' } }),
    ),
    ...tables(inNamespace('controllerrevisions', 'apps/v1')),
  ]),
  sequence('tables: webhooks and policies', [
    made(
      admission('validatingwebhookconfigurations'),
      object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', '<ns>', { webhooks: [] }),
    ),
    table(`${admission('validatingwebhookconfigurations')}/<ns>`),
    made(
      admission('validatingadmissionpolicies'),
      object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', '<ns>', {
        spec: {
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          matchConstraints: {
            resourceRules: [
              { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] },
            ],
          },
          validations: [{ expression: 'true' }],
        },
      }),
    ),
    table(`${admission('validatingadmissionpolicies')}/<ns>`),
  ]),
  sequence('tables: definitions', [
    ...defined(definition()),
    table(`${clusterWide('customresourcedefinitions', 'apiextensions.k8s.io/v1')}/things.<group>`),
    made(things, thing('a')),
    ...tables(things),
  ]),
  sequence('tables: columns of definitions', [
    ...defined(
      definition([
        version('v1', schemaOf({ spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }), {
          additionalPrinterColumns: [
            ['Text', 'string', '.spec.text'],
            ['Number As Text', 'string', '.spec.number'],
            ['Flag As Text', 'string', '.spec.flag'],
            ['List', 'string', '.spec.list'],
            ['Of List', 'string', '.spec.list[*].name'],
            ['First', 'string', '.spec.list[0].name'],
            ['Last', 'string', '.spec.list[-1:].name'],
            ['Beyond', 'string', '.spec.list[9].name'],
            ['Filtered', 'string', '.spec.list[?(@.name=="b")].size'],
            ['Compared', 'string', '.spec.list[?(@.size>1)].name'],
            ['Integer', 'integer', '.spec.number'],
            ['Cut', 'integer', '.spec.fraction'],
            ['No Integer', 'integer', '.spec.text'],
            ['Number', 'number', '.spec.fraction'],
            ['Flag', 'boolean', '.spec.flag'],
            ['Date', 'date', '.metadata.creationTimestamp'],
            ['No Date', 'date', '.spec.text'],
            ['Label', 'string', '.metadata.labels.example\\.com/x'],
            ['Quoted', 'string', ".spec['text']"],
            ['Wide', 'string', '.spec.text'],
            ['None', 'string', '.spec.none'],
          ].map(([name, type, jsonPath]) => ({
            name,
            type,
            jsonPath,
            ...(name === 'Wide' ? { priority: 1, description: 'Only where there is room.' } : {}),
          })),
        }),
      ]),
    ),
    made(
      things,
      object(
        '<group>/v1',
        'Thing',
        { name: 'a', labels: { 'example.com/x': 'y' } },
        {
          spec: {
            text: 'abc',
            number: 3,
            fraction: 1.5,
            flag: true,
            list: [
              { name: 'a', size: 1 },
              { name: 'b', size: 2 },
            ],
          },
        },
      ),
    ),
    made(things, thing('b')),
    ...tables(things),
  ]),
  sequence('tables: scales of custom objects', [
    ...defined(
      definition([
        version(
          'v1',
          schemaOf({ spec: schemaOf({ n: { type: 'integer' } }), status: schemaOf({ n: { type: 'integer' } }) }),
          {
            subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
          },
        ),
      ]),
    ),
    made(things, object('<group>/v1', 'Thing', 'a', { spec: { n: 3 } })),
    table(`${things}/a/scale`),
    table(`${things}/a/status`),
  ]),
  sequence('tables: watched', [
    made(configMaps, configMap('a')),
    watch('w', `${configMaps}?watch=true`, headers),
    events('w', 1),
    made(configMaps, configMap('b', { x: 'y', z: 'w' })),
    watch('v', `${configMaps}?watch=true&resourceVersion=0`, headers),
    events('v', 2),
  ]),
];
