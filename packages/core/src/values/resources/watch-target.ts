/** What a stream watches: one kind of objects, in one namespace or in the whole cluster, all of them or some. */
import { formatResource, type Resource, resourceKey } from './resource.js';

/**
 * A kind × a scope × selectors. Two targets of the same meaning can come from different descriptions of the kind:
 * compare them by {@link watchTargetKey}.
 *
 * ```ts
 * const isEverywhere = ({ namespace }: kopf.WatchTarget): boolean => namespace === null;
 * ```
 */
export interface WatchTarget {
  readonly resource: Resource;
  /** `null` for the whole cluster. */
  readonly namespace: string | null;
  /** As in the requests: `app=web,tier in (front, back)`. All objects unless given. */
  readonly labelSelector?: string;
  /** As in the requests: `metadata.name=one`. All objects unless given. */
  readonly fieldSelector?: string;
}

export interface WatchTargetFields {
  /** The whole cluster unless given. */
  readonly namespace?: string | null | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/**
 * A target of these fields. An empty selector selects everything, as in the requests.
 *
 * ```ts
 * watchTarget(pods, { namespace: 'default', labelSelector: 'app=web' });
 * ```
 */
export function watchTarget(resource: Resource, fields: WatchTargetFields = {}): WatchTarget {
  const { namespace = null, labelSelector, fieldSelector } = fields;
  return Object.freeze({
    resource,
    namespace,
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  });
}

/** The meaning of a target as a string, for keys of maps. */
export function watchTargetKey({ resource, namespace, labelSelector, fieldSelector }: WatchTarget): string {
  const place = `${resourceKey(resource)}@${namespace ?? ''}`;
  if (labelSelector === undefined && fieldSelector === undefined) return place;
  // Selectors may contain anything: in JSON, one cannot be taken for the other.
  return `${place}?${JSON.stringify([labelSelector, fieldSelector])}`;
}

/** A target in logs and probes: `pods.v1 in namespace default`, `nodes.v1 cluster-wide with labels zone=a`. */
export function formatWatchTarget({ resource, namespace, labelSelector, fieldSelector }: WatchTarget): string {
  const selectors = [
    ...(labelSelector === undefined ? [] : [`labels ${labelSelector}`]),
    ...(fieldSelector === undefined ? [] : [`fields ${fieldSelector}`]),
  ];
  const place = namespace === null ? 'cluster-wide' : `in namespace ${namespace}`;
  const filter = selectors.length === 0 ? '' : ` with ${selectors.join(' and ')}`;
  return `${formatResource(resource)} ${place}${filter}`;
}
