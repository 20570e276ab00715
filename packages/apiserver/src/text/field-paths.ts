/** Values by paths such as `.spec.replicas`, as definitions write them. */
import { getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';

const keysOf = (path: string): string[] => path.split('.').filter((key) => key !== '');

export function valueAt(object: object, path: string): unknown {
  let value: unknown = object;
  for (const key of keysOf(path)) value = isMapping(value) ? getOwn(value, key) : undefined;
  return value;
}

/** Makes the way there if there is none. */
export function setValueAt(object: Mapping, path: string, value: unknown): void {
  const keys = keysOf(path);
  let target = object;
  for (const key of keys.slice(0, -1)) {
    const existing = getOwn(target, key);
    const next = isMapping(existing) ? existing : {};
    setOwn(target, key, next);
    target = next;
  }
  setOwn(target, keys.at(-1) as string, value);
}
