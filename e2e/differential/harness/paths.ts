/** The value at a dotted path, such as `items.0.metadata.name`; `undefined` if there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let found: unknown = value;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** A copy in which every text, keys included, is replaced. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  // Entries, not assignments: `__proto__` is a key like any other.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapTexts(item, map)]));
}

/** A copy of the answer without some keys, wherever they are. */
export function withoutKeys(value: unknown, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutKeys(item, keys));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutKeys(item, keys)]));
}
