/** Essences without the traces of storages: most essences have none, and are not copied then. */
import { deepCopy, type Essence, removeEmptyStanzas } from '@kopf-ts/core';
import { hasEmptyStanzas } from '@kopf-ts/core/engine';

/** The essence without what the function removes from a copy of it; the very same one if it has no traces. */
export function withoutTraces(essence: Essence, hasTraces: boolean, remove: (copy: Essence) => void): Essence {
  if (!hasTraces && !hasEmptyStanzas(essence)) return essence;
  const copy = deepCopy(essence);
  remove(copy);
  removeEmptyStanzas(copy);
  return copy;
}
