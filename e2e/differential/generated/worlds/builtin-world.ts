/** Built-in kinds: valid objects of many shapes. */
import type { Fields } from '../../sequences/objects.js';
import type { GeneratedKind } from '../generated-kind.js';
import type { Random } from '../random.js';
import { distinct, podSpec, podStatus, port, template } from './pod-parts.js';

const selector = { matchLabels: { app: 'web' } };
const time = '2020-01-02T03:04:05Z';
const microTime = '2020-01-02T03:04:05.000006Z';
const text = (random: Random): string => random.pick(['x', 'some text', 'ünïcödé ☃', 'a\nb', '']);
const condition = (random: Random, type: string): Fields => ({
  type,
  status: random.pick(['True', 'False', 'Unknown']),
  ...random.fields({ reason: () => 'Because', message: () => 'so it is', lastTransitionTime: () => time }, 0.5),
});

const core = (kind: string, plural: string, body: GeneratedKind['body'], rest: Partial<GeneratedKind> = {}) =>
  ofGroup('v1', kind, plural, body, rest);

const ofGroup = (
  apiVersion: string,
  kind: string,
  plural: string,
  body: GeneratedKind['body'],
  rest: Partial<GeneratedKind> = {},
): GeneratedKind => ({ apiVersion, kind, plural, namespaced: true, body, ...rest });

const configMap = core('ConfigMap', 'configmaps', (random) =>
  random.fields(
    {
      data: () => random.fields({ key: () => text(random), 'other.key': () => text(random), 'a-b_c': () => '1' }, 0.6),
      binaryData: () => ({ blob: random.pick(['AAECAw==', 'AA==']) }),
      immutable: () => random.chance(0.3),
    },
    0.5,
  ),
);

