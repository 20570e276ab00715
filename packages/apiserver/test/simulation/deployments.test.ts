import type { Mapping } from '@kopf-ts/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { condition, deployment, type Stage, stage, template } from './stage.js';

const WEB = 'deployments/default/web';
const REVISION = 'deployment.kubernetes.io/revision';
const isReady = (pod: object): boolean => condition(pod, 'Ready')?.status === 'True';

const sets = (here: Stage) =>
  Object.fromEntries(
    here.list('replicasets').map(({ metadata, spec }) => [metadata.annotations[REVISION], spec.replicas as number]),
  );
const setImage = (here: Stage, image: string) =>
  here.cluster.patch(WEB, { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } });

describe('a deployment', () => {
  it('becomes available with its pods, and says so', async () => {
    await using here = await stage();
    await here.create(deployment('web'));
    expect(here.get(WEB).metadata.annotations).toEqual({ [REVISION]: '1' });
    expect(here.get(WEB).status).toMatchObject({ replicas: 3, updatedReplicas: 3, unavailableReplicas: 3 });
    expect(condition(here.get(WEB), 'Available')).toMatchObject({ status: 'False' });
    await here.pass(1);
    expect(here.list('pods').filter(isReady)).toHaveLength(3);
    expect(here.get(WEB).status).toMatchObject({ observedGeneration: 1, readyReplicas: 3, availableReplicas: 3 });
    expect(here.get(WEB).status.unavailableReplicas).toBeUndefined();
    expect(condition(here.get(WEB), 'Available').reason).toBe('MinimumReplicasAvailable');
    expect(condition(here.get(WEB), 'Progressing').reason).toBe('NewReplicaSetAvailable');
  });

  it('waits until pods have been ready for long enough', async () => {
    await using here = await stage();
    await here.create(deployment('web', { minReadySeconds: 10 }));
    await here.pass(10.9);
    expect(here.get(WEB).status).toMatchObject({ readyReplicas: 3, unavailableReplicas: 3 });
    await here.pass(0.1);
    expect(here.get(WEB).status.availableReplicas).toBe(3);
  });

  it('keeps its pods at the wanted number, and takes in who looks like them', async () => {
    await using here = await stage();
    await here.create(deployment('web'));
    await here.pass(1);
    const [first, second] = here.list('pods');
    await here.cluster.delete(`pods/default/${first.metadata.name}`);
    await here.cluster.patch(`pods/default/${second.metadata.name}`, { metadata: { labels: { app: 'other' } } });
    await here.pass(2);
    expect(here.list('pods').filter(({ metadata }) => metadata.labels.app === 'web')).toHaveLength(3);
    expect(here.get(`pods/default/${second.metadata.name}`).metadata.ownerReferences).toBeUndefined();
    // It comes back, and one is too many.
    await here.cluster.patch(`pods/default/${second.metadata.name}`, { metadata: { labels: { app: 'web' } } });
    await here.pass(2);
    expect(here.list('pods')).toHaveLength(3);
  });

  it('is scaled, also to nothing', async () => {
    await using here = await stage();
    await here.create(deployment('web'));
    for (const replicas of [5, 1, 0, 2]) {
      await here.cluster.patch(WEB, { spec: { replicas } }, { subresource: 'scale' });
      await here.pass(3);
      expect(here.list('pods').filter(isReady)).toHaveLength(replicas);
      expect(here.get(WEB).status.replicas ?? 0).toBe(replicas);
      expect(condition(here.get(WEB), 'Progressing').reason).toBe('NewReplicaSetAvailable');
    }
    expect(sets(here)).toEqual({ 1: 2 });
  });

  it('rolls out, back and forth, and remembers so many revisions', async () => {
    await using here = await stage();
    await here.create(deployment('web', { revisionHistoryLimit: 2 }));
    for (const image of ['two', 'three', 'four', 'five']) {
      await here.pass(10);
      await setImage(here, image);
    }
    await here.pass(10);
    expect(sets(here)).toEqual({ 3: 0, 4: 0, 5: 3 });
    await setImage(here, 'three');
    await here.pass(10);
    expect(sets(here)).toEqual({ 4: 0, 5: 0, 6: 3 });
    const [current] = here.list('replicasets').filter(({ spec }) => spec.replicas > 0);
    expect(current.metadata.annotations['deployment.kubernetes.io/revision-history']).toBe('3');
    expect(here.get(WEB).metadata.annotations[REVISION]).toBe('6');
    expect(here.list('pods').map(({ spec }) => spec.containers[0].image)).toEqual(['three', 'three', 'three']);
  });

  it('with the strategy Recreate has no old pods beside new ones', async () => {
    await using here = await stage({ pods: { stopAfter: 5 } });
    await here.create(deployment('web', { strategy: { type: 'Recreate' } }));
    await here.pass(1);
    await setImage(here, 'two');
    await here.pass(4.9);
    expect(here.list('pods').map(({ spec }) => spec.containers[0].image)).not.toContain('two');
    expect(here.get(WEB).status).toMatchObject({ terminatingReplicas: 3 });
    await here.pass(0.2);
    expect(here.list('pods').map(({ spec }) => spec.containers[0].image)).toEqual(['two', 'two', 'two']);
    await here.pass(1);
    expect(condition(here.get(WEB), 'Progressing').reason).toBe('NewReplicaSetAvailable');
  });

  it('does nothing new while it is paused', async () => {
    await using here = await stage();
    await here.create(deployment('web'));
    await here.pass(1);
    await here.cluster.patch(WEB, { spec: { paused: true } });
    await setImage(here, 'two');
    await here.cluster.patch(WEB, { spec: { replicas: 4 } });
    await here.pass(10);
    expect(sets(here)).toEqual({ 1: 4 });
    expect(condition(here.get(WEB), 'Progressing')).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' });
    await here.cluster.patch(WEB, { spec: { paused: null } });
    await here.pass(10);
    expect(sets(here)).toEqual({ 1: 0, 2: 4 });
    expect(condition(here.get(WEB), 'Progressing').reason).toBe('NewReplicaSetAvailable');
  });

  it('gives up hope when nothing happens for too long, and finds it again', async () => {
    await using here = await stage();
    await here.create(deployment('web', { progressDeadlineSeconds: 60 }));
    await here.pass(1);
    const trouble = here.cluster.simulation.behave({ name: 'web-*' }, { hang: 'start' });
    await setImage(here, 'two');
    await here.pass(59);
    expect(condition(here.get(WEB), 'Progressing').reason).toBe('ReplicaSetUpdated');
    await here.pass(5);
    expect(condition(here.get(WEB), 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: expect.stringMatching(/^ReplicaSet "web-\w+" has timed out progressing\.$/),
    });
    expect(here.list('pods').filter(isReady)).toHaveLength(3);
    trouble.remove();
    await here.pass(10);
    expect(condition(here.get(WEB), 'Progressing').reason).toBe('NewReplicaSetAvailable');
  });

  it.each([
    [
      'pods',
      '',
      { Available: 'MinimumReplicasUnavailable', Progressing: 'NewReplicaSetCreated', ReplicaFailure: 'FailedCreate' },
    ],
    ['replicasets', 'apps', { Progressing: 'ReplicaSetCreateError' }],
  ])('tells that nobody lets it create %s, and goes on when somebody does', async (resource, group, reasons) => {
    await using here = await stage();
    const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] };
    await here.create({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'no' },
      webhooks: [
        {
          name: 'no.example.com',
          // Nobody is there.
          clientConfig: { url: 'https://127.0.0.1:1/' },
          rules: [rule],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
        },
      ],
    });
    await here.create(deployment('web'));
    await here.pass(0);
    const told = here
      .get(WEB)
      .status.conditions.map(({ type, reason }: { type: string; reason: string }) => [type, reason]);
    expect(Object.fromEntries(told)).toEqual(reasons);
    expect(here.list('pods')).toEqual([]);
    await here.cluster.delete('validatingwebhookconfigurations/no');
    await here.pass(30);
    await here.pass(30);
    expect(here.get(WEB).status.availableReplicas).toBe(3);
    expect(condition(here.get(WEB), 'ReplicaFailure')).toBeUndefined();
    expect(condition(here.get(WEB), 'Progressing').reason).toBe('NewReplicaSetAvailable');
  });

  it('goes with its namespace, and is not tried again there', async () => {
    await using here = await stage();
    await here.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } });
    const { metadata, ...others } = deployment('web');
    await here.create({ metadata: { ...metadata, namespace: 'going' }, ...others });
    await here.pass(1);
    expect(here.list('pods/going')).toHaveLength(3);
    await here.cluster.delete('namespaces/going');
    await here.pass(60);
    expect(here.get('namespaces/going')).toBeUndefined();
    expect(here.clock.sleepers).toBe(0);
  });

  it('goes with all that it has', async () => {
    await using here = await stage();
    await here.create(deployment('web'));
    await here.pass(1);
    await here.cluster.delete(WEB, { propagationPolicy: 'Foreground' });
    await here.pass(0.5);
    expect(here.get(WEB)).toBeDefined();
    await here.pass(1);
    expect([here.get(WEB), here.list('replicasets'), here.list('pods')]).toEqual([undefined, [], []]);
  });
});

