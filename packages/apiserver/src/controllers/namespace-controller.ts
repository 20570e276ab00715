/** The end of namespaces: first all that is in them, then they themselves. */
import { deepEqual, type KubeClient, type Mapping } from '@kopf-ts/core';
import type { Controller, ControllerContext, RunningController } from '../contracts/controller.js';
import type { ServedObject } from '../contracts/objects.js';
import type { ResourceInfo } from '../contracts/resource.js';
import type { Revision } from '../contracts/store.js';
import { pathOf } from './object-paths.js';
import { Worker } from './worker.js';

const USER = 'system:serviceaccount:kube-system:namespace-controller';
const FINALIZER = 'kubernetes';
const NAMESPACES = 'namespaces';

/** Empties namespaces that are being deleted, tells about it in their conditions, and lets them go. */
export const namespaceController: Controller = {
  start(context: ControllerContext): RunningController {
    const { store } = context;
    const client = context.clientAs(USER);
    const worker = new Worker(context.clock, (name) => terminate(context, client, name));
    const stop = store.observe(undefined, ({ object }) => {
      if (object.collection === NAMESPACES) {
        if (object.isDeleting) worker.enqueue(object.name);
      } else if (object.namespace !== '' && store.get(NAMESPACES, '', object.namespace)?.isDeleting === true) {
        worker.enqueue(object.namespace);
      }
    });
    for (const { name, isDeleting } of store.list(NAMESPACES)) if (isDeleting) worker.enqueue(name);
    return worker.fedBy(stop);
  },
};

async function terminate(context: ControllerContext, client: KubeClient, name: string): Promise<void> {
  const revision = context.store.get(NAMESPACES, '', name);
  if (revision === undefined || !revision.isDeleting) return;
  if (!finalizersOf(JSON.parse(revision.json) as ServedObject).includes(FINALIZER)) return;
  const resources = namespacedResources(context);
  // As the real controller does: pods first, so that nothing is taken away from under them.
  const [pods, others] = [resources.filter(isPods), resources.filter((resource) => !isPods(resource))];
  await clear(context, client, pods, name);
  const arePodsLeft = pods.some((resource) => context.store.list(resource.collection, name).length > 0);
  if (!arePodsLeft) await clear(context, client, others, name);
  const remaining = resources.flatMap((resource) =>
    context.store.list(resource.collection, name).map((object) => ({ resource, object })),
  );
  const reported = arePodsLeft ? [] : remaining;
  const current = await client.request<ServedObject>({ method: 'GET', path: `/api/v1/namespaces/${name}` });
  const conditions = nextConditions(conditionsOf(current), describeRemains(reported), timestamp(context));
  let latest = current;
  if (!deepEqual(conditions, conditionsOf(current))) {
    const body = { ...current, status: { ...current['status'], phase: 'Terminating', conditions } };
    latest = await client.request({ method: 'PUT', path: `/api/v1/namespaces/${name}/status`, body });
  }
  if (remaining.length > 0) return;
  const finalizers = finalizersOf(latest).filter((finalizer) => finalizer !== FINALIZER);
  const body = { ...latest, spec: { ...latest['spec'], finalizers } };
  await client.request({ method: 'PUT', path: `/api/v1/namespaces/${name}/finalize`, body });
}

const isPods = ({ collection }: ResourceInfo): boolean => collection === 'pods';

/** One version of each collection is enough: the preferred one. */
function namespacedResources({ catalog }: ControllerContext): readonly ResourceInfo[] {
  const found = new Map<string, ResourceInfo>();
  for (const { collection, namespaced, verbs } of catalog.all()) {
    if (!namespaced || !verbs.includes('delete')) continue;
    const [preferred] = catalog.versionsOf(collection);
    if (preferred !== undefined) found.set(collection, preferred);
  }
  return [...found.values()];
}

async function clear(
  { store }: ControllerContext,
  client: KubeClient,
  resources: readonly ResourceInfo[],
  namespace: string,
): Promise<void> {
  for (const resource of resources) {
    if (!store.list(resource.collection, namespace).some(({ isDeleting }) => !isDeleting)) continue;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
    await client.request({ method: 'DELETE', path: pathOf(resource, namespace), body });
  }
}

type Remains = readonly { readonly resource: ResourceInfo; readonly object: Revision }[];

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

const FINE: readonly Omit<Condition, 'lastTransitionTime'>[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'] as const,
  [
    'NamespaceDeletionGroupVersionParsingFailure',
    'ParsedGroupVersions',
    'All legacy kube types successfully parsed',
  ] as const,
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ] as const,
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'] as const,
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'] as const,
].map(([type, reason, message]) => ({ type, status: 'False', reason, message }));

function describeRemains(remains: Remains): ReadonlyMap<string, Omit<Condition, 'lastTransitionTime'>> {
  const told = new Map<string, Omit<Condition, 'lastTransitionTime'>>();
  const kinds = tally(remains.map(({ resource }) => `${resource.plural}.${resource.group} has`));
  if (kinds.length > 0) {
    const type = 'NamespaceContentRemaining';
    const message = `Some resources are remaining: ${kinds.join(', ')}`;
    told.set(type, { type, status: 'True', reason: 'SomeResourcesRemain', message });
  }
  const finalizers = tally(remains.flatMap(({ object }) => object.finalizers.map((finalizer) => `${finalizer} in`)));
  if (finalizers.length > 0) {
    const type = 'NamespaceFinalizersRemaining';
    const message = `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`;
    told.set(type, { type, status: 'True', reason: 'SomeFinalizersRemain', message });
  }
  return told;
}

function tally(names: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count} resource instances`).sort();
}

/** Conditions of other types stay where they are; the time changes only with the status. */
function nextConditions(
  current: readonly Condition[],
  told: ReadonlyMap<string, Omit<Condition, 'lastTransitionTime'>>,
  now: string,
): readonly Condition[] {
  const next = [...current];
  for (const fine of FINE) {
    const { type, status, reason, message } = told.get(fine.type) ?? fine;
    const index = next.findIndex((condition) => condition.type === type);
    const old = next[index];
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    const condition = { type, status, lastTransitionTime, reason, message };
    if (index < 0) next.push(condition);
    else next[index] = condition;
  }
  return next;
}

function conditionsOf(namespace: ServedObject): readonly Condition[] {
  const status = namespace['status'] as Mapping | undefined;
  return (status?.['conditions'] ?? []) as readonly Condition[];
}

function finalizersOf(namespace: ServedObject): readonly string[] {
  const spec = namespace['spec'] as Mapping | undefined;
  return (spec?.['finalizers'] ?? []) as readonly string[];
}

const timestamp = ({ clock }: ControllerContext): string => `${clock.utc().toISOString().slice(0, 19)}Z`;
