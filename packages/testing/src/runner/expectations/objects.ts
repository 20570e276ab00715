/** Objects in the expectations: their keys and their names. */
import type { ObservedObject } from '@kopf-ts/core';

export function keyOf({ resource, namespace, name, uid }: ObservedObject): string {
  return uid ?? `${resource.plural}.${resource.group}/${namespace ?? ''}/${name ?? ''}`;
}

export function titleOf({ kind, resource, namespace, name }: ObservedObject): string {
  return `${kind ?? resource.plural} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;
}
