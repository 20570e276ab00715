/** What somebody who did not know the embedded server has found with kubectl, and what is like it. */
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  post,
  prepare,
  request,
  type Sequence,
  sequence,
  strategicPatch,
} from '../harness/sequence.js';
import {
  clusterWide,
  defined,
  definition,
  deployment,
  deployments,
  type Fields,
  inNamespace,
  object,
  pod,
  pods,
  thing,
  things,
  workloadSpec,
} from './objects.js';

const nodes = clusterWide('nodes');
const node = (name: string, spec: Fields = {}, rest: Fields = {}) =>
  object('v1', 'Node', `${name}-<id>`, { spec, ...rest });
const taint = (...taints: readonly Fields[]) => node('n', { taints });
const statefulSets = inNamespace('statefulsets', 'apps/v1');
const daemonSets = inNamespace('daemonsets', 'apps/v1');
const replicaSets = inNamespace('replicasets', 'apps/v1');
const jobs = inNamespace('jobs', 'batch/v1');
const cronJobs = inNamespace('cronjobs', 'batch/v1');
const services = inNamespace('services');
const budgets = inNamespace('poddisruptionbudgets', 'policy/v1');
const quotas = inNamespace('resourcequotas');

const main = (container: Fields = {}): Fields => ({ name: 'main', image: 'a', ...container });
const one = (container: Fields, spec: Fields = {}) => pod('a', { containers: [main(container)], ...spec });
const sized = (requests: Fields, limits: Fields = {}) => one({ resources: { requests, limits } });
const refused = (
  name: string,
  collection: string,
  bodies: readonly Fields[],
  extras: Partial<Sequence> = {},
): Sequence =>
  sequence(
    name,
    bodies.map((body) => post(`${collection}?dryRun=All`, body)),
    extras,
  );
const yaml = { headers: { 'content-type': 'application/yaml' } };
/** The real server goes through amounts of resources as it likes. */
const inAnyOrder = { causesComeInAnyOrder: true };
const once = (spec: Fields = {}) => ({ spec: { restartPolicy: 'Never', containers: [main()], ...spec } });
const job = (spec: Fields, template: Fields = once()) =>
  object('batch/v1', 'Job', 'a', { spec: { template, ...spec } });
const cronJob = (name: string, spec: Fields) =>
  object('batch/v1', 'CronJob', name, {
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: once() } }, ...spec },
  });
const set = (kind: string, spec: Fields) => object('apps/v1', kind, 'a', { spec });
const template = (spec: Fields = {}, labels: Fields = { app: 'web' }) => ({
  metadata: { labels },
  spec: { containers: [main()], ...spec },
});
const expression = (...matchExpressions: readonly Fields[]) => ({ matchExpressions });
const odd = expression({ key: 'app', operator: 'Equals', values: ['web'] });
const service = (spec: Fields) => object('v1', 'Service', 'a', { spec: { ports: [{ port: 80 }], ...spec } });

