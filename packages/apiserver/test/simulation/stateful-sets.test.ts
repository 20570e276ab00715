import type { AnyObject, Mapping } from '@kopf-ts/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { condition, pod, type Stage, stage, template } from './stage.js';

const SET = 'statefulsets/default/db';
const statefulSet = (spec: Mapping = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'default' },
  spec: { serviceName: 'db', replicas: 3, selector: { matchLabels: { app: 'db' } }, template: template('db'), ...spec },
});
const names = (here: Stage): readonly string[] => here.list('pods').map(({ metadata }) => metadata.name);
const images = (here: Stage): readonly string[] => here.list('pods').map(({ spec }) => spec.containers[0].image);
const setImage = (here: Stage, image: string) =>
  here.cluster.patch(SET, { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } });

describe('a stateful set', () => {
  it('has pods with names, one after another, each with its claim', async () => {
    await using here = await stage();
    const resources = { requests: { storage: '1Gi' } };
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources } };
    await here.create(statefulSet({ volumeClaimTemplates: [claim] }));
    expect(names(here)).toEqual(['db-0']);
    await here.pass(0.9);
    expect(names(here)).toEqual(['db-0']);
    await here.pass(0.1);
    expect(names(here)).toEqual(['db-0', 'db-1']);
    await here.pass(2);
    expect(here.get(SET).status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      collisionCount: 0,
    });
    const [first] = here.list('pods');
    expect(first.spec).toMatchObject({
      hostname: 'db-0',
      subdomain: 'db',
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }],
    });
    expect(first.metadata.labels).toEqual({
      app: 'db',
      'apps.kubernetes.io/pod-index': '0',
      'statefulset.kubernetes.io/pod-name': 'db-0',
      'controller-revision-hash': here.get(SET).status.currentRevision,
    });
    expect(here.list('pvc').map(({ metadata, status }) => [metadata.name, status.phase])).toEqual([
      ['data-db-0', 'Bound'],
      ['data-db-1', 'Bound'],
      ['data-db-2', 'Bound'],
    ]);
    // Down in reverse order, one by one; claims stay.
    await here.cluster.patch(SET, { spec: { replicas: 1 } });
    await here.pass(0.5);
    expect(here.list('pods').filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toHaveLength(1);
    await here.pass(0.6);
    expect(names(here)).toEqual(['db-0', 'db-1']);
    await here.pass(2);
    expect(names(here)).toEqual(['db-0']);
    expect(here.list('pvc')).toHaveLength(3);
  });

  it('has them all at once in parallel, also from another number on', async () => {
    await using here = await stage();
    await here.create(statefulSet({ podManagementPolicy: 'Parallel', ordinals: { start: 5 } }));
    expect(names(here)).toEqual(['db-5', 'db-6', 'db-7']);
    await here.pass(1);
    expect(here.get(SET).status.readyReplicas).toBe(3);
    await here.cluster.delete('pods/default/db-6');
    await here.pass(2);
    expect(names(here)).toEqual(['db-5', 'db-6', 'db-7']);
  });

  it('is updated from the last to the first, down to the partition', async () => {
    await using here = await stage();
    await here.create(statefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } }));
    await here.pass(3);
    const old = here.get(SET).status.currentRevision;
    await setImage(here, 'two');
    await here.pass(1.1);
    expect(images(here)).toEqual(['example.com/image:1', 'example.com/image:1', 'two']);
    expect(here.get(SET).status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1, currentRevision: old });
    await here.pass(10);
    expect(images(here)).toEqual(['example.com/image:1', 'two', 'two']);
    // What is below the partition comes back as it was.
    await here.cluster.delete('pods/default/db-0');
    await here.pass(3);
    expect(images(here)).toEqual(['example.com/image:1', 'two', 'two']);
    await here.cluster.patch(SET, { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
    await here.pass(3);
    expect(images(here)).toEqual(['two', 'two', 'two']);
    const { currentRevision, updateRevision, currentReplicas } = here.get(SET).status;
    expect([currentRevision, currentReplicas]).toEqual([updateRevision, 3]);
    expect(currentRevision).not.toBe(old);
  });

  it('waits for pods that are not well, and goes on with them', async () => {
    await using here = await stage();
    const rule = here.cluster.simulation.behave({ name: 'db-1' }, { ready: false });
    await here.create(statefulSet());
    await here.pass(60);
    expect(names(here)).toEqual(['db-0', 'db-1']);
    rule.remove();
    await here.pass(1);
    expect(names(here)).toEqual(['db-0', 'db-1', 'db-2']);
  });

  it('waits for names that others have', async () => {
    await using here = await stage();
    await here.create(pod('db-0'));
    await here.create(statefulSet());
    await here.pass(10);
    expect(names(here)).toEqual(['db-0']);
    await here.cluster.delete('pods/default/db-0');
    await here.pass(60);
    expect(names(here)).toEqual(['db-0', 'db-1', 'db-2']);
  });

  it('is not updated by itself if it is told so, and remembers its revisions', async () => {
    await using here = await stage();
    await here.create(statefulSet({ updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 1 }));
    await here.pass(3);
    await setImage(here, 'two');
    await here.pass(10);
    expect(images(here)).not.toContain('two');
    const path = '/api/v1/namespaces/default/pods/db-2';
    await here.cluster.client.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
    await here.pass(3);
    expect(images(here)).toContain('two');
    await here.cluster.patch(SET, { spec: { updateStrategy: { type: 'RollingUpdate' } } });
    for (const image of ['three', 'four', 'three']) {
      await setImage(here, image);
      await here.pass(20);
    }
    expect(images(here)).toEqual(['three', 'three', 'three']);
    const revisions = here.list('controllerrevisions').map(({ revision }) => revision);
    expect(revisions.sort()).toEqual([4, 5]);
  });
});

