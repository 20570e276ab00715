/**
 * Texts that are safe to log. Messages quote texts of objects, peers, servers and handlers: a line break in them must not
 * forge another log line, and a terminal must not obey them.
 */

/** The indent of continued lines: no log line starts like this. */
const INDENT = '    ';

// C0 and C1 except tabs, line breaks of Unicode, and characters that change the direction of text.
const SUSPICIOUS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const ALL_CONTROLS = /(?!\t)[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** A text of one or several lines: all but the first are indented, and control characters are escaped. */
export function printable(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const lines = text.split(/\r?\n/).map((line) => line.replaceAll(ALL_CONTROLS, escaped));
  return lines.map((line, index) => (index === 0 || line === '' ? line : INDENT + line)).join('\n');
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

/**
 * A name, always on one line. Names of stored objects have none of these characters, but admission handlers see objects
 * before their names are validated.
 */
export function printableName(name: string): string {
  return UNPRINTABLE.test(name) ? name.replaceAll(ALL_UNPRINTABLE, escaped) : name;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
