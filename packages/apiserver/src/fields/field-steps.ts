/**
 * The steps of paths to fields, as `FieldsV1` spells them: `f:name` is a field, `k:{"name":"x"}` an item with that key,
 * `v:"x"` an item that is that value.
 */
import { getOwn, isMapping } from '@kopf-ts/core';
import type { ListFieldType } from '../schemas/field-types.js';

export const fieldStep = (name: string): string => `f:${name}`;

/** Says why an item cannot be told apart from others. */
export class NoStepError extends Error {}

/** Throws a `NoStepError` if the item has no key, or is no value that can be compared. */
export function itemStep(type: ListFieldType, item: unknown): string {
  return type.relation === 'set' ? valueStep(item) : keyStep(type, item);
}

function valueStep(item: unknown): string {
  if (item === null || item === undefined) {
    throw new NoStepError("associative list without keys has an element that's an explicit null");
  }
  if (Array.isArray(item)) throw new NoStepError('not supported: associative list with lists as elements');
  if (isMapping(item)) throw new NoStepError("associative list without keys has an element that's a map type");
  return `v:${JSON.stringify(item)}`;
}

function keyStep({ keys, keyDefaults }: ListFieldType, item: unknown): string {
  if (item === null || item === undefined) {
    throw new NoStepError('associative list with keys may not have a null element');
  }
  if (!isMapping(item)) throw new NoStepError('associative list with keys may not have non-map elements');
  const parts: string[] = [];
  for (const key of keys.length > 1 ? [...keys].sort() : keys) {
    const value = getOwn(item, key) ?? (Object.hasOwn(item, key) ? null : keyDefaults[key]);
    if (value !== undefined) parts.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  if (parts.length === 0) {
    const told = keys.map((key) => JSON.stringify(key)).join(' ');
    throw new NoStepError(
      `associative list with keys has an element that omits all key fields [${told}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:{${parts.join(',')}}`;
}

/** A path as the messages of the API server have it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathText(steps: readonly string[]): string {
  return steps.map(stepText).join('');
}

function stepText(step: string): string {
  const text = step.slice(2);
  switch (step[0]) {
    case 'k': {
      const keys = Object.entries(JSON.parse(text) as object).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      return `[${keys.join(',')}]`;
    }
    case 'v':
      return `[=${text}]`;
    case 'i':
      return `[${text}]`;
    default:
      return `.${text}`;
  }
}
