/** Quotas, limits and priorities: what is too much in a namespace, and what is set where nothing is said. */
import {
  type Answer,
  del,
  get,
  mergePatch,
  post,
  prepare,
  put,
  type RequestStep,
  type Sequence,
  sequence,
  untilStatus,
} from '../harness/sequence.js';
import {
  clusterWide,
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

const quotas = inNamespace('resourcequotas');
const ranges = inNamespace('limitranges');
const secrets = inNamespace('secrets');
const services = inNamespace('services');
const claims = inNamespace('persistentvolumeclaims');
const ingresses = inNamespace('ingresses', 'networking.k8s.io/v1');
const priorities = clusterWide('priorityclasses', 'scheduling.k8s.io/v1');
const classes = clusterWide('storageclasses', 'storage.k8s.io/v1');
const ingressClasses = clusterWide('ingressclasses', 'networking.k8s.io/v1');
const runtimes = clusterWide('runtimeclasses', 'node.k8s.io/v1');

const quota = (name: string, hard: Fields, rest: Fields = {}) =>
  object('v1', 'ResourceQuota', name, { spec: { hard, ...rest } });
const range = (...limits: readonly Fields[]) => object('v1', 'LimitRange', 'limits', { spec: { limits } });
const secret = (name: string) => object('v1', 'Secret', name);
const service = (name: string, spec: Fields = {}) =>
  object('v1', 'Service', name, { spec: { ports: [{ port: 80 }], clusterIP: 'None', ...spec } });
const claim = (name: string, storage = '1Gi', spec: Fields = {}) =>
  object('v1', 'PersistentVolumeClaim', name, {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
  });
const priority = (name: string, rest: Fields) => object('scheduling.k8s.io/v1', 'PriorityClass', `${name}-<id>`, rest);
const sized = (name: string, resources: Fields, spec: Fields = {}) =>
  pod(name, { containers: [{ name: 'main', image: 'registry.example.com/app:v1', resources }], ...spec });

const used = (name: string, values: Readonly<Record<string, string>>) =>
  get(`${quotas}/${name}`, {
    // A pod on its way may be counted no more, or still; and who has counted last, the server or its controller, is chance.
    except: ['resourceVersion', 'managedFields'],
    until: ({ body }: Answer) => {
      const status = (body as { status?: { used?: Record<string, string> } }).status?.used ?? {};
      return Object.entries(values).every(([key, value]) => status[key] === value);
    },
  });
/** Made, seen by whoever counts, and then by whoever refuses. */
const counted = (name: string, hard: Fields, probe: RequestStep, rest: Fields = {}): RequestStep[] => [
  prepare(post(quotas, quota(name, hard, rest))),
  prepare(
    get(`${quotas}/${name}`, {
      until: ({ body }) => {
        const status = (body as { status?: { used?: object } }).status?.used ?? {};
        return Object.keys(status).length >= Object.keys(hard).length;
      },
    }),
  ),
  prepare({
    ...probe,
    path: `${probe.path}?dryRun=All`,
    until: ({ body }) => !JSON.stringify(body).includes('status unknown'),
  }),
];
/** Made, and seen: a pod that is only tried is limited. */
const limited = (body: Fields, isSeen: (answer: Answer) => boolean): RequestStep[] => [
  prepare(post(ranges, body)),
  prepare(post(`${pods}?dryRun=All`, pod('probe'), { until: isSeen })),
];
const isRefused = ({ status }: Answer) => status === 403;
const isAnnotated = ({ body }: Answer) => JSON.stringify(body).includes('limit-ranger');

export const quotasAndLimits: readonly Sequence[] = [
  sequence('a quota tells what is used', [
    post(quotas, quota('q', { configmaps: '3', secrets: '2', pods: '5' })),
    used('q', { configmaps: '0', secrets: '0', pods: '0' }),
    mergePatch(`${quotas}/q`, { spec: { hard: { secrets: null, services: '1' } } }),
    used('q', { services: '0' }),
    del(`${quotas}/q`),
  ]),
  sequence('config maps of a quota', [
    ...counted('q', { configmaps: '2' }, post(configMaps, configMap('probe'))),
    post(configMaps, configMap('a')),
    get(`${quotas}/q`),
    post(configMaps, configMap('b')),
    post(configMaps, configMap('c')),
    post(`${configMaps}?dryRun=All`, configMap('d')),
    get(`${quotas}/q`),
    del(`${configMaps}/a`),
    used('q', { configmaps: '1' }),
    put(`${configMaps}/b`, configMap('b', { other: 'data' })),
  ]),
  sequence('secrets of a quota', [
    ...counted('q', { secrets: '1' }, post(secrets, secret('probe'))),
    post(secrets, secret('a')),
    post(secrets, secret('b')),
    used('q', { secrets: '1' }),
  ]),
  sequence('services of a quota', [
    ...counted(
      'q',
      { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '0' },
      post(services, service('probe')),
    ),
    // The controller may still be counting.
    post(services, service('a'), { except: ['resourceVersion'] }),
    post(services, service('b', { type: 'LoadBalancer', clusterIP: '' })),
    post(
      services,
      service('c', {
        type: 'NodePort',
        clusterIP: '',
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2 },
        ],
      }),
    ),
    used('q', { services: '1', 'services.nodeports': '0' }),
    prepare(post(services, service('d'))),
    prepare(used('q', { services: '2' })),
    post(services, service('e')),
  ]),
  sequence('claims of a quota', [
    ...counted(
      'q',
      {
        persistentvolumeclaims: '2',
        'requests.storage': '3Gi',
        'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
      },
      post(claims, claim('probe')),
    ),
    post(claims, claim('a', '2Gi')),
    post(claims, claim('b', '2Gi')),
    post(claims, claim('c', '1500Mi', { storageClassName: 'gold' })),
    used('q', { 'requests.storage': '2Gi' }),
    post(claims, claim('d', '500Mi', { storageClassName: 'gold' })),
    post(claims, claim('e', '1Mi')),
    get(`${quotas}/q`),
  ]),
  sequence('counts by groups', [
    ...counted('q', { 'count/deployments.apps': '1', 'count/configmaps': '1' }, post(deployments, deployment('probe'))),
    post(deployments, deployment('a')),
    post(deployments, deployment('b')),
    post(configMaps, configMap('a')),
    post(configMaps, configMap('b')),
    del(`${deployments}/a`),
    used('q', { 'count/deployments.apps': '0' }),
  ]),
  sequence('pods of a quota', [
    ...counted('q', { pods: '2' }, post(pods, pod('probe'))),
    post(pods, pod('a')),
    post(pods, pod('b')),
    post(pods, pod('c')),
    prepare(mergePatch(`${pods}/a/status`, { status: { phase: 'Succeeded' } })),
    used('q', { pods: '1' }),
    post(pods, pod('d')),
    prepare(del(`${pods}/b?gracePeriodSeconds=0`)),
    used('q', { pods: '1' }),
  ]),
  sequence('pods and what they ask for', [
    ...counted(
      'q',
      { 'requests.cpu': '1', 'limits.memory': '1Gi', cpu: '1' },
      post(pods, sized('probe', { requests: { cpu: '1m' }, limits: { memory: '1Mi' } })),
    ),
    post(pods, pod('none')),
    post(pods, sized('half', { requests: { cpu: '1' } })),
    post(pods, sized('a', { requests: { cpu: '600m' }, limits: { memory: '512Mi' } })),
    get(`${quotas}/q`),
    post(pods, sized('b', { requests: { cpu: '600m' }, limits: { memory: '512Mi' } })),
    post(pods, sized('c', { requests: { cpu: '100m' }, limits: { memory: '2Gi', cpu: '200m' } })),
    prepare(del(`${pods}/a?gracePeriodSeconds=0`)),
    used('q', { 'requests.cpu': '0', 'limits.memory': '0' }),
  ]),
  sequence('two quotas', [
    ...counted('one', { configmaps: '5' }, post(configMaps, configMap('probe'))),
    ...counted('two', { configmaps: '1' }, post(configMaps, configMap('probe'))),
    post(configMaps, configMap('a')),
    post(configMaps, configMap('b')),
    used('one', { configmaps: '1' }),
    used('two', { configmaps: '1' }),
  ]),
  sequence('quotas for some pods', [
    ...counted('best', { pods: '1' }, post(pods, pod('probe')), { scopes: ['BestEffort'] }),
    ...counted('others', { pods: '0' }, post(pods, pod('probe')), { scopes: ['NotBestEffort'] }),
    post(pods, pod('a')),
    post(pods, pod('b')),
    post(pods, sized('c', { requests: { cpu: '1m' } })),
    used('best', { pods: '1' }),
  ]),
  sequence('quotas must be right', [
    post(quotas, quota('a', { pods: '-1' })),
    post(quotas, quota('b', { pods: '1.5' })),
    post(quotas, quota('c', { 'what ever': '1' })),
    post(quotas, quota('d', { pods: '1' }, { scopes: ['Some'] })),
    post(quotas, quota('e', { configmaps: '1' }, { scopes: ['BestEffort'] })),
    post(quotas, quota('f', { pods: '1' }, { scopes: ['BestEffort', 'NotBestEffort'] })),
    post(quotas, object('v1', 'ResourceQuota', 'g', {})),
    post(quotas, quota('h', { pods: 'many' })),
  ]),
  sequence('a quota does not change its scopes', [
    prepare(post(quotas, quota('q', { pods: '1' }, { scopes: ['BestEffort'] }))),
    mergePatch(`${quotas}/q`, { spec: { scopes: ['Terminating'] } }),
    mergePatch(`${quotas}/q/status`, { status: { used: { pods: '-1' } } }),
  ]),
  sequence('containers get the limits of a range', [
    ...limited(
      range({
        type: 'Container',
        default: { cpu: '500m', memory: '256Mi' },
        defaultRequest: { cpu: '100m', memory: '128Mi' },
      }),
      isAnnotated,
    ),
    post(pods, pod('a')),
    post(pods, sized('b', { requests: { cpu: '200m' } })),
    post(pods, sized('c', { limits: { memory: '1Gi' } })),
    post(
      pods,
      pod('d', {
        containers: [
          { name: 'one', image: 'x' },
          { name: 'two', image: 'x', resources: { limits: { cpu: '1', memory: '1Gi' } } },
        ],
        initContainers: [{ name: 'first', image: 'x' }],
      }),
    ),
    post(deployments, deployment('e')),
  ]),
  sequence('containers beyond the limits of a range', [
    ...limited(range({ type: 'Container', min: { cpu: '100m' }, max: { memory: '1Gi' } }), isAnnotated),
    post(pods, pod('a')),
    post(pods, sized('b', { requests: { cpu: '50m' } })),
    post(pods, sized('c', { requests: { cpu: '200m' }, limits: { cpu: '2', memory: '2Gi' } })),
    post(pods, sized('d', { limits: { cpu: '50m' } })),
  ]),
  sequence('pods beyond the limits of a range', [
    ...limited(range({ type: 'Pod', min: { cpu: '200m' }, max: { memory: '1Gi' } }), isRefused),
    post(pods, pod('a')),
    post(pods, sized('b', { requests: { cpu: '100m', memory: '1Mi' }, limits: { cpu: '100m', memory: '1Mi' } })),
    post(
      pods,
      pod('c', {
        containers: ['one', 'two'].map((name) => ({
          name,
          image: 'x',
          resources: { limits: { cpu: '600m', memory: '600Mi' } },
        })),
      }),
    ),
    post(pods, sized('d', { limits: { cpu: '500m', memory: '512Mi' } })),
  ]),
  sequence('limits and requests must not be far apart', [
    ...limited(range({ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }), isRefused),
    post(pods, pod('a')),
    post(pods, sized('b', { requests: { cpu: '100m' }, limits: { cpu: '300m' } })),
    post(pods, sized('c', { requests: { cpu: '100m' }, limits: { cpu: '200m' } })),
    post(pods, sized('d', { requests: { cpu: '100m' } })),
  ]),
  sequence('claims beyond the limits of a range', [
    prepare(post(ranges, range({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }))),
    prepare(post(`${claims}?dryRun=All`, claim('probe', '1Mi'), { until: isRefused })),
    post(claims, claim('a', '500Mi')),
    post(claims, claim('b', '3Gi')),
    post(claims, claim('c', '2Gi')),
  ]),
  sequence('ranges must be right', [
    ...[
      { type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } },
      { type: 'Container', default: { cpu: '2' }, max: { cpu: '1' } },
      { type: 'Container', defaultRequest: { cpu: '2' }, default: { cpu: '1' } },
      { type: 'Pod', default: { cpu: '1' } },
      { type: 'PersistentVolumeClaim', default: { storage: '1' } },
      { type: '' },
      { type: 'Container', maxLimitRequestRatio: { cpu: '500m' } },
      { type: 'Other', max: { cpu: '1' } },
    ].map((limit, index) => post(ranges, { ...range(limit), metadata: { name: `r${index}` } })),
    post(ranges, { ...range({ type: 'Pod' }, { type: 'Pod' }), metadata: { name: 'twice' } }),
  ]),
  sequence('pods have priorities', [
    prepare(post(priorities, priority('high', { value: 1000 }))),
    prepare(post(priorities, priority('calm', { value: 5, preemptionPolicy: 'Never' }))),
    prepare(post(`${pods}?dryRun=All`, pod('probe', { priorityClassName: 'calm-<id>' }), { until: untilStatus(201) })),
    post(pods, pod('a', { priorityClassName: 'high-<id>' })),
    post(pods, pod('b', { priorityClassName: 'calm-<id>' })),
    post(pods, pod('c', { priorityClassName: 'none-<id>' })),
    post(pods, pod('d', { priority: 7 })),
    post(pods, pod('e', { priorityClassName: 'high-<id>', priority: 1000 })),
    post(pods, pod('f', { priorityClassName: 'high-<id>', priority: 999 })),
    post(pods, pod('g', { priorityClassName: 'high-<id>', preemptionPolicy: 'Never' })),
    post(pods, pod('h', { priorityClassName: 'system-node-critical' })),
    post(pods, pod('i', { priority: 0 })),
    put(`${pods}/a`, pod('a', { priorityClassName: 'high-<id>' })),
    mergePatch(`${pods}/a`, { spec: { priority: 1 } }),
    del(`${priorities}/high-<id>`),
    get(`${pods}/a`),
  ]),
  sequence(
    'the default priority',
    [
      prepare(post(priorities, priority('usual', { value: 10, globalDefault: true }))),
      prepare(
        post(`${pods}?dryRun=All`, pod('probe'), { until: ({ body }) => JSON.stringify(body).includes('"usual-') }),
      ),
      post(pods, pod('a')),
      post(priorities, priority('other', { value: 10, globalDefault: true })),
      mergePatch(`${priorities}/usual-<id>`, { description: 'The usual one.' }),
      del(`${priorities}/usual-<id>`),
      prepare(
        post(`${pods}?dryRun=All`, pod('probe'), { until: ({ body }) => !JSON.stringify(body).includes('"usual-') }),
      ),
      post(pods, pod('b')),
    ],
    { runsAlone: true },
  ),
  sequence(
    'the default class of storage',
    [
      prepare(
        post(
          classes,
          object(
            'storage.k8s.io/v1',
            'StorageClass',
            { name: 'usual-<id>', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
            { provisioner: 'example.com/disk' },
          ),
        ),
      ),
      prepare(
        post(`${claims}?dryRun=All`, claim('probe'), { until: ({ body }) => JSON.stringify(body).includes('usual-') }),
      ),
      post(claims, claim('a')),
      post(claims, claim('b', '1Gi', { storageClassName: '' })),
      post(claims, claim('c', '1Gi', { storageClassName: 'gold' })),
      prepare(del(`${classes}/usual-<id>`)),
      prepare(
        post(`${claims}?dryRun=All`, claim('probe'), { until: ({ body }) => !JSON.stringify(body).includes('usual-') }),
      ),
      post(claims, claim('d')),
    ],
    { runsAlone: true },
  ),
  sequence(
    'the default class of ingresses',
    [
      prepare(
        post(
          ingressClasses,
          object(
            'networking.k8s.io/v1',
            'IngressClass',
            { name: 'usual-<id>', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
            { spec: { controller: 'example.com/x' } },
          ),
        ),
      ),
      ...['probe', 'a'].map((name) => {
        const body = object('networking.k8s.io/v1', 'Ingress', name, {
          spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } },
        });
        if (name === 'a') return post(ingresses, body);
        const until = (answer: Answer) => JSON.stringify(answer.body).includes('usual-');
        return prepare(post(`${ingresses}?dryRun=All`, body, { until }));
      }),
      prepare(del(`${ingressClasses}/usual-<id>`)),
    ],
    { runsAlone: true },
  ),
  sequence('pods have runtimes', [
    prepare(
      post(
        runtimes,
        object('node.k8s.io/v1', 'RuntimeClass', 'safe-<id>', {
          handler: 'runsc',
          overhead: { podFixed: { cpu: '100m' } },
          scheduling: { nodeSelector: { safe: 'yes' }, tolerations: [{ key: 'safe', operator: 'Exists' }] },
        }),
      ),
    ),
    prepare(post(`${pods}?dryRun=All`, pod('probe', { runtimeClassName: 'safe-<id>' }), { until: untilStatus(201) })),
    post(pods, pod('a', { runtimeClassName: 'safe-<id>' })),
    post(pods, pod('b', { runtimeClassName: 'none-<id>' })),
    post(pods, pod('c', { runtimeClassName: 'safe-<id>', nodeSelector: { safe: 'no' } })),
    post(pods, pod('d', { runtimeClassName: 'safe-<id>', overhead: { cpu: '1' } })),
    post(pods, pod('e', { overhead: { cpu: '1' } })),
  ]),
];
