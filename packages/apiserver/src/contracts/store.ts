/** The port between the store of objects and the parts that serve, watch or collect them. */
import type { ServedObject } from './objects.js';

/**
 * Where objects of one kind are kept, whatever the versions they are served in: `pods`, `deployments.apps`,
 * `kopfexamples.kopf.dev`. Written as `plural.group`, or as `plural` alone for the core group.
 */
export type Collection = string;

export interface OwnerRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/**
 * One revision of one object. It never changes: a newer revision is another `Revision`.
 *
 * The content is kept as JSON text, which takes far less memory than objects do, and is sent as it is;
 * only what selectors and controllers ask for all the time is kept beside it.
 */
export interface Revision {
  readonly collection: Collection;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `metadata.resourceVersion` as a number. */
  readonly version: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly owners: readonly OwnerRef[];
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
  /** The object in its storage version; letters beyond Latin-1 may be escapes. Begins with `{"apiVersion":…,"kind":…`. */
  readonly json: string;
  /** Grows with every change of the kind's schema: a text of an older one must be pruned and defaulted again. */
  readonly schemaEpoch: number;
}

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  /** For `DELETED`: the last state, with the version of the deletion. */
  readonly object: Revision;
  /** Absent for `ADDED`. */
  readonly previous: Revision | undefined;
}

/** Where changes are kept beyond the process. It is told of each one before anybody else; if it throws, there is no change. */
export interface Journal {
  put(revision: Revision): void;
  /** The last state, with the version of the removal. */
  remove(last: Revision): void;
}

/** A change as it was kept. */
export type KeptChange =
  | { readonly kind: 'put'; readonly version: number; readonly collection: Collection; readonly json: string }
  | {
      readonly kind: 'remove';
      readonly version: number;
      readonly collection: Collection;
      readonly namespace: string;
      readonly name: string;
    };

export interface StoreReader {
  /** The version of the latest change of anything; 0 never occurs. */
  readonly version: number;
  /** Changes up to this version are forgotten: neither watches nor lists can go back to it or before it. */
  readonly compactedVersion: number;
  collections(): Iterable<Collection>;
  get(collection: Collection, namespace: string, name: string): Revision | undefined;
  /** Sorted by namespace and name. Without a namespace: of all of them. */
  list(collection: Collection, namespace?: string): readonly Revision[];
  count(collection: Collection): number;
  /** Called for every change of the collection (or of all of them), synchronously, in order. Returns the way to stop. */
  observe(collection: Collection | undefined, listener: (event: StoreEvent) => void): () => void;
}

export interface Store extends StoreReader {
  /** As it was at that version. Throws `Expired` (410) if that is forgotten. */
  listAt(collection: Collection, namespace: string | undefined, version: number): readonly Revision[];
  /** The changes after that version. Throws `Expired` (410) if they are forgotten. */
  since(collection: Collection, version: number): readonly StoreEvent[];
  /**
   * Creates or replaces. The object must be complete but for `metadata.resourceVersion`, which is set in it.
   * Returns `undefined`, changing nothing, if the current revision is not the expected one (`undefined`: none).
   */
  put(
    collection: Collection,
    object: ServedObject,
    expected: Revision | undefined,
    schemaEpoch?: number,
  ): Revision | undefined;
  /** Removes. Returns `undefined`, changing nothing, if the current revision is not the expected one. */
  remove(expected: Revision): Revision | undefined;
  /** Forgets the history up to that version, by default up to now. */
  compact(version?: number): void;
}