describe('whatever happens to a stateful set', () => {
  it('any edits at any time lead to what was wanted last, and no two pods share a name', async () => {
    const edits: fc.Arbitrary<Mapping> = fc.oneof(
      fc.record({ replicas: fc.integer({ min: 0, max: 4 }) }),
      fc
        .constantFrom('two', 'three')
        .map((image) => ({ template: template('db', { containers: [{ name: 'main', image }] }) })),
      fc.record({
        updateStrategy: fc.record({ rollingUpdate: fc.record({ partition: fc.integer({ min: 0, max: 3 }) }) }),
      }),
    );
    const script = fc.array(fc.tuple(edits, fc.constantFrom(0, 0.5, 1, 3)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(script, fc.constantFrom('OrderedReady', 'Parallel'), async (steps, podManagementPolicy) => {
        await using here = await stage();
        await here.create(statefulSet({ podManagementPolicy }));
        for (const [spec, seconds] of steps) {
          await here.cluster.patch(SET, { spec });
          if (seconds > 0) await here.pass(seconds);
        }
        await here.cluster.patch(SET, { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
        await here.pass(120);
        const { spec, status } = here.get(SET);
        const image = spec.template.spec.containers[0].image;
        expect(names(here)).toEqual(Array.from({ length: spec.replicas }, (_, ordinal) => `db-${ordinal}`));
        expect(images(here)).toEqual(Array(spec.replicas).fill(image));
        expect(status).toMatchObject({ replicas: spec.replicas, currentRevision: status.updateRevision });
        expect(status.readyReplicas ?? 0).toBe(spec.replicas);
      }),
      { numRuns: 4 },
    );
  });
});

describe('a daemon set', () => {
  const DAEMONS = 'daemonsets/default/agent';
  const daemonSet = (spec: Mapping = {}): AnyObject => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent'), ...spec },
  });

  it('has one pod on the node, even if that is cordoned', async () => {
    await using here = await stage();
    await here.cluster.patch('nodes/local', { spec: { unschedulable: true } });
    await here.create(daemonSet());
    await here.pass(1);
    const [only, ...others] = here.list('pods');
    expect(others).toEqual([]);
    expect(condition(only, 'Ready').status).toBe('True');
    expect(only.metadata.labels['pod-template-generation']).toBe('1');
    expect(here.get(DAEMONS).status).toEqual({
      currentNumberScheduled: 1,
      desiredNumberScheduled: 1,
      numberAvailable: 1,
      numberMisscheduled: 0,
      numberReady: 1,
      observedGeneration: 1,
      updatedNumberScheduled: 1,
    });
  });

  it.each([
    ['the old pod goes first', {}, [['old'], ['new']]],
    ['the new pod comes first', { maxSurge: 1, maxUnavailable: 0 }, [['old', 'new'], ['new']]],
  ])('is updated: %s', async (_how, rollingUpdate, [during, after]) => {
    await using here = await stage({ pods: { stopAfter: 0.5 } });
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    await here.create(daemonSet({ updateStrategy, template: template('agent', containers('old')) }));
    await here.pass(1);
    await here.cluster.patch(DAEMONS, { spec: { template: { spec: containers('new') } } });
    const current = () => here.list('pods').map(({ spec }) => spec.containers[0].image as string);
    await here.pass(0.4);
    expect(current().sort().reverse()).toEqual(during);
    await here.pass(3);
    expect(current()).toEqual(after);
    expect(here.get(DAEMONS).status).toMatchObject({ updatedNumberScheduled: 1, numberAvailable: 1 });
  });

  it('has no pods where it does not belong, and a new one for one that has ended', async () => {
    await using here = await stage();
    await here.create(daemonSet({ template: template('agent', { nodeSelector: { disk: 'ssd' } }) }));
    await here.pass(1);
    expect([here.list('pods'), here.get(DAEMONS).status.desiredNumberScheduled]).toEqual([[], 0]);
    await here.cluster.patch('nodes/local', { metadata: { labels: { disk: 'ssd' } } });
    await here.pass(1);
    expect(here.get(DAEMONS).status.numberReady).toBe(1);
    const [first] = here.list('pods');
    await here.cluster.delete(`pods/default/${first.metadata.name}`);
    await here.pass(3);
    expect(here.get(DAEMONS).status.numberReady).toBe(1);
    await here.cluster.patch('nodes/local', { metadata: { labels: { disk: null } } });
    await here.pass(3);
    expect(here.list('pods')).toEqual([]);
  });

  const containers = (image: string): Mapping => ({ containers: [{ name: 'main', image }] });
});
