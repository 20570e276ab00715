/** Keeps what quotas tell of themselves: the limits that hold, and how much of them is used. */
import { deepEqual, type KubeClient, type Mapping } from '@kopf-ts/core';
import { isInScopes } from '../admission/own/quota-scopes.js';
import { collectionOf, isUsedBy, usageOf } from '../admission/own/quota-usage.js';
import type { Controller, ControllerContext } from '../contracts/controller.js';
import type { ServedObject } from '../contracts/objects.js';
import type { Revision, StoreEvent, StoreReader } from '../contracts/store.js';
import { maybeMapping } from '../kinds/defaults/setting.js';
import { parseRevision } from '../store/revision.js';
import { addQuantities } from '../typed/quantity-sums.js';
import { Worker } from './worker.js';

const QUOTAS = 'resourcequotas';

export const quotaController: Controller = {
  start(context) {
    const { store } = context;
    const client = context.clientAs('system:serviceaccount:kube-system:resourcequota-controller');
    const worker = new Worker(context.clock, (namespace) => recount(context, client, namespace));
    const stop = store.observe(undefined, (event) => {
      const { namespace } = event.object;
      if (namespace !== '' && store.count(QUOTAS) > 0 && mayFree(event)) worker.enqueue(namespace);
    });
    return worker.fedBy(stop);
  },
};

/** Admission counts what comes; what goes, pods that are done, and other limits are noticed here. */
function mayFree({ type, object, previous }: StoreEvent): boolean {
  if (type === 'DELETED' || object.collection === 'pods') return type !== 'ADDED';
  if (object.collection !== QUOTAS) return false;
  const limitsOf = (revision: Revision | undefined): unknown =>
    revision === undefined ? undefined : maybeMapping(parseRevision(revision), 'spec');
  return !deepEqual(limitsOf(object), limitsOf(previous));
}

async function recount({ store }: ControllerContext, client: KubeClient, namespace: string): Promise<void> {
  for (const revision of store.list(QUOTAS, namespace)) {
    const quota = parseRevision(revision);
    const hard = maybeMapping(maybeMapping(quota, 'spec'), 'hard') ?? {};
    const status = { hard, used: usedOf(store, quota, hard) };
    if (revision.isDeleting || deepEqual(quota.status, status)) continue;
    const path = `/api/v1/namespaces/${namespace}/${QUOTAS}/${revision.name}/status`;
    await client.request({ method: 'PUT', path, body: { ...quota, status } });
  }
}

function usedOf(store: StoreReader, quota: ServedObject, hard: Mapping): Mapping {
  const namespace = quota.metadata.namespace ?? '';
  const names = Object.keys(hard);
  const used: Record<string, string> = {};
  for (const collection of new Set(names.map(collectionOf))) {
    if (collection === undefined) continue;
    const own = names.filter((name) => isUsedBy(collection, name));
    for (const name of own) used[name] = '0';
    for (const revision of store.list(collection, namespace)) {
      const object = parseRevision(revision);
      if (!isInScopes(quota, collection, object)) continue;
      const usage = usageOf(collection, object);
      for (const name of own) used[name] = addQuantities(String(used[name]), usage[name] ?? '0');
    }
  }
  return used;
}
