/** Namespace patterns: which namespaces an operator serves. */

/**
 * A string is a list of globs, separated by commas, each possibly negated by `!`, e.g. `myapp-*, !*-pr-*`.
 * A regular expression must match the whole name.
 */
export type NamespacePattern = string | RegExp;

/**
 * Does the namespace fall under the pattern?
 *
 * The first glob decides what is taken at all (if it is a negation, then everything is). The further negations
 * exclude from that; the further positive globs only take back what was excluded. So, `ns2,ns1` never takes `ns1`.
 */
export function matchNamespace(name: string, pattern: NamespacePattern): boolean {
  if (typeof pattern !== 'string') return matchesInFull(name, pattern);

  const globs = pattern.split(',').map(parseNegation);
  const [first, ...rest] = globs[0]?.isNegated ? [{ glob: '*', isNegated: false }, ...globs] : globs;
  if (first === undefined || !matchGlob(name, first.glob)) return false;

  let isTaken = true;
  for (const { glob, isNegated } of rest) {
    if (matchGlob(name, glob)) isTaken = !isNegated;
  }
  return isTaken;
}

/** Does the namespace fall under at least one of the patterns? */
export function matchesAnyNamespace(name: string, patterns: Iterable<NamespacePattern>): boolean {
  return [...patterns].some((pattern) => matchNamespace(name, pattern));
}

/**
 * The patterns that are simply names, and so are usable when it is not permitted to list the namespaces.
 * All the others would need the list in order to know what they match.
 */
export function exactNamespaces(patterns: Iterable<NamespacePattern>): string[] {
  const names = [...patterns]
    .filter((pattern) => typeof pattern === 'string')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '' && !/[!*?,[\]]/.test(pattern));
  return [...new Set(names)];
}

function matchesInFull(name: string, pattern: RegExp): boolean {
  // Global and sticky expressions remember where they stopped last time; a pattern must not.
  return new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gy]/g, '')).test(name);
}

function parseNegation(item: string): { readonly glob: string; readonly isNegated: boolean } {
  const text = item.trim();
  return { glob: text.replace(/^!+/, '').trim(), isNegated: text.startsWith('!') };
}

/** What one element of a glob accepts: a run of any characters, or one character of a kind. */
type GlobElement = '*' | ((char: string) => boolean);

/**
 * Matches by going along the name once, and returning only to the last asterisk: what an earlier asterisk took can
 * always be taken by the last one, too. Thus, no pattern can make it run for long, unlike a regular expression.
 */
function matchGlob(name: string, glob: string): boolean {
  const elements = parseGlob(glob);
  const chars = [...name];
  let at = 0;
  let element = 0;
  let retry: { readonly element: number; at: number } | undefined;
  while (at < chars.length) {
    const expected = elements[element];
    if (expected === '*') {
      element += 1;
      retry = { element, at };
    } else if (expected?.(chars[at] as string)) {
      element += 1;
      at += 1;
    } else if (retry) {
      retry.at += 1;
      ({ element, at } = retry);
    } else {
      return false;
    }
  }
  return elements.slice(element).every((rest) => rest === '*');
}

function parseGlob(glob: string): GlobElement[] {
  const elements: GlobElement[] = [];
  const chars = [...glob];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] as string;
    // A bracket right after the opening one (or after its negation) is a member of the class, not its end.
    const end = char === '[' ? chars.indexOf(']', at + (chars[at + 1] === '!' ? 3 : 2)) : -1;
    if (char === '*') {
      elements.push('*');
    } else if (char === '?') {
      elements.push(() => true);
    } else if (end >= 0) {
      elements.push(parseClass(chars.slice(at + 1, end)));
      at = end;
    } else {
      elements.push((other) => other === char);
    }
  }
  return elements;
}

/** The inside of `[abc]`, `[a-z]`, `[!abc]`. */
function parseClass(chars: readonly string[]): (char: string) => boolean {
  const isNegated = chars[0] === '!';
  const members = isNegated ? chars.slice(1) : chars;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] as string;
    const to = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return (char) => ranges.some(([from, to]) => from <= char && char <= to) !== isNegated;
}
