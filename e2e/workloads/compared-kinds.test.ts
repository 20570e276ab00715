import { isDeepStrictEqual } from 'node:util';
import type { AnyObject, Mapping } from '@kopf-ts/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnRealCluster } from '../support/real-cluster.js';
import { becomesTrue } from '../support/waiting.js';
import {
  CRON_JOBS,
  create,
  DAEMON_SETS,
  DEPLOYMENTS,
  embeddedStage,
  JOBS,
  patch,
  podsOf,
  realStage,
  report,
  STATEFUL_SETS,
  seen,
  seenWithJobs,
  seenWithRevisions,
  toldOf,
  type WorkloadStage,
} from './stages.js';

type Look = (stage: WorkloadStage, path: string) => Promise<unknown>;
// biome-ignore lint/suspicious/noExplicitAny: what is seen is looked into by the tests
type Seen = any;

const template = (app: string, image: string, restartPolicy = 'Always'): Mapping => ({
  metadata: { labels: { app } },
  spec: { restartPolicy, containers: [{ name: 'main', image }] },
});
const workload = (kind: string, name: string, spec: Mapping = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, annotations: { note: 'kept' } },
  spec: { selector: { matchLabels: { app: name } }, template: template(name, 'one'), ...spec },
});
const job = (name: string, spec: Mapping = {}): AnyObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: template(name, 'x', 'Never'), ...spec },
});

