/** Discovery: which kinds and namespaces of the cluster are served. What it finds goes into the insights. */
import { KopfError, type Service } from '@kopf-ts/core';
import type { NamespacePattern } from '@kopf-ts/core/engine';
import type { DiscoveryParts } from './discovery-parts.js';
import { namespaceDiscovery } from './namespace-discovery.js';
import { resourceDiscovery } from './resource-discovery.js';

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
export function discoveryServices({ scope, ...parts }: DiscoveryParts & { readonly scope: Scope }): readonly Service[] {
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
  return [resourceDiscovery(parts), namespaceDiscovery(parts, namespaces.length > 0 ? namespaces : undefined)];
}
