/** Values as JSON texts of a given style, however deep they are. */
import { ENDLESS_DEPTH, isMapping, type Mapping, RECURSION_DEPTH } from './json.js';

export interface JsonStyle {
  /** Which keys are written, in which order. */
  keysOf(mapping: Mapping): readonly string[];
  /** The text of anything that is neither a list nor a mapping; also of a key. */
  textOf(scalar: unknown): string;
}

/**
 * What in the value JSON would lose without a word, with its path: numbers that are none would become null, which removes
 * fields; Maps and Sets would become empty objects, and functions nothing. `undefined` if there is no such thing.
 */
export function lostInJson(value: unknown, path = ''): string | undefined {
  return lostBelow(value, path, 0);
}

function lostBelow(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${titleOf(path)} is ${value}`;
  if (typeof value === 'bigint') return `${titleOf(path)} is a BigInt: write it as a number or as a text`;
  if (typeof value === 'function' || typeof value === 'symbol') return `${titleOf(path)} is a ${typeof value}`;
  // What is deeper than that is written in another way, or not at all.
  if (typeof value !== 'object' || value === null || depth > RECURSION_DEPTH) return undefined;
  if (value instanceof Map || value instanceof Set) return `${titleOf(path)} is a ${value.constructor.name}`;
  if (value instanceof Promise) return `${titleOf(path)} is a promise: await it`;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
  for (const [key, item] of Object.entries(value)) {
    const lost = lostBelow(item, path === '' ? key : `${path}.${key}`, depth + 1);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

function titleOf(path: string): string {
  return path === '' ? 'it' : path;
}

/** The text of the value, without spaces. What is absent from a list is null. */
export function jsonText(value: unknown, style: JsonStyle): string {
  return written(value, style, 0);
}

function written(value: unknown, style: JsonStyle, depth: number): string {
  if (typeof value !== 'object' || value === null) return style.textOf(value);
  if (depth > RECURSION_DEPTH) return writtenWithoutRecursion(value, style);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '[' : ','}${written(item ?? null, style, depth + 1)}`;
    return text === '' ? '[]' : `${text}]`;
  }
  for (const key of style.keysOf(value as Mapping)) {
    text += `${text === '' ? '{' : ','}${style.textOf(key)}:${written((value as Mapping)[key], style, depth + 1)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** What is yet to be written: a text as it is, or a value. */
type Pending = { readonly text: string } | { readonly value: unknown; readonly depth: number };

function writtenWithoutRecursion(whole: unknown, style: JsonStyle): string {
  const parts: string[] = [];
  const pending: Pending[] = [{ value: whole, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) {
      parts.push(next.text);
      continue;
    }
    const { value, depth } = next;
    if (depth > ENDLESS_DEPTH) throw new RangeError('The value contains itself.');
    const content: Pending[] = [];
    if (Array.isArray(value)) {
      for (const item of value)
        content.push({ text: content.length === 0 ? '[' : ',' }, { value: item ?? null, depth: depth + 1 });
      content.push({ text: content.length === 0 ? '[]' : ']' });
    } else if (isMapping(value)) {
      for (const key of style.keysOf(value)) {
        const before = `${content.length === 0 ? '{' : ','}${style.textOf(key)}:`;
        content.push({ text: before }, { value: value[key], depth: depth + 1 });
      }
      content.push({ text: content.length === 0 ? '{}' : '}' });
    } else {
      parts.push(style.textOf(value));
    }
    for (let index = content.length - 1; index >= 0; index--) pending.push(content[index] as Pending);
  }
  return parts.join('');
}
