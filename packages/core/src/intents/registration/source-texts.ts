/**
 * Finds mistakes in the source text of functions that a compiler would find. For texts without enough information (native
 * and bound functions, code for old engines), it finds nothing.
 */

type AnyFunction = { readonly length: number };

/** Whether the function has a body without any `return` or `throw`, so that it never has a result. */
export function neverReturns(fn: AnyFunction): boolean {
  const text = textOf(fn);
  if (text === undefined || /\b(?:return|throw|class)\b/.test(text)) return false;
  const bare = /^(?:async\s+)?[\w$]+\s*=>\s*/.exec(text);
  if (bare !== null) return text.startsWith('{', bare[0].length);
  const end = closingOf(text, text.indexOf('('));
  // Methods and functions always have a body in braces; arrows have one, or a single expression.
  return end >= 0 && /^\)\s*(?:=>\s*)?\{/.test(text.slice(end));
}

/** The names that the function destructures from its first argument, except those with defaults: `({ spec, name: n })`. */
export function destructuredNames(fn: AnyFunction): readonly string[] {
  const text = textOf(fn);
  const pattern = text === undefined ? null : /^(?:async\s+)?(?:function\b\s*\*?\s*)?[\w$]*\s*\(\s*\{/.exec(text);
  if (text === undefined || pattern === null) return [];
  const start = pattern[0].length - 1;
  const end = closingOf(text, start);
  if (end < 0) return [];
  return partsOf(text.slice(start + 1, end)).flatMap((part) => {
    const name = /^([A-Za-z_$][\w$]*)\s*(?::|$)/.exec(part)?.[1];
    return name === undefined || hasDefault(part) ? [] : [name];
  });
}

function textOf(fn: AnyFunction): string | undefined {
  const text = Function.prototype.toString.call(fn).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return text.includes('[native code]') ? undefined : text.trim();
}

const OPENING = '([{';
const CLOSING = ')]}';

/** The index of the closing bracket; -1 if there is none. Brackets in strings are rare enough here to be ignored. */
function closingOf(text: string, start: number): number {
  if (start < 0) return -1;
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const character = text.charAt(index);
    if (OPENING.includes(character)) depth += 1;
    else if (CLOSING.includes(character)) depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

/** Splits at top-level commas. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let index = 0; index <= text.length; index++) {
    const character = text.charAt(index);
    if (index === text.length || (character === ',' && depth === 0)) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    } else if (OPENING.includes(character)) depth += 1;
    else if (CLOSING.includes(character)) depth -= 1;
  }
  return parts.filter((part) => part !== '');
}

/** `name = 1`, `name: alias = 1`; but not `name: { inner = 1 }`. */
function hasDefault(part: string): boolean {
  const [, value = part] = /^[\w$]+\s*:\s*([\s\S]*)$/.exec(part) ?? [];
  const end = OPENING.includes(value.charAt(0)) ? closingOf(value, 0) + 1 : 0;
  return value.slice(end).includes('=');
}
