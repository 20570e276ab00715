/** Pod security standards: what namespaces ask for by their labels, of pods and of what makes pods. */
import {
  type Answer,
  mergePatch,
  post,
  prepare,
  put,
  type RequestStep,
  type Sequence,
  sequence,
} from '../harness/sequence.js';
import {
  clusterWide,
  deployment,
  deployments,
  type Fields,
  inNamespace,
  namespaces,
  object,
  pod,
  pods,
} from './objects.js';

const labelled = (labels: Fields): Fields =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]));
const label = (labels: Fields) => mergePatch(`${namespaces}/<ns>`, { metadata: { labels: labelled(labels) } });

const isSeen = ({ status, headers }: Answer) => status === 403 || headers['warning'] !== undefined;
const bad = pod('probe', { hostNetwork: true });
/** Labelled, and seen by whoever refuses. */
const secured = (labels: Fields): RequestStep[] => [
  prepare(label(labels)),
  prepare(post(`${pods}?dryRun=All`, bad, { until: isSeen })),
];

const main = (container: Fields = {}) => ({ name: 'main', image: 'a', ...container });
const context = (securityContext: Fields) => main({ securityContext });
const one = (container: Fields, spec: Fields = {}) => pod('a', { containers: [main(container)], ...spec });
const two = (first: Fields, second: Fields, spec: Fields = {}) =>
  pod('a', { initContainers: [{ ...main(first), name: 'first' }], containers: [main(second)], ...spec });
const says = (securityContext: Fields) => ({ securityContext });
const safe = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const tried = (bodies: readonly Fields[], collection = pods) =>
  bodies.map((body) => post(`${collection}?dryRun=All`, body));

const suspects: readonly Fields[] = [
  one({}),
  one(says({ privileged: true })),
  two(says({ privileged: true }), says({ privileged: true })),
  one({}, { hostNetwork: true, hostPID: true, hostIPC: true }),
  one({ ports: [{ containerPort: 80, hostPort: 80 }] }),
  two({ ports: [{ containerPort: 80, hostPort: 80 }] }, { ports: [{ containerPort: 443, hostPort: 443 }] }),
  one(says({ capabilities: { add: ['SYS_ADMIN', 'NET_RAW', 'CHOWN'] } })),
  two(says({ capabilities: { add: ['NET_ADMIN'] } }), says({ capabilities: { add: ['KILL'], drop: ['ALL'] } })),
  one(says({ procMount: 'Unmasked' }), { hostUsers: false }),
  one(says({ seLinuxOptions: { type: 'mine_t', user: 'me' } }), { securityContext: { seLinuxOptions: { role: 'r' } } }),
  one(says({ seLinuxOptions: { type: 'container_engine_t', level: 's0' } })),
  one(says({ seccompProfile: { type: 'Unconfined' } })),
  two({}, says({ seccompProfile: { type: 'Unconfined' } }), {
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
  }),
  one({}, { securityContext: { seccompProfile: { type: 'Unconfined' }, runAsNonRoot: false, runAsUser: 0 } }),
  one(says({ appArmorProfile: { type: 'Unconfined' } })),
  one({}, { securityContext: { appArmorProfile: { type: 'Unconfined' } } }),
  one({}, { securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } }),
  one({}, { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } }),
  one({}, { volumes: [{ name: 'v', hostPath: { path: '/' } }] }),
  one(
    {},
    {
      volumes: [
        { name: 'v', nfs: { server: 'a', path: '/' } },
        { name: 'w', hostPath: { path: '/' } },
        { name: 'x', emptyDir: {} },
      ],
    },
  ),
  one({ livenessProbe: { httpGet: { host: 'a.b', port: 80 } } }),
  two(
    { lifecycle: { preStop: { tcpSocket: { host: 'b.c', port: 80 } } }, restartPolicy: 'Always' },
    { readinessProbe: { tcpSocket: { host: 'a.b', port: 80 } }, startupProbe: { httpGet: { host: 'c', port: 80 } } },
  ),
  one({}, { securityContext: { windowsOptions: { hostProcess: true } }, hostNetwork: true, os: { name: 'windows' } }),
  one({}, { os: { name: 'windows' } }),
  one(says(safe)),
  one(says({ ...safe, runAsUser: 0 })),
  one(says({ ...safe, runAsNonRoot: false })),
  two(says(safe), says({ allowPrivilegeEscalation: true, capabilities: { drop: ['ALL'] } })),
  one(says({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }), {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  }),
  one({}, { hostUsers: false }),
  pod({ name: 'a', annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' } }),
  pod({ name: 'a', annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } }),
];

/** All of them, whatever is enforced. */
const judged = (name: string, labels: Fields): Sequence => sequence(name, [...secured(labels), ...tried(suspects)]);