const secret = core('Secret', 'secrets', (random) =>
  random.weighted<() => Fields>([
    [
      6,
      () =>
        random.fields(
          {
            data: () => random.fields({ password: () => 'c2VjcmV0', user: () => 'dQ==' }, 0.6),
            stringData: () => random.fields({ password: () => 'secret', other: () => text(random) }, 0.6),
            type: () => random.pick(['Opaque', 'example.com/custom']),
            immutable: () => random.chance(0.3),
          },
          0.5,
        ),
    ],
    [1, () => ({ type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'Yg==' } })],
    [1, () => ({ type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } })],
    [1, () => ({ type: 'kubernetes.io/ssh-auth', stringData: { 'ssh-privatekey': 'k' } })],
    [1, () => ({ type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{"auths":{}}' } })],
    [1, () => ({ type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': random.pick(['{}', 'no json']) } })],
  ])(),
);

const servicePort = (random: Random): Fields => ({
  port: port(random),
  ...random.fields({
    protocol: () => random.pick(['TCP', 'UDP']),
    targetPort: () => random.pick([8080, 'web']),
    appProtocol: () => 'http',
  }),
});

const servicePorts = (random: Random): Fields[] => {
  const ports = distinct([servicePort(random), servicePort(random)], 'port').slice(0, random.between(1, 2));
  return ports.length === 1 && random.chance(0.6) ? ports : ports.map((one, index) => ({ name: `p${index}`, ...one }));
};

const service = core(
  'Service',
  'services',
  (random) => ({
    spec: {
      ...random.weighted<() => Fields>([
        [3, () => ({ ports: servicePorts(random) })],
        [2, () => ({ type: 'ClusterIP', ports: servicePorts(random) })],
        [2, () => ({ clusterIP: 'None', ...random.fields({ ports: () => servicePorts(random) }, 0.7) })],
        [1, () => ({ type: 'NodePort', ports: servicePorts(random) })],
        [
          1,
          () => ({
            type: 'LoadBalancer',
            ports: servicePorts(random),
            ...random.fields({
              externalTrafficPolicy: () => random.pick(['Local', 'Cluster']),
              allocateLoadBalancerNodePorts: () => random.chance(0.5),
              loadBalancerSourceRanges: () => ['10.0.0.0/8'],
              loadBalancerClass: () => 'example.com/lb',
            }),
          }),
        ],
        [1, () => ({ type: 'ExternalName', externalName: 'outside.example.com' })],
      ])(),
      ...random.fields(
        {
          selector: () => ({ app: 'web' }),
          sessionAffinity: () => random.pick(['None', 'ClientIP']),
          publishNotReadyAddresses: () => true,
          ipFamilyPolicy: () => random.pick(['SingleStack', 'PreferDualStack']),
          ipFamilies: () => ['IPv4'],
          internalTrafficPolicy: () => random.pick(['Local', 'Cluster']),
        },
        0.15,
      ),
    },
  }),
  {
    status: (random) =>
      random.fields({ loadBalancer: () => ({ ingress: [{ ip: '1.2.3.4' }] }), conditions: () => [] }, 0.6),
    selectable: [['spec.type', 'ClusterIP']],
  },
);

const pod = core(
  'Pod',
  'pods',
  (random) => ({
    spec: {
      ...podSpec(random, ['Always', 'Never', 'OnFailure']),
      ...random.fields({ nodeName: () => 'node-1' }, 0.08),
    },
  }),
  {
    status: podStatus,
    evicts: true,
    selectable: [
      ['status.phase', 'Pending'],
      ['spec.nodeName', 'node-1'],
      ['spec.restartPolicy', 'Always'],
    ],
  },
);

const replicas = (random: Random): Fields => random.fields({ replicas: () => random.below(4) }, 0.6);
const workloadStatus = (random: Random): Fields =>
  random.fields({ observedGeneration: () => random.below(4), replicas: () => random.below(4) }, 0.6);

const deployment = ofGroup(
  'apps/v1',
  'Deployment',
  'deployments',
  (random) => ({
    spec: {
      selector,
      template: template(random),
      ...replicas(random),
      ...random.fields(
        {
          strategy: () =>
            random.pick<Fields>([
              { type: 'Recreate' },
              { type: 'RollingUpdate' },
              { rollingUpdate: { maxSurge: 1 } },
              { type: 'RollingUpdate', rollingUpdate: { maxSurge: '10%', maxUnavailable: '0%' } },
              { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
            ]),
          minReadySeconds: () => random.below(10),
          revisionHistoryLimit: () => random.below(10),
          progressDeadlineSeconds: () => random.pick([100, 600]),
          paused: () => random.chance(0.5),
        },
        0.25,
      ),
    },
  }),
  {
    scales: true,
    status: (random) => ({
      ...workloadStatus(random),
      ...random.fields({
        updatedReplicas: () => random.below(3),
        conditions: () => [condition(random, 'Available'), condition(random, 'Progressing')],
      }),
    }),
  },
);

const replicaSet = ofGroup(
  'apps/v1',
  'ReplicaSet',
  'replicasets',
  (random) => ({
    spec: { selector, template: template(random), ...replicas(random), ...random.fields({ minReadySeconds: () => 5 }) },
  }),
  {
    scales: true,
    status: (random) => ({
      replicas: random.below(4),
      ...random.fields({ conditions: () => [condition(random, 'ReplicaFailure')] }),
    }),
  },
);

const replicationController = core(
  'ReplicationController',
  'replicationcontrollers',
  (random) => ({
    spec: {
      template: template(random),
      ...replicas(random),
      ...random.fields({ selector: () => ({ app: 'web' }) }, 0.6),
    },
  }),
  { scales: true, status: (random) => ({ replicas: random.below(4) }), deletesLater: true },
);

const claimSpec = (random: Random): Fields => ({
  accessModes: random.pick([
    ['ReadWriteOnce'],
    ['ReadOnlyMany'],
    ['ReadWriteMany', 'ReadWriteOnce'],
    ['ReadWriteOncePod'],
  ]),
  resources: { requests: { storage: random.pick(['1Gi', '500M', '2Ti']) } },
  ...random.fields(
    {
      storageClassName: () => random.pick(['fast', '']),
      volumeMode: () => random.pick(['Filesystem', 'Block']),
      volumeName: () => 'volume-1',
      selector: () => ({ matchLabels: { a: 'b' } }),
      dataSource: () => ({ kind: 'PersistentVolumeClaim', name: 'old' }),
    },
    0.2,
  ),
});

const statefulSet = ofGroup(
  'apps/v1',
  'StatefulSet',
  'statefulsets',
  (random) => ({
    spec: {
      selector,
      serviceName: 'web',
      template: template(random),
      ...replicas(random),
      ...random.fields(
        {
          podManagementPolicy: () => random.pick(['Parallel', 'OrderedReady']),
          updateStrategy: () =>
            random.pick<Fields>([
              { type: 'OnDelete' },
              { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
              { type: 'RollingUpdate' },
            ]),
          volumeClaimTemplates: () => [{ metadata: { name: 'data' }, spec: claimSpec(random) }],
          persistentVolumeClaimRetentionPolicy: () => ({ whenDeleted: random.pick(['Delete', 'Retain']) }),
          revisionHistoryLimit: () => 3,
          minReadySeconds: () => 1,
          ordinals: () => ({ start: 1 }),
        },
        0.25,
      ),
    },
  }),
  {
    scales: true,
    status: (random) => ({
      replicas: random.below(3),
      ...random.fields({ readyReplicas: () => 0, currentRevision: () => 'r1' }),
    }),
  },
);

const daemonSet = ofGroup(
  'apps/v1',
  'DaemonSet',
  'daemonsets',
  (random) => ({
    spec: {
      selector,
      template: template(random),
      ...random.fields({
        updateStrategy: () =>
          random.pick<Fields>([
            { type: 'OnDelete' },
            { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
            { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
          ]),
        minReadySeconds: () => 1,
        revisionHistoryLimit: () => 2,
      }),
    },
  }),
  {
    status: (random) => ({
      currentNumberScheduled: random.below(2),
      numberMisscheduled: 0,
      desiredNumberScheduled: 1,
      numberReady: random.below(2),
    }),
  },
);

const controllerRevision = ofGroup('apps/v1', 'ControllerRevision', 'controllerrevisions', (random) => ({
  revision: random.below(5),
  ...random.fields({ data: () => random.pick<Fields>([{ a: 1 }, { spec: { x: [1, 2] } }]) }, 0.8),
}));

const jobSpec = (random: Random): Fields => ({
  template: template(random, ['Never', 'OnFailure']),
  ...random.fields(
    {
      parallelism: () => random.below(3),
      completions: () => random.between(1, 3),
      backoffLimit: () => random.below(6),
      activeDeadlineSeconds: () => 100,
      ttlSecondsAfterFinished: () => 100,
      suspend: () => random.chance(0.5),
      podReplacementPolicy: () => random.pick(['TerminatingOrFailed', 'Failed']),
    },
    0.25,
  ),
  ...(random.chance(0.1) ? { completionMode: 'Indexed', completions: 2 } : {}),
});

const job = ofGroup('batch/v1', 'Job', 'jobs', (random) => ({ spec: jobSpec(random) }), {
  deletesLater: true,
  status: (random) =>
    random.fields(
      {
        active: () => random.below(2),
        failed: () => random.below(2),
        startTime: () => time,
        ready: () => 0,
        conditions: () => [condition(random, random.pick(['Suspended', 'Complete', 'Failed']))],
      },
      0.4,
    ),
  selectable: [['status.successful', '0']],
});

const cronJob = ofGroup(
  'batch/v1',
  'CronJob',
  'cronjobs',
  (random) => ({
    spec: {
      schedule: random.pick(['* * * * *', '*/5 0-6 * * 1-5', '@hourly', '@every 1h', '0 0 1 JAN SUN', '0 0 * * 7']),
      jobTemplate: { ...random.fields({ metadata: () => ({ labels: { of: 'cron' } }) }), spec: jobSpec(random) },
      ...random.fields({
        timeZone: () => random.pick(['Etc/UTC', 'Europe/Berlin']),
        concurrencyPolicy: () => random.pick(['Allow', 'Forbid', 'Replace']),
        suspend: () => true,
        startingDeadlineSeconds: () => 10,
        successfulJobsHistoryLimit: () => random.below(4),
        failedJobsHistoryLimit: () => random.below(4),
      }),
    },
  }),
  {
    status: (random) =>
      random.fields({ lastScheduleTime: () => time, active: () => [{ kind: 'Job', name: 'x' }] }, 0.6),
  },
);

const backend = (random: Random): Fields =>
  random.weighted<Fields>([
    [4, { service: { name: 'web', port: { number: 80 } } }],
    [2, { service: { name: 'web', port: { name: 'http' } } }],
    [1, { resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } }],
  ]);

const ingress = ofGroup(
  'networking.k8s.io/v1',
  'Ingress',
  'ingresses',
  (random) => ({
    spec: {
      rules: Array.from({ length: random.between(1, 2) }, () => ({
        ...random.fields({ host: () => random.pick(['a.example.com', '*.example.com']) }, 0.7),
        ...random.fields(
          {
            http: () => ({
              paths: [
                {
                  path: random.pick(['/', '/api', '/a/b']),
                  pathType: random.pick(['Prefix', 'Exact', 'ImplementationSpecific']),
                  backend: backend(random),
                },
              ],
            }),
          },
          0.9,
        ),
      })),
      ...random.fields({
        ingressClassName: () => 'nginx',
        defaultBackend: () => backend(random),
        tls: () => [{ hosts: ['a.example.com'], ...random.fields({ secretName: () => 'tls' }) }],
      }),
    },
  }),
  {
    status: (random) =>
      random.fields({ loadBalancer: () => ({ ingress: [{ ip: '1.2.3.4' }, { hostname: 'lb.example.com' }] }) }, 0.8),
  },
);

const peer = (random: Random): Fields =>
  random.pick<Fields>([
    { podSelector: selector },
    { namespaceSelector: {} },
    { podSelector: {}, namespaceSelector: selector },
    { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
  ]);

const policyPort = (random: Random): Fields =>
  random.pick<Fields>([{ port: 80 }, { protocol: 'UDP', port: 53 }, { port: 'web' }, { port: 100, endPort: 200 }]);

const networkPolicy = ofGroup('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', (random) => ({
  spec: {
    podSelector: random.pick<Fields>([
      {},
      selector,
      { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
    ]),
    ...random.fields(
      {
        policyTypes: () => random.some(['Ingress', 'Egress']),
        ingress: () => [random.fields({ from: () => [peer(random)], ports: () => [policyPort(random)] }, 0.7)],
        egress: () => [random.fields({ to: () => [peer(random)], ports: () => [policyPort(random)] }, 0.7)],
      },
      0.5,
    ),
  },
}));

const claim = core('PersistentVolumeClaim', 'persistentvolumeclaims', (random) => ({ spec: claimSpec(random) }), {
  status: (random) =>
    random.fields(
      {
        phase: () => random.pick(['Bound', 'Pending', 'Lost']),
        capacity: () => ({ storage: '1Gi' }),
        accessModes: () => ['ReadWriteOnce'],
      },
      0.6,
    ),
});

const volume = core(
  'PersistentVolume',
  'persistentvolumes',
  (random) => ({
    spec: {
      capacity: { storage: random.pick(['1Gi', '500M']) },
      accessModes: random.some(['ReadWriteOnce', 'ReadOnlyMany']),
      ...random.pick<Fields>([
        { hostPath: { path: '/data' } },
        { nfs: { server: 'nfs.example.com', path: '/x' } },
        { csi: { driver: 'csi.example.com', volumeHandle: 'h' } },
        {
          local: { path: '/mnt' },
          nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] } },
        },
      ]),
      ...random.fields({
        persistentVolumeReclaimPolicy: () => random.pick(['Retain', 'Delete']),
        storageClassName: () => 'fast',
        volumeMode: () => random.pick(['Filesystem', 'Block']),
        claimRef: () => ({ namespace: 'default', name: 'data' }),
        mountOptions: () => ['ro'],
      }),
    },
  }),
  { namespaced: false, status: (random) => ({ phase: random.pick(['Available', 'Bound', 'Released']) }) },
);

const serviceAccount = core('ServiceAccount', 'serviceaccounts', (random) =>
  random.fields({
    secrets: () => [{ name: 'a' }, ...random.some([{ name: 'b' }], 0)],
    imagePullSecrets: () => [{ name: 'pull' }],
    automountServiceAccountToken: () => random.chance(0.5),
  }),
);

const rules = (random: Random): Fields[] =>
  Array.from({ length: random.between(1, 2) }, () => ({
    apiGroups: random.some(['', 'apps', '*']),
    resources: random.some(['pods', 'pods/status', 'deployments', '*']),
    verbs: random.some(['get', 'list', 'watch', '*']),
    ...random.fields({ resourceNames: () => ['one'] }, 0.2),
  }));

const subjects = (random: Random): Fields[] =>
  random.some<Fields>([
    { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    { kind: 'User', name: 'joe', ...random.fields({ apiGroup: () => 'rbac.authorization.k8s.io' }) },
    { kind: 'Group', name: 'devs', apiGroup: 'rbac.authorization.k8s.io' },
  ]);

const rbac = 'rbac.authorization.k8s.io';
const role = ofGroup(`${rbac}/v1`, 'Role', 'roles', (random) => random.fields({ rules: () => rules(random) }, 0.9));
const clusterRole = ofGroup(
  `${rbac}/v1`,
  'ClusterRole',
  'clusterroles',
  (random) => ({
    rules: random.chance(0.8)
      ? rules(random)
      : [{ nonResourceURLs: random.some(['/healthz', '/metrics']), verbs: ['get'] }],
  }),
  { namespaced: false },
);
const roleBinding = ofGroup(`${rbac}/v1`, 'RoleBinding', 'rolebindings', (random) => ({
  roleRef: {
    kind: random.pick(['Role', 'ClusterRole']),
    name: 'view',
    ...random.fields({ apiGroup: () => rbac }, 0.7),
  },
  ...random.fields({ subjects: () => subjects(random) }, 0.8),
}));

const lease = ofGroup('coordination.k8s.io/v1', 'Lease', 'leases', (random) =>
  random.fields(
    {
      spec: () =>
        random.fields(
          {
            holderIdentity: () => random.pick(['me', 'you']),
            leaseDurationSeconds: () => random.between(1, 30),
            acquireTime: () => microTime,
            renewTime: () => microTime,
            leaseTransitions: () => random.below(3),
          },
          0.5,
        ),
    },
    0.9,
  ),
);

const event = core(
  'Event',
  'events',
  (random) => ({
    involvedObject: {
      kind: 'Pod',
      name: 'x',
      namespace: '<ns>',
      ...random.fields({ apiVersion: () => 'v1', uid: () => 'u' }),
    },
    ...random.fields(
      {
        reason: () => 'Started',
        message: () => text(random),
        type: () => random.pick(['Normal', 'Warning']),
        count: () => random.between(1, 5),
        firstTimestamp: () => time,
        lastTimestamp: () => time,
        source: () => ({ component: 'test' }),
      },
      0.6,
    ),
  }),
  {
    selectable: [
      ['reason', 'Started'],
      ['involvedObject.name', 'x'],
      ['type', 'Normal'],
    ],
  },
);

const newEvent = ofGroup(
  'events.k8s.io/v1',
  'Event',
  'events',
  (random) => ({
    eventTime: microTime,
    action: 'Starting',
    reason: 'Started',
    type: random.pick(['Normal', 'Warning']),
    reportingController: 'example.com/test',
    reportingInstance: 'test-1',
    regarding: { kind: 'Pod', name: 'x', namespace: '<ns>' },
    ...random.fields({ note: () => text(random), series: () => ({ count: 2, lastObservedTime: microTime }) }),
  }),
  { selectable: [['reason', 'Started']] },
);

const endpoints = core('Endpoints', 'endpoints', (random) =>
  random.fields(
    {
      subsets: () => [
        {
          addresses: random.some([
            { ip: '1.2.3.4' },
            { ip: '1.2.3.5', hostname: 'h' },
            { ip: '1.2.3.6', nodeName: 'n' },
          ]),
          ports: [{ port: port(random), ...random.fields({ name: () => 'web', protocol: () => 'UDP' }) }],
        },
      ],
    },
    0.9,
  ),
);

const podTemplate = core('PodTemplate', 'podtemplates', (random) => ({ template: template(random) }));

const namespace = core(
  'Namespace',
  'namespaces',
  (random) => random.fields({ spec: () => ({ finalizers: ['kubernetes'] }) }, 0.1),
  {
    namespaced: false,
    deletesLater: true,
    status: () => ({ phase: 'Active' }),
  },
);

const ingressClass = ofGroup(
  'networking.k8s.io/v1',
  'IngressClass',
  'ingressclasses',
  (random) => ({
    spec: {
      controller: 'example.com/ingress',
      ...random.fields({
        parameters: () => ({
          apiGroup: 'example.com',
          kind: 'Params',
          name: 'p',
          ...random.fields({ scope: () => 'Cluster' }),
        }),
      }),
    },
  }),
  { namespaced: false },
);

const limitRange = core('LimitRange', 'limitranges', (random) => ({
  spec: {
    limits: [
      {
        type: 'PersistentVolumeClaim',
        ...random.fields({ max: () => ({ storage: '10Ti' }), min: () => ({ storage: '1' }) }, 0.9),
      },
    ],
  },
}));

/** How often a kind is chosen, and the kind. */
export const builtinKinds: readonly (readonly [weight: number, kind: GeneratedKind])[] = [
  [4, configMap],
  [3, secret],
  [5, service],
  [8, pod],
  [6, deployment],
  [3, statefulSet],
  [3, daemonSet],
  [2, replicaSet],
  [1, replicationController],
  [1, controllerRevision],
  [4, job],
  [3, cronJob],
  [4, ingress],
  [2, networkPolicy],
  [3, claim],
  [2, volume],
  [2, serviceAccount],
  [2, role],
  [1, clusterRole],
  [2, roleBinding],
  [2, lease],
  [2, event],
  [1, newEvent],
  [1, endpoints],
  [1, podTemplate],
  [1, namespace],
  [1, ingressClass],
  [1, limitRange],
];
