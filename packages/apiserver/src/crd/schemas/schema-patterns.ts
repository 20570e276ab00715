/** Patterns of schemas are regular expressions of Go (RE2); most of them mean the same in JavaScript. */

/** Complains with the pattern as it is to be shown, or returns `undefined` if the text matches. */
export type PatternCheck = (text: string) => string | undefined;

/**
 * Both `(?i)` at the beginning and named groups `(?P<…>)` are translated. What JavaScript cannot read matches anything:
 * the real server has accepted such a pattern, so the objects are likely to be right.
 */
export function patternCheck(pattern: string): PatternCheck {
  const regexp = compilePattern(pattern);
  return (text) => (regexp === undefined || regexp.test(text) ? undefined : pattern);
}

/** `undefined` if it is no regular expression. */
export function compilePattern(pattern: string): RegExp | undefined {
  // Go cannot look around; JavaScript can.
  if (/\(\?(?:[=!]|<[=!])/.test(pattern)) return undefined;
  const match = /^\(\?([ims]+)\)/.exec(pattern);
  const flags = match?.[1] ?? '';
  const body = pattern
    .slice(match?.[0].length ?? 0)
    .replaceAll('(?P<', '(?<')
    .replace(/\\A/g, '^')
    .replace(/\\z/g, '$')
    .replace(/\[\[:(\w+):\]\]/g, (whole, name: string) => POSIX[name] ?? whole);
  for (const mode of ['u', '']) {
    try {
      return new RegExp(body, `${flags}${mode}`);
    } catch {
      // Unicode mode is stricter about needless escapes, which Go allows; then it is tried without.
    }
  }
  return undefined;
}

/** What Go complains of in a pattern that is no regular expression: the most common mistakes at least. */
export function patternProblem(pattern: string): string {
  const bare = pattern.replace(/\\\\./g, '').replace(/\[\^?\]?[^\]]*\]/g, '');
  const bracket = /\[[^\]]*$/.exec(bare);
  if (bracket !== null) return `missing closing ]: \`${bracket[0]}\``;
  const depth = (bare.match(/\(/g)?.length ?? 0) - (bare.match(/\)/g)?.length ?? 0);
  if (depth > 0) return `missing closing ): \`${pattern}\``;
  if (depth < 0) return `unexpected ): \`${pattern}\``;
  const operator = /(?:^|[(|])([*+?])/.exec(bare);
  if (operator !== null) return `missing argument to repetition operator: \`${operator[1]}\``;
  const perl = /\(\?(?:[=!]|<[=!])/.exec(pattern);
  return perl === null
    ? `invalid or unsupported syntax: \`${pattern}\``
    : `invalid or unsupported Perl syntax: \`${perl[0]}\``;
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: '[0-9A-Za-z]',
  alpha: '[A-Za-z]',
  digit: '[0-9]',
  lower: '[a-z]',
  upper: '[A-Z]',
  space: '[\\t\\n\\v\\f\\r ]',
  word: '[0-9A-Za-z_]',
  xdigit: '[0-9A-Fa-f]',
};
