/** The end of all benchmarks: their figures beside their goals. */

/** @param {readonly import('./figures.ts').Row[]} rows */
export function printTable(rows) {
  if (rows.length === 0) return;
  const cells = [
    ['figure', 'median', 'rounds', 'goal', ''],
    ...rows.map(({ what, figure, spread, goal, isMet }) => [what, figure, spread, goal, verdict(isMet)]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  console.log();
  for (const [first, ...others] of cells) {
    const padded = others.map((cell, index) => cell.padStart(widths[index + 1]));
    console.log([first.padEnd(widths[0]), ...padded].join('   ').trimEnd());
  }
  const [met, missed] = [true, false].map((wanted) => rows.filter(({ isMet }) => isMet === wanted).length);
  console.log(`\n${met} goals met, ${missed} missed`);
}

function verdict(isMet) {
  if (isMet === undefined) return '';
  return isMet ? 'met' : 'MISSED';
}
