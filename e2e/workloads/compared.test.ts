import { isDeepStrictEqual } from 'node:util';
import type { AnyObject, Mapping } from '@kopf-ts/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnRealCluster } from '../support/real-cluster.js';
import { becomesTrue } from '../support/waiting.js';
import {
  create,
  DEPLOYMENTS,
  embeddedStage,
  JOBS,
  patch,
  podsOf,
  realStage,
  report,
  seen,
  type WorkloadStage,
} from './stages.js';

const template = (app: string, image: string, restartPolicy: string): Mapping => ({
  metadata: { labels: { app } },
  spec: { restartPolicy, containers: [{ name: 'main', image }] },
});
const deployment = (name: string, spec: Mapping = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, annotations: { note: 'kept' } },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: name } },
    template: template(name, 'one', 'Always'),
    ...spec,
  },
});
const job = (name: string, spec: Mapping = {}): AnyObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: template(name, 'x', 'Never'), ...spec },
});

/** What kube-controller-manager writes, the simulated controllers write, too. */
describeOnRealCluster('simulated workloads beside the real controllers', () => {
  let stages: readonly [WorkloadStage, WorkloadStage];

  beforeAll(async () => {
    stages = await Promise.all([embeddedStage(), realStage()]);
  }, 180_000);
  afterAll(async () => {
    for (const stage of stages ?? []) await stage[Symbol.asyncDispose]();
  });

  const onBoth = async (act: (stage: WorkloadStage) => Promise<unknown>): Promise<void> => {
    await Promise.all(stages.map(act));
  };

  /** When both have come to rest, they are the same; and they do come to rest. */
  const same = async (path: string, isThere: (status: Mapping) => boolean): Promise<void> => {
    let [embedded, real]: unknown[] = [];
    const isSettled = async (): Promise<boolean> => {
      [embedded, real] = await Promise.all(stages.map((stage) => seen(stage, path)));
      const { status } = real as { status?: Mapping };
      return isThere(status ?? {}) && isDeepStrictEqual(embedded, real);
    };
    const isSame = await becomesTrue(isSettled, 30_000);
    if (!isSame) expect(embedded).toEqual(real);
    expect(isSame).toBe(true);
  };

  const conditionIs =
    (type: string, reason: string) =>
    ({ conditions }: Mapping): boolean =>
      ((conditions ?? []) as { type: string; reason: string }[]).some(
        (one) => one.type === type && one.reason === reason,
      );
  const isDone = conditionIs('Progressing', 'NewReplicaSetAvailable');

  /** All pods become ready as they come. */
  const allReady = async (app: string, path: string): Promise<void> => {
    await onBoth(async (stage) => {
      const isReady = async (): Promise<boolean> => {
        await report(stage, app, 'ready').catch(() => 0);
        const { status } = (await seen(stage, path)) as { status: Mapping };
        return isDone(status) && (await podsOf(stage, app)).every(({ status: { phase } }) => phase === 'Running');
      };
      expect(await becomesTrue(isReady, 30_000), `${stage.name} is ready`).toBe(true);
    });
    await same(path, isDone);
  };

  it('deployments begin, become available, and are scaled', async () => {
    const path = `${DEPLOYMENTS}/scaled`;
    await onBoth((stage) => create(stage, DEPLOYMENTS, deployment('scaled')));
    await same(path, ({ replicas }) => replicas === 4);
    await onBoth((stage) => report(stage, 'scaled', 'ready', 2));
    await same(path, ({ availableReplicas }) => availableReplicas === 2);
    await onBoth((stage) => report(stage, 'scaled', 'ready'));
    await same(path, isDone);
    await onBoth((stage) => patch(stage, path, { spec: { replicas: 6 } }));
    await same(path, ({ replicas, unavailableReplicas }) => replicas === 6 && unavailableReplicas === 2);
    await allReady('scaled', path);
    await onBoth((stage) => patch(stage, path, { spec: { replicas: 1 } }));
    await same(path, ({ replicas }) => replicas === 1);
    await onBoth((stage) => patch(stage, path, { spec: { replicas: 0 } }));
    await same(path, ({ replicas }) => replicas === undefined);
  });

  it('deployments roll out, stand still, are scaled in the midst of it, and roll back', async () => {
    const path = `${DEPLOYMENTS}/rolled`;
    const setImage = (image: string) =>
      onBoth((stage) => patch(stage, path, { spec: { template: template('rolled', image, 'Always') } }));
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } };
    await onBoth((stage) => create(stage, DEPLOYMENTS, deployment('rolled', { strategy })));
    await allReady('rolled', path);
    await setImage('two');
    await same(path, ({ updatedReplicas, replicas }) => updatedReplicas === 3 && replicas === 6);
    await onBoth((stage) => report(stage, 'rolled', 'ready', 1));
    await same(path, ({ updatedReplicas, readyReplicas }) => updatedReplicas === 4 && readyReplicas === 3);
    await onBoth((stage) => patch(stage, path, { spec: { replicas: 8 } }));
    await same(path, ({ replicas }) => replicas === 10);
    await allReady('rolled', path);
    await onBoth((stage) => patch(stage, path, { metadata: { annotations: { note: 'changed' } } }));
    await setImage('one');
    await allReady('rolled', path);
  });

  it('deployments are paused, resumed, and recreated', async () => {
    const path = `${DEPLOYMENTS}/paused`;
    await onBoth((stage) => create(stage, DEPLOYMENTS, deployment('paused', { replicas: 2, revisionHistoryLimit: 1 })));
    await allReady('paused', path);
    await onBoth((stage) => patch(stage, path, { spec: { paused: true, replicas: 3 } }));
    await same(
      path,
      ({ replicas, conditions }) => replicas === 3 && conditionIs('Progressing', 'DeploymentPaused')({ conditions }),
    );
    await onBoth((stage) => report(stage, 'paused', 'ready'));
    await same(path, ({ availableReplicas }) => availableReplicas === 3);
    const strategy = { type: 'Recreate', rollingUpdate: null };
    for (const [image, paused] of [
      ['two', null],
      ['three', null],
    ] as const) {
      const spec = { paused, strategy, template: template('paused', image, 'Always') };
      await onBoth((stage) => patch(stage, path, { spec }));
      await same(
        path,
        ({ updatedReplicas, unavailableReplicas }) => updatedReplicas === 3 && unavailableReplicas === 3,
      );
      await allReady('paused', path);
    }
  });

  it('deployments tell that they get nowhere', async () => {
    const path = `${DEPLOYMENTS}/stuck`;
    await onBoth((stage) =>
      create(stage, DEPLOYMENTS, deployment('stuck', { replicas: 1, progressDeadlineSeconds: 2 })),
    );
    await same(path, conditionIs('Progressing', 'ProgressDeadlineExceeded'));
    await allReady('stuck', path);
  });

  const pending = (app: string, count: number): Promise<void> =>
    onBoth(async (stage) => {
      const isThere = async (): Promise<boolean> =>
        (await podsOf(stage, app)).filter(({ status }) => status.phase === 'Pending').length === count;
      expect(await becomesTrue(isThere), `${stage.name} has ${count} new pods`).toBe(true);
    });

  it('jobs run, succeed, and are complete', async () => {
    const path = `${JOBS}/good`;
    await onBoth((stage) => create(stage, JOBS, job('good', { completions: 3, parallelism: 2 })));
    await same(path, ({ active }) => active === 2);
    await onBoth((stage) => report(stage, 'good', 'ready', 1));
    await same(path, ({ ready }) => ready === 1);
    await onBoth((stage) => report(stage, 'good', 'succeeded'));
    await same(path, ({ succeeded, active }) => succeeded === 2 && active === 1);
    await onBoth((stage) => report(stage, 'good', 'succeeded'));
    await same(path, conditionIs('Complete', 'CompletionsReached'));
  });

  it('jobs have indexes', async () => {
    const path = `${JOBS}/indexed`;
    const spec = { completions: 4, parallelism: 3, completionMode: 'Indexed' };
    await onBoth((stage) => create(stage, JOBS, job('indexed', spec)));
    await same(path, ({ active }) => active === 3);
    await onBoth((stage) => report(stage, 'indexed', 'succeeded', 2));
    await same(path, ({ completedIndexes, active }) => completedIndexes === '0,1' && active === 2);
    await onBoth((stage) => report(stage, 'indexed', 'succeeded'));
    await same(path, conditionIs('Complete', 'CompletionsReached'));
  });

  it.each([
    ['too often', 'failing', { backoffLimit: 1, parallelism: 2, completions: 2 }, 'BackoffLimitExceeded'],
    ['at last', 'late', { activeDeadlineSeconds: 2 }, 'DeadlineExceeded'],
  ])('jobs fail %s', async (_how, name, spec, reason) => {
    const path = `${JOBS}/${name}`;
    await onBoth((stage) => create(stage, JOBS, job(name, spec)));
    await pending(name, name === 'failing' ? 2 : 1);
    if (name === 'failing') {
      await onBoth((stage) => report(stage, name, 'failed', 1));
      await same(path, ({ failed }) => failed === 1);
      await onBoth((stage) => report(stage, name, 'failed'));
    }
    await same(path, conditionIs('Failed', reason));
  });

  it('jobs are suspended and resumed', async () => {
    const path = `${JOBS}/suspended`;
    await onBoth((stage) => create(stage, JOBS, job('suspended', { suspend: true })));
    await same(path, conditionIs('Suspended', 'JobSuspended'));
    for (const suspend of [false, true, false]) {
      await onBoth((stage) => patch(stage, path, { spec: { suspend } }));
      await same(path, conditionIs('Suspended', suspend ? 'JobSuspended' : 'JobResumed'));
      await pending('suspended', suspend ? 0 : 1);
    }
    await onBoth((stage) => report(stage, 'suspended', 'succeeded'));
    await same(path, conditionIs('Complete', 'CompletionsReached'));
  });
});
