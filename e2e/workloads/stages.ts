/** The same workloads on two clusters, whose pods do only what the test says: there is no node on either of them. */
import { localCluster } from '@kopf-ts/apiserver';
import type { AnyObject, KubeClient } from '@kopf-ts/core';
import { startControlPlane } from '../controlplane/index.js';
import { clientOf } from '../support/client.js';

// biome-ignore lint/suspicious/noExplicitAny: objects are looked into by the tests
type Found = any;

export interface WorkloadStage extends AsyncDisposable {
  readonly name: 'embedded' | 'real';
  readonly client: KubeClient;
}

const CONTROLLERS = [
  'serviceaccount-controller',
  'garbage-collector-controller',
  'deployment-controller',
  'replicaset-controller',
  'job-controller',
];

export async function realStage(): Promise<WorkloadStage> {
  const plane = await startControlPlane({ controllerManager: true, controllers: CONTROLLERS });
  const client = clientOf(plane);
  return {
    name: 'real',
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await plane.stop();
    },
  };
}

export async function embeddedStage(): Promise<WorkloadStage> {
  const cluster = await localCluster({ listen: false, controllers: 'simulated', pods: { hang: 'schedule' } });
  return { name: 'embedded', client: cluster.client, [Symbol.asyncDispose]: () => cluster.stop() };
}

export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';
export const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const PODS = '/api/v1/namespaces/default/pods';

export const create = ({ client }: WorkloadStage, path: string, body: AnyObject): Promise<Found> =>
  client.request({ method: 'POST', path, body });

export const patch = ({ client }: WorkloadStage, path: string, body: object): Promise<Found> =>
  client.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });

export async function podsOf({ client }: WorkloadStage, app: string): Promise<readonly Found[]> {
  const path = `${PODS}?labelSelector=${encodeURIComponent(`app=${app}`)}`;
  const { items } = await client.request<{ items: Found[] }>({ method: 'GET', path });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/** What a node would say of them. */
const reports = {
  ready: () => ({
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now() }],
  }),
  succeeded: () => ended('Succeeded', 0),
  failed: () => ended('Failed', 1),
};

const ended = (phase: string, exitCode: number): object => ({
  phase,
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: now() }],
  containerStatuses: [
    {
      name: 'main',
      image: 'x',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode, finishedAt: now() } },
    },
  ],
});

/** Says it of so many pods that nobody has said anything of yet. */
export async function report(
  stage: WorkloadStage,
  app: string,
  what: keyof typeof reports,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  const pods = await podsOf(stage, app);
  const isNew = ({ status }: Found): boolean =>
    what === 'ready' ? status.phase === 'Pending' : status.phase === 'Pending' || status.phase === 'Running';
  const chosen = pods.filter(isNew).slice(0, most);
  for (const { metadata } of chosen) {
    await patch(stage, `${PODS}/${metadata.name}/status`, { status: reports[what]() });
  }
  return chosen.length;
}

/** A status as it can be compared: names by the revisions of replica sets, times and uids as such. */
export async function seen(stage: WorkloadStage, path: string): Promise<unknown> {
  const object = await stage.client.request<Found>({ method: 'GET', path });
  const { items } = await stage.client.request<{ items: Found[] }>({ method: 'GET', path: REPLICA_SETS });
  const own = items.filter(({ metadata }) =>
    (metadata.ownerReferences ?? []).some(({ uid }: Found) => uid === object.metadata.uid),
  );
  const sets = own
    .map(({ metadata, spec, status }) => ({ annotations: metadata.annotations, replicas: spec.replicas, status }))
    .sort((a, b) => revisionOf(a) - revisionOf(b));
  let text = JSON.stringify({ annotations: object.metadata.annotations, status: object.status, sets });
  for (const set of own) text = text.replaceAll(set.metadata.name, `set-${revisionOf(set.metadata)}`);
  return JSON.parse(text, (key, value) => {
    if (/Time$/.test(key) && typeof value === 'string') return '<time>';
    // Counts of changes depend on how many steps the controllers have taken.
    return key === 'observedGeneration' && value > 0 ? '<generation>' : value;
  });
}

const revisionOf = ({ annotations }: Found): number => Number(annotations['deployment.kubernetes.io/revision']);
