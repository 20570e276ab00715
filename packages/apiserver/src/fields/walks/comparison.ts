/** What a change of an object means for its fields. */
import { deepEqual, getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { FieldType, ListFieldType, MapFieldType } from '../../schemas/field-types.js';
import { type FieldSet, LEAF, memberWith, NOTHING, union } from '../field-sets.js';
import { fieldStep, itemStep } from '../field-steps.js';
import { type ResolvedType, resolved } from './resolved-types.js';

export interface Changes {
  /** What is new or has another value. */
  readonly changed: FieldSet;
  /** What is no more. */
  readonly removed: FieldSet;
}

const NO_CHANGES: Changes = { changed: NOTHING, removed: NOTHING };

/** Throws a `NoStepError` if there are items of lists that cannot be told apart. */
export function changesOf(before: unknown, after: unknown, type: FieldType): Changes {
  return compared(before, after, type) ?? NO_CHANGES;
}

/** Of nodes: `undefined` where nothing differs, so that nothing is made for what stays. */
type NodeChanges = Partial<Changes> | undefined;

const IS_CHANGED: NodeChanges = { changed: LEAF };

function compared(before: unknown, after: unknown, type: FieldType): Changes | undefined {
  const changes = comparedNodes(before, after, type);
  return changes === undefined ? undefined : { ...NO_CHANGES, ...changes };
}

/** Both are there. */
function comparedNodes(before: unknown, after: unknown, type: FieldType): NodeChanges {
  if (before === after) return undefined;
  const typeBefore = resolved(type, before ?? after);
  const typeAfter = resolved(type, after ?? before);
  if (typeBefore.is === typeAfter.is) return comparedAs(before, after, typeAfter);
  return joined(comparedAs(before, after, typeBefore), comparedAs(before, after, typeAfter));
}

function comparedAs(before: unknown, after: unknown, type: ResolvedType): NodeChanges {
  if (type.is === 'leaf') return deepEqual(before, after) ? undefined : IS_CHANGED;
  if (type.is === 'map') {
    const [old, now] = [isMapping(before) ? before : {}, isMapping(after) ? after : {}];
    if (!isFilledMapping(old) && !isFilledMapping(now)) return deepEqual(before, after) ? undefined : IS_CHANGED;
    return comparedMaps(old, now, type);
  }
  const [old, now]: [readonly unknown[], readonly unknown[]] = [
    Array.isArray(before) ? before : [],
    Array.isArray(after) ? after : [],
  ];
  if (deepEqual(before, after)) return undefined;
  if (old.length === 0 && now.length === 0) return IS_CHANGED;
  return comparedLists(old, now, type);
}

function isFilledMapping(value: Mapping): boolean {
  for (const _ in value) return true;
  return false;
}

function joined(a: NodeChanges, b: NodeChanges): NodeChanges {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    changed: joinedNodes(a.changed, b.changed),
    removed: joinedNodes(a.removed, b.removed),
  } as NodeChanges;
}

function joinedNodes(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  // As nodes of one step, so that members stay members.
  return union({ 'f:': a }, { 'f:': b })['f:'];
}

/** Collects what was found step by step; makes nothing before something is found. */
class Collector {
  #changed: Record<string, FieldSet> | undefined;
  #removed: Record<string, FieldSet> | undefined;

  add(step: string, changes: NodeChanges): void {
    if (changes?.changed !== undefined) this.change(step, changes.changed);
    if (changes?.removed !== undefined) this.remove(step, changes.removed);
  }
  change(step: string, node: FieldSet): void {
    this.#changed ??= {};
    this.#changed[step] = node;
  }
  remove(step: string, node: FieldSet): void {
    this.#removed ??= {};
    this.#removed[step] = node;
  }
  get found(): NodeChanges {
    if (this.#changed === undefined && this.#removed === undefined) return undefined;
    return {
      ...(this.#changed === undefined ? {} : { changed: this.#changed }),
      ...(this.#removed === undefined ? {} : { removed: this.#removed }),
    };
  }
}

function comparedMaps(before: Mapping, after: Mapping, type: MapFieldType): NodeChanges {
  const collected = new Collector();
  for (const name of Object.keys(after)) {
    const now = after[name];
    if (Object.hasOwn(before, name)) {
      const old = getOwn(before, name);
      if (old !== now) collected.add(fieldStep(name), comparedNodes(old, now, fieldOf(type, name)));
    } else collected.change(fieldStep(name), everythingIn(now, fieldOf(type, name)));
  }
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) {
      collected.remove(fieldStep(name), everythingIn(before[name], fieldOf(type, name)));
    }
  }
  return collected.found;
}

function comparedLists(before: readonly unknown[], after: readonly unknown[], type: ListFieldType): NodeChanges {
  const collected = new Collector();
  const old = itemsByStep(before, type);
  const now = itemsByStep(after, type);
  for (const step of new Set([...old.keys(), ...now.keys()])) {
    comparedItems(step, old.get(step) ?? [], now.get(step) ?? [], type, collected);
  }
  return collected.found;
}

/** There may be several items with the same key, though there should not: these are one value, all together. */
function comparedItems(
  step: string,
  before: readonly unknown[],
  after: readonly unknown[],
  type: ListFieldType,
  collected: Collector,
): void {
  const [old, now] = [before[0], after[0]];
  if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) collected.change(step, LEAF);
  } else if (before.length > 1) {
    collected.remove(step, LEAF);
    if (after.length > 0) collected.change(step, everythingIn(now, type.of));
  } else if (after.length > 1) {
    if (before.length > 0) collected.remove(step, everythingIn(old, type.of));
    collected.change(step, LEAF);
  } else if (before.length === 0) collected.change(step, everythingIn(now, type.of));
  else if (after.length === 0) collected.remove(step, everythingIn(old, type.of));
  else collected.add(step, comparedNodes(old, now, type.of));
}

function itemsByStep(items: readonly unknown[], type: ListFieldType): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    const step = itemStep(type, item);
    const known = found.get(step);
    if (known === undefined) found.set(step, [item]);
    else known.push(item);
  }
  return found;
}

/** Where a schema has no such field, what is there speaks for itself. */
export function fieldOf(type: MapFieldType, name: string): FieldType {
  return type.field(name) ?? UNDECLARED;
}

const UNDECLARED: FieldType = { is: 'free', isAtomic: false };

/** A node with all that is new when the value is new: each step on the way is a member. */
function everythingIn(value: unknown, type: FieldType): FieldSet {
  const actual = resolved(type, value);
  if (actual.is === 'map' && isMapping(value)) {
    const inside: Record<string, FieldSet> = {};
    for (const name of Object.keys(value)) inside[fieldStep(name)] = everythingIn(value[name], fieldOf(actual, name));
    return memberWith(inside);
  }
  if (actual.is === 'list' && Array.isArray(value)) {
    const inside: Record<string, FieldSet> = {};
    for (const [step, items] of itemsByStep(value, actual)) {
      inside[step] = items.length > 1 ? LEAF : everythingIn(items[0], actual.of);
    }
    return memberWith(inside);
  }
  return LEAF;
}
