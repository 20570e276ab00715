/** What the books of the console have in common. */
import type { FactKind, FactOf, ObservedObject } from '@kopf-ts/core';
import { resourceTitle } from '../journal/operator-facts.js';

/** What is done with facts, by their kinds. */
export type FactTakers = { readonly [K in FactKind]?: (fact: FactOf<K>) => void };

/** Something to tell objects apart by, within the operator. */
export function keyOf({ uid, resource, namespace, name }: ObservedObject): string {
  return uid ?? `${resourceTitle(resource)}/${namespace ?? ''}/${name ?? ''}`;
}
