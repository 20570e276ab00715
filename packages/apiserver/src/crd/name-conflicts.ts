/** Who got which names: definitions of one group compete for plurals, short names and kinds; the first one wins. */
import { deepEqual, getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import { goQuote } from '../text/go-text.js';

/** One row of `status.conditions`. */
export interface DefinitionCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** The names that the definition gets, and whether these are all that it wants. */
interface NamesDecision {
  readonly acceptedNames: Mapping;
  readonly isAccepted: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Decides on the names of a definition, given all the other definitions. */
function judgeNames(definition: ServedObject, others: Iterable<ServedObject>): NamesDecision {
  const spec = mapping(definition, 'spec');
  const wanted = mapping(spec, 'names');
  const owned = mapping(mapping(definition, 'status'), 'acceptedNames');
  const accepted: Mapping = { ...owned };
  const { resources, kinds } = usedNames(others, getOwn(spec, 'group'));
  let [reason, message] = ['', ''];
  const claim = (key: string, used: ReadonlySet<unknown>, conflict: string): void => {
    const name = getOwn(wanted, key);
    if (name === getOwn(owned, key) || !used.has(name)) assign(accepted, key, name);
    else [reason, message] = [conflict, `${goQuote(String(name))} is already in use`];
  };
  claim('plural', resources, 'PluralConflict');
  claim('singular', resources, 'SingularConflict');
  const shortNames = listOf(wanted, 'shortNames');
  const ownShortNames = listOf(owned, 'shortNames');
  const taken = shortNames.filter((name) => !ownShortNames.includes(name) && resources.has(name));
  if (taken.length === 0) assign(accepted, 'shortNames', shortNames.length === 0 ? undefined : shortNames);
  else {
    const texts = taken.map((name) => `${goQuote(String(name))} is already in use`);
    [reason, message] = ['ShortNamesConflict', texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`];
  }
  claim('kind', kinds, 'KindConflict');
  claim('listKind', kinds, 'ListKindConflict');
  assign(accepted, 'categories', getOwn(wanted, 'categories'));
  const isAccepted = reason === '';
  return {
    acceptedNames: accepted,
    isAccepted,
    reason: isAccepted ? 'NoConflicts' : reason,
    message: isAccepted ? 'no conflicts found' : message,
  };
}

/** Puts a condition into the status, in place; the time moves only when the status of the condition does. */
export function setCondition(
  definition: ServedObject,
  condition: Omit<DefinitionCondition, 'lastTransitionTime'>,
  now: string,
): void {
  const status = mapping(definition, 'status');
  const conditions = listOf(status, 'conditions').filter(isMapping);
  const old = conditions.find((row) => getOwn(row, 'type') === condition.type);
  const lastTransitionTime =
    old !== undefined && getOwn(old, 'status') === condition.status ? String(getOwn(old, 'lastTransitionTime')) : now;
  const { type, status: value, reason, message } = condition;
  const row: Mapping = { type, status: value, lastTransitionTime, reason, message };
  if (old === undefined) conditions.push(row);
  else conditions[conditions.indexOf(old)] = row;
  status['conditions'] = conditions;
  definition['status'] = status;
}

/** Is the condition there, and true? */
export function isConditionTrue(definition: ServedObject, type: string): boolean {
  return listOf(mapping(definition, 'status'), 'conditions').some(
    (row) => isMapping(row) && getOwn(row, 'type') === type && getOwn(row, 'status') === 'True',
  );
}

/**
 * One step towards being served, in place: first the names are accepted (or not), then the definition is established.
 * Returns whether anything has changed; if so, call it again, since the real server takes two steps, too.
 */
export function advanceDefinition(definition: ServedObject, others: Iterable<ServedObject>, now: string): boolean {
  const wanted = mapping(mapping(definition, 'spec'), 'names');
  const owned = mapping(mapping(definition, 'status'), 'acceptedNames');
  if (!deepEqual(wanted, owned)) {
    const before = JSON.stringify(getOwn(definition, 'status'));
    const decision = judgeNames(definition, others);
    const status = mapping(definition, 'status');
    status['acceptedNames'] = decision.acceptedNames;
    definition['status'] = status;
    const { reason, message } = decision;
    setCondition(
      definition,
      { type: 'NamesAccepted', status: decision.isAccepted ? 'True' : 'False', reason, message },
      now,
    );
    if (!isConditionTrue(definition, 'Established')) {
      const notYet = decision.isAccepted
        ? { reason: 'Installing', message: 'the initial names have been accepted' }
        : { reason: 'NotAccepted', message: 'not all names are accepted' };
      setCondition(definition, { type: 'Established', status: 'False', ...notYet }, now);
    }
    if (JSON.stringify(getOwn(definition, 'status')) !== before) return true;
  }
  if (!isConditionTrue(definition, 'NamesAccepted') || isConditionTrue(definition, 'Established')) return false;
  const established = { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
  setCondition(definition, { type: 'Established', status: 'True', ...established }, now);
  return true;
}

/** The finalizer under which the objects of a deleted definition are deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** What the first request to delete a definition does to it, in place, besides the time of deletion. */
export function markForCleanup(definition: ServedObject, now: string): void {
  const finalizers = definition.metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) definition.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  setCondition(definition, { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message }, now);
}

function usedNames(
  definitions: Iterable<ServedObject>,
  group: unknown,
): { readonly resources: ReadonlySet<unknown>; readonly kinds: ReadonlySet<unknown> } {
  const [resources, kinds] = [new Set<unknown>(), new Set<unknown>()];
  for (const definition of definitions) {
    if (getOwn(mapping(definition, 'spec'), 'group') !== group) continue;
    const names = mapping(mapping(definition, 'status'), 'acceptedNames');
    for (const key of ['plural', 'singular']) resources.add(getOwn(names, key));
    for (const name of listOf(names, 'shortNames')) resources.add(name);
    for (const key of ['kind', 'listKind']) kinds.add(getOwn(names, key));
  }
  return { resources, kinds };
}

function assign(target: Mapping, key: string, value: unknown): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

function listOf(source: Mapping, key: string): unknown[] {
  const value = getOwn(source, key);
  return Array.isArray(value) ? [...value] : [];
}

function mapping(source: object, key: string): Mapping {
  const value = getOwn(source, key);
  return isMapping(value) ? value : {};
}
