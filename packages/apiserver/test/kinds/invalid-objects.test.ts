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
