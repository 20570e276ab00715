/** Merge-patches put together, before any of them is applied. */
import { isMapping, type Mapping } from '@kopf-ts/core';

/** Puts one merge-patch over another. Unlike applying a patch, this keeps the nulls: they say what to remove. */
export function mergeInto(target: Mapping, patch: Mapping): void {
  for (const [key, value] of Object.entries(patch)) {
    const existing = target[key];
    if (isMapping(existing) && isMapping(value)) mergeInto(existing, value);
    else target[key] = value;
  }
}