const template = (spec: Fields) => ({ metadata: { labels: { app: 'web' } }, spec });
const host = { hostNetwork: true, containers: [main()] };
const makers: readonly (readonly [string, string, string, (spec: Fields) => Fields])[] = [
  ['podtemplates', 'v1', 'PodTemplate', (spec) => ({ template: template(spec) })],
  [
    'replicationcontrollers',
    'v1',
    'ReplicationController',
    (spec) => ({ spec: { selector: { app: 'web' }, template: template(spec) } }),
  ],
  ...(['ReplicaSet', 'Deployment', 'DaemonSet', 'StatefulSet'] as const).map(
    (kind) =>
      [
        `${kind.toLowerCase()}s`,
        'apps/v1',
        kind,
        (spec: Fields) => ({ spec: { selector: { matchLabels: { app: 'web' } }, template: template(spec) } }),
      ] as const,
  ),
  ['jobs', 'batch/v1', 'Job', (spec) => ({ spec: { template: template({ restartPolicy: 'Never', ...spec }) } })],
  [
    'cronjobs',
    'batch/v1',
    'CronJob',
    (spec) => ({
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: template({ restartPolicy: 'Never', ...spec }) } },
      },
    }),
  ],
];

export const podSecurity: readonly Sequence[] = [
  judged('what is no baseline', { enforce: 'baseline' }),
  judged('what is not restricted', { enforce: 'restricted' }),
  judged('what was no baseline once', { enforce: 'baseline', 'enforce-version': 'v1.18' }),
  judged('what was not restricted once', { enforce: 'restricted', 'enforce-version': 'v1.24' }),
  judged('what was hardly restricted at all', { enforce: 'restricted', 'enforce-version': 'v1.7' }),
  judged('what is only warned of', { warn: 'restricted', 'warn-version': 'v1.30' }),
  judged('what is enforced, and more is warned of', { enforce: 'baseline', warn: 'restricted' }),
  sequence('labels that say nothing', [
    label({ enforce: 'strict' }),
    label({ enforce: 'baseline', 'enforce-version': 'v2.0' }),
    label({ audit: '', 'audit-version': 'v1.01', warn: 'no', 'warn-version': 'newest' }),
    post(namespaces, object('v1', 'Namespace', { name: '<ns>-x', labels: labelled({ enforce: 'no' }) })),
    post(namespaces, object('v1', 'Namespace', { name: '<ns>-y', labels: labelled({ enforce: 'baseline' }) })),
    put(`${namespaces}/<ns>-y`, object('v1', 'Namespace', { name: '<ns>-y', labels: labelled({ warn: 'no' }) })),
  ]),
  sequence('pods that are there before their labels', [
    prepare(post(pods, pod('a'))),
    prepare(post(pods, pod('b'))),
    prepare(post(pods, pod('c', { hostNetwork: true }))),
    prepare(post(pods, pod('d', { containers: [context({ privileged: true })] }))),
    prepare(post(pods, pod('e', { containers: [context(safe)] }))),
    label({ enforce: 'baseline', 'enforce-version': 'v1.20' }),
    label({ enforce: 'restricted', 'enforce-version': 'v1.20' }),
    label({ enforce: 'restricted' }),
    label({ 'enforce-version': 'latest' }),
    label({ enforce: 'baseline' }),
    label({ enforce: 'privileged' }),
    label({ enforce: 'restricted', warn: 'privileged', 'enforce-version': null }),
  ]),
  sequence('changes of pods', [
    prepare(post(pods, pod('a', { hostNetwork: true }))),
    ...secured({ enforce: 'baseline' }),
    mergePatch(`${pods}/a`, { metadata: { labels: { a: 'b' } } }),
    mergePatch(`${pods}/a`, { spec: { containers: [{ name: 'main', image: 'other' }] } }),
    mergePatch(`${pods}/a/ephemeralcontainers`, {
      spec: { ephemeralContainers: [{ name: 'debug', image: 'a', securityContext: { privileged: true } }] },
    }),
    mergePatch(`${pods}/a/status`, { status: { message: 'whatever' } }),
  ]),
  sequence('what makes pods is warned of, and made', [
    ...secured({ enforce: 'baseline' }),
    ...makers.map(([plural, version, kind, body]) =>
      post(inNamespace(plural, version), object(version, kind, 'a', body(host))),
    ),
    mergePatch(`${deployments}/a`, { spec: { replicas: 3 } }),
    mergePatch(`${deployments}/a/scale`, { spec: { replicas: 2 } }),
    mergePatch(`${deployments}/a`, { spec: { template: { spec: { hostNetwork: false } } } }),
    post(inNamespace('replicationcontrollers'), object('v1', 'ReplicationController', 'b', { spec: { replicas: 0 } })),
  ]),
  sequence('nobody is warned where warnings are off', [
    ...secured({ enforce: 'restricted', warn: 'privileged' }),
    post(deployments, deployment('a')),
    post(pods, pod('a')),
    post(pods, pod('b', { containers: [context(safe)] })),
  ]),
  sequence('limits are told before', [
    ...secured({ enforce: 'baseline' }),
    prepare(
      post(
        inNamespace('limitranges'),
        object('v1', 'LimitRange', 'l', { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }),
      ),
    ),
    prepare(
      post(`${pods}?dryRun=All`, pod('probe', { containers: [main()] }), {
        until: ({ body }: Answer) => JSON.stringify(body).includes('limit-ranger'),
      }),
    ),
    post(
      pods,
      pod('a', {
        hostNetwork: true,
        containers: [main({ resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } })],
      }),
    ),
    post(pods, pod('a', { hostNetwork: true })),
    post(clusterWide('namespaces'), object('v1', 'Namespace', '<ns>-z')),
  ]),
];
