/** Objects of built-in kinds that nobody could use: one mistake each. */
import { mergePatch, post, prepare, type Sequence, sequence } from '../harness/sequence.js';
import { deployment, deployments, type Fields, inNamespace, object, pod, pods } from './objects.js';

const services = inNamespace('services');
const ingresses = inNamespace('ingresses', 'networking.k8s.io/v1');
const jobs = inNamespace('jobs', 'batch/v1');
const cronJobs = inNamespace('cronjobs', 'batch/v1');
const claims = inNamespace('persistentvolumeclaims');

const once = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] } };
const service = (spec: Fields) => object('v1', 'Service', 'a', { spec });
const job = (spec: Fields = {}) => object('batch/v1', 'Job', 'a', { spec: { template: once, ...spec } });
const cronJob = (schedule: string, spec: Fields = {}) =>
  object('batch/v1', 'CronJob', 'a', { spec: { schedule, jobTemplate: { spec: { template: once } }, ...spec } });
const ingress = (spec: Fields) => object('networking.k8s.io/v1', 'Ingress', 'a', { spec });
const backend = { service: { name: 'web', port: { number: 80 } } };
const routed = (host: string, path: Fields = {}) =>
  ingress({ rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...path }] } }] });
const claim = (spec: Fields) =>
  object('v1', 'PersistentVolumeClaim', 'a', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
const one = (container: Fields, spec: Fields = {}) =>
  pod('a', { containers: [{ name: 'main', image: 'a', ...container }], ...spec });
const rolling = (maxSurge: unknown, maxUnavailable: unknown) =>
  deployment('a', { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } });

const refused = (name: string, collection: string, bodies: readonly Fields[]): Sequence =>
  sequence(
    `wrong ${name}`,
    bodies.map((body) => post(collection, body)),
  );
const variable = (rest: Fields) => one({ env: [{ name: 'A', ...rest }] });
const probe = (rest: Fields) => one({ livenessProbe: rest });
const command = { exec: { command: ['true'] } };
const port = { port: 80 };

