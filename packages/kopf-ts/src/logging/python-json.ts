/**
 * JSON as Python writes it, with spaces after commas and colons, and in ASCII only: log collectors, searches and alerts
 * made for Kopf see the same lines. Logging never fails: every input yields a line.
 */
import { isCredential, REDACTED, redactedText } from './redaction.js';

/** Anything deeper is a live graph of objects rather than something to log. */
const MAX_DEPTH = 16;

export function toJson(value: unknown): string {
  return written(value, []) ?? 'null';
}

/** One field of an object; `undefined` if it has no JSON form. */
export function toJsonField(name: string, value: unknown): string | undefined {
  return fieldOf(name, value, []);
}

/** The value of that field alone; `undefined` if it has no JSON form. Fields with names of credentials are redacted. */
export function toJsonValue(name: string, value: unknown): string | undefined {
  return writtenValue(name, value, []);
}

export function toJsonText(text: string): string {
  const json = JSON.stringify(redactedText(text));
  return BEYOND_ASCII.test(json) ? json.replaceAll(ALL_BEYOND_ASCII, escaped) : json;
}

const BEYOND_ASCII = /[\u007f-\uffff]/;
const ALL_BEYOND_ASCII = /[\u007f-\uffff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function fieldOf(name: string, value: unknown, above: readonly unknown[]): string | undefined {
  const text = writtenValue(name, value, above);
  return text === undefined ? undefined : `${toJsonText(name)}: ${text}`;
}

function writtenValue(name: string, value: unknown, above: readonly unknown[]): string | undefined {
  const isHidden = isCredential(name) && value !== undefined && value !== null;
  return written(isHidden ? REDACTED : value, above);
}

function written(value: unknown, above: readonly unknown[]): string | undefined {
  switch (typeof value) {
    case 'string':
      return toJsonText(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : toJsonText(String(value));
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : writtenObject(value, above);
    case 'symbol':
      return toJsonText(value.toString());
    case 'function':
      return toJsonText(`[function ${value.name}]`);
    default:
      return undefined;
  }
}

function writtenObject(value: object, above: readonly unknown[]): string | undefined {
  if (above.includes(value)) return '"[circular]"';
  if (above.length >= MAX_DEPTH) return '"[too deep]"';
  const path = [...above, value];
  try {
    if (value instanceof Error) return toJsonText(`${value.name}: ${value.message}`);
    if ('toJSON' in value && typeof value.toJSON === 'function') return written(value.toJSON(), path);
    if (value instanceof Map)
      return writtenFields(
        [...value].map(([key, item]) => [String(key), item]),
        path,
      );
    if (Array.isArray(value) || value instanceof Set) {
      return `[${[...value].map((item) => written(item, path) ?? 'null').join(', ')}]`;
    }
    return writtenFields(Object.entries(value), path);
  } catch {
    // Getters and proxies may do anything.
    return '"[unreadable]"';
  }
}

function writtenFields(fields: readonly (readonly [string, unknown])[], path: readonly unknown[]): string {
  const texts = fields.map(([name, value]) => fieldOf(name, value, path));
  return `{${texts.filter((text) => text !== undefined).join(', ')}}`;
}
