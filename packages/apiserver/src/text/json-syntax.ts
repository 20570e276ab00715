/** What is wrong with a text that is no JSON, in the words of Go's decoder; `JSON.parse` has words of its own. */
import { writeJson } from './json-writing.js';

/** Parses, or throws an error with Go's message. */
export function parseJson(text: string): unknown {
  const tooDeep = text.length > MAX_DEPTH ? tooDeepBracket(text) : undefined;
  if (tooDeep !== undefined) throw new SyntaxError(`invalid character '${tooDeep}' exceeded max depth`);
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new SyntaxError(describe(text));
  }
  return LONE_SURROGATE.test(text) ? wellFormed(data) : data;
}

const MAX_DEPTH = 10_000;

/** The bracket that is one too many, if there is one. */
function tooDeepBracket(text: string): string | undefined {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === '{' || token === '[') {
      depth++;
      if (depth > MAX_DEPTH) return token;
    } else if (token === '}' || token === ']') depth--;
  }
  return undefined;
}

/** Perhaps: halves of pairs are looked for, whether or not they are in pairs. */
const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;

/** Halves of characters become signs of something unreadable. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('utf8');
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormed(key) as string, wellFormed(item)]));
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{},:]/g;

/** The numbers of a valid text, as they are written. */
export function numbersIn(text: string): string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => token).filter((token) => /^[-\d]/.test(token));
}

/** The paths of keys that a valid text gives twice in one object, such as `data.k`; `data` is what became of the text. */
export function duplicateFields(text: string, data: unknown): string[] {
  // Mostly, the text is what we would write: then nothing is given twice, and this is found out fast.
  if (writeJson(data).length === text.length) return [];
  const duplicates: string[] = [];
  const levels: { readonly path: string; readonly keys: Set<string> | undefined; key: string; index: number }[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      const step = level === undefined ? '' : level.keys === undefined ? `[${level.index}]` : level.key;
      const path =
        level === undefined || level.path === '' || step.startsWith('[')
          ? `${level?.path ?? ''}${step}`
          : `${level.path}.${step}`;
      levels.push({ path, keys: token === '{' ? new Set() : undefined, key: '', index: 0 });
    } else if (token === '}' || token === ']') levels.pop();
    else if (level === undefined) continue;
    else if (token === ',') level.index++;
    else if (token === ':') {
      level.key = JSON.parse(last) as string;
      if (level.keys?.has(level.key)) duplicates.push(level.path === '' ? level.key : `${level.path}.${level.key}`);
      level.keys?.add(level.key);
    }
    last = token;
  }
  return [...new Set(duplicates)];
}

/** What a valid text says first where it says something twice: decoders read all of it, in order. */
export function firstOccurrences(text: string): unknown {
  const levels: (Set<string> | undefined)[] = [];
  let last: { readonly token: string; readonly index: number } = { token: '', index: 0 };
  let result = '';
  let copied = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    if (token === '{' || token === '[') levels.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ':') {
      const keys = levels.at(-1);
      const key = JSON.parse(last.token) as string;
      if (keys?.has(key)) {
        // Under a key that no field has.
        result += `${text.slice(copied, last.index)}${JSON.stringify(`${key}\u0000${last.index}`)}`;
        copied = last.index + last.token.length;
      }
      keys?.add(key);
    }
    last = { token, index: match.index };
  }
  return JSON.parse(result + text.slice(copied));
}

const BLANK = new Set([' ', '\t', '\r', '\n']);

function describe(text: string): string {
  let at = 0;
  const skip = (): void => {
    while (BLANK.has(text[at] ?? '')) at++;
  };
  const fail = (where: string): never => {
    const character = text[at];
    throw new SyntaxError(
      character === undefined ? 'unexpected end of JSON input' : `invalid character ${quoted(text)} ${where}`,
    );
  };
  const quoted = (source: string): string => {
    // Bytes are looked at there, not characters.
    const [byte = 0] = Buffer.from(String.fromCodePoint(source.codePointAt(at) ?? 0), 'utf8');
    const character = String.fromCharCode(byte);
    if (character === "'") return "'\\''";
    if (character === '"') return `'"'`;
    return `'${JSON.stringify(character).slice(1, -1)}'`;
  };

  const literal = (word: string): void => {
    for (const [index, expected] of [...word].entries()) {
      if (text[at] !== expected)
        fail(index === 0 ? 'looking for beginning of value' : `in literal ${word} (expecting '${expected}')`);
      at++;
    }
  };
  const string = (): void => {
    at++;
    for (;;) {
      const character = text[at];
      if (character === undefined) fail('in string literal');
      if (character === '"') {
        at++;
        return;
      }
      if ((character as string) < ' ') fail('in string literal');
      if (character === '\\') {
        at++;
        if (text[at] === 'u') {
          for (let count = 0; count < 4; count++) {
            at++;
            if (!/[\da-fA-F]/.test(text[at] ?? '')) fail('in \\u hexadecimal character escape');
          }
        } else if (!'"\\/bfnrt'.includes(text[at] ?? '!')) fail('in string escape code');
      }
      at++;
    }
  };
  const digits = (where: string): void => {
    if (!/\d/.test(text[at] ?? '')) fail(where);
    while (/\d/.test(text[at] ?? '')) at++;
  };
  const number = (): void => {
    if (text[at] === '-') {
      at++;
      if (!/\d/.test(text[at] ?? '')) fail('in numeric literal');
    }
    if (text[at] === '0') at++;
    else digits('in numeric literal');
    if (text[at] === '.') {
      at++;
      digits('after decimal point in numeric literal');
    }
    if (text[at] === 'e' || text[at] === 'E') {
      at++;
      if (text[at] === '+' || text[at] === '-') at++;
      digits('in exponent of numeric literal');
    }
  };
  const value = (): void => {
    skip();
    const character = text[at] ?? '';
    if (character === '{') object();
    else if (character === '[') array();
    else if (character === '"') string();
    else if (character === 't') literal('true');
    else if (character === 'f') literal('false');
    else if (character === 'n') literal('null');
    else if (character !== '' && /[-\d]/.test(character)) number();
    else fail('looking for beginning of value');
  };
  const object = (): void => {
    at++;
    skip();
    if (text[at] === '}') {
      at++;
      return;
    }
    for (;;) {
      skip();
      if (text[at] !== '"') fail('looking for beginning of object key string');
      string();
      skip();
      if (text[at] !== ':') fail('after object key');
      at++;
      value();
      skip();
      if (text[at] === '}') {
        at++;
        return;
      }
      if (text[at] !== ',') fail('after object key:value pair');
      at++;
    }
  };
  const array = (): void => {
    at++;
    skip();
    if (text[at] === ']') {
      at++;
      return;
    }
    for (;;) {
      value();
      skip();
      if (text[at] === ']') {
        at++;
        return;
      }
      if (text[at] !== ',') fail('after array element');
      at++;
    }
  };

  try {
    value();
    skip();
    if (at < text.length) fail('after top-level value');
  } catch (error) {
    return error instanceof RangeError ? 'exceeded max depth' : (error as Error).message;
  }
  return 'invalid JSON';
}
