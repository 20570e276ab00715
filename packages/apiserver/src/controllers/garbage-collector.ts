/** Deletes what has lost its last owner; lets owners wait for their dependents, or leave them behind. */
import type { KubeClient } from '@kopf-ts/core';
import type { Controller, ControllerContext, RunningController } from '../contracts/controller.js';
import type { ServedObject } from '../contracts/objects.js';
import type { ResourceInfo } from '../contracts/resource.js';
import type { OwnerRef, Revision } from '../contracts/store.js';
import { pathOf } from './object-paths.js';
import { isBlocking, keyOf, OwnerGraph } from './owners.js';
import { Worker } from './worker.js';

const USER = 'system:serviceaccount:kube-system:generic-garbage-collector';
const FOREGROUND_FINALIZER = 'foregroundDeletion';
const ORPHAN_FINALIZER = 'orphan';

/** Follows owner references, as the real collector does. */
export const garbageCollector: Controller = {
  start(context: ControllerContext): RunningController {
    const { store } = context;
    const graph = new OwnerGraph(store);
    const collector = new Collector(context, graph);
    const worker = new Worker(context.clock, (key) => collector.process(key, enqueue));
    const enqueue = (revision: Revision): void => worker.enqueue(keyOf(revision));
    const stop = store.observe(undefined, (event) => {
      graph.update(event);
      const { type, object, previous } = event;
      if (type === 'DELETED') for (const dependent of graph.dependentsOf(object.uid)) enqueue(dependent);
      else if (collector.isOfInterest(object)) enqueue(object);
      if (object.isDeleting && object.finalizers.includes(FOREGROUND_FINALIZER) && previous?.isDeleting !== true) {
        for (const dependent of graph.dependentsOf(object.uid)) enqueue(dependent);
      }
      // An owner may have waited for this one: for its deletion, or for its having other owners now.
      for (const { uid } of previous?.owners ?? []) {
        const owner = collector.findByUid(uid, previous);
        if (owner !== undefined && isWaitingForDependents(owner)) enqueue(owner);
      }
    });
    for (const collection of store.collections()) {
      for (const revision of store.list(collection)) if (collector.isOfInterest(revision)) enqueue(revision);
    }
    return worker.fedBy(stop);
  },
};

const isWaitingForDependents = ({ isDeleting, finalizers }: Revision): boolean =>
  isDeleting && finalizers.includes(FOREGROUND_FINALIZER);

class Collector {
  readonly #context: ControllerContext;
  readonly #graph: OwnerGraph;
  readonly #client: KubeClient;

  constructor(context: ControllerContext, graph: OwnerGraph) {
    this.#context = context;
    this.#graph = graph;
    this.#client = context.clientAs(USER);
  }

  isOfInterest({ owners, isDeleting, finalizers }: Revision): boolean {
    if (!isDeleting) return owners.length > 0;
    return finalizers.includes(FOREGROUND_FINALIZER) || finalizers.includes(ORPHAN_FINALIZER);
  }

  /** The owner whom the reference of the dependent means. */
  findByUid(uid: string, dependent: Revision | undefined): Revision | undefined {
    const reference = dependent?.owners.find((owner) => owner.uid === uid);
    if (reference === undefined || dependent === undefined) return undefined;
    const owner = this.#lookUp(reference, dependent);
    return owner === 'unknown' || owner?.uid !== uid ? undefined : owner;
  }

  async process(key: string, enqueue: (revision: Revision) => void): Promise<void> {
    const item = this.#graph.find(key);
    if (item === undefined) return;
    if (item.isDeleting && item.finalizers.includes(ORPHAN_FINALIZER)) await this.#orphan(item);
    else if (isWaitingForDependents(item)) await this.#awaitDependents(item, enqueue);
    else if (!item.isDeleting && item.owners.length > 0) await this.#judge(item);
  }

