/** How the real server, which is written in Go, puts values into its messages. Clients and people compare these texts. */

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** A string in double quotes, as the `%q` verb writes it. */
export function goQuote(text: string): string {
  let quoted = '"';
  for (const char of text) quoted += ESCAPES[char] ?? (isPrintable(char) ? char : escapeCodePoint(char));
  return `${quoted}"`;
}

/** As Go tells it: of spaces, only the plain one is. */
export function isPrintable(char: string): boolean {
  return char === ' ' || !/[\p{C}\p{Z}]/u.test(char);
}

function escapeCodePoint(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** A number as the `%v` verb writes it: unlike in JavaScript, exponents begin at 1e-05, and have two digits at least. */
export function goNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value !== 0 && Math.abs(value) < 1e-4) return twoDigitExponent(value.toExponential());
  return twoDigitExponent(String(value));
}

function twoDigitExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** JSON as Go marshals it: keys are sorted, and what could harm in HTML is escaped. */
export function goJson(value: unknown): string {
  return JSON.stringify(sortedByKeys(value)).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function sortedByKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortedByKeys);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortedByKeys(item)]));
}

/** A value as field errors show it. */
export function goValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  if (typeof value === 'boolean') return String(value);
  return goJson(value ?? null);
}

/** A value as the `%v` verb writes it: without quotes, and with the keys of mappings sorted. */
export function goPlain(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${goPlain(item)}`).join(' ')}]`;
}

/** What the type of a value of JSON is called. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** A value as the `%s` verb writes it: what is no string is told to be none. */
export function goString(value: unknown): string {
  return typeof value === 'string' ? value : `%!s(${goTypeOf(value)}=${goPlain(value)})`;
}
