/** What an index function has returned, as it goes into the index. */
import { isPlain, type Slot, type SlotOf } from './structural-keys.js';

export interface Entry {
  readonly slot: Slot;
  readonly key: unknown;
  readonly value: unknown;
}

/** Removes whatever the object has in the index. */
export const NOTHING: readonly Entry[] = [];

/**
 * A mapping (a plain object or a `Map`) is taken by its keys; anything else is one value under the key `null`.
 * `undefined` inside of a mapping is the absence of the key, as everywhere; `null` is a value.
 */
export function entriesOf(result: unknown, slotOf: SlotOf): readonly Entry[] {
  if (result instanceof Map) return entriesAt(result.keys(), (key) => result.get(key) as unknown, slotOf);
  if (isPlain(result)) return entriesAt(Object.keys(result), (key) => result[key], slotOf);
  return [{ slot: null, key: null, value: result }];
}

function entriesAt<K>(keys: Iterable<K>, valueAt: (key: K) => unknown, slotOf: SlotOf): readonly Entry[] {
  let entries: Entry[] | undefined;
  for (const key of keys) {
    const value = valueAt(key);
    if (value === undefined) continue;
    const entry = { slot: slotOf(key), key, value };
    // Most functions return one key; and a list that begins empty would take room for many of them.
    if (entries === undefined) entries = [entry];
    else entries.push(entry);
  }
  return entries ?? NOTHING;
}
