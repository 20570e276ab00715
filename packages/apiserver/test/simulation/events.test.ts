import type { AnyObject } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { deployment, pod, type Stage, stage, template } from './stage.js';

/** What `kubectl describe` shows of an object: who has said what, and how often. */
const eventsOf = (here: Stage, kind: string, name?: string): readonly string[] =>
  here
    .list('events')
    .filter(
      ({ involvedObject }) => involvedObject.kind === kind && (name ?? involvedObject.name) === involvedObject.name,
    )
    .sort((a, b) => (nanos(a) < nanos(b) ? -1 : 1))
    .map(
      ({ type, reason, message, count, reportingComponent }) =>
        `${type} ${reason}${(count ?? 1) > 1 ? ` x${count}` : ''} (${reportingComponent}): ${message}`,
    );
const nanos = ({ metadata }: AnyObject): bigint => BigInt(`0x${metadata?.name?.split('.').at(-1)}`);

const job = (name: string, spec: object, annotations: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'default' },
  spec: { template: template(name, { restartPolicy: 'Never' }, annotations), ...spec },
});

describe('events of simulated workloads', () => {
  it('tell how deployments and their replica sets are scaled', async () => {
    await using here = await stage();
    await here.create(deployment('web', { replicas: 2 }));
    await here.pass(2);
    await here.cluster.patch('deployments/default/web', { spec: { replicas: 1 } });
    await here.pass(2);
    const [set] = here.list('replicasets');
    const { name } = set.metadata;
    expect(eventsOf(here, 'Deployment')).toEqual([
      `Normal ScalingReplicaSet (deployment-controller): Scaled up replica set ${name} from 0 to 2`,
      `Normal ScalingReplicaSet (deployment-controller): Scaled down replica set ${name} from 2 to 1`,
    ]);
    const told = eventsOf(here, 'ReplicaSet', name);
    expect(told).toHaveLength(3);
    expect(told[0]).toMatch(/^Normal SuccessfulCreate \(replicaset-controller\): Created pod: web-\w+-\w{5}$/);
    expect(told[2]).toMatch(/^Normal SuccessfulDelete \(replicaset-controller\): Deleted pod: web-\w+-\w{5}$/);
    const [event] = here.list('events').filter(({ involvedObject }) => involvedObject.kind === 'Deployment');
    expect(event).toMatchObject({
      involvedObject: { apiVersion: 'apps/v1', name: 'web', namespace: 'default', uid: expect.any(String) },
      source: { component: 'deployment-controller' },
      count: 1,
    });
  });

  it('tell why pods are refused, and count how often', async () => {
    await using here = await stage();
    await here.cluster.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none', namespace: 'default' },
      spec: { hard: { pods: '0' } },
    });
    await here.create(deployment('web', { replicas: 1 }));
    await here.pass(3);
    const [told = ''] = eventsOf(here, 'ReplicaSet').filter((text) => text.includes('x'));
    expect(told).toMatch(/^Warning FailedCreate/);
    const failures = here.list('events').filter(({ reason }) => reason === 'FailedCreate');
    expect(failures.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(1);
    for (const { message } of failures) expect(message).toMatch(/^Error creating: pods "web-.*exceeded quota: none/);
  });

  it('tell what pods go through', async () => {
    await using here = await stage({ pods: { startAfter: 1, stopAfter: 1 } });
    await here.create(pod('one'));
    await here.pass(1);
    await here.cluster.delete('pods/default/one');
    await here.pass(1);
    expect(eventsOf(here, 'Pod', 'one')).toEqual([
      'Normal Scheduled (default-scheduler): Successfully assigned default/one to local',
      'Normal Pulling (kubelet): Pulling image "example.com/image:1"',
      'Normal Pulled (kubelet): Successfully pulled image "example.com/image:1"',
      'Normal Created (kubelet): Container created',
      'Normal Started (kubelet): Container started',
      'Normal Killing (kubelet): Stopping container main',
    ]);
    const [scheduled, started] = ['Scheduled', 'Started'].map((wanted) =>
      here.list('events').find(({ reason }) => reason === wanted),
    );
    expect(scheduled).toMatchObject({ action: 'Binding', eventTime: expect.stringMatching(/\.\d{6}Z$/) });
    expect(scheduled.firstTimestamp).toBeNull();
    expect(started).toMatchObject({
      involvedObject: { fieldPath: 'spec.containers{main}' },
      source: { component: 'kubelet', host: 'local' },
      reportingInstance: 'local',
    });
  });

  it('tell of crashes, and of pods that find no place', async () => {
    await using here = await stage();
    await here.create(pod('crashing', {}, { 'simulation.kopf-ts.dev/exit-code': '1' }));
    await here.pass(1);
    await here.pass(1);
    await here.pass(1);
    await here.pass(10);
    const crashing = eventsOf(here, 'Pod', 'crashing');
    expect(crashing.filter((text) => text.startsWith('Warning BackOff'))).toHaveLength(1);
    expect(crashing.at(-1)).toMatch(/Back-off restarting failed container main in pod crashing_default\([\w-]+\)$/);
    expect(crashing).toContainEqual(expect.stringMatching(/^Normal Started x\d/));
    await here.create(pod('lost', { nodeSelector: { disk: 'fast' } }));
    expect(eventsOf(here, 'Pod', 'lost')).toEqual([
      expect.stringMatching(/^Warning FailedScheduling \(default-scheduler\): 0\/1 nodes are available: /),
    ]);
  });

  it('tell how jobs end', async () => {
    await using here = await stage();
    await here.create(job('good', { suspend: true }));
    await here.cluster.patch('jobs/default/good', { spec: { suspend: false } });
    await here.pass(3);
    await here.create(job('bad', { backoffLimit: 0 }, { 'simulation.kopf-ts.dev/exit-code': '1' }));
    await here.pass(3);
    expect(eventsOf(here, 'Job', 'good')).toEqual([
      'Normal Suspended (job-controller): Job suspended',
      'Normal Resumed (job-controller): Job resumed',
      expect.stringMatching(/^Normal SuccessfulCreate \(job-controller\): Created pod: good-/),
      'Normal Completed (job-controller): Job completed',
    ]);
    expect(eventsOf(here, 'Job', 'bad').at(-1)).toBe(
      'Warning BackoffLimitExceeded (job-controller): Job has reached the specified backoff limit',
    );
  });

  it('are combined when there are too many, and are limited', async () => {
    await using here = await stage();
    await here.create(deployment('web', { replicas: 60 }));
    await here.pass(2);
    const told = eventsOf(here, 'ReplicaSet');
    expect(told).toHaveLength(10);
    expect(told.at(-1)).toMatch(/^Normal SuccessfulCreate x16 .*\(combined from similar events\): Created pod: web-/);
  });

  it('harm nobody where they cannot be written', async () => {
    await using here = await stage();
    await here.cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'short' } });
    await here.create({ ...deployment('web'), metadata: { name: 'web', namespace: 'short' } });
    await here.pass(2);
    await here.cluster.delete('namespaces/short');
    await here.pass(5);
    expect(here.list('pods')).toEqual([]);
    expect(here.list('namespaces').map(({ metadata }) => metadata.name)).not.toContain('short');
  });

  it('go after an hour, as soon as there are others', async () => {
    await using here = await stage();
    await here.create(pod('one'));
    await here.pass(2);
    expect(eventsOf(here, 'Pod', 'one')).not.toEqual([]);
    await here.pass(3600);
    await here.create(pod('two'));
    await here.pass(2);
    expect(eventsOf(here, 'Pod', 'one')).toEqual([]);
    expect(eventsOf(here, 'Pod', 'two')).not.toEqual([]);
  });
});
