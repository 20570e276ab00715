/** How tests name objects and kinds: `kopfexamples/default/one`, `pods`, `nodes/n1`, `deployments.apps/default/web`. */
import { type AnyObject, KopfError } from '@kopf-ts/core';
import type { ServedCatalog } from '../kinds/catalog.js';
import type { Served } from '../kinds/served.js';

export interface Reference {
  readonly served: Served;
  /** Empty for all of them, and for cluster-scoped kinds. */
  readonly namespace: string;
  /** Empty for all objects. */
  readonly name: string;
}

const DEFAULT_NAMESPACE = 'default';

/** `kind`, `kind/namespace`, `kind/namespace/name`; or without namespaces, `kind/name`. Throws if there is no such kind. */
export function parseReference(catalog: ServedCatalog, text: string): Reference {
  const [kind = '', ...rest] = text.split('/');
  const served = findServed(catalog, kind);
  if (rest.length > (served.namespaced ? 2 : 1)) {
    throw new KopfError(`"${text}" has too many parts for ${served.namespaced ? 'an' : 'a cluster-scoped'} object.`, {
      code: 'KOPF_BAD_REFERENCE',
    });
  }
  const [namespace = '', name = ''] = served.namespaced ? rest : ['', rest[0]];
  return { served, namespace, name };
}

/** By plural, singular, kind or short name, and optionally the group or the version and the group: `foos.v1.ex.com`. */
function findServed(catalog: ServedCatalog, text: string): Served {
  const [name = '', ...suffix] = text.split('.');
  const qualifier = suffix.join('.');
  const isNamed = (served: Served): boolean =>
    [served.plural, served.singular, served.kind, ...served.shortNames].includes(name);
  const isQualified = ({ group, version }: Served): boolean =>
    qualifier === '' || qualifier === group || qualifier === version || qualifier === `${version}.${group}`;
  const found = [...catalog.all()].find((served) => isNamed(served) && isQualified(served));
  if (found === undefined) throw new KopfError(`There is no kind "${text}" in this cluster.`, { code: 'KOPF_NO_KIND' });
  return found;
}

/** Of an object by what it says of itself; without a namespace, it is in the default one. */
export function referenceOf(catalog: ServedCatalog, object: AnyObject): Reference {
  const { apiVersion = '', kind = '', metadata = {} } = object;
  const slash = apiVersion.indexOf('/');
  const served = catalog.findKind(apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1), kind);
  if (served === undefined) {
    throw new KopfError(`There is no kind "${kind}" of "${apiVersion}" in this cluster.`, { code: 'KOPF_NO_KIND' });
  }
  const { name = '', namespace = DEFAULT_NAMESPACE } = metadata;
  return { served, namespace: served.namespaced ? namespace : '', name };
}

/** The path of the object, or of the collection if there is no name. */
export function pathOf({ served, namespace, name }: Reference, subresource = ''): string {
  const root = served.group === '' ? `/api/${served.version}` : `/apis/${served.apiVersion}`;
  const parts = [
    root,
    ...(namespace === '' ? [] : ['namespaces', encodeURIComponent(namespace)]),
    served.plural,
    ...(name === '' ? [] : [encodeURIComponent(name)]),
    ...(subresource === '' ? [] : [subresource]),
  ];
  return parts.join('/');
}