  async #orphan(owner: Revision): Promise<void> {
    for (const dependent of this.#graph.dependentsOf(owner.uid)) {
      await this.#dropOwners(dependent, new Set([owner.uid]));
    }
    await this.#removeFinalizer(owner, ORPHAN_FINALIZER);
  }

  async #awaitDependents(owner: Revision, enqueue: (revision: Revision) => void): Promise<void> {
    const blocking = this.#graph.dependentsOf(owner.uid).filter((dependent) => isBlocking(dependent, owner));
    if (blocking.length === 0) await this.#removeFinalizer(owner, FOREGROUND_FINALIZER);
    for (const dependent of blocking) if (!isWaitingForDependents(dependent)) enqueue(dependent);
  }

  async #judge(item: Revision): Promise<void> {
    const solid: OwnerRef[] = [];
    const gone = new Set<string>();
    let isAnyWaiting = false;
    for (const reference of item.owners) {
      const owner = this.#lookUp(reference, item);
      if (owner === 'unknown') solid.push(reference);
      else if (owner?.uid !== reference.uid) gone.add(reference.uid);
      else if (isWaitingForDependents(owner)) {
        isAnyWaiting = true;
        gone.add(reference.uid);
      } else solid.push(reference);
    }
    if (solid.length > 0) {
      if (gone.size > 0) await this.#dropOwners(item, gone);
      return;
    }
    const dependents = this.#graph.dependentsOf(item.uid);
    if (isAnyWaiting && dependents.length > 0) {
      // A circle would wait for itself for ever.
      if (dependents.some(isWaitingForDependents)) await this.#unblockOwners(item);
      await this.#delete(item, 'Foreground');
    } else if (item.finalizers.includes(ORPHAN_FINALIZER)) await this.#delete(item, 'Orphan');
    else if (item.finalizers.includes(FOREGROUND_FINALIZER)) await this.#delete(item, 'Foreground');
    else await this.#delete(item, 'Background');
  }

  /** Owners are either cluster-scoped or in the same namespace. Of kinds that are not served, nothing can be said. */
  #lookUp({ apiVersion, kind, name }: OwnerRef, { namespace }: Revision): Revision | undefined | 'unknown' {
    const [group, version] = apiVersion.includes('/')
      ? (apiVersion.split('/', 2) as [string, string])
      : ['', apiVersion];
    const resource = this.#context.catalog.findKind(group, version, kind);
    if (resource === undefined) return 'unknown';
    if (resource.namespaced && namespace === '') return 'unknown';
    return this.#context.store.get(resource.collection, resource.namespaced ? namespace : '', name);
  }

  async #delete(item: Revision, propagationPolicy: string): Promise<void> {
    const preconditions = { uid: item.uid, resourceVersion: String(item.version) };
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, propagationPolicy };
    await this.#client.request({ method: 'DELETE', path: this.#pathOf(item), body });
  }

  #dropOwners(item: Revision, uids: ReadonlySet<string>): Promise<unknown> {
    const remaining = item.owners.filter(({ uid }) => !uids.has(uid));
    return this.#patch(item, { ownerReferences: remaining.length === 0 ? null : remaining });
  }

  #unblockOwners(item: Revision): Promise<unknown> {
    const unblocked = item.owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    return this.#patch(item, { ownerReferences: unblocked });
  }

  #removeFinalizer(item: Revision, finalizer: string): Promise<unknown> {
    const remaining = item.finalizers.filter((name) => name !== finalizer);
    return this.#patch(item, { finalizers: remaining.length === 0 ? null : remaining });
  }

  #patch(item: Revision, changes: object): Promise<unknown> {
    const metadata = { uid: item.uid, resourceVersion: String(item.version), ...changes };
    const request = { method: 'PATCH', path: this.#pathOf(item), contentType: 'application/merge-patch+json' } as const;
    return this.#client.request<ServedObject>({ ...request, body: { metadata } });
  }

  #pathOf(item: Revision): string {
    const [resource] = this.#context.catalog.versionsOf(item.collection) as readonly (ResourceInfo | undefined)[];
    if (resource === undefined) throw new Error(`${item.collection} is not served any more`);
    return pathOf(resource, item.namespace, item.name);
  }
}
