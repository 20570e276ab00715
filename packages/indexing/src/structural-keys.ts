/** Keys of indices are compared by structure, while `Map` compares objects by identity: so each key gets a slot. */

/** What a `Map` can compare: the same for keys of the same structure, and different for all others. */
export type Slot = unknown;

/** Tells the slots of structures from the keys that are texts themselves. */
const MARK = '\0';

/**
 * Texts, numbers and the like are their own slots, and cost nothing. Lists, plain objects and dates are compared by
 * what is in them; the order of the keys of an object does not matter, nor do keys with `undefined`.
 * Everything else (instances of classes, functions, symbols) is equal only to itself.
 */
export type SlotOf = (key: unknown) => Slot;

export function structuralKeys(): SlotOf {
  const identities = identityNumbers();
  // Everything begins with what it is, and texts with how long they are: so no two structures have the same form.
  const structureOf = (value: unknown): string => {
    if (typeof value === 'string') return `${value.length}:${value}`;
    if (typeof value === 'bigint') return `=${value}n;`;
    // As in maps: zero is zero.
    if (value === 0) return '=0;';
    if (value === null || typeof value === 'number' || typeof value === 'boolean' || value === undefined) {
      return `=${value};`;
    }
    if (Array.isArray(value)) return structureOfList(value);
    if (value instanceof Date) return `@${value.getTime()};`;
    return isPlain(value) ? structureOfMapping(value) : `#${identities(value as object | symbol)};`;
  };
  const structureOfList = (list: readonly unknown[]): string => {
    let structure = '[';
    for (let n = 0; n < list.length; n++) structure += structureOf(list[n]);
    return `${structure}]`;
  };
  const structureOfMapping = (mapping: Readonly<Record<string, unknown>>): string => {
    let structure = '{';
    for (const key of Object.keys(mapping).sort()) {
      if (mapping[key] !== undefined) structure += structureOf(key) + structureOf(mapping[key]);
    }
    return `${structure}}`;
  };
  return (key) => {
    if (typeof key === 'string') return key.startsWith(MARK) ? MARK + structureOf(key) : key;
    if (typeof key !== 'object' || key === null) return key;
    return Array.isArray(key) || key instanceof Date || isPlain(key) ? MARK + structureOf(key) : key;
  };
}

/** Made by braces or by JSON: not an instance of any class. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function identityNumbers(): (value: object | symbol) => number {
  let last = 0;
  const ofObjects = new WeakMap<object, number>();
  // Symbols cannot be held weakly; but there are few of them, if any.
  const ofSymbols = new Map<symbol, number>();
  return (value) => {
    const numbers = (typeof value === 'symbol' ? ofSymbols : ofObjects) as Map<unknown, number>;
    const known = numbers.get(value);
    if (known !== undefined) return known;
    numbers.set(value, ++last);
    return last;
  };
}
