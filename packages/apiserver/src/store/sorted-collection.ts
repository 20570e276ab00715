/** Objects of one collection by name, sorted by name on demand. */
import type { Revision } from '../contracts/store.js';

/** Sorts as `namespace/name` does: that is the order in which the API server lists. */
export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

export interface SortedCollection {
  readonly size: number;
  get(key: string): Revision | undefined;
  set(key: string, revision: Revision): void;
  delete(key: string): void;
  /** All of them, or those with the prefix, in order. */
  sorted(prefix?: string): Revision[];
}

/** So many changes are put in order only when somebody asks for the order. */
const MOST_CLUTTER = 1024;

export function makeSortedCollection(): SortedCollection {
  const byKey = new Map<string, Revision>();
  /** In order, but possibly with keys that are gone, and without those that are new. */
  let keys: string[] = [];
  let added: string[] = [];
  let goneCount = 0;

  /** Merging keeps a list after a few changes cheap, however many objects there are. */
  const arrange = (): void => {
    if (added.length === 0 && goneCount === 0) return;
    const fresh = [...new Set(added)].filter((key) => byKey.has(key)).sort(byText);
    const merged: string[] = [];
    let next = 0;
    for (const key of keys) {
      while (next < fresh.length && (fresh[next] as string) < key) merged.push(fresh[next++] as string);
      if (next < fresh.length && fresh[next] === key) next++;
      if (byKey.has(key)) merged.push(key);
    }
    for (; next < fresh.length; next++) merged.push(fresh[next] as string);
    keys = merged;
    added = [];
    goneCount = 0;
  };
  /** Where nobody ever lists, names of what came and went would pile up. */
  const arrangeIfCluttered = (): void => {
    if (added.length + goneCount > MOST_CLUTTER && added.length + goneCount > 2 * byKey.size) arrange();
  };

  return {
    get size() {
      return byKey.size;
    },
    get: (key) => byKey.get(key),
    set(key, revision) {
      if (!byKey.has(key)) added.push(key);
      byKey.set(key, revision);
    },
    delete(key) {
      if (!byKey.delete(key)) return;
      goneCount++;
      arrangeIfCluttered();
    },
    sorted(prefix) {
      arrange();
      const found: Revision[] = [];
      for (let index = prefix === undefined ? 0 : firstAtOrAfter(keys, prefix); index < keys.length; index++) {
        const key = keys[index] as string;
        if (prefix !== undefined && !key.startsWith(prefix)) break;
        const revision = byKey.get(key);
        if (revision !== undefined) found.push(revision);
      }
      return found;
    },
  };
}

/** Comparison by code units, as bytes compare for the names that are possible. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function firstAtOrAfter(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
