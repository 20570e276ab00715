/** What is wrong with a text that is no JSON, in the words of Go's decoder; `JSON.parse` has words of its own. */

/** Parses, or throws an error with Go's message. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(describe(text));
  }
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
    const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
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