describe('whatever happens', () => {
  const limits = fc.record({
    replicas: fc.integer({ min: 1, max: 6 }),
    maxSurge: fc.integer({ min: 0, max: 3 }),
    maxUnavailable: fc.integer({ min: 0, max: 3 }),
  });

  it('a rolling update has neither too many pods nor too few', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(fc.boolean(), { maxLength: 6 }), async (given, troubles) => {
        const { replicas, maxSurge, maxUnavailable: wanted } = given;
        const maxUnavailable = maxSurge === 0 && wanted === 0 ? 1 : wanted;
        await using here = await stage();
        const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
        await here.create(deployment('web', { replicas, strategy }));
        await here.pass(2);
        const isKept = (): void => {
          const pods = here.list('pods').filter(({ metadata }) => metadata.deletionTimestamp === undefined);
          expect(pods.length).toBeLessThanOrEqual(replicas + maxSurge);
          expect(pods.filter(isReady).length).toBeGreaterThanOrEqual(replicas - maxUnavailable);
        };
        isKept();
        await setImage(here, 'two');
        for (const isTrouble of [...troubles, false]) {
          // New pods hang for a while, or do not.
          const rule = here.cluster.simulation.behave({ name: 'web-*' }, isTrouble ? { hang: 'start' } : {});
          for (const _ of [1, 2]) {
            await here.pass(0.5);
            isKept();
          }
          rule.remove();
        }
        await here.pass(60);
        isKept();
        expect(here.list('pods').map(({ spec }) => spec.containers[0].image)).toEqual(Array(replicas).fill('two'));
      }),
      { numRuns: 3 },
    );
  });

  it('any edits at any time lead to what was wanted last', async () => {
    const edits: fc.Arbitrary<Mapping> = fc.oneof(
      fc.record({ replicas: fc.integer({ min: 0, max: 6 }) }),
      fc.record({ paused: fc.boolean() }),
      fc.constantFrom('two', 'three', 'four').map((image) => ({ template: template('web', containersOf(image)) })),
      fc
        .constantFrom({ type: 'Recreate', rollingUpdate: null }, { type: 'RollingUpdate' })
        .map((strategy) => ({ strategy })),
    );
    const script = fc.array(fc.tuple(edits, fc.constantFrom(0, 0.5, 1, 3)), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        await using here = await stage();
        await here.create(deployment('web'));
        for (const [spec, seconds] of steps) {
          await here.cluster.patch(WEB, { spec });
          if (seconds > 0) await here.pass(seconds);
        }
        await here.cluster.patch(WEB, { spec: { paused: null } });
        await here.pass(120);
        const { spec, status } = here.get(WEB);
        const image = spec.template.spec.containers[0].image;
        const pods = here.list('pods');
        expect(pods.map((pod) => pod.spec.containers[0].image)).toEqual(Array(spec.replicas).fill(image));
        expect(pods.every(isReady)).toBe(true);
        expect(status.availableReplicas ?? 0).toBe(spec.replicas);
        expect(condition(here.get(WEB), 'Progressing').reason).toBe('NewReplicaSetAvailable');
      }),
      { numRuns: 4 },
    );
  });
});

const containersOf = (image: string): Mapping => ({ containers: [{ name: 'main', image }] });
