/** Where objects are in the API. */
import type { ResourceInfo } from '../contracts/resource.js';

/** The path of a collection, or of an object, or of its subresource. */
export function pathOf(resource: ResourceInfo, namespace: string, name?: string, subresource?: string): string {
  const { group, version, plural, namespaced } = resource;
  const segments = [
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    ...(namespaced && namespace !== '' ? ['namespaces', encodeURIComponent(namespace)] : []),
    plural,
    ...(name === undefined ? [] : [encodeURIComponent(name)]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  return segments.join('/');
}
