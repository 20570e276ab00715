/** Suggestions for misspelt names. */

/** The maximum number of suggestions. */
const MAX_SHOWN = 3;

/** Names that differ by one or two letters, or only in case, dashes and underscores; the nearest first. */
export function nearNames(wanted: string, known: Iterable<string>): readonly string[] {
  const typed = plain(wanted);
  const near = [...new Set(known)].flatMap((name) => {
    const away = distance(typed, plain(name));
    return away <= tolerance(name) ? [{ name, away }] : [];
  });
  return near
    .toSorted((one, two) => one.away - two.away)
    .slice(0, MAX_SHOWN)
    .map(({ name }) => name);
}

/** A sentence appended to a message, with a leading space; empty without suggestions. */
export function didYouMean(wanted: string, known: Iterable<string>, quote = '"'): string {
  const near = nearNames(wanted, known).map((name) => `${quote}${name}${quote}`);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

/** Short names have many neighbours by chance. */
function tolerance(name: string): number {
  return Math.min(2, Math.floor(name.length / 3));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** The number of replaced, added, removed or swapped letters between two names. */
function distance(one: string, two: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: two.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= two.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === two[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[two.length] ?? 0;
}
