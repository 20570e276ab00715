/** Objects as they may be logged: values of Secrets are not for logs. */
import type { FieldPath } from './fields.js';
import { isDeeperThan, isMapping, MAX_DEPTH, type Mapping, setOwn } from './json.js';

const REDACTED = '***';

/** Where the values of Secrets are. Tools keep copies of them in annotations, and so do we in the mode of compatibility. */
const SECRET_FIELDS: readonly FieldPath[] = [['data'], ['stringData'], ['metadata', 'annotations']];

/** Of a Secret, the value at that path as it may be logged; the whole object is at the empty path. */
export function redactedSecret(value: unknown, path: FieldPath = []): unknown {
  if (SECRET_FIELDS.some((field) => startsWith(path, field))) return redacted(value);
  const mayHaveSecrets = SECRET_FIELDS.some((field) => startsWith(field, path));
  if (!mayHaveSecrets || !isMapping(value)) return value;
  return mapped(value, (item, key) => redactedSecret(item, [...path, key]));
}

/** The keys are shown, the values are not; what is absent or is being removed is seen as such. */
export function redacted(value: unknown): unknown {
  return redactedAt(value, 0);
}

/** Keys that are deeper than anybody would look are not worth showing. */
const MAX_SHOWN = 100;

function redactedAt(value: unknown, depth: number): unknown {
  if (value === undefined || value === null) return value;
  return isMapping(value) && depth < MAX_SHOWN ? mapped(value, (item) => redactedAt(item, depth + 1)) : REDACTED;
}

/**
 * The value as it can be printed: if it is nested so deep that printing it could fail, then without the deepest of it.
 */
export function printableValue(value: unknown): unknown {
  return isDeeperThan(value, MAX_DEPTH) ? cutAt(value, 0) : value;
}

function cutAt(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_SHOWN) return '(too deep to be shown)';
  if (Array.isArray(value)) return value.map((item) => cutAt(item, depth + 1));
  return mapped(value as Mapping, (item) => cutAt(item, depth + 1));
}

function mapped(source: Mapping, convert: (item: unknown, key: string) => unknown): Mapping {
  const target: Mapping = {};
  for (const key of Object.keys(source)) setOwn(target, key, convert(source[key], key));
  return target;
}

function startsWith(path: FieldPath, prefix: FieldPath): boolean {
  return prefix.every((key, depth) => path[depth] === key);
}
