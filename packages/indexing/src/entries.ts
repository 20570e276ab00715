/** What an index function has returned, as it goes into the index. */
import { isPlain, type Slot, type SlotOf } from './structural-keys.js';

export interface Entry {
  readonly slot: Slot;
  readonly key: unknown;
  readonly value: unknown;
}

/** Whatever the object has in the index is to be removed. */
export const NOTHING: readonly Entry[] = [];

/**
 * A mapping (a plain object or a `Map`) is taken by its keys; anything else is one value under the key `null`.
 * `undefined` inside of a mapping is the absence of the key, as everywhere; `null` is a value.
 */
export function entriesOf(result: unknown, slotOf: SlotOf): readonly Entry[] {
  const entries: Entry[] = [];
  if (result instanceof Map) {
    for (const [key, value] of result as ReadonlyMap<unknown, unknown>) {
      if (value !== undefined) entries.push({ slot: slotOf(key), key, value });
    }
  } else if (isPlain(result)) {
    for (const key of Object.keys(result)) {
      const value = result[key];
      if (value !== undefined) entries.push({ slot: slotOf(key), key, value });
    }
  } else {
    entries.push({ slot: null, key: null, value: result });
  }
  return entries;
}
