/**
 * Texts that cannot pass for more than they are. Messages quote whatever objects, peers, servers and handlers come up
 * with: a line break in it must not begin what looks like another line of the log, and a terminal must not obey it.
 */

/** Of continued lines: no line of a log begins like this. */
const INDENT = '    ';

// C0 and C1 but for tabs; line breaks of Unicode; and what makes terminals show letters in another order.
const SUSPICIOUS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const ALL_CONTROLS = /(?!\t)[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** A text of one or several lines: those after the first one are indented, and control characters are escaped. */
export function printable(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const lines = text.split(/\r?\n/).map((line) => line.replaceAll(ALL_CONTROLS, escaped));
  return lines.map((line, index) => (index === 0 || line === '' ? line : INDENT + line)).join('\n');
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

/**
 * A name, always of one line. No object has any of these in its name; but admission handlers see objects before
 * anybody has looked at their names.
 */
export function printableName(name: string): string {
  return UNPRINTABLE.test(name) ? name.replaceAll(ALL_UNPRINTABLE, escaped) : name;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
