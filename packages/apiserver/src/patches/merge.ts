/** Merge patches, exactly as RFC 7386 has them. */
import { deepCopy, getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';

/** The patched value; the target is changed in place where it is a mapping. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return deepCopy(patch);
  const result: Mapping = isMapping(target) ? target : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete result[key];
    else setOwn(result, key, mergePatch(getOwn(result, key), value));
  }
  return result;
}
