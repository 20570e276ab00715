/** Small words for writing defaults down. */
import { isMapping, type Mapping } from '@kopf-ts/core';

/** Sets what is absent; returns what is there then. */
export function setDefault(target: Mapping, key: string, value: unknown): unknown {
  const existing = target[key];
  if (existing === undefined || existing === null) target[key] = value;
  return target[key];
}

/** A mapping under the key; made if it is absent. */
export function mappingAt(target: Mapping, key: string): Mapping {
  const existing = target[key];
  if (isMapping(existing)) return existing;
  const made: Mapping = {};
  target[key] = made;
  return made;
}

/** The mapping under the key, if there is one. */
export function maybeMapping(target: Mapping | undefined, key: string): Mapping | undefined {
  const existing = target?.[key];
  return isMapping(existing) ? existing : undefined;
}

/** The mappings of the list under the key; none if there is no list. */
export function itemsOf(target: Mapping | undefined, key: string): Mapping[] {
  const existing = target?.[key];
  return Array.isArray(existing) ? existing.filter(isMapping) : [];
}
