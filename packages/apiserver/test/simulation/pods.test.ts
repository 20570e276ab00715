import { ApiNotFoundError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { localCluster } from '../../src/index.js';
import { condition, pod, stage } from './stage.js';

const PREFIX = 'simulation.kopf-ts.dev';
const POD = 'pods/default/one';

describe('the node', () => {
  it('is there, is ready, takes pods, and comes back', async () => {
    await using here = await stage();
    const [node] = here.list('nodes');
    expect(condition(node, 'Ready').status).toBe('True');
    expect(node.spec.taints).toBeUndefined();
    await here.cluster.delete('nodes/local');
    await here.cluster.settled();
    expect(condition(here.get('nodes/local'), 'Ready').status).toBe('True');
  });

  it('takes no pods while it is cordoned', async () => {
    await using here = await stage();
    await here.cluster.patch('nodes/local', { spec: { unschedulable: true } });
    await here.create(pod('one'));
    expect(condition(here.get(POD), 'PodScheduled')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: 1 node(s) were unschedulable.',
    });
    await here.cluster.patch('nodes/local', { spec: { unschedulable: null } });
    await here.pass(1);
    expect(here.get(POD).status.phase).toBe('Running');
  });

  it('does not exist unless it is asked for', async () => {
    await using cluster = await localCluster({ listen: false });
    expect(cluster.list('nodes')).toEqual([]);
    expect(() => cluster.simulation).toThrow("start it with { controllers: 'simulated' }");
  });
});

describe('a pod', () => {
  it('is scheduled, started and ready in its time', async () => {
    await using here = await stage({ pods: { scheduleAfter: 1, startAfter: 2, readyAfter: 3 } });
    await here.create(pod('one'));
    expect(here.get(POD).spec.nodeName).toBeUndefined();
    await here.pass(1);
    expect(here.get(POD).spec.nodeName).toBe('local');
    expect(here.get(POD).status).toMatchObject({
      phase: 'Pending',
      containerStatuses: [{ name: 'main', ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
    });
    await here.pass(2);
    expect(here.get(POD).status).toMatchObject({ phase: 'Running', podIP: '10.244.0.1', hostIP: '10.0.0.1' });
    expect(condition(here.get(POD), 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
    });
    await here.pass(2.9);
    expect(condition(here.get(POD), 'Ready').status).toBe('False');
    await here.pass(0.1);
    expect(condition(here.get(POD), 'Ready')).toMatchObject({
      status: 'True',
      lastTransitionTime: '2020-01-01T00:00:06Z',
    });
    expect(here.clock.sleepers).toBe(0);
  });

  it('waits for its readiness probes, its readiness gates, and its claims', async () => {
    await using here = await stage();
    const probed = { name: 'main', image: 'x', readinessProbe: { exec: { command: ['x'] }, initialDelaySeconds: 5 } };
    await here.create(pod('one', { containers: [probed], readinessGates: [{ conditionType: 'example.com/gate' }] }));
    await here.pass(5.9);
    expect(condition(here.get(POD), 'ContainersReady').status).toBe('False');
    await here.pass(0.1);
    expect(condition(here.get(POD), 'ContainersReady').status).toBe('True');
    expect(condition(here.get(POD), 'Ready')).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' });
    const conditions = [...here.get(POD).status.conditions, { type: 'example.com/gate', status: 'True' }];
    await here.cluster.patch(POD, { status: { conditions } }, { subresource: 'status' });
    await here.pass(0);
    expect(condition(here.get(POD), 'Ready').status).toBe('True');
    await here.create(pod('two', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'absent' } }] }));
    expect(condition(here.get('pods/default/two'), 'PodScheduled').message).toBe(
      'persistentvolumeclaim "absent" not found',
    );
  });

  it.each([
    ['Never', '0', 'Succeeded', 'Completed'],
    ['Never', '3', 'Failed', 'Error'],
    ['OnFailure', '0', 'Succeeded', 'Completed'],
  ])('with the restart policy %s that exits with %s has %s', async (restartPolicy, code, phase, reason) => {
    await using here = await stage();
    const annotations = { [`${PREFIX}/finish-after`]: '5', [`${PREFIX}/exit-code`]: code };
    await here.create(pod('one', { restartPolicy }, annotations));
    await here.pass(5.9);
    expect(here.get(POD).status.phase).toBe('Running');
    await here.pass(0.1);
    expect(here.get(POD).status.phase).toBe(phase);
    expect(here.get(POD).status.containerStatuses[0].state.terminated).toMatchObject({
      exitCode: Number(code),
      reason,
    });
    expect(condition(here.get(POD), 'Ready').status).toBe('False');
    expect(here.clock.sleepers).toBe(0);
  });

  it('that fails is restarted later and later', async () => {
    await using here = await stage();
    await here.create(pod('one', {}, { [`${PREFIX}/exit-code`]: '1', [`${PREFIX}/finish-after`]: '1' }));
    const first = () => here.get(POD).status.containerStatuses[0];
    await here.pass(2);
    // The first time, at once.
    expect(first()).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
    await here.pass(1);
    expect(first()).toMatchObject({
      restartCount: 1,
      ready: false,
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: `back-off 10s restarting failed container=main pod=one_default(${here.get(POD).metadata.uid})`,
        },
      },
    });
    expect(here.get(POD).status.phase).toBe('Running');
    await here.pass(10);
    expect(first()).toMatchObject({ restartCount: 2, state: { running: {} } });
    await here.pass(1);
    expect(first().state.waiting.message).toMatch('back-off 20s');
  });

  it('hangs where it is told to, and goes on when it is told so', async () => {
    await using here = await stage();
    await here.create(pod('one', {}, { [`${PREFIX}/hang`]: 'start' }));
    await here.pass(3600);
    expect(here.get(POD).status.phase).toBe('Pending');
    await here.cluster.patch(POD, { metadata: { annotations: { [`${PREFIX}/hang`]: null } } });
    await here.pass(0);
    expect(here.get(POD).status.phase).toBe('Running');
    await here.cluster.patch(POD, { metadata: { annotations: { [`${PREFIX}/ready`]: 'false' } } });
    await here.pass(0);
    expect(condition(here.get(POD), 'Ready').status).toBe('False');
    await here.create(pod('two', {}, { [`${PREFIX}/hang`]: 'schedule' }));
    await here.pass(3600);
    expect(condition(here.get('pods/default/two'), 'PodScheduled').status).toBe('False');
  });

  it('does what tests tell it to', async () => {
    await using here = await stage();
    await here.create(pod('one'));
    await here.create(pod('two'));
    const rule = here.cluster.simulation.behave({ name: 'tw*' }, { ready: false });
    await here.pass(1);
    expect(['one', 'two'].map((name) => condition(here.get(`pods/default/${name}`), 'Ready').status)).toEqual([
      'True',
      'False',
    ]);
    rule.remove();
    here.cluster.simulation.exit('default/one', 7);
    await here.pass(0);
    expect(condition(here.get('pods/default/two'), 'Ready').status).toBe('True');
    expect(here.get(POD).status.containerStatuses[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 7, reason: 'Error' } },
    });
    expect(() => here.cluster.simulation.exit('default/none')).toThrow('There is no pod "default/none".');
  });
});

