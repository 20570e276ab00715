/** Fields that a manager has applied before, does not apply any more, and that nobody else owns: they go. */
import { isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import type { FieldType, MapFieldType } from '../../schemas/field-types.js';
import { type FieldSet, hasInside, isMember, NOTHING } from '../field-sets.js';
import { fieldStep, itemStep } from '../field-steps.js';
import { fieldOf } from './comparison.js';
import { resolved } from './resolved-types.js';

/**
 * The value without what is in the former set and not in the set of what is still owned, by anyone. What has lost all
 * that was in it becomes null; whether that is allowed is up to the schema. The value itself is not changed.
 */
export function pruned(value: unknown, former: FieldSet, owned: FieldSet, type: FieldType): unknown {
  if (!hasInside(former)) return value;
  const actual = resolved(type, value);
  if (actual.is === 'map' && isMapping(value)) {
    const kept: Mapping = {};
    for (const name of Object.keys(value)) {
      const inside = partOf(former, fieldStep(name));
      const ownedInside = partOf(owned, fieldStep(name));
      const isToGo = isIn(inside, actual, name) && !isIn(ownedInside, actual, name);
      if (!isToGo) setOwn(kept, name, prunedPart(value[name], inside, ownedInside, fieldOf(actual, name)));
    }
    return Object.keys(kept).length > 0 ? kept : null;
  }
  if (actual.is === 'list' && Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const item of value) {
      const step = itemStep(actual, item);
      const [inside, ownedInside] = [partOf(former, step), partOf(owned, step)];
      const isToGo = inside !== undefined && isMember(inside) && !(ownedInside !== undefined && isMember(ownedInside));
      if (!isToGo) kept.push(prunedPart(item, inside, ownedInside, actual.of));
    }
    return kept.length > 0 ? kept : null;
  }
  return value;
}

function prunedPart(
  value: unknown,
  former: FieldSet | undefined,
  owned: FieldSet | undefined,
  type: FieldType,
): unknown {
  return former === undefined || !hasInside(former) ? value : pruned(value, former, owned ?? NOTHING, type);
}

const partOf = (set: FieldSet, step: string): FieldSet | undefined => set[step];

/** A field of a structure is as good as owned by the one who owns something in it; an entry of a mapping is not. */
function isIn(node: FieldSet | undefined, type: MapFieldType, name: string): boolean {
  return node !== undefined && (type.declares(name) || isMember(node));
}
