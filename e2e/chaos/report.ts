/** What is told of a run: the counts, and for each finding the history of its object. */
import type { History } from './history.js';
import type { Finding, Judgement } from './verify.js';

export interface RunSummary {
  readonly seed: number;
  readonly seconds: number;
  /** How many processes of the operator there were. */
  readonly runs: number;
  /** Of everything at once, and of single requests. */
  readonly faults: Readonly<Record<string, number>>;
}

export function report(summary: RunSummary, history: History, { findings, duplicates }: Judgement): string {
  const { edits, calls, writes } = history;
  const count = (what: string): number => edits.filter((edit) => edit.what === what).length;
  const explained = duplicates.flatMap(({ doubt }) => (doubt === undefined ? [] : [doubt]));
  return [
    `chaos: seed ${summary.seed}, ${summary.seconds} s of faults, ${summary.runs} processes of the operator`,
    `faults: ${counted(summary.faults)}`,
    `objects: ${count('create')} created, ${count('edit')} edits, ${count('delete')} deletions`,
    `calls: ${calls.length} (${counted(tally(calls.map(({ kind }) => kind)))})`,
    `writes of the operator: ${writes.length} (${counted(tally(writes.map(({ fate, status }) => (fate === 'delivered' ? `HTTP ${status}` : fate))))})`,
    `duplicates: ${duplicates.length}, explained: ${explained.length} (${counted(tally(explained))})`,
    `findings: ${findings.length}${findings.length === 0 ? '' : ` (${counted(tally(findings.map(({ what }) => what)))})`}`,
  ].join('\n');
}

/** The duplicates that have a doubt, with both. */
export function describeDuplicates({ duplicates }: Judgement, lines = 40): string {
  const told = duplicates.flatMap(({ first, second, doubt }) => {
    if (doubt === undefined) return [];
    const when = `${time(first.began)} and ${time(second.began)}`;
    return [`  ${second.key} '${second.handler}' for ${second.seen} at ${when}: ${doubt}`];
  });
  const more = told.length > lines ? [`  … ${told.length - lines} more`] : [];
  return [...told.slice(0, lines), ...more].join('\n');
}

/** The findings; for each sort, the first objects with their histories. There may be thousands. */
export function describeFindings(
  history: History,
  findings: readonly Finding[],
  { lines = 30, histories = 3 } = {},
): string {
  const parts: string[] = [];
  for (const [sort, found] of Object.entries(bySort(findings))) {
    const told = new Set<string>();
    for (const finding of found.slice(0, lines)) {
      parts.push(`${sort.toUpperCase()}: ${finding.key} ${finding.text}`);
      const isWorthIt = finding.uid !== '' && !told.has(finding.uid) && told.size < histories;
      if (isWorthIt) parts.push(historyOf(history, finding));
      told.add(finding.uid);
    }
    if (found.length > lines) parts.push(`${sort.toUpperCase()}: … ${found.length - lines} more`);
  }
  return parts.join('\n');
}

function bySort(findings: readonly Finding[]): Record<string, Finding[]> {
  const sorts: Record<string, Finding[]> = {};
  for (const finding of findings) {
    const known = sorts[finding.what];
    if (known === undefined) sorts[finding.what] = [finding];
    else known.push(finding);
  }
  return sorts;
}

/** Everything that happened to the object around the finding, in order. */
function historyOf(
  history: History,
  { uid, key, at }: Finding,
  { before = 20_000, after = 15_000, lines = 80 } = {},
): string {
  const rows: { at: number; text: string }[] = [];
  const add = (when: number, text: string): void => {
    if (when >= at - before && when <= at + after) rows.push({ at: when, text });
  };
  for (const edit of history.edits) {
    if (edit.uid !== uid) continue;
    const { edit: number, round, size } = edit.values;
    add(edit.at, `writer: ${edit.what} (edit ${number}, round ${round}, size ${size})`);
  }
  for (const call of history.calls) {
    if (call.uid !== uid || call.kind === 'timer') continue;
    const took = call.ended === undefined ? 'never ended' : `${call.outcome} in ${call.ended - call.began} ms`;
    add(call.began, `process ${call.run}: ${call.handler}, retry ${call.retry}, saw ${call.seen}: ${took}`);
  }
  for (const write of history.writes) {
    if (write.key !== key) continue;
    const marks = write.marks.length === 0 ? '' : ` [${write.marks.join(' ')}]`;
    const applied = write.isApplied ? 'applied' : 'not applied';
    add(
      write.from,
      `line: ${write.method}${marks} ${write.status}, ${applied}, ${write.fate}, ${write.to - write.from} ms`,
    );
  }
  for (const blow of history.blows) add(blow.from, `harness: ${blow.kind}, ${blow.to - blow.from} ms`);
  rows.sort((one, two) => one.at - two.at);
  const skipped = Math.max(0, rows.length - lines);
  const told = rows.slice(skipped).map((row) => `    ${time(row.at)} ${row.text}`);
  return [...(skipped > 0 ? [`    … ${skipped} more before`] : []), ...told].join('\n');
}

const time = (at: number): string => new Date(at).toISOString().slice(11, 23);

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function counted(counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).sort(([, one], [, two]) => two - one);
  return sorted.map(([name, number]) => `${number} × ${name}`).join(', ') || 'none';
}
