/**
 * Paths to fields of an object: `'spec.size'`, or `['metadata', 'annotations', 'example.com/note']` where the keys
 * have dots of their own. Lists are not walked into: for a path, they are values as any other.
 *
 * `null` on the way counts as absence, as everywhere in the comparison of objects; a scalar or a list does not.
 */
import { FieldError } from '../errors.js';
import { deepCopy, getOwn, isMapping, type Mapping, setOwn } from './json.js';

/**
 * The keys from the root of an object to a field; an empty path means the object itself.
 *
 * ```ts
 * const path: kopf.FieldPath = ['metadata', 'annotations', 'example.com/note'];
 * ```
 */
export type FieldPath = readonly string[];

/**
 * A path as people write it.
 *
 * ```ts
 * const specs: kopf.FieldSpec[] = ['spec.size', ['metadata', 'annotations', 'example.com/note']];
 * ```
 */
export type FieldSpec = string | readonly string[] | null | undefined;

export interface ScalarsOption {
  /**
   * What to do if a scalar or a list stands where the path needs a mapping: refuse with an error (by default),
   * or take the field as absent — for the objects of strangers, where nobody around can fix the shape.
   */
  readonly scalars?: 'refuse' | 'absent';
}

/**
 * Brings a path to its only form; anything that is not a path is refused with a `FieldError`.
 *
 * ```ts
 * kopf.parseField('spec.size'); // ['spec', 'size']
 * ```
 */
export function parseField(spec: FieldSpec): FieldPath {
  if (spec === undefined || spec === null || spec === '') return [];
  if (typeof spec === 'string') return spec.split('.');
  if (Array.isArray(spec) && spec.every((key) => typeof key === 'string')) return [...spec];
  throw new FieldError('A field must be a dotted string or a list of strings.', { code: 'KOPF_FIELD_SPEC' });
}

/**
 * The path as one word, for ids and messages. It does not parse back if the keys have dots.
 *
 * ```ts
 * kopf.formatField(['spec', 'size']); // 'spec.size'
 * ```
 */
export function formatField(path: FieldPath): string {
  return path.join('.');
}

/**
 * The value of the field, or `undefined` if it is absent, or if something on the way is not a mapping.
 *
 * ```ts
 * kopf.resolveField(body, ['spec', 'template', 'spec', 'nodeName']);
 * ```
 */
export function resolveField(source: unknown, path: FieldPath): unknown {
  let value = source;
  // Spelled out: there is nothing that is done more often.
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, key) ? (value as Mapping)[key] : undefined;
  }
  return value;
}

/** The value of the field; throws a `FieldError` that tells an absent field from an impossible one by its code. */
export function requireField(source: unknown, path: FieldPath): unknown {
  let value = source;
  for (const [depth, key] of path.entries()) {
    if (isAbsent(value)) throw absentField(path.slice(0, depth));
    if (!isMapping(value)) throw scalarField(path.slice(0, depth));
    value = getOwn(value, key);
  }
  if (value === undefined) throw absentField(path);
  return value;
}

/**
 * Whether the object has the field, even with `null` as its value.
 *
 * ```ts
 * kopf.hasField({ spec: { size: null } }, ['spec', 'size']); // true
 * ```
 */
export function hasField(source: unknown, path: FieldPath): boolean {
  return resolveField(source, path) !== undefined;
}

/**
 * Sets the field, creating the mappings on the way to it.
 *
 * ```ts
 * const deployment = { spec: {} };
 * kopf.ensureField(deployment, ['spec', 'template', 'metadata', 'labels'], { app: 'web' });
 * ```
 */
export function ensureField(target: object, path: FieldPath, value: unknown): void {
  const [parents, lastKey] = splitPath(path);
  let parent = target;
  for (const [depth, key] of parents.entries()) {
    const existing = getOwn(parent, key);
    const child = isAbsent(existing) ? {} : existing;
    if (!isMapping(child)) throw scalarField(path.slice(0, depth + 1));
    if (child !== existing) setOwn(parent, key, child);
    parent = child;
  }
  setOwn(parent, lastKey, value);
}

/**
 * Removes the field, and the mappings on the way to it that are left empty. Removing what is absent is no error.
 *
 * ```ts
 * const object = { status: { note: 'old' } };
 * kopf.removeField(object, ['status', 'note']); // the object is empty now
 * ```
 */
