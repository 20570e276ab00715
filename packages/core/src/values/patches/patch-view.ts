/** Stanzas of a patch that can be read before they are there, and come to be when something is put into them. */
import { ensureField, type FieldPath, resolveField } from '../fields.js';
import { deepCopy, getOwn, isMapping, type Mapping, RECURSION_DEPTH, setOwn } from '../json.js';

/** All views say that they have this key: what only shows something else must be copied where a value is to be kept. */
export const VIEW: unique symbol = Symbol('kopf-ts.view');

/**
 * A mapping that lives inside of another one, at a path that may not exist.
 *
 * It keeps nothing itself: what is read is what the root has now, and a write goes to the root, creating the path.
 * It has no prototype, so that no key of a stranger (`__proto__`, `constructor`) leads to anything shared.
 *
 * @param children views to give out for some keys, in place of what is there.
 */
export function stanzaView(root: Mapping, path: FieldPath, children: Readonly<Record<string, Mapping>> = {}): Mapping {
  const current = (): Mapping => {
    const stanza = resolveField(root, path);
    return isMapping(stanza) ? stanza : {};
  };
  const read = (key: string): unknown => getOwn(children, key) ?? getOwn(current(), key);
  const write = (key: string, value: unknown): void => {
    if (value === undefined) delete current()[key];
    else ensureField(root, [...path, key], thawed(value));
  };
  return new Proxy<Mapping>(Object.create(null), {
    get: (_target, key) => {
      if (key === Symbol.toPrimitive) return () => JSON.stringify(current());
      return typeof key === 'string' ? read(key) : undefined;
    },
    set: (_target, key, value) => {
      if (typeof key === 'string') write(key, value);
      return typeof key === 'string';
    },
    defineProperty: (_target, key, { value }) => {
      if (typeof key === 'string') write(key, value);
      return typeof key === 'string';
    },
    deleteProperty: (_target, key) => Reflect.deleteProperty(current(), key),
    has: (_target, key) => key === VIEW || Object.hasOwn(current(), key),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_target, key) => dataProperty(current(), key, read),
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  });
}

/** Describes a key for listings of keys; a proxy may not describe as constant what is not constant in it. */
export function dataProperty(
  source: Mapping,
  key: string | symbol,
  read: (key: string) => unknown,
): PropertyDescriptor | undefined {
  if (typeof key === 'symbol' || !Object.hasOwn(source, key)) return undefined;
  return { value: read(key), enumerable: true, configurable: true, writable: true };
}

/**
 * A value that can live in a patch: others (storages, too) will write into its stanzas.
 *
 * Handlers put there parts of bodies, which are frozen, or are views in daemons, and parts of patches, which are views,
 * too; these are copied. A handler's own objects stay the same objects, so that it can go on filling them.
 */
export function thawed(value: unknown): unknown {
  return thawedAt(value, 0);
}

function thawedAt(value: unknown, depth: number): unknown {
  // Frozen lists can stay: nobody writes into lists.
  if (typeof value !== 'object' || value === null || (Array.isArray(value) && Object.isFrozen(value))) return value;
  // Nobody fills in what is so deep; while copying goes through any depth.
  if (Object.isFrozen(value) || VIEW in value || depth > RECURSION_DEPTH) return deepCopy(value);
  for (const key of Object.keys(value)) {
    const item = (value as Mapping)[key];
    const itemThawed = thawedAt(item, depth + 1);
    if (itemThawed !== item) setOwn(value, key, itemThawed);
  }
  return value;
}
