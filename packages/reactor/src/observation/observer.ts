/** What of the cluster is served: which kinds, and in which namespaces. The observers find it out for the insights. */
import { KopfError, type Service } from '@kopf-ts/core';
import type { NamespacePattern } from '@kopf-ts/core/engine';
import { namespaceObserver } from './namespace-observer.js';
import type { ObserverParts } from './observer-parts.js';
import { resourceObserver } from './resource-observer.js';

/**
 * Where the operator works: either in the whole cluster, or in some namespaces.
 *
 * ```ts
 * const scope: kopf.reactor.Scope = { namespaces: ['shop', 'billing-*'] };
 * ```
 */
export interface Scope {
  readonly clusterwide?: boolean | undefined;
  readonly namespaces?: readonly NamespacePattern[] | undefined;
}

/** The services that fill the insights. Throws if the scope makes no sense. */
export function observers({ scope, ...parts }: ObserverParts & { readonly scope: Scope }): readonly Service[] {
  const { clusterwide = false, namespaces = [] } = scope;
  if (clusterwide && namespaces.length > 0) {
    throw new KopfError(
      'The operator cannot be both cluster-wide and restricted to some namespaces: give either of them.',
      { code: 'KOPF_AMBIGUOUS_SCOPE' },
    );
  }
  if (!clusterwide && namespaces.length === 0) {
    parts.logger.warn(
      'Neither the namespaces nor the cluster-wide mode are given, so the whole cluster is served. ' +
        'If that is meant, say so by the cluster-wide mode; else give the namespaces.',
    );
  }
  return [resourceObserver(parts), namespaceObserver(parts, namespaces.length > 0 ? namespaces : undefined)];
}
