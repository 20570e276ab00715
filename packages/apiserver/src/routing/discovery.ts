/** What is served, as clients ask for it: the plain documents and the aggregated one. */
import { createHash } from 'node:crypto';
import type { ServedCatalog } from '../kinds/catalog.js';
import type { Served, Subresource } from '../kinds/served.js';

export interface Discovery {
  /** The paths of the groups and their versions. */
  paths(): readonly string[];
  /** `/api` */
  coreVersions(): object;
  /** `/apis` */
  groups(): object;
  /** `/apis/x`; `undefined` if there is no such group. */
  group(name: string): object | undefined;
  /** `/api/v1`, `/apis/x/v1`; `undefined` if there is no such version. */
  resources(group: string, version: string): object | undefined;
  /** Is it a group of the server's own, as opposed to those of definitions? */
  isBuiltin(group: string): boolean;
  /** Everything of the core group, or of all the others, at once. */
  aggregated(isCore: boolean, apiVersion: string): object;
}

/** The order in which they are preferred; custom groups follow by name. */
const PREFERRED = [
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
];

/** Kinds that the real server stores in another version than any that is served here. It shows in the hashes only. */
const STORED_AS: Readonly<Record<string, string>> = {
  'customresourcedefinitions.apiextensions.k8s.io': 'apiextensions.k8s.io/v1beta1',
  'mutatingadmissionpolicies.admissionregistration.k8s.io': 'admissionregistration.k8s.io/v1beta1',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': 'admissionregistration.k8s.io/v1beta1',
};

/** Kinds that are asked and not kept: they have no place in the catalog. */
export interface AccessReview {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

interface Row {
  readonly name: string;
  readonly info: Pick<Served, 'singular' | 'kind' | 'namespaced' | 'verbs'> & Partial<Served>;
}

export function makeDiscovery(
  catalog: ServedCatalog,
  accessReviews: readonly AccessReview[],
  address: () => string,
): Discovery {
  const groupNames = (): readonly string[] => {
    const names = new Set([...catalog.groups().keys(), ...accessReviews.map(({ group }) => group)]);
    names.delete('');
    const known = PREFERRED.filter((name) => names.has(name));
    return [...known, ...[...names].filter((name) => !known.includes(name)).sort()];
  };
  const versionsOf = (group: string): readonly string[] =>
    catalog.groups().get(group) ?? [
      ...new Set(accessReviews.filter((one) => one.group === group).map(({ version }) => version)),
    ];
  const rowsOf = (group: string, version: string): readonly Row[] => {
    const served = [...catalog.all()].filter((one) => one.group === group && one.version === version);
    const asked = accessReviews.filter((one) => one.group === group && one.version === version);
    const rows: Row[] = [
      ...served.map((info) => ({ name: info.plural, info })),
      ...asked.map((review) => ({ name: review.plural, info: { ...review, verbs: ['create'] } })),
    ];
    // Custom resources are listed as they came.
    return served.some(({ isCustom }) => isCustom) ? rows : rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const groupDocument = (name: string): object => {
    const versions = versionsOf(name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] };
  };

  return {
    paths: () => [
      '/api',
      '/api/v1',
      '/apis',
      '/apis/',
      ...groupNames().flatMap((name) => [
        `/apis/${name}`,
        ...versionsOf(name).map((version) => `/apis/${name}/${version}`),
      ]),
    ],
    coreVersions: () => ({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address() }],
    }),
    groups: () => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: groupNames().map(groupDocument) }),
    group: (name) =>
      groupNames().includes(name) ? { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(name) } : undefined,
    isBuiltin: (name) => catalog.isBuiltinGroup(name) || accessReviews.some(({ group }) => group === name),
    resources(group, version) {
      if (!versionsOf(group).includes(version)) return undefined;
      return {
        kind: 'APIResourceList',
        // The core group is older than this field.
        ...(group === '' ? {} : { apiVersion: 'v1' }),
        groupVersion: group === '' ? version : `${group}/${version}`,
        resources: rowsOf(group, version).flatMap(resourceRows),
      };
    },
    aggregated(isCore, apiVersion) {
      const names = isCore ? [''] : groupNames();
      return {
        kind: 'APIGroupDiscoveryList',
        apiVersion,
        metadata: {},
        items: names.map((name) => ({
          metadata: name === '' ? {} : { name },
          versions: versionsOf(name).map((version) => ({
            version,
            resources: rowsOf(name, version).map(aggregatedRow),
            freshness: 'Current',
          })),
        })),
      };
    },
  };
}

function resourceRows({ name, info }: Row): readonly object[] {
  const { singular, kind, namespaced, verbs, shortNames = [], categories = [], subresources = [] } = info;
  return [
    {
      name,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...storageVersionHash(info),
    },
    ...subresources.map((subresource) => ({
      name: `${name}/${subresource.name}`,
      singularName: '',
      namespaced,
      ...(subresource.group === undefined ? {} : { group: subresource.group, version: subresource.version }),
      kind: subresource.kind,
      verbs: subresource.verbs,
    })),
  ];
}

/** So clients notice when a kind begins to be stored in another version. */
function storageVersionHash({ collection = '', storageApiVersion, kind }: Row['info']): object {
  if (storageApiVersion === undefined) return {};
  const apiVersion = STORED_AS[collection] ?? storageApiVersion;
  const gvk = apiVersion.includes('/') ? `${apiVersion}/${kind}` : `/${apiVersion}/${kind}`;
  return { storageVersionHash: createHash('sha256').update(gvk).digest().subarray(0, 8).toString('base64') };
}

function aggregatedRow({ name, info }: Row): object {
  const { singular, namespaced, verbs, shortNames = [], categories = [], subresources = [] } = info;
  return {
    resource: name,
    responseKind: kindOf(info, info.isCustom === true ? info : undefined),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: kindOf(
              subresource,
              info.isCustom === true && subresource.group === undefined ? info : undefined,
            ),
            verbs: subresource.verbs,
          })),
        }
      : {}),
  };
}

function kindOf(one: Pick<Subresource, 'kind' | 'group' | 'version'>, custom: Partial<Served> | undefined): object {
  if (custom !== undefined) return { group: custom.group, version: custom.version, kind: one.kind };
  const isOther = 'name' in one && one.group !== undefined;
  return { group: isOther ? one.group : '', version: isOther ? one.version : '', kind: one.kind };
}
