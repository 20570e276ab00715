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
  'statefulset-controller',
  'daemonset-controller',
  'cronjob-controller',
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
export const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';
export const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
export const CRON_JOBS = '/apis/batch/v1/namespaces/default/cronjobs';
const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const EVENTS = '/api/v1/namespaces/default/events';
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
    // Which of these it is depends on which cache of the real controller is the first to be up to date.
    if (value?.reason === 'NewReplicaSetCreated' || value?.reason === 'ReplicaSetUpdated') {
      return { ...value, reason: '<progressing>', message: '<progressing>' };
    }
    // Counts of changes depend on how many steps the controllers have taken.
    return key === 'observedGeneration' && value > 0 ? '<generation>' : value;
  });
}

const revisionOf = ({ annotations }: Found): number => Number(annotations['deployment.kubernetes.io/revision']);

async function itemsAt({ client }: WorkloadStage, path: string): Promise<readonly Found[]> {
  const { items } = await client.request<{ items: Found[] }>({ method: 'GET', path });
  return items;
}

const belongsTo =
  ({ metadata }: Found) =>
  (child: Found): boolean =>
    (child.metadata.ownerReferences ?? []).some(({ uid }: Found) => uid === metadata.uid);

/** All that is said of a child by who has made it; the rest is added by servers and nodes. */
const childOf = ({ metadata, spec }: Found): Found => ({
  name: metadata.ownerReferences[0].kind === 'DaemonSet' && metadata.generateName ? '<random>' : metadata.name,
  prefix: metadata.generateName,
  labels: metadata.labels,
  annotations: metadata.annotations,
  finalizers: metadata.finalizers,
  owners: metadata.ownerReferences.map(({ uid: _uid, ...reference }: Found) => reference),
  spec,
});

/** A set whose templates are kept as controller revisions, with all that it has made: names by revisions. */
export async function seenWithRevisions(stage: WorkloadStage, path: string): Promise<unknown> {
  const set = await stage.client.request<Found>({ method: 'GET', path });
  const isOwn = belongsTo(set);
  const revisions = (await itemsAt(stage, REVISIONS)).filter(isOwn).sort((a, b) => a.revision - b.revision);
  const pods = (await itemsAt(stage, PODS)).filter(isOwn).sort(byName);
  const claims = (await itemsAt(stage, CLAIMS)).filter(({ metadata }) => metadata.name.includes(set.metadata.name));
  let text = JSON.stringify({
    annotations: set.metadata.annotations,
    status: set.status,
    pods: pods.map(childOf),
    revisions: revisions.map(({ metadata, data, revision }) => ({ ...childOf({ metadata }), data, revision })),
    claims: claims.map(({ metadata, spec }) => ({ name: metadata.name, labels: metadata.labels, spec })),
  });
  for (const { metadata, revision } of revisions) {
    const hash = metadata.name.slice(set.metadata.name.length + 1);
    text = text.replaceAll(metadata.name, `revision-${revision}`).replaceAll(hash, `hash-${revision}`);
  }
  return JSON.parse(text, masked);
}

/** A cron job with its jobs. */
export async function seenWithJobs(stage: WorkloadStage, path: string): Promise<unknown> {
  const cron = await stage.client.request<Found>({ method: 'GET', path });
  const jobs = (await itemsAt(stage, JOBS)).filter(belongsTo(cron)).sort(byName);
  const text = JSON.stringify({
    status: cron.status,
    jobs: jobs.map((job) => {
      const { selector: _selector, ...spec } = job.spec;
      return childOf({ ...job, spec: { ...spec, template: { ...spec.template, metadata: {} } } });
    }),
  });
  return JSON.parse(text.replaceAll(/-\d{8}"/g, '-<minute>"').replaceAll(/"\d{4}-[\dT:-]+Z"/g, '"<time>"'), masked);
}

const byName = (a: Found, b: Found): number => a.metadata.name.localeCompare(b.metadata.name);

/** What each cluster has of its own, and what the plugin for service accounts adds to pods, which is not served here. */
function masked(key: string, value: Found): unknown {
  if (/Time$/.test(key) && typeof value === 'string') return '<time>';
  if (key === 'uid' || key === 'resourceVersion' || /controller-uid$/.test(key)) return '<own>';
  if (key === 'serviceAccount' || key === 'serviceAccountName') return undefined;
  if (key === 'volumes' || key === 'volumeMounts') {
    const others = value.filter(({ name }: Found) => !/^kube-api-access-/.test(name));
    return others.length === 0 ? undefined : others;
  }
  return key === 'observedGeneration' && value > 0 ? '<generation>' : value;
}

/** What was said of the workload and of what it has made, but for its pods: by whom, how often, about what. */
export async function toldOf(stage: WorkloadStage, name: string): Promise<readonly string[]> {
  const events = (await itemsAt(stage, EVENTS)).filter(
    ({ involvedObject: { kind, name: about }, reason }) =>
      kind !== 'Pod' &&
      (about === name || about.startsWith(`${name}-`)) &&
      // The real controller misses a job that it has just deleted itself, if its cache is behind: a matter of chance.
      reason !== 'MissingJob',
  );
  const sets = (await itemsAt(stage, REPLICA_SETS)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
  return events
    .map(({ type, reason, message, count, source, reportingComponent, reportingInstance, involvedObject, action }) => {
      const { kind, apiVersion, namespace, fieldPath, name: about } = involvedObject;
      const by = [source, reportingComponent, reportingInstance, action];
      let text = JSON.stringify([kind, apiVersion, namespace, fieldPath, about, type, reason, message, count, by]);
      for (const set of sets) text = text.replaceAll(set.metadata.name, `set-${revisionOf(set.metadata)}`);
      return text
        .replaceAll(/-\d{8}\b/g, '-<minute>')
        .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=\\*")/g, '-<random>');
    })
    .sort();
}