export const outside: readonly Sequence[] = [
  refused('taints of nodes', nodes, [
    taint({ key: 'a', effect: 'Bad' }),
    taint({ key: '', effect: 'NoSchedule' }),
    taint({ key: 'a b', value: 'c d', effect: '' }),
    taint(
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', value: 'x', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoExecute' },
    ),
  ]),
  refused('networks of nodes', nodes, [
    node('n', { podCIDR: 'x' }),
    node('n', { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.1.0/24'] }),
    node('n', { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] }),
    node('n', { podCIDRs: ['10.0.0.0/24', 'fd00::/64'] }),
    node('n', { podCIDRs: ['10.0.0.0/33'] }),
    node('n', { podCIDR: '10.0.0.0/24' }),
  ]),
  sequence('what does not change in nodes', [
    post(nodes, node('n')),
    mergePatch(`${nodes}/n-<id>`, { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] } }),
    mergePatch(`${nodes}/n-<id>`, { spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] } }),
    mergePatch(`${nodes}/n-<id>`, { spec: { podCIDRs: ['10.0.0.0/24', 'fd00::/64'] } }),
    mergePatch(`${nodes}/n-<id>`, { spec: { providerID: 'a' } }),
    mergePatch(`${nodes}/n-<id>`, { spec: { providerID: 'b' } }),
    mergePatch(`${nodes}/n-<id>`, { spec: { taints: [{ key: 'a', effect: 'Never' }] } }),
    mergePatch(`${nodes}/n-<id>`, { spec: { taints: [{ key: 'a', effect: 'NoExecute' }], unschedulable: true } }),
    mergePatch(`${nodes}/n-<id>/status`, { status: { capacity: { cpu: '-1' } } }),
    mergePatch(`${nodes}/n-<id>/status`, { status: { capacity: { 'example.com/gpu': '1500m' } } }),
    mergePatch(`${nodes}/n-<id>/status`, {
      status: {
        addresses: [
          { type: 'Hostname', address: 'a' },
          { type: 'Hostname', address: 'a' },
        ],
      },
    }),
    prepare(request('DELETE', `${nodes}/n-<id>`)),
  ]),
  sequence('resizing that changes the class of service', [
    prepare(post(pods, sized({ cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' }))),
    mergePatch(`${pods}/a/resize`, { spec: { containers: [main({ resources: { requests: { cpu: '500m' } } })] } }),
    strategicPatch(`${pods}/a/resize`, {
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: '500m' } } }] },
    }),
    strategicPatch(`${pods}/a/resize`, {
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }] },
    }),
    strategicPatch(`${pods}/a/resize`, {
      spec: { containers: [{ name: 'main', resources: { requests: { memory: null }, limits: { memory: null } } }] },
    }),
    strategicPatch(`${pods}/a/resize`, { spec: { containers: [{ name: 'main', image: 'b' }] } }),
    strategicPatch(`${pods}/a/resize`, {
      spec: {
        containers: [
          {
            name: 'main',
            resources: { requests: { 'ephemeral-storage': '1Gi' }, limits: { 'ephemeral-storage': '1Gi' } },
          },
        ],
      },
    }),
  ]),
  sequence('resizing what has no sizes', [
    prepare(post(pods, one({}))),
    strategicPatch(`${pods}/a/resize`, {
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] },
    }),
    get(`${pods}/a`),
  ]),
  refused("ports of the host's network", pods, [
    one({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true }),
    one({ ports: [{ containerPort: 80 }] }, { hostNetwork: true }),
    one({
      ports: [
        { containerPort: 80, hostPort: 80 },
        { containerPort: 81, hostPort: 80 },
      ],
    }),
    pod('a', {
      initContainers: [{ ...main({ ports: [{ containerPort: 1, hostPort: 1 }] }), name: 'first' }],
      containers: [
        main({ ports: [{ containerPort: 1, hostPort: 1 }] }),
        { ...main({ ports: [{ containerPort: 2, hostPort: 1 }] }), name: 'second' },
      ],
    }),
  ]),
  refused('ports of the network of the host, in templates', deployments, [
    deployment('a', {
      template: template({ hostNetwork: true, containers: [main({ ports: [{ containerPort: 80, hostPort: 81 }] })] }),
    }),
    deployment('a', {
      template: template({ hostNetwork: true, containers: [main({ ports: [{ containerPort: 80 }] })] }),
    }),
  ]),
  refused('contexts that contradict themselves', pods, [
    one({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    one({ securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } } }),
    one({ securityContext: { procMount: 'Unmasked' } }),
    one({ securityContext: { procMount: 'Bad' } }),
    one({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    one({ securityContext: { seccompProfile: { type: 'Bad', localhostProfile: 'x' } } }),
    one({ securityContext: { appArmorProfile: { type: 'Localhost' } } }),
    one({ securityContext: { appArmorProfile: { type: 'Bad' } } }),
    one({ securityContext: { appArmorProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } } }),
    one({}, { securityContext: { seccompProfile: { type: '' }, appArmorProfile: { type: '' } } }),
    one({}, { securityContext: { supplementalGroups: [-1], sysctls: [{ name: 'A b', value: '1' }] } }),
    one({}, { securityContext: { fsGroupChangePolicy: 'Bad', supplementalGroupsPolicy: 'Bad' } }),
    one({}, { hostPID: true, shareProcessNamespace: true }),
    one({}, { hostUsers: false, hostPID: true, hostIPC: true }),
  ]),
  refused(
    'sizes of containers',
    pods,
    [
      sized({ memory: '-1Gi' }),
      sized({ cpu: '1' }, { cpu: '-1' }),
      sized({ 'example.com/gpu': '1500m' }, { 'example.com/gpu': '1500m' }),
      sized({ 'example.com/gpu': '1' }),
      sized({ 'example.com/gpu': '1' }, { 'example.com/gpu': '2' }),
      sized({}, { 'example.com/gpu': '2' }),
      sized({ 'hugepages-2Mi': '2Mi' }),
      sized({ 'hugepages-2Mi': '2Mi' }, { 'hugepages-2Mi': '4Mi', cpu: '1' }),
      sized({ cpu: '2', memory: '2Gi' }, { cpu: '1', memory: '1Gi' }),
      sized({ 'requests.example.com/gpu': '1' }, { 'requests.example.com/gpu': '1' }),
      sized({ 'kubernetes.io/x': '1' }),
      sized({ memory: '1500m', 'ephemeral-storage': '0.5' }),
    ],
    inAnyOrder,
  ),
  sequence('another kind in strategic patches', [
    prepare(post(deployments, deployment('a'))),
    strategicPatch(`${deployments}/a`, { kind: 'StatefulSet', spec: { replicas: 2 } }),
    strategicPatch(`${deployments}/a`, { apiVersion: 'v1', kind: 'Pod' }),
    mergePatch(`${deployments}/a`, { kind: 'StatefulSet', spec: { replicas: 3 } }),
    jsonPatch(`${deployments}/a`, [{ op: 'replace', path: '/kind', value: 'Pod' }]),
    strategicPatch(`${deployments}/a`, { apiVersion: 'apps/v2', metadata: { labels: { a: 'b' } } }),
  ]),
  refused('selectors of jobs', jobs, [
    job({ selector: { matchLabels: { a: 'b' } } }),
    job({ selector: { matchLabels: { a: 'b' } } }, { metadata: { labels: { a: 'b' } }, ...once() }),
    job({ manualSelector: true, selector: { matchLabels: { a: 'b' } } }),
    job(
      { manualSelector: true, selector: { matchLabels: { a: 'b' } } },
      { metadata: { labels: { a: 'b' } }, ...once() },
    ),
    job({ manualSelector: true }),
    job({ manualSelector: true, selector: {} }, { metadata: { labels: { a: 'b' } }, ...once() }),
    job({ selector: odd }),
  ]),
  refused(
    'quotas of what is unknown',
    quotas,
    [
      object('v1', 'ResourceQuota', 'q', { spec: { hard: { bananas: '1' } } }),
      object('v1', 'ResourceQuota', 'q', { spec: { hard: { 'a/b/c': '1' } } }),
      object('v1', 'ResourceQuota', 'q', { spec: { hard: { 'requests.cpu': '-1', pods: '1.5' } } }),
      object('v1', 'ResourceQuota', 'q', { spec: { hard: { 'example.com/gpu': '1' } } }),
      object('v1', 'ResourceQuota', 'q', { spec: { hard: { 'requests.example.com/gpu': '500m' } } }),
    ],
    inAnyOrder,
  ),
  sequence('addresses come before validation', [
    post(services, service({ clusterIP: '10.200.0.1' })),
    post(services, service({ clusterIP: '10.200.0.1', ports: [] })),
    post(services, service({ clusterIP: '10.96.0.300' })),
    post(services, service({ type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })),
    post(services, service({ type: 'NodePort', ports: [{ port: 0, nodePort: 99 }], sessionAffinity: 'Bad' })),
    post(services, service({ type: 'Bad' })),
  ]),
  refused('operators of selectors', deployments, [
    deployment('a', { selector: odd }),
    deployment('a', { selector: expression({ key: 'app', operator: 'In' }) }),
    deployment('a', { selector: expression({ key: 'app', operator: 'Exists', values: ['web'] }), replicas: -1 }),
    deployment('a', { selector: expression({ key: 'a b', operator: 'Exists' }) }),
    deployment('a', { selector: {}, template: template({ containers: [] }) }),
  ]),
  refused('operators of selectors of replica sets', replicaSets, [
    set('ReplicaSet', { ...workloadSpec, selector: odd }),
    set('ReplicaSet', { ...workloadSpec, selector: {} }),
    set('ReplicaSet', { template: template(), replicas: -1, minReadySeconds: -1 }),
  ]),
  refused('stateful sets with several mistakes', statefulSets, [
    set('StatefulSet', { ...workloadSpec, selector: odd, replicas: -1 }),
    set('StatefulSet', { ...workloadSpec, selector: {}, podManagementPolicy: 'Bad', updateStrategy: { type: 'Bad' } }),
    set('StatefulSet', { template: template({ containers: [] }), serviceName: 'A_', minReadySeconds: -1 }),
    set('StatefulSet', {
      ...workloadSpec,
      template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }, { app: 'x' }),
    }),
    set('StatefulSet', {
      ...workloadSpec,
      template: template({}, { app: 'x', 'a b': 'c d' }),
      ordinals: { start: -1 },
    }),
  ]),
  refused('daemon sets with several mistakes', daemonSets, [
    set('DaemonSet', { ...workloadSpec, selector: odd }),
    set('DaemonSet', { ...workloadSpec, selector: {}, minReadySeconds: -1 }),
    set('DaemonSet', { template: template({ containers: [] }), revisionHistoryLimit: -1 }),
    set('DaemonSet', {
      ...workloadSpec,
      template: template({ restartPolicy: 'Never', containers: [] }, { app: 'x' }),
      updateStrategy: { type: 'Bad' },
    }),
  ]),
  refused('cron jobs with several mistakes', cronJobs, [
    cronJob('a'.repeat(53), { schedule: 'bad', concurrencyPolicy: 'Bad' }),
    cronJob('A_', { schedule: '', successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 }),
    cronJob('a', {
      jobTemplate: {
        spec: {
          template: once({ restartPolicy: 'Always', containers: [] }),
          selector: { matchLabels: { a: 'b' } },
          manualSelector: true,
        },
      },
    }),
    cronJob('a', {
      timeZone: 'Nowhere',
      startingDeadlineSeconds: -1,
      jobTemplate: { spec: { template: once(), parallelism: -1 } },
    }),
  ]),
  refused('containers with several mistakes', pods, [
    one({ image: ' a ', env: [{ name: '' }], volumeMounts: [{ name: 'x', mountPath: '' }] }),
    one({
      image: '',
      imagePullPolicy: 'Bad',
      ports: [
        { containerPort: 0, name: 'A' },
        { containerPort: 70_000, hostPort: -1, protocol: 'X' },
      ],
    }),
    pod('a', {
      initContainers: [{ ...main({ image: ' b ' }), name: 'main' }],
      containers: [
        main({
          image: ' a ',
          volumeMounts: [
            { name: 'v', mountPath: '/a', subPath: '../b' },
            { name: 'v', mountPath: '/a' },
          ],
        }),
      ],
      volumes: [{ name: 'v', emptyDir: {} }],
      hostname: 'A_',
      nodeName: 'A_',
      serviceAccountName: 'A_',
      priorityClassName: '',
      activeDeadlineSeconds: 0,
      tolerations: [{ key: 'a b' }],
      hostAliases: [{ ip: 'x', hostnames: ['A_'] }],
      imagePullSecrets: [{ name: '' }],
      readinessGates: [{ conditionType: 'a b' }],
      dnsConfig: { nameservers: ['x'], searches: ['A_'], options: [{}] },
      restartPolicy: 'Bad',
      dnsPolicy: 'Bad',
    }),
    one({}, { dnsPolicy: 'None', dnsConfig: {} }),
    one({}, { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } }),
    one(
      {
        resizePolicy: [
          { resourceName: 'gpu', restartPolicy: 'Bad' },
          { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        ],
      },
      { restartPolicy: 'Never' },
    ),
    one({}, { terminationGracePeriodSeconds: -5, os: { name: 'beos' } }),
    one(
      { volumeMounts: [{ name: 'v', mountPath: '/a' }], volumeDevices: [{ name: 'v', devicePath: '/b' }] },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
  ]),
  refused('what is only warned of', pods, [
    one(
      {},
      {
        hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }],
        imagePullSecrets: [{ name: 'a' }, { name: 'a' }, { name: '' }],
      },
    ),
    one({
      env: [
        { name: 'A', value: 'x' },
        { name: 'A', value: '$(A)y' },
        { name: 'A', value: '$(A)' },
        { name: 'A', value: 'z' },
      ],
    }),
    one({
      ports: [
        { containerPort: 80, name: 'a' },
        { containerPort: 80, hostPort: 80 },
        { containerPort: 81, hostIP: '127.0.0.1' },
      ],
    }),
    pod('a', {
      initContainers: [{ ...main({ ports: [{ containerPort: 80, name: 'web' }] }), name: 'first' }],
      containers: [main({ ports: [{ containerPort: 80, name: 'web' }] })],
    }),
    one({}, { terminationGracePeriodSeconds: -5 }),
    one(
      {},
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'failure-domain.beta.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
        ],
        nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a' }] } },
      },
    ),
    one(
      {},
      {
        volumes: [
          { name: 'v', gitRepo: { repository: 'a' } },
          { name: 'w', glusterfs: { endpoints: 'a', path: 'b' } },
        ],
      },
    ),
    pod({ name: 'a', annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' } }),
    pod({ name: 'a', annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'localhost/x' } }),
    pod({ name: 'a', annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } }),
    pod({ name: 'a', annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } }),
  ]),
  refused('what is only warned of in templates', deployments, [
    deployment('a', {
      template: template({
        imagePullSecrets: [{ name: 'a' }, { name: 'a' }],
        containers: [main({ resources: { limits: { memory: '1500m' } } })],
      }),
    }),
    deployment('a', {
      template: {
        ...template(),
        metadata: {
          labels: { app: 'web' },
          annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' },
        },
      },
    }),
  ]),
  sequence('what is warned of once, and what again', [
    post(pods, one({ ports: [{ containerPort: 80 }, { containerPort: 80 }] })),
    mergePatch(`${pods}/a`, { metadata: { labels: { a: 'b' } } }),
    ...(
      [
        [deployments, 'Deployment'],
        [daemonSets, 'DaemonSet'],
        [statefulSets, 'StatefulSet'],
        [replicaSets, 'ReplicaSet'],
      ] as const
    ).flatMap(([collection, kind]) => [
      post(
        collection,
        set(kind, { ...workloadSpec, template: template({ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }) }),
      ),
      mergePatch(`${collection}/a`, { metadata: { labels: { a: 'b' } } }),
      mergePatch(`${collection}/a`, { spec: { minReadySeconds: 5 } }),
      mergePatch(`${collection}/a`, { spec: { template: { spec: { hostname: 'b' } } } }),
    ]),
    post(statefulSets, object('apps/v1', 'StatefulSet', 'b', { spec: { ...workloadSpec, revisionHistoryLimit: -1 } })),
  ]),
  sequence('several documents, and none', [
    ...defined(definition()),
    ...[
      'metadata: {name: a}\n---\nmetadata: {name: b}\n',
      '---\nmetadata: {name: c}\n...\n',
      '---\n---\n',
      '# nothing\n',
    ].flatMap((text) => [
      post(inNamespace('configmaps'), `apiVersion: v1\nkind: ConfigMap\n${text}`, yaml),
      post(things, `apiVersion: <group>/v1\nkind: Thing\n${text}`, yaml),
    ]),
    post(inNamespace('configmaps'), object('v1', 'ConfigMap', 'n', { kind: null })),
    post(things, { ...thing('n'), kind: null }),
    post(things, { ...thing('n'), apiVersion: null }),
    get(`${things}/none`, { headers: { accept: 'application/yaml' } }),
  ]),
  sequence('words of YAML that begin like endless numbers', [
    ...defined(definition()),
    post(
      things,
      'apiVersion: <group>/v1\nkind: Thing\nmetadata: {name: a, labels: {a: 462.e1234.example, b: "1e999"}}\n',
      yaml,
    ),
  ]),
  sequence('numbers beyond what is whole, applied to a status', [
    prepare(post(budgets, object('policy/v1', 'PodDisruptionBudget', 'b', { spec: { minAvailable: 1 } }))),
    ...['1e+30', '1e30', '1e10', '2147483648', '1.5', '-1e30', '9223372036854775808'].map((number) =>
      applyPatch(
        `${budgets}/b/status?fieldManager=x&force=true`,
        `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"status":{"currentHealthy":${number},"desiredHealthy":1,"disruptionsAllowed":1,"expectedPods":1}}`,
      ),
    ),
  ]),
  sequence('versions that are none', [
    post(services, object('a/b/c', 'Service', 'a')),
    post(deployments, { ...deployment('a'), apiVersion: 'apps/v1/x' }),
    post(
      clusterWide('runtimeclasses', 'node.k8s.io/v1'),
      object('node.k8s.io/v1', 'RuntimeClass', 'r-<id>', {
        handler: 'a',
        overhead: { podFixed: { unknown: '1' } },
      }),
    ),
  ]),
  sequence('columns of nodes and ingresses', [
    prepare(post(nodes, node('n'))),
    prepare(
      mergePatch(`${nodes}/n-<id>/status`, {
        status: {
          nodeInfo: {
            kernelVersion: '6.1',
            architecture: 'amd64',
            osImage: 'Debian',
            kubeletVersion: 'v1.36.0',
            containerRuntimeVersion: 'x://1',
          },
        },
      }),
    ),
    get(`${nodes}/n-<id>`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }),
    prepare(request('DELETE', `${nodes}/n-<id>`)),
    prepare(
      post(
        inNamespace('ingresses', 'networking.k8s.io/v1'),
        object('networking.k8s.io/v1', 'Ingress', 'a', {
          spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
        }),
      ),
    ),
    prepare(
      mergePatch(`${inNamespace('ingresses', 'networking.k8s.io/v1')}/a/status`, {
        status: {
          loadBalancer: {
            ingress: [{ ip: '10.2.0.1' }, { hostname: 'b.example.com' }, { ip: '10.1.0.1' }, { ip: '10.2.0.1' }],
          },
        },
      }),
    ),
    get(`${inNamespace('ingresses', 'networking.k8s.io/v1')}/a`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    }),
  ]),
  sequence('requests for heads', [
    prepare(post(pods, one({}))),
    request('HEAD', `${pods}/a`),
    request('HEAD', `${pods}/none`),
    request('HEAD', pods),
    request('HEAD', '/healthz'),
    request('HEAD', '/version'),
    request('HEAD', '/api'),
    request('HEAD', '/apis'),
    request('HEAD', '/api/v1'),
    request('HEAD', `${pods}/a/log`),
    request('HEAD', '/apis/nothing.example.com/v1/things'),
    request('HEAD', '/openapi/v2'),
    ...['/', '/apis/apps', '/apis/apps/v1', '/openapi/v3', '/livez', '/readyz', '/openid/v1/jwks', '/apis/nothing'].map(
      (path) => request('HEAD', path),
    ),
    ...defined(definition()),
    prepare(post(things, thing('a'))),
    request('HEAD', things),
    request('HEAD', `${things}/a`),
    request('HEAD', `${things}/none`),
    request('HEAD', '/apis/<group>'),
    request('HEAD', '/apis/<group>/v1'),
  ]),
];
