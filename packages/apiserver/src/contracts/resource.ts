/** What is served: one row per group, version and plural name. */
import type { Collection } from './store.js';

export interface ResourceInfo {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly collection: Collection;
}

/** All that is served now. Custom resources come and go. */
export interface Catalog {
  all(): Iterable<ResourceInfo>;
  find(group: string, version: string, plural: string): ResourceInfo | undefined;
  /** By kind, for owner references. */
  findKind(group: string, version: string, kind: string): ResourceInfo | undefined;
  /** All served versions of one collection, the preferred one first. */
  versionsOf(collection: Collection): readonly ResourceInfo[];
}
