import type { HandlerId } from '../../values/ids.js';
import type { AnyObject, WatchEvent } from '../../values/objects/body.js';
import type { Resource } from '../../values/resources/resource.js';
import type { Awaitable } from '../awaitable.js';
import type { Logger } from '../logger.js';

/**
 * All values under one key; in no particular order, duplicates possible.
 *
 * ```ts
 * const names = (pods: kopf.Store<string>): string => [...pods].sort().join(', ');
 * ```
 */
export interface Store<V> extends Iterable<V> {
  readonly size: number;
  has(value: V): boolean;
}

/**
 * Keys are compared by structure: `['ns', 'name']` finds what was indexed as `['ns', 'name']`.
 *
 * ```ts
 * const countAt = (podsByNode: kopf.Index<string, string>, node: string): number => podsByNode.get(node)?.size ?? 0;
 * ```
 */
export interface Index<K = unknown, V = unknown> extends Iterable<readonly [K, Store<V>]> {
  readonly size: number;
  get(key: K): Store<V> | undefined;
  has(key: K): boolean;
  keys(): Iterable<K>;
}

/**
 * The token that `index()` returns: names the index, and carries the type of its contents for the compiler.
 *
 * ```ts
 * const podsByNode: kopf.IndexRef<string, string | undefined> = kopf.index('pods', ({ spec, name }) => ({
 *   [String(spec.nodeName)]: name,
 * }));
 * kopf.on.event('nodes', ({ indices, logger }) => logger.info(`${indices.get(podsByNode).size} nodes`));
 * ```
 */
export interface IndexRef<K, V> {
  readonly id: HandlerId;
  readonly '~index'?: readonly [K, V];
}

/**
 * All indices of an operator: by the token from `index()`, or by the id of the handler.
 *
 * ```ts
 * const sizes = (indices: kopf.Indices): string[] => [...indices].map(([id, index]) => `${id}: ${index.size}`);
 * ```
 */
export interface Indices extends Iterable<readonly [HandlerId, Index]> {
  get<K, V>(ref: IndexRef<K, V>): Index<K, V>;
  get(id: HandlerId): Index | undefined;
}

/**
 * Keeps the indices up to date with the cluster. It is their only writer; all others read `indices`.
 *
 * ```ts
 * const counted = (inner: kopf.Indexer): kopf.Indexer => ({
 *   indices: inner.indices,
 *   accept(at) {
 *     logger.debug(`Indexing ${at.event.object.metadata?.name}.`);
 *     return inner.accept(at);
 *   },
 * });
 * ```
 */
export interface Indexer {
  readonly indices: Indices;
  /**
   * Processes one event of one object before any other handler sees it. Never throws for the handlers' errors. It is
   * done when this returns, unless it returns a promise: then only this object waits for it.
   */
  accept(at: { event: WatchEvent<AnyObject>; resource: Resource; memo: unknown; logger: Logger }): Awaitable<void>;
}