/** The other kinds of workloads, and what is told of all of them in events. */
describeOnRealCluster('simulated sets and schedules beside the real controllers', () => {
  let stages: readonly [WorkloadStage, WorkloadStage];

  beforeAll(async () => {
    stages = await Promise.all([embeddedStage(), realStage()]);
    const [embedded, real] = stages;
    // There is a node on the embedded one; nothing runs there either, as nothing is assigned to it.
    const node = await embedded.client.request<Seen>({ method: 'GET', path: '/api/v1/nodes/local' });
    const { name, labels } = node.metadata;
    await create(real, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } } as AnyObject);
    await patch(real, '/api/v1/nodes/local', { spec: { taints: null } });
  }, 180_000);
  afterAll(async () => {
    for (const stage of stages ?? []) await stage[Symbol.asyncDispose]();
  });

  const onBoth = async (act: (stage: WorkloadStage) => Promise<unknown>): Promise<void> => {
    await Promise.all(stages.map(act));
  };

  /** When both have come to rest, they are the same; and they do come to rest. */
  const same = async (look: Look, path: string, isThere: (real: Seen) => boolean): Promise<void> => {
    let [embedded, real]: unknown[] = [];
    const isSettled = async (): Promise<boolean> => {
      [embedded, real] = await Promise.all(stages.map((stage) => look(stage, path)));
      return isThere(real) && isDeepStrictEqual(embedded, real);
    };
    const isSame = await becomesTrue(isSettled, 30_000);
    if (!isSame) expect(embedded).toEqual(real);
    expect(isSame).toBe(true);
  };
  const sameEvents = (name: string, count: number): Promise<void> =>
    same(toldOf, name, (told: readonly string[]) => told.length === count);

  const ready = async (app: string, most?: number): Promise<void> => {
    await onBoth(async (stage) => {
      const isReported = async (): Promise<boolean> => (await report(stage, app, 'ready', most)) > 0;
      expect(await becomesTrue(isReported), `there are new pods of ${app} on the ${stage.name} cluster`).toBe(true);
    });
  };
  const setImage = (path: string, app: string, image: string): Promise<void> =>
    onBoth((stage) => patch(stage, path, { spec: { template: template(app, image) } }));

  const isReadyWith =
    (count: number, pods = count) =>
    ({ status, pods: found }: Seen): boolean =>
      (status.readyReplicas ?? 0) === count && found.length === pods;

  it('stateful sets begin in order, are scaled, and go in order', async () => {
    const path = `${STATEFUL_SETS}/db`;
    const volumeClaimTemplates = [
      {
        metadata: { name: 'data', labels: { tier: 'disk' } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: '',
          resources: { requests: { storage: '1Gi' } },
        },
      },
    ];
    const spec = { replicas: 2, serviceName: 'db', volumeClaimTemplates };
    await onBoth((stage) => create(stage, STATEFUL_SETS, workload('StatefulSet', 'db', spec)));
    await same(seenWithRevisions, path, isReadyWith(0, 1));
    await ready('db');
    await same(seenWithRevisions, path, isReadyWith(1, 2));
    await ready('db');
    await same(seenWithRevisions, path, isReadyWith(2));
    await onBoth((stage) => patch(stage, path, { spec: { replicas: 3 } }));
    await same(seenWithRevisions, path, isReadyWith(2, 3));
    await ready('db');
    await same(seenWithRevisions, path, isReadyWith(3));
    await onBoth((stage) => patch(stage, path, { spec: { replicas: 1 } }));
    await same(seenWithRevisions, path, isReadyWith(1));
    await sameEvents('db', 8);
  });

  it('stateful sets are updated from the last to the first, down to a partition, and go back', async () => {
    const path = `${STATEFUL_SETS}/rolled`;
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } };
    const spec = { replicas: 3, serviceName: 'rolled', podManagementPolicy: 'Parallel', updateStrategy };
    await onBoth((stage) => create(stage, STATEFUL_SETS, workload('StatefulSet', 'rolled', spec)));
    await same(seenWithRevisions, path, isReadyWith(0, 3));
    await ready('rolled');
    await same(seenWithRevisions, path, isReadyWith(3));
    await setImage(path, 'rolled', 'two');
    for (const updated of [1, 2]) {
      await same(
        seenWithRevisions,
        path,
        ({ status, pods }) => status.updatedReplicas === updated && pods.length === 3,
      );
      await ready('rolled');
    }
    await same(seenWithRevisions, path, isReadyWith(3));
    await setImage(path, 'rolled', 'one');
    for (const updated of [2, 3]) {
      await same(
        seenWithRevisions,
        path,
        ({ status, pods }) => status.updatedReplicas === updated && pods.length === 3,
      );
      await ready('rolled');
    }
    await same(seenWithRevisions, path, ({ status }) => status.currentReplicas === 3 && status.readyReplicas === 3);
  });

  it('stateful sets replace what has failed, and are updated by deletion only if told so', async () => {
    const path = `${STATEFUL_SETS}/careful`;
    const spec = { replicas: 2, serviceName: 'careful', updateStrategy: { type: 'OnDelete' } };
    await onBoth((stage) => create(stage, STATEFUL_SETS, workload('StatefulSet', 'careful', spec)));
    await same(seenWithRevisions, path, isReadyWith(0, 1));
    await ready('careful');
    await same(seenWithRevisions, path, isReadyWith(1, 2));
    await ready('careful');
    await same(seenWithRevisions, path, isReadyWith(2));
    await setImage(path, 'careful', 'two');
    await same(seenWithRevisions, path, ({ revisions }) => revisions.length === 2);
    await onBoth(({ client }) =>
      client.request({ method: 'DELETE', path: '/api/v1/namespaces/default/pods/careful-0' }),
    );
    await same(seenWithRevisions, path, ({ status, pods }) => status.updatedReplicas === 1 && pods.length === 2);
    await ready('careful');
    await same(seenWithRevisions, path, isReadyWith(2));
    await onBoth(async (stage) => {
      const path = '/api/v1/namespaces/default/pods/careful-1/status';
      await patch(stage, path, { status: { phase: 'Failed', conditions: [] } });
    });
    await same(seenWithRevisions, path, ({ status, pods }) => status.updatedReplicas === 2 && pods.length === 2);
  });

  it('daemon sets have a pod on the node, and another one after an update', async () => {
    const path = `${DAEMON_SETS}/agent`;
    await onBoth((stage) => create(stage, DAEMON_SETS, workload('DaemonSet', 'agent')));
    await same(seenWithRevisions, path, ({ status, pods }) => status.currentNumberScheduled === 1 && pods.length === 1);
    await ready('agent');
    await same(seenWithRevisions, path, ({ status }) => status.numberAvailable === 1);
    await setImage(path, 'agent', 'two');
    await same(
      seenWithRevisions,
      path,
      ({ status, pods }) => status.updatedNumberScheduled === 1 && status.numberReady === 0 && pods.length === 1,
    );
    await ready('agent');
    await same(seenWithRevisions, path, ({ status }) => status.numberAvailable === 1);
    await sameEvents('agent', 3);
    await onBoth((stage) => patch(stage, path, { spec: { template: { spec: { nodeSelector: { disk: 'fast' } } } } }));
    await same(seenWithRevisions, path, ({ status, pods }) => status.desiredNumberScheduled === 0 && pods.length === 0);
  });

  it('cron jobs make jobs, tell of them, and forget some of them', async () => {
    const cron = (name: string, successfulJobsHistoryLimit: number) =>
      ({
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name },
        spec: {
          schedule: '* * * * *',
          successfulJobsHistoryLimit,
          jobTemplate: {
            metadata: { labels: { of: name }, annotations: { note: 'copied' } },
            spec: { template: template(name, 'x', 'Never') },
          },
        },
      }) as AnyObject;
    const isMade = ({ status, jobs }: Seen): boolean => status.active?.length === 1 && jobs.length === 1;
    const names = ['tick', 'tock'];
    for (const [kept, name] of names.entries()) await onBoth((stage) => create(stage, CRON_JOBS, cron(name, kept)));
    await onBoth(async (stage) => {
      for (const name of names) {
        const path = `${CRON_JOBS}/${name}`;
        const isThere = async (): Promise<boolean> => isMade(await seenWithJobs(stage, path));
        expect(await becomesTrue(isThere, 80_000), `the ${stage.name} one has made its job`).toBe(true);
        await patch(stage, path, { spec: { suspend: true } });
      }
    });
    for (const [kept, name] of names.entries()) {
      const path = `${CRON_JOBS}/${name}`;
      await same(seenWithJobs, path, isMade);
      await onBoth(async (stage) => {
        const isReported = async (): Promise<boolean> => (await report(stage, name, 'succeeded')) > 0;
        expect(await becomesTrue(isReported), `the pod on the ${stage.name} cluster has ended`).toBe(true);
      });
      await same(seenWithJobs, path, ({ status, jobs }) => status.active === undefined && jobs.length === kept);
      await same(toldOf, name, (told) => told.some((text: string) => /SuccessfulDelete|SawCompleted/.test(text)));
    }
  }, 180_000);

  it('deployments tell of each step', async () => {
    const path = `${DEPLOYMENTS}/told`;
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await onBoth((stage) => create(stage, DEPLOYMENTS, workload('Deployment', 'told', { replicas: 2, strategy })));
    const has =
      (count: number, updated: number, available: number) =>
      ({ status }: Seen): boolean =>
        status.replicas === count &&
        status.updatedReplicas === updated &&
        (status.availableReplicas ?? 0) === available;
    await same(seen, path, has(2, 2, 0));
    await ready('told');
    await same(seen, path, has(2, 2, 2));
    await setImage(path, 'told', 'two');
    await same(seen, path, has(3, 1, 2));
    await ready('told');
    await same(seen, path, has(3, 2, 2));
    await ready('told');
    await same(seen, path, has(2, 2, 2));
    await onBoth((stage) => patch(stage, path, { spec: { replicas: 0 } }));
    await same(seen, path, ({ status }) => status.replicas === undefined);
    await sameEvents('told', 14);
  });

  it('replica sets tell why they get no pods', async () => {
    await onBoth((stage) =>
      create(stage, '/api/v1/namespaces/default/limitranges', {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'small' },
        spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] },
      } as AnyObject),
    );
    const greedy = template('greedy', 'one') as Seen;
    greedy.spec.containers[0].resources = { requests: { cpu: '2' }, limits: { cpu: '2' } };
    await onBoth((stage) =>
      create(stage, DEPLOYMENTS, workload('Deployment', 'greedy', { replicas: 1, template: greedy })),
    );
    const look: Look = async (stage, name) => {
      const told = await toldOf(stage, name);
      // How often it is tried depends on how long one waits.
      return [
        ...new Set(told.map((text) => text.replace(/"greedy-\w+-<random>\\"/, '"').replace(/,\d+,\[/, ',<count>,['))),
      ];
    };
    await same(look, 'greedy', (told) => told.some((text: string) => text.includes('FailedCreate')));
    await onBoth(({ client }) =>
      client.request({ method: 'DELETE', path: '/api/v1/namespaces/default/limitranges/small' }),
    );
  });

  it('jobs tell how they end', async () => {
    await onBoth((stage) => create(stage, JOBS, job('ending', { suspend: true, completions: 2, parallelism: 2 })));
    await sameEvents('ending', 1);
    await onBoth((stage) => patch(stage, `${JOBS}/ending`, { spec: { suspend: false } }));
    await sameEvents('ending', 4);
    await onBoth((stage) => report(stage, 'ending', 'succeeded'));
    await sameEvents('ending', 5);
    await onBoth((stage) => create(stage, JOBS, job('failing', { backoffLimit: 0, parallelism: 2, completions: 2 })));
    await onBoth(async (stage) => {
      expect(await becomesTrue(async () => (await podsOf(stage, 'failing')).length === 2)).toBe(true);
      await report(stage, 'failing', 'failed', 1);
    });
    await sameEvents('failing', 4);
  });
});
