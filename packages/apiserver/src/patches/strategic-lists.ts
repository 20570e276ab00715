/** Lists of strategic merge patches: how their items are told apart, merged, and put in order. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import { StatusError } from '../http/status-errors.js';
import type { TypeRef } from '../schemas/types.js';
import { goPlain, goString } from '../text/go-text.js';

export const DIRECTIVE = '$patch';

/** What is known of a list by its place. */
export interface Place {
  readonly of: TypeRef;
  /** Otherwise it is replaced as a whole. */
  readonly isMerged: boolean;
  /** By which items that are mappings are told apart. */
  readonly mergeKey: string | undefined;
}

type Items = readonly unknown[];
type Merging = (original: Mapping, patch: Mapping, type: TypeRef) => Mapping;

/** The items of both, in order: those of the patch as there, others about where they were. */
export function mergedItems(original: Items, patch: Items, list: Place, merge: Merging): unknown[] {
  if (original.length === 0 && patch.length === 0) return [];
  if (itemTypeOf([original, patch]) !== 'map') {
    return inOrder([...new Set([...original, ...patch])], patch, original, { ...list, mergeKey: undefined }, 'scalar');
  }
  const { mergeKey } = list;
  if (mergeKey === undefined) throw failure('cannot merge lists without merge key for ');
  const { kept, changes } = withoutDirected(original as Mapping[], patch as Mapping[], mergeKey);
  const merged = [...kept];
  for (const change of changes) {
    const at = merged.findIndex((item) => item[mergeKey] === keyOf(change, mergeKey));
    if (at < 0) merged.push(change);
    else merged[at] = merge(merged[at] as Mapping, change, list.of);
  }
  return inOrder(merged, changes, kept, list, 'map');
}

/** Items with directives are no items: they delete one, or replace all. */
function withoutDirected(
  original: readonly Mapping[],
  patch: readonly Mapping[],
  mergeKey: string,
): { readonly kept: readonly Mapping[]; readonly changes: readonly Mapping[] } {
  let kept = original;
  let isReplaced = false;
  const changes: Mapping[] = [];
  for (const item of patch) {
    const directive = item[DIRECTIVE];
    if (directive === undefined) changes.push(item);
    else if (directive === 'replace') isReplaced = true;
    else if (directive === 'delete') {
      const key = keyOf(item, mergeKey);
      kept = kept.filter((one) => one[mergeKey] !== key);
    } else if (directive === 'merge') throw failure('merging lists cannot yet be specified in the patch');
    else throw failure(`unknown patch type: ${goString(directive)} in map: ${goPlain(item)}`);
  }
  return isReplaced ? { kept: changes, changes: [] } : { kept, changes };
}

/**
 * What is in the order comes in this order. The others keep theirs, and go before an item that they were before;
 * what was not there goes first.
 */
export function inOrder(items: Items, order: Items, former: Items, list: Place, type: string): unknown[] {
  const identityOf = (item: unknown): unknown =>
    type === 'map' && isMapping(item) ? keyOf(item, list.mergeKey as string) : item;
  const placesIn = (all: Items): ReadonlyMap<unknown, number> => {
    const places = new Map<unknown, number>();
    for (const [place, item] of all.entries()) {
      const identity = identityOf(item);
      if (!places.has(identity)) places.set(identity, place);
    }
    return places;
  };
  const wanted = placesIn(order);
  const before = placesIn(former);
  const placed = (places: ReadonlyMap<unknown, number>) => (a: unknown, b: unknown) =>
    (places.get(identityOf(a)) ?? 0) - (places.get(identityOf(b)) ?? 0);
  const ordered = items.filter((item) => wanted.has(identityOf(item))).sort(placed(wanted));
  const others = items.filter((item) => !wanted.has(identityOf(item))).sort(placed(before));
  const result: unknown[] = [];
  while (ordered.length > 0 && others.length > 0) {
    const [next, other] = [before.get(identityOf(ordered[0])), before.get(identityOf(others[0]))];
    const isOther = next !== undefined && other !== undefined && other < next;
    result.push(isOther ? others.shift() : ordered.shift());
  }
  return [...result, ...ordered, ...others];
}

/** Are all items of the patch in the order, one after another? Those that are deleted need not be. */
export function orderAgrees(patch: Items, order: Items, { mergeKey }: Place): boolean {
  const identityOf = (item: unknown): unknown =>
    mergeKey === undefined || !isMapping(item) ? item : keyOf(item, mergeKey);
  const changes = patch.filter((item) => !isMapping(item) || item[DIRECTIVE] !== 'delete');
  let matched = 0;
  for (const item of order) {
    if (matched < changes.length && identityOf(changes[matched]) === identityOf(item)) matched += 1;
  }
  return matched === changes.length;
}

/** All items are of one type, or cannot be merged. */
export function itemTypeOf(lists: readonly Items[]): 'map' | 'scalar' {
  const types = new Set(
    lists.flat().map((item) => (Array.isArray(item) ? 'list' : isMapping(item) ? 'map' : typeof item)),
  );
  if (types.size === 0) throw failure('no elements in any of the given slices');
  if (types.size > 1) throw failure(`list element types are not identical: ${goPlain(lists)}`);
  if (types.has('list')) throw new StatusError(422, '', 'lists of lists are not supported');
  return types.has('map') ? 'map' : 'scalar';
}

function keyOf(item: Mapping, mergeKey: string): unknown {
  if (Object.hasOwn(item, mergeKey)) return item[mergeKey];
  throw failure(`map: ${goPlain(item)} does not contain declared merge key: ${mergeKey}`);
}

function failure(message: string): StatusError {
  return new StatusError(500, '', message);
}
