/** An applied configuration in the object that is there: what it speaks of is as it says, and the rest stays. */
import { getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import type { FieldType, ListFieldType, MapFieldType } from '../../schemas/field-types.js';
import { itemStep } from '../field-steps.js';
import { fieldOf } from './comparison.js';
import { type ResolvedType, resolved } from './resolved-types.js';

/** Neither of both is changed, but the result shares their parts. */
export function merged(live: unknown, applied: unknown, type: FieldType): unknown {
  const actual: ResolvedType = resolved(type, applied ?? live);
  if (actual.is === 'map') {
    if (!isFilledMapping(live) && !isFilledMapping(applied)) return applied;
    return mergedMaps(isMapping(live) ? live : {}, isMapping(applied) ? applied : {}, actual);
  }
  if (actual.is === 'list') {
    if (!isFilledList(live) && !isFilledList(applied)) return applied;
    return mergedLists(Array.isArray(live) ? live : [], Array.isArray(applied) ? applied : [], actual);
  }
  return applied;
}

const isFilledMapping = (value: unknown): boolean => isMapping(value) && Object.keys(value).length > 0;
const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

function mergedMaps(live: Mapping, applied: Mapping, type: MapFieldType): Mapping {
  const result: Mapping = { ...live };
  for (const name of Object.keys(applied)) {
    const value = applied[name];
    const isThere = Object.hasOwn(live, name);
    setOwn(result, name, isThere ? merged(getOwn(live, name), value, fieldOf(type, name)) : value);
  }
  return result;
}

/**
 * Applied items come in their order; those of others stay where they are among them, as far as the order of what both
 * have allows it.
 */
function mergedLists(live: readonly unknown[], applied: readonly unknown[], type: ListFieldType): readonly unknown[] {
  const steps = applied.map((item) => itemStep(type, item));
  const positions = new Map(steps.map((step, index) => [step, index]));
  const liveSteps = live.map((item) => itemStep(type, item));
  const counterparts = onlyOnes(live, liveSteps);
  const result: unknown[] = [];
  let next = 0;
  const takeApplied = (): void => {
    const step = steps[next] as string;
    const other = counterparts.get(step);
    result.push(other === undefined ? applied[next] : merged(other, applied[next], type.of));
    next++;
  };
  let shared = 0;
  /** The next applied item that is there already; beyond the end if there is none. */
  const nextShared = (): number => {
    while (shared < steps.length && (shared < next || !counterparts.has(steps[shared] as string))) shared++;
    return shared;
  };

  for (const [index, step] of liveSteps.entries()) {
    const position = positions.get(step);
    if (position === undefined) {
      result.push(live[index]);
      continue;
    }
    if (position === nextShared()) while (next <= position) takeApplied();
    else if (nextShared() === steps.length && next < steps.length) takeApplied();
  }
  while (next < steps.length) takeApplied();
  return result;
}

/** Of several items with the same key, none is merged. */
function onlyOnes(items: readonly unknown[], steps: readonly string[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [index, step] of steps.entries()) found.set(step, found.has(step) ? undefined : items[index]);
  return found;
}
