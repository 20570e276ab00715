/**
 * JSON of one byte per character. JavaScript keeps a text in two bytes per character as soon as one of them is not of
 * Latin-1, so that a single foreign name would double the size of an object. Such characters are kept as escapes, unless
 * there are so many that this takes more.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about all that fits into a byte
const WIDE = /[^\u0000-\u00ff]/g;
/** As many characters take an escape. */
const ESCAPE = 6;

export function narrowed(json: string): string {
  const count = json.match(WIDE)?.length ?? 0;
  if (count === 0 || json.length + count * (ESCAPE - 1) >= json.length * 2) return json;
  const escaped = json.replace(WIDE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  // What is made of a wide text is wide, whatever is in it; bytes are not.
  return Buffer.from(escaped, 'latin1').toString('latin1');
}

/** Pairs of surrogates, other escapes by number, and the rest. */
const ESCAPED = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})|\\./g;

/** As it was. */
export function widened(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replace(ESCAPED, (whole, high?: string, low?: string, single?: string) => {
    if (high !== undefined) return charOf(high) + charOf(low ?? '');
    // Control characters, and surrogates alone, are escapes in any JSON.
    if (single === undefined || single.startsWith('00') || /^d[89a-f]/.test(single)) return whole;
    return charOf(single);
  });
}

const charOf = (code: string): string => String.fromCharCode(Number.parseInt(code, 16));
