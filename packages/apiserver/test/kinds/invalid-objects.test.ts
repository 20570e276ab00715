/** A few of many: the differential suite compares the rest with the real server. */
import { manualClock } from '@kopf-ts/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';
import { scheduleProblem } from '../../src/validation/cron-schedules.js';

let cluster: LocalCluster;
beforeAll(async () => {
  cluster = await localCluster({ listen: false, clock: manualClock(), controllers: false });
});
afterAll(() => cluster.stop());

it.each([
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['9-5 * * * *', 'beginning of range (9) beyond end of range (5): 9-5'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['*/5 0-6,12 1 jan-mar MON-FRI', undefined],
  ['@every 1h30m', undefined],
])('the schedule %s', (schedule, problem) => {
  expect(scheduleProblem(schedule)).toBe(problem);
});

const container = { name: 'main', image: 'app' };
it.each([
  [
    'env with two sources',
    { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
  ],
  ['two handlers of a probe', { livenessProbe: { exec: { command: ['true'] }, tcpSocket: { port: 80 } } }],
  ['a port named in capitals', { ports: [{ containerPort: 80, name: 'HTTP' }] }],
  ['a port of the host twice', { ports: [80, 81].map((containerPort) => ({ containerPort, hostPort: 80 })) }],
  [
    'all privileges that must not become more',
    { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
  ],
  ['less than no memory', { resources: { requests: { memory: '-1Gi' } } }],
  ['half a device', { resources: { limits: { 'example.com/device': '500m' } } }],
  ['a device without a limit', { resources: { requests: { 'example.com/device': '1' } } }],
  ['a profile of nowhere', { securityContext: { seccompProfile: { type: 'Localhost' } } }],
])('a pod with %s is refused', async (_name, rest) => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [{ ...container, ...rest }] },
  };
  await expect(cluster.create(pod)).rejects.toMatchObject({ status: 422 });
});

it('a stateful set may mount what it claims, and nothing else that is not there', async () => {
  const set = (name: string, mounted: string) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ ...container, volumeMounts: [{ name: mounted, mountPath: '/data' }] }] },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  });
  await expect(cluster.create(set('fine', 'data'))).resolves.toBeDefined();
  await expect(cluster.create(set('wrong', 'other'))).rejects.toThrow('volumeMounts[0].name: Not found: "other"');
});

it.each([
  ['taints twice', { taints: [1, 2].map((value) => ({ key: 'a', value: String(value), effect: 'NoSchedule' })) }],
  ['a taint without an effect', { taints: [{ key: 'a' }] }],
  ['a network that is none', { podCIDR: '10.0.0.0/33' }],
  ['two networks of one family', { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] }],
])('a node with %s is refused', async (_name, spec) => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec };
  await expect(cluster.create(node)).rejects.toMatchObject({ status: 422 });
});

it('a pod gets more, but not another class of service', async () => {
  const resize = (requests: object, limits: object) =>
    cluster.client.request({
      method: 'PATCH',
      path: '/api/v1/namespaces/default/pods/sized/resize',
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { containers: [{ name: 'main', resources: { requests, limits } }] } },
    });
  const resources = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'sized' },
    spec: { containers: [{ ...container, resources }] },
  });
  await expect(resize({ cpu: '500m' }, {})).rejects.toThrow('Pod QOS Class may not change as a result of resizing');
  await resize({ cpu: '2' }, { cpu: '2' });
  expect(cluster.get('pods/default/sized')).toMatchObject({
    spec: { containers: [{ resources: { requests: { cpu: '2', memory: '1Gi' } } }] },
  });
});

it('a job without a name is told that it has none', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [container] } };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: {}, spec: { template } };
  const path = '/apis/batch/v1/namespaces/default/jobs';
  await expect(cluster.client.request({ method: 'POST', path, body: job })).rejects.toThrow(
    'Job.batch "" is invalid: metadata.name: Required value: name or generateName is required',
  );
});