export const invalidObjects: readonly Sequence[] = [
  refused('paces of rollouts', deployments, [
    rolling(0, 0),
    rolling('0%', '0%'),
    rolling(-1, 1),
    rolling(1, -1),
    rolling('x', 1),
    rolling(1, '101%'),
    rolling('10', 1),
  ]),
  refused('deadlines of rollouts', deployments, [
    deployment('a', { minReadySeconds: 600, progressDeadlineSeconds: 600 }),
    deployment('a', { minReadySeconds: 700 }),
  ]),
  refused(
    'minutes, hours and days',
    cronJobs,
    ['60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8'].map((schedule) => cronJob(schedule)),
  ),
  refused(
    'ranges of schedules',
    cronJobs,
    ['5-1 * * * *', '1-60 * * * *', '1,60 * * * *', '1--2 * * * *', '1/2/3 * * * *', '-1 * * * *'].map((schedule) =>
      cronJob(schedule),
    ),
  ),
  refused(
    'words in schedules',
    cronJobs,
    ['a * * * *', '0 0 * FOO *', '@never', '@every x', '* * * *', 'TZ=UTC * * * * *'].map((schedule) =>
      cronJob(schedule),
    ),
  ),
  refused('time zones', cronJobs, [
    cronJob('* * * * *', { timeZone: 'Nowhere/City' }),
    cronJob('* * * * *', { timeZone: '' }),
    cronJob('* * * * *', { timeZone: 'Local' }),
    cronJob('* * * * *', { startingDeadlineSeconds: -1 }),
  ]),
  refused('ports of services', services, [
    service({
      clusterIP: 'None',
      ports: [
        { name: 'x', port: 80 },
        { name: 'y', port: 80 },
      ],
    }),
    service({ ports: [{ port: 80, targetPort: 'A_b' }] }),
  ]),
  refused('addresses of services', services, [
    service({ clusterIP: 'bad', ports: [port] }),
    service({ clusterIP: '1.2.3', ports: [port] }),
    service({ externalIPs: ['x'], ports: [port] }),
    service({ type: 'LoadBalancer', clusterIP: 'None', ports: [port] }),
    service({ type: 'ExternalName', externalName: 'a.b', clusterIP: '10.96.0.77' }),
  ]),
  refused('policies of services', services, [
    service({ type: 'LoadBalancer', externalTrafficPolicy: 'Bad', ports: [port] }),
    service({ clusterIP: 'None', internalTrafficPolicy: 'Bad', ports: [port] }),
    service({
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
      ports: [port],
    }),
  ]),
  refused('hosts of ingresses', ingresses, [
    routed('A.b'),
    routed('1.2.3.4'),
    routed('*.*.b'),
    ingress({ defaultBackend: backend, tls: [{ hosts: ['A_b'] }] }),
  ]),
  refused('paths of ingresses', ingresses, [
    routed('a.b', { path: 'x' }),
    routed('a.b', { path: '/a//b', pathType: 'Exact' }),
    ingress({ rules: [{ host: 'a.b', http: { paths: [] } }] }),
  ]),
  refused('backends of ingresses', ingresses, [
    routed('a.b', { backend: {} }),
    routed('a.b', { backend: { service: { name: 'a', port: { name: 'x', number: 1 } } } }),
    routed('a.b', { backend: { service: { name: 'a', port: { number: 70_000 } } } }),
    ingress({ defaultBackend: { ...backend, resource: { kind: 'x', name: 'y' } } }),
    ingress({ defaultBackend: backend, ingressClassName: 'A_' }),
  ]),
  sequence('what does not change in jobs', [
    prepare(post(jobs, job({ completions: 2 }))),
    mergePatch(`${jobs}/a`, { spec: { completions: 3 } }),
    mergePatch(`${jobs}/a`, { spec: { completionMode: 'Indexed' } }),
  ]),
  refused('jobs', jobs, [
    job({ completionMode: 'Bad' }),
    job({ backoffLimitPerIndex: 1 }),
    job({ podReplacementPolicy: 'Bad' }),
  ]),
  sequence('what does not change in claims', [
    prepare(post(claims, claim({}))),
    mergePatch(`${claims}/a`, { spec: { resources: { requests: { storage: '2Gi' } } } }),
    mergePatch(`${claims}/a`, { spec: { accessModes: ['ReadOnlyMany'] } }),
  ]),
  refused('claims', claims, [
    claim({ accessModes: ['Bad'] }),
    claim({ resources: { requests: { storage: '-1Gi' } } }),
    claim({ storageClassName: 'A_' }),
    claim({ volumeMode: 'Bad' }),
    claim({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'], resources: { requests: { storage: '0' } } }),
  ]),
  refused('sources of variables', pods, [
    variable({ value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
    variable({ valueFrom: {} }),
    variable({ name: 'A=', value: 'x' }),
    variable({
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, configMapKeyRef: { name: 'a', key: 'b' } },
    }),
  ]),
  refused('references of variables', pods, [
    variable({ valueFrom: { fieldRef: { fieldPath: 'spec.bad' } } }),
    variable({ valueFrom: { configMapKeyRef: { name: '', key: '' } } }),
    variable({ valueFrom: { secretKeyRef: { name: 'a', key: 'a b' } } }),
    variable({ valueFrom: { resourceFieldRef: { resource: 'bad' } } }),
  ]),
  refused('names of ports', pods, [
    one({ ports: [{ containerPort: 80, name: 'A_' }] }),
    one({
      ports: [
        { containerPort: 80, name: 'x' },
        { containerPort: 81, name: 'x' },
      ],
    }),
  ]),
  refused('probes', pods, [
    probe({ httpGet: { path: '/', port: 0 } }),
    probe({ ...command, httpGet: { port: 1 } }),
    probe({ ...command, periodSeconds: -1, successThreshold: 2 }),
    probe({ exec: {} }),
    one({ lifecycle: { postStart: {} } }),
  ]),
  refused('volumes of pods', pods, [
    one({}, { volumes: [{ name: 'v', emptyDir: {}, configMap: { name: 'x' } }] }),
    one({}, { volumes: [{ name: 'v', configMap: {} }] }),
    one({}, { volumes: [{ name: 'v', hostPath: { path: '' } }] }),
    one({
      volumeMounts: [
        { name: 'v', mountPath: '/a' },
        { name: 'v', mountPath: '/a' },
      ],
    }),
  ]),
  refused('pods of many kinds', pods, [
    one({ image: ' a' }),
    one({ securityContext: { runAsUser: -1 } }),
    one({}, { securityContext: { fsGroup: -1 } }),
    one({}, { hostAliases: [{ ip: 'x' }] }),
    one({}, { dnsPolicy: 'None' }),
    one({}, { tolerations: [{ key: 'a', operator: 'Bad' }] }),
  ]),
];
