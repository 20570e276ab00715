/** Kubernetes objects as the framework and the handlers see them: deep read-only, with typed stanzas. */
import type { DeepReadonly } from '../json.js';

/**
 * A reference to the owner of an object: the object is deleted with it.
 *
 * ```ts
 * const owner: kopf.OwnerReference = kopf.buildOwnerReference(body);
 * ```
 */
export interface OwnerReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  uid?: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/**
 * The metadata of an object, as Kubernetes has it.
 *
 * ```ts
 * const metadata: kopf.ObjectMeta = { name: 'backup', labels: { app: 'web' } };
 * ```
 */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string | null;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  [field: string]: unknown;
}

/**
 * Any object of any kind, with only the fields common in Kubernetes.
 *
 * ```ts
 * const job: kopf.AnyObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'backup' }, spec: {} };
 * ```
 */
export interface AnyObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  // biome-ignore lint/suspicious/noExplicitAny: untyped resources are used without casts, as in the cluster itself
  [field: string]: any;
}

/**
 * An object as passed to handlers: deep read-only, both in types and at run time.
 *
 * ```ts
 * const isReady = ({ status }: kopf.Body): boolean => status?.phase === 'Running';
 * ```
 */
export type Body<T extends object = AnyObject> = DeepReadonly<T>;

/**
 * An object of a given kind as a watch-stream reports it; `null` stands for the initial listing.
 *
 * ```ts
 * const isGone = (event: kopf.WatchEvent): boolean => event.type === 'DELETED';
 * ```
 */
export interface WatchEvent<T extends object = AnyObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | null;
  readonly object: T;
}
