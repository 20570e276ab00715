/** Compares what a page says is printed with what is printed. */

/**
 * The lines of the page have to be there, in that order; others may be between them. `…` stands for anything within a
 * line, and a line of its own for nothing. Dates do not count; names of loggers and levels only where the page has them.
 *
 * @returns {string | undefined} what is missing, as a sentence
 */
export function missingLines(expected, printed) {
  const lines = printed.split('\n').map(withoutDate);
  let at = 0;
  for (const wanted of expected.split('\n').map(withoutDate)) {
    if (wanted.trim() === '' || wanted.trim() === '…') continue;
    const pattern = new RegExp(`^${wanted.trimEnd().split('…').map(literally).join('.*')}$`);
    const found = lines.findIndex(
      (line, index) => index >= at && (pattern.test(line) || pattern.test(withoutLevel(line))),
    );
    if (found === -1)
      return `It does not print '${wanted}' (in that order). It prints:\n${lines.filter((line) => !/\[DEBUG/.test(line)).join('\n')}`;
    at = found + 1;
  }
  return undefined;
}

const withoutDate = (line) => line.trimEnd().replace(/^\[\d{4}-\d\d-\d\d[^\]]*\] /, '');
const withoutLevel = (line) => line.replace(/^\S+\s+\[[A-Z]+\s*\] /, '');
const literally = (text) => text.replace(/[$()*+./?[\\\]^{|}-]/g, '\\$&');
