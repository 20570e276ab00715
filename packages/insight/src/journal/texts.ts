/** What is kept of texts and values: short, and copied, so that nothing large is held in the memory by a part of it. */
import { ABSENT, type FieldPath, isMapping, PRESENT } from '@kopf-ts/core';

const MAX_TEXT = 300;
const MAX_VALUE = 120;
const MAX_NAME = 260;

/** At most so many characters of it. */
export function shortText(text: string, limit = MAX_TEXT): string {
  if (text.length <= limit) return text;
  // A slice of a string keeps the whole of it in the memory; what is made from bytes does not.
  return `${Buffer.from(text.slice(0, limit - 1)).toString()}…`;
}

/** What is told of an error: of Secrets, and of sensitive fields, whatever it says may contain a part of them. */
export function errorText(
  { name, message }: Error,
  { isSecret, sensitive }: { readonly isSecret: boolean; readonly sensitive: readonly FieldPath[] },
): string {
  const isHidden = isSecret || sensitive.some((path) => message.includes(pathText(path)));
  return shortText(isHidden || message === '' ? name : message);
}

/** Names of Kubernetes are never longer than that; but what is told may be anything. */
export function shortName(name: string | undefined): string | undefined {
  return name === undefined ? undefined : shortText(name, MAX_NAME);
}

/** A path as people write it: `spec.size`, `metadata.annotations["example.com/size"]`. */
export function pathText(path: FieldPath): string {
  let text = '';
  for (const key of path) {
    if (!/^[\w-]+$/.test(key)) text += `[${JSON.stringify(shortText(key, MAX_VALUE))}]`;
    else text += text === '' ? key : `.${key}`;
    if (text.length > MAX_TEXT) break;
  }
  return shortText(text);
}

/** A value as people write it in JSON; or, of what is no value, what it is. */
export function valueText(value: unknown): string {
  if (value === PRESENT) return 'present';
  if (value === ABSENT) return 'absent';
  if (typeof value === 'function')
    return value.name === '' ? 'a function' : `the function '${shortText(value.name, 60)}'`;
  if (value instanceof RegExp || typeof value === 'symbol') return shortText(String(value), MAX_VALUE);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString();
  const pieces: string[] = [];
  writeValue(value, pieces, MAX_VALUE, 0);
  return shortText(pieces.join(''), MAX_VALUE);
}

/** Returns how much room is left: of large values, only the beginning is ever looked at. */
function writeValue(value: unknown, pieces: string[], room: number, depth: number): number {
  if (room <= 0) return room;
  if (typeof value === 'object' && value !== null) {
    const isList = Array.isArray(value);
    if (depth > 4 || !(isList || isMapping(value))) return put(pieces, isList ? '[…]' : '{…}', room);
    let left = put(pieces, isList ? '[' : '{', room);
    let isFirst = true;
    const source = value as Readonly<Record<string, unknown>>;
    for (const key in source) {
      if (!Object.hasOwn(source, key)) continue;
      if (!isFirst) left = put(pieces, ',', left);
      isFirst = false;
      if (!isList) left = put(pieces, `${JSON.stringify(shortText(key, MAX_VALUE))}:`, left);
      left = writeValue(source[key], pieces, left, depth + 1);
      if (left <= 0) return left;
    }
    return put(pieces, isList ? ']' : '}', left);
  }
  const text = typeof value === 'string' ? JSON.stringify(shortText(value, MAX_VALUE)) : String(value);
  return put(pieces, text, room);
}

function put(pieces: string[], text: string, room: number): number {
  pieces.push(text);
  return room - text.length;
}

/** The paths that a patch changes. */
export function patchedPaths(content: unknown, limit: number): readonly string[] {
  const paths: string[] = [];
  if (Array.isArray(content)) {
    for (const operation of content as readonly { readonly path?: unknown }[]) {
      if (paths.length >= limit) break;
      if (typeof operation?.path !== 'string') continue;
      const keys = operation.path.split('/').slice(1, 12);
      if ((operation as { readonly op?: unknown }).op === 'test') continue;
      paths.push(pathText(keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))));
    }
  } else if (isMapping(content)) {
    collectLeaves(content, [], paths, limit);
  }
  return paths;
}

function collectLeaves(content: object, prefix: readonly string[], paths: string[], limit: number): void {
  const source = content as Readonly<Record<string, unknown>>;
  for (const key in source) {
    if (paths.length >= limit) return;
    if (!Object.hasOwn(source, key)) continue;
    const value = source[key];
    const path = [...prefix, key];
    // They say which object is meant, and change nothing.
    if (path.length === 2 && prefix[0] === 'metadata' && (key === 'uid' || key === 'resourceVersion')) continue;
    // Lists are values as a whole; and deeper than that, nobody looks.
    if (isMapping(value) && path.length < 6 && !isEmpty(value)) collectLeaves(value, path, paths, limit);
    else paths.push(pathText(path));
  }
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
