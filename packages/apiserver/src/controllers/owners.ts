/** Who belongs to whom: the graph of owner references, kept up to date with the store. */
import type { OwnerRef, Revision, StoreEvent, StoreReader } from '../contracts/store.js';

/** Identifies an object for the time of its life. */
export type ObjectKey = string;

export const keyOf = ({ collection, namespace, name, uid }: Revision): ObjectKey =>
  [collection, namespace, name, uid].join('\n');

export class OwnerGraph {
  readonly #store: StoreReader;
  /** By the `uid` of the owner, whether it exists or not. */
  readonly #dependents = new Map<string, Map<ObjectKey, Revision>>();

  constructor(store: StoreReader) {
    this.#store = store;
    for (const collection of store.collections()) for (const revision of store.list(collection)) this.#link(revision);
  }

  /** To be told of everything. */
  update({ type, object, previous }: StoreEvent): void {
    if (previous !== undefined) this.#unlink(previous);
    if (type !== 'DELETED') this.#link(object);
  }

  /** The newest revision of the object with that key; `undefined` if it is gone, or another one has its name. */
  find(key: ObjectKey): Revision | undefined {
    const [collection = '', namespace = '', name = '', uid = ''] = key.split('\n');
    const revision = this.#store.get(collection, namespace, name);
    return revision?.uid === uid ? revision : undefined;
  }

  /** The objects that name it as their owner. */
  dependentsOf(uid: string): readonly Revision[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #link(revision: Revision): void {
    for (const { uid } of revision.owners) {
      let dependents = this.#dependents.get(uid);
      if (dependents === undefined) {
        dependents = new Map();
        this.#dependents.set(uid, dependents);
      }
      dependents.set(keyOf(revision), revision);
    }
  }

  #unlink(revision: Revision): void {
    for (const { uid } of revision.owners) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(keyOf(revision));
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
  }
}

/** Does the dependent hold its owner back while that waits for the dependents? */
export function isBlocking(dependent: Revision, owner: Revision): boolean {
  return dependent.owners.some(
    ({ uid, blockOwnerDeletion }: OwnerRef) => uid === owner.uid && blockOwnerDeletion === true,
  );
}
