/** Discovery: finds the kinds and namespaces to serve. Its results go into the insights. */
import { KopfError, type Selection, type Service } from '@kopf-ts/core';
import { labelSelectorOf, type NamespacePattern } from '@kopf-ts/core/engine';
import type { DiscoveryParts } from './discovery-parts.js';
import { namespaceDiscovery, type WantedNamespaces } from './namespace-discovery.js';
import { resourceDiscovery } from './resource-discovery.js';

/**
 * Namespaces by their labels: those that have them at the moment. They are selected by the server, and followed: a namespace
 * is served as soon as it gets the labels, and no longer than it has them.
 *
 * ```ts
 * const ofTenants: kopf.reactor.NamespacesByLabels = { labels: { tenant: true, stage: ['test', 'live'] } };
 * await kopf.run({ namespaces: ofTenants });
 * ```
 */
export interface NamespacesByLabels {
  readonly labels: Selection;
}

/**
 * Where the operator works: in the whole cluster, or in some namespaces.
 *
 * ```ts
 * const scope: kopf.reactor.Scope = { namespaces: ['shop', 'billing-*'] };
 * ```
 */
export interface Scope {
  readonly clusterwide?: boolean | undefined;
  readonly namespaces?: readonly NamespacePattern[] | NamespacesByLabels | undefined;
}

/** The services that fill the insights. Throws if the scope is contradictory. */
export function discoveryServices({ scope, ...parts }: DiscoveryParts & { readonly scope: Scope }): readonly Service[] {
  const { clusterwide = false } = scope;
  const wanted = wantedNamespaces(scope);
  if (clusterwide && wanted !== undefined) {
    throw new KopfError(
      'The operator cannot be both cluster-wide and restricted to some namespaces: give either of them.',
      { code: 'KOPF_AMBIGUOUS_SCOPE' },
    );
  }
  if (!clusterwide && wanted === undefined) {
    parts.logger.warn(
      'Neither the namespaces nor the cluster-wide mode are given, so the whole cluster is served. ' +
        'If this is intended, set the cluster-wide mode explicitly; otherwise, give the namespaces.',
    );
  }
  return [resourceDiscovery(parts), namespaceDiscovery(parts, wanted)];
}

function wantedNamespaces({ namespaces = [] }: Scope): WantedNamespaces | undefined {
  if ('labels' in namespaces) return { patterns: ['*'], labelSelector: labelSelectorOf(namespaces.labels) };
  return namespaces.length > 0 ? { patterns: namespaces } : undefined;
}