export function removeField(target: object, path: FieldPath, options: ScalarsOption = {}): void {
  const [parents, lastKey] = splitPath(path);
  const walked: [parent: object, key: string, child: Mapping][] = [];
  let parent = target;
  for (const [depth, key] of parents.entries()) {
    const child = getOwn(parent, key);
    if (isAbsent(child)) break;
    if (!isMapping(child)) {
      if (options.scalars === 'absent') break;
      throw scalarField(path.slice(0, depth + 1));
    }
    walked.push([parent, key, child]);
    parent = child;
  }
  if (walked.length === parents.length) delete (parent as Mapping)[lastKey];
  for (const [owner, key, child] of walked.reverse()) {
    if (Object.keys(child).length > 0) return;
    delete (owner as Mapping)[key];
  }
}

/** Copies the given fields from one object to another, over what is there; those that the source has not are skipped. */
export function cherrypick(
  source: object,
  target: object,
  fields: Iterable<FieldPath>,
  options: ScalarsOption = {},
): void {
  for (const path of fields) {
    const scalarIsOnTheWay = hasScalarOnTheWay(source, path) || hasScalarOnTheWay(target, path);
    if (scalarIsOnTheWay && options.scalars === 'absent') continue;
    if (scalarIsOnTheWay) throw scalarField(path);
    const value = resolveField(source, path);
    if (value !== undefined) ensureField(target, path, deepCopy(value));
  }
}

function hasScalarOnTheWay(source: object, path: FieldPath): boolean {
  let value: unknown = source;
  for (const key of path.slice(0, -1)) {
    value = getOwn(value as object, key);
    if (!isMapping(value)) return !isAbsent(value);
  }
  return false;
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function splitPath(path: FieldPath): [parents: FieldPath, lastKey: string] {
  const lastKey = path.at(-1);
  if (lastKey === undefined) {
    throw new FieldError('The whole object cannot be set or removed by a path.', { code: 'KOPF_FIELD_EMPTY' });
  }
  return [path.slice(0, -1), lastKey];
}

function absentField(path: FieldPath): FieldError {
  return new FieldError(`There is no field '${formatField(path)}'.`, { code: 'KOPF_FIELD_ABSENT' });
}

function scalarField(path: FieldPath): FieldError {
  return new FieldError(`Not a mapping at '${formatField(path)}' or on the way to it.`, { code: 'KOPF_FIELD_SCALAR' });
}

/**
 * The type of the field at a path: `ValueAt<{ spec: { size: string } }, 'spec.size'>` is `string`.
 *
 * Optional fields on the way add `undefined`; so do index signatures, where a key may or may not be. A path that
 * a closed type cannot have is `never`, so that a misspelt `field` is refused by the compiler; `any` stays `any`,
 * and of a path that is not a literal nothing is known.
 *
 * ```ts
 * type Size = kopf.ValueAt<{ spec: { size: number } }, 'spec.size'>; // number
 * ```
 */
export type ValueAt<T, P extends string | readonly string[]> = P extends readonly string[]
  ? string[] extends P
    ? unknown
    : Walk<T, P>
  : P extends string
    ? string extends P
      ? unknown
      : Walk<T, Split<P>>
    : never;

type Split<P extends string> = P extends '' ? [] : P extends `${infer Key}.${infer Rest}` ? [Key, ...Split<Rest>] : [P];

type Walk<T, Path extends readonly string[]> = Path extends readonly [
  infer Key extends string,
  ...infer Rest extends readonly string[],
]
  ? IsAny<T> extends true
    ? T
    : unknown extends T
      ? unknown
      : Walk<Step<NonNullable<T>, Key>, Rest> extends infer Value
        ? [Value] extends [never]
          ? never
          : Value | (T extends null | undefined ? undefined : never)
        : never
  : T;

/** One key down. A key is fine if any member of a union has it; the other members then lack the value. */
type Step<T, Key extends string> = Key extends KeyOfAny<T> ? ReadKey<T, Key> : never;

type KeyOfAny<T> = T extends unknown ? (IsWalkable<T> extends true ? keyof T : never) : never;

type ReadKey<T, Key extends string> = T extends unknown
  ? Key extends keyof T
    ? IsWalkable<T> extends true
      ? T[Key] | (Key extends KnownKey<T> ? never : undefined)
      : undefined
    : undefined
  : never;

/** Keys that are declared by name, not by an index signature. */
type KnownKey<T> = keyof { [Key in keyof T as string extends Key ? never : number extends Key ? never : Key]: true };

type IsWalkable<T> = T extends readonly unknown[]
  ? false
  : T extends (...args: never[]) => unknown
    ? false
    : T extends object
      ? true
      : false;

type IsAny<T> = 0 extends 1 & T ? true : false;
