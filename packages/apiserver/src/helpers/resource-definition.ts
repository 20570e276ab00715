/** A short way to write a definition of a custom resource, for tests. */
import type { ServedObject } from '../contracts/objects.js';

/**
 * A custom resource, in short.
 *
 * ```ts
 * import type { ResourceDefinition } from 'kopf-ts/testing';
 * const definition: ResourceDefinition = {
 *   group: 'kopf.dev',
 *   version: 'v1',
 *   plural: 'kopfexamples',
 *   kind: 'KopfExample',
 *   subresources: ['status'],
 * };
 * ```
 */
export interface ResourceDefinition {
  readonly group: string;
  /** The only version, unless `versions` are given. */
  readonly version?: string;
  /** All served; the last one is stored. */
  readonly versions?: readonly string[];
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Default: it lives in namespaces. */
  readonly namespaced?: boolean;
  /** `scale` takes `.spec.replicas` and `.status.replicas`. */
  readonly subresources?: readonly ('status' | 'scale')[];
  /** `openAPIV3Schema`. Default: anything goes. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The definition as the object that it is in a cluster. */
export function definitionOf(short: ResourceDefinition): ServedObject {
  const { group, plural, kind, singular, shortNames, categories, subresources = [] } = short;
  const versions = short.versions ?? [short.version ?? 'v1'];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: short.namespaced === false ? 'Cluster' : 'Namespaced',
      names: {
        plural,
        kind,
        ...(singular === undefined ? {} : { singular }),
        ...(shortNames === undefined ? {} : { shortNames }),
        ...(categories === undefined ? {} : { categories }),
      },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === versions.length - 1,
        schema: { openAPIV3Schema: short.schema ?? ANYTHING },
        ...(subresources.length === 0 ? {} : { subresources: subresourcesOf(subresources) }),
      })),
    },
  };
}

function subresourcesOf(names: readonly ('status' | 'scale')[]): object {
  return {
    ...(names.includes('status') ? { status: {} } : {}),
    ...(names.includes('scale')
      ? { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }
      : {}),
  };
}
