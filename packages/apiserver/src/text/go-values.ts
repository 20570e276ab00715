/** Values as Go prints them: some messages of the API server have them. */
import { isMapping } from '@kopf-ts/core';

/** As `%v` prints it: `map[a:1 b:[x <nil>]]`. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isMapping(value)) return String(value);
  const entries = Object.keys(value).sort();
  return `map[${entries.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`;
}

/** As `%#v` prints it: in the syntax of Go. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isMapping(value)) return JSON.stringify(value);
  const entries = Object.keys(value).sort();
  return `map[string]interface {}{${entries.map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`).join(', ')}}`;
}

export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Number.isSafeInteger(value)) return 'int64';
  if (Array.isArray(value)) return '[]interface {}';
  if (isMapping(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'float64';
}