describe('a deleted pod', () => {
  it('stops first, and then goes', async () => {
    await using here = await stage({ pods: { stopAfter: 4 } });
    await here.create(pod('one'));
    await here.pass(1);
    await here.cluster.delete(POD);
    await here.pass(3.9);
    expect(here.get(POD).metadata.deletionGracePeriodSeconds).toBe(30);
    expect(condition(here.get(POD), 'Ready').status).toBe('True');
    await here.pass(0.1);
    expect(here.get(POD)).toBeUndefined();
  });

  it('is killed when its grace period is over', async () => {
    await using here = await stage();
    const annotations = { [`${PREFIX}/hang`]: 'stop' };
    const object = pod('one', { terminationGracePeriodSeconds: 10 }, annotations);
    await here.create({ ...object, metadata: { ...object.metadata, finalizers: ['example.com/mine'] } });
    await here.pass(1);
    await here.cluster.delete(POD);
    await here.pass(9.9);
    expect(here.get(POD).status.phase).toBe('Running');
    await here.pass(0.1);
    expect(here.get(POD).status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'Error' } } }],
    });
    await here.cluster.patch(POD, { metadata: { finalizers: null } });
    expect(here.get(POD)).toBeUndefined();
  });

  it('that has never started goes at once, and so does one without grace', async () => {
    await using here = await stage({ pods: { startAfter: 100 } });
    await here.create(pod('one'));
    await here.cluster.delete(POD);
    await here.pass(0);
    expect(here.get(POD)).toBeUndefined();
    await here.create(pod('one'));
    await here.pass(100);
    const path = '/api/v1/namespaces/default/pods/one';
    await here.cluster.client.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
    expect(here.get(POD)).toBeUndefined();
    await expect(here.cluster.client.request({ method: 'GET', path })).rejects.toThrow(ApiNotFoundError);
  });
});
