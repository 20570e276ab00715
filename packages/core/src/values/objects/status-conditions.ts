/** Conditions of objects, by the conventions of Kubernetes: one for each type, in a list that others write into, too. */
import { isMapping, type Mapping } from '../json.js';
import type { AnyObject } from './body.js';

/**
 * One condition in `status.conditions`, as Kubernetes has it. Naming the types of conditions in the type of the status
 * makes {@link conditions} know them.
 *
 * ```ts
 * interface Status {
 *   conditions?: kopf.Condition<'Ready' | 'Synced'>[];
 * }
 * const databases = kopf.resource<{ size: number }, Status>({ plural: 'databases' });
 * ```
 */
export interface Condition<Type extends string = string, Reason extends string = string> {
  type: Type;
  status: 'True' | 'False' | 'Unknown';
  /** Of which generation of the object it is told. */
  observedGeneration?: number;
  /** When the status became what it is. */
  lastTransitionTime?: string;
  /** A word in CamelCase, for programs. */
  reason?: Reason;
  /** A text for people. */
  message?: string;
}

/** What a condition is to be; `null` removes a field, and what is absent stays as it is. */
export interface WantedCondition {
  readonly status: Condition['status'];
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number | null | undefined;
  /** When it was asked for: the time of the transition, if it turns out to be one. */
  readonly time: string;
}

/**
 * What the conditions were before the first change of them in the same patch. A condition that is changed back and forth
 * there has made no transition.
 */
const originals = new WeakMap<object, Map<string, Mapping | undefined>>();

/** Puts the condition into the object, in place; or takes it out, if nothing is wanted. Others stay where they are. */
export function putCondition(object: AnyObject, type: string, wanted: WantedCondition | undefined): void {
  const list = conditionsIn(object);
  const index = list.findIndex((each) => isMapping(each) && each.type === type);
  const existing = list[index] as Mapping | undefined;
  const original = originalOf(object, type, existing);
  if (wanted === undefined) {
    if (index >= 0) list.splice(index, 1);
    return;
  }
  const condition = changed(type, wanted, existing, original);
  if (index >= 0) list[index] = condition;
  else list.push(condition);
  // Whatever is there instead of them is no status, and no list of conditions.
  if (!isMapping(object['status'])) object['status'] = {};
  (object['status'] as Mapping)['conditions'] = list;
}

/** The list itself, if there is one. */
export function conditionsIn(object: object): unknown[] {
  const { status } = object as Mapping;
  const list = isMapping(status) ? status['conditions'] : undefined;
  return Array.isArray(list) ? list : [];
}

function originalOf(object: object, type: string, existing: Mapping | undefined): Mapping | undefined {
  let known = originals.get(object);
  if (known === undefined) {
    known = new Map();
    originals.set(object, known);
  }
  if (!known.has(type)) known.set(type, existing);
  return known.get(type);
}

function changed(
  type: string,
  { status, reason, message, observedGeneration, time }: WantedCondition,
  existing: Mapping | undefined,
  original: Mapping | undefined,
): Mapping {
  const same = [existing, original].find((each) => each?.['status'] === status && each['lastTransitionTime']);
  const condition: Mapping = {
    ...(existing ?? original ?? { type, status, ...(observedGeneration === undefined ? {} : { observedGeneration }) }),
    status,
    lastTransitionTime: same?.['lastTransitionTime'] ?? time,
    reason,
    message,
  };
  if (observedGeneration === null) delete condition['observedGeneration'];
  else if (observedGeneration !== undefined) condition['observedGeneration'] = observedGeneration;
  return condition;
}
