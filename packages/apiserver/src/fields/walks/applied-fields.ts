/** The fields that an applied configuration speaks of: its manager owns them. */
import { isMapping } from '@kopf-ts/core';
import type { FieldType } from '../../schemas/field-types.js';
import { type FieldSet, LEAF, memberWith, NOTHING } from '../field-sets.js';
import { fieldStep, itemStep } from '../field-steps.js';
import { fieldOf } from './comparison.js';
import { resolved } from './resolved-types.js';

/** Throws a `NoStepError` if there are items of lists that cannot be told apart. */
export function appliedFields(configuration: unknown, type: FieldType): FieldSet {
  return nodeIn(configuration, type) ?? NOTHING;
}

/**
 * Unlike in changes, a structure or a list that has something in it is not owned as such: others may own other parts.
 * Entries of mappings and items of lists are owned, as they could be named anything.
 */
function nodeIn(value: unknown, type: FieldType): FieldSet | undefined {
  const actual = resolved(type, value);
  if (actual.is === 'leaf') return LEAF;
  const inside: Record<string, FieldSet> = {};
  if (actual.is === 'map') {
    if (!isMapping(value)) return undefined;
    for (const name of Object.keys(value)) {
      const item = value[name];
      const node = nodeIn(item, fieldOf(actual, name));
      const isOwned = item === null || isEmptyMapping(item) || !actual.declares(name);
      if (isOwned || node !== undefined) inside[fieldStep(name)] = isOwned ? asMember(node) : (node as FieldSet);
    }
  } else {
    if (!Array.isArray(value)) return undefined;
    for (const item of value) inside[itemStep(actual, item)] = asMember(nodeIn(item, actual.of));
  }
  return Object.keys(inside).length === 0 ? undefined : inside;
}

function asMember(node: FieldSet | undefined): FieldSet {
  return node === undefined || node === LEAF ? LEAF : memberWith(node);
}

function isEmptyMapping(value: unknown): boolean {
  return isMapping(value) && Object.keys(value).length === 0;
}
